"""One block of a kernel, run on the CPU thread by thread: which accesses meet in one interval between barriers.

    python bench/ptx/simulate.py [--only NAME]

A second opinion on the corpus that shares no code with the judge: PTX is executed with the arguments of the header,
and every access to shared memory is recorded. It shows that a planted race is still there behind the optimizer, and
that a right kernel has none with these inputs. All threads at the lowest line go first, so that they come together
again. Numbered barriers, mbarriers, bulk copies and tensor cores are not executed.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from device_check import _argument as argument
from numpy.typing import NDArray
from ptx_corpus import Entry, Variant, corpus

Lanes = NDArray[Any]
"""A value for each thread."""
WINDOW = 1 << 40
"""Where shared memory begins among generic addresses."""
GLOBAL = 1 << 44
STEPS = 2_000_000
ENOUGH = 20
"""Conflicts of an interval after which no more are looked for."""
_LABEL = re.compile(r"^([$\w]+):$")
_SPECIAL = re.compile(r"%(?:n?tid|n?ctaid)\.[xyz]|%laneid|%warpid")
_REGISTER = re.compile(r"%\w+(?:\.[xyz])?")
_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


class NotSimulatedError(Exception):
    """Something that is not executed here."""


@dataclass
class Instruction:
    """One instruction with its lines."""

    opcode: str
    operands: list[str]
    guard: str
    line: int
    written: frozenset[int]
    """Lines of the source, callers included."""


@dataclass
class Program:
    """A kernel's body."""

    instructions: list[Instruction]
    labels: dict[str, int]
    variables: dict[str, int]
    """Where shared variables begin."""
    size: int


@dataclass
class Event:
    """Accesses of some threads by one instruction."""

    kind: str
    threads: Lanes
    addresses: Lanes
    size: int
    values: Lanes
    instruction: Instruction
    warp_epochs: Lanes


def read(text: str) -> Program:
    """The first kernel of a text."""
    body: list[Instruction] = []
    labels: dict[str, int] = {}
    variables: dict[str, int] = {}
    size = 0
    written: frozenset[int] = frozenset()
    inside = False
    user = re.findall(r'^\s*\.file\s+(\d+) "[^"]*\.cu"', text, re.MULTILINE)
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.partition("//")[0].strip()
        if match := re.match(r"(?:\.extern )?\.shared \.align (\d+) \.\w+ ([\w$]+)(?:\[(\d*)\])?", line):
            align = int(match[1])
            if match[2] not in variables:
                size = (size + align - 1) // align * align
                variables[match[2]] = size
                size += int(match[3] or "0") if "[" in line else 8
        inside = inside or ".entry" in line
        if match := re.match(r"\.loc\s+(\d+) (\d+) \d+(.*)", line):
            calls = re.findall(r"inlined_at (\d+) (\d+)", match[3])
            written = frozenset(int(at) for file, at in [(match[1], match[2]), *calls] if file in user)
            continue
        if match := _LABEL.match(line):
            labels[match[1]] = len(body)
            continue
        if not inside or line.startswith((".", ")")) or not line:
            continue
        for statement in re.sub(r"^\{(?!%)|(?<!\w)\}$", "", line).split(";"):
            found = statement.strip().strip("{}").strip() if "%" not in statement else statement.strip()
            found = re.sub(r"^\{\s*(?=[.a-z])", "", found)
            if found and not found.startswith((".", ")")) and re.match(r"[@a-z]", found):
                body.append(_instruction(found, number, written))
    return Program(body, labels, variables, max(size, 1))


def _instruction(text: str, number: int, written: frozenset[int]) -> Instruction:
    guard = ""
    if text.startswith("@"):
        guard, _, text = text.partition(" ")
    opcode, _, rest = text.strip().partition(" ")
    operands = [each.strip() for each in re.split(r",(?![^{\[]*[}\]])", rest)] if rest else []
    return Instruction(opcode, operands, guard[1:], number, written)


