"""Split barriers: a signal after the producer, a wait before the consumer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fencepost.analysis.transfer import Placement, Sync
from fencepost.emit.legacy_emitter import operation_for
from fencepost.flow import Flow, Position
from fencepost.ir import ops
from fencepost.targets import TargetConfig


@dataclass(frozen=True)
class BasicSplitBarrierEmitter:
    """Emits signals and waits, and whole barriers where splitting gains nothing."""

    target: TargetConfig

    @property
    def instruction(self) -> str:
        """What each barrier becomes on the target."""
        return f"{self.target.signal}; {self.target.wait}"

    def emit(
        self,
        flow: Flow,
        placement: Placement,
        comments: Mapping[Position, str],
        barrier_ids: Sequence[int] = (ops.WORKGROUP,),
    ) -> dict[Position, list[ops.SyncOperation]]:
        """Put in what stands at every chosen position, in order; `barrier_ids` are those that syncs number."""
        emitted: dict[Position, list[ops.SyncOperation]] = {}
        for position in sorted(placement):
            emitted[position] = made = _operations(placement[position], flow.trace.waves, barrier_ids)
            for op in made:
                op.comment = comments.get(position, "")
                flow.insert(position, op)
        return emitted


def _operations(sync: Sync, waves: int, ids: Sequence[int]) -> list[ops.SyncOperation]:
    """The wait of one barrier, a whole one or a wait for copies, the signal of the next."""
    found: list[ops.SyncOperation] = []
    if sync.wait:
        found.append(ops.SharedMemoryBarrierWait(ids[sync.wait - 1]))
    if sync.rendezvous or sync.counts or sync.drains:
        found.append(operation_for(sync, waves))
    if sync.signal:
        found.append(ops.SharedMemoryBarrierSignal(ids[sync.signal - 1]))
    return found
