"""What an estimate says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.ir.ops import Operation
from fencepost.ir.printer import statement
from fencepost.ir.source import Span

CAVEAT = "an estimate from rough latencies, not a measurement"

MEMORY, WAVES, OPERAND, UNIT, FOREVER = "memory", "waves", "operand", "unit", "for ever"
"""What a wave can stand and wait for: its own counters, other waves, an operand, a busy unit, what never comes."""


@dataclass(frozen=True, slots=True)
class Event:
    """A unit at work for a wave."""

    wave: int
    unit: str
    start: int
    end: int
    """When the unit is free again."""
    done: int
    """When the result is there."""
    op: Operation


@dataclass(frozen=True, slots=True)
class Stall:
    """A wave that stands still."""

    wave: int
    start: int
    end: int
    op: Operation
    """What it cannot run or pass yet."""
    reason: str
    """MEMORY or WAVES at synchronization, OPERAND or UNIT at anything else, FOREVER in a deadlock."""

    @property
    def cycles(self) -> int:
        """How long."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Passing:
    """A wave that passes a barrier or wait."""

    wave: int
    time: int
    op: Operation


@dataclass(frozen=True, slots=True)
class SyncTime:
    """How long waves stand at one barrier, signal or wait, all executions and all waves together."""

    op: Operation
    executed: int
    """How often, counted for each wave."""
    memory: int
    """Cycles that waves wait there for operations of their own."""
    waves: int
    """Cycles that waves wait there for each other, beyond what a barrier takes in any case."""
    workgroup: int
    """How many waves there are."""

    @property
    def stall(self) -> int:
        """Both together."""
        return self.memory + self.waves

    @property
    def mean(self) -> float:
        """Cycles that a wave stands there each time."""
        return self.stall / self.executed if self.executed else 0.0

    @property
    def per_wave(self) -> float:
        """Cycles that a wave stands there in the whole run."""
        return self.stall / self.workgroup


@dataclass(frozen=True, slots=True)
class UnitUse:
    """How busy a unit was; for what each SIMD has, those of all SIMDs with waves together."""

    unit: str
    count: int
    """How many of them there are."""
    busy: int
    """Cycles, of all of them."""

    def utilisation(self, cycles: int) -> float:
        """The part of the time that it was busy, from 0 to 1."""
        return self.busy / (cycles * self.count) if cycles else 0.0


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a kernel takes and where its waves stand: an estimate from rough latencies, not a measurement."""

    kernel: str
    target: str
    waves: int
    simds: int
    cycles: int
    """From the start until the last wave has issued its last operation and everything is complete."""
    syncs: tuple[SyncTime, ...]
    """Every barrier, signal, wait and exchange of the kernel, in the order of the text."""
    units: tuple[UnitUse, ...]
    events: tuple[Event, ...] = field(repr=False)
    """In the order of their starts, then of waves."""
    stalls: tuple[Stall, ...] = field(repr=False)
    passings: tuple[Passing, ...] = field(repr=False)
    assumptions: tuple[str, ...] = ()
    """What the kernel does not say and was assumed."""
    deadlock: str = ""
    """Why the waves did not reach their end, where they did not; the numbers are then those up to there."""
    stuck: tuple[tuple[int, Operation], ...] = ()
    """For a deadlock: the waves that wait for ever, and where."""
    complete: bool = True
    """Whether the waves were followed to the end of the kernel."""

    @property
    def stall(self) -> int:
        """Cycles that waves stand at synchronization, all waves together."""
        return sum(sync.stall for sync in self.syncs)

    @property
    def stall_per_wave(self) -> float:
        """Cycles that a wave stands at synchronization."""
        return self.stall / self.waves

    def utilisation(self, unit: str) -> float:
        """The part of the time that a unit was busy, from 0 to 1."""
        return sum(use.utilisation(self.cycles) for use in self.units if use.unit == unit)

    def as_json(self, spans: Mapping[Operation, Span] | None = None, events: bool = False) -> dict[str, Any]:
        """The numbers for programs; `spans` says where operations stand that have not come from a text."""
        found: dict[str, Any] = {
            "estimate": CAVEAT,
            "kernel": self.kernel,
            "target": self.target,
            "waves": self.waves,
            "simds": self.simds,
            "cycles": self.cycles,
            "stall": self.stall,
            "syncs": [
                _place(sync.op, spans)
                | {
                    "executed": sync.executed,
                    "memory": sync.memory,
                    "waves": sync.waves,
                    "mean": round(sync.mean, 1),
                }
                for sync in self.syncs
            ],
            "units": [
                {
                    "unit": use.unit,
                    "count": use.count,
                    "busy": use.busy,
                    "utilisation": round(use.utilisation(self.cycles), 3),
                }
                for use in self.units
            ],
            "assumptions": list(self.assumptions),
            "deadlock": self.deadlock or None,
            "complete": self.complete,
        }
        if events:
            found["events"] = [
                {
                    "wave": event.wave,
                    "unit": event.unit,
                    "start": event.start,
                    "end": event.end,
                    "done": event.done,
                }
                | _place(event.op, spans)
                for event in self.events
            ]
        return found

    def __str__(self) -> str:
        return self.describe()

    def describe(self, spans: Mapping[Operation, Span] | None = None) -> str:
        """The numbers for people; `spans` as for `as_json`."""
        lines = [
            f"@{self.kernel} on {self.target}, {_many(self.waves, 'wave')} on "
            f"{_many(min(self.simds, self.waves), 'SIMD')}: about {self.cycles:,} cycles ({CAVEAT})"
        ]
        if self.deadlock:
            lines.append(f"  deadlock: {self.deadlock}")
        for sync in self.syncs:
            lines.append(
                f"  {shown(sync.op, spans)}: {_many(sync.executed, 'time')}, {sync.mean:.0f} cycles each "
                f"({sync.memory:,} in all for memory, {sync.waves:,} for other waves)"
            )
        busy = ", ".join(f"{use.unit} {use.utilisation(self.cycles):.0%}" for use in self.units)
        lines.append(f"  busy: {busy or 'nothing'}")
        lines += [f"  assumed: {text}" for text in self.assumptions]
        return "\n".join(lines)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def shown(op: Operation, spans: Mapping[Operation, Span] | None = None) -> str:
    """An operation, and its line if it has one."""
    place = _place(op, spans)
    where = "" if place["line"] is None else f" (line {place['line']})"
    return f"`{place['text']}`{where}"


def _place(op: Operation, spans: Mapping[Operation, Span] | None) -> dict[str, Any]:
    op = op.owner or op
    span = (spans or {}).get(op) or op.span
    line, column = (span.line, span.column) if span else (None, None)
    return {"text": statement(op).removesuffix(" {"), "line": line, "column": column}
