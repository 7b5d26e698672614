"""Whose a trace is: ours, or one of a compiler that there is a host for.

The names of the seeds take either. A host does what a name says on its own traces and nodes (`hosts.wave.wave_api`);
where a name makes no sense there, the refusal says so. A host is imported only for those who have such a trace: it
brings its compiler along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from fencepost import schedule
from fencepost.analysis import access
from fencepost.check import check as check_own
from fencepost.ir.source import FencepostError
from fencepost.passes.explain import explain_barriers as explain_own
from fencepost.passes.insert import add_shared_memory_barriers as add_own
from fencepost.passes.insert import insert_barriers as insert_own
from fencepost.passes.prune import prune_barriers as prune_own
from fencepost.reference.wave import add_async_dependencies as depend_own
from fencepost.reference.wave import populate_barriers_counters as count_own
from fencepost.reference.wave import region_pairs as regions
from fencepost.reference.wave import windows as requirements

HOSTS = {"wave_lang": "fencepost.hosts.wave.wave_api", "torch": "fencepost.hosts.wave.wave_api"}
"""Packages whose objects a host takes: Wave's traces are its own, its nodes are torch's."""

P = ParamSpec("P")
R = TypeVar("R")


def host_of(given: Any) -> Any:
    """The module that does what the names say on something of another compiler; None for what is ours."""
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        given = given[0]
    name = HOSTS.get(type(given).__module__.partition(".")[0])
    return import_module(name) if name is not None else None


def on_any_trace(own: Callable[P, R]) -> Callable[P, R]:
    """A function that does on other compilers' traces what their host does under its name."""

    @wraps(own)
    def call(*given: P.args, **named: P.kwargs) -> R:
        host = next(filter(None, map(host_of, (*given, *named.values()))), None)
        if host is None:
            return own(*given, **named)
        found: Callable[..., R] | None = getattr(host, own.__name__, None)
        if found is None:
            why = host.NOT_HERE.get(own.__name__, "there is nothing there that it could work on")
            raise FencepostError(f"{own.__name__} on a trace of {host.COMPILER}: {why}", code="FP426")
        return found(*given, **named)

    return call


add_conditional_barriers_to_loop = on_any_trace(schedule.add_conditional_barriers_to_loop)
add_async_dependencies = on_any_trace(depend_own)
add_shared_memory_barriers = on_any_trace(add_own)
add_signal_wait_to_subgraph = on_any_trace(regions.add_signal_wait_to_subgraph)
check = on_any_trace(check_own)
explain_barriers = on_any_trace(explain_own)
get_barriers_analysis = on_any_trace(requirements.get_barriers_analysis)
get_shared_memory_from_op = on_any_trace(access.get_shared_memory_from_op)
handle_hazard = on_any_trace(requirements.handle_hazard)
insert_barriers = on_any_trace(insert_own)
is_reduction_subgraph = on_any_trace(access.is_reduction_subgraph)
is_shared_memory_op = on_any_trace(access.is_shared_memory_op)
populate_barriers_counters = on_any_trace(count_own)
prune_barriers = on_any_trace(prune_own)
reorder_graph = on_any_trace(schedule.reorder_graph)
schedule_reordering = on_any_trace(schedule.schedule_reordering)
transform_two_PP_clusters = on_any_trace(schedule.transform_two_PP_clusters)
