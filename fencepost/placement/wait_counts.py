"""What a strategy chooses, with waits that are worth their price, each as short as can be.

A strategy says where barriers go. How long those that follow copies wait can be decided in several ways, and no one
of them is best everywhere, so all are tried and the cheapest is taken (strategies that stand for an algorithm of
someone else keep its positions; only their waits are worked out):

* a barrier that has to wait drains every counter (later copies then need no barrier of their own), or it waits for
  just what is needed (copies for the iterations to come stay in flight);
* barriers that are there for other reasons, those that stand in the kernel included, wait as well, and what that
  makes redundant goes: a barrier that stands between a copy and its reader is upgraded rather than doubled;
* a barrier behind each loop waits for what the loop leaves in flight, so that no iteration has to;
* a barrier that is executed often is left out, the others wait for everything, and what is missing then is put in
  elsewhere, where it may be executed less often.

In the end every wait that was put in, or added to, gets the largest count that is safe. A larger count lets more
copies pass, so the largest safe one is found by halving. Each try follows only the copies that it would let pass, up
to where they are waited for.

A program tells only so many counts apart, since each takes space. Where a wait is given the greatest of them, it
might leave more, and the kernel is read again with more counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from fencepost.analysis.program import MOST_COUNTED, Program
from fencepost.analysis.transfer import DRAIN, Placement, Sync
from fencepost.flow import Position
from fencepost.ir.ops import LDS_COUNTER
from fencepost.placement.fallback import complete
from fencepost.placement.redundant import Pruning, prune
from fencepost.placement.strategy import Strategy, cost, wait_price

NOTHING = Sync(rendezvous=False)

MOST_VARIED, MOST_RELAXED = 4000, 20_000
"""Operations of a kernel up to which several ways to wait are tried, and waits are made as short as possible."""
MOST_TRIES = 24
"""Barriers that are left out to see what that gives."""


def choose(
    program: Program,
    strategy: Strategy,
    widest: Mapping[str, int],
    coarse: Program | None = None,
    until: float = math.inf,
) -> Placement:
    """Where barriers go and how long they wait; `widest` is the greatest count of each counter.

    When the clock (`time.monotonic`) is past `until`, nothing more is tried.

    `coarse` is the same kernel looked at less closely. What covers all hazards there covers them here, too: a
    strategy that is no optimum can do better with it now and then.
    """
    if is_about_waits(program):
        return min(
            candidates(program, strategy, widest, until), key=lambda placement: price(program, placement)
        )
    first = strategy.choose(program)
    if coarse is None or not strategy.improves:
        return first
    other = prune(program, complete(program, program.existing | strategy.choose(coarse)), program.existing)
    return min(first, other, key=lambda placement: cost(program.flow, placement))


def candidates(
    program: Program, strategy: Strategy, widest: Mapping[str, int], until: float = math.inf
) -> Iterator[Placement]:
    """The placements that `choose` chooses from, one after the other: who knows what is enough can stop."""
    if not is_about_waits(program):
        yield from strategy.candidates(program)
        return
    found: list[Placement] = []
    before: list[Placement] = []
    size = _size(program)
    for program_ in (program, replace(program, drains=False)) if strategy.improves else (program,):
        if found and time.monotonic() > until:
            break
        chosen = strategy.choose(program_)
        if chosen in before:
            break
        before.append(chosen)
        added = chosen.keys() - program.existing.keys()
        if size > MOST_RELAXED:
            yield chosen
            return
        found.append(relax(program, chosen, added, widest))
        yield found[-1]
        if time.monotonic() > until or size > MOST_VARIED:
            return
        if any(chosen[at].completes for at in added):
            found.append(_all_waiting(program, chosen, widest))
            yield found[-1]
            if strategy.improves:
                found.append(_all_waiting(program, _behind_loops(program) | chosen, widest))
                yield found[-1]
    if strategy.improves:
        different = [each for place, each in enumerate(found) if each not in found[:place]]
        different.sort(key=lambda placement: price(program, placement))
        for each in different[:2]:
            yield _improved(program, each, widest, until)


def limits_of_waits(program: Program) -> tuple[str, ...]:
    """What is not tried in a kernel of this size, in words."""
    size = _size(program) if is_about_waits(program) else 0
    if size > MOST_RELAXED:
        return (f"more than {MOST_RELAXED} operations: waits are not made as short as possible",)
    return (f"more than {MOST_VARIED} operations: one way to wait is tried",) if size > MOST_VARIED else ()


def _size(program: Program) -> int:
    return sum(len(block.ops) for block in program.flow.blocks)


def is_about_waits(program: Program) -> bool:
    """Whether how long barriers wait is to be decided, too."""
    return bool(program.table.engines) and not program.waits_fixed


def _improved(program: Program, placement: Placement, widest: Mapping[str, int], until: float) -> Placement:
    """`placement` as long as leaving out one barrier, and repairing what that breaks, makes it cheaper."""
    best, least = placement, price(program, placement)
    tries = MOST_TRIES
    improving = True
    while improving and tries > 0:
        improving = False
        added = [at for at in best if at not in program.existing]
        for position in sorted(added, key=lambda at: (-program.flow.frequency(at), at))[:tries]:
            tries -= 1
            if time.monotonic() > until:
                return best
            without = {at: sync for at, sync in best.items() if at != position}
            repaired = _all_waiting(program, complete(program, _draining(without)), widest)
            if (paid := price(program, repaired)) < least:
                best, least, improving = repaired, paid, True
                break
    return best


def _behind_loops(program: Program) -> Placement:
    """A barrier that drains wherever a loop is left."""
    flow = program.flow
    found: Placement = {}
    for block in flow.blocks:
        inside = {loop.index for loop in flow.loops_around(block.index)}
        for target in block.successors:
            left = inside - {loop.index for loop in flow.loops_around(target)}
            origin = flow.blocks[target].origin
            position = Position(origin, 0)
            if left and origin not in flow.sealed and position not in program.inside_splits:
                found[position] = DRAIN
    return found


def _draining(placement: Placement) -> Placement:
    return {
        at: DRAIN._replace(times=sync.times) if sync.rendezvous else sync for at, sync in placement.items()
    }


def _all_waiting(program: Program, chosen: Placement, widest: Mapping[str, int]) -> Placement:
    """`chosen` with every barrier waiting, without those that are redundant then, and relaxed again."""
    existing = program.existing
    kept = prune(program, _draining(chosen), existing)
    changeable = [at for at in kept if at not in existing or existing[at].rendezvous]
    return relax(program, kept, changeable, widest, least=existing)


def paid_each_time(sync: Sync) -> float:
    """What a barrier or wait costs whenever it runs."""
    return sync.is_barrier * sync.times + _wait_price(sync, NOTHING)


def price(program: Program, placement: Placement) -> float:
    """Barriers executed, and what the waits cost that were not in the kernel."""
    flow, existing = program.flow, program.existing
    return sum(
        flow.frequency(at) * (sync.is_barrier * sync.times + _wait_price(sync, existing.get(at, NOTHING)))
        for at, sync in placement.items()
    )


def _wait_price(sync: Sync, existing: Sync) -> float:
    """What it costs that a barrier or wait waits for more than the one that stood there."""
    if not sync.completes & ~existing.completes:
        return 0.0
    return wait_price(min((count for _, count in sync.counts), default=0))


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
    """Raises the counts of one wait as far as everything stays covered."""
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
