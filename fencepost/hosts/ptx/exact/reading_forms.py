"""Which form an instruction is.

A form that is not known is refused by name: nothing here guesses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from fencepost.hosts.ptx.exact.forms import (
    AsyncStore,
    BulkCopy,
    ClusterBarrier,
    Elect,
    Form,
    Grouping,
    HardwareBarrier,
    Harmless,
    InitFence,
    Mbarrier,
    MemoryFence,
    ProxyFence,
    Refused,
    WarpBarrier,
    Wgmma,
    WideMatrix,
)
from fencepost.hosts.ptx.exact.tcgen05_forms import (
    TensorAllocation,
    TensorCommit,
    TensorCopy,
    TensorProduct,
    tensor_form,
)
from fencepost.hosts.ptx.reading.effects import effect, element_size
from fencepost.hosts.ptx.reading.instructions import types_of
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Operand,
    Register,
    width_of,
)

CLUSTER = ("mapa", "getctarank")
"""Instructions that compute an address of another block, or its rank from that."""


def form_of(instruction: Instruction) -> Form | None:
    """What a synchronization instruction does; None for other instructions."""
    try:
        return _form(instruction)
    except (AssertionError, IndexError, ValueError):
        # No assembler takes it: operands are missing, or are of another kind.
        return Refused(f"`{instruction.opcode}` with these operands")


def _form(instruction: Instruction) -> Form | None:
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
    if name in ("fence", "membar"):
        return _fence(instruction)
    if name == "elect":
        first = instruction.operands[0]
        return Elect(instruction.operands[1], first.items if isinstance(first, Group) else (first,))
    if name in CLUSTER:
        return None
    if parts[:2] in (("st", "async"), ("red", "async")):
        return _async_store(instruction)
    if name == "tcgen05":
        return tensor_form(instruction) or Refused(f"`{'.'.join(parts[:2])}` in this form")
    if name == "multimem":
        return Refused("`multimem`")
    found = effect(instruction)
    return None if found.refused is None or found.accesses else Refused(found.refused)


def uses_cluster(instruction: Instruction, form: Form | None) -> bool:
    """Whether an instruction has to do with other blocks of a cluster, so that their number matters."""
    if isinstance(form, ClusterBarrier | AsyncStore) or instruction.name in CLUSTER:
        return True
    if isinstance(form, BulkCopy):
        return form.blocks is not None or form.source is not None or form.for_pair
    if isinstance(form, TensorAllocation | TensorCommit | TensorProduct | TensorCopy) and form.pair:
        return True
    if isinstance(form, TensorCommit):
        return form.blocks is not None
    # An address of the block's own is one of the cluster as well; `mapa` makes others.
    return False


def _fence(instruction: Instruction) -> Form:
    parts = instruction.parts
    if parts[1:3] == ("proxy", "async"):
        return Harmless() if "global" in parts else ProxyFence()
    if "mbarrier_init" in parts:
        return InitFence()
    if "proxy" in parts or any(part.startswith("sync_restrict") for part in parts):
        # Fences of less than all accesses are taken to order nothing.
        return Harmless()
    return MemoryFence(not {"cta"} & set(parts))


def _async_store(instruction: Instruction) -> Form:
    """`st.async… [to], value, [mbarrier]`."""
    addresses = [each for each in instruction.operands if isinstance(each, Address)]
    kinds = types_of(instruction)
    if "shared::cluster" not in instruction.parts or len(addresses) != 2 or not kinds:
        return Refused("a form of asynchronous store that is not known")
    lanes = next((int(part[1:]) for part in instruction.parts if part in ("v2", "v4")), 1)
    size = lanes * width_of(kinds[-1]) // 8
    return AsyncStore(addresses[0], addresses[1], size, size // lanes if instruction.name == "red" else 0)


def _barrier(instruction: Instruction) -> Form | None:
    parts, operands = instruction.parts, instruction.operands
    if "warp" in parts:
        return WarpBarrier(operands[0] if operands else Immediate(-1))
    if "cluster" in parts:
        return ClusterBarrier("arrive" in parts, "relaxed" in parts, "aligned" in parts)
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


def _mbarrier(instruction: Instruction) -> Form:
    parts, operands = instruction.parts, instruction.operands
    what = parts[1]
    relaxed, of_block = "relaxed" in parts and what != "expect_tx", "cta" in parts
    at = next((number for number, each in enumerate(operands) if isinstance(each, Address)), None)
    if at is None:
        return Refused("a form of mbarrier operation that is not known")
    address, rest = operands[at], operands[at + 1 :]
    assert isinstance(address, Address)
    target = operands[0] if at and isinstance(operands[0], Register) else None
    first = rest[0] if rest else None
    near = target is not None or bool({"shared", "shared::cta"} & set(parts))
    if what == "init":
        return Mbarrier("init", address, first, near=True)
    if what == "inval":
        return Mbarrier("inval", address, near=True)
    if what == "expect_tx":
        return Mbarrier("expect", address, first, near=near)
    if what == "arrive" and "noComplete" not in parts:
        does: Literal["arrive", "arrive expect"] = "arrive expect" if "expect_tx" in parts else "arrive"
        found = Mbarrier(does, address, first, target=target)
        return replace(found, relaxed=relaxed, of_block=of_block, near=near)
    if what in ("try_wait", "test_wait") and target is not None and first is not None:
        parity: Literal["wait parity", "wait state"] = "wait parity" if "parity" in parts else "wait state"
        found = Mbarrier(parity, address, None, first, target)
        return replace(found, relaxed=relaxed, of_block=of_block, near=near)
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
    # PTX wants a constant: no assembler takes anything else.
    return Refused("a wait for a number of groups that is computed") if left is None else Grouping(of, left)


def _bulk(instruction: Instruction) -> Form | None:
    parts, operands = instruction.parts, instruction.operands
    if "mbarrier" in parts and "arrive" in parts:
        address = operands[0]
        assert isinstance(address, Address)
        return Mbarrier("copies arrive", address, counted="noinc" in parts, near=True)
    if "commit_group" in parts:
        return Grouping("bulk", None)
    if "wait_group" in parts:
        return _waits("bulk", operands[0])
    if "prefetch" in parts:
        return Harmless()
    spaces = [part for part in parts if part.startswith("shared::") or part == "global"]
    if spaces[:2] == ["global", "shared::cta"]:
        return _store(operands, "tensor" in parts)
    if spaces[:1] and spaces[0] in ("shared::cluster", "shared::cta") and len(spaces) > 1:
        return _load(instruction, spaces[1])
    return Refused("a form of bulk copy that is not known")


def _load(instruction: Instruction, source: str) -> Form:
    """`[to], [map, {…}], [mbarrier]` or `[to], [from], size, [mbarrier]`, and then the mask of a multicast."""
    operands, parts = instruction.operands, instruction.parts
    addresses = [each for each in operands if isinstance(each, Address)]
    if len(addresses) < 3:
        return Refused("a form of bulk copy that is not known")
    rest = [each for each in operands[operands.index(addresses[2]) + 1 :] if not isinstance(each, Group)]
    blocks = rest[0] if "multicast::cluster" in parts and rest else None
    if "multicast::cluster" in parts and blocks is None:
        return Refused("a form of bulk copy that is not known")
    near = "shared::cluster" not in parts
    if "tensor" in parts:
        pair = "cta_group::2" in parts
        return BulkCopy(addresses[0], None, addresses[2], addresses[1].base, blocks, near=near, for_pair=pair)
    between = addresses[1] if source == "shared::cta" else None
    updates = element_size(instruction) if parts[1] == "reduce" else 0
    return BulkCopy(addresses[0], operands[2], addresses[2], None, blocks, between, updates, near)


def _store(operands: tuple[Operand, ...], tensor: bool) -> Form:
    """`[map, {…}], [from]` or `[to], [from], size`."""
    addresses = [each for each in operands if isinstance(each, Address)]
    if len(addresses) < 2:
        return Refused("a form of bulk copy that is not known")
    if tensor:
        return BulkCopy(addresses[1], None, None, addresses[0].base, near=True)
    return BulkCopy(addresses[1], operands[2], None, None, near=True)


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
