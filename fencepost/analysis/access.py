"""What an operation does to shared memory, and which bytes it can touch.

Which bytes: a slot or range is known exactly where it depends on nothing but the wave and on numbers that are
known where the access stands (see `block_instances`); anything else is the whole slot or allocation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import LANE, Const, Wave, evaluate, evaluate_range, lanes_in, leaves
from fencepost.ir.trace import Graph

MOST_REGIONS = 256
"""A part of a slot that is not known is that part of each slot, unless these are more regions than this."""


class MemoryAccessType(Enum):
    """How an operation uses its memory."""

    # Each is there once: its identity will do, and is asked for with every access.
    __hash__ = object.__hash__

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
    if isinstance(op, (ops.Read, ops.AsyncRead)):
        return MemoryAccessType.READ
    if isinstance(op, (ops.Write, ops.AsyncCopy)):
        return MemoryAccessType.WRITE
    # Atomics, and any memory operation that is not listed: safely assumed to do both.
    return MemoryAccessType.READ_WRITE


def update_of(op: ops.Operation) -> str | None:
    """The update that an atomic does, if it commutes with those of its kind; None for any other operation."""
    return op.update if isinstance(op, ops.AtomicOp) and op.commutes else None


def get_shared_memory_from_op(op: ops.Operation, depth: int = 0) -> Buffer | None:
    """The allocation that `op` touches (the first one, if it touches several); None if it touches none.

    A name that a loop carries stands for what it begins with, or `depth` iterations later for what it has become.
    """
    if not isinstance(op, ops.MemoryOperation) or not op.views:
        return None
    return _carried(op.views[0].buffer, op.graph, depth)


def is_shared_memory_op(op: ops.Operation, depth: int = 0) -> Buffer | None:
    """The shared memory that `op` touches, as `get_shared_memory_from_op` says; None if it is no such operation."""
    return get_shared_memory_from_op(op, depth)


def is_reduction_subgraph(graph: Graph) -> bool:
    """Whether a region is the body of a loop: what it does in one iteration can meet what it does in the next."""
    return isinstance(graph.owner, ops.Iterate)


def _carried(buffer: Buffer, graph: Graph | None, depth: int) -> Buffer:
    """What a name stands for in a region, so many iterations after the first; itself where that is not seen."""
    seen: set[tuple[Buffer, int]] = set()
    while isinstance(buffer, BufferArg) and (buffer, depth) not in seen:
        seen.add((buffer, depth))
        found = _loop_of(buffer, graph)
        if found is None:
            break
        loop, place = found
        last = loop.body.last
        handed = loop.carried[place].init
        if depth and isinstance(last, ops.Next):
            handed, depth = last.values[place], depth - 1
        if not isinstance(handed, Buffer):
            break
        buffer = handed
    return buffer


def _loop_of(name: BufferArg, graph: Graph | None) -> tuple[ops.Iterate, int] | None:
    """The loop around a region that carries a name, and which of its arguments that is."""
    while graph is not None and graph.owner is not None:
        loop = graph.owner
        if isinstance(loop, ops.Iterate):
            for place, carried in enumerate(loop.carried):
                if carried.buffer is name:
                    return loop, place
        graph = loop.graph
    return None


def depends_on_wave(view: View) -> bool:
    """Whether two waves can touch different bytes through `view`."""
    parts = (view.slot, view.lo, view.hi)
    return any(isinstance(leaf, Wave) for part in parts if part is not None for leaf in leaves(part))


def regions_of(
    view: View, env: Mapping[str, int], frame: int = 0, wave: int | None = None
) -> tuple[Region, ...]:
    """Every byte that `view` can stand for, given what is known; in one wave, or else in any."""
    parts = in_each_slot(view, env, wave)
    if len(parts) > 1:
        return merged(region for part in parts for region in regions_of(part, env, frame, wave))
    lanes = lanes_in((view.slot, view.lo, view.hi))
    if lanes:
        each = (dict(env) | {LANE: lane} for lane in range(lanes))
        return merged(_region(view, buffer, one, frame, wave) for one in each for buffer in view.buffers(one))
    return tuple(_region(view, buffer, env, frame, wave) for buffer in view.buffers(env))


def in_each_slot(view: View, env: Mapping[str, int], wave: int | None = None) -> list[View]:
    """The view itself; a part of a slot that is not known as that part of each slot."""
    if view.slot is None or view.lo is None or view.hi is None:
        return [view]
    lanes = lanes_in((view.slot, view.lo, view.hi))
    if evaluate(view.slot, dict(env) | {LANE: 0}, wave) is not None:
        return [view]
    buffers = view.buffers(env)
    if sum(buffer.slots for buffer in buffers) * max(lanes, 1) > MOST_REGIONS:
        return [view]
    return [View(buffer, Const(slot), view.lo, view.hi) for buffer in buffers for slot in range(buffer.slots)]


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
        start, stop = evaluate_range(view.lo, view.hi, env, wave)
        if start is not None and stop is not None and 0 <= start < stop <= hi - lo:
            lo, hi = lo + start, lo + stop
    return Region(space, base + lo, base + hi)
