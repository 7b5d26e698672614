"""Random kernels in which threads work out places together: `if (keep) list[sum_of_flags_before] = x;`.

Some lack a barrier, or have another error. Brute force runs them on random data, thread by thread.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType

WARP = 32
ROOM = 128
"""Elements of the list before its first: places may be negative."""
Asked = tuple[str, int, int]
"""What a thread waits for: the kind, a value, and by how many lanes it is moved."""


@dataclass(frozen=True)
class Line:
    """A statement: `x = ...`, `x = s[...]`, `s[...] = ...`, or one of the words below.

    `barrier`; `return`; `x = ballot(...)`; `x = up(..., step)`."""

    text: str


@dataclass(frozen=True)
class Nest:
    """`if (...)` or `for (name = start; condition; next)` around statements."""

    head: str
    body: tuple[Line | Nest, ...]


Body = Sequence[Line | Nest]
LOAD = re.compile(r"(\w+) = (\w)\[(.*)\]")
STORE = re.compile(r"(\w)\[(.*?)\] = (.*)")
LANES = re.compile(r"(\w+) = (ballot|up)\(([^,]*)(?:, (.*))?\)")


def cuda(body: Body, indent: str = "    ") -> Iterator[str]:
    """The statements in CUDA."""
    for each in body:
        if isinstance(each, Nest):
            yield f"{indent}{each.head} {{"
            yield from cuda(each.body, indent + "    ")
            yield f"{indent}}}"
        elif each.text == "barrier":
            yield f"{indent}__syncthreads();"
        else:
            text = each.text.replace("= ballot(", "= __ballot_sync(~0u, ")
            yield f"{indent}{text.replace('= up(', '= __shfl_up_sync(~0u, ')};"


@lru_cache(maxsize=4096)
def _code(text: str) -> CodeType:
    return compile(text.replace("&&", " and ").replace("/", "//"), "<expression>", "eval")


FUNCTIONS = {
    "pick": lambda held, yes, no: yes if held else no,
    "__popc": lambda value: int(value).bit_count(),
}


@dataclass
class Thread:
    """One thread on its way."""

    number: int
    names: dict[str, int]
    block: Block

    def value(self, text: str) -> int:
        """What an expression is now."""
        return int(eval(_code(text), dict(FUNCTIONS), self.names))

    def run(self, body: Body) -> Generator[Asked, int, bool]:
        """Goes through statements; whether it has returned."""
        for each in body:
            if isinstance(each, Line):
                if each.text == "return":
                    return True
                yield from self._line(each.text)
            elif each.head.startswith("if"):
                if self.value(each.head[4:-1]) and (yield from self.run(each.body)):
                    return True
            else:
                start, condition, following = each.head[5:-1].split("; ")
                self._assign(start.removeprefix("int "))
                while self.value(condition):
                    if (yield from self.run(each.body)):
                        return True
                    self._assign(following)
        return False

    def _assign(self, text: str) -> None:
        name, _, value = text.partition(" = ")
        self.names[name] = self.value(value)

    def _line(self, text: str) -> Generator[Asked, int, None]:
        if text == "barrier":
            yield ("barrier", 0, 0)
        elif found := LANES.fullmatch(text):
            self.names[found[1]] = yield (found[2], self.value(found[3]), self.value(found[4] or "0"))
        elif found := LOAD.fullmatch(text):
            self.names[found[1]] = self.block.load(self.number, found[2], self.value(found[3]))
        elif found := STORE.fullmatch(text):
            self.block.store(self.number, found[1], self.value(found[2]), self.value(found[3]))
        else:
            self._assign(text)


class Raced(Exception):
    """Two threads are at one element."""


@dataclass
class Block:
    """A block that runs on some data."""

    input: Sequence[int]
    memory: dict[tuple[str, int], int] = field(default_factory=dict)
    writers: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """Since the last barrier: who has written an element last, and what."""
    readers: dict[tuple[str, int], set[int]] = field(default_factory=dict)

    def load(self, thread: int, array: str, index: int) -> int:
        """What an element holds."""
        if array == "g":
            return self.input[index]
        if self.writers.get((array, index), (thread, 0))[0] != thread:
            raise Raced
        self.readers.setdefault((array, index), set()).add(thread)
        return self.memory.get((array, index), 12345)

    def store(self, thread: int, array: str, index: int, value: int) -> None:
        """Changes an element."""
        cell = (array, index)
        writer = self.writers.get(cell, (thread, value))
        if (writer[0] != thread and writer[1] != value) or self.readers.get(cell, set()) - {thread}:
            raise Raced
        self.writers[cell] = (thread, value)
        self.memory[cell] = value

    def run(self, kernel: Compaction, n: int) -> bool:
        """Whether two threads are at one element; False as well if they part before a barrier."""
        waiting: dict[int, tuple[Generator[Asked, int, bool], Asked]] = {}
        for number in range(kernel.threads):
            names = dict.fromkeys("fvxyabe", 0) | {"t": number, "n": n}
            names |= {"lane": number % WARP, "warp": number // WARP}
            self._on(waiting, number, Thread(number, names, self).run(kernel.body), None)
        while waiting:
            kinds = {asked[0] for _, asked in waiting.values()}
            if kinds == {"barrier"}:
                self.writers.clear()
                self.readers.clear()
                for number, (run, _) in sorted(waiting.items()):
                    self._on(waiting, number, run, 0)
            elif not self._warps(waiting, kernel.threads):
                return False
        return False

    def _on(
        self,
        waiting: dict[int, tuple[Generator[Asked, int, bool], Asked]],
        number: int,
        run: Generator[Asked, int, bool],
        answer: int | None,
    ) -> None:
        waiting.pop(number, None)
        with contextlib.suppress(StopIteration):
            waiting[number] = (run, next(run) if answer is None else run.send(answer))

    def _warps(self, waiting: dict[int, tuple[Generator[Asked, int, bool], Asked]], threads: int) -> bool:
        """Answers what lanes ask each other, where all of a warp do so."""
        moved = False
        for first in range(0, threads, WARP):
            lanes = {each % WARP: waiting[each] for each in waiting if each // WARP * WARP == first}
            kinds = {asked[0] for _, asked in lanes.values()}
            if len(kinds) != 1 or kinds == {"barrier"}:
                continue
            moved = True
            ballot = sum(1 << lane for lane, (_, asked) in lanes.items() if asked[1])
            for lane, (run, (kind, value, step)) in lanes.items():
                source = lanes.get(lane - step) if lane >= step else None
                known = value if lane < step else 54321 if source is None else source[1][1]
                self._on(waiting, first + lane, run, ballot if kind == "ballot" else known)
        return moved


@dataclass(frozen=True)
class Compaction:
    """A kernel; `g` is its input."""

    threads: int
    body: tuple[Line | Nest, ...]

    @property
    def text(self) -> str:
        """The CUDA source."""
        lines = "\n".join(cuda(self.body))
        return f"""#define pick(held, yes, no) ((held) ? (yes) : (no))
