"""How long each wait has to be: the largest count that still completes everything that is needed.

A barrier that is put in front of a copy's consumer first drains every counter. Then each counter is let go as
far as possible: not waited for at all if nothing needs it, else the most later operations that may stay
outstanding. A larger count lets more copies pass, so the largest safe one is found by halving. Each try
follows only the copies that it would let pass, up to where they are waited for.

A program tells only so many counts apart, since each takes space. Where a wait is given the greatest of them, it
might leave more, and the kernel is read again with more counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fencepost.analysis.program import MOST_COUNTED, Program
from fencepost.analysis.sync import Placement, Sync
from fencepost.flow import Position
from fencepost.ir.ops import LDS_COUNTER
from fencepost.placement.redundant import Pruning

MORE = 4
"""How many times as many counts a kernel is read with again."""


def relax(
    program: Program,
    placement: Placement,
    positions: Iterable[Position],
    widest: Mapping[str, int],
    least: Placement | None = None,
) -> Placement:
    """`placement` with the waits at `positions` as short as possible.

    `widest` is the greatest count that each counter can be waited for with; `least` is what must stay.
    """
    if not program.table.engines or program.waits_fixed:
        return placement
    positions = list(positions)
    relaxed = dict(placement)
    for position in positions:
        relaxed[position] = _within(program, relaxed[position], widest)
    pruning = Pruning(program, relaxed)
    flow = program.flow
    for position in sorted(positions, key=lambda at: (-flow.frequency(at), at)):
        if relaxed[position].completes and position.block in program.instances_of:
            _relax_at(pruning, position, widest, (least or {}).get(position))
            relaxed[position] = pruning.sync[position]
            if not relaxed[position].does_anything:
                del relaxed[position]
    return relaxed


def more_counts(
    program: Program, placement: Placement, positions: Iterable[Position], widest: Mapping[str, int]
) -> int:
    """How many counts to read the kernel with again: 0 if no wait at `positions` could leave more than it does."""
    most = program.levels - 1
    for position in positions:
        for name, count in placement[position].counts if position in placement else ():
            followed = most - (name in program.groups)
            possible = min(widest.get(name, MOST_COUNTED), MOST_COUNTED)
            if name in program.table.engines and followed <= count < possible:
                return MORE * followed
    return 0


def _within(program: Program, sync: Sync, widest: Mapping[str, int]) -> Sync:
    """`sync` with counts that a wait can be given: a smaller one completes more."""
    counts = {name: min(count, widest.get(name, count)) for name, count in sync.counts}
    if sync.drains or counts == dict(sync.counts):
        return sync
    return program.waiting(counts, rendezvous=sync.rendezvous)._replace(signal=sync.signal, wait=sync.wait)


def _relax_at(pruning: Pruning, position: Position, widest: Mapping[str, int], least: Sync | None) -> None:
    program = pruning.program
    if least is not None and pruning.weaken(position, least):
        return
    sync = pruning.sync[position]
    floor = dict(least.counts) if least is not None else {}
    if sync.drains:
        counts = dict.fromkeys(program.table.engines, 0) | dict(sync.counts)
        counts.update((name, count) for name, count in floor.items() if name not in counts)
        if not pruning.weaken(position, _waiting(program, counts, sync)):
            # Something has not even been put into a group yet: only draining waits for that.
            return
    else:
        counts = dict(sync.counts)
    for counter in list(counts):
        if counter == LDS_COUNTER and counter not in floor and not sync.rendezvous:
            without = {name: count for name, count in counts.items() if name != counter}
            if pruning.weaken(position, _waiting(program, without, sync)):
                counts = without
        elif counter in program.table.engines:
            _relax_counter(
                pruning, position, counts, counter, widest.get(counter, MOST_COUNTED), floor.get(counter)
            )


def _relax_counter(
    pruning: Pruning, position: Position, counts: dict[str, int], counter: str, most: int, floor: int | None
) -> None:
    """Make one count as large as possible, or drop it; what must stay of it is at most `floor`."""
    program, sync = pruning.program, pruning.sync[position]
    if floor is None:
        without = {name: count for name, count in counts.items() if name != counter}
        if pruning.weaken(position, _waiting(program, without, sync)):
            del counts[counter]
            return
    safe, limit = counts[counter], min(most, program.levels - 1, most if floor is None else floor)
    while safe < limit:
        tried = (safe + limit + 1) // 2
        if pruning.weaken(position, _waiting(program, counts | {counter: tried}, sync)):
            safe = counts[counter] = tried
        else:
            limit = tried - 1


def _waiting(program: Program, counts: dict[str, int], sync: Sync) -> Sync:
    """The same barrier or wait with other counts."""
    return program.waiting(counts, rendezvous=sync.rendezvous)._replace(times=sync.times)
