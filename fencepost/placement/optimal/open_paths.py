"""Open paths: from an access back to one that it must not overtake, without a barrier or wait in between that helps.

The search goes backwards from the consumer, block by block, with the set of bits that are wanted: what would have to
be pending, or in flight, for the conflict to happen. The first producer that adds one of them ends it, so a path has
about as few positions as there is one with.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.program import Edge, Moves, Program, Step
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position


class Segment(NamedTuple):
    """A stretch of a path within one instance, and how the path goes on."""

    instance: int
    last: int
    """The steps up to, not including, this one are on the path."""
    end: int
    """So are the places up to, and including, this one."""
    pending: int
    in_flight: int
    """What is wanted at the end of the stretch."""
    since: int
    """Split barriers that are waited for further on: an access in front of their signal is ordered."""
    then: Segment | None = None
    leaving: Edge | None = None
    """The edge to the next stretch."""


class OpenPath(NamedTuple):
    """From the step of a producer to a consumer."""

    first: int
    """The producer, among the steps of the first segment's instance."""
    start: Segment

    def segments(self) -> Iterator[Segment]:
        """The stretches, in the order of the program."""
        here: Segment | None = self.start
        while here is not None:
            yield here
            here = here.then


@dataclass(slots=True)
class Synchronization:
    """Barriers and waits, block by block, as the search passes them; more can be added."""

    syncs: dict[int, dict[int, Sync]] = field(default_factory=dict)
    gaps: dict[int, list[int]] = field(default_factory=dict)

    def put(self, position: Position, sync: Sync) -> None:
        """Let a barrier or wait stand somewhere, in the place of what stood there."""
        here = self.syncs.setdefault(position.block, {})
        if position.gap not in here:
            insort(self.gaps.setdefault(position.block, []), position.gap)
        here[position.gap] = sync

    @classmethod
    def of(cls, placement: Placement) -> Synchronization:
        """That of a placement."""
        made = cls()
        for position, sync in placement.items():
            made.put(position, sync)
        return made


@dataclass(slots=True)
class Backwards:
    """Looks for open paths in a program."""

    program: Program
    into: list[list[tuple[int, Edge]]] = field(init=False)
    """For each instance, the edges that lead to it and where from."""
    place: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        program = self.program
        self.into = [[] for _ in program.steps]
        for instance in program.order:
            for edge in program.edges[instance]:
                self.into[edge.target].append((instance, edge))
        self.place = {instance: number for number, instance in enumerate(program.order)}

    def find(
        self,
        instance: int,
        index: int,
        wanted: tuple[int, int],
        sync: Synchronization,
        *,
        round_: bool = True,
    ) -> OpenPath | None:
        """A path to a step, from one that adds what is wanted; without `round_` none along an edge back."""
        program = self.program
        todo = deque([Segment(instance, index, program.steps[instance][index].gap, *wanted, 0)])
        seen: dict[tuple[int, int], tuple[int, int]] = {}
        while todo:
            here = todo.popleft()
            found, state = self.through(here, sync)
            if found >= 0:
                return OpenPath(found, here)
            pending, in_flight, since = state
            if not (pending or in_flight):
                continue
            for source, edge in self.into[here.instance]:
                if not round_ and self.place[source] >= self.place[here.instance]:
                    continue
                before = unmoved(pending, edge.moves), unmoved(in_flight, edge.in_flight_moves)
                known = seen.get((source, since), (0, 0))
                new = before[0] & ~known[0], before[1] & ~known[1]
                if new != (0, 0):
                    seen[source, since] = (before[0] | known[0], before[1] | known[1])
                    end = len(program.flow.blocks[program.places[source]].ops)
                    todo.append(Segment(source, len(program.steps[source]), end, *new, since, here, edge))
        return None

    def through(self, here: Segment, sync: Synchronization) -> tuple[int, tuple[int, int, int]]:
        """The step in a segment that adds what is wanted, or -1; and what is wanted where the instance begins."""
        program = self.program
        pending, in_flight, since = here.pending, here.in_flight, here.since
        steps = program.steps[here.instance]
        block = program.places[here.instance]
        gaps, syncs = sync.gaps.get(block), sync.syncs.get(block)
        upper = here.end
        for number in range(here.last - 1, -2, -1):
            lower = steps[number].gap if number >= 0 else -1
            if gaps and syncs:
                place = bisect_left(gaps, upper + 1)
                while place and gaps[place - 1] > lower:
                    place -= 1
                    pending, in_flight, since = self.before(syncs[gaps[place]], pending, in_flight, since)
            if number < 0 or not (pending or in_flight):
                break
            step = steps[number]
            if step.adds & (in_flight if step.by_engine else pending):
                return number, (0, 0, 0)
            if step.settles:
                pending, in_flight = pending & ~step.settles, in_flight & ~program.on_levels(step.settles)
            if step.clears:
                pending = 0
            elif in_flight or step.completes or step.may_complete:
                pending, in_flight = self.before_step(step, pending, in_flight)
            upper = lower
        return -1, (pending, in_flight, since)

    def before(self, sync: Sync, pending: int, in_flight: int, since: int) -> tuple[int, int, int]:
        """What is wanted in front of a barrier or wait, given what is wanted behind it."""
        if sync.rendezvous:
            return 0, in_flight & ~sync.completes, 0
        if sync.signal and since >> sync.signal & 1:
            pending = 0
        if sync.wait:
            since |= 1 << sync.wait
        if sync.completes:
            in_flight = in_flight & ~sync.completes | sync.completes & self.program.on_levels(pending)
        return pending, in_flight, since

    def before_step(self, step: Step, pending: int, in_flight: int) -> tuple[int, int]:
        """The same for a step that counts or waits."""
        program = self.program
        up, perhaps = step.counts, step.may_count
        if up or perhaps:
            earlier = in_flight >> program.width
            in_flight = in_flight & ~up | earlier & up | earlier & perhaps
        landing = step.completes | step.may_complete
        if landing:
            in_flight = in_flight & ~step.completes | landing & program.on_levels(pending)
        return pending, in_flight


def unmoved(bits: int, moves: Moves) -> int:
    """The bits that `moves` turn into `bits`."""
    if not moves or not bits:
        return bits
    before, kept = 0, bits
    for mask, places in moves:
        kept &= ~mask
        before |= (bits >> places if places >= 0 else bits << -places) & mask
    return kept | before
