"""Shared-memory allocations and the views that operations access them through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from fencepost.ir.expr import Binary, Const, Expr, Operand, as_expr, evaluate
from fencepost.ir.source import FencepostError, Mark, Span, UsageError


@dataclass(slots=True, eq=False)
class Buffer:
    """An allocation of `slots` slots of `slot_bytes` each.

    With an `offset` it stands at that address of the workgroup's memory, and allocations whose
    addresses overlap alias. Without one it shares bytes with nothing.
    """

    name: str
    slot_bytes: int
    slots: int = 1
    offset: int | None = None
    span: Span | None = None
    host: object = None
    comment: str = ""
    heading: tuple[str, ...] = ()
    number: int = 0
    """Its place among the buffers of its kernel or function."""

    @property
    def size(self) -> int:
        """All bytes of the allocation."""
        return self.slots * self.slot_bytes

    def whole(self) -> View:
        """Every byte of every slot."""
        return View(self)

    def __getitem__(self, slot: Operand) -> View:
        if isinstance(slot, slice):
            raise UsageError(
                f"%{self.name}[...] is one slot, and a slice is not",
                notes=[
                    (
                        "help",
                        f"`{self.name}.bytes(lo, hi)` is a range of bytes, `{self.name}` alone all slots",
                    )
                ],
            )
        return View(self, as_expr(slot))

    def __iter__(self) -> NoReturn:
        # Python would ask for slot after slot for ever: a view of a slot that is not there is refused only when used.
        raise UsageError(
            f"a buffer is not iterated over: `for s in range({self.slots}): {self.name}[s]`",
        )

    def __contains__(self, what: object) -> NoReturn:
        raise UsageError(f"`in %{self.name}` has no answer: a buffer holds bytes")

    def bytes(self, lo: Operand, hi: Operand) -> View:
        """Bytes lo to hi (exclusive) of the allocation, counted over all slots."""
        return View(self, None, as_expr(lo), as_expr(hi))

    def __str__(self) -> str:
        shape = f"{self.slots} x {self.slot_bytes}" if self.slots != 1 else str(self.slot_bytes)
        place = "" if self.offset is None else f" at {self.offset}"
        return f"shared %{self.name} : {shape}{place}"


@dataclass(slots=True, eq=False)
class BufferArg(Buffer):
    """A name that stands for one buffer or another, as loops and conditionals hand them on."""

    choices: tuple[Buffer, ...] = ()
    """The buffers that it can stand for."""
    heirs: list[BufferArg] = field(default_factory=list, repr=False)
    """The names that can be handed what this one stands for."""


@dataclass(frozen=True, slots=True)
class View:
    """A part of a buffer: one slot or (slot None) all of them, and of that all bytes or lo to hi."""

    buffer: Buffer
    slot: Expr | None = None
    lo: Expr | None = None
    hi: Expr | None = None

    def buffers(self, env: Mapping[str, int]) -> tuple[Buffer, ...]:
        """The buffers that it can be a part of; the values of names that stand for buffers are their numbers."""
        buffer = self.buffer
        if not isinstance(buffer, BufferArg):
            return (buffer,)
        number = env.get(buffer.name)
        return tuple(choice for choice in buffer.choices if number is None or choice.number == number)

    def bytes(self, lo: Operand, hi: Operand) -> View:
        """Bytes lo to hi (exclusive) of this view."""
        first, end = as_expr(lo), as_expr(hi)
        if self.lo is None or self.hi is None:
            return View(self.buffer, self.slot, first, end)
        part = View(self.buffer, self.slot, _moved(first, self.lo), _moved(end, self.lo))
        _check_inside(part, self)
        return part

    def __str__(self) -> str:
        slot = "" if self.slot is None else f"[{self.slot}]"
        part = "" if self.lo is None else f"[{self.lo}..{self.hi}]"
        return f"%{self.buffer.name}{slot}{part}"


def _moved(place: Expr, by: Expr) -> Expr:
    """A place that is counted from another one."""
    if isinstance(place, Const) and isinstance(by, Const):
        return Const(place.value + by.value)
    return by if place == Const(0) else Binary("+", by, place)


def _check_inside(part: View, around: View) -> None:
    """Refuse a part of a range of bytes that is known to lie outside of it."""
    ends = [None if each is None else evaluate(each, {}) for each in (around.lo, part.lo, part.hi, around.hi)]
    known = [each for each in ends if each is not None]
    if known != sorted(known):
        raise FencepostError(f"{part} is no part of {around}", code="FP103")


def check_view(view: View, span: Span | None) -> None:
    """Refuse a view whose constant slot or byte range lies outside its buffer."""
    buffer = view.buffer
    slot = None if view.slot is None else evaluate(view.slot, {})
    if slot is not None and not 0 <= slot < buffer.slots:
        raise FencepostError(
            f"slot {slot} of %{buffer.name}, which has {_slots(buffer.slots)}",
            [Mark(span), *_allocated(buffer)],
            code="FP103",
        )
    if view.lo is None or view.hi is None:
        return
    room = buffer.size if view.slot is None else buffer.slot_bytes
    lo, hi = evaluate(view.lo, {}), evaluate(view.hi, {})
    if (lo is not None and not 0 <= lo < room) or (hi is not None and not 0 < hi <= room):
        raise FencepostError(
            f"bytes {view.lo}..{view.hi} lie outside the {room} bytes of %{buffer.name}"
            + ("" if view.slot is None else f"[{view.slot}]"),
            [Mark(span), *_allocated(buffer)],
            code="FP103",
        )
    if lo is not None and hi is not None and lo >= hi:
        raise FencepostError(f"empty byte range {view.lo}..{view.hi}", [Mark(span)], code="FP103")


def _allocated(buffer: Buffer) -> list[Mark]:
    what = "named here" if isinstance(buffer, BufferArg) else "allocated here"
    return [Mark(buffer.span, what)] if buffer.span is not None else []


def _slots(count: int) -> str:
    return "1 slot (number 0)" if count == 1 else f"{count} slots (numbers 0 to {count - 1})"
