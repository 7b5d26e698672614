"""The units of a compute unit, each of which does one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.targets.table import PER_SIMD, UNITS
from fencepost.timing.result import UnitUse


@dataclass(slots=True)
class Units:
    """Who has each unit until when. Waves are dealt out to the SIMDs in turn: wave 0, 4, 8 share one of four."""

    simds: int
    free: dict[tuple[str, int], int] = field(default_factory=dict)
    """When each unit, on each SIMD that has its own, is free again."""
    busy: dict[str, int] = field(default_factory=dict)

    def take(self, unit: str, wave: int, ready: int, cycles: int) -> int:
        """Keep a unit for some cycles from `ready` on, or from when it is free; returns when that is."""
        where = (unit, wave % self.simds if unit in PER_SIMD else 0)
        start = max(ready, self.free.get(where, 0))
        self.free[where] = start + cycles
        self.busy[unit] = self.busy.get(unit, 0) + cycles
        return start

    def use(self, waves: int) -> tuple[UnitUse, ...]:
        """How busy the units were that were used at all."""
        simds = min(self.simds, waves)
        return tuple(
            UnitUse(unit, simds if unit in PER_SIMD else 1, self.busy[unit])
            for unit in UNITS
            if unit in self.busy
        )
