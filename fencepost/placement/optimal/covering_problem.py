"""The covering problem: rendezvous and waits at positions that satisfy every constraint, at least cost.

`ConstraintMaker` makes the constraints: what a placement has to satisfy so that a path is not open. `costs` has the
prices, `search` solves it (package docstring: how).

A *literal* says one thing about one position: all waves meet there, or a counter is waited for there until at most so
many operations are outstanding. A *constraint* is a set of literals of which at least one has to hold.

An access that is pending needs a rendezvous on every path to what must not overtake it. That is one constraint for
each path. A copy in flight needs a wait first and a rendezvous behind it (or at the same place: a barrier that
waits). "There are places i and j, i not behind j, with a wait at i and a rendezvous at j" is the same as: wherever
the path is cut in two, there is a wait in the first part or a rendezvous in the second. So each cut is a constraint.

Most waits may as well stand further on: unless all waves meet here, or something here or behind the block's end may
need the wait, it does the same one place later, where it costs no more (`ConstraintMaker`). Where that is so, a
wait counts only as a *barrier that waits*, which costs what the rendezvous and the wait do together. A path all of
whose waits are of that kind is a single constraint, "a barrier that waits, somewhere", and that constraint can pay
for both at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from fencepost.analysis.pending import by_block
from fencepost.analysis.program import MOST_COUNTED, Edge, Program, Step, moved
from fencepost.analysis.transfer import DRAIN, PLAIN, Placement, Sync
from fencepost.flow import Position
from fencepost.placement.optimal.open_paths import OpenPath

DRAINED = -1
"""The count of a wait for everything, even for what no count waits for: a group that is still open."""


class Literal(NamedTuple):
    """All waves meet at a position; or at most so many operations of a counter are outstanding behind it; or both."""

    position: Position
    counter: str = ""
    most: int = 0
    both: bool = False
    """A barrier that waits: there is a counter, and all waves meet."""

    @property
    def rendezvous(self) -> bool:
        """Whether all waves meet."""
        return self.both or not self.counter

    def implies(self, other: Literal) -> bool:
        """Whether `other` is true wherever this is."""
        if self.position != other.position or (other.rendezvous and not self.rendezvous):
            return False
        return not other.counter or (self.counter == other.counter and self.most <= other.most)


Constraint = frozenset[Literal]


@dataclass(slots=True)
class Choice:
    """Literals that are taken."""

    meets: set[Position] = field(default_factory=set)
    waits: dict[Position, dict[str, int]] = field(default_factory=dict)
    """The least count of each counter that is waited for."""

    @classmethod
    def of(cls, literals: Iterable[Literal]) -> Choice:
        """A choice of these literals."""
        made = cls()
        for literal in literals:
            made.add(literal)
        return made

    def add(self, literal: Literal) -> None:
        """Take a literal."""
        position, counter, count, _ = literal
        if counter:
            here = self.waits.setdefault(position, {})
            here[counter] = min(count, here.get(counter, count))
        if literal.rendezvous:
            self.meets.add(position)

    def holds(self, literal: Literal) -> bool:
        """Whether a literal is true of what was taken."""
        position, counter, count, _ = literal
        if literal.rendezvous and position not in self.meets:
            return False
        if not counter:
            return True
        here = self.waits.get(position)
        return here is not None and counter in here and here[counter] <= count

    def satisfies(self, constraint: Iterable[Literal]) -> bool:
        """Whether one of the literals is true."""
        return any(self.holds(literal) for literal in constraint)

    def placement(self, program: Program) -> Placement:
        """As barriers and waits, with those of the kernel."""
        found = dict(program.existing)
        for position in self.meets | self.waits.keys():
            made = PLAIN if position in self.meets else PLAIN._replace(rendezvous=False)
            counts = self.waits.get(position, {})
            if min(counts.values(), default=0) <= DRAINED:
                made = DRAIN._replace(rendezvous=made.rendezvous)
            elif counts:
                made = program.waiting(counts, rendezvous=made.rendezvous)
            existing = program.existing.get(position)
            found[position] = made if existing is None else made.joined(existing)
        return found


MOST_FATES = 32
"""What may become of a copy on one path is followed in so many variants at most; with more there is no proof."""


class Here(NamedTuple):
    """A place on a path where something can be put, and what becomes of the producer's access there."""

    position: Position
    wait: Literal | None
    """The longest wait that would complete it; None if it is pending already."""
    meets: bool
    """Whether a barrier of the kernel stands here: everybody meets in any case."""
    alone: bool = True
    """Whether a wait may be worth its price where nobody meets."""


