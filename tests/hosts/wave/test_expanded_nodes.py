"""What Wave expands one operation into is one act; two operations are two, whatever they look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType

from fencepost.hosts import wave as host
from fencepost.hosts.wave import Audit
from fencepost.hosts.wave import expanded_nodes as acts
from fencepost.hosts.wave.accesses import Access
from tests.hosts.wave import kernels
from tests.tiers import sweep


def scatter(memory: Any, value: Any, *places: Any) -> None:
    mapping = kernels.dynamic(rows=len(places) > 1)
    tkw.write(value, memory, elements_per_thread=1, mapping=mapping, mapping_dynamic_vals=places)


def read_back(memory: Any, b: Any) -> None:
    back = kernels.mapped(lambda row: 15 - row, kernels.same)
    tkw.write(tkw.read(memory, elements_per_thread=1, mapping=back), b, elements_per_thread=1)


def one(memory: Any, value: Any, place: Any, b: Any) -> None:
    scatter(memory, value, place)
    read_back(memory, b)


def rows_and_columns(memory: Any, value: Any, place: Any, b: Any) -> None:
    scatter(memory, value, place, place)
    read_back(memory, b)


def two(memory: Any, value: Any, place: Any, b: Any) -> None:
    for _ in range(2):  # the same value to the same places, from the same line: two operations all the same
        scatter(memory, value, place)
    read_back(memory, b)


def one_row(memory: Any, value: Any, place: Any, b: Any) -> None:
    # All of a wave's rows go to one: who comes last is not said, as with any write that meets itself.
    tkw.write(
        value, memory, elements_per_thread=1, mapping=kernels.mapped(kernels.same, lambda row: row // 4)
    )
    read_back(memory, b)


def audited(source: kernels.Source, mode: str) -> tuple[Audit, int]:
    found: list[Audit] = []
    with host.installed(mode, show=found.append):
        text = source.compiled()
    return found[0], text.count("amdgpu.lds_barrier")


@pytest.mark.parametrize("body", [one, rows_and_columns, one_row])
def test_a_write_is_one_act(body: Callable[..., None]) -> None:
    stock, theirs = audited(kernels.scattered(body), "audit")
    ours, mine = audited(kernels.scattered(body), "replace")
    assert not stock.races and not ours.races
    assert mine == theirs == 2


def test_two_writes_are_two_acts() -> None:
    stock, _ = audited(kernels.scattered(two), "audit")
    assert len(stock.races) == 1  # Wave's own pass does not order writes
    ours, mine = audited(kernels.scattered(two), "replace")
    assert not ours.races and mine == 3


def test_nodes_of_other_iterations_are_other_acts() -> None:
    """A pipelined loop can have parts of an operation in it that belong to different iterations."""
    import torch

    class Write:
        pass

    graph = torch.fx.Graph()

    def write(part: int, stage: int) -> Any:
        node: Any = graph.call_function(len, (None, None))
        node.tkw_op, node.pre_expansion_id, node.expanded_dims = Write, 7, {"M": part}
        node.scheduling_parameters = {"stage": stage}
        return node

    def instances(*nodes: Any) -> list[list[Any]]:
        nothing: Any = None
        accesses = [Access(node, nothing, None) for node in nodes]
        return [[each.node for each in instance] for instance in acts._instances(accesses)]

    first, second, late = write(0, 1), write(1, 1), write(1, 2)
    assert instances(first, second) == [[first, second]]
    assert instances(first, late) == [[first], [late]]
    again = write(0, 1)
    assert instances(first, again, second) == [[first, second], [again]]


@pytest.mark.parametrize(
    "schedule",
    sweep(
        [SchedulingType.NONE, SchedulingType.PREFETCH, SchedulingType.MODULO, SchedulingType.FOUR_STAGE],
        first=1,
    ),
)
def test_where_threads_are_not_known_an_expanded_write_is_one_act_too(schedule: SchedulingType) -> None:
    found: dict[bool, int] = {}

    def count(known: bool) -> Callable[[Any, list[Any]], None]:
        def look(trace: Any, constraints: list[Any]) -> None:
            inserted = host.add_shared_memory_barriers(trace, "gfx942", constraints if known else [])
            assert inserted is not None
            found[known] = len(inserted.barriers)

        return look

    for known in (False, True):
        kernels.gemm(schedule=schedule, block=(128, 128, 32)).looked_at(count(known))
    assert found[False] == found[True]


def test_two_kinds_of_updates_keep_their_order() -> None:
    def body(memory: Any, value: Any, place: Any, b: Any) -> None:
        tkw.atomic_add(value, memory, elements_per_thread=1)
        tkw.atomic_min(value, memory, elements_per_thread=1)
        read_back(memory, b)

    text: list[str] = []
    kernels.scattered(body).looked_at(
        lambda trace, constraints: text.append(str(host.translate(trace, constraints).trace))
    )
    assert "atomic" not in text[0] and text[0].count("write") >= 2


def test_updates_that_commute_need_no_order() -> None:
    def body(memory: Any, value: Any, place: Any, b: Any) -> None:
        for _ in range(2):
            tkw.atomic_add(value, memory, elements_per_thread=1)
        read_back(memory, b)

    text: list[str] = []
    kernels.scattered(body).looked_at(
        lambda trace, constraints: text.append(str(host.translate(trace, constraints).trace))
    )
    assert "write" not in text[0] and "atomic" in text[0]
