"""The synchronization and asynchronous instructions that a run follows, each as what it does.

A form that is not known is refused by name: nothing here guesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.effects import effect
from fencepost.hosts.ptx.module import Address, Group, Immediate, Instruction, Operand, Register


@dataclass(frozen=True)
class HardwareBarrier:
    """`bar` and `barrier`: its number, how many threads it counts (None: all), and whether the threads wait."""

    number: Operand
    count: Operand | None
    waits: bool
    aligned: bool
    predicate: Operand | None = None
    """What `bar.red` combines."""


@dataclass(frozen=True)
class WarpBarrier:
    """`bar.warp.sync` and the lanes that take part."""

    lanes: Operand


@dataclass(frozen=True)
class Elect:
    """`elect.sync`: one lane of the mask gets true."""

    lanes: Operand
    targets: tuple[Operand, ...]


@dataclass(frozen=True)
class Mbarrier:
    """An operation on an mbarrier; `amount` is a count or bytes, `phase` a parity or the state of an arrival."""

    does: Literal[
        "init", "inval", "arrive", "expect", "arrive expect", "wait parity", "wait state", "copies arrive"
    ]
    address: Address
    amount: Operand | None = None
    phase: Operand | None = None
    target: Operand | None = None
    counted: bool = True
    """Whether an arrival was counted at the init (`cp.async.mbarrier.arrive` without `.noinc` adds its own)."""


@dataclass(frozen=True)
class BulkCopy:
    """`cp.async.bulk`: into shared memory with an mbarrier, or out of it with a group."""

    address: Address
    size: Operand | None
    """None for tensor copies: the tensor map has it."""
    mbarrier: Address | None
    tensor_map: Operand | None


@dataclass(frozen=True)
class Grouping:
    """A commit, or a wait that leaves so many groups in flight: of `cp.async`, bulk copies or wgmma."""

    of: Literal["copies", "bulk", "wgmma"]
    left: int | None
    uncommitted: bool = False
    """`wait_all`: also for what is in no group yet."""


@dataclass(frozen=True)
class Wgmma:
    """`wgmma.mma_async`: its descriptors, each with how many rows it has and whether it is transposed."""

    operands: tuple[tuple[Operand, int, bool], ...]
    element: int
    """Bytes of an element."""


@dataclass(frozen=True)
class ProxyFence:
    """`fence.proxy.async`."""


@dataclass(frozen=True)
class WideMatrix:
    """`wmma.load` and `wmma.store` in shared memory: rows of a fragment, a stride apart."""

    address: Address
    stride: Operand | None
    stores: bool
    rows: int
    length: int
    """Bytes of a row."""
    element: int


@dataclass(frozen=True)
class Harmless:
    """Neither touches shared memory nor waits."""


@dataclass(frozen=True)
class Refused:
    """Not judged, and what it is."""

    why: str


Form = (
    HardwareBarrier
    | WarpBarrier
    | Elect
    | Mbarrier
    | BulkCopy
    | Grouping
    | Wgmma
    | ProxyFence
    | WideMatrix
    | Harmless
    | Refused
)
CLUSTER = ("mapa", "getctarank")


def form_of(instruction: Instruction) -> Form | None:
    """What a synchronization instruction does; None for other instructions."""
    name, parts = instruction.name, instruction.parts
    if name in ("bar", "barrier"):
        return _barrier(instruction)
    if name == "mbarrier":
        return _mbarrier(instruction)
    if name == "cp" and {"bulk", "mbarrier"} & set(parts):
        return _bulk(instruction)
    if name == "cp" and parts[1:2] == ("async",) and {"commit_group", "wait_all", "wait_group"} & set(parts):
        return _copy_group(instruction)
    if name == "wgmma":
        return _wgmma(instruction)
    if name == "wmma":
        return _wide_matrix(instruction)
    if name == "fence" and parts[1:3] == ("proxy", "async"):
        return Harmless() if "global" in parts else ProxyFence()
    if name == "elect":
        first = instruction.operands[0]
        return Elect(instruction.operands[1], first.items if isinstance(first, Group) else (first,))
    if name in CLUSTER or parts[:2] in (("st", "async"), ("red", "async")):
        return Refused("shared memory of a cluster")
    if name in ("tcgen05", "multimem"):
        return Refused(f"`{name}`")
    why = effect(instruction).refused
    return None if why is None else Refused(why)


def _barrier(instruction: Instruction) -> Form | None:
    parts, operands = instruction.parts, instruction.operands
    if "warp" in parts:
        return WarpBarrier(operands[0] if operands else Immediate(-1))
    if "cluster" in parts:
        return Refused("a barrier of a cluster")
    offset = 1 if "red" in parts else 0
    count = len(operands) - offset * 2
    if count not in (1, 2):
        return Refused("a form of barrier that is not known")
    aligned = instruction.name == "bar" or "aligned" in parts
    return HardwareBarrier(
        operands[offset],
        operands[offset + 1] if count == 2 else None,
        "arrive" not in parts,
        aligned,
        operands[-1] if offset else None,
    )


def _local(instruction: Instruction) -> bool:
    """Whether an operation stays in the block: no `shared::cluster` except where it is another name for it."""
    return "shared::cluster" not in instruction.parts and "cluster" not in instruction.parts


def _mbarrier(instruction: Instruction) -> Form:
    parts, operands = instruction.parts, instruction.operands
    what = parts[1]
    if not _local(instruction) or ("relaxed" in parts and what != "expect_tx"):
        return Refused("an mbarrier operation of a cluster, or a relaxed one")
    at = next((number for number, each in enumerate(operands) if isinstance(each, Address)), None)
    if at is None:
        return Refused("a form of mbarrier operation that is not known")
    address, rest = operands[at], operands[at + 1 :]
    assert isinstance(address, Address)
    target = operands[0] if at and isinstance(operands[0], Register) else None
    first = rest[0] if rest else None
    if what == "init":
        return Mbarrier("init", address, first)
    if what == "inval":
        return Mbarrier("inval", address)
    if what == "expect_tx":
        return Mbarrier("expect", address, first)
    if what == "arrive" and "noComplete" not in parts:
        does: Literal["arrive", "arrive expect"] = "arrive expect" if "expect_tx" in parts else "arrive"
        return Mbarrier(does, address, first, target=target)
    if what in ("try_wait", "test_wait") and target is not None:
        parity: Literal["wait parity", "wait state"] = "wait parity" if "parity" in parts else "wait state"
        return Mbarrier(parity, address, phase=first, target=target)
    return Refused(f"`mbarrier.{what}`")


def _number(operand: Operand) -> int | None:
    return operand.value if isinstance(operand, Immediate) else None


def _copy_group(instruction: Instruction) -> Form:
    if "commit_group" in instruction.parts:
        return Grouping("copies", None)
    if "wait_all" in instruction.parts:
        return Grouping("copies", 0, True)
    return _waits("copies", instruction.operands[0])


def _waits(of: Literal["copies", "bulk", "wgmma"], operand: Operand) -> Form:
    left = _number(operand)
    return Refused("a wait for a number of groups that is computed") if left is None else Grouping(of, left)


def _bulk(instruction: Instruction) -> Form | None:
    parts, operands = instruction.parts, instruction.operands
    if "mbarrier" in parts and "arrive" in parts:
        address = operands[0]
        assert isinstance(address, Address)
        return Mbarrier("copies arrive", address, counted="noinc" in parts)
    if "commit_group" in parts:
        return Grouping("bulk", None)
    if "wait_group" in parts:
        return _waits("bulk", operands[0])
    if "prefetch" in parts:
        return Harmless()
    if "multicast::cluster" in parts or any(part.startswith("cta_group") for part in parts):
        return Refused("a copy into several blocks of a cluster")
    spaces = [part for part in parts if part.startswith("shared::") or part == "global"]
    if spaces and spaces[0].startswith("shared") and spaces[1:2] == ["global"] and parts[1] == "async":
        return _load(operands, "tensor" in parts)
    if spaces[:2] == ["global", "shared::cta"]:
        return _store(operands, "tensor" in parts)
    return Refused("a bulk copy between blocks of a cluster")


def _load(operands: tuple[Operand, ...], tensor: bool) -> Form:
    """`[to], [map, {…}], [mbarrier]` or `[to], [from], size, [mbarrier]`."""
    addresses = [each for each in operands if isinstance(each, Address)]
    if len(addresses) < 3:
        return Refused("a form of bulk copy that is not known")
    if tensor:
        return BulkCopy(addresses[0], None, addresses[2], addresses[1].base)
    return BulkCopy(addresses[0], operands[2], addresses[2], None)


def _store(operands: tuple[Operand, ...], tensor: bool) -> Form:
    """`[map, {…}], [from]` or `[to], [from], size`."""
    addresses = [each for each in operands if isinstance(each, Address)]
    if len(addresses) < 2:
        return Refused("a form of bulk copy that is not known")
    if tensor:
        return BulkCopy(addresses[1], None, None, addresses[0].base)
    return BulkCopy(addresses[1], operands[2], None, None)


ELEMENTS = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}


def _wgmma(instruction: Instruction) -> Form | None:
    parts, operands = instruction.parts, instruction.operands
    if parts[1] == "fence":
        return Harmless()
    if parts[1] == "commit_group":
        return Grouping("wgmma", None)
    if parts[1] == "wait_group":
        return _waits("wgmma", operands[0])
    shape = next((part for part in parts if part.startswith("m64n")), None)
    element = ELEMENTS.get(parts[-1])
    if shape is None or element is None or "sp" in parts or not isinstance(operands[0], Group):
        return Refused("a form of wgmma that is not known")
    columns = int(shape[4:].partition("k")[0])
    left, right, *rest = operands[1:]
    numbers = [_number(each) or 0 for each in rest if isinstance(each, Immediate)]
    from_registers = isinstance(left, Group)
    transposed = (
        numbers[-2:]
        if element == 2 and not from_registers
        else [0, *numbers[-1:]]
        if element == 2
        else [0, 0]
    )
    found = [(right, columns, bool(transposed[-1]))]
    if not from_registers:
        found.append((left, 64, bool(transposed[0])))
    return Wgmma(tuple(found), element)


SHAPES = {
    "m16n16k16": (16, 16, 16),
    "m32n8k16": (32, 8, 16),
    "m8n32k16": (8, 32, 16),
    "m16n16k8": (16, 16, 8),
}


def _wide_matrix(instruction: Instruction) -> Form | None:
    """`wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {…}, [p], stride`, and stores of `d`."""
    parts, operands = instruction.parts, instruction.operands
    if "mma" in parts[1:2] or "global" in parts:
        return Harmless()
    shape = next((SHAPES[part] for part in parts if part in SHAPES), None)
    element = {"f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "s8": 1, "u8": 1, "s32": 4}.get(parts[-1])
    address = next((each for each in operands if isinstance(each, Address)), None)
    if shape is None or element is None or address is None:
        return Refused("a form of wmma that is not known")
    m, n, k = shape
    high, wide = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[parts[2]]
    rows, length = (high, wide) if "row" in parts else (wide, high)
    last = operands[-1]
    stride = last if isinstance(last, Immediate | Register) else None
    return WideMatrix(address, stride, parts[1] == "store", rows, length * element, element)


def operands_of(form: Form) -> list[Operand]:
    """The operands that decide where a form goes and whom it waits for."""
    if isinstance(form, HardwareBarrier):
        return [each for each in (form.number, form.count, form.predicate) if each is not None]
    if isinstance(form, WarpBarrier | Elect):
        return [form.lanes]
    if isinstance(form, Mbarrier):
        return [each for each in (form.address, form.amount, form.phase) if each is not None]
    if isinstance(form, BulkCopy):
        return [
            each for each in (form.address, form.size, form.mbarrier, form.tensor_map) if each is not None
        ]
    if isinstance(form, Wgmma):
        return [operand for operand, _, _ in form.operands]
    if isinstance(form, WideMatrix):
        return [form.address, *([] if form.stride is None else [form.stride])]
    return []
