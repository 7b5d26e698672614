"""What is outstanding where: a forward dataflow over the counters of a wave.

For everything that may be outstanding, the state has the least number of later operations of its order, over all
ways to get there: a wait that leaves at most n completes it if that number is n or more, whatever way was taken.
Copies are followed by age as well, so that the copy of the last iteration and that of the one before are two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.hosts.amdgcn.steps import COPIES, END, Access, Meets, Step, Steps

MOST = 64
"""No counter is wider: more operations behind another one are not distinguished."""
OLDEST = 12
"""Instances of a copy that are distinguished."""
UNCOMMITTED = -1


class Key(NamedTuple):
    """Something outstanding, on one counter."""

    counter: str
    line: int
    """The instruction."""
    number: int
    """For a copy: its operation."""
    age: int
    """For a copy: how many more instances of it were issued since, at least."""


State = dict[Key, int]
"""What may be outstanding, and how many later operations of its order there are at least."""


class Info(NamedTuple):
    """What is known of a key whatever its age."""

    order: str
    loads: int
    access: Access | None
    line: int


@dataclass(frozen=True, slots=True)
class EarlyUse:
    """A register is named while a load that writes it may be outstanding."""

    line: int
    load: int
    registers: int


@dataclass(slots=True)
class AtPoint:
    """What may be outstanding at some kind of point: accesses of the wave itself, and instances of each copy."""

    accesses: dict[Access, int] = field(default_factory=dict)
    """With the line of one."""
    copies: dict[int, int] = field(default_factory=dict)
    """By the number of their operation."""

    def add(self, other: AtPoint) -> None:
        """Whatever may be outstanding here or there."""
        for access, line in other.accesses.items():
            self.accesses.setdefault(access, line)
        for number, count in other.copies.items():
            self.copies[number] = max(count, self.copies.get(number, 0))


@dataclass(slots=True)
class Outstanding:
    """What the dataflow has found."""

    early_uses: list[EarlyUse] = field(default_factory=list)
    meetings: dict[int, AtPoint] = field(default_factory=lambda: defaultdict(AtPoint))
    """At the rendezvous of each operation, where the wave arrives; and at `END`, where the program ends."""
    accesses: dict[Access, AtPoint] = field(default_factory=lambda: defaultdict(AtPoint))
    """Where an access is issued."""
    starts: dict[int, State] = field(default_factory=dict)
    """What may be outstanding where blocks begin."""
    completed: dict[int, frozenset[int]] = field(default_factory=dict)
    """For waits, by line: what that is looked at they may complete, by line."""
    returned: list[tuple[int, int]] = field(default_factory=list)
    """Returns to a caller, and what may be outstanding there: lines."""


def outstanding(steps: Steps) -> Outstanding:
    """Follow the counters through a program."""
    return _Flow(steps).run()


def outstanding_with_weaker_wait(steps: Steps, before: Outstanding, changed: Collection[int]) -> Outstanding:
    """The same for a program of which `before` is known, but for a weaker wait in the `changed` blocks.

    More may be outstanding then, and only where that is so it is looked: the rest is as it was.
    """
    return _Flow(steps).run(before, changed)


class _Flow:
    """The dataflow."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.info: dict[tuple[str, int, int], Info] = {}
        self.keys: dict[tuple[int, int], list[Key]] = {}
        self.committed = {step.commits for block in steps.blocks for step in block if step.commits}
        self.found = Outstanding()
        self.loading = 0
        self.instances = instances_of_copies(steps)
        self.name_keys()

    def name_keys(self) -> None:
        """Give each step that issues something its keys."""
        for number, block in enumerate(self.steps.blocks):
            for place, step in enumerate(block):
                is_copy = step.access is not None and step.access.does in COPIES
                copied = step.number if is_copy else 0
                keys = [Key(issue.counter, step.line, copied, 0) for issue in step.issues]
                if keys:
                    self.keys[number, place] = keys
                for key, issue in zip(keys, step.issues, strict=True):
                    self.info[key[:3]] = Info(issue.order, issue.loads, step.access, step.line)

    def run(self, before: Outstanding | None = None, changed: Collection[int] = ()) -> Outstanding:
        """Find the states at the starts of blocks, and then what is to be said about each step."""
        order = self.steps.order()
        rank = {block: place for place, block in enumerate(order)}
        starts: dict[int, State] = {0: {}} if before is None else dict(before.starts)
        todo = {block for block in (changed if before is not None else (0,)) if block in rank}
        new = set(order) if before is None else set(todo)
        while todo:
            block = min(todo, key=rank.__getitem__)
            todo.discard(block)
            state = dict(starts[block])
            for place, step in enumerate(self.steps.blocks[block]):
                self.pass_step(state, step, (block, place))
            reached = [other for other in self.steps.successors[block] if _merge(starts, other, state)]
            todo.update(reached)
            new.update(reached)
        for block in order:
            if block in new:
                self.look_at_block(block, dict(starts[block]))
        self.found.starts = starts
        return self.found

    def look_at_block(self, block: int, state: State) -> None:
        """What there is to say about the steps of a block."""
        self.loading = self.loaded_by(state)
        for place, step in enumerate(self.steps.blocks[block]):
            self.look(state, step, (block, place))
        if not self.steps.successors[block]:
            self.found.meetings[END].add(self.point(state))

    def pass_step(self, state: State, step: Step, at: tuple[int, int]) -> None:
        """What a step does to the state."""
        if step.calls:
            state.clear()
        for wait in step.waits:
            for key in [key for key in state if key.counter == wait.counter]:
                if state[key] >= wait.left if self.order_of(key) else not wait.left:
                    del state[key]
        if step.fence:
            for key in [key for key in state if key.counter == "lds"]:
                del state[key]
        if step.commits:
            for key in state:
                if key.counter == step.commits:
                    state[key] = min(state[key] + 1, MOST)
        for key in self.keys.get(at, ()):
            self.issue(state, key)

    def issue(self, state: State, key: Key) -> None:
        """One more operation of its order."""
        grouped = key.counter in self.committed
        order = self.order_of(key)
        if not grouped and order:
            for other in state:
                if other.counter == key.counter and self.order_of(other) == order:
                    state[other] = min(state[other] + 1, MOST)
        if key.number:
            older = [other for other in state if self.is_older(other, key)]
            for other in sorted(older, key=lambda each: -each.age):
                later = state.pop(other)
                aged = other._replace(age=min(other.age + 1, OLDEST))
                state[aged] = min(later, state.get(aged, MOST))
        state[key] = UNCOMMITTED if grouped else 0

    def is_older(self, other: Key, key: Key) -> bool:
        """Whether the instruction of one key says that another instance of the other's copy is issued."""
        if other.number != key.number or other.counter != key.counter:
            return False
        mine, theirs = self.instances[key.line], self.instances[other.line]
        # Of an instance that stands elsewhere, one instruction is enough to be counted.
        return other.line == key.line or (mine != theirs and key.line == mine)

    def order_of(self, key: Key) -> str:
        """What a key completes in order with."""
        return self.info[key[:3]].order

    def look(self, state: State, step: Step, at: tuple[int, int]) -> None:
        """What there is to say about a step, and then pass it."""
        if step.mentions & self.loading:
            self.find_early_uses(state, step, at)
        if step.meets in (Meets.WHOLE, Meets.ARRIVES):
            arriving = dict(state)
            # The fence of a barrier comes before the wave arrives.
            self.pass_step(arriving, step, at)
            self.found.meetings[step.number].add(self.point(arriving))
        if step.returns:
            self.found.returned += [(step.line, line) for line in sorted(self.incomplete(state))]
        if step.access is not None:
            self.found.accesses[step.access].add(self.point(state))
        if step.waits:
            before = self.incomplete(state)
            self.pass_step(state, step, at)
            done = before - self.incomplete(state)
            self.found.completed[step.line] = self.found.completed.get(step.line, frozenset()) | done
        else:
            self.pass_step(state, step, at)
        if step.waits or step.issues or step.calls:
            self.loading = self.loaded_by(state)

    def loaded_by(self, state: State) -> int:
        """All registers that something outstanding writes."""
        found = 0
        for key in state:
            found |= self.info[key[:3]].loads
        return found

    def incomplete(self, state: State) -> frozenset[int]:
        """Lines of loads and of accesses to shared memory that may be outstanding."""
        every = [self.info[key[:3]] for key in state]
        return frozenset(each.line for each in every if each.loads or each.access is not None)

    def find_early_uses(self, state: State, step: Step, at: tuple[int, int]) -> None:
        """Registers that are named too early. A load may write what an earlier one of its order writes."""
        mine = {(key.counter, self.order_of(key)) for key in self.keys.get(at, ()) if self.order_of(key)}
        for key in state:
            info = self.info[key[:3]]
            early = info.loads & step.mentions
            if early and (key.counter, info.order) in mine:
                early &= ~step.result
            if early:
                self.found.early_uses.append(EarlyUse(step.line, info.line, early))

    def point(self, state: State) -> AtPoint:
        """What is outstanding."""
        found = AtPoint()
        for key in state:
            access = self.info[key[:3]].access
            if access is None:
                continue
            if access.does in COPIES:
                found.copies[key.number] = max(key.age + 1, found.copies.get(key.number, 0))
            else:
                found.accesses[access] = self.info[key[:3]].line
        return found


