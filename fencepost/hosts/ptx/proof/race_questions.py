"""What is asked about two accesses that may race, and what the answers are."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Literal

from fencepost.hosts.ptx.expressions.expression_nodes import Expression
from fencepost.hosts.ptx.proof.addresses import Footprint
from fencepost.hosts.ptx.proof.intervals import Interval, Reached, State
from fencepost.hosts.ptx.proof.thread_pairs import Pairs

Answer = Literal["yes", "no", "late"]


@dataclass(frozen=True)
class Touch:
    """An access in an interval with its bytes and the conditions under which a thread performs it."""

    reached: Reached
    footprint: Footprint
    conditions: tuple[Expression, ...]
    interval: Interval = field(compare=False, repr=False)
    strong: bool = False
    """Whether it is a strong load or store."""
    alike: list[Reached] = field(default_factory=list, compare=False, repr=False)
    """All accesses of the interval with this key, which differ in the ways there alone."""
    state: State | None = field(default=None, compare=False, repr=False)
    """Where the way to it ends, if the question is about one way alone."""

    @property
    def kind(self) -> str:
        """Whether it reads, writes, is atomic or copies."""
        return self.reached.access.kind

    def key(self) -> object:
        """Touches with equal keys answer every question alike."""
        about = (self.footprint.offset, self.footprint.variable, self.footprint.size, self.conditions)
        values = self.reached.place if self.kind in ("write", "copy") else None
        how = self.kind, self.strong, self.reached.access.element
        return (how, about, self.reached.iterations, self.reached.known, values)

    def by_state(self) -> list[Touch]:
        """The access once for each state that a thread may come to it in, such as the next iteration and any later
        one; together they are all that it stands for."""
        found: list[Touch] = []
        for each in self.alike:
            states = self.interval.states_of(each)
            if not states:
                return [self]
            for state in states:
                reached = replace(each, iterations=state[2])
                found.append(replace(self, reached=reached, alike=[reached], state=state))
        return found

    def matches(self, other: Touch) -> bool:
        """Whether operations of both are of one size: if they meet, then in all of their bytes."""
        return self.reached.access.element == other.reached.access.element


@dataclass(frozen=True)
class Candidate:
    """Two accesses that a solver says can meet, and for which values."""

    first: Touch
    second: Touch
    values: dict[str, int]


@dataclass
class Outcome:
    """What the questions gave: meetings that seem possible, and pairs that were not decided in time."""

    candidates: list[Candidate] = field(default_factory=list)
    open: list[tuple[Touch, Touch]] = field(default_factory=list)
    weak: list[Candidate] = field(default_factory=list)
    """Meetings that are no races: of an atomic and a strong load or, if warps run in step, within a warp alone."""


@dataclass(frozen=True)
class Budget:
    """Seconds of this thread's own time: for one question, and when the last one must be asked."""

    question: float
    end: float

    def left(self) -> float:
        """Seconds for the next question."""
        return min(self.question, self.end - time.thread_time())


@dataclass(frozen=True)
class Question:
    """Whether a write can meet one of some accesses by another thread."""

    write: Touch
    others: tuple[Touch, ...]
    threads: Pairs
    with_paths: bool
