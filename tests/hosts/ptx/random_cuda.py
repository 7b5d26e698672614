"""Random CUDA kernels, and what brute force over their source says of them.

Addresses depend on the thread, its block's number, loop counters and one parameter, never on data, so that each
thread's accesses can be listed by walking the source alone. Arrays are volatile: the compiler keeps every access and
its order.

    python -m tests.hosts.ptx.random_cuda --kernels 1000 --seed 0

judges that many and prints each on which fencepost and brute force disagree. `--prover` leaves out the runs that look
for races, which hide what a proof gets wrong; `--unoptimized` compiles without optimization; `--wrapping` makes
kernels with arithmetic that wraps around, bits, fields, vectors, and what lanes have together; `--signed` those with
indexes that have negative parts besides.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.checking import with_deep_stack
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
from fencepost.hosts.ptx.expressions.local_memory import followed
from fencepost.hosts.ptx.launches.launch import Given, launch_of
from fencepost.hosts.ptx.proof.prove import Prover
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.inline_calls import inlined
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.ir.source import Source
from tests.hosts.ptx import random_expressions as wide

WARP = 32
PARAMETERS = (0, 1, 2, 3, 5, 8, 33)
"""Values of `n` that a proof for every value is tried with."""
BLOCKS = (0, 1, 3)
"""Numbers of blocks, of a kernel that reads its own."""
VECTORS = {"int2": 8, "int4": 16}
"""Types that are loaded and stored as a whole, and their bytes."""
GET = "template <class T> __device__ __noinline__ T get(volatile T *p, int i) { return p[i]; }"
PUT = "template <class T> __device__ __noinline__ void put(volatile T *p, int i, int v) { p[i] = v; }"
SECONDS_FOR_A_PROOF = 5.0


@dataclass(frozen=True)
class Shared:
    """An array in shared memory."""

    name: str
    type: str
    size: int
    """Of an element, in bytes."""
    count: int


@dataclass(frozen=True)
class Access:
    """A read, write or atomic addition at an index; the index is taken modulo the array's length."""

    kind: str
    array: Shared
    index: str
    value: str = "0"
    view: Shared | None = None
    """The same bytes as elements of another type."""
    called: bool = False
    """Whether a function does it."""
    stride: int = 0
    """Of a field of a structure: the bytes of the structure; it is seen through the view,"""
    field: int = 0
    """at this place in it."""
    inside: bool = False
    """Whether the index is inside of the array as it is."""

    @property
    def elements(self) -> Shared:
        """What the index counts."""
        return self.view or self.array

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        cell = f"{self.array.name}[({self.index}) % {self.array.count}]"
        if self.inside:
            cell = f"{self.array.name}[{self.index}]"
        elif self.view is not None:
            view = self.view
            cell = f"((volatile {view.type} *){self.array.name})[({self.index}) % {view.count}]"
            if self.stride:
                place = f"({self.index}) % {view.count} * {self.stride} + {self.field}"
                cell = f"*(volatile {view.type} *)((volatile char *){self.array.name} + {place})"
        if self.called:
            place = f"&{self.array.name}[0], ({self.index}) % {self.array.count}"
            call = f"sum += get({place})" if self.kind == "read" else f"put({place}, {self.value})"
            yield f"{indent}{call};"
        elif self.elements.type in VECTORS:
            name = "load" if self.kind == "read" else "store"
            given = "" if self.kind == "read" else f", {self.value}"
            yield f"{indent}{name}_{self.elements.type}((volatile int *)&{cell}{given});"
        elif self.kind == "read":
            yield f"{indent}sum += {cell};"
        elif self.kind == "write":
            yield f"{indent}{cell} = {self.value};"
        else:
            yield f"{indent}atomicAdd((int *)&{cell}, 1);"


@dataclass(frozen=True)
class Barrier:
    """`__syncthreads()` or `__syncwarp()`."""

    warp: bool

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}{'__syncwarp' if self.warp else '__syncthreads'}();"


