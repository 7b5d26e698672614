"""Split barriers: one signal after the latest producer, one wait before the earliest consumer of a group of windows.

`minimize` says how few barriers are enough, and each of them stands somewhere in the intersection of the windows that
it covers. Here each is split over that intersection: its wait moves down to the first consumer, its signal up
to the last producer that a consumer needs. Both stay in the region where the barrier stood, so a signal and its wait
are executed alike on every path; they may move past a loop or conditional that has no synchronization inside. Pairs
of one barrier do not overlap: a signal stops behind the wait of the pair before it. On a target with named barriers a
pair that would gain from it gets one of its own.

Windows that cross into the next iteration: where a barrier stands in front of a loop and another one ends the loop's
body, the signal of the first is waited for at the top of the body, and so is the signal of the last one, in the next
iteration; what the last iteration signals is waited for behind the loop. Likewise, where a barrier begins the body
and another one stands behind the loop, what they wait for is signalled in front of the loop and at the end of the
body. That is as many pairs as before, and the time between two iterations is added to them.

A signal right behind a write would wait until the write is complete: it stands a little later, where that costs
nothing (`Pace`), if there is room for it.

A barrier that waits for copies keeps its signal where it is: the wait has to come first. Where nothing is gained, the
barrier stays whole.

Why no hazard is lost, as long as pairs do not overlap (where they do, the analysis is run again to see): what a wait
no longer orders, because a signal has moved up past it, conflicts with nothing up to the next wait, and the signal of
that one comes later.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.analysis.pending import conflicts_left, states_before
from fencepost.analysis.program import Program, Step, moved
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.placement.strategy import Halves
from fencepost.placement.sync_motion import Stretches, Waits
from fencepost.targets.table import UNHURRIED, Pace

MOST_OVERLAPPING = 64
"""In kernels with more barriers than this, pairs do not overlap: each would be compared with all others."""


@dataclass(slots=True)
class _Pair:
    """A barrier that is split."""

    barrier: Position
    sync: Sync
    pending: int
    """What is pending in front of it, in any instance."""
    signal: Position
    wait: Position
    first: Position | None = None
    """The first place where it can be signalled."""
    needed: int = 0
    """What of it something behind the wait must not overtake."""


def split_each(
    program: Program, placement: Placement, pace: Pace = UNHURRIED
) -> tuple[Placement, dict[Position, Halves]]:
    """`placement` with the barriers that were put in as signals and waits of split barriers.

    And, for each that was split, its halves; the others stay whole. Pairs overlap only if the program has more
    split barriers than the workgroup's.
    """
    pairs = _pairs(program, placement)
    stretches = Stretches(program, set(placement))
    cramped: set[Position] = set()
    halves, more = _find_halves(program, pairs, stretches, pace, cramped)
    while more:
        # A signal at the end of a body that has to stand there for its fence costs more than it gives.
        cramped |= more
        halves, more = _find_halves(program, pairs, stretches, pace, cramped)
    split = _as_placement(placement, pairs, halves)
    # By construction this leaves no conflict; if it did, whole barriers would be the safe answer.
    left = len(conflicts_left(program, placement))
    if len(conflicts_left(program, split)) > left:
        return placement, {}
    if len(program.barrier_ids) > 1 and len(pairs) <= MOST_OVERLAPPING:
        overlapping = _overlapping(program, pairs, stretches, halves, pace)
        wider = _as_placement(placement, pairs, overlapping)
        if overlapping != halves and len(conflicts_left(program, wider)) <= left:
            return wider, overlapping
    return split, halves


def _find_halves(
    program: Program, pairs: list[_Pair], stretches: Stretches, pace: Pace, cramped: set[Position]
) -> tuple[dict[Position, Halves], set[Position]]:
    """Where the halves of each barrier stand, one pair after the other.

    Barriers in `cramped` are not carried to the next iteration. Also returns those that should not have been.
    """
    number = 1 + program.barrier_ids.index(ops.WORKGROUP)
    for pair in pairs:
        pair.wait, pair.signal, pair.first = stretches.down(pair.barrier, pair.pending), pair.barrier, None
    rotations = _rotations(program, stretches, [pair for pair in pairs if pair.barrier not in cramped])
    waits = {pair.barrier: [pair.wait] for pair in pairs}
    rotated: set[Position] = set()
    shared: set[Position] = set()
    for rotation in rotations:
        rotated.update((rotation.first.barrier, rotation.last.barrier))
        shared.add(rotation.last.barrier)
        waits[rotation.first.barrier] = waits[rotation.last.barrier] = [rotation.top, rotation.behind]
    existing = Counter(at for barrier, found in waits.items() if barrier not in shared for at in found)
    everywhere = Waits(existing)
    stops = _stops(program, everywhere)
    more: set[Position] = set()
    for pair in pairs:
        if pair.sync.completes:
            continue
        pair.needed = _needed(program, pair, waits[pair.barrier], stops)
        # Its own wait, which may stand where the barrier stood, does not hold its signal; another one there does.
        own = None if pair.barrier in rotated or existing[pair.wait] > 1 else pair.wait
        pair.first = stretches.up(pair.barrier, pair.needed, everywhere, own)
        room = _put_signal(pair, pair.first, own, pair.barrier in shared, stretches, pace)
        if not room:
            more.add(pair.barrier)
    halves = {
        pair.barrier: Halves((pair.signal,), tuple(waits[pair.barrier]), number)
        for pair in pairs
        if pair.barrier in rotated or pair.signal != pair.wait
    }
    for barrier in shared:
        halves[barrier] = halves[barrier]._replace(waits=())
    apart = [pair for pair in pairs if pair.barrier not in rotated]
    _carry_signals(program, stretches, apart, halves, everywhere, pace)
    return halves, more


def _put_signal(
    pair: _Pair, first: Position, own: Position | None, shared: bool, stretches: Stretches, pace: Pace
) -> bool:
    """Choose where a barrier is signalled, from `first` on; False if a signal at the end of a body has no room."""
    enough = True
    pair.signal, room = stretches.later(first, pair.barrier, pace)
    if shared and not room:
        pair.signal, enough = stretches.later(first, None, pace)
    if pair.signal == pair.barrier and own is not None:
        pair.signal, _ = stretches.later(first, pair.wait, pace)
    return enough


def _overlapping(
    program: Program, pairs: list[_Pair], stretches: Stretches, halves: dict[Position, Halves], pace: Pace
) -> dict[Position, Halves]:
    """Halves that may overlap, each pair then on a barrier of its own: signals move up past the waits of others."""
    found = dict(halves)
    # Barriers that the kernel uses itself are not touched.
    authors = {sync.signal or sync.wait for sync in program.existing.values() if sync.is_split}
    taken = [_Taken(min(h.signals), max(h.waits), h.number) for h in halves.values() if h.signals and h.waits]
    for pair in pairs:
        mine = found.get(pair.barrier)
        if pair.sync.completes or not _is_simple(pair, mine):
            continue
        stops = _stops(program, Waits([pair.wait]))
        needed = _needed(program, pair, [pair.wait], stops)
        first = stretches.up(pair.barrier, needed, Waits(()))
        signal, _ = stretches.later(first, pair.wait, pace)
        before = mine.signals[0] if mine is not None else pair.wait
        others = [entry for entry in taken if mine is None or entry != (before, pair.wait, mine.number)]
        places = {at for h in found.values() if h is not mine for at in (*h.signals, *h.waits)}
        free = _free_barriers(program, authors, others, (signal, pair.wait))
        # One operation of each kind stands at a place: where another pair's stands already, nothing is moved.
        if signal < before and free and not {signal, pair.wait} & places:
            found[pair.barrier] = Halves((signal,), (pair.wait,), free[0])
            taken = [*others, _Taken(signal, pair.wait, free[0])]
    return found


def _is_simple(pair: _Pair, halves: Halves | None) -> bool:
    """Whether a pair shares its halves with no other."""
    return halves is None or (len(halves.signals) == 1 and halves.waits == (pair.wait,))


class _Taken(NamedTuple):
    """A split barrier that is in use, from a signal to a wait."""

    begin: Position
    end: Position
    number: int


def _free_barriers(
    program: Program, authors: set[int], taken: list[_Taken], between: tuple[Position, Position]
) -> list[int]:
    """The split barriers that the kernel does not use itself, and nothing else does between two places."""
    signal, wait = between
    busy = {entry.number for entry in taken if entry.begin <= wait and signal <= entry.end}
    return [number for number in range(1, 1 + len(program.barrier_ids)) if number not in busy | authors]


def _as_placement(placement: Placement, pairs: list[_Pair], halves: dict[Position, Halves]) -> Placement:
    """The halves, and the barriers that stay whole because there is nothing to gain, as a placement."""
    barriers = {pair.barrier for pair in pairs}
    split = {at: sync for at, sync in placement.items() if at not in barriers}
    for pair in pairs:
        mine = halves.get(pair.barrier)
        if mine is None:
            _put(split, pair.barrier, pair.sync)
            continue
        for position in mine.signals:
            _put(split, position, pair.sync._replace(rendezvous=False, signal=mine.number))
        for position in mine.waits:
            _put(split, position, Sync(0, False, wait=mine.number))
    return split


def _put(split: Placement, position: Position, sync: Sync) -> None:
    """Add to what stands at a position; there, the wait of one barrier comes before the signal of the next."""
    before = split.get(position, Sync(0, False))
    split[position] = Sync(
        before.completes | sync.completes,
        before.rendezvous or sync.rendezvous,
        before.counts + sync.counts,
        before.wait or sync.wait,
        before.signal or sync.signal,
    )


def _pairs(program: Program, placement: Placement) -> list[_Pair]:
    """The barriers that were put in, with what is pending in front of each."""
    before = states_before(program, placement)
    found = []
    for position in sorted(placement.keys() - program.existing.keys()):
        sync = placement[position]
        if not sync.rendezvous:
            continue
        pending = 0
        for instance in program.instances_of.get(position.block, ()):
            here, in_flight = before[instance, position.gap]
            pending |= program.transfer.classes(here) | program.of_any_level(in_flight & sync.completes)
        found.append(_Pair(position, sync, pending, position, position))
    return found


def _stops(program: Program, waits: Waits) -> dict[int, list[int]]:
    """For each block, where everything that is pending has been ordered: waits, and whole barriers of the kernel."""
    whole = (at for at, sync in program.existing.items() if sync.rendezvous)
    found: dict[int, list[int]] = {}
    for position in sorted({*waits.positions, *whole}):
        found.setdefault(position.block, []).append(position.gap)
    return found


def _needed(program: Program, pair: _Pair, own: list[Position], stops: dict[int, list[int]]) -> int:
    """What of the things pending in front of a barrier something behind its wait must not overtake."""
    needed = 0
    seen: dict[int, int] = {}
    todo = deque(
        (instance, position.gap, pair.pending, True)
        for position in own
        for instance in program.instances_of.get(position.block, ())
    )
    while todo:
        instance, first, pending, starting = todo.popleft()
        gaps = stops.get(program.places[instance], [])
        place = bisect_right(gaps, first) if starting else bisect_left(gaps, first)
        end = gaps[place] if place < len(gaps) else None
        steps = program.steps[instance]
        for number in range(bisect_left(steps, first, key=_gap), len(steps)):
            step = steps[number]
            if end is not None and step.gap >= end:
                break
            needed |= pending & step.conflicts
            if step.clears:
                pending = 0
        if end is not None or not pending:
            continue
        for edge in program.edges[instance]:
            after = moved(pending, edge.moves)
            if after & ~seen.get(edge.target, 0):
                seen[edge.target] = seen.get(edge.target, 0) | after
                todo.append((edge.target, 0, seen[edge.target], False))
    return needed


def _gap(step: Step) -> int:
    return step.gap


def _carry_signals(
    program: Program,
    stretches: Stretches,
    pairs: list[_Pair],
    halves: dict[Position, Halves],
    waits: Waits,
    pace: Pace,
) -> None:
    """Where a pair begins a loop's body and another one stands behind the loop: signal an iteration earlier."""
    flow = program.flow
    by_signal = {pair.first: pair for pair in pairs if pair.first is not None}
    for loop in flow.loops:
        if loop.op is None or loop.trip in (0, 1) or not loop.latches:
            continue
        latch, header = flow.blocks[loop.latches[0]], flow.blocks[loop.header]
        before = next((block for block in header.predecessors if block not in loop.latches), -1)
        behind = stretches.behind.get(before, -1)
        first, after = by_signal.get(Position(header.origin, 0)), by_signal.get(Position(behind, 0))
        if before < 0 or first is None or after is None or header.origin != header.index:
            continue
        needed = first.needed | after.needed
        front = stretches.up(Position(before, len(flow.blocks[before].ops)), needed, waits)
        end = stretches.up(Position(latch.origin, len(latch.ops)), needed, waits)
        (in_front, _), (at_end, room) = stretches.later(front, None, pace), stretches.later(end, None, pace)
        if not room:
            continue
        signals = (in_front, at_end)
        number = 1 + program.barrier_ids.index(ops.WORKGROUP)
        halves[first.barrier] = Halves(signals, (first.wait,), number)
        halves[after.barrier] = Halves((), (after.wait,), number)
        by_signal = {at: pair for at, pair in by_signal.items() if pair is not first and pair is not after}