class Bit(NamedTuple):
    """An access on its path."""

    bit: int
    in_flight: bool
    signalled: int = 0
    """Split barriers that were signalled since: behind a wait for one it is ordered."""


@dataclass(slots=True)
class ConstraintMaker:
    """Makes constraints of paths through one program."""

    program: Program
    widest: Mapping[str, int]
    """The greatest count that each counter can be waited for with."""
    candidates: dict[int, list[int]] = field(init=False)
    """For each block, the gaps that stand for all: those in front of steps, and the end."""

    existing: dict[int, dict[int, Sync]] = field(init=False)
    """The barriers and waits of the kernel, by block and gap."""

    movable: set[Position] = field(init=False)
    """Where a wait without a meeting does nothing that it would not do at the next place of the block."""

    def __post_init__(self) -> None:
        program = self.program
        self.candidates, self.existing = {}, by_block(program.existing)
        for block, instances in program.instances_of.items():
            if block not in program.flow.sealed:
                gaps = {step.gap for instance in instances for step in program.steps[instance]}
                here = sorted({*gaps, len(program.flow.blocks[block].ops)})
                self.candidates[block] = [
                    gap for gap in here if Position(block, gap) not in program.inside_splits
                ]
        self.movable = {
            Position(block, gap) for block in self.candidates for gap in self.with_later_waits(block)
        }

    def with_later_waits(self, block: int) -> Iterator[int]:
        """The gaps of a block at which no wait has to stand alone.

        What a wait completes has as many later operations at the next place, or more; so a wait that stands there
        completes it, too, and costs no more. In between is one operation. It must not be what the wait is for, nor
        must waves meet there, arrive anywhere or wait for anything.
        """
        candidates = self.candidates[block]
        stops = sorted({*candidates, *self.existing.get(block, ())})
        at: dict[int, list[Step]] = {}
        for instance in self.program.instances_of[block]:
            for step in self.program.steps[instance]:
                at.setdefault(step.gap, []).append(step)
        following = dict(pairwise(stops))
        existing = self.existing.get(block, {})
        for gap, later in pairwise(candidates):
            between = following[gap] == later and later not in existing and gap not in existing
            if between and not any(self.needs_wait(step) for step in at.get(gap, ())):
                yield gap

    def needs_wait(self, step: Step) -> bool:
        """Whether a wait right before a step may do something for it, or for others at it, without a meeting."""
        if step.clears or step.completes or step.may_complete or step.settles or step.turn is not None:
            return True
        return bool(self.program.of_any_level(step.in_flight) & ~step.conflicts)

    def positions(self) -> Iterator[Position]:
        """Everywhere where something could be put."""
        for block, gaps in self.candidates.items():
            for gap in gaps:
                yield Position(block, gap)

    def constraints(self, path: OpenPath, consumer: Step, taken: Choice) -> list[Constraint]:
        """What has to hold that the path is not open, as far as `taken` does not satisfy it; none if nothing can."""
        for places, bit in self.along(path):
            conflict = consumer.in_flight if bit.in_flight else consumer.conflicts
            if bit.bit & conflict:
                others = not bit.in_flight or bool(self.program.of_any_level(bit.bit) & consumer.conflicts)
                found = _cut(places, bit.in_flight, others, taken)
                if found:
                    return found
        return []

    # ------------------------------------------------------------ following an access

    def along(self, path: OpenPath) -> list[tuple[list[Here], Bit]]:
        """The places on a path, and what the access is at its end; several where waves may or may not reach it."""
        program = self.program
        producer = program.steps[path.start.instance][path.first]
        now: list[tuple[list[Here], Bit]] = [([], Bit(producer.adds & self.every, producer.by_engine))]
        first = path.first + 1
        lower = producer.gap
        for segment in path.segments():
            steps = program.steps[segment.instance]
            block = program.places[segment.instance]
            number = first
            for gap, sync, candidate in self.stops(block, lower, segment.end):
                while number < segment.last and steps[number].gap < gap:
                    now = [
                        (places, after) for places, bit in now for after in self.stepped(steps[number], bit)
                    ]
                    number += 1
                now = [self.passed(Position(block, gap), sync, candidate, *each) for each in now]
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

    def stops(self, block: int, lower: int, end: int) -> Iterator[tuple[int, Sync | None, bool]]:
        """The places of a block behind `lower`, up to `end`, where something stands or can be put."""
        candidates = self.candidates.get(block, [])
        chosen = candidates[bisect_right(candidates, lower) : bisect_right(candidates, end)]
        existing = self.existing.get(block)
        if not existing:
            for gap in chosen:
                yield gap, None, True
            return
        here = {gap: sync for gap, sync in existing.items() if lower < gap <= end}
        for gap in sorted({*chosen, *here}):
            yield gap, here.get(gap), gap not in here

    def passed(
        self, position: Position, sync: Sync | None, candidate: bool, places: list[Here], bit: Bit
    ) -> tuple[list[Here], Bit]:
        """What becomes of an access at a place, with the place noted."""
        meets = sync is not None and sync.rendezvous
        # Where waits are not ours to put in, nothing helps as long as a copy is in flight.
        left_alone = bit.in_flight and self.program.waits_fixed
        if (candidate or meets) and not left_alone:
            wait = self.wait_for(position, bit) if bit.in_flight else None
            if meets and position in self.program.inside_splits:
                wait = None
            if not meets or wait is not None:
                alone = meets or position not in self.movable
                places = [*places, Here(position, wait, meets, alone)]
        if sync is not None:
            if bit.in_flight and bit.bit & sync.completes:
                bit = Bit(self.program.of_any_level(bit.bit), False)
            if not bit.in_flight:
                if meets or bit.signalled >> sync.wait & 1:
                    bit = Bit(0, False)
                elif sync.signal:
                    bit = bit._replace(signalled=bit.signalled | 1 << sync.signal)
        return places, bit

    def wait_for(self, position: Position, bit: Bit) -> Literal:
        """The longest wait that completes what is in flight."""
        program = self.program
        level = (bit.bit.bit_length() - 1) // program.width
        made = program.of_any_level(bit.bit)
        counter = next(name for name, bits in program.table.engines.items() if bits & made)
        count = level - (counter in program.groups)
        if count < 0:
            return Literal(position, counter, DRAINED)
        return Literal(position, counter, min(count, self.widest.get(counter, MOST_COUNTED)))

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
        if here & (step.completes | step.may_complete):
            found.append(Bit(self.program.of_any_level(here), False))
            if here & step.completes:
                return found
        if here & (step.counts | step.may_count):
            found.append(Bit(here << self.program.width, True))
        if not here & step.counts:
            found.append(bit)
        return found


