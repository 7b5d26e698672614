"""One wave: what it still has to run, what it has under way, which barriers it has reached."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.ir import ops


def counter_of(op: ops.Operation) -> str | None:
    """The counter that an operation counts on until it is complete."""
    if isinstance(op, ops.AsyncOperation | ops.GlobalRead | ops.GlobalWrite):
        return op.counter
    return ops.LDS_COUNTER if isinstance(op, ops.MemoryOperation) else None


@dataclass(slots=True)
class Counters:
    """When what a wave has started is complete: for each counter, one operation after the other."""

    grouped: frozenset[str]
    """Counters that count groups of operations instead."""
    done: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[str, list[int]] = field(default_factory=dict)

    def start(self, counter: str, done: int) -> int:
        """Count an operation that takes until `done`; one that was started earlier is complete earlier."""
        before = self.done.setdefault(counter, [])
        before.append(max(done, before[-1] if before else 0))
        return before[-1]

    def commit(self, counter: str) -> None:
        """Close a group: it is complete when everything that has been started so far is."""
        self.groups.setdefault(counter, []).append(self.all_done(counter))

    def all_done(self, counter: str) -> int:
        """When everything on a counter is complete."""
        before = self.done.get(counter)
        return before[-1] if before else 0

    def at_most(self, counter: str, allowed: int) -> int:
        """When no more than `allowed` operations, or groups, are outstanding."""
        ends = (self.groups if counter in self.grouped else self.done).get(counter, [])
        return ends[-1 - allowed] if len(ends) > allowed else 0

    def waited_for(self, op: ops.MemoryCounterWait | ops.SharedMemoryBarrier) -> int:
        """When the counts of a wait or barrier are reached."""
        times = [self.at_most(counter, allowed) for counter, allowed in op.counts.items()]
        if op.drains:
            times += [self.all_done(counter) for counter in self.done if counter != ops.LDS_COUNTER]
        return max(times, default=0)


@dataclass(slots=True)
class Wave:
    """A wave on its way through its program."""

    number: int
    program: list[ops.Operation]
    counters: Counters
    at: int = 0
    free: int = 0
    """When it can issue its next operation, as far as the one before is concerned."""
    there: dict[int, int] = field(default_factory=dict)
    """For each operation, and each name that holds its result: when the latest result is there."""
    arrivals: dict[int, int] = field(default_factory=dict)
    """For each barrier: how often it has arrived."""
    waits: dict[int, int] = field(default_factory=dict)
    """For each barrier: how often it has been let through."""
    known: dict[int, int] = field(default_factory=dict)
    """For each barrier: when the others know of its latest arrival."""

    @property
    def op(self) -> ops.Operation | None:
        """What it runs next; None at its end."""
        return self.program[self.at] if self.at < len(self.program) else None

    def operands(self, op: ops.Operation) -> int:
        """When everything that `op` uses is there. What a barrier comes after, it waits for by its counts."""
        if not isinstance(op, ops.ValueOperation) or isinstance(op, ops.SyncOperation):
            return 0
        return max((self.there.get(id(value), 0) for value in op.uses), default=0)
