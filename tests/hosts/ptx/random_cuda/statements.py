"""Random CUDA kernels as data: arrays, accesses, barriers, loops and conditions, and the text that they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.hosts.ptx.random_cuda import expressions as wide

WARP = 32
VECTORS = {"int2": 8, "int4": 16}
"""Types that are loaded and stored as a whole, and their bytes."""
GET = "template <class T> __device__ __noinline__ T get(volatile T *p, int i) { return p[i]; }"
PUT = "template <class T> __device__ __noinline__ void put(volatile T *p, int i, int v) { p[i] = v; }"


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
