"""What follows every strategy: a barrier right before whatever is still uncovered, so that none can leave a race."""

from __future__ import annotations

from fencepost.analysis.pending import solve
from fencepost.analysis.program import Program, Step
from fencepost.analysis.steps import with_call_entries
from fencepost.analysis.transfer import ALL, Placement, Sync
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.placement.redundant import prune


def complete(program: Program, placement: Placement) -> Placement:
    """`placement` and, in program order, a barrier before each access that it leaves uncovered.

    What is in flight is waited for; whether other waves need a barrier is another question: where each wave
    reads just what it has copied itself, a wait is enough. Inside a divergent conditional nothing can stand: what
    conflicts there stays (see `program`).
    """
    chosen = dict(placement)
    sealed = program.flow.sealed

    def put_barrier(instance: int, step: Step, pending: int, in_flight: int) -> Sync | None:
        position = Position(program.places[instance], step.gap)
        if position.block in sealed or position in program.inside_splits:
            return None
        needed = _waiting_for(program, in_flight)._replace(rendezvous=False)
        needed = needed.joined(_ordering(program, instance, step, pending, in_flight))
        if position in chosen:
            several = program.transfer.counts_rendezvous
            needed = _on_top(needed, chosen[position]) if several else needed.joined(chosen[position])
        chosen[position] = needed
        return needed

    solve(program, chosen, put_barrier)
    return chosen


def complete_in_front_of_calls(program: Program, placement: Placement) -> Placement:
    """The same, with barriers that only one call of a function needs in front of that call."""
    with_entries = with_call_entries(program)
    if with_entries is program:
        return complete(program, placement)
    chosen = complete(program, complete(with_entries, placement))
    ends = {
        Position(block.origin, len(block.ops))
        for block in program.flow.blocks
        if isinstance(block.anchor, ops.Call)
    }
    # What the function does behind a barrier of its own is no reason for one in front of it.
    return prune(program, chosen, {at for at in chosen if at in placement or at not in ends})


FENCE = Sync(rendezvous=False, counts=((ops.LDS_COUNTER, 0),))
"""A wave's own accesses are complete, and nobody is met."""


def _ordering(program: Program, instance: int, step: Step, pending: int, in_flight: int) -> Sync:
    """As many barriers as are missing (one, if waves are in step), or just a fence."""
    missing = max(
        program.transfer.missing(hit, instance)
        for hit in (pending, program.completed(in_flight) & step.conflicts)
    )
    if missing:
        return Sync(times=missing)
    return FENCE if pending else Sync(rendezvous=False)


def _on_top(needed: Sync, existing: Sync) -> Sync:
    """What is needed behind one that is there already; skewed waves may need both."""
    if existing.raw and needed == FENCE:
        return Sync()
    both = needed.joined(existing)
    if needed.rendezvous and existing.rendezvous and not existing.raw:
        return both._replace(times=needed.times + existing.times)
    return both


def _waiting_for(program: Program, in_flight: int) -> Sync:
    """A barrier that waits for some bits in flight: for everything, or just for them, as the program says."""
    if not in_flight:
        return Sync()
    if program.drains:
        return Sync(ALL)
    counts: dict[str, int] = {}
    for counter in program.table.engines:
        bits = in_flight & program.on_levels(program.counted(counter))
        if bits:
            level = ((bits & -bits).bit_length() - 1) // program.width
            counts[counter] = level - (counter in program.groups)
    if min(counts.values()) < 0:
        return Sync(ALL)  # a group that is still open: no count waits for that
    return program.waiting(counts)
