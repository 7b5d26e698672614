"""Monolithic barriers: one SharedMemoryBarrier before the consumer, a wait where nobody has to be met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.analysis.transfer import PLAIN, Placement, Sync
from fencepost.flow import Flow, Position
from fencepost.ir import ops
from fencepost.targets import TargetConfig


@dataclass(frozen=True)
class LegacyBarrierEmitter:
    """Emits a fence and a rendezvous in one operation (`amdgpu.lds_barrier`, `bar.sync`)."""

    target: TargetConfig

    @property
    def instruction(self) -> str:
        """What each barrier becomes on the target."""
        return self.target.barrier

    def emit(
        self, flow: Flow, placement: Placement, comments: Mapping[Position, str]
    ) -> dict[Position, ops.SyncOperation]:
        """Put a barrier or wait at every chosen position, with its reason as comment."""
        return {at: made[0] for at, made in self.emit_each(flow, placement, comments).items()}

    def emit_each(
        self, flow: Flow, placement: Placement, comments: Mapping[Position, str]
    ) -> dict[Position, tuple[ops.SyncOperation, ...]]:
        """The same; several stand at one position where waves are skewed, and all of them are returned."""
        emitted: dict[Position, tuple[ops.SyncOperation, ...]] = {}
        for position in sorted(placement):
            sync = placement[position]
            # What the first one has waited for, the others need not.
            syncs = [sync, *[PLAIN] * (sync.times - 1 if sync.rendezvous else 0)]
            emitted[position] = tuple(operation_for(each, flow.trace.waves) for each in syncs)
            for made in emitted[position]:
                made.comment = comments.get(position, "")
                flow.insert(position, made)
        return emitted


def operation_for(sync: Sync, waves: int) -> ops.SyncOperation:
    """The operation that does what `sync` says."""
    counts = dict(sync.counts)
    if waves == 1 and not sync.drains:
        # Nobody to meet: it is enough that nothing is outstanding.
        return ops.MemoryCounterWait(counts | ({ops.LDS_COUNTER: 0} if sync.rendezvous else {}))
    if sync.rendezvous or sync.drains:
        return ops.SharedMemoryBarrier(sync.drains, {} if sync.drains else counts)
    return ops.MemoryCounterWait(counts)


def change(op: ops.SyncOperation, sync: Sync) -> ops.SyncOperation:
    """Make an existing barrier or wait do what `sync` says; returns the operation that stands there now."""
    if isinstance(op, ops.SharedMemoryBarrier) and (sync.rendezvous or sync.drains):
        op.wait_async_ops = sync.drains
        op.counts = {} if sync.drains else dict(sync.counts)
        if not (sync.drains or op.counts):
            op.uses = ()
        return op
    if isinstance(op, ops.MemoryCounterWait) and not sync.drains:
        op.counts = dict(sync.counts)
        return op
    if isinstance(op, ops.WorkgroupBarrier) and sync.raw:
        return op
    assert op.graph is not None
    made: ops.SyncOperation = ops.MemoryCounterWait(dict(sync.counts))
    if sync.rendezvous or sync.drains:
        # A workgroup barrier, or a wait, that has to do more than it can.
        made = ops.SharedMemoryBarrier(sync.drains, {} if sync.drains else dict(sync.counts))
    made.comment, made.heading, made.span = op.comment, op.heading, op.span
    # Hosts see from the kind of the operation that theirs has changed.
    made.host, made.written = op.host, op.written
    op.graph.insert_before(op, made)
    op.graph.remove(op)
    return made
