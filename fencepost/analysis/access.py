"""What an operation does to shared memory, and which bytes it can touch.

Which bytes: a slot or range is known exactly where it depends on nothing but the wave and on numbers that are
known where the access stands (see `phases`); anything else is the whole slot or allocation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import LANE, Wave, evaluate, lanes_in, leaves


class MemoryAccessType(Enum):
    """How an operation uses its memory."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    READ_WRITE = "read-write"


class Region(NamedTuple):
    """Bytes lo to hi of an address space; placed allocations share the space 0, others have their own."""

    space: int
    lo: int
    hi: int

    def overlaps(self, other: Region) -> bool:
        """Whether they have a byte in common."""
        return self.space == other.space and self.lo < other.hi and other.lo < self.hi


def access_type(op: ops.Operation) -> MemoryAccessType:
    """How `op` uses shared memory."""
    if not isinstance(op, ops.MemoryOperation):
        return MemoryAccessType.NONE
    if isinstance(op, ops.Read | ops.AsyncRead):
        return MemoryAccessType.READ
    if isinstance(op, ops.Write | ops.AsyncCopy):
        return MemoryAccessType.WRITE
    # Atomics, and any memory operation that is not listed: safely assumed to do both.
    return MemoryAccessType.READ_WRITE


def update_of(op: ops.Operation) -> str | None:
    """The update that an atomic does, if it commutes with those of its kind; None for any other operation."""
    return op.update if isinstance(op, ops.AtomicOp) and op.commutes else None


def get_shared_memory_from_op(op: ops.Operation) -> Buffer | None:
    """The allocation that `op` touches (the first one, if it touches several); None if it touches none."""
    return op.views[0].buffer if isinstance(op, ops.MemoryOperation) and op.views else None


def depends_on_wave(view: View) -> bool:
    """Whether two waves can touch different bytes through `view`."""
    parts = (view.slot, view.lo, view.hi)
    return any(isinstance(leaf, Wave) for part in parts if part is not None for leaf in leaves(part))


def regions_of(
    view: View, env: Mapping[str, int], frame: int = 0, wave: int | None = None
) -> tuple[Region, ...]:
    """Every byte that `view` can stand for, given what is known; in one wave, or else in any."""
    lanes = lanes_in((view.slot, view.lo, view.hi))
    if lanes:
        each = (dict(env) | {LANE: lane} for lane in range(lanes))
        return merged(_region(view, buffer, one, frame, wave) for one in each for buffer in view.buffers(one))
    return tuple(_region(view, buffer, env, frame, wave) for buffer in view.buffers(env))


def merged(regions: Iterable[Region]) -> tuple[Region, ...]:
    """The same bytes in as few regions as possible, in order."""
    found: list[Region] = []
    for region in sorted(regions):
        last = found[-1] if found else None
        if last is not None and last.space == region.space and region.lo <= last.hi:
            found[-1] = last._replace(hi=max(last.hi, region.hi))
        else:
            found.append(region)
    return tuple(found)


def _region(view: View, buffer: Buffer, env: Mapping[str, int], frame: int, wave: int | None) -> Region:
    # Allocations without an address share bytes with nothing: each is a space of its own.
    space, base = (id(buffer), 0) if buffer.offset is None else (0, buffer.offset + frame)
    lo, hi = 0, buffer.size
    if view.slot is not None:
        slot = evaluate(view.slot, env, wave)
        if slot is None or not 0 <= slot < buffer.slots:
            return Region(space, base, base + buffer.size)
        lo, hi = slot * buffer.slot_bytes, (slot + 1) * buffer.slot_bytes
    if view.lo is not None and view.hi is not None:
        start, stop = evaluate(view.lo, env, wave), evaluate(view.hi, env, wave)
        if start is not None and stop is not None and 0 <= start < stop <= hi - lo:
            lo, hi = lo + start, lo + stop
    return Region(space, base + lo, base + hi)