__global__ void k(const int *g, int *out, int n) {{
    __shared__ int s[128], c[128], r[512];
    int t = threadIdx.x, lane = t & 31, warp = t / 32, f = 0, v = 0, x = 0, y = 0, a = 0, b = 0, e = 0;
{lines}
    __syncthreads();
    out[t] = r[t] + r[t + 128] + r[t + 256] + lane + warp + a + b + e + x + y + v + f;
}}
"""

    def races(self, seed: int) -> bool:
        """Whether brute force shows a race on some random data."""
        chance = random.Random(seed)
        for _ in range(8):
            likely = chance.choice([0.2, 0.5, 0.5, 0.9])
            data = [
                chance.randint(1, 31) if chance.random() < likely else chance.randint(-9, 0)
                for _ in range(1024)
            ]
            try:
                Block(data).run(self, chance.choice([0, 1, 2, 3, 3]))
            except Raced:
                return True
        return False


class Maker:
    """Makes one kernel; some have an error."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.threads = self.random.choice([64, 64, 64, 48, 96])
        self.errors = self.random.choice([0.0, 0.0, 0.05, 0.1, 0.25])

    def one(self, right: str, *wrong: str) -> str:
        """The right text, or seldom a wrong one."""
        return self.random.choice(wrong) if self.random.random() < self.errors else right

    def barrier(self) -> list[Line | Nest]:
        """A barrier; seldom none, or one that is not always passed."""
        if self.random.random() >= self.errors:
            return [Line("barrier")]
        return [Nest("if (n > 1)", (Line("barrier"),))] if self.random.random() < 0.3 else []

    def kernel(self) -> Compaction:
        """The kernel."""
        shape = self.random.choice(["once", "once", "tiles", "counted", "again", "exit"])
        if shape in ("tiles", "counted"):
            count = "n" if shape == "tiles" else "2"
            body = [*self.flags("e * 96 + t"), *self.scan(), *self.store(), *self.barrier()]
            return Compaction(self.threads, (Nest(f"for (int e = 0; e < {count}; e = e + 1)", tuple(body)),))
        body = [*self.flags("t"), *self.scan(), *self.store()]
        if shape == "again":
            body += [*self.between(), *self.store()]
        if shape == "exit":
            at = self.random.randint(0, len(body))
            held = self.random.choice([f"t >= {self.threads - 16}", "v == 3", "t >= 32", "f == 0"])
            body.insert(at, Nest(f"if ({held})", (*self.random.choice([[], self.store()]), Line("return"))))
        return Compaction(self.threads, tuple(body))

    def between(self) -> list[Line | Nest]:
        """What parts two stores, or does not."""
        barrier = Line("barrier")
        loop = "for (int a = 0; a < n; a = a + 1)"
        return self.random.choice(
            [
                [barrier],
                [],
                [Nest("if (n > 1)", (barrier,))],
                [Nest(loop, (barrier,))],
                [Nest(loop, (*self.store(), *self.barrier(), *self.store(), *self.barrier()))],
                [Nest(loop, (*self.barrier(), *self.store()))],
                [*self.barrier(), *self.scan(), *self.barrier()],
                [*self.barrier(), *self.flags("t + 96"), *self.scan()],
            ]
        )

    def flags(self, index: str) -> list[Line | Nest]:
        """What each thread keeps."""
        flag = self.random.choice(["pick(v > 0, 1, 0)", "pick(v > 0 && t < 40, 1, 0)", "(v >> 1) & 1"])
        return [Line(f"v = g[{index}]"), Line("f = " + self.one(flag, "v & 3", "pick(v > 2, 2, 0)", "v"))]

    def scan(self) -> list[Line | Nest]:
        """The sum of flags up to and with the thread's own in x."""
        ways = [self.doubling, self.two_buffers, self.each_alone, self.by_one, self.shuffles, self.ballots]
        return self.random.choice(ways)()

    def doubling(self) -> list[Line | Nest]:
        """Hillis and Steele's scan in one array."""
        step = (
            Line("y = 0"),
            Nest(self.one("if (t >= a)", "if (t > a)"), (Line("y = s[t - a]"),)),
            *self.barrier(),
            Line("x = s[t]"),
            Line("s[t] = x + y"),
            *self.barrier(),
        )
        following = self.one("a * 2", "a * 3")
        scan = Nest(f"for (int a = 1; a < {self.threads}; a = {following})", step)
        return [Line("s[t] = f"), *self.barrier(), scan, Line("x = s[t]")]

    def two_buffers(self) -> list[Line | Nest]:
        """The same, from one half of an array to the other."""
        half = self.threads if self.threads <= 64 else 96
        if half == 96:
            return self.doubling()
        step = (
            Line("y = 0"),
            Nest("if (t >= a)", (Line(f"y = s[b * {half} + t - a]"),)),
            Line(f"x = s[b * {half} + t]"),
            Line(self.one("b = 1 - b", "b = 0")),
            Line(f"s[b * {half} + t] = x + y"),
            *self.barrier(),
        )
        scan = Nest(f"for (int a = 1; a < {self.threads}; a = a * 2)", step)
        return [Line("b = 0"), Line("s[t] = f"), *self.barrier(), scan, Line(f"x = s[b * {half} + t]")]

    def each_alone(self) -> list[Line | Nest]:
        """Every thread adds up the flags before it."""
        loop = Nest(
            f"for (int a = 0; {self.one('a <= t', 'a < t', 'a < 40')}; a = a + 1)",
            (Line("y = s[a]"), Line("x = x + y")),
        )
        return [Line("s[t] = f"), *self.barrier(), Line("x = 0"), loop]

    def by_one(self) -> list[Line | Nest]:
        """One thread adds up all flags."""
        loop = Nest(
            f"for (int a = 0; a < {self.threads}; a = a + 1)",
            (Line("y = s[a]"), Line("x = x + y"), Line(self.one("c[a] = x", "c[a] = x - y"))),
        )
        serial = Nest("if (t == 0)", (Line("x = 0"), loop))
        return [Line("s[t] = f"), *self.barrier(), serial, *self.barrier(), Line("x = c[t]")]

    def over_warps(self) -> list[Line | Nest]:
        """To the sum in a warp, those of the warps before it."""
        loop = Nest(
            f"for (int a = 0; {self.one('a < warp', 'a < warp - 1', 'a <= warp')}; a = a + 1)",
            (Line("y = c[a]"), Line("x = x + y")),
        )
        return [*self.barrier(), loop]

    def shuffles(self) -> list[Line | Nest]:
        """A scan in each warp by shuffles, then over warps."""
        step = (
            Line("y = up(x, a)"),
            Nest(self.one("if (lane >= a)", "if (lane > a)"), (Line("x = x + y"),)),
        )
        last = min(WARP, self.threads) - 1
        return [
            Line("x = f"),
            Nest("for (int a = 1; a < 32; a = a * 2)", step),
            Nest(f"if (lane == {self.one(str(last), '30')})", (Line("c[warp] = x"),)),
            *self.over_warps(),
        ]

    def ballots(self) -> list[Line | Nest]:
        """How many lanes before keep theirs, then over warps."""
        before = self.one("((2 << lane) - 1)", "((1 << lane) - 1)", "((2 << lane) - 2)")
        return [
            Line("y = ballot(f > 0)"),
            Line(f"x = __popc(y & {before})"),
            Nest("if (lane == 0)", (Line(self.one("c[warp] = __popc(y)", "c[warp] = __popc(y & 255)")),)),
            *self.over_warps(),
        ]

    def store(self) -> list[Line | Nest]:
        """A store to the place of a thread."""
        place = f"r[{ROOM} + "
        return self.random.choice(
            [
                [
                    Nest(
                        self.one("if (f > 0)", "if (v > 5)", "if (t > 5)"),
                        (Line(f"{place}x - f] = v * 100 + t"),),
                    )
                ],
                [Nest(self.one("if (f > 0)", "if (v > 3)"), (Line(f"{place}x - 1] = t"),))],
                [Nest(self.one("if (f == 0)", "if (v < 3)"), (Line(f"{place}t - x] = t + 7"),))],
                [Line(f"{place}pick({self.one('f > 0', 'v > 1')}, x - 1, 32 + t - x)] = t")],
                [Line(f"{place}pick(f > 0, x - 1, {self.threads - 1} + x - t)] = t")],
                [Line(f"{place}x + t] = t")],
            ]
        )
