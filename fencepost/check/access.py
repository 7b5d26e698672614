"""What an operation does to shared memory, with concrete bytes: one wave, one iteration.

This table is `check`'s own. `analysis` has another; neither may read the other's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import Expr, Var, Wave, evaluate, leaves

LDS = "lds"
"""The counter of plain shared-memory operations."""
LDS_READ = "lds read"
"""Reads among them, which are complete without a fence once their result has arrived."""


class Bytes(NamedTuple):
    """A range of bytes. Allocations with an address share the space ""; every other one is its own."""

    space: str
    lo: int
    hi: int

    def meets(self, other: Bytes) -> bool:
        """Whether the two ranges have a byte in common."""
        return self.space == other.space and self.lo < other.hi and other.lo < self.hi


@dataclass(frozen=True, slots=True)
class Effect:
    """How an operation touches its views."""

    reads: bool
    writes: bool
    atomic: bool
    counter: str
    """The counter that tells when it is complete; `lds` unless an engine does the work."""

    @property
    def engine(self) -> bool:
        """Whether another agent than the wave touches the memory."""
        return self.counter != LDS

    @property
    def needs_fence(self) -> bool:
        """Whether others can rely on it only after a fence: a plain write or atomic."""
        return self.writes and not self.engine

    @property
    def channel(self) -> str:
        """What is known complete together: reads return in order, writes become visible at a fence."""
        return LDS_READ if self.counter == LDS and not self.writes else self.counter

    def conflicts(self, other: Effect) -> bool:
        """Whether the two must be ordered if they touch a common byte."""
        if not (self.writes or other.writes) or (self.atomic and other.atomic):
            return False
        # One engine keeps the order in which it was told to copy.
        return not (self.engine and other.engine and self.counter == other.counter)

    def hazard_with(self, later: Effect) -> str:
        """The name of the hazard when `later` follows."""
        if not self.writes:
            return "WAR"
        return "RAW" if later.reads else "WAW"

    @property
    def verb(self) -> str:
        """What a wave does with it, in a sentence."""
        if self.atomic:
            return "updates"
        if self.engine:
            return "copies into"
        return "writes" if self.writes else "reads"


def effect_of(op: ops.Operation) -> Effect | None:
    """The effect of an operation on shared memory; None if it has none."""
    if isinstance(op, ops.Read):
        return Effect(True, False, False, LDS)
    if isinstance(op, ops.Write):
        return Effect(False, True, False, LDS)
    if isinstance(op, ops.AtomicOp):
        return Effect(True, True, True, LDS)
    if isinstance(op, ops.AsyncCopy):
        return Effect(False, True, False, op.counter)
    if isinstance(op, ops.MemoryOperation):
        # An operation that this table does not know could do anything to its views.
        return Effect(True, True, False, LDS)
    return None


def counted_on(op: ops.Operation) -> str | None:
    """The counter that an operation takes a place on, if any."""
    if isinstance(op, ops.MemoryOperation):
        return op.counter if isinstance(op, ops.AsyncCopy) else LDS
    if isinstance(op, ops.GlobalRead | ops.GlobalWrite):
        return op.counter
    return None


def touched(view: View, env: Mapping[str, int], wave: int) -> tuple[Bytes, bool]:
    """The bytes of a view, and whether its slot and range lie inside the buffer.

    What cannot be evaluated counts as every byte that it could stand for; what lies outside is where it lies.
    """
    buffer = view.buffer
    space, base = _space(buffer)
    lo, hi, inside = 0, buffer.size, True
    if view.slot is not None:
        slot = evaluate(view.slot, env, wave)
        if slot is None:
            return Bytes(space, base, base + buffer.size), True
        inside = 0 <= slot < buffer.slots
        lo, hi = slot * buffer.slot_bytes, (slot + 1) * buffer.slot_bytes
    if view.lo is not None and view.hi is not None:
        start, stop = evaluate(view.lo, env, wave), evaluate(view.hi, env, wave)
        if start is not None and stop is not None:
            inside = inside and 0 <= start < stop <= hi - lo
            lo, hi = lo + min(start, stop), lo + max(start, stop)
    return Bytes(space, base + lo, base + hi), inside


def _space(buffer: Buffer) -> tuple[str, int]:
    return (buffer.name, 0) if buffer.offset is None else ("", buffer.offset)


def view_leaves(op: ops.Operation) -> list[Expr]:
    """Everything that decides which bytes an operation touches."""
    found: list[Expr] = []
    if isinstance(op, ops.MemoryOperation):
        for view in op.views:
            for expr in (view.slot, view.lo, view.hi):
                if expr is not None:
                    found += leaves(expr)
    return found


def depends_on_wave(op: ops.Operation) -> bool:
    """Whether two waves touch different bytes."""
    return any(isinstance(leaf, Wave) for leaf in view_leaves(op))


def loop_variables(op: ops.Operation) -> set[str]:
    """The loop variables that decide which bytes an operation touches."""
    return {leaf.name for leaf in view_leaves(op) if isinstance(leaf, Var)}
