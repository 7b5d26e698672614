"""The pass: a trace of Wave is read, given the barriers that it lacks, and written back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from fencepost.emit.write import Inserted
from fencepost.gc_pause import collection_paused
from fencepost.hosts.wave.nodes import Kind, Node, kind_of
from fencepost.hosts.wave.translate import Translation, translate
from fencepost.hosts.wave.write_back import apply_edits, edits_of
from fencepost.passes.insert import Insert
from fencepost.targets import TARGETS, TargetConfig


@dataclass(slots=True)
class Compilation:
    """What is known about a trace that is being compiled and does not stand in it."""

    constraints: Sequence[Any] = ()
    """Those of the kernel: they say how many waves there are."""
    spare: frozenset[Node] = frozenset()
    """Barriers that an earlier pass put between allocations which share bytes: ours order them, too."""


compilations: WeakKeyDictionary[Any, Compilation] = WeakKeyDictionary()
"""What an installation has seen of the traces that are being compiled."""


def add_shared_memory_barriers(
    trace: Any, target: str = "", constraints: Sequence[Any] | None = None
) -> Inserted | None:
    """Put the barriers into a captured trace of Wave that it lacks; None if it uses no shared memory.

    `constraints` are those of Wave's kernel; an installed host knows them. Without them nothing that depends on the
    thread is known, and accesses to one allocation count as meeting each other.
    """
    with collection_paused():
        config = config_for(target)
        known = compilations.get(trace, Compilation())
        translation = read(trace, config, constraints, without=known.spare, exact=False)
        if not translation.trace.buffers:
            return None
        inserted = place_barriers(translation, config)
        if _could_do_with_less(translation, inserted):
            translation = read(trace, config, constraints, without=known.spare)
            inserted = place_barriers(translation, config)
        apply_edits(edits_of(translation))
        return inserted


def read(
    trace: Any,
    config: TargetConfig,
    constraints: Sequence[Any] | None = None,
    *,
    without: frozenset[Node] = frozenset(),
    exact: bool = True,
) -> Translation:
    """A captured trace as a kernel for a target; `without` and `exact` as `translate` has them."""
    if constraints is None:
        constraints = compilations.get(trace, Compilation()).constraints
    return translate(trace, constraints, timed=config.prefers_split, without=without, exact=exact)


def _could_do_with_less(translation: Translation, inserted: Inserted) -> bool:
    """Whether a barrier is there for accesses that stay apart if waves are distinguished."""
    return translation.some_stay_apart(
        (hazard.producer.host, hazard.consumer.host)
        for barrier in (*inserted.barriers, *inserted.upgraded)
        for hazard in barrier.hazards
    )


def barriers_in(trace: Any) -> frozenset[Node]:
    """The barriers that stand in a trace."""
    return frozenset(trace.walk(lambda node: kind_of(node) is Kind.BARRIER))


def place_barriers(translation: Translation, config: TargetConfig) -> Inserted:
    """Put the barriers into a translated kernel that it lacks."""
    # The nearest hazard of each barrier is enough to see whether there has to be one.
    insert = Insert(target=config, latencies=translation.timed, reasons=1, comments=False)
    return insert.apply(translation.trace)


def config_for(target: str) -> TargetConfig:
    """The target that Wave compiles for, with the barriers that Wave has operations for.

    Of targets that are not in the table only those of the twelfth generation have barriers in two halves. Named
    barriers have to be set up before they are used, for which Wave has nothing, and its barriers wait for all copies
    or for none.
    """
    known = TARGETS.get(target) or TARGETS["gfx1200" if target.startswith("gfx12") else "gfx942"]
    counters = dict.fromkeys(known.counters, 0)
    return replace(known, name=target or known.name, named_barriers=0, counters=counters)
