"""What each instruction does: the counters it counts on, the shared memory it touches, what it waits for.

gfx9 has `vmcnt` for everything that goes to global memory and `lgkmcnt` for shared memory and scalar loads; gfx12
has a counter for each kind. What is not named here touches registers only.
"""

from __future__ import annotations

import re
from functools import lru_cache

from fencepost.hosts.amdgcn.reader import RETURNS, Block, Function, Instruction
from fencepost.hosts.amdgcn.registers import ALL, loaded, mentioned
from fencepost.hosts.amdgcn.steps import (
    COPY_IN,
    COPY_OUT,
    READ,
    UPDATE,
    WRITE,
    Access,
    Issue,
    Meets,
    Step,
    Steps,
    Wait,
)
from fencepost.hosts.amdgcn.uniform_branches import with_uniform_branches

LANES = ("ds_bpermute", "ds_permute", "ds_swizzle")
"""They hand values from lane to lane, on the counter of shared memory, and touch none of it."""
SILENT = ("ds_nop", "global_prefetch", "buffer_inv", "buffer_wb", "global_inv", "global_wb", "s_prefetch")
"""They load nothing. Those that write back or drop caches may count as well: not to count them makes older operations
look outstanding for longer."""
NO_WAIT = ("s_wait_alu", "s_wait_xcnt", "s_wait_expcnt", "s_wait_event")
"""Waits that are not looked at: between arithmetic units, for exports and for address translation."""
CALLS = ("s_swappc_b64", "s_swap_pc_i64", "s_call_b64", "s_call_i64")
SPLIT_COUNTERS, LEGACY_COUNTERS = ("load", "ds", "km"), ("vm", "lgkm")
"""The counters that loads into registers count on."""
_LEGACY = re.compile(r"(vm|lgkm|exp|vs)cnt\((\d+)\)")
_WAIT = re.compile(r"s_wait_(load|store|ds|km|sample|bvh|async|tensor|x|exp)cnt$")
_RETURNS = re.compile(r"\b(?:sc0|glc)\b|TH_ATOMIC_RETURN")
_OFFSET = re.compile(r"\boffset:(\w+)")
_TO_LDS = re.compile(r"\blds\b")
LEGACY_ENCODING = {"vm": ((0, 4), (14, 2)), "exp": ((4, 3),), "lgkm": ((8, 4),)}
"""Where the counts of gfx9 stand in a number that is written instead of names: (first bit, bits), low ones first."""


def steps_of(function: Function) -> Steps:
    """A function as steps."""
    function = with_uniform_branches(function)
    made = Steps(function.name)
    for block in function.blocks:
        made.blocks.append(_steps(block, function.target))
        made.successors.append(list(block.successors))
    if made.blocks and not function.is_kernel:
        made.blocks.insert(0, [_callers(function)])
        made.successors = [[1], *([block + 1 for block in each] for each in made.successors)]
    return made


def _callers(function: Function) -> Step:
    """What a caller may have outstanding: anything, into any register."""
    counters = SPLIT_COUNTERS if has_split_counters(function.target) else LEGACY_COUNTERS
    return Step(0, issues=tuple(Issue(counter, "", ALL) for counter in counters))


def _steps(block: Block, target: str) -> list[Step]:
    return [step_of(instruction, target) for instruction in block.instructions]


def step_of(instruction: Instruction, target: str) -> Step:
    """An instruction as a step."""
    name, operands = instruction.mnemonic, instruction.operands
    number = instruction.place.column
    does, issues = effects(name, operands, has_split_counters(target))
    return Step(
        instruction.line,
        number,
        Access(number, does) if does else None,
        offset_of(operands),
        issues,
        waits_of(name, operands),
        meets=meets(name),
        calls=name in CALLS,
        returns=name in RETURNS,
        mentions=mentioned(name, operands),
        result=next((issue.loads for issue in issues if issue.loads), 0),
    )


def offset_of(operands: str) -> int:
    """What an access adds to its address."""
    found = _OFFSET.search(operands)
    return int(found[1], 0) if found else 0


def has_split_counters(target: str) -> bool:
    """Whether loads, stores and shared memory have counters of their own (gfx12)."""
    return target.startswith("gfx12")


