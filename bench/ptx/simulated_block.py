"""A block of a kernel on the CPU: its threads, registers and memory, and the accesses that meet."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    execute: Callable[[Machine, Instruction, Lanes], None]
    """Carries out one instruction for some of the threads."""
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
            self.execute(self, instruction, active)

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
