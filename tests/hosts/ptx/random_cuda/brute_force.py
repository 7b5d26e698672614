"""What brute force over the source of a random CUDA kernel says of it: every access of every thread is listed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType

from tests.hosts.ptx.random_cuda import expressions as wide
from tests.hosts.ptx.random_cuda.statements import (
    WARP,
    Access,
    Assign,
    Barrier,
    Continue,
    If,
    Lanes,
    Loop,
    RandomKernel,
    Return,
    Statement,
    Swap,
    Switch,
)


@lru_cache(maxsize=4096)
def _code(expression: str) -> CodeType:
    text = expression.replace("/", "//").replace("&&", " and ")
    text = re.sub(r"\b(0x[0-9a-f]+|\d+)u\b", r"\1", text)
    text = re.sub(r"\(([^()?]+) \? ([^()?]+) : ([^()?]+)\)", r"((\2) if (\1) else (\3))", text)
    return compile(text, "<index>", "eval")


def value_of(expression: str, names: Mapping[str, int]) -> int:
    """The value of an expression."""
    return int(eval(_code(expression), dict(wide.FUNCTIONS), dict(names)))


class Ended(Exception):
    """The thread has returned."""


class Left(Exception):
    """The thread has left a loop."""


class Skipped(Exception):
    """The thread goes on with the next iteration."""


@dataclass(frozen=True)
class Touched:
    """One access of one thread."""

    thread: int
    kind: str
    epoch: int
    """How many warp barriers the thread had passed."""
    value: int
    size: int


@dataclass
class Walk:
    """What one thread does."""

    thread: int
    names: dict[str, int]
    barriers: list[int] = field(default_factory=list)
    touched: list[tuple[int, str, int, int, Touched]] = field(default_factory=list)
    """Interval, array, first byte, number of bytes, and the access."""
    epoch: int = 0
    starts: tuple[str, ...] = ()
    """Where arrays begin that are carved out of one."""
    row: int = 1
    """Threads in a row of the block."""

    def run(self, body: tuple[Statement, ...]) -> None:
        """Walks through statements."""
        for each in body:
            if isinstance(each, Access):
                self._touch(each)
            elif isinstance(each, Barrier):
                if each.warp:
                    self.epoch += 1
                else:
                    self.barriers.append(id(each))
            elif isinstance(each, Loop):
                self._loop(each)
            elif isinstance(each, If):
                self.run(each.then if self._value(each.condition) else each.otherwise)
            elif isinstance(each, Switch):
                self.run(each.chosen(self._value(each.value)))
            elif isinstance(each, Assign):
                self.names[each.name] = self._value(each.value) & 0xFFFFFFFF
            elif isinstance(each, Lanes):
                self.names[each.name] = each.found(self.names, self.row, value_of)
            elif isinstance(each, Continue):
                raise Skipped
            elif isinstance(each, Swap):
                self.names["swapped"] ^= 1
            else:
                raise Ended if isinstance(each, Return) else Left

    def _value(self, expression: str) -> int:
        return value_of(expression, self.names)

    def _loop(self, loop: Loop) -> None:
        begun = False
        self.names[loop.name] = self._value(loop.start)
        while (loop.again and not begun) or self._value(loop.while_):
            begun = True
            try:
                self.run(loop.body)
            except Skipped:
                pass
            except Left:
                break
            self.names[loop.name] = self._value(loop.next)

    def _touch(self, access: Access) -> None:
        array = access.elements
        first = self._value(access.index) % array.count * (access.stride or array.size) + access.field
        value = self._value(access.value) & ((1 << (8 * array.size)) - 1)
        seen = Touched(self.thread, access.kind, self.epoch, value, array.size)
        name = access.array.name
        if name.startswith("d["):
            name = f"s{self._value(name[2:-1])}"
        elif name in "pq":
            name = f"s{(name == 'q') ^ self.names['swapped']}"
        if self.starts:
            first += self._value(self.starts[int(name[1:])])
            name = "raw"
        self.touched.append((len(self.barriers), name, first, array.size, seen))


@dataclass(frozen=True)
class Expected:
    """What brute force says for one value of the parameter."""

    races: bool
    divergent: bool

    @property
    def wrong(self) -> bool:
        """Whether anything is wrong with the kernel."""
        return self.races or self.divergent


def expected(kernel: RandomKernel, n: int, number: int = 0) -> Expected:
    """Walks every thread and compares all pairs that touch one element in one interval."""
    walks = []
    for thread in range(kernel.block[0] * kernel.block[1]):
        x, y = thread % kernel.block[0], thread // kernel.block[0]
        names = {"t": thread, "x": x, "y": y, "n": n, "c": number, "b": 0, "m": 1, "g": n, "swapped": 0}
        walk = Walk(thread, names, starts=kernel.carved, row=kernel.block[0])
        try:
            walk.run(kernel.body)
        except Ended:
            # It takes no part in later barriers.
            names["ended"] = 1
        walks.append(walk)
    staying = {tuple(walk.barriers) for walk in walks if "ended" not in walk.names}
    divergent = len(staying) > 1 or any(
        "ended" in walk.names and not _is_start_of(walk.barriers, staying) for walk in walks
    )
    cells: dict[object, list[Touched]] = defaultdict(list)
    for walk in walks:
        for interval, array, first, size, seen in walk.touched:
            for byte in range(size):
                cells[(interval, array, first + byte)].append(seen)
    return Expected(any(map(_race, cells.values())), divergent)


def _is_start_of(barriers: list[int], staying: set[tuple[int, ...]]) -> bool:
    return all(tuple(barriers) == each[: len(barriers)] for each in staying)


def _race(touched: list[Touched]) -> bool:
    """Whether two threads touch an element with nothing that orders them. Every load is volatile, and does not race
    with atomics."""
    writes = [each for each in touched if each.kind != "read"]
    for first in writes:
        for second in touched:
            if first.thread == second.thread or first.kind == second.kind == "atomic":
                continue
            same = first.value == second.value and first.size == second.size
            if first.kind == second.kind == "write" and same:
                continue
            same_warp = first.thread // WARP == second.thread // WARP
            if same_warp and first.epoch != second.epoch:
                continue
            if {first.kind, second.kind} != {"atomic", "read"}:
                return True
    return False