@dataclass(frozen=True)
class Loop:
    """for (int name = start; while_; name = next) { … }"""

    name: str
    start: str
    while_: str
    next: str
    body: tuple[Statement, ...]
    type: str = "int"
    again: bool = False
    """do { … } while (while_), with the step before the test."""

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        if self.again:
            yield f"{indent}{{ {self.type} {self.name} = {self.start}; do {{"
            for each in self.body:
                yield from each.lines(indent + "    ")
            yield f"{indent}    {self.name} = {self.next};"
            yield f"{indent}}} while ({self.while_}); }}"
            return
        yield f"{indent}for ({self.type} {self.name} = {self.start}; {self.while_}; {self.name} = {self.next}) {{"
        for each in self.body:
            yield from each.lines(indent + "    ")
        yield f"{indent}}}"


@dataclass(frozen=True)
class If:
    """if (condition) { … } else { … }"""

    condition: str
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}if ({self.condition}) {{"
        for each in self.then:
            yield from each.lines(indent + "    ")
        if self.otherwise:
            yield f"{indent}}} else {{"
            for each in self.otherwise:
                yield from each.lines(indent + "    ")
        yield f"{indent}}}"


@dataclass(frozen=True)
class Assign:
    """A variable of the thread gets a new value."""

    name: str
    value: str

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}{self.name} = {self.value};"


@dataclass(frozen=True)
class Lanes:
    """A variable of the thread gets what lanes of its warp have together; all of them come by."""

    name: str
    what: str
    """`shfl`: the value of the lane `lane`. `ballot`, `any` and `all`: of the condition `value`. `match`: the lanes
    that have the same value."""
    value: str
    lane: str = "0"

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        calls = {
            "shfl": f"__shfl_sync(~0u, {self.value}, {self.lane})",
            "match": f"__match_any_sync(~0u, {self.value})",
        }
        yield f"{indent}{self.name} = {calls.get(self.what, f'__{self.what}_sync(~0u, {self.value})')};"

    def found(
        self, names: Mapping[str, int], row: int, value: Callable[[str, Mapping[str, int]], int]
    ) -> int:
        """What a thread gets; values depend on the number of the thread and what all threads share."""
        first = names["t"] // WARP * WARP
        warp = [{**names, "t": t, "x": t % row, "y": t // row} for t in range(first, first + WARP)]
        values = [value(self.value, each) & wide.WORD for each in warp]
        if self.what == "shfl":
            return values[value(self.lane, names) % WARP]
        held = [each != 0 for each in values]
        if self.what == "match":
            held = [each == values[names["t"] % WARP] for each in values]
        if self.what in ("any", "all"):
            return int(any(held) if self.what == "any" else all(held))
        return sum(1 << lane for lane in range(WARP) if held[lane])


@dataclass(frozen=True)
class Return:
    """The thread ends."""

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}return;"


@dataclass(frozen=True)
class Break:
    """The innermost loop is left."""

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}break;"


@dataclass(frozen=True)
class Continue:
    """The innermost loop goes on with its next iteration."""

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}continue;"


