"""Monolithic barriers: one SharedMemoryBarrier before the consumer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.analysis.program import ASYNC, Placement
from fencepost.flow import Flow, Position
from fencepost.ir.ops import SharedMemoryBarrier
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
    ) -> dict[Position, SharedMemoryBarrier]:
        """Put a barrier at every chosen position, with its reason as comment."""
        emitted: dict[Position, SharedMemoryBarrier] = {}
        for position in sorted(placement):
            barrier = SharedMemoryBarrier(placement[position] == ASYNC, comment=comments.get(position, ""))
            flow.insert(position, barrier)
            emitted[position] = barrier
        return emitted
