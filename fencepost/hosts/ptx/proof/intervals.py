"""What can happen between two barriers: the accesses that a thread gets to from a barrier without passing
another one.

A barrier that all threads pass together starts an interval; so does the kernel's entry. Two threads in one
interval left the same barrier in the same iterations of the loops around it. For each access we keep how its
iterations relate to these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.reading.effects import Access, effect
from fencepost.hosts.ptx.reading.flow import ENTRY, Flow, NotJudged
from fencepost.hosts.ptx.reading.module import Instruction

MOST_STATES = 20_000


@dataclass(frozen=True)
class Iteration:
    """Which iteration of a loop a thread is in.

    `start`: that of the barrier it left, plus `number`. `after`: any later one. `number`: exactly that one,
    counted from 0. `any`: any iteration. A loop that is not mentioned was left before the barrier.
    """

    kind: Literal["start", "after", "number", "any"]
    number: int = 0

    def next(self) -> Iteration:
        """After one more trip over the back edge."""
        if self.kind == "start" and self.number < 1:
            return Iteration("start", self.number + 1)
        if self.kind in ("start", "after"):
            return Iteration("after")
        return Iteration("any")

    def covers(self, other: Iteration) -> bool:
        """Whether this says less than the other."""
        if self.kind == "any":
            return other.kind in ("any", "number")
        return self == other or (self.kind == "after" and other == Iteration("start", 1))


Iterations = tuple[tuple[int, Iteration], ...]
"""For some loops, by header, which iteration; sorted."""


@dataclass(frozen=True)
class Place:
    """An instruction: its block and position."""

    block: int
    index: int


@dataclass(frozen=True)
class Reached:
    """An access in an interval: which one, where, and in which iterations."""

    place: Place
    access: Access
    iterations: Iterations
    known: tuple[tuple[int, int], ...] = ()
    """Iterations that the barrier must be in, by header: for copies that were issued before the loop."""

    def iteration(self, header: int) -> Iteration | None:
        """The iteration of a loop; None if it was left before the barrier."""
        return dict(self.iterations).get(header)


State = tuple[int, int, Iterations]
"""Where a walk is: a block, the first instruction of it that counts, and the iterations."""


@dataclass(frozen=True)
class Interval:
    """A barrier (None: the entry), what is reached from it, and the ways there."""

    start: State
    reached: tuple[Reached, ...]
    sources: Mapping[State, Sequence[State]]
    """For each state, those it is reached from."""

    def with_copies(self, copies: Sequence[Reached]) -> Interval:
        """The interval with copies that are in flight when it begins."""
        return Interval(self.start, (*self.reached, *copies), self.sources) if copies else self

    def states_of(self, reached: Reached) -> list[State]:
        """The states in which an access is met; none for a copy that was issued before the interval.

        An access in any iteration stands for those in a numbered one too, which `without_covered` has dropped."""
        return [
            state
            for state in self.sources
            if state[0] == reached.place.block
            and state[1] <= reached.place.index
            and _covers(dict(reached.iterations), dict(state[2]))
        ]


class Walk:
    """Goes forward from a start, stopping at barriers."""

    def __init__(
        self,
        flow: Flow,
        stops: Callable[[Place, Instruction], bool],
        dead: frozenset[tuple[int, int]] = frozenset(),
        stopping: frozenset[int] = frozenset(),
    ) -> None:
        self.flow = flow
        self.stops = stops
        self.dead = dead
        """Edges that no thread can take."""
        self.stopping = stopping
        """Loops, by header, in which every iteration that is followed by another passes a barrier."""

    def interval(self, start: Place | None) -> Interval:
        """Everything that is reached from one start."""
        found: dict[Reached, None] = {}
        block = ENTRY if start is None else start.block
        first = {loop.header: Iteration("start") for loop in self.flow.loops_around(block)}
        origin: State = (block, 0 if start is None else start.index + 1, tuple(sorted(first.items())))
        todo = [origin]
        seen: dict[State, list[State]] = {origin: []}
        while todo:
            here = todo.pop()
            number, index, iterations = here
            if self._run(number, index, iterations, found):
                for following in self.flow.successors[number]:
                    if (number, following) in self.dead or self._must_stop(
                        number, following, dict(iterations)
                    ):
                        continue
                    state = (following, 0, self._crossed(number, following, dict(iterations)))
                    if state not in seen:
                        seen[state] = []
                        todo.append(state)
                    seen[state].append(here)
            if len(seen) > MOST_STATES:
                raise NotJudged("too many ways from one barrier to the next")
        return Interval(origin, without_covered(list(found)), seen)

    def _run(self, number: int, index: int, iterations: Iterations, found: dict[Reached, None]) -> bool:
        """Goes through a block; False if it ends at a barrier."""
        for at, instruction in enumerate(self.flow.blocks[number].instructions):
            if at < index:
                continue
            place = Place(number, at)
            if self.stops(place, instruction):
                return False
            for access in effect(instruction).accesses:
                found[Reached(place, access, iterations)] = None
        return True

    def _must_stop(self, source: int, target: int, iterations: Mapping[int, Iteration]) -> bool:
        """Whether a thread would begin another iteration, having come by no barrier in the whole one before."""
        if target not in self.stopping or source not in self.flow.loop_of[target]:
            return False
        return iterations.get(target) != Iteration("start", 0)

    def _crossed(self, source: int, target: int, iterations: dict[int, Iteration]) -> Iterations:
        loop = self.flow.loop_of.get(target)
        if loop is not None:
            if source in loop:
                iterations[target] = iterations.get(target, Iteration("any")).next()
                for inner in list(iterations):
                    if inner != target and inner in loop:
                        del iterations[inner]
            else:
                iterations[target] = Iteration("number", 0)
        return tuple(sorted(iterations.items()))


def without_covered(found: list[Reached]) -> tuple[Reached, ...]:
    """Drops what another entry for the same access already says."""
    kept: list[Reached] = []
    groups: dict[Place, list[Reached]] = {}
    for each in found:
        groups.setdefault(each.place, []).append(each)
    for group in groups.values():
        for each in group:
            if not any(
                other is not each and _covers(dict(other.iterations), dict(each.iterations))
                for other in group
            ):
                kept.append(each)
    return tuple(kept)


def _covers(more: Mapping[int, Iteration], less: Mapping[int, Iteration]) -> bool:
    return more.keys() == less.keys() and all(more[header].covers(less[header]) for header in more)
