"""What an operation does to shared memory, with concrete bytes: one wave, one iteration.

This table is `check`'s own. `analysis` has another; neither may read the other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import LANE, Const, Expr, Var, Wave, evaluate, evaluate_range, lanes_in, leaves

LDS = "lds"
"""The counter of plain shared-memory operations."""
LDS_READ = "lds read"
"""Reads among them, which are complete without a fence once their result has arrived."""

MOST_PLACES = 256
"""A part of a slot that is not known is that part of each slot, unless these are more places than this."""


class Bytes(NamedTuple):
    """A range of bytes. Allocations with an address share one space, None; every other one is its own."""

    space: Buffer | None
    lo: int
    hi: int

    def meets(self, other: Bytes) -> bool:
        """Whether the two ranges have a byte in common."""
        return self.space is other.space and self.lo < other.hi and other.lo < self.hi


@dataclass(frozen=True, slots=True)
class Effect:
    """How an operation touches its views."""

    reads: bool
    writes: bool
    atomic: bool = False
    counter: str = LDS
    """The counter that tells when it is complete; `lds` unless an engine does the work."""
    update: str | None = ""
    """For an atomic: which commutative update it does; None if its order matters to others like it."""

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
        return (self.writes or other.writes) and not self.commutes(other)

    def kept_in_order(self, other: Effect) -> bool:
        """Whether one engine makes both, as copies: it keeps the order in which one wave told it to.

        What it reads, it reads when it gets there.
        """
        copies = self.engine and other.engine and not (self.reads or other.reads)
        return copies and self.counter == other.counter

    def commutes(self, other: Effect) -> bool:
        """Whether both are the same update, and nobody can tell which came first."""
        return self.atomic and other.atomic and self.update is not None and self.update == other.update

    def hazard_with(self, later: Effect) -> str:
        """The name of the hazard when `later` follows."""
        if not self.writes:
            return "WAR"
        return "RAW" if later.reads else "WAW"

    @property
    def verb(self) -> str:
        """What a wave, or its engine, does with it, in a sentence."""
        if self.atomic:
            return "updates"
        if not self.writes:
            return "reads"
        return "copies into" if self.engine else "writes"


READ, WRITE, ATOMIC = Effect(True, False), Effect(False, True), Effect(True, True, True)


def effect_of(op: ops.Operation) -> Effect | None:
    """The effect of an operation on shared memory; None if it has none."""
    if isinstance(op, ops.Read):
        return READ
    if isinstance(op, ops.Write):
        return WRITE
    if isinstance(op, ops.AtomicOp):
        return ATOMIC if not op.update and op.commutes else replace(ATOMIC, update=_update(op))
    if isinstance(op, ops.AsyncOperation):
        copy, read = isinstance(op, ops.AsyncCopy), isinstance(op, ops.AsyncRead)
        return Effect(not copy, not read, False, op.counter)
    if isinstance(op, ops.MemoryOperation):
        # An operation that this table does not know could do anything to its views.
        return Effect(True, True)
    return None


def _update(op: ops.AtomicOp) -> str | None:
    return op.update if op.commutes else None


def counted_on(op: ops.Operation) -> str | None:
    """The counter that an operation takes a place on, if any."""
    if isinstance(op, ops.MemoryOperation):
        return op.counter if isinstance(op, ops.AsyncOperation) else LDS
    if isinstance(op, (ops.GlobalRead, ops.GlobalWrite)):
        return op.counter
    return None


def shown(op: ops.Operation) -> ops.Operation:
    """The operation that stands in the text: itself, or the one that it is a part of."""
    return op.owner or op


class Place(NamedTuple):
    """Bytes that a view can be, and whether its slot and range lie inside of the buffer."""

    view: View
    bytes: Bytes
    inside: bool


def touched(view: View, env: Mapping[str, int], wave: int, frame: int = 0) -> list[Place]:
    """The bytes of a view: of each buffer that it can be of, and of all lanes of the wave.

    What cannot be evaluated counts as every byte that it could stand for; what lies outside is where it lies.
    """
    parts = _in_each_slot(view, env, wave)
    if parts:
        return [place._replace(view=view) for part in parts for place in touched(part, env, wave, frame)]
    places: list[Place] = []
    for buffer in view.buffers(env):
        place = _touched(view, buffer, env, wave, frame)
        lanes = lanes_in((view.slot, view.lo, view.hi)) if place is None else 0
        if place is None and lanes:
            each = (_touched(view, buffer, {**env, LANE: lane}, wave, frame) for lane in range(lanes))
            known = [place for place in each if place is not None]
            if len(known) == lanes:
                places += _joined(known)
                continue
        # Unknown: any slot, or any bytes of a slot that is known.
        places.append(place or _whole(view, buffer, env, wave, frame))
    return places


def _in_each_slot(view: View, env: Mapping[str, int], wave: int) -> list[View]:
    """A part of a slot that is not known, in each slot that it can be; nothing if that says no more."""
    if view.slot is None or view.lo is None or view.hi is None:
        return []
    lanes = lanes_in((view.slot, view.lo, view.hi))
    here = {**env, LANE: 0} if lanes else env
    if evaluate(view.slot, here, wave) is not None:
        return []
    start, stop = evaluate(view.lo, here, wave), evaluate(view.hi, here, wave)
    buffers = view.buffers(env)
    if start is None or stop is None or sum(buffer.slots for buffer in buffers) * max(lanes, 1) > MOST_PLACES:
        return []
    return [View(buffer, Const(slot), view.lo, view.hi) for buffer in buffers for slot in range(buffer.slots)]


def is_known(view: View, env: Mapping[str, int], wave: int) -> bool:
    """Whether it is known which bytes a wave touches through a view."""
    if len(view.buffers(env)) > 1:
        return False
    here = {**env, LANE: 0}
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return all(evaluate(part, here, wave) is not None for part in parts)


def exactly(view: View, env: Mapping[str, int], wave: int, frame: int = 0) -> Bytes | None:
    """The bytes of a view, if it is known which they are."""
    buffers = view.buffers(env)
    place = _touched(view, buffers[0], env, wave, frame) if len(buffers) == 1 else None
    return None if place is None else place.bytes


def _touched(view: View, buffer: Buffer, env: Mapping[str, int], wave: int, frame: int) -> Place | None:
    """The bytes of a view of one buffer; None if something is not known."""
    space, base = (buffer, 0) if buffer.offset is None else (None, buffer.offset + frame)
    lo, hi, inside = 0, buffer.size, True
    if view.slot is not None:
        slot = evaluate(view.slot, env, wave)
        if slot is None:
            return None
        inside = 0 <= slot < buffer.slots
        lo, hi = slot * buffer.slot_bytes, (slot + 1) * buffer.slot_bytes
    if view.lo is not None and view.hi is not None:
        start, stop = evaluate_range(view.lo, view.hi, env, wave)
        if start is None or stop is None:
            return None
        inside = inside and 0 <= start < stop <= hi - lo
        lo, hi = lo + min(start, stop), lo + max(start, stop)
    return Place(view, Bytes(space, base + lo, base + hi), inside)


def _whole(view: View, buffer: Buffer, env: Mapping[str, int], wave: int, frame: int) -> Place:
    """The slot of a view whose range is not known, or the buffer where the slot is not known either."""
    place = _touched(View(buffer, view.slot), buffer, env, wave, frame)
    if place is None:
        place = _touched(View(buffer), buffer, env, wave, frame)
    assert place is not None
    return place._replace(view=view)


def _joined(places: list[Place]) -> list[Place]:
    """The same bytes in as few ranges as possible."""
    joined: list[Place] = []
    for place in sorted(places, key=lambda place: place.bytes.lo):
        last = joined[-1] if joined else None
        if last is not None and place.inside == last.inside and place.bytes.lo <= last.bytes.hi:
            hi = max(last.bytes.hi, place.bytes.hi)
            joined[-1] = last._replace(bytes=last.bytes._replace(hi=hi))
        else:
            joined.append(place)
    return joined


def view_parts(op: ops.Operation, *, phases: bool = True) -> Iterator[Expr]:
    """The expressions that decide which bytes an operation touches, or (with `phases`) which phase it waits for."""
    if isinstance(op, ops.MemoryOperation):
        for view in _views_of(op):
            for part in (view.slot, view.lo, view.hi):
                if part is not None:
                    yield part
    if phases and isinstance(op, ops.MbarrierWait):
        yield op.phase


def _views_of(op: ops.MemoryOperation) -> tuple[View, ...]:
    """What an operation touches, the mbarrier that its engine arrives on included."""
    arrives = op.arrives if isinstance(op, ops.AsyncOperation) else None
    return op.views if arrives is None else (*op.views, arrives.view)


def depends_on_wave(op: ops.Operation) -> bool:
    """Whether two waves touch different bytes."""
    if not isinstance(op, ops.MemoryOperation):  # most are not
        return False
    return any(isinstance(leaf, Wave) for part in view_parts(op) for leaf in leaves(part))


def view_names(op: ops.Operation, *, phases: bool = True) -> set[str]:
    """The names that decide which bytes an operation touches, or which phase it waits for."""
    if not isinstance(op, ops.MemoryOperation):
        return set()
    parts = view_parts(op, phases=phases)
    names = {leaf.name for part in parts for leaf in leaves(part) if isinstance(leaf, Var)}
    return names | {view.buffer.name for view in _views_of(op) if isinstance(view.buffer, BufferArg)}
