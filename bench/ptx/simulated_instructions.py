"""What each PTX instruction does to a block that is simulated on the CPU."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from simulated_block import GLOBAL, WINDOW, Instruction, Lanes, Machine, NotSimulatedError

_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def execute(machine: Machine, instruction: Instruction, active: Lanes) -> None:
    """One instruction."""
    parts = instruction.opcode.split(".")
    handler = HANDLERS.get(parts[0])
    if handler is None:
        raise NotSimulatedError(instruction.opcode)
    handler(machine, instruction, parts, active)


def _width(type_: str) -> int:
    return 1 if type_ == "pred" else int(re.sub(r"\D", "", type_) or 32)


def _cut(values: Lanes, type_: str) -> Lanes:
    """Values as the type has them: bits cut off, signs extended."""
    width = _width(type_)
    bits = values.astype(np.uint64)
    if width < 64:
        bits = bits & np.uint64((1 << width) - 1)
    if type_.startswith("s"):
        shift = np.uint64(64 - width)
        return (bits << shift).view(np.int64) >> np.int64(64 - width)
    return bits


def _typed(machine: Machine, operand: str, type_: str) -> Lanes:
    bits = machine.value(operand)
    if type_ in _FLOATS:
        carrier = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}[type_]
        if operand.startswith("0d") and type_ == "f32":
            return bits.view(np.float64).astype(np.float32)
        return bits.astype(carrier).view(_FLOATS[type_])
    return _cut(bits, type_)


def _bits(values: Lanes, type_: str) -> Lanes:
    if type_ in _FLOATS:
        carrier = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}[type_]
        return values.astype(_FLOATS[type_]).view(carrier).astype(np.uint64)
    return _cut(
        values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values, f"u{_width(type_)}"
    )


def _arithmetic(compute: Callable[..., Lanes]) -> Callable[..., None]:
    def handler(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
        type_ = parts[-1]
        values = [_typed(machine, each, type_) for each in instruction.operands[1:]]
        with np.errstate(all="ignore"):
            machine.put(instruction.operands[0], _bits(compute(parts, *values), type_), active)

    return handler


def _multiply(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    type_ = parts[-1]
    values = [_typed(machine, each, type_) for each in instruction.operands[1:]]
    with np.errstate(all="ignore"):
        if "wide" in parts:
            wide = f"{type_[0]}{2 * _width(type_)}"
            result = values[0] * values[1]
            if parts[0] == "mad":
                result = result + _typed(machine, instruction.operands[3], wide)
            machine.put(instruction.operands[0], _bits(result, wide), active)
            return
        result = values[0] * values[1]
        if "hi" in parts:
            result = result >> type(result.flat[0])(_width(type_))
        if parts[0] in ("mad", "fma"):
            result = result + values[2]
    machine.put(instruction.operands[0], _bits(result, type_), active)


def _shift(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    type_ = parts[-1]
    value, by = _typed(machine, instruction.operands[1], type_), machine.value(instruction.operands[2])
    by = np.minimum(by & np.uint64(0xFFFFFFFF), np.uint64(63))
    width = _width(type_)
    if parts[0] == "shl":
        result = np.where(by >= width, 0, value.astype(np.uint64) << by)
    elif type_.startswith("s"):
        result = value >> by.astype(np.int64)
    else:
        result = np.where(by >= width, 0, value >> by)
    machine.put(instruction.operands[0], _bits(result, type_), active)


_COMPARISONS: dict[str, Callable[[Lanes, Lanes], Lanes]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "leu": lambda a, b: ~(a > b), "ltu": lambda a, b: ~(a >= b),
    "gtu": lambda a, b: ~(a <= b), "geu": lambda a, b: ~(a < b), "neu": np.not_equal,
}  # fmt: skip


def _compare(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    first, second = (_typed(machine, each, parts[-1]) for each in instruction.operands[1:3])
    machine.put(instruction.operands[0], _COMPARISONS[parts[1]](first, second).astype(np.uint64), active)


def _select(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    to, yes, no, predicate = instruction.operands
    chosen = np.where(machine.value(predicate) != 0, machine.value(yes), machine.value(no))
    machine.put(to, _cut(chosen, f"u{_width(parts[-1])}"), active)


def _move(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    to, source = instruction.operands
    if source.startswith("{"):
        low, high = (machine.value(each.strip()) for each in source.strip("{}").split(","))
        half = np.uint64(_width(parts[-1]) // 2)
        machine.put(to, low | high << half, active)
    elif to.startswith("{"):
        shift = _width(parts[-1]) // 2
        bits = machine.value(source)
        for number, each in enumerate(to.strip("{}").split(",")):
            machine.put(each.strip(), _cut(bits >> np.uint64(number * shift), f"u{shift}"), active)
    elif parts[-1] == "pred":
        machine.put(to, machine.value(source) & np.uint64(1), active)
    else:
        machine.put(to, _cut(machine.value(source), f"u{_width(parts[-1])}"), active)


def _convert(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    to, source = parts[-2:]
    value = _typed(machine, instruction.operands[1], source)
    if to in _FLOATS:
        value = value.astype(_FLOATS[to])
    elif source in _FLOATS:
        value = np.nan_to_num(np.rint(value) if "rni" in parts else np.trunc(value)).astype(np.int64)
    machine.put(instruction.operands[0], _bits(value, to), active)


def _load(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    if "param" in parts:
        name = instruction.operands[1].strip("[]")
        machine.put(instruction.operands[0], machine.parameters[name], active)
        return
    registers = [each.strip() for each in instruction.operands[0].strip("{}").split(",")]
    size = _width(parts[-1]) // 8
    addresses = machine.address(instruction.operands[1])
    if _in_shared(parts, addresses, active):
        machine.note("read", active, addresses, np.zeros(machine.count), (size * len(registers), instruction))
    for number, register in enumerate(registers):
        values = np.zeros(machine.count, np.uint64)
        for thread in machine.thread[active]:
            memory, at = machine.bytes_at(int(addresses[thread]) + number * size)
            values[thread] = int.from_bytes(memory[at : at + size].tobytes(), "little")
        machine.put(register, _bits(_cut(values, parts[-1]), "u64"), active)


def _in_shared(parts: list[str], addresses: Lanes, active: Lanes) -> bool:
    return "shared" in parts or ("global" not in parts and bool((addresses[active] < GLOBAL).all()))


def _store(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    sources = [each.strip() for each in instruction.operands[1].strip("{}").split(",")]
    size = _width(parts[-1]) // 8
    addresses = machine.address(instruction.operands[0])
    values = [_cut(machine.value(each), f"u{size * 8}") for each in sources]
    if _in_shared(parts, addresses, active):
        together = sum(
            (each.astype(object) << 64 * number for number, each in enumerate(values)),
            0 * machine.thread.astype(object),
        )
        marks = np.array([hash(each) for each in together], np.int64)
        machine.note("write", active, addresses, marks, (size * len(sources), instruction))
    for number, value in enumerate(values):
        for thread in machine.thread[active]:
            memory, at = machine.bytes_at(int(addresses[thread]) + number * size)
            memory[at : at + size] = np.frombuffer(int(value[thread]).to_bytes(8, "little")[:size], np.uint8)


def _atomic(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    to, place, *operands = instruction.operands
    type_ = parts[-1]
    size = _width(type_) // 8
    addresses = machine.address(place)
    if _in_shared(parts, addresses, active):
        machine.note("atomic", active, addresses, np.zeros(machine.count), (size, instruction))
    values = [_typed(machine, each, type_) for each in operands]
    for thread in machine.thread[active]:
        memory, at = machine.bytes_at(int(addresses[thread]))
        dtype = _FLOATS.get(type_) or np.dtype(f"{'i' if type_[0] == 's' else 'u'}{size}")
        old = memory[at : at + size].view(dtype)[0]
        given = [each[thread] for each in values]
        new = {
            "add": lambda o=old, g=given: o + type(o)(g[0]),
            "max": lambda o=old, g=given: max(o, type(o)(g[0])),
            "min": lambda o=old, g=given: min(o, type(o)(g[0])),
            "inc": lambda o=old, g=given: type(o)(0) if o >= g[0] else o + type(o)(1),
            "cas": lambda o=old, g=given: type(o)(g[1]) if o == g[0] else o,
            "exch": lambda o=old, g=given: type(o)(g[0]),
        }[next(each for each in parts if each in ("add", "max", "min", "inc", "cas", "exch"))]()
        memory[at : at + size] = np.array([new], dtype).view(np.uint8)
        bits = np.array([old], dtype).view(np.dtype(f"u{size}"))[0]
        machine.put(to, np.full(machine.count, bits, np.uint64), machine.thread == thread)


def _copy(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    if parts[1] != "async" or "bulk" in parts:
        raise NotSimulatedError(instruction.opcode)
    if parts[2] == "commit_group":
        for _, _, group in machine.pending:
            group[active & (group >= 0)] += 1
        return
    if parts[2] in ("wait_group", "wait_all"):
        left = int(instruction.operands[0]) if parts[2] == "wait_group" else 0
        for _, waited, group in machine.pending:
            waited |= active & (group > left)
        return
    to, source = machine.address(instruction.operands[0]), machine.address(instruction.operands[1])
    size = int(instruction.operands[2])
    machine.note("copy", active, to, np.zeros(machine.count), (size, instruction))
    machine.pending.append((machine.events[-1], ~active, np.where(active, 0, -1)))
    for thread in machine.thread[active]:
        here, at = machine.bytes_at(int(to[thread]))
        there, origin = machine.bytes_at(int(source[thread]))
        here[at : at + size] = there[origin : origin + size]


def _barrier(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    if parts[1] == "warp":
        machine.at[active] -= 1
        machine.warp_waiting |= active
        return
    if parts[1] == "red":
        votes = machine.value(instruction.operands[-1]) != 0
        _meet_with_votes(machine, instruction, active, votes)
        return
    if len(instruction.operands) > 1 or parts[1] == "arrive" or instruction.operands[0] != "0":
        raise NotSimulatedError(instruction.opcode)
    machine.at[active] -= 1
    machine.waiting |= active


def _meet_with_votes(machine: Machine, instruction: Instruction, active: Lanes, votes: Lanes) -> None:
    """`bar.red.or`: all threads are here at once, since the lowest line goes first; the result is put at once."""
    alive = machine.at < len(machine.program.instructions)
    if not (active == alive).all():
        raise NotSimulatedError("bar.red that threads reach one after the other")
    result = bool(votes[active].any())
    machine.put(instruction.operands[0], np.full(machine.count, result, np.uint64), active)
    machine.at[active] -= 1
    machine.waiting |= active


def _shuffle(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    to = instruction.operands[0].partition("|")
    value = machine.value(instruction.operands[1])
    by = machine.value(instruction.operands[2]).astype(np.int64)
    lane = machine.thread % 32
    source = {"down": lane + by, "up": lane - by, "bfly": lane ^ by, "idx": by}[parts[2]]
    inside = (source >= 0) & (source < 32)
    origin = np.where(inside, machine.thread - lane + source, machine.thread)
    origin = np.minimum(origin, machine.count - 1)
    machine.put(to[0], value[origin], active)
    if to[2]:
        machine.put(to[2], inside.astype(np.uint64), active)


def _vote(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    text = instruction.operands[1]
    votes = (machine.value(text.lstrip("!")) != 0) ^ text.startswith("!")
    votes &= active
    warp = machine.thread // 32
    if parts[2] != "ballot":
        raise NotSimulatedError(instruction.opcode)
    ballots = np.array(
        [
            sum(1 << (each % 32) for each in machine.thread[votes & (warp == w)])
            for w in range(warp.max() + 1)
        ],
        np.uint64,
    )
    machine.put(instruction.operands[0], ballots[warp], active)


def _branch(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    machine.at[active] = machine.program.labels[instruction.operands[0]]


def _exit(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    machine.at[active] = len(machine.program.instructions)


def _matrix(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    """`ldmatrix`: every lane gives the address of 16 bytes; which lane gets what does not matter here."""
    addresses = machine.address(instruction.operands[1])
    machine.note("read", active, addresses, np.zeros(machine.count), (16, instruction))
    for each in instruction.operands[0].strip("{}").split(","):
        machine.put(each.strip(), np.zeros(machine.count, np.uint64), active)


def _nothing(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    """Fences order, and nothing here needs an order."""


def _address_space(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    value = machine.value(instruction.operands[1])
    if "shared" in parts:
        value = value - np.uint64(WINDOW) if "to" in parts else value + np.uint64(WINDOW)
    machine.put(instruction.operands[0], value, active)


def _reversed_bits(parts: list[str], value: Lanes) -> Lanes:
    return np.array([int(f"{int(each):032b}"[::-1], 2) for each in value], np.uint64)


def _quotient(parts: list[str], a: Lanes, b: Lanes) -> Lanes:
    return a / b if a.dtype.kind == "f" else np.where(b == 0, 0, a // np.where(b == 0, 1, b))


def _inserted_bits(machine: Machine, instruction: Instruction, parts: list[str], active: Lanes) -> None:
    to, *operands = instruction.operands
    field_, base, at, size = (machine.value(each) for each in operands)
    mask = ((np.uint64(1) << size) - np.uint64(1)) << at
    machine.put(to, (base & ~mask) | ((field_ << at) & mask), active)


HANDLERS: dict[str, Callable[[Machine, Instruction, list[str], Lanes], None]] = {
    "add": _arithmetic(lambda parts, a, b: a + b),
    "sub": _arithmetic(lambda parts, a, b: a - b),
    "mul": _multiply, "mad": _multiply, "fma": _multiply,
    "div": _arithmetic(_quotient),
    "rem": _arithmetic(lambda parts, a, b: a - np.trunc(a / np.where(b == 0, 1, b)).astype(a.dtype) * b),
    "min": _arithmetic(lambda parts, a, b: np.minimum(a, b)),
    "max": _arithmetic(lambda parts, a, b: np.maximum(a, b)),
    "neg": _arithmetic(lambda parts, a: -a),
    "abs": _arithmetic(lambda parts, a: np.abs(a)),
    "not": _arithmetic(lambda parts, a: a ^ np.uint64(1) if parts[-1] == "pred" else ~a),
    "and": _arithmetic(lambda parts, a, b: a & b),
    "or": _arithmetic(lambda parts, a, b: a | b),
    "xor": _arithmetic(lambda parts, a, b: a ^ b),
    "popc": _arithmetic(lambda parts, a: np.bitwise_count(a).astype(np.uint64)),
    "brev": _arithmetic(_reversed_bits),
    "ex2": _arithmetic(lambda parts, a: np.exp2(a)),
    "rsqrt": _arithmetic(lambda parts, a: 1 / np.sqrt(a)),
    "sqrt": _arithmetic(lambda parts, a: np.sqrt(a)),
    "rcp": _arithmetic(lambda parts, a: 1 / a),
    "sin": _arithmetic(lambda parts, a: np.sin(a)),
    "cos": _arithmetic(lambda parts, a: np.cos(a)),
    "shl": _shift, "shr": _shift, "setp": _compare, "selp": _select, "mov": _move, "cvt": _convert,
    "cvta": _address_space, "ld": _load, "st": _store, "atom": _atomic, "red": _atomic, "cp": _copy,
    "bar": _barrier, "barrier": _barrier, "shfl": _shuffle, "vote": _vote, "bra": _branch, "ret": _exit,
    "exit": _exit, "ldmatrix": _matrix, "membar": _nothing, "fence": _nothing, "bfi": _inserted_bits,
}  # fmt: skip