@dataclass
class Machine:
    """A block of threads at work."""

    program: Program
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    parameters: dict[str, Lanes]
    memory: dict[int, NDArray[np.uint8]]
    registers: dict[str, Lanes] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    pending: list[Any] = field(default_factory=list)
    races: dict[tuple[int, int], str] = field(default_factory=dict)
    sites: dict[int, Instruction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        x, y, z = self.block
        self.count = x * y * z
        self.thread = np.arange(self.count)
        self.shared = np.zeros(self.program.size + 65536, np.uint8)
        self.at = np.zeros(self.count, np.int64)
        self.waiting = np.zeros(self.count, bool)
        self.warp_waiting = np.zeros(self.count, bool)
        self.votes = np.zeros(self.count, bool)
        self.warp_epoch = np.zeros(self.count, np.int64)
        tid = {"x": self.thread % x, "y": self.thread // x % y, "z": self.thread // (x * y)}
        size = dict(zip("xyz", self.block, strict=True)), dict(zip("xyz", self.grid, strict=True))
        for axis in "xyz":
            self.registers[f"%tid.{axis}"] = tid[axis].astype(np.uint64)
            self.registers[f"%ntid.{axis}"] = np.full(self.count, size[0][axis], np.uint64)
            self.registers[f"%ctaid.{axis}"] = np.zeros(self.count, np.uint64)
            self.registers[f"%nctaid.{axis}"] = np.full(self.count, size[1][axis], np.uint64)
        self.registers["%laneid"] = (self.thread % 32).astype(np.uint64)

    def run(self) -> None:
        """Execute until all threads have exited."""
        end = len(self.program.instructions)
        for _ in range(STEPS):
            alive = self.at < end
            if not alive.any():
                break
            ready = alive & ~self.waiting & ~self.warp_waiting
            if not ready.any():
                self.release(alive)
                continue
            lowest = self.at[ready].min()
            self.step(self.program.instructions[lowest], ready & (self.at == lowest))
        else:
            raise NotSimulatedError("too many steps")
        self.settle()

    def release(self, alive: Lanes) -> None:
        """Warps that have met go on; if there are none, the block does."""
        if self.warp_waiting.any():
            self.warp_epoch[self.warp_waiting] += 1
            self.at[self.warp_waiting] += 1
            self.warp_waiting[:] = False
            return
        self.settle()
        if len(set(self.at[self.waiting & alive].tolist())) > 1:
            self.races.setdefault((0, 0), "divergence")
        self.at[self.waiting] += 1
        self.waiting[:] = False

    def step(self, instruction: Instruction, mask: Lanes) -> None:
        """Execute one instruction for the threads of `mask`."""
        self.at[mask] += 1
        active = mask
        if instruction.guard:
            negated = instruction.guard.startswith("!")
            predicate = self.registers[instruction.guard.lstrip("!")].astype(bool)
            active = mask & (predicate ^ negated)
        if active.any():
            execute(self, instruction, active)

    # -------------------------------------------------------- values

    def value(self, operand: str, type_: str = "b64") -> Lanes:
        """An operand as bits."""
        if operand.startswith(("0f", "0d")):
            return np.full(self.count, int(operand[2:], 16), np.uint64)
        if operand in self.registers:
            return self.registers[operand]
        if operand in self.program.variables:
            return np.full(self.count, self.program.variables[operand], np.uint64)
        if re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)U?", operand):
            return np.full(self.count, int(operand.rstrip("U"), 0) & (2**64 - 1), np.uint64)
        raise NotSimulatedError(f"operand {operand}")

    def put(self, register: str, bits: Lanes, active: Lanes) -> None:
        """Set a register where threads are active."""
        if register == "_":
            return
        old = self.registers.get(register)
        old = np.zeros(self.count, np.uint64) if old is None else old
        self.registers[register] = np.where(active, bits.astype(np.uint64), old)

    def address(self, operand: str) -> Lanes:
        """`[%rd1+16]` as numbers."""
        base, _, offset = operand.strip("[]").partition("+")
        return self.value(base.strip()) + np.uint64(int(offset or "0", 0) & (2**64 - 1))

    def bytes_at(self, address: int) -> tuple[NDArray[np.uint8], int]:
        """The memory that an address lies in, and where in it."""
        if address >= GLOBAL:
            return self.memory[address >> 32], address & 0xFFFFFFFF
        return self.shared, address & 0xFFFFFFFF if address < WINDOW else address - WINDOW

    def note(
        self, kind: str, active: Lanes, addresses: Lanes, values: Lanes, what: tuple[int, Instruction]
    ) -> None:
        """Record accesses to shared memory."""
        size, instruction = what
        self.sites[instruction.line] = instruction
        found = self.thread[active]
        place = addresses[active] & np.uint64(0xFFFFFFFF)
        epochs = self.warp_epoch[active]
        self.events.append(Event(kind, found, place, size, values[active], instruction, epochs))

    # -------------------------------------------------------- races

    def settle(self) -> None:
        """Look at what was accessed since the last barrier; copies that nobody waited for go on."""
        if self.events:
            for first, second, severity in meetings(self.events):
                key = (min(first, second), max(first, second))
                if self.races.get(key) != "error":
                    self.races[key] = severity
        self.events = [event for event, waited, _ in self.pending if not waited.all()]
        self.pending = [each for each in self.pending if not each[1].all()]


def meetings(events: list[Event]) -> list[tuple[int, int, str]]:
    """The pairs of lines whose accesses conflict."""
    columns: dict[str, list[Lanes]] = defaultdict(list)
    for number, event in enumerate(events):
        for offset in range(event.size):
            columns["byte"].append(event.addresses.astype(np.int64) + offset)
            columns["thread"].append(event.threads)
            columns["event"].append(np.full(len(event.threads), number))
            columns["value"].append(event.values)
            columns["epoch"].append(event.warp_epochs)
    flat = {name: np.concatenate(parts) for name, parts in columns.items()}
    writes = np.array([event.kind != "read" for event in events])[flat["event"]]
    written = np.unique(flat["byte"][writes])
    if not len(written):
        return []
    kept = np.isin(flat["byte"], written)
    flat = {name: part[kept] for name, part in flat.items()}
    order = np.argsort(flat["byte"], kind="stable")
    flat = {name: part[order] for name, part in flat.items()}
    starts = np.searchsorted(flat["byte"], written)
    found: dict[tuple[int, int], str] = {}
    for begin, end in zip(starts, [*starts[1:], len(flat["byte"])], strict=True):
        threads = flat["thread"][begin:end]
        if (threads == threads[0]).all() and not any(event.kind == "copy" for event in events):
            continue
        _pairs(events, {name: part[begin:end] for name, part in flat.items()}, found)
        if sum(severity == "error" for severity in found.values()) > ENOUGH:
            break
    return [(first, second, severity) for (first, second), severity in found.items()]


def _pairs(events: list[Event], at: dict[str, Lanes], found: dict[tuple[int, int], str]) -> None:
    """The conflicts at one byte."""
    rows = sorted(
        set(zip(*(at[name].tolist() for name in ("thread", "event", "value", "epoch")), strict=True))
    )
    for index, (thread, event, value, epoch) in enumerate(rows):
        one = events[event]
        for other_thread, other_event, other_value, other_epoch in rows[index + 1 :]:
            two = events[other_event]
            kinds = {one.kind, two.kind}
            if kinds <= {"read"} or kinds == {"atomic"}:
                continue
            if thread == other_thread and ("copy" not in kinds or one.kind == two.kind):
                continue
            if kinds <= {"write"} and value == other_value:
                continue
            same_warp = thread // 32 == other_thread // 32
            if same_warp and epoch != other_epoch and "copy" not in kinds:
                continue
            mild = (same_warp and one is not two and "copy" not in kinds) or "atomic" in kinds
            key = (one.instruction.line, two.instruction.line)
            if found.get(key) != "error":
                found[key] = "warning" if mild else "error"


# ---------------------------------------------------------------- instructions


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


# ---------------------------------------------------------------- the corpus


def simulate(text: str, entry: Entry) -> Machine:
    """One block of a kernel with the arguments of its header."""
    program = read(text)
    parameters: dict[str, Lanes] = {}
    memory: dict[int, NDArray[np.uint8]] = {}
    count = entry.block[0] * entry.block[1] * entry.block[2]
    for number, each in enumerate(entry.arguments):
        found = argument(each, number, np)
        if found.ndim:
            place = (GLOBAL >> 32) + number
            # Blocks of a small grid may read a little past the end; zeros are there.
            memory[place] = np.concatenate([found.view(np.uint8), np.zeros(1 << 16, np.uint8)])
            bits = place << 32
        else:
            bits = int(found.view(np.dtype(f"u{found.itemsize}")))
        parameters[f"{entry.name}_param_{number}"] = np.full(count, bits, np.uint64)
    machine = Machine(program, entry.block, entry.grid, parameters, memory)
    machine.run()
    return machine


def opinion(entry: Entry, variant: Variant, text: str) -> tuple[str, str]:
    """What a run shows of a variant: nothing, warning, error or divergence, and where."""
    try:
        machine = simulate(text, entry)
    except NotSimulatedError as error:
        return "not simulated", str(error)
    worst = next(
        (kind for kind in ("divergence", "error", "warning") if kind in machine.races.values()), "nothing"
    )
    pairs = [
        (sorted(machine.sites[first].written), sorted(machine.sites[second].written))
        for (first, second), kind in machine.races.items()
        if kind == worst and first
    ]
    outside = [pair for pair in pairs if not all(set(lines) & variant.lines for lines in pair)]
    return worst, f"{len(pairs)} pairs, {pairs[:3]}" + (f" not marked: {outside[:4]}" if outside else "")


def main(argv: list[str] | None = None) -> int:
    """Run the corpus and say where a run shows something else than the header."""
    from run import ptx_of

    parser = argparse.ArgumentParser(
        description="The corpus of CUDA kernels, one block of each run on the CPU."
    )
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    options = parser.parse_args(argv)
    wanted = {"proven": "nothing", "undecided": "nothing", "race": "error"}
    differing = 0
    for entry in corpus(options.only):
        for variant in entry.variants:
            said, where = opinion(entry, variant, ptx_of(entry, variant))
            expected = wanted.get(variant.expectation, variant.expectation)
            differs = said not in (expected, "not simulated")
            differing += differs
            mark = "DIFFERS" if differs else "not marked" if "not marked" in where else ""
            print(
                f"{entry.name:22} {variant.name:18} {variant.expectation:10} {said:14} {mark:10} {where[:160]}",
                flush=True,
            )
    print(f"{differing} differ from their headers")
    return 0 if not differing else 1


if __name__ == "__main__":
    raise SystemExit(main())
