"""How far an access is on its way to being visible to all waves, and what brings it further."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.check.concrete_access import Bytes, Effect, counted_on, shown
from fencepost.check.deciding_names import results_given_at
from fencepost.check.environments import Env
from fencepost.check.loop_context import Context
from fencepost.flow import Block, Guard
from fencepost.ir import ops


class Status(NamedTuple):
    """How far the tracked access is on its way to being visible."""

    complete: bool = False
    signalled: frozenset[int] = frozenset()
    """Split barriers that its wave has signalled since it was complete."""
    later: int = 0
    """Operations of its counter that its wave has issued since.

    On a counter of groups: groups that were closed since its own was, and -1 until then.
    """
    reads: frozenset[int] = frozenset()
    """Reads issued since, and names that hold their results: when one is used, everything before it is complete."""
    rounds: frozenset[int] = frozenset()
    """For a member of a group: the loops around it that have begun another iteration since."""
    sides: frozenset[Guard] = frozenset()
    """Divergent conditionals around this place whose condition is not known: the sides that its wave has taken."""

    def admits(self, block: Block) -> bool:
        """Whether the wave can run a block, by the sides that it has taken."""
        if not self.sides:
            return True
        taken = {guard.branch: guard.holds for guard in self.sides}
        return all(taken.get(guard.branch, guard.holds) == guard.holds for guard in block.guards)

    def completed(self) -> Status:
        """The same once the access is complete."""
        return self if self.complete else self._replace(complete=True)


@dataclass(slots=True)
class Tracked:
    """The access that is followed."""

    op: ops.MemoryOperation
    effect: Effect
    block: Block
    env: Env
    wave: int
    bytes: list[Bytes]
    loops: set[int]
    status: Status


@dataclass(frozen=True, slots=True)
class Rules:
    """What of that matters in one kernel."""

    grouped: Set[str]
    """Counters that count groups."""
    completion_matters: bool
    """Where every rendezvous is fenced and nothing is asynchronous, completion decides nothing."""
    most_waited: int
    """The largest count that a wait names."""

    @classmethod
    def of(cls, context: Context) -> Rules:
        """Read a kernel."""
        matters, most = False, 0
        for block in context.flow.blocks:
            for op in block.ops:
                if isinstance(op, (ops.WorkgroupBarrier, ops.MemoryCounterWait, ops.AsyncOperation)):
                    matters = True
                if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)):
                    most = max([most, *op.counts.values()])
        return cls(context.grouped, matters, most)

    def synchronize(self, tracked: Tracked, op: ops.SyncOperation, status: Status) -> Status | None:
        """What a synchronization operation does for the tracked access; None: every wave can see it now."""
        if isinstance(op, ops.WorkgroupBarrier):
            return None if status.complete else status
        if isinstance(op, ops.SharedMemoryBarrier):
            status = self.waited(tracked, op, status)
        fenced = status.complete or not tracked.effect.engine
        if isinstance(op, ops.SharedMemoryBarrier):
            return None if fenced else status
        if isinstance(op, ops.SharedMemoryBarrierSignal):
            if not fenced:
                return status
            return status._replace(complete=True, signalled=status.signalled | {op.bar_id})
        if isinstance(op, ops.SharedMemoryBarrierWait):
            return None if op.bar_id in status.signalled else status
        return status

    def waited(
        self, tracked: Tracked, op: ops.MemoryCounterWait | ops.SharedMemoryBarrier, status: Status
    ) -> Status:
        """A wait that leaves at most N outstanding completes what has N later ones on its counter.

        Shared memory is stricter: what was written there, others can rely on only once nothing is outstanding.
        """
        if status.complete:
            return status
        if op.drains:
            return status._replace(complete=True) if tracked.effect.engine else status
        allowed = op.counts.get(tracked.effect.counter)
        if allowed is None or status.later < allowed or (allowed and tracked.effect.needs_fence):
            return status
        return status._replace(complete=True)

    def used(self, tracked: Tracked, op: ops.ValueOperation, status: Status) -> Status:
        """A read whose result is used is complete, and so are the wave's reads before it: they return in order."""
        if tracked.effect.engine or tracked.effect.needs_fence:
            return status
        if any(self.holds(tracked, value, status) for value in op.uses):
            return status._replace(complete=True)
        return status

    def holds(self, tracked: Tracked, value: ops.ValueOperation, status: Status) -> bool:
        """Whether a value is the result of the tracked read, or of a later one."""
        return value is shown(tracked.op) or id(value) in status.reads

    def issued(self, tracked: Tracked, op: ops.ValueOperation, status: Status) -> Status:
        """The tracked access's own wave issues another operation."""
        counter = counted_on(op)
        if counter == tracked.effect.counter and counter not in self.grouped:
            status = self.counted(status)
        if isinstance(op, (ops.Read, ops.AtomicOp)) and not tracked.effect.engine:
            result = shown(op)
            if isinstance(result, ops.ValueOperation) and result.name:
                status = status._replace(reads=status.reads | {id(result)})
        return status

    def closed(self, tracked: Tracked, op: ops.CommitGroup, status: Status) -> Status:
        """The tracked access's own wave closes a group."""
        counts = tracked.effect.engine and op.counter == tracked.effect.counter and not status.complete
        return self.counted(status) if counts else status

    def counted(self, status: Status) -> Status:
        """One more on the counter of the tracked access; more than any wait asks about need not be distinguished."""
        return status._replace(later=status.later + 1) if status.later <= self.most_waited else status

    def forward(self, tracked: Tracked, block: Block, status: Status) -> Status:
        """At the end of a block that the wave runs, names take what was read, or something else."""
        if tracked.effect.engine or tracked.effect.needs_fence or not self.completion_matters:
            return status
        handed = results_given_at(block.anchor)
        held = {id(name) for name, value in handed if self.holds(tracked, value, status)}
        return status._replace(reads=status.reads - {id(name) for name, _ in handed} | held)
