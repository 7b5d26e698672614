"""Makers of random CUDA kernels: one seed, one kernel."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.hosts.ptx.random_cuda import expressions as wide
from tests.hosts.ptx.random_cuda.statements import (
    VECTORS,
    WARP,
    Access,
    Assign,
    Barrier,
    Break,
    Continue,
    If,
    Lanes,
    Loop,
    RandomKernel,
    Return,
    Shared,
    Statement,
    Swap,
    Switch,
)


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
