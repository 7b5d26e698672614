"""`tcgen05` instructions, each as what it does: allocations, accesses, products, copies, fences and commits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.reading.module import Address, Group, Instruction, Operand


@dataclass(frozen=True)
class TensorAllocation:
    """`alloc` writes the address of so many columns into shared memory; `dealloc` frees them."""

    does: Literal["alloc", "dealloc", "relinquish"]
    address: Operand | None = None
    columns: Operand | None = None
    pair: bool = False


@dataclass(frozen=True)
class TensorAccess:
    """`ld` and `st` of a warp: so many lanes, and columns in one piece, or in two that are a distance apart."""

    address: Address
    stores: bool
    lanes: int
    columns: int
    apart: Operand | None = None


@dataclass(frozen=True)
class TensorWait:
    """`wait::ld` and `wait::st`."""

    loads: bool


@dataclass(frozen=True)
class TensorFence:
    """`fence::before_thread_sync` and `fence::after_thread_sync`."""

    before: bool


@dataclass(frozen=True)
class TensorProduct:
    """`mma`: an accumulator, two operands (by descriptors, the first also in tensor memory), and scales."""

    accumulator: Address
    left: Operand
    right: Operand
    descriptor: Operand
    scales: tuple[Address, ...]
    kind: str
    pair: bool


@dataclass(frozen=True)
class TensorCopy:
    """`cp`: rows of so many units of 16 bytes from shared memory, into all lanes or into a few."""

    address: Address
    descriptor: Operand
    rows: int
    units: int
    pair: bool

    @property
    def lanes(self) -> int:
        """How many lanes get something: rows are repeated until all warps have theirs, but for four of them."""
        return 4 if self.rows == 4 else 128


@dataclass(frozen=True)
class TensorShift:
    """`shift`: 32 lanes of 32 bytes move down by one."""

    address: Address
    pair: bool


@dataclass(frozen=True)
class TensorCommit:
    """`commit`: an arrival at an mbarrier, or at those of several blocks, when the thread's work is done."""

    mbarrier: Address
    blocks: Operand | None
    pair: bool


TensorForm = (
    TensorAllocation
    | TensorAccess
    | TensorWait
    | TensorFence
    | TensorProduct
    | TensorCopy
    | TensorShift
    | TensorCommit
)
OF_A_WARP = (TensorAllocation, TensorAccess, TensorWait)
"""Forms that the lanes of a warp carry out together."""
PER_REGISTER = {
    "32x32b": (32, 1),
    "16x64b": (16, 2),
    "16x128b": (16, 4),
    "16x256b": (16, 8),
    "16x32bx2": (16, 1),
}
"""By shape: the lanes, and the columns for each repetition."""
KINDS = ("f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4")


def tensor_form(instruction: Instruction) -> TensorForm | None:
    """What a `tcgen05` instruction does; None if its form is not known."""
    parts, operands = instruction.parts, instruction.operands
    what = parts[1]
    pair = "cta_group::2" in parts
    if what in ("alloc", "dealloc") and len(operands) == 2:
        return TensorAllocation("alloc" if what == "alloc" else "dealloc", operands[0], operands[1], pair)
    if what == "relinquish_alloc_permit":
        return TensorAllocation("relinquish", pair=pair)
    if what in ("wait::ld", "wait::st"):
        return TensorWait(what == "wait::ld")
    if what in ("fence::before_thread_sync", "fence::after_thread_sync"):
        return TensorFence(what.startswith("fence::before"))
    if what in ("ld", "st"):
        return _access(instruction)
    if what == "mma":
        return _product(instruction, pair)
    if what == "cp":
        return _copy(instruction, pair)
    first = operands[0] if operands else None
    if not isinstance(first, Address):
        return None
    if what == "shift":
        return TensorShift(first, pair)
    if what == "commit" and "mbarrier::arrive::one" in parts:
        return TensorCommit(first, operands[1] if len(operands) > 1 else None, pair)
    return None


def _access(instruction: Instruction) -> TensorAccess | None:
    """`ld… {…}, [address]`, `st… [address], {…}`, and the distance of the second half."""
    parts = instruction.parts
    shape = next((part for part in parts if part in PER_REGISTER), None)
    times = next((int(part[1:]) for part in parts if re.fullmatch(r"x\d+", part)), None)
    address = next((each for each in instruction.operands if isinstance(each, Address)), None)
    if shape is None or times is None or address is None or "red" in parts:
        return None
    lanes, columns = PER_REGISTER[shape]
    if {"pack::16b", "unpack::16b"} & set(parts):
        # A register has halves of two columns.
        columns *= 2
    apart = [each for each in instruction.operands if not isinstance(each, Address | Group)]
    if (shape == "16x32bx2") != bool(apart):
        return None
    return TensorAccess(address, parts[1] == "st", lanes, columns * times, apart[0] if apart else None)


def _product(instruction: Instruction, pair: bool) -> TensorProduct | None:
    parts, operands = instruction.parts, instruction.operands
    kind = next((part.removeprefix("kind::") for part in parts if part.startswith("kind::")), "")
    if kind not in KINDS or {"ws", "sp"} & set(parts) or len(operands) < 5:
        return None
    accumulator, left, right, descriptor, *rest = operands
    scales = tuple(each for each in rest if isinstance(each, Address))
    scaled = "block_scale" in parts
    if not isinstance(accumulator, Address) or len(scales) != (2 if scaled else 0):
        return None
    return TensorProduct(accumulator, left, right, descriptor, scales, kind, pair)


def _copy(instruction: Instruction, pair: bool) -> TensorCopy | None:
    parts, operands = instruction.parts, instruction.operands
    shape = next((re.fullmatch(r"(\d+)x(128|256)b", part) for part in parts if "x" in part), None)
    address = operands[0] if operands else None
    if shape is None or not isinstance(address, Address) or any(part.startswith("b8x16") for part in parts):
        return None
    return TensorCopy(address, operands[1], int(shape[1]), int(shape[2]) // 128, pair)


def tensor_operands(form: TensorForm) -> list[Operand]:
    """The operands that decide what a form touches."""
    if isinstance(form, TensorAllocation):
        return [each for each in (form.address, form.columns) if each is not None]
    if isinstance(form, TensorAccess):
        return [form.address, *([] if form.apart is None else [form.apart])]
    if isinstance(form, TensorProduct):
        return [form.accumulator, form.left, form.right, form.descriptor, *form.scales]
    if isinstance(form, TensorCopy):
        return [form.address, form.descriptor]
    if isinstance(form, TensorCommit):
        return [form.mbarrier, *([] if form.blocks is None else [form.blocks])]
    return [form.address] if isinstance(form, TensorShift) else []