def instances_of_copies(steps: Steps) -> dict[int, int]:
    """For each instruction of a copy, by line: one that stands for all that belong to the same instance of it.

    The compiler may have made several of an operation, for iterations that it has peeled or unrolled: those that no
    rendezvous keeps apart are one.
    """
    number_at = {
        step.line: step.number
        for block in steps.blocks
        for step in block
        if step.access is not None and step.access.does in COPIES
    }
    first = {line: line for line in number_at}

    def root(line: int) -> int:
        while first[line] != line:
            line = first[line]
        return line

    starts: dict[int, set[int]] = defaultdict(set)
    order = steps.order()
    rank = {block: place for place, block in enumerate(order)}
    for block in order:
        since = set(starts[block])
        for step in steps.blocks[block]:
            if step.meets is not Meets.NOT:
                since.clear()
            elif step.line in number_at:
                for line in since:
                    if number_at[line] == step.number:
                        first[root(line)] = root(step.line)
                since.add(step.line)
        for other in steps.successors[block]:
            if rank[other] > rank[block]:
                starts[other] |= since
    return {line: root(line) for line in first}


def _merge(starts: dict[int, State], block: int, state: State) -> bool:
    """What may be outstanding on one way or another; whether that is new."""
    before = starts.get(block)
    if before is None:
        starts[block] = dict(state)
        return True
    fewer = {key: count for key, count in state.items() if count < before.get(key, MOST + 1)}
    if fewer:
        # Another one: who knows the old one keeps it.
        starts[block] = before | fewer
    return bool(fewer)
