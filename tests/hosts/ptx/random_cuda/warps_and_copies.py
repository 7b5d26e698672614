"""Random kernels with barriers of parts of a warp, asynchronous copies, reductions at barriers and blocks of three
dimensions, and every order between their accesses: each thread is walked alone, and barriers pass clocks on.

Of two threads, one knows how far another has come if a barrier has told it, itself or through others. A copy is done
at the wait that completes it, and comes before nothing until then.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.hosts.ptx.random_cuda.brute_force import Ended, value_of

WARP = 32
BLOCKS = ((64, 1, 1), (64, 1, 1), (32, 2, 1), (8, 4, 2), (96, 1, 1), (16, 2, 3), (40, 1, 1), (4, 4, 4))
WORDS = 512
"""Of each array, which is of `int`."""
TYPES = {4: "int", 8: "int2", 16: "int4"}
FOREVER = 1 << 30
WRITE, COPY = 1, 3
"""Kinds of accesses."""
MASKS = {
    "0xffffffffu": "1",
    "0x0000ffffu": "lane < 16",
    "0xffff0000u": "lane >= 16",
    "0x55555555u": "lane % 2 == 0",
    "(lane < 16 ? 0x0000ffffu : 0xffff0000u)": "1",
    "(lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau)": "1",
    "(lane < 8 ? 0x000000ffu : 0xffffff00u)": "1",
    "(0xfu << lane / 4 * 4)": "1",
}
"""Masks of a barrier of a warp, with who comes to it."""
COPIES = 'asm volatile("cp.async.ca.shared.global [%0], [%1], {size};" :: "r"({to}), "l"(in + t) : "memory");'


@dataclass(frozen=True)
class Event:
    """What a thread does: `read`, `write`, `atomic` and `copy` touch bytes; `commit`, `wait`; `block` and `warp`
    barriers."""

    does: str
    what: int = 0
    """The first byte, the groups that a wait leaves in flight, the barrier, or the mask."""
    size: int = 0
    value: int = 0


@dataclass
class Walk:
    """One thread on its way: the values of its variables, and what it does."""

    names: dict[str, int]
    events: list[Event] = field(default_factory=list)

    def value(self, expression: str) -> int:
        """The value of an expression."""
        return value_of(expression, self.names)


@dataclass(frozen=True)
class Touch:
    """A load, a store, an atomic addition or a copy: `size` bytes at an index that counts such elements."""

    kind: str
    array: int
    index: str
    size: int = 4
    value: str = "0"

    def lines(self) -> Iterator[str]:
        """The statement."""
        place = f"({self.index}) % {4 * WORDS // self.size} * {self.size // 4}"
        cell = f"s{self.array}[{place}]"
        if self.kind == "copy":
            yield COPIES.format(size=self.size, to=f"(unsigned)__cvta_generic_to_shared((int *)&{cell})")
        elif self.kind == "atomic":
            yield f"atomicAdd((int *)&{cell}, 1);"
        elif self.size == 4:
            yield f"sum += {cell};" if self.kind == "read" else f"{cell} = {self.value};"
        else:
            call = "load" if self.kind == "read" else "store"
            value = "" if self.kind == "read" else f", {self.value}"
            yield f"{call}_{TYPES[self.size]}((volatile int *)&{cell}{value});"

    def walk(self, walk: Walk) -> None:
        """What a thread does."""
        first = walk.value(self.index) % (4 * WORDS // self.size) * self.size
        walk.events.append(
            Event(self.kind, 4 * WORDS * self.array + first, self.size, walk.value(self.value))
        )


@dataclass(frozen=True)
class Act:
    """A statement that synchronizes."""

    text: str
    does: str
    what: str = "0"

    def lines(self) -> Iterator[str]:
        """The statement."""
        yield self.text

    def walk(self, walk: Walk) -> None:
        """What a thread does."""
        walk.events.append(Event(self.does, id(self) if self.does == "block" else walk.value(self.what)))


@dataclass(frozen=True)
class Assign:
    """A variable of the thread, `g`, gets what a lane has."""

    text: str
    value: str

    def lines(self) -> Iterator[str]:
        """The statement."""
        yield self.text

    def walk(self, walk: Walk) -> None:
        """What a thread does."""
        walk.names["g"] = walk.value(self.value)


@dataclass(frozen=True)
class Part:
    """if (…) { … }, for (…) { … } from 0 on, or a return."""

    kind: str
    condition: str
    body: tuple[Statement, ...] = ()
    name: str = ""

    def lines(self) -> Iterator[str]:
        """The statement."""
        if self.kind == "return":
            yield f"if ({self.condition}) return;"
            return
        head = f"if ({self.condition})"
        if self.kind == "loop":
            head = f"for (int {self.name} = 0; {self.name} < {self.condition}; {self.name}++)"
        yield head + " {"
        for each in self.body:
            yield from ("    " + line for line in each.lines())
        yield "}"

    def walk(self, walk: Walk) -> None:
        """What a thread does."""
        if self.kind == "loop":
            for number in range(walk.value(self.condition)):
                walk.names[self.name] = number
                for each in self.body:
                    each.walk(walk)
        elif walk.value(self.condition):
            if self.kind == "return":
                raise Ended
            for each in self.body:
                each.walk(walk)


Statement = Touch | Act | Assign | Part


@dataclass(frozen=True)
class Done:
    """An access that has happened: when it began and was complete, and how far others had come for its thread."""

    event: Event
    thread: int
    begins: int
    ends: int
    known: np.ndarray


class Stuck(Exception):
    """Threads wait for each other, or part at a barrier."""


class Block:
    """All threads of a block on their way through what they do."""

    def __init__(self, walks: Sequence[Walk]) -> None:
        self.walks = walks
        self.at = [0] * len(walks)
        self.known = np.zeros((len(walks), len(walks)), dtype=np.int64)
        self.done: list[Done] = []
        self.flying: list[list[tuple[int, int]]] = [[] for _ in walks]
        """By thread, the numbers of its accesses that are copies in flight, and the groups closed since."""

    def run(self) -> None:
        """To the end; `Stuck` if there is none."""
        while self._live():
            for thread in self._live():
                self._advance(thread)
            if self._live() and not self._released():
                raise Stuck

    def _live(self) -> list[int]:
        return [thread for thread, walk in enumerate(self.walks) if self.at[thread] < len(walk.events)]

    def _next(self, thread: int) -> Event:
        return self.walks[thread].events[self.at[thread]]

    def _advance(self, thread: int) -> None:
        while self.at[thread] < len(self.walks[thread].events):
            event = self._next(thread)
            if event.does in ("block", "warp"):
                return
            now = self.at[thread] + 1
            self.known[thread, thread] = now
            if event.does == "commit":
                self.flying[thread] = [(number, closed + 1) for number, closed in self.flying[thread]]
            elif event.does == "wait":
                self._wait(thread, event.what, now)
            else:
                ends = FOREVER if event.does == "copy" else now
                if event.does == "copy":
                    self.flying[thread].append((len(self.done), 0))
                self.done.append(Done(event, thread, now, ends, self.known[thread].copy()))
            self.at[thread] += 1

    def _wait(self, thread: int, left: int, now: int) -> None:
        """All that is complete when so many groups are in flight; -1 waits for what is in no group, too."""
        kept = []
        for number, closed in self.flying[thread]:
            if closed > left:
                before = self.done[number]
                self.done[number] = Done(before.event, thread, before.begins, now, before.known)
            else:
                kept.append((number, closed))
        self.flying[thread] = kept

    def _released(self) -> bool:
        """Whether some threads could go on behind a barrier."""
        live = self._live()
        if all(self._next(each).does == "block" for each in live):
            if len({self._next(each).what for each in live}) > 1:
                raise Stuck
            self._meet(live)
            return True
        for thread in live:
            event = self._next(thread)
            if event.does != "warp":
                continue
            lanes = [
                each for each in live if each // WARP == thread // WARP and event.what >> each % WARP & 1
            ]
            if all(self._next(each) == event for each in lanes):
                self._meet(lanes)
                return True
        return False

    def _meet(self, threads: list[int]) -> None:
        for each in threads:
            self.known[each, each] = self.at[each] + 1
        self.known[threads] = self.known[threads].max(axis=0)
        for each in threads:
            self.at[each] += 1


def _race(touched: Sequence[Done]) -> bool:
    """Whether two accesses to one word race. Every load is volatile, and does not race with atomics; each word of a
    vector is one operation by itself."""
    threads = np.array([each.thread for each in touched])
    begins, ends = (np.array([getattr(each, name) for each in touched]) for name in ("begins", "ends"))
    kinds = np.array([["read", "write", "atomic", "copy"].index(each.event.does) for each in touched])
    stored = np.array([each.event.value for each in touched])
    before = ends[:, None] <= np.array([each.known for each in touched])[:, threads].T
    writes, copies = kinds == WRITE, kinds == COPY
    harmless = ~(writes | copies)
    harmless = harmless[:, None] & harmless
    harmless |= (writes[:, None] & writes) & (stored[:, None] == stored)
    others = threads[:, None] != threads
    own = copies[:, None] & ~copies & (begins[:, None] < begins) & (ends[:, None] > begins)
    return bool((others & ~harmless & ~(before | before.T) | ~others & own).any())


@dataclass(frozen=True)
class Kernel:
    """A random kernel."""

    block: tuple[int, int, int]
    body: tuple[Statement, ...]

    @property
    def text(self) -> str:
        """The CUDA source."""
        x, y, _ = self.block
        lines = [
            "typedef volatile int cell;",
            "__device__ int load_int2(cell *p) { int a, b; asm volatile(",
            '    "ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b)',
            '    : "r"((unsigned)__cvta_generic_to_shared((int *)p)) : "memory"); return a + b; }',
            "__device__ void store_int2(cell *p, int v) { asm volatile(",
            '    "st.volatile.shared.v2.u32 [%0], {%1, %1};"',
            '    :: "r"((unsigned)__cvta_generic_to_shared((int *)p)), "r"(v) : "memory"); }',
            "__device__ int load_int4(cell *p) { int a, b, c, d; asm volatile(",
            '    "ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d)',
            '    : "r"((unsigned)__cvta_generic_to_shared((int *)p)) : "memory"); return a + b + c + d; }',
            "__device__ void store_int4(cell *p, int v) { asm volatile(",
            '    "st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};"',
            '    :: "r"((unsigned)__cvta_generic_to_shared((int *)p)), "r"(v) : "memory"); }',
            'extern "C" __global__ void k(int *out, int n, const int4 *in) {',
            f"    __shared__ __align__(16) cell s0[{WORDS}], s1[{WORDS}];",
            "    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;",
            f"    int t = x + {x} * (y + {y} * z), lane = t % 32, sum = 0, g = n;",
        ]
        lines += ["    " + line for each in self.body for line in each.lines()]
        return "\n".join([*lines, "    out[t] = sum + g;", "}", ""])

    def walks(self, n: int) -> list[Walk]:
        """What every thread does."""
        x, y, z = self.block
        found = []
        for thread in range(x * y * z):
            place = {"x": thread % x, "y": thread // x % y, "z": thread // (x * y)}
            walk = Walk({"t": thread, "lane": thread % WARP, "n": n, "g": n, **place})
            try:
                for each in self.body:
                    each.walk(walk)
            except Ended:
                pass
            found.append(walk)
        return found

    def wrong(self, n: int) -> bool:
        """Whether there is a race, or threads that wait for ever, for one value of the parameter."""
        block = Block(self.walks(n))
        try:
            block.run()
        except Stuck:
            return True
        cells: dict[int, list[Done]] = defaultdict(list)
        for each in block.done:
            for byte in range(each.event.what, each.event.what + each.event.size, 4):
                cells[byte].append(each)
        return any(map(_race, cells.values()))


class Maker:
    """Makes a random kernel."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.block = self.random.choice(BLOCKS)
        x, y, z = self.block
        self.threads = x * y * z
        self.loops: list[str] = []
        self.tame = self.random.choice([0.3, 0.6, 0.8, 0.9])
        self.syncs = self.random.choice([0.5, 0.8, 0.95])
        self.copies = self.random.random() < 0.6
        self.returned = False

    def kernel(self) -> Kernel:
        """The kernel."""
        body: list[Statement] = []
        if self.random.random() < 0.1:
            self.returned = True
            body.append(Part("return", self.random.choice([f"t >= {self.threads // 2}", "t == n", "t > n"])))
        body += self.statements(self.random.randint(3, 6), 0)
        return Kernel(self.block, tuple(body))

    def statements(self, count: int, depth: int) -> list[Statement]:
        """A sequence that all threads come by."""
        found: list[Statement] = []
        for _ in range(count):
            chance = self.random.random()
            if chance < 0.15 and depth < 2:
                found.append(self.loop(depth))
            elif chance < 0.2 and depth < 2:
                inner = self.statements(self.random.randint(1, 2), depth + 1)
                found.append(Part("if", self.random.choice(["n > 2", "n % 2 == 0", "n == 5"]), tuple(inner)))
            elif chance < 0.35:
                held = [
                    f"t < {self.threads // 2}",
                    "t < 32",
                    "lane < 16",
                    "t % 2 == 0",
                    "t == 0",
                    "lane == g % 32",
                ]
                inner = [self.touch() for _ in range(self.random.randint(1, 2))]
                found.append(Part("if", self.random.choice([*held, "t < n"]), tuple(inner)))
            elif chance < 0.42 and not self.returned:
                found.append(self.shuffle())
            else:
                found.append(self.touch())
            if self.random.random() < self.syncs:
                found += self.sync()
        return found

    def loop(self, depth: int) -> Part:
        """A loop with as many iterations for all threads."""
        name = f"i{len(self.loops)}"
        self.loops.append(name)
        body = self.statements(self.random.randint(1, 3), depth + 1)
        self.loops.pop()
        return Part("loop", self.random.choice(["3", "n % 9", "n / 2 % 9", "5"]), tuple(body), name)

    def sync(self) -> list[Statement]:
        """A barrier, or what belongs to copies."""
        chance, wait = self.random.random(), list[Statement]()
        if self.copies and self.random.random() < 0.7:
            left = self.random.choice([0, 0, 0, 1, 2])
            text = f'asm volatile("cp.async.wait_group {left};" ::: "memory");'
            commit = Act('asm volatile("cp.async.commit_group;" ::: "memory");', "commit")
            wait = [commit, Act(text, "wait", str(left))]
            if self.random.random() < 0.15:
                wait = [Act('asm volatile("cp.async.wait_all;" ::: "memory");', "wait", "-1")]
            elif self.random.random() < 0.3:
                wait = [self.random.choice(wait)]
        if chance < 0.5:
            return [*wait, Act("__syncthreads();", "block")]
        if chance < 0.6:
            how = self.random.choice(["count", "or", "and"])
            return [*wait, Act(f"sum += __syncthreads_{how}(t < n);", "block")]
        if chance < 0.95 and self.threads % WARP == 0:
            mask, comes = self.random.choice(list(MASKS.items()))
            barrier = Act(f"__syncwarp({mask});", "warp", mask)
            return [*wait, barrier if comes == "1" else Part("if", comes, (barrier,))]
        return wait

    def shuffle(self) -> Assign:
        """`g` of a lane, as a number of the thread that all lanes have in the same way."""
        how = self.random.randrange(4)
        value = self.random.choice(["t", "t / 2", "t % 3", "n", "t * 4"])
        if self.threads % WARP:
            return Assign(f"g = {value};", value)
        step, width = self.random.choice([1, 2, 16]), self.random.choice([32, 32, 16, 8])
        first = f"(lane / {width} * {width})"
        name, source = [
            ("", f"{first} + {step} % {width}"),
            ("_up", f"(lane - {step} if lane - {step} >= {first} else lane)"),
            ("_down", f"(lane + {step} if lane + {step} < {first} + {width} else lane)"),
            ("_xor", f"((lane ^ {step}) if (lane ^ {step}) < {first} + {width} else lane)"),
        ][how]
        other = value.replace("t", f"(t - lane + {source})")
        return Assign(f"g = __shfl{name}_sync(~0u, {value}, {step}, {width});", other)

    def touch(self) -> Touch:
        """An access."""
        kinds = ["read", "write", "atomic", "copy"]
        kind = self.random.choices(kinds, [5, 4, 0.5, 3 if self.copies else 0])[0]
        size = 4 if kind == "atomic" else self.random.choice([4, 4, 4, 8, 16])
        value = self.random.choice(["t", "t", "t + 1", "7", "n", "x", *self.loops])
        return Touch(kind, self.random.randrange(2), self.index(), size, value if kind == "write" else "0")

    def index(self) -> str:
        """An index: mostly one element per thread."""
        if self.random.random() < self.tame:
            return "t"
        x, y, z = self.block
        choices = [
            *(
                "t + 1",
                "t ^ 1",
                "t ^ 16",
                "t ^ 32",
                f"{self.threads - 1} - t",
                "t / 2",
                "2 * t",
                "lane",
                "t + n",
            ),
            *("t / 4", "t + 32", "g", "g % 64", "t % (n + 1)", f"(t + n) % {self.threads}", "4 * t", "0"),
            *(
                f"x * {y * z} + y * {z} + z",
                f"z + {z} * (x + {x} * y)",
                f"x + {x} * z + {x * z} * y",
                "x + y + z",
            ),
        ]
        for name in self.loops:
            choices += [
                f"t + {name}",
                f"{name} % 2 * {self.threads} + t",
                f"({name} + 1) % 2 * {self.threads} + t",
            ]
            choices += [f"({name} + 2) % 3 * {self.threads} + t", f"{name} % 3 * {self.threads} + t", name]
        return self.random.choice(choices)
