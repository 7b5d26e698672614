"""Split barriers: one signal after the latest producer, one wait before the earliest consumer of a group of windows.

`minimize` says how few barriers are enough, and each of them stands somewhere in the intersection of the windows that
it covers. Here each is pulled apart over that intersection: its wait moves down to the first consumer, its signal up
to the last producer that a consumer needs. Both stay in the region where the barrier stood, so a signal and its wait
are executed alike on every path; they may move past a loop or conditional that has no synchronization inside. Pairs
do not overlap: a signal stops behind the wait of the pair before it.

Windows that cross into the next iteration: where a barrier stands in front of a loop and another one ends the loop's
body, the signal of the first is waited for at the top of the body, and so is the signal of the last one, in the next
iteration; what the last iteration signals is waited for behind the loop. Likewise, where a barrier begins the body
and another one stands behind the loop, what they wait for is signalled in front of the loop and at the end of the
body. That is as many pairs as before, and the time between two iterations is added to them.

A barrier that waits for copies keeps its signal where it is: the wait has to come first. Where nothing is gained, the
barrier stays whole.

Why no hazard is lost: what a wait no longer orders, because a signal has moved up past it, conflicts with nothing up
to the next wait, and the signal of that one comes later.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fencepost.analysis.covers import Cover, Placement
from fencepost.analysis.pending import conflicts_left, states_before
from fencepost.analysis.program import Program, Step, moved
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.placement.minimize import Minimize
from fencepost.placement.stretches import Stretches, Waits


@dataclass(frozen=True)
class Intersect(Minimize):
    """The barriers of `minimize`, each pulled apart into a signal and a wait."""

    name: ClassVar[str] = "intersect"
    summary: ClassVar[str] = "minimize's barriers, pulled apart into signal and wait (Wave on gfx12)"


@dataclass(slots=True)
class _Pair:
    """A barrier that is pulled apart."""

    barrier: Position
    cover: Cover
    pending: int
    """What is pending in front of it, in any phase."""
    signal: Position
    wait: Position
    needed: int = 0
    """What of it something behind the wait must not overtake."""


class Halves(NamedTuple):
    """What became of a barrier: where it is signalled, and where that is waited for.

    Two barriers that a loop carries share their halves; the signals, or waits, are listed with the first of them.
    """

    signals: tuple[Position, ...]
    waits: tuple[Position, ...]


def pull_apart(program: Program, placement: Placement) -> tuple[Placement, dict[Position, Halves]]:
    """`placement` with the barriers that were put in as signals and waits of the workgroup's barrier.

    And, for each that was pulled apart, its halves; the others stay whole.
    """
    number = 1 + program.barrier_ids.index(ops.WORKGROUP)
    pairs = _pairs(program, placement)
    stretches = Stretches(program, set(placement))
    for pair in pairs:
        pair.wait = stretches.down(pair.barrier, pair.pending)
    rotations = _rotations(program, stretches, pairs)
    rotated = {pair.barrier for rotation in rotations for pair in (rotation.first, rotation.last)}
    waits = {pair.barrier: [pair.wait] for pair in pairs}
    for rotation in rotations:
        waits[rotation.first.barrier] = waits[rotation.last.barrier] = [rotation.top, rotation.behind]
    shared = [rotation.last.barrier for rotation in rotations]
    standing = Counter(at for barrier, found in waits.items() if barrier not in shared for at in found)
    everywhere = Waits(standing)
    stops = _stops(program, placement, everywhere)
    for pair in pairs:
        if not pair.cover.lands:
            pair.needed = _needed(program, pair, waits[pair.barrier], stops)
            # Its own wait, which may stand where the barrier stood, does not hold its signal; another one there does.
            own = None if pair.barrier in rotated or standing[pair.wait] > 1 else pair.wait
            pair.signal = stretches.up(pair.barrier, pair.needed, everywhere, own)
    halves: dict[Position, Halves] = {}
    for pair in pairs:
        if pair.barrier in rotated or pair.signal != pair.wait:
            halves[pair.barrier] = Halves((pair.signal,), tuple(waits[pair.barrier]))
    for rotation in rotations:
        halves[rotation.last.barrier] = halves[rotation.last.barrier]._replace(waits=())
    apart = [pair for pair in pairs if pair.barrier not in rotated]
    _carry_signals(program, stretches, apart, halves, everywhere)
    split = {at: cover for at, cover in placement.items() if at not in waits}
    for pair in pairs:
        if pair.barrier not in halves:
            _put(split, pair.barrier, pair.cover)  # nothing to gain: the barrier stays whole
            continue
        for position in halves[pair.barrier].signals:
            _put(split, position, pair.cover._replace(rendezvous=False, signal=number))
        for position in halves[pair.barrier].waits:
            _put(split, position, Cover(0, False, wait=number))
    # By construction this leaves no conflict; if it did, whole barriers would be the safe answer.
    left = conflicts_left(program, split)
    return (split, halves) if len(left) <= len(conflicts_left(program, placement)) else (placement, {})


def _put(split: Placement, position: Position, cover: Cover) -> None:
    """Add to what stands at a position; there, the wait of one barrier comes before the signal of the next."""
    before = split.get(position, Cover(0, False))
    split[position] = Cover(
        before.lands | cover.lands,
        before.rendezvous or cover.rendezvous,
        before.counts + cover.counts,
        before.wait or cover.wait,
        before.signal or cover.signal,
    )


def _pairs(program: Program, placement: Placement) -> list[_Pair]:
    """The barriers that were put in, with what is pending in front of each."""
    before = states_before(program, placement)
    found = []
    for position in sorted(placement.keys() - program.standing.keys()):
        cover = placement[position]
        if not cover.rendezvous:
            continue
        pending = 0
        for phase in program.siblings.get(position.block, ()):
            here, flying = before[phase, position.gap]
            pending |= program.low(here) | program.of_any_level(flying & cover.lands)
        found.append(_Pair(position, cover, pending, position, position))
    return found


def _stops(program: Program, placement: Placement, waits: Waits) -> dict[int, list[int]]:
    """For each block, where everything that is pending has been ordered: waits, and whole barriers of the kernel."""
    whole = (at for at in program.standing if placement[at].rendezvous)
    found: dict[int, list[int]] = {}
    for position in sorted({*waits.positions, *whole}):
        found.setdefault(position.block, []).append(position.gap)
    return found


def _needed(program: Program, pair: _Pair, own: list[Position], stops: dict[int, list[int]]) -> int:
    """What of the things pending in front of a barrier something behind its wait must not overtake."""
    needed = 0
    seen: dict[int, int] = {}
    todo = deque(
        (phase, position.gap, pair.pending, True)
        for position in own
        for phase in program.siblings.get(position.block, ())
    )
    while todo:
        phase, first, pending, starting = todo.popleft()
        gaps = stops.get(program.places[phase], [])
        place = bisect_right(gaps, first) if starting else bisect_left(gaps, first)
        end = gaps[place] if place < len(gaps) else None
        steps = program.steps[phase]
        for number in range(bisect_left(steps, first, key=_gap), len(steps)):
            step = steps[number]
            if end is not None and step.gap >= end:
                break
            needed |= pending & step.conflicts
            if step.clears:
                pending = 0
        if end is not None or not pending:
            continue
        for edge in program.edges[phase]:
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
) -> None:
    """Where a pair begins a loop's body and another one stands behind the loop: signal an iteration earlier."""
    flow = program.flow
    by_signal = {pair.signal: pair for pair in pairs if not pair.cover.lands}
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
        halves[first.barrier] = Halves((front, end), (first.wait,))
        halves[after.barrier] = Halves((), (after.wait,))
        del by_signal[first.signal], by_signal[after.signal]


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
        taken |= {first.barrier, last.barrier}
        found.append(_Rotation(first, last, top, after))
    return found
