"""What an entry of the corpus is: one kernel, for one target, under one schedule.

Compiling changes a kernel object of Wave (a second compilation silently drops the promotion to LDS), so an entry
holds a function that makes a fresh one, never the object.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# A kernel out of the cache never meets the barrier pass. Wave reads this when it is imported, hence before that.
os.environ["WAVE_CACHE_ON"] = "0"

from wave_lang.kernel.wave.compile import WaveCompileOptions
from wave_lang.kernel.wave.constraints import MMAType
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType

Schedule = Literal["none", "modulo", "prefetch", "four-stage", "prefetch-attention", "manual"]
SCHEDULES: dict[Schedule, SchedulingType] = {
    "none": SchedulingType.NONE,
    "modulo": SchedulingType.MODULO,
    "prefetch": SchedulingType.PREFETCH,
    "four-stage": SchedulingType.FOUR_STAGE,
    "prefetch-attention": SchedulingType.PREFETCH_ATTENTION,
    "manual": SchedulingType.MANUAL,
}

Race = Literal["", "a", "b", "c", "d", "e", "f", "g"]
RACES: dict[Race, str] = {
    "a": "a barrier before the producer is taken to guard the window that starts at the producer",
    "b": "allocations that share bytes are not compared",
    "c": "write → atomic is no hazard",
    "d": "a barrier in one branch is taken to cover the other",
    "e": "write → write is no hazard",
    "f": "waves that are one barrier behind have not waited for their copies where the others meet them",
    "g": "a scatter is no access",
}


@dataclass(frozen=True)
class Target:
    """One GPU, with what a kernel has to know about it: lanes of a wave, and its 16 × 16 product of 16-bit floats."""

    name: str
    lanes: int
    mma: Any
    split: bool = False
    """Barriers come as a signal and a wait."""


TARGETS = {
    target.name: target
    for target in (
        Target("gfx942", 64, MMAType.F32_16x16x16_F16),
        Target("gfx950", 64, MMAType.F32_16x16x32_F16),
        Target("gfx1201", 32, MMAType.RDNA4_WAVE32_F32_16x16x16_F16, split=True),
        Target("gfx1250", 32, MMAType.GFX1250_F32_16x16x32_F16, split=True),
    )
}


@dataclass(frozen=True)
class Source:
    """A fresh kernel object of Wave with the values of its symbols."""

    kernel: Any
    subs: Mapping[Any, Any]
    dynamic: tuple[Any, ...] = ()
    """Symbols that only a launch gives a value."""
    schedule: Any = None
    """The author's own schedule, for entries under "manual"."""


@dataclass(frozen=True)
class Build:
    """What `wave_compile` takes."""

    kernel: Any
    options: WaveCompileOptions
    schedule: Any = None


@dataclass(frozen=True)
class Entry:
    """One kernel × target × schedule."""

    kernel: str
    """Name of the kernel and what sets it apart: tile, waves, copies straight to LDS."""
    target: str
    schedule: Schedule
    source: Callable[[Target], Source]
    options: Mapping[str, Any] = field(default_factory=dict)
    race: Race = ""
    """The kind of race that Wave's own pass leaves in it, a key of `RACES`; "" where none was planted."""
    ping_pong: bool = False
    """Wave's reordering shifts the phase of half of the waves."""
    fast: bool = False
    """Compiles well within two seconds: for tests."""
    note: str = ""

    @property
    def name(self) -> str:
        """Unique in the corpus."""
        return f"{self.kernel}/{self.target}/{self.schedule}"

    def build(self) -> Build:
        """A fresh kernel with the options to compile it to MLIR."""
        source = self.source(TARGETS[self.target])
        options = WaveCompileOptions(
            subs=dict(source.subs),
            dynamic_symbols=list(source.dynamic),
            canonicalize=True,
            schedule=SCHEDULES[self.schedule],
            target=self.target,
            compile_to_mlir=True,
            **self.options,
        )
        return Build(source.kernel, options, source.schedule)
