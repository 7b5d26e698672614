"""Which accesses no rendezvous keeps apart, and which rendezvous follow each other.

A pair (x, y) is *together* if execution can go from x to y without passing a rendezvous: nothing orders them then in
different waves. A split barrier orders what comes before the signal with what comes behind the wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.hosts.amdgcn.steps import END, START, Access, Meets, Step, Steps


@dataclass(slots=True)
class Meetings:
    """What the dataflow has found; lines are those where the later one of two stands."""

    together: dict[tuple[Access, Access], int] = field(default_factory=dict)
    forward: dict[tuple[Access, Access], int] = field(default_factory=dict)
    """The same without going round a loop,"""
    straight: dict[tuple[Access, Access], int] = field(default_factory=dict)
    """and within one block."""
    stretches: list[Counter[Access]] = field(default_factory=list)
    """How many instructions of each access there are from one rendezvous to the next, within a block."""
    follows: dict[tuple[int, int], int] = field(default_factory=dict)
    """Rendezvous by the numbers of their operations, with the one that was last before."""
    lines: dict[int, int] = field(default_factory=dict)
    """Where the rendezvous of an operation stands: one of the lines."""
    last: dict[int, frozenset[int]] = field(default_factory=dict)
    """For accesses, by line: the rendezvous that may be the last one before."""
    unpaired: dict[int, str] = field(default_factory=dict)
    """Signals and waits of split barriers that do not take turns, by line."""

    def has_two_instances(self, first: Access, second: Access) -> bool:
        """Whether two accesses are both twice in a stretch, judged by others: those of a loop that was unrolled."""
        least = {
            access: min((each[access] for each in self.stretches if each[access]), default=0)
            for access in (first, second)
        }
        return any(
            all(each[access] >= 2 * least[access] > 0 for access in (first, second))
            for each in self.stretches
        )


@dataclass(slots=True)
class _State:
    """Sets as bits: accesses since the last rendezvous, those before a signal, and what the last rendezvous was."""

    since: int = 0
    signalled: int = 0
    last: int = 0
    halves: int = 0
    """1: no signal is under way here on some path, 2: one is."""

    def join(self, other: _State) -> bool:
        """Whatever holds on one way or another; whether that is new."""
        before = (self.since, self.signalled, self.last, self.halves)
        self.since |= other.since
        self.signalled |= other.signalled
        self.last |= other.last
        self.halves |= other.halves
        return before != (self.since, self.signalled, self.last, self.halves)

    def copy(self) -> _State:
        """Another one of the same."""
        return _State(self.since, self.signalled, self.last, self.halves)


def meetings(steps: Steps) -> Meetings:
    """Follow a program from rendezvous to rendezvous."""
    found = _Flow(steps).run()
    for block in steps.blocks:
        here: Counter[Access] = Counter()
        for step in block:
            if step.access is not None:
                here[step.access] += 1
            if step.meets in (Meets.WHOLE, Meets.LEAVES):
                found.stretches.append(here)
                here = Counter()
        found.stretches.append(here)
    return found


class _Flow:
    """The dataflow."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.accesses: list[Access] = []
        self.bits: dict[Access, int] = {}
        self.barriers: list[int] = [START]
        self.barrier_bits: dict[int, int] = {START: 1}
        self.found = Meetings()
        for block in steps.blocks:
            for step in block:
                self.name(step)

    def name(self, step: Step) -> None:
        """Give what a step is about its bit."""
        if step.access is not None and step.access not in self.bits:
            self.bits[step.access] = 1 << len(self.accesses)
            self.accesses.append(step.access)
        if step.meets is not Meets.NOT and step.number not in self.barrier_bits:
            self.barrier_bits[step.number] = 1 << len(self.barriers)
            self.barriers.append(step.number)

    def run(self) -> Meetings:
        """Everything, and then what holds without going round a loop."""
        order = self.steps.order()
        rank = {block: place for place, block in enumerate(order)}
        starts = {block: _State() for block in order}
        if not order:
            return self.found
        starts[0] = _State(last=1, halves=1)
        todo = set(order)
        while todo:
            block = min(todo, key=rank.__getitem__)
            todo.discard(block)
            state = self.through(block, starts[block].copy())
            todo |= {other for other in self.steps.successors[block] if starts[other].join(state)}
        once = {block: _State() for block in order}
        once[0] = _State(last=1, halves=1)
        for block in order:
            self.through(block, starts[block].copy(), look=True)
            self.through(block, _State(), pairs=self.found.straight)
            state = self.through(block, once[block].copy(), pairs=self.found.forward)
            for other in self.steps.successors[block]:
                if rank[other] > rank[block]:
                    once[other].join(state)
        return self.found

    def through(
        self,
        block: int,
        state: _State,
        *,
        look: bool = False,
        pairs: dict[tuple[Access, Access], int] | None = None,
    ) -> _State:
        """The state behind a block. With `look` everything is noted, with `pairs` what is together."""
        pairs = self.found.together if look else pairs
        for step in self.steps.blocks[block]:
            if step.access is not None:
                if pairs is not None:
                    self.note_pairs(state, step, pairs)
                if look:
                    before = frozenset(self.barriers[place] for place in _ones(state.last))
                    self.found.last[step.line] = self.found.last.get(step.line, frozenset()) | before
                state.since |= self.bits[step.access]
            if step.meets is not Meets.NOT:
                if look:
                    self.note_meeting(state, step)
                self.meet(state, step)
        if look and not self.steps.successors[block]:
            self.note_end(state, block)
        return state

    def meet(self, state: _State, step: Step) -> None:
        """What a rendezvous, or half of one, does to the state."""
        if step.meets is Meets.ARRIVES:
            state.signalled |= state.since
            state.since = 0
            state.halves = 2
            return
        state.signalled = 0
        if step.meets is Meets.WHOLE:
            state.since = 0
        else:
            state.halves = 1
        state.last = self.barrier_bits[step.number]

    def note_pairs(self, state: _State, step: Step, pairs: dict[tuple[Access, Access], int]) -> None:
        """What an access is together with."""
        assert step.access is not None
        for place in _ones(state.since | state.signalled):
            pairs.setdefault((self.accesses[place], step.access), step.line)

    def note_meeting(self, state: _State, step: Step) -> None:
        """A rendezvous, what was last before it, and whether signals and waits take turns."""
        wrong = {Meets.ARRIVES: 2, Meets.LEAVES: 1, Meets.WHOLE: 2}[step.meets]
        if state.halves & wrong:
            said = (
                "a wait without a signal" if wrong == 1 else "a second signal before the wait for the first"
            )
            self.found.unpaired[step.line] = said
        if step.meets is not Meets.ARRIVES:
            self.found.lines.setdefault(step.number, step.line)
            for place in _ones(state.last):
                self.found.follows.setdefault((self.barriers[place], step.number), step.line)

    def note_end(self, state: _State, block: int) -> None:
        """The end of the program."""
        steps = self.steps.blocks[block]
        line = steps[-1].line if steps else 0
        if state.halves & 2:
            self.found.unpaired[line] = "a signal without a wait"
        for place in _ones(state.last):
            self.found.follows.setdefault((self.barriers[place], END), line)


def _ones(bits: int) -> Iterator[int]:
    """The places of the bits that are set."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
