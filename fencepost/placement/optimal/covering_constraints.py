"""Rows: what a placement has to satisfy so that a way is not open (see `literals`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.pending import by_block
from fencepost.analysis.program import MOST_COUNTED, Edge, Program, Step, moved
from fencepost.analysis.sync import Cover
from fencepost.flow import Position
from fencepost.placement.optimal.literals import DRAINED, Choice, Row, Term
from fencepost.placement.optimal.open_paths import Way

MOST_FATES = 32
"""What may become of a copy on one way is followed in so many variants at most; with more there is no proof."""


class Here(NamedTuple):
    """A place on a way where something can be put, and what becomes of the producer's access there."""

    position: Position
    wait: Term | None
    """The longest wait that would complete it; None if it is pending already."""
    meets: bool
    """Whether a barrier of the kernel stands here: everybody meets in any case."""


class Bit(NamedTuple):
    """An access on its way."""

    bit: int
    in_flight: bool
    signalled: int = 0
    """Split barriers that were signalled since: behind a wait for one it is ordered."""


@dataclass(slots=True)
class RowMaker:
    """Makes rows of ways through one program."""

    program: Program
    widest: Mapping[str, int]
    """The greatest count that each counter can be waited for with."""
    candidates: dict[int, list[int]] = field(init=False)
    """For each block, the gaps that stand for all: those in front of steps, and the end."""

    standing: dict[int, dict[int, Cover]] = field(init=False)
    """The barriers and waits of the kernel, by block and gap."""

    def __post_init__(self) -> None:
        program = self.program
        self.candidates, self.standing = {}, by_block(program.standing)
        for block, phases in program.siblings.items():
            if block not in program.flow.sealed:
                gaps = {step.gap for phase in phases for step in program.steps[phase]}
                here = sorted({*gaps, len(program.flow.blocks[block].ops)})
                self.candidates[block] = [gap for gap in here if Position(block, gap) not in program.held]

    def positions(self) -> Iterator[Position]:
        """Everywhere where something could be put."""
        for block, gaps in self.candidates.items():
            for gap in gaps:
                yield Position(block, gap)

    def rows(self, way: Way, consumer: Step, taken: Choice) -> list[Row]:
        """What has to hold that the way is not open, as far as `taken` does not satisfy it; none if nothing can."""
        for places, bit in self.along(way):
            conflict = consumer.flying if bit.in_flight else consumer.conflicts
            if bit.bit & conflict:
                others = not bit.in_flight or bool(self.program.of_any_level(bit.bit) & consumer.conflicts)
                found = _cut(places, bit.in_flight, others, taken)
                if found:
                    return found
        return []

    # ------------------------------------------------------------ following an access

    def along(self, way: Way) -> list[tuple[list[Here], Bit]]:
        """The places on a way, and what the access is at its end; several where waves may or may not come by."""
        program = self.program
        producer = program.steps[way.start.phase][way.first]
        now: list[tuple[list[Here], Bit]] = [([], Bit(producer.adds & self.every, producer.in_flight))]
        first = way.first + 1
        lower = producer.gap
        for segment in way.segments():
            steps = program.steps[segment.phase]
            block = program.places[segment.phase]
            number = first
            for gap, cover, candidate in self.stops(block, lower, segment.end):
                while number < segment.last and steps[number].gap < gap:
                    now = [
                        (places, after) for places, bit in now for after in self.stepped(steps[number], bit)
                    ]
                    number += 1
                now = [self.passed(Position(block, gap), cover, candidate, *each) for each in now]
            for step in steps[number : segment.last]:
                now = [(places, after) for places, bit in now for after in self.stepped(step, bit)]
            if segment.leaving is not None:
                now = [(places, _left(bit, segment.leaving)) for places, bit in now]
            first, lower = 0, -1
            if len(now) > 1:
                now = list({(bit, *places): (places, bit) for places, bit in now}.values())[:MOST_FATES]
        return [(places, bit) for places, bit in now if bit.bit]

    @property
    def every(self) -> int:
        """All bits of one level."""
        return (1 << self.program.width) - 1

    def stops(self, block: int, lower: int, end: int) -> Iterator[tuple[int, Cover | None, bool]]:
        """The places of a block behind `lower`, up to `end`, where something stands or can be put."""
        candidates = self.candidates.get(block, [])
        chosen = candidates[bisect_right(candidates, lower) : bisect_right(candidates, end)]
        standing = self.standing.get(block)
        if not standing:
            for gap in chosen:
                yield gap, None, True
            return
        here = {gap: cover for gap, cover in standing.items() if lower < gap <= end}
        for gap in sorted({*chosen, *here}):
            yield gap, here.get(gap), gap not in here

    def passed(
        self, position: Position, cover: Cover | None, candidate: bool, places: list[Here], bit: Bit
    ) -> tuple[list[Here], Bit]:
        """What becomes of an access at a place, with the place noted."""
        meets = cover is not None and cover.rendezvous
        # Where waits are not ours to put in, nothing helps as long as a copy is in flight.
        left_alone = bit.in_flight and self.program.waits_fixed
        if (candidate or meets) and not left_alone:
            wait = self.wait_for(position, bit) if bit.in_flight else None
            if meets and position in self.program.held:
                wait = None
            if not meets or wait is not None:
                places = [*places, Here(position, wait, meets)]
        if cover is not None:
            if bit.in_flight and bit.bit & cover.lands:
                bit = Bit(self.program.of_any_level(bit.bit), False)
            if not bit.in_flight:
                if meets or bit.signalled >> cover.wait & 1:
                    bit = Bit(0, False)
                elif cover.signal:
                    bit = bit._replace(signalled=bit.signalled | 1 << cover.signal)
        return places, bit

    def wait_for(self, position: Position, bit: Bit) -> Term:
        """The longest wait that completes what is in flight."""
        program = self.program
        level = (bit.bit.bit_length() - 1) // program.width
        made = program.of_any_level(bit.bit)
        counter = next(name for name, bits in program.table.engines.items() if bits & made)
        count = level - (counter in program.groups)
        if count < 0:
            return Term(position, counter, DRAINED)
        return Term(position, counter, min(count, self.widest.get(counter, MOST_COUNTED)))

    def stepped(self, step: Step, bit: Bit) -> list[Bit]:
        """What can become of an access at a step."""
        if step.clears:
            return [bit] if bit.in_flight else []
        if step.settles and self.program.of_any_level(bit.bit) & step.settles:
            return []
        if not bit.in_flight:
            return [bit]
        here = bit.bit
        found: list[Bit] = []
        if here & (step.lands | step.may_land):
            found.append(Bit(self.program.of_any_level(here), False))
            if here & step.lands:
                return found
        if here & (step.counts | step.may_count):
            found.append(Bit(here << self.program.width, True))
        if not here & step.counts:
            found.append(bit)
        return found


