"""What each instruction does besides computing: memory it touches, threads it waits for, or that it is not
judged.

An opcode that is not named here and does not compute is *not judged*: the kernel is then undecided, by that name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.reading.inline_calls import called, is_harmless_function
from fencepost.hosts.ptx.reading.instructions import computes, types_of
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    width_of,
)

Kind = Literal["read", "write", "atomic", "copy"]
"""`copy` is the write of a `cp.async`: it happens some time until its thread has waited for it."""
Barrier = Literal["block", "warp"]

HARMLESS = frozenset(
    {
        *(
            "membar",
            "fence",
            "shfl",
            "vote",
            "match",
            "activemask",
            "redux",
            "elect",
            "prefetch",
            "prefetchu",
        ),
        *(
            "nanosleep",
            "pmevent",
            "mma",
            "bra",
            "brx",
            "ret",
            "exit",
            "trap",
            "brkpt",
            "setmaxnreg",
            "discard",
        ),
        *(
            "griddepcontrol",
            "createpolicy",
            "applypriority",
            "istypep",
            "alloca",
            "stacksave",
            "stackrestore",
        ),
        *("tex", "tld4", "suld", "sust", "sured", "suq", "txq", "addc", "subc", "madc"),
        *("movmatrix", "clusterlaunchcontrol.query_cancel"),
        *(f"v{name}" for name in ("add", "sub", "absdiff", "min", "max", "shl", "shr", "mad", "set")),
        *(
            f"v{name}{lanes}"
            for name in ("add", "sub", "avrg", "absdiff", "min", "max", "set")
            for lanes in (2, 4)
        ),
    }
)
"""Instructions that neither touch shared memory nor make threads wait for each other."""
NO_RESULT = frozenset(
    {
        *(
            "st",
            "red",
            "membar",
            "fence",
            "bra",
            "brx",
            "ret",
            "exit",
            "trap",
            "prefetch",
            "prefetchu",
            "nanosleep",
        ),
        *("cp", "stmatrix", "brkpt", "pmevent", "setmaxnreg", "discard", "griddepcontrol", "applypriority"),
        *("sust", "sured", "wgmma", "tcgen05", "tensormap"),
    }
)
"""Instructions whose first operand is no destination."""
OTHER_SPACES = frozenset({"global", "local", "const", "param"})
STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "mmio"})
"""Loads and stores with one of these are strong, as atomics are: with those they do not race, as PTX defines it."""
SHARED = ("shared", "shared::cta")


TENSOR_MAP = 128
"""Bytes."""


@dataclass(frozen=True)
class Access:
    """What an instruction touches in shared (or possibly shared) memory: `size` bytes at an address."""

    kind: Kind
    address: Address
    size: int
    values: tuple[Operand, ...] = ()
    """What a write stores, for comparing two writes."""
    generic: bool = False
    of_cluster: bool = False
    """Whether it may be in the memory of another block."""
    rows: bool = False
    """`ldmatrix` and `stmatrix`: each thread gives the address of one row of 16 bytes, and what lies there is handed
    out among the lanes."""
    element: int = 0
    """Bytes of one operation: of a vector and of packed numbers, each part is one by itself. Atomics of different
    sizes are none for each other."""


@dataclass(frozen=True)
class Effect:
    """What one instruction does besides computing."""

    accesses: tuple[Access, ...] = ()
    barrier: Barrier | None = None
    refused: str | None = None
    """Why a kernel with this instruction is not judged."""


NOTHING = Effect()


def is_strong(instruction: Instruction) -> bool:
    """Whether a load or store is meant to be seen while other threads are at it: volatile, or of an atomic object."""
    return not STRONG.isdisjoint(instruction.parts)


def destinations(instruction: Instruction) -> tuple[Operand, ...]:
    """The registers that an instruction assigns."""
    if instruction.name in NO_RESULT or not instruction.operands:
        loads = instruction.parts[:2] == ("tcgen05", "ld") and isinstance(instruction.operands[0], Group)
        return _flatten(instruction.operands[0]) if loads else ()
    if instruction.name in ("bar", "barrier") and "red" not in instruction.parts:
        return ()
    if instruction.name == "mbarrier" and not isinstance(instruction.operands[0], Register):
        return ()
    first = instruction.operands[0]
    if isinstance(first, Group):
        return first.items
    return (first,)


def space_of(instruction: Instruction) -> str | None:
    """The memory space in the opcode: `shared`, one of the others, or None for generic addresses."""
    for part in instruction.parts[1:]:
        if part in SHARED:
            return "shared"
        if part in OTHER_SPACES or part.startswith(("param::", "shared::")):
            return part.partition("::")[0] if part.startswith("param") else part
    return None


def _bytes(instruction: Instruction) -> int:
    element = width_of(types_of(instruction)[-1]) // 8 if types_of(instruction) else 0
    for part in instruction.parts:
        if part in ("v2", "v4", "v8"):
            element *= int(part[1:])
    return element


def element_size(instruction: Instruction) -> int:
    """Bytes of one operation of a load, store or atomic; 0 if its type is not known."""
    kinds = types_of(instruction)
    return width_of(kinds[-1]) // 8 // (2 if kinds[-1].endswith("x2") else 1) if kinds else 0


def _address(instruction: Instruction) -> Address | None:
    return next((each for each in instruction.operands if isinstance(each, Address)), None)


def _flatten(operand: Operand) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Group) else (operand,)


def _memory(instruction: Instruction) -> Effect:
    """`ld`, `st`, `atom` and `red`."""
    space = space_of(instruction)
    if space in OTHER_SPACES:
        return NOTHING
    address, size = _address(instruction), _bytes(instruction)
    if address is None or size == 0:
        return Effect(refused="a form of memory access that is not known")
    kind: Kind = "atomic"
    if instruction.name in ("ld", "ldu", "st"):
        kind = "write" if instruction.name == "st" else "read"
    values = _flatten(instruction.operands[-1]) if kind == "write" else ()
    element = element_size(instruction)
    if space not in (None, "shared"):
        # Runs of a whole cluster follow it.
        access = Access(kind, address, size, values, of_cluster=True, element=element)
        return Effect((access,), refused="shared memory of a cluster")
    return Effect((Access(kind, address, size, values, space is None, element=element),))


def _matrix(instruction: Instruction) -> Effect:
    """`ldmatrix` and `stmatrix`: eight rows of 16 bytes for each matrix, one from each lane."""
    address = _address(instruction)
    assert address is not None
    if instruction.name == "stmatrix":
        return Effect((Access("write", address, 16, _flatten(instruction.operands[-1]), rows=True),))
    return Effect((Access("read", address, 16, rows=True),))


def _barrier(instruction: Instruction) -> Effect:
    parts = instruction.parts
    if "warp" in parts:
        return Effect(barrier="warp")
    if "cluster" in parts:
        return Effect(refused="a barrier of a cluster")
    if "arrive" in parts:
        return Effect(refused="a barrier that is split into arrive and sync")
    numbers = [each for each in instruction.operands if isinstance(each, Immediate)]
    offset = 1 if "red" in parts else 0
    if len(instruction.operands) <= offset or not numbers:
        return Effect(refused="a barrier whose number is computed")
    if numbers[0].value != 0 or len(instruction.operands) > 1 + 2 * offset:
        return Effect(refused="a barrier of some of the threads")
    return Effect(barrier="block")


def _copy(instruction: Instruction) -> Effect:
    """`cp.async` and its groups."""
    parts = instruction.parts
    if parts[1] != "async" or "bulk" in parts or "mbarrier" in parts or "reduce" in parts:
        return Effect(refused="a bulk copy, which completes on an mbarrier")
    if "shared" in parts or "shared::cta" in parts:
        address, size = instruction.operands[0], instruction.operands[2:3]
        if isinstance(address, Address) and size and isinstance(size[0], Immediate):
            return Effect((Access("copy", address, size[0].value),))
    elif {"commit_group", "wait_group", "wait_all"} & set(parts):
        return NOTHING
    return Effect(refused="a form of cp.async that is not known")


def _wide_matrix(instruction: Instruction) -> Effect:
    """`wmma`: only the fragments that come from or go to shared memory matter."""
    if "mma" in instruction.parts[1:2] or space_of(instruction) == "global":
        return NOTHING
    return Effect(refused="a wmma fragment in shared memory")


def _tensor_map(instruction: Instruction) -> Effect:
    """`tensormap.replace` changes a tensor map, `tensormap.cp_fenceproxy` copies one to global memory."""
    addresses = [each for each in instruction.operands if isinstance(each, Address)]
    if not {"replace", "cp_fenceproxy"} & set(instruction.parts) or not addresses:
        return Effect(refused="a form of `tensormap` that is not known")
    if "shared::cta" in instruction.parts:
        kind: Kind = "write" if "replace" in instruction.parts else "read"
        return Effect((Access(kind, addresses[-1], TENSOR_MAP),))
    if "global" in instruction.parts:
        return NOTHING
    return Effect(refused="a tensor map at a generic address")


def _call(instruction: Instruction) -> Effect:
    """A call of a function that the text does not have; others are written out."""
    function = called(instruction)[1]
    name = function.name if isinstance(function, Symbol) else None
    if name is not None and is_harmless_function(name):
        return NOTHING
    said = f"`{name}`, which is not in this PTX" if name else "a function that is computed"
    return Effect(refused=f"a call of {said},")


REFUSED = {
    "mbarrier": "an mbarrier",
    "wgmma": "a wgmma, which reads shared memory through descriptors",
    "tcgen05": "a tcgen05 instruction",
    "multimem": "a multimem instruction",
    "clusterlaunchcontrol": "an asynchronous request that writes to shared memory",
    "st.async": "an asynchronous store",
    "red.async": "an asynchronous reduction",
    "mapa": "shared memory of a cluster",
    "getctarank": "shared memory of a cluster",
}


def effect(instruction: Instruction) -> Effect:
    """What the instruction does besides computing."""
    name = instruction.name
    if computes(instruction) or name in HARMLESS or ".".join(instruction.parts[:2]) in HARMLESS:
        return NOTHING
    if name in ("ld", "ldu", "st", "atom", "red") and "async" not in instruction.parts:
        return _memory(instruction)
    if name in ("bar", "barrier"):
        return _barrier(instruction)
    if name in ("ldmatrix", "stmatrix"):
        return _matrix(instruction)
    if name == "cp":
        return _copy(instruction)
    if name == "wmma":
        return _wide_matrix(instruction)
    if name == "tensormap":
        return _tensor_map(instruction)
    if name == "call":
        return _call(instruction)
    why = REFUSED.get(name, REFUSED.get(".".join(instruction.parts[:2]), f"`{name}`, which is not known"))
    return Effect(refused=why)


def waits_for_copies(instruction: Instruction) -> int | None:
    """How many commit groups `cp.async.wait_group N` leaves in flight; None for other instructions."""
    if instruction.name != "cp" or "async" not in instruction.parts:
        return None
    if "wait_all" in instruction.parts:
        return 0
    if "wait_group" in instruction.parts and "bulk" not in instruction.parts:
        operand = instruction.operands[0]
        return operand.value if isinstance(operand, Immediate) else None
    return None


def commits_copies(instruction: Instruction) -> bool:
    """Whether it is `cp.async.commit_group`."""
    return (
        instruction.name == "cp" and "commit_group" in instruction.parts and "bulk" not in instruction.parts
    )