@dataclass(frozen=True)
class Switch:
    """switch (value) { case 0: … break; case 1: … break; default: … }"""

    value: str
    cases: tuple[tuple[Statement, ...], ...]

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}switch ({self.value}) {{"
        for number, body in enumerate(self.cases):
            yield f"{indent}case {number}:" if number + 1 < len(self.cases) else f"{indent}default:"
            for each in body:
                yield from each.lines(indent + "    ")
            yield f"{indent}    break;"
        yield f"{indent}}}"

    def chosen(self, value: int) -> tuple[Statement, ...]:
        """What is done for a value."""
        return self.cases[value if 0 <= value < len(self.cases) else -1]


@dataclass(frozen=True)
class Swap:
    """The pointers `p` and `q` to the two arrays change places."""

    def lines(self, indent: str) -> Iterator[str]:
        """The statement."""
        yield f"{indent}{{ auto h = p; p = q; q = h; }}"


Statement = Access | Barrier | Loop | If | Assign | Lanes | Return | Break | Continue | Switch | Swap


@dataclass(frozen=True)
class RandomKernel:
    """A kernel, its block, and its arrays."""

    block: tuple[int, int]
    arrays: tuple[Shared, ...]
    body: tuple[Statement, ...]
    carved: tuple[str, ...] = ()
    """Where each array begins in dynamic shared memory, in bytes; else all are static."""

    @property
    def has_pointers(self) -> bool:
        """Whether there are two arrays alike, which pointers `p` and `q` can stand for."""
        return len(self.arrays) == 2 and self.arrays[0].type == self.arrays[1].type

    @property
    def reads_its_number(self) -> bool:
        """Whether it depends on which block it is."""
        return re.search(r"\bc\b", "".join(line for each in self.body for line in each.lines(""))) is not None

    @property
    def text(self) -> str:
        """The CUDA source."""
        lines = [wide.CUDA, GET, PUT, "__global__ void k(int *out, int n) {"]
        if self.carved:
            lines.append("    extern __shared__ __align__(16) volatile char raw[];")
            for array, start in zip(self.arrays, self.carved, strict=True):
                kind = f"volatile {array.type} *"
                lines.append(f"    {kind}{array.name} = ({kind})(raw + {start});")
        else:
            aligned = "    __shared__ __align__(16) volatile"
            lines += [f"{aligned} {array.type} {array.name}[{array.count}];" for array in self.arrays]
        lines += [
            "    int x = threadIdx.x, y = threadIdx.y;",
            f"    int t = y * {self.block[0]} + x, sum = 0, b = 0, c = blockIdx.x;",
            "    unsigned m = 1, g = n;",
        ]
        if self.has_pointers:
            lines.append(f"    volatile {self.arrays[0].type} *p = s0, *q = s1;")
            lines.append(f"    volatile {self.arrays[0].type} *d[2] = {{s0, s1}};")
        for each in self.body:
            lines += each.lines("    ")
        lines += ["    out[blockIdx.x * 1024 + t] = sum;", "}", ""]
        return "\n".join(lines)


# ---- brute force


@lru_cache(maxsize=4096)
def _code(expression: str) -> CodeType:
    text = expression.replace("/", "//").replace("&&", " and ")
    text = re.sub(r"\b(\d+)u\b", r"\1", text)
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


# ---- generation


class Maker:
    """Makes one random kernel."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.block = self.random.choice([(64, 1), (128, 1), (96, 1), (32, 1), (16, 8), (32, 4), (8, 8)])
        self.threads = self.block[0] * self.block[1]
        types = [("int", 4), ("int", 4), ("short", 2), ("unsigned char", 1), ("double", 8)]
        self.arrays = tuple(
            Shared(f"s{number}", *self.random.choice(types), self.random.choice([64, 128, 256, 100, 320]))
            for number in range(self.random.choice([1, 1, 2]))
        )
        if len(self.arrays) == 2 and self.random.random() < 0.6:
            other = self.arrays[1]
            self.arrays = (Shared("s0", other.type, other.size, self.arrays[0].count), other)
        self.pointers: tuple[Shared, ...] = ()
        if len(self.arrays) == 2 and self.arrays[0].type == self.arrays[1].type:
            first, count = self.arrays[0], min(each.count for each in self.arrays)
            names = ("p", "q", "d[b % 2]", "d[t % 2]", "d[n % 2]")
            self.pointers = tuple(Shared(name, first.type, first.size, count) for name in names)
        self.loops: list[str] = []
        self.numbered = 0
        self.barriers = self.random.choice([0.2, 0.4, 0.7, 1.0, 1.0])
        self.tame = self.random.random()
        """How often an index is simply the thread's own."""

    def kernel(self) -> RandomKernel:
        """The kernel."""
        body: list[Statement] = []
        if self.random.random() < 0.15:
            limit = self.random.choice([self.threads // 2, self.threads - 1, self.threads - WARP, "n"])
            body.append(If(f"t >= {limit}", (Return(),)))
        body += self.statements(self.random.randint(3, 6), 0, True)
        return RandomKernel(self.block, self.arrays, tuple(body))

    def statements(self, count: int, depth: int, uniform: bool) -> list[Statement]:
        """A sequence; barriers are put only where all threads come by, with rare exceptions."""
        found: list[Statement] = []
        for _ in range(count):
            chance = self.random.random()
            if chance < 0.12 and depth < 2:
                found.append(self.loop(depth, uniform))
            elif chance < 0.24 and depth < 3:
                found.append(self.condition(depth, uniform))
            elif chance < 0.29:
                found.append(Assign("b", self.random.choice(["b ^ 1", "b ^ 1", "(b + 1) % 3", "1 - b % 2"])))
            elif chance < 0.34 and self.pointers and uniform:
                found.append(Swap())
            elif chance < 0.37 and self.loops:
                left = self.random.choice(["n > 3", f"{self.loops[-1]} > 2", f"{self.loops[-1]} > n"])
                leave: tuple[Statement, ...] = (Break(), Continue())
                found.append(If(left, (self.random.choice(leave),)))
            elif chance < 0.39 and depth < 3:
                found.append(self.switch(depth, uniform))
            elif chance < 0.42:
                found.append(Assign("m", self.random.choice(["m << 1", "m << 1", "m << 2", "m * 3"])))
            elif chance < 0.43:
                found.append(If(self.random.choice(["t > n", "n == 3", "t > 40", "c == 3"]), (Return(),)))
            else:
                found.append(self.access())
            if (uniform or self.random.random() < 0.02) and self.random.random() < self.barriers:
                found.append(Barrier(uniform and self.random.random() < 0.2))
        return found

    def loop(self, depth: int, uniform: bool) -> Loop:
        """A counted loop, a halved or a doubled stride; sometimes with a bound of the thread's own."""
        self.numbered += 1
        name = f"i{self.numbered}"
        start, while_, following = self.random.choice(
            [
                ("0", f"{name} < 4", f"{name} + 1"),
                ("0", f"{name} < n", f"{name} + 1"),
                ("1", f"{name} <= n", f"{name} + 2"),
                (f"{self.threads // 2}", f"{name} > 0", f"{name} >> 1"),
                (f"{self.threads // 2}", f"{name} > 16", f"{name} / 2"),
                ("1", f"{name} < {self.threads}", f"{name} * 2"),
                ("t", f"{name} < 256", f"{name} + {self.threads}"),
                ("0", f"{name} < t % 3", f"{name} + 1"),
            ]
        )
        self.loops.append(name)
        body = self.statements(self.random.randint(1, 3), depth + 1, uniform and "t" not in start + while_)
        self.loops.pop()
        return Loop(name, start, while_, following, tuple(body))

    def condition(self, depth: int, uniform: bool) -> If:
        """A condition of the thread, or of what all threads share."""
        if self.random.random() < 0.3:
            choices = ["n > 2", "n % 2 == 0", "n == 3", "n == 8", "b == 0", "m > 2", "m == 0", "c == 3"]
            choices += [f"{name} > 1" for name in self.loops]
            text, stays = self.random.choice(choices), uniform
        else:
            half = self.threads // 2
            choices = [f"t < {half}", "t == 0", f"t < {WARP}", "t % 2 == 0", "x < 4", f"t >= {half}", "t < n"]
            choices += [f"t < {name}" for name in self.loops] + [
                f"t % (2 * {name} + 1) == 0" for name in self.loops
            ]
            text, stays = self.random.choice(choices), False
        then = self.statements(self.random.randint(1, 2), depth + 1, stays)
        other: list[Statement] = []
        if self.random.random() < 0.3 and not _has_barrier(tuple(then)):
            # A compiler may merge two equal barriers of both sides, and the source would not tell.
            other = [each for each in self.statements(1, depth + 1, False) if not isinstance(each, Barrier)]
        return If(text, tuple(then), tuple(other))

    def switch(self, depth: int, uniform: bool) -> Switch:
        """Three or four ways, chosen by the thread or by what all share."""
        shared = self.random.random() < 0.5
        choices = ["n", "b", "n % 4", "c"] if shared else ["t % 4", "t / 16", "x % 3"]
        ways = [self.statements(1, depth + 1, uniform and shared) for _ in range(self.random.randint(3, 4))]
        # Calls of equal barriers in several ways may be merged, and the source would not tell.
        kept = [each if number == 0 else _without_barriers(each) for number, each in enumerate(ways)]
        return Switch(self.random.choice(choices), tuple(map(tuple, kept)))

    def access(self) -> Access:
        """A read, a write of something that differs between threads or not, or an atomic addition."""
        array = self.random.choice(
            self.pointers if self.pointers and self.random.random() < 0.7 else self.arrays
        )
        kind = self.random.choices(["read", "write", "atomic"], [5, 5, 1 if array.type == "int" else 0])[0]
        value = self.random.choice(["t", "t", "t + 1", "7", "n", "x", *self.loops])
        view = None
        if kind != "atomic" and self.random.random() < 0.1:
            type_, size = self.random.choice(
                [("short", 2), ("unsigned char", 1), ("int", 4), ("long long", 8)]
            )
            view = Shared(array.name, type_, size, array.count * array.size // size)
        called = view is None and kind != "atomic" and self.random.random() < 0.1
        return Access(kind, array, self.index(), value if kind == "write" else "0", view, called)

    def index(self) -> str:
        """An index: mostly one element per thread, moved, swapped or turned around."""
        if self.random.random() < self.tame:
            return "t"
        half, most = self.threads // 2, self.threads - 1
        choices = [
            "t",
            "t",
            "t",
            "t + 1",
            f"t + {WARP}",
            f"t ^ {self.random.choice([1, 2, 16, 32])}",
            f"{most} - t",
            "2 * t",
            "2 * t + 1",
            "t / 2",
            f"t % {half}",
            "0",
            "5",
            f"t + b * {self.threads}",
            f"t + (b ^ 1) * {self.threads}",
            "t + n",
            f"x * {self.block[1]} + y",
            "(t & 15) * 4 + (t >> 4)",
            "3 * t",
            "t / 3",
            "t % 3 * 40 + t / 3",
            "33 * y + x",
            "x * 33 + y",
            f"(t + n) % {self.threads}",
            "t + c",
            "t * (n == 3 ? 2 : 1)",
            "t + (c == 3 ? 32 : 0)",
            f"{4 * self.threads} - t",
            "(m == 0 ? 0 : t)",
            "t + m % 64",
            "t % (n + 1)",
            "t * n / (n + 1)",
        ]
        for name in self.loops:
            choices += [
                f"t + {name}",
                f"t + {name}",
                f"{name} * {self.threads} + t",
                f"{name}",
                f"t ^ {name}",
                f"{name} % 2 * {self.threads} + t",
                f"({name} + 1) % 3 * {self.threads} + t",
                f"({name} + {WARP} * {name}) % 96 + t",
                f"t * {name}",
                f"2 * {name} * t + {name}",
            ]
        return self.random.choice(choices)


def _without_barriers(body: list[Statement]) -> list[Statement]:
    return [each for each in body if not _has_barrier((each,))]


def _has_barrier(body: tuple[Statement, ...]) -> bool:
    for each in body:
        if isinstance(each, Barrier):
            return True
        if isinstance(each, Loop) and _has_barrier(each.body):
            return True
        if isinstance(each, If) and (_has_barrier(each.then) or _has_barrier(each.otherwise)):
            return True
        if isinstance(each, Switch) and any(map(_has_barrier, each.cases)):
            return True
    return False


class WideMaker(Maker):
    """Makes kernels with arithmetic that wraps around, bits, fields, vectors, lanes, and one dynamic array."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.barriers = self.random.choice([0.5, 0.8, 1.0, 1.0])

    def kernel(self) -> RandomKernel:
        """The kernel."""
        found = super().kernel()
        if _returns(found.body):
            # What lanes have together is not known if some have ended.
            found = replace(found, body=tuple(each for each in found.body if not isinstance(each, Lanes)))
        if self.random.random() < 0.3:
            sizes = [(each.size * each.count + 15) // 16 * 16 for each in self.arrays]
            second = [f"{sizes[0]}", f"{sizes[0]} + 64 * n", "64 * n", f"{sizes[0] // 2}", f"{sizes[0] - 16}"]
            return replace(found, carved=("0", self.random.choice([second[0], *second]))[: len(sizes)])
        return found

    def statements(self, count: int, depth: int, uniform: bool) -> list[Statement]:
        """A sequence, with assignments of `g` and a loop in between."""
        found = super().statements(count, depth, uniform)
        chance = self.random.random()
        at = self.random.randint(0, len(found))
        if chance < 0.4:
            found.insert(at, Assign("g", self.random.choice(wide.STEPS)))
        elif chance < 0.5 and depth == 0:
            found.insert(at, self.lanes())
        elif chance < 0.65 and depth < 2:
            found.insert(at, self.wrapping_loop(depth, uniform))
        elif chance < 0.75 and depth < 3:
            held = self.random.choice([*wide.CONDITIONS, self.seldom()])
            found.insert(at, If(held, (self.access(),)))
        return found

    def lanes(self) -> Lanes:
        """What lanes have together."""
        what = self.random.choice(["shfl", "ballot", "any", "all", "match"])
        value = self.random.choice(
            ["t", "t / 2", "t * n", "x", "t % 3", "n", "t & 1", "u8(t * 37)", "(t > 40 ? 1 : 0)"]
        )
        return Lanes("g", what, value, self.random.choice(["0", "5", "n % 32", "t / 2 % 32", "31 - t % 32"]))

    def wrapping_loop(self, depth: int, uniform: bool) -> Loop:
        """A loop whose counter wraps around, or is reduced in another way."""
        self.numbered += 1
        name = f"i{self.numbered}"
        type_, bits, start, while_, following = self.random.choice(wide.LOOPS)
        self.loops.append(name)
        body = self.statements(self.random.randint(1, 2), depth + 1, uniform)
        self.loops.pop()
        again = self.random.random() < 0.2 and not _says("continue", tuple(body)) and while_ != "{} != 3 * n"
        stepped = following.format(name)
        if bits == 32 and "<<" in following:
            stepped = f"u32({stepped})"
        return Loop(name, start, while_.format(name), stepped, tuple(body), type_, again)

    def index(self) -> str:
        """An index, mostly with arithmetic of its own."""
        chance = self.random.random()
        if chance < 0.4:
            return f"pick({self.seldom()}, {self.random.choice(['0', '0', 't ^ 32', 't / 2', 't + 1'])}, t)"
        if chance < 0.7:
            return "t"
        return super().index() if chance < 0.85 else self.random.choice(wide.indexes(self.threads))

    def seldom(self) -> str:
        """A condition that hardly ever holds."""
        number = self.random.choice([0, 1, 2, 3, 4, 5, 7, 8, 12, 31, 64, 100, 181, 255, 905, 1024, 65535])
        value = self.random.choice(
            [*wide.SOMETIMES, *[f"{name} * {name}" for name in self.loops], *self.loops]
        )
        return f"({value}) {self.random.choice(['==', '==', '>'])} {number}"

    def access(self) -> Access:
        """An access; some to a field of a structure, or to several elements at once."""
        found = super().access()
        chance = self.random.random()
        if found.kind == "atomic" or found.view is not None or found.called or chance > 0.25:
            return found
        size = found.array.size * found.array.count
        if chance < 0.12:
            type_ = self.random.choice([*VECTORS])
            view = Shared(found.array.name, type_, VECTORS[type_], size // VECTORS[type_])
            return replace(found, view=view)
        stride = self.random.choice([4, 8, 12])
        type_, bytes_, at = self.random.choice(
            [("short", 2, 0), ("short", 2, 2), ("int", 4, 0), ("unsigned char", 1, 3)]
        )
        view = Shared(found.array.name, type_, bytes_, size // stride)
        return replace(found, view=view, stride=stride, field=at)


class SignedMaker(WideMaker):
    """Makes kernels whose indexes have parts that are negative for some threads."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.barriers = 1.0

    def access(self) -> Access:
        """An access; some to an element that is found by signed arithmetic, most to the thread's own."""
        found = super().access()
        if self.random.random() < 0.6 and found.array.count >= self.threads:
            return Access(found.kind, found.array, "t", found.value, inside=True)
        indexes = wide.signed_indexes(self.threads, self.loops)
        fitting = [index for index, count in indexes if count <= found.array.count]
        if found.kind == "atomic" or not fitting:
            return found
        return Access(found.kind, found.array, self.random.choice(fitting), found.value, inside=True)


def _returns(body: tuple[Statement, ...]) -> bool:
    return _says("return", body)


def _says(word: str, body: tuple[Statement, ...]) -> bool:
    return any(word in line for each in body for line in each.lines(""))


def random_kernel(seed: int, wrapping: bool = False, signed: bool = False) -> RandomKernel:
    """The kernel of a seed."""
    makers: dict[tuple[bool, bool], type[Maker]] = {(False, False): Maker, (True, False): WideMaker}
    return makers.get((wrapping, signed), SignedMaker)(seed).kernel()


# ---- comparison


@dataclass(frozen=True)
class How:
    """How a kernel is judged."""

    optimized: bool = True
    wrapping: bool = False
    """With arithmetic that wraps around, bits, fields, vectors and lanes."""
    signed: bool = False
    """With indexes that have negative parts as well."""
    runs: bool = True
    """Without runs that look for races, what a proof gets wrong is not hidden by them."""


def judged(kernel: RandomKernel, n: int | None, how: How = How()) -> tuple[KernelVerdict, list[Expected]]:
    """The verdict, and the truth: for `n`, or else for all of `PARAMETERS`."""
    ptx = compile_cuda(Source("random.cu", kernel.text), Compilation(optimized=how.optimized)).ptx
    params = {} if n is None else {"1": n}
    if how.runs:
        (verdict,) = check(ptx, block=(*kernel.block, 1), params=params)
    else:
        verdict = with_deep_stack(lambda: proof_alone(ptx, (*kernel.block, 1), params))
    truths = [
        expected(kernel, each, number)
        for each in (PARAMETERS if n is None else (n,))
        if _is_meant(verdict, each)
        for number in (BLOCKS if kernel.reads_its_number else (0,))
    ]
    if verdict.verdict == "race" and not any(each.wrong for each in truths):
        # It may take other numbers than these: those that the race was seen with.
        for finding in verdict.findings:
            given = {name.rpartition("_")[2]: value for name, value in finding.values.items()}
            truths.append(expected(kernel, given.get("1", n or 0), given.get("ctaid.x", 0)))
    return verdict, truths


def _is_meant(verdict: KernelVerdict, n: int) -> bool:
    """Whether a verdict that may name a condition is about a value of the parameter."""
    least = re.search(r" >= (\d+)", verdict.holds_for)
    power = " is a power of two" not in verdict.holds_for or n & (n - 1) == 0 < n
    return power and (least is None or n >= int(least[1]))


def proof_alone(ptx: str, block: tuple[int, int, int], params: Mapping[str, int]) -> KernelVerdict:
    """What the proof says, without runs."""
    module = parse(ptx)
    (routine,) = module.kernels
    launch = launch_of(routine, Given(block, params))
    routine = followed(module, inlined(module, routine), launch)
    proof = Prover(module, routine, Flow(routine), launch, SECONDS_FOR_A_PROOF).prove()
    return KernelVerdict(routine.name, "proven" if proof.complete else "undecided", (), (), "", 0, 0)


def disagreement(kernel: RandomKernel, n: int | None) -> str | None:
    """What fencepost says that brute force does not bear out; None if they agree."""
    return wrong(*judged(kernel, n))


def wrong(verdict: KernelVerdict, truths: list[Expected]) -> str | None:
    """What is wrong with a verdict."""
    is_wrong = any(each.wrong for each in truths)
    if verdict.verdict == "proven" and is_wrong:
        return "proven, but there is a race or a divergent barrier"
    if verdict.verdict == "race" and not is_wrong:
        return "a race is reported, but there is none"
    return None


def campaign(kernels: int, seed: int, say: Callable[[str], None], how: How = How()) -> int:
    """Judges many kernels; how many of them were wrong."""
    counts: dict[str, int] = defaultdict(int)
    failures = 0
    for number in range(seed, seed + kernels):
        kernel = random_kernel(number, how.wrapping, how.signed)
        n = random.Random(number).choice([None, None, *PARAMETERS])
        verdict, truths = judged(kernel, n, how)
        bad = any(each.wrong for each in truths)
        counts[f"{'racy' if bad else 'right'}, {verdict.verdict}"] += 1
        problem = wrong(verdict, truths)
        if problem is not None:
            failures += 1
            say(f"seed {number}, n = {n}: {problem}\n{kernel.block}\n{kernel.text}")
        if number % 50 == 49:
            say(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    say(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--prover", action="store_true")
    parser.add_argument("--unoptimized", action="store_true")
    parser.add_argument("--wrapping", action="store_true")
    parser.add_argument("--signed", action="store_true")
    options = parser.parse_args()
    how = How(not options.unoptimized, options.wrapping, options.signed, not options.prover)
    raise SystemExit(
        1 if campaign(options.kernels, options.seed, lambda text: print(text, flush=True), how) else 0
    )
