"""`prune`: take out the barriers and waits that nothing needs, and wait no longer than necessary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program, limits_of
from fencepost.analysis.transfer import Placement, Sync
from fencepost.emit.legacy_emitter import change
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from fencepost.ir.printer import statement
from fencepost.ir.trace import CapturedTrace, trace_of
from fencepost.option_fields import option
from fencepost.placement.optimal.cheapest_subset import cheapest_of
from fencepost.placement.redundant import Pruning, prune
from fencepost.placement.wait_counts import is_about_waits, more_counts, paid_each_time, relax
from fencepost.targets import target_named


@dataclass(frozen=True, slots=True)
class Weakened:
    """A barrier or wait that waits for less than it did."""

    before: str
    """What it was, as the text form writes it."""
    op: ops.SyncOperation


@dataclass(frozen=True, slots=True)
class Pruned:
    """What `prune_barriers` did, in program order."""

    removed: list[ops.SyncOperation]
    weakened: list[Weakened]
    kept: list[ops.SyncOperation]
    """Everything that is left, the weakened ones included."""
    limits: tuple[str, ...] = ()
    """What was not distinguished because that would take too long: what is kept may not be needed."""
    uncovered: int = 0
    """At how many places the kernel lacks a barrier or a wait, as it did before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """Take out barriers and waits until none is redundant, and make the waits that are left as short as possible."""

    target: str = option("", "the GPU")
    slots: bool = option(
        True, "take what depends on a loop's numbers for the whole allocation, for comparison", "--no-slots"
    )
    shared: Collection[str] = option((), "functions that are left as they are: other kernels rely on them")
    keep: Callable[[ops.SyncOperation], bool] | None = option(
        None, "barriers and waits for which this is True are left as they are"
    )

    def apply(self, kernel: CapturedTrace | Kernel) -> Pruned:
        """Take out what nothing needs."""
        trace, widest = trace_of(kernel), target_named(self.target).widest_waits()
        program = read_program(trace, slots=self.slots)
        placement = self.placement(program, widest)
        while counts := more_counts(program, placement, placement.keys() - self.fixed(program), widest):
            program = read_program(trace, slots=self.slots, counts=counts)
            placement = self.placement(program, widest)
        return _apply(program, placement)

    def placement(self, program: Program, widest: Mapping[str, int]) -> Placement:
        """What is left."""
        existing, fixed = program.existing, self.fixed(program)
        placements = [_pruned(program, existing, fixed, widest)]
        if is_about_waits(program):
            # The other way: whole barriers and waits as they stand, and how long these have to be afterwards.
            stay = fixed | {at for at in _waits(program, existing) if _other_counts(program, existing[at])}
            whole = cheapest_of(program, existing, prune(program, existing, stay), stay)
            placements.append(_pruned(program, whole, fixed, widest))
        return min(placements, key=lambda placement: _paid(program, placement))

    def fixed(self, program: Program) -> set[Position]:
        """What is left as it is."""
        fixed = {at for at in program.existing if _function_of(program, at) in self.shared}
        if self.keep is not None:
            fixed |= {at for at, op in program.existing_ops.items() if self.keep(op)}
        # Half of a barrier is nothing without the other half.
        return fixed | {at for at, sync in program.existing.items() if sync.is_split}


def prune_barriers(trace: CapturedTrace | Kernel, target: str = "", **options: Any) -> Pruned:
    """Take out barriers and waits until none is redundant; `options` are the fields of `Prune`."""
    return Prune(target=target, **options).apply(trace)


def _paid(program: Program, placement: Placement) -> float:
    """What barriers and waits cost, those of the kernel included."""
    return sum(program.flow.frequency(at) * paid_each_time(sync) for at, sync in placement.items())


def _pruned(
    program: Program, existing: Placement, fixed: set[Position], widest: Mapping[str, int]
) -> Placement:
    """The part of `existing` that is needed, with waits that are as short as possible."""
    # Waits first: what is not waited for stays in flight, and barriers are judged by what is left pending.
    placement = _without_idle_waits(program, existing, fixed)
    placement = relax(program, placement, [at for at in placement if at not in fixed], widest)
    keep = fixed | _waits(program, placement)
    placement = cheapest_of(program, placement, prune(program, placement, keep), keep)
    placement = _without_idle_meetings(program, placement, fixed)
    return relax(program, placement, [at for at in placement if at not in fixed], widest)


def _function_of(program: Program, position: Position) -> str:
    calls = program.flow.blocks[position.block].calls
    return calls[-1].function.name if calls else ""


def _waits(program: Program, placement: Placement) -> set[Position]:
    return {position for position, sync in placement.items() if not sync.rendezvous}


def _other_counts(program: Program, sync: Sync) -> dict[str, int]:
    """What a wait waits for besides async operations."""
    return {name: count for name, count in sync.counts if name not in program.table.engines}


def _without_idle_waits(program: Program, existing: Placement, fixed: set[Position]) -> Placement:
    """`existing` without the waits that nothing needs. A wait for more than async operations stays for the rest."""
    pruning, placement = Pruning(program, existing), dict(existing)
    order = sorted(_waits(program, existing) - fixed, key=lambda at: (-program.flow.frequency(at), at))
    for position in order:
        rest = _other_counts(program, existing[position])
        if position.block not in program.instances_of:
            del placement[position]
        elif rest:
            if pruning.weaken(position, Sync(0, False, tuple(rest.items()))):
                placement[position] = pruning.sync[position]
        elif pruning.remove_if_redundant(position):
            del placement[position]
    return placement


def _without_idle_meetings(program: Program, placement: Placement, fixed: set[Position]) -> Placement:
    """`placement` with barriers that only have to wait turned into waits."""
    waiting = [at for at, sync in placement.items() if sync.rendezvous and sync.counts and at not in fixed]
    if not waiting:
        return placement
    pruning, changed = Pruning(program, placement), dict(placement)
    for position in waiting:
        if pruning.weaken(position, placement[position]._replace(rendezvous=False)):
            changed[position] = pruning.sync[position]
    return changed


def _apply(program: Program, placement: Placement) -> Pruned:
    pruned = Pruned([], [], [], limits_of(program), len(conflicts_left(program, placement)))
    for position, op in program.existing_ops.items():
        sync = placement.get(position)
        if sync is None:
            pruned.removed.append(op)
            _take_out(op)
            continue
        before = statement(op)
        made = change(op, sync) if sync != program.existing[position] else op
        pruned.kept.append(made)
        if statement(made) != before:
            pruned.weakened.append(Weakened(before, made))
    return pruned


def _take_out(op: ops.Operation) -> None:
    """Remove an operation; comment lines above it stay, above what follows."""
    assert op.graph is not None
    if op.next is not None:
        op.next.heading = op.heading + op.next.heading
    else:
        op.graph.closing = op.heading + op.graph.closing
    op.graph.remove(op)
