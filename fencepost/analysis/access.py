"""What an operation does to shared memory, and which bytes it can touch in any iteration and wave.

Which bytes: a slot or range that is constant or depends on the wave alone is known exactly, anything else is
the whole slot or allocation.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import Wave, evaluate, leaves


class MemoryAccessType(Enum):
    """How an operation uses its memory."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    READ_WRITE = "read-write"


class Region(NamedTuple):
    """Bytes lo to hi of an address space; placed allocations share the space "", others have their own."""

    space: str
    lo: int
    hi: int

    def overlaps(self, other: Region) -> bool:
        """Whether they have a byte in common."""
        return self.space == other.space and self.lo < other.hi and other.lo < self.hi


def access_type(op: ops.Operation) -> MemoryAccessType:
    """How `op` uses shared memory."""
    if not isinstance(op, ops.MemoryOperation):
        return MemoryAccessType.NONE
    if isinstance(op, ops.Read):
        return MemoryAccessType.READ
    if isinstance(op, ops.Write | ops.AsyncCopy):
        return MemoryAccessType.WRITE
    # Atomics, and any memory operation that is not listed: safely assumed to do both.
    return MemoryAccessType.READ_WRITE


def get_shared_memory_from_op(op: ops.Operation) -> Buffer | None:
    """The allocation that `op` touches (the first one, if it touches several); None if it touches none."""
    return op.views[0].buffer if isinstance(op, ops.MemoryOperation) and op.views else None


def depends_on_wave(view: View) -> bool:
    """Whether two waves can touch different bytes through `view`."""
    parts = (view.slot, view.lo, view.hi)
    return any(isinstance(leaf, Wave) for part in parts if part is not None for leaf in leaves(part))


def region_of(view: View, wave: int | None = None) -> Region:
    """Every byte that `view` can stand for, in whatever iteration, in one wave or else in any."""
    buffer = view.buffer
    base = buffer.offset or 0
    space = buffer.name if buffer.offset is None else ""
    lo, hi = 0, buffer.size
    if view.slot is not None:
        slot = evaluate(view.slot, {}, wave)
        if slot is None or not 0 <= slot < buffer.slots:
            return Region(space, base, base + buffer.size)
        lo, hi = slot * buffer.slot_bytes, (slot + 1) * buffer.slot_bytes
    if view.lo is not None and view.hi is not None:
        start, stop = evaluate(view.lo, {}, wave), evaluate(view.hi, {}, wave)
        if start is not None and stop is not None and 0 <= start < stop <= hi - lo:
            lo, hi = lo + start, lo + stop
    return Region(space, base + lo, base + hi)