def _left(bit: Bit, edge: Edge) -> Bit:
    return bit._replace(bit=moved(bit.bit, edge.in_flight_moves if bit.in_flight else edge.moves))


def _cut(places: list[Here], in_flight: bool, others: bool, taken: Choice) -> list[Constraint]:
    """The constraints of a path at whose end the access is still `in_flight`, or `others` are concerned by it."""
    if in_flight and not others:
        constraint = _constraint(_waits(places))
        return [] if taken.satisfies(constraint) else [constraint]
    end = next((number for number, here in enumerate(places) if here.wait is None), len(places))
    least = max((number + 1 for number, here in enumerate(places) if here.meets), default=0)
    # Where a wait stands only with a meeting, the cut behind it says more than the one in front of it.
    cuts = [number for number in range(least, end) if places[number].alone]
    waits = _waits(places)

    def unsatisfied(numbers: Iterable[int]) -> Iterator[Constraint]:
        for cut in numbers:
            constraint = _constraint([*waits[:cut], *(Literal(here.position) for here in places[cut:])])
            if not taken.satisfies(constraint):
                yield constraint

    # The first and the last say most; the others follow if they are needed.
    last = next(unsatisfied([end, *reversed(cuts)]), None)
    first = next(unsatisfied(cuts), None)
    return list(dict.fromkeys(constraint for constraint in (first, last) if constraint is not None))


def _waits(places: list[Here]) -> list[Literal]:
    """The waits at the first places, as long as there are any; barriers that wait where they need not stand alone."""
    found: list[Literal] = []
    for _, wait, _, alone in places:
        if wait is None:
            break
        found.append(wait if alone else Literal(wait.position, wait.counter, wait.most, True))
    return found


def _constraint(literals: list[Literal]) -> Constraint:
    """Of several waits at one place the longest count is enough; where meeting is enough, no wait is needed."""
    longest: dict[tuple[Position, str], Literal] = {}
    for literal in literals:
        before = longest.get((literal.position, literal.counter))
        if before is None or before.most < literal.most:
            longest[literal.position, literal.counter] = literal
    return frozenset(
        literal for literal in longest.values() if not (literal.both and (literal.position, "") in longest)
    )