def meets(name: str) -> Meets:
    """What an instruction has to do with the barrier of the workgroup."""
    if name == "s_barrier":
        return Meets.WHOLE
    if name.startswith("s_barrier_signal"):
        return Meets.ARRIVES
    return Meets.LEAVES if name == "s_barrier_wait" else Meets.NOT


@lru_cache(maxsize=65536)
def effects(name: str, operands: str, split: bool) -> tuple[str, tuple[Issue, ...]]:
    """What an instruction does to shared memory, and what is outstanding because of it."""
    if name.startswith(SILENT):
        return "", ()
    if name.startswith("ds_"):
        return _of_shared_memory(name, operands, "ds" if split else "lgkm")
    if name.startswith(("tensor_load_to_lds", "tensor_store_from_lds")):
        return COPY_IN if "load" in name else COPY_OUT, (Issue("tensor", "tensor"),)
    if name.startswith(("global_", "buffer_", "scratch_", "flat_", "image_")):
        return _of_global_memory(name, operands, split)
    if name.startswith(
        ("s_load_", "s_buffer_load_", "s_atomic_", "s_memtime", "s_memrealtime", "s_scratch_load_")
    ):
        return "", (Issue("km" if split else "lgkm", "", loaded(name, operands)),)
    if name.startswith(("s_get_barrier_state", "s_sendmsg_rtn")):
        return "", (Issue("km" if split else "lgkm", "", loaded(name, operands)),)
    return "", ()


def _of_shared_memory(name: str, operands: str, counter: str) -> tuple[str, tuple[Issue, ...]]:
    returns = name.startswith((*LANES, "ds_read", "ds_load", "ds_consume", "ds_append", "ds_ordered_count"))
    returns = returns or "_rtn" in name
    loads = loaded(name, operands) if returns else 0
    if name.startswith(LANES):
        does = ""
    elif name.startswith(("ds_read", "ds_load")):
        does = READ
    else:
        does = WRITE if name.startswith(("ds_write", "ds_store")) else UPDATE
    return does, (Issue(counter, "shared", loads),)


def _of_global_memory(name: str, operands: str, split: bool) -> tuple[str, tuple[Issue, ...]]:
    if "_async_to_lds" in name or "_async_from_lds" in name:
        return COPY_IN if "_to_lds" in name else COPY_OUT, (Issue("async", "async"),)
    if "_load_lds_" in name or ("_load_" in name and _TO_LDS.search(operands)):
        return COPY_IN, (Issue("load" if split else "vm", "memory"),)
    stores = "_store_" in name or ("_atomic_" in name and not _RETURNS.search(operands))
    loads = 0 if stores else loaded(name, operands)
    counter = ("store" if stores else "load") if split else "vm"
    if name.startswith("flat_"):
        # It may go to shared memory as well: it counts there, too, and completes in any order.
        return "", (Issue(counter, "", loads), Issue("ds" if split else "lgkm", "", loads))
    return "", (Issue(counter, "memory", loads),)


@lru_cache(maxsize=4096)
def waits_of(name: str, operands: str) -> tuple[Wait, ...]:
    """What an instruction waits for."""
    if name == "s_waitcnt":
        return _legacy_waits(operands)
    if name.startswith(NO_WAIT):
        return ()
    if name == "s_wait_idle":
        return tuple(Wait(counter, 0) for counter in ("load", "store", "ds", "km", "async", "tensor"))
    if found := re.match(r"s_wait_(load|store)cnt_dscnt$", name):
        counts = int(operands, 0)
        return Wait(found[1], counts >> 8 & 63), Wait("ds", counts & 63)
    if found := _WAIT.match(name):
        return (Wait(found[1], int(operands, 0)),)
    return ()


def _legacy_waits(operands: str) -> tuple[Wait, ...]:
    named = tuple(Wait(counter, int(count)) for counter, count in _LEGACY.findall(operands))
    if named or not operands:
        return named
    number = int(operands, 0)
    found: list[Wait] = []
    for counter, parts in LEGACY_ENCODING.items():
        count, shift = 0, 0
        for first, bits in parts:
            count |= (number >> first & (1 << bits) - 1) << shift
            shift += bits
        if count < (1 << shift) - 1:
            found.append(Wait(counter, count))
    return tuple(found)