def _left(bit: Bit, edge: Edge) -> Bit:
    return bit._replace(bit=moved(bit.bit, edge.flying_moves if bit.in_flight else edge.moves))


def _cut(places: list[Here], in_flight: bool, others: bool, taken: Choice) -> list[Row]:
    """The rows of a way; `in_flight` and `others`: the access still is at the end, and other waves have to know."""
    if in_flight and not others:
        row = _row([here.wait for here in places if here.wait is not None])
        return [] if taken.satisfies(row) else [row]
    flying = next((number for number, here in enumerate(places) if here.wait is None), len(places))
    least = max((number + 1 for number, here in enumerate(places) if here.meets), default=0)
    found: list[Row] = []
    for cut in range(least, flying + 1):
        waits = [here.wait for here in places[:cut] if here.wait is not None]
        meetings = [Term(here.position) for here in places[cut:]]
        row = _row([*waits, *meetings])
        if not taken.satisfies(row):
            found.append(row)
    # The first and the last say most; the others follow if they are needed.
    return found if len(found) < 3 else [found[0], found[-1]]


def _row(terms: list[Term]) -> Row:
    """Of several waits at one place the longest count is enough."""
    longest: dict[tuple[Position, str], int] = {}
    for position, counter, count in terms:
        longest[position, counter] = max(count, longest.get((position, counter), count))
    return frozenset(Term(position, counter, count) for (position, counter), count in longest.items())