@dataclass(slots=True)
class _Rotation:
    """A pair in front of a loop and the last pair of its body, which are waited for at the top of the body."""

    first: _Pair
    last: _Pair
    top: Position
    behind: Position


def _rotations(program: Program, stretches: Stretches, pairs: list[_Pair]) -> list[_Rotation]:
    """The loops for which waiting an iteration later takes no more pairs than before."""
    flow = program.flow
    by_wait = {pair.wait: pair for pair in pairs}
    found: list[_Rotation] = []
    taken: set[Position] = set()
    for loop in flow.loops:
        if loop.op is None or loop.trip in (0, 1) or not loop.latches:
            continue
        latch, header = flow.blocks[loop.latches[0]], flow.blocks[loop.header]
        before = next((block for block in header.predecessors if block not in loop.latches), -1)
        behind = stretches.behind.get(before)
        last = by_wait.get(Position(latch.origin, len(latch.ops)))
        if before < 0 or behind is None or last is None or header.origin != header.index:
            continue
        first = by_wait.get(Position(before, len(flow.blocks[before].ops)))
        if first is None or first.barrier in taken or last.barrier in taken:
            continue
        top = stretches.down(Position(header.index, 0), first.pending | last.pending, own=False)
        after = stretches.down(Position(behind, 0), last.pending | first.pending, own=False)
        if top.block == last.barrier.block and top.gap > last.barrier.gap:
            continue
        if top in program.existing or after in program.existing:
            continue
        taken |= {first.barrier, last.barrier}
        found.append(_Rotation(first, last, top, after))
    return found
