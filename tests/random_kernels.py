"""Random kernels for property tests and campaigns: any control flow, any mix of accesses, from one seed.

Written on plain `random` so that a campaign can run millions of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fencepost.ir.parser import parse
from fencepost.ir.trace import CapturedTrace


@dataclass(frozen=True)
class Shape:
    """What a random kernel may contain."""

    size: int = 12
    depth: int = 3
    waves: tuple[int, ...] = (1, 2, 4)
    loops: bool = True
    conditionals: bool = True
    divergent: bool = True
    blocks: bool = True
    barriers: float = 0.12
    atomics: bool = True
    aliasing: bool = True
    ranges: bool = True
    groups: bool = True
    by_wave: bool = True
    slots: bool = False
    asynchronous: bool = False
    waits: bool = True
    """Waits and counted barriers of its own, where it is asynchronous."""
    groups_of_copies: bool = False
    handing: bool = False
    """Numbers and buffers that loops carry, and conditions on them."""
    functions: bool = False
    scratch: bool = False
    expects: float = 0.0
    """How many of the loops, conditionals and branches that can have an `expect` do; else kernels are the same."""
    arguments: bool = False
    """Kernels of labelled blocks that have arguments, and nothing else."""
    uses: bool = False
    """Results of reads that are used, barriers and waits that fence, and barriers that do not."""
    parameters: bool = False
    """Parameters in conditions, bounds of loops and slots."""
    ends: bool = False
    """With `parameters`: one of them, loops up to it, and conditions on how near their ends are or on it alone."""
    unknown: bool = False
    """Slots that are not known, and parts of them."""
    several: bool = False
    """Operations that touch several places."""
    named_alike: bool = False
    """Names that functions share with their callers, calls on one side of a divergent conditional, and divergent
    conditions on loop variables and on parameters with more values than are followed."""
    arithmetic: bool = False
    """Slots, bytes, conditions and carried numbers of any arithmetic, results of conditionals, and loops with any
    start and step, long ones among them."""
    differing: bool = False
    """With `arithmetic`: numbers that loops and conditionals make from `wave`, and slots computed from them."""


ANY = Shape()
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 10, 16, -1, -2, -3, -7)
TRIPS = (1, 2, 3, 5, 8, 13, 20, 30, 100)
BOUNDS = (12, 20, 33, 50, 90)
"""What long loops reach on their way."""
SEVERAL = ("read", "write", "atomic", "tensor_load_to_lds", "async_mma")
"""What can touch several places at once."""
PROBABILITIES = ("0", "0.001", "0.05", "0.25", "0.5", "0.95", "1")
STRAIGHT = Shape(loops=False, conditionals=False, divergent=False, blocks=False, barriers=0.1)


def random_text(seed: int, shape: Shape = ANY) -> str:
    """The text of a random kernel."""
    writer = _BlockWriter if shape.arguments else _Writer
    return writer(random.Random(seed), shape, random.Random(f"expect {seed}")).kernel()


def random_kernel(seed: int, shape: Shape = ANY) -> CapturedTrace:
    """A random kernel."""
    return parse(random_text(seed, shape), f"seed{seed}.fp")


class _Writer:
    def __init__(self, rng: random.Random, shape: Shape, expectations: random.Random) -> None:
        self.rng = rng
        self.expectations = expectations
        self.shape = shape
        self.waves = rng.choice(shape.waves)
        self.lines: list[str] = []
        self.buffers: list[tuple[str, int, int]] = []
        self.loop_vars: list[str] = []
        self.numbers: list[tuple[str, int]] = []
        """Carried numbers in scope, and a number that they stay below."""
        self.functions: list[str] = []
        self.without_barriers: list[str] = []
        """The functions that may be called where not all waves are."""
        self.parameters: list[str] = []
        self.counting: list[tuple[str, str]] = []
        """Variables of loops up to a parameter, in scope, and that parameter."""
        self.results: list[str] = []
        """What reads have returned, in scope."""
        self.differing: set[str] = set()
        """Numbers that waves can disagree about: no condition may ask for them."""
        self.names = 0
        self.left = rng.randint(3, shape.size)

    def kernel(self) -> str:
        if self.shape.functions:
            for _ in range(self.rng.randint(1, 2)):
                self.function()
        if self.shape.named_alike:
            self.names = 0
        self.lines.append(f"kernel @random waves={self.waves} {{")
        for number in range(self.rng.randint(1, 3)):
            self.buffer("abc"[number])
        if self.shape.parameters:
            self.parameters = ["n", "m"][: 1 if self.shape.ends else self.rng.choice([1, 1, 2])]
            self.lines += [f"  param %{name}" for name in self.parameters]
        self.top()
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def top(self) -> None:
        """What stands in the kernel."""
        if self.shape.blocks and self.rng.random() < 0.35:
            self.blocks()
        else:
            while self.left > 0:
                self.statement(1, 0)

    def function(self) -> None:
        """A function that kernel and later functions can call; the kernel has as much left as before."""
        name, left = self.fresh("f"), self.left
        if self.shape.named_alike:
            name, self.names = f"f{len(self.functions)}", 0
        self.left = self.rng.randint(1, 4)
        first = len(self.lines)
        self.lines.append(f"func @{name} {{")
        self.buffer("s")
        if self.rng.random() < 0.3:
            self.buffer("t")
        while self.left > 0:
            self.statement(1, 1)
        self.lines.append("}")
        self.left, self.buffers, self.numbers = left, [], []
        self.differing.clear()
        self.functions.append(name)
        body = " ".join(self.lines[first:])
        if not any(word in body for word in ("barrier", "exchange", "call")):
            self.without_barriers.append(name)

    def buffer(self, name: str) -> None:
        slots = self.rng.choice([2, 3]) if self.shape.slots and self.rng.random() < 0.7 else 1
        size = 64
        shape = f"{slots} x {size}" if slots > 1 else f"{size}"
        place = (
            f" at {self.rng.choice([0, 32, 64, 128])}"
            if self.shape.aliasing and self.rng.random() < 0.4
            else ""
        )
        self.lines.append(f"  shared %{name} : {shape}{place}")
        self.buffers.append((name, slots, size))

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def put(self, indent: int, text: str) -> None:
        self.lines.append("  " * indent + text)

    def expect(self, *numbers: str) -> str:
        """One of some numbers that are expected, or nothing; a stream of its own, so that nothing else changes."""
        if self.expectations.random() >= self.shape.expects:
            return ""
        return f" expect={self.expectations.choice(numbers)}"

    def statement(self, indent: int, depth: int, guarded: bool = False) -> None:
        roll = self.rng.random()
        if guarded and self.shape.named_alike and self.without_barriers and self.rng.random() < 0.3:
            self.left -= 1
            self.put(
                indent, f"call @{self.rng.choice(self.without_barriers)} at {self.rng.choice([0, 32, 64])}"
            )
        elif roll < self.shape.barriers and not guarded:
            self.left -= 1
            kinds = ["barrier"]
            if self.shape.uses:
                kinds += ["workgroup_barrier"] * 3
            if self.shape.asynchronous:
                kinds += ["barrier async", "workgroup_barrier"]
                if self.shape.waits:
                    kinds += [f"barrier {self.rng.choice(['load', 'tensor'])}={self.rng.randint(0, 2)}"]
            self.put(indent, self.rng.choice(kinds))
        elif self.functions and roll < self.shape.barriers + 0.1 and not guarded:
            self.left -= 1
            self.put(indent, f"call @{self.rng.choice(self.functions)} at {self.rng.choice([0, 32, 64])}")
        elif roll < 0.75 or depth >= self.shape.depth or self.left < 2:
            self.left -= 1
            self.put(indent, self.access(guarded))
        elif roll < 0.88 and self.shape.loops:
            self.loop(indent, depth, guarded)
        elif self.shape.conditionals:
            self.conditional(indent, depth, guarded)
        else:
            self.left -= 1
            self.put(indent, self.access(guarded))

    def body(self, indent: int, depth: int, guarded: bool) -> None:
        numbers, results = len(self.numbers), len(self.results)
        for _ in range(self.rng.randint(1, 4)):
            if self.left > 0:
                self.statement(indent, depth, guarded)
        del self.numbers[numbers:]
        del self.results[results:]

    def loop(self, indent: int, depth: int, guarded: bool) -> None:
        name = self.fresh("i")
        bound = self.rng.choice(["0", "1", "2", "3", "8", "?", "?"])
        if self.parameters and self.rng.random() < (0.9 if self.shape.ends else 0.4):
            bound = f"%{self.rng.choice(self.parameters)}"
        around, buffers = len(self.numbers), list(self.buffers)
        carried, following = self.carried() if self.shape.handing else ([], [])
        span = f"0..{bound}"
        if self.shape.ends and bound[0] == "%":
            self.counting.append((name, bound))
            span = self.rng.choice([span, span, f"1..{bound}", f"{span} step 2", f"0..{bound} step 3"])
        if self.shape.arithmetic:
            span = self.span(bound)
            more = self.carried_by_any_rule(name)
            carried, following = carried + more[0], following + more[1]
        carry = f" carry {', '.join(carried)}" if carried else ""
        expect = self.expect("1", "2", "64", "1000000") if bound == "?" else ""
        self.put(indent, f"loop %{name} in {span}{expect}{carry} {{")
        self.loop_vars.append(name)
        self.body(indent + 1, depth + 1, guarded)
        self.counting = [each for each in self.counting if each[0] != self.loop_vars[-1]]
        self.loop_vars.pop()
        if following:
            self.put(indent + 1, f"next {', '.join(following)}")
        self.put(indent, "}")
        self.buffers = buffers
        if self.rng.random() < 0.5:
            # Behind the loop the names have their last values; sometimes they are used there.
            del self.numbers[around:]

    def carried(self) -> tuple[list[str], list[str]]:
        """What a loop carries, and what it becomes."""
        first: list[str] = []
        following: list[str] = []
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            name, below = self.fresh("x"), self.rng.choice([2, 2, 3])
            first.append(f"%{name} = {self.rng.randrange(below)}")
            ring = [
                f"(%{name} + {self.rng.randint(1, 2)}) % {below}",
                f"select(%{name} + 1 < {below}, %{name} + 1, 0)",
            ]
            following.append(self.rng.choice([*ring, f"%{name} ^ 1"] if below == 2 else ring))
            self.numbers.append((name, below))
        alike = [entry for entry in self.buffers if entry[1:] == self.buffers[0][1:]]
        if len(alike) > 1 and self.rng.random() < 0.4:
            one, other = alike[:2]
            names = [self.fresh("p"), self.fresh("p")]
            first += [f"%{names[0]} = %{one[0]}", f"%{names[1]} = %{other[0]}"]
            following += [f"%{names[1]}", f"%{names[0]}"]
            self.buffers = self.buffers + [(name, *one[1:]) for name in names]
        return first, following

    def conditional(self, indent: int, depth: int, guarded: bool) -> None:
        condition, inside = f"%{self.fresh('c')}", guarded
        if self.shape.handing and self.loop_vars and self.rng.random() < 0.4:
            var = self.rng.choice(self.loop_vars)
            condition = self.rng.choice([f"%{var} == 0", f"%{var} % 2 == 0", f"%{var} < 2", f"%{var} >= 1"])
        if self.shape.divergent and self.rng.random() < 0.4:
            guarded = True
            condition = self.rng.choice(["wave == 0", "wave < 1", "wave >= 1", "wave % 2 == 0", "wave < 2"])
        if self.shape.named_alike and self.shape.divergent and self.rng.random() < 0.5:
            guarded, condition = True, self.on_names_and_wave(condition)
        elif self.counting and self.rng.random() < 0.7:
            condition, guarded = self.on_the_end(), inside
        elif self.shape.ends and self.rng.random() < 0.7:
            sign = self.rng.choice(["<", ">", ">", "<=", ">=", "==", "!="])
            condition, guarded = f"%n {sign} {self.rng.choice([0, 1, 1, 2, 3, 5])}", inside
        elif self.parameters and self.rng.random() < 0.7:
            condition = self.on_parameters()
            guarded = guarded or "wave" in condition
        if self.shape.arithmetic and self.rng.random() < 0.6:
            condition = self.comparison(self.leaves(wave=self.shape.divergent and self.rng.random() < 0.4))
            guarded = guarded or "wave" in condition
        expect = "" if "wave" in condition else self.expect(*PROBABILITIES)
        given, differs = "", False
        if self.shape.arithmetic and self.rng.random() < 0.25:
            given, differs = self.fresh("y"), self.may_differ()
        self.put(indent, f"if {condition}{expect}{f' gives %{given}' if given else ''} {{")
        self.body(indent + 1, depth + 1, guarded)
        if given:
            self.put(indent + 1, f"give {self.expression(self.leaves(differing=differs, wave=differs), 1)}")
        if given or self.rng.random() < 0.5:
            self.put(indent, "} else {")
            self.body(indent + 1, depth + 1, guarded)
        if given:
            self.put(indent + 1, f"give {self.expression(self.leaves(differing=differs, wave=differs), 1)}")
            self.know(given, differs or "wave" in condition)
        self.put(indent, "}")

    # ------------------------------------------------------------ any arithmetic

    def may_differ(self) -> bool:
        """Whether waves may disagree about a number that is made now."""
        return self.shape.differing and self.rng.random() < 0.4

    def know(self, name: str, differs: bool) -> None:
        """A number can be used from here on, if waves agree about it or need not."""
        if differs:
            self.differing.add(name)
        if self.shape.differing or not differs:
            self.numbers.append((name, UNBOUNDED))

    def leaves(self, *, wave: bool = False, differing: bool = False) -> list[str]:
        """What expressions are made of, beside numbers."""
        names = [*self.loop_vars, *self.parameters, *(name for name, _ in self.numbers)]
        found = [f"%{name}" for name in names if differing or name not in self.differing]
        return [*found, "wave"] if wave else found

    def expression(self, leaves: list[str], depth: int = 2) -> str:
        """Any arithmetic on some names and numbers."""
        rng = self.rng
        if not depth or rng.random() < 0.25:
            return rng.choice(leaves) if leaves and rng.random() < 0.75 else str(rng.choice(NUMBERS))
        one, other = self.expression(leaves, depth - 1), self.expression(leaves, depth - 1)
        forms = [
            f"({one} {rng.choice('+-')} {other})",
            f"({one} {rng.choice('+-')} {other})",
            f"({one} * {rng.choice([2, 3, 4, -1, -2])})",
            f"({one} // {rng.choice([2, 3, 4, 5, -2])})",
            f"({one} % {rng.choice([2, 3, 4, 5, 7, -3])})",
            f"({one} ^ {rng.choice([1, 2, 3, 5, -1, other])})",
            f"select({self.comparison(leaves, depth - 1)}, {one}, {other})",
        ]
        return rng.choice(forms)

    def comparison(self, leaves: list[str], depth: int = 1) -> str:
        """A condition on some names."""
        other = (
            self.expression(leaves, depth) if self.rng.random() < 0.4 else self.rng.choice(NUMBERS + BOUNDS)
        )
        sign = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"{self.expression(leaves, depth)} {sign} {other}"

    def span(self, bound: str) -> str:
        """The numbers that a loop runs through: to `bound` if that is none, else as often as some loops do."""
        start, step = self.rng.choice([0, 0, 0, 1, 5, -3, -7]), self.rng.choice([1, 1, 1, 2, 3, 5])
        if bound.isdigit():
            bound = str(start + (self.rng.choice(TRIPS) - 1) * step + self.rng.randint(1, step))
        return f"{start}..{bound}" + (f" step {step}" if step > 1 else "")

    def carried_by_any_rule(self, variable: str) -> tuple[list[str], list[str]]:
        """Numbers that a loop carries and what they become; often something that repeats."""
        made = [(self.fresh("z"), self.may_differ()) for _ in range(self.rng.choice([0, 0, 1, 1, 2]))]
        first = [f"%{n} = {self.expression(self.leaves(wave=d, differing=d), 1)}" for n, d in made]
        for name, differs in made:
            self.know(name, differs)
        following = []
        for _, differs in made:
            value = self.expression([*self.leaves(differing=differs), f"%{variable}"])
            repeats = self.rng.random() < 0.6
            following.append(f"({value}) % {self.rng.choice([2, 3, 4, 5])}" if repeats else value)
        return first, following

    def on_names_and_wave(self, otherwise: str) -> str:
        """A divergent condition on a loop variable or a parameter."""
        forms = [otherwise] if "wave" in otherwise else ["wave == 0"]
        for name in self.loop_vars[-1:]:
            forms += [f"wave == %{name}", f"wave < %{name} + 1", f"(wave + %{name}) % 2 == 0"]
        for name in self.parameters[:1]:
            forms += [
                f"(wave + %{name}) % 67 < 60",
                f"(wave + 2 * %{name}) % 67 < 60",
                f"wave == %{name} % 67",
            ]
        return self.rng.choice(forms)

    def on_the_end(self) -> str:
        """A condition on how near its end a loop is."""
        (name, bound), ahead = self.rng.choice(self.counting), self.rng.choice([0, 1, 1, 2, 2, 3, 4, -1])
        sign = self.rng.choice(["<", "<", "<", "<=", ">", ">=", "==", "!="])
        forms = [
            f"%{name} + {ahead} {sign} {bound}",
            f"%{name} + {ahead} {sign} {bound}",
            f"{bound} - {ahead} {sign} %{name}",
            f"{bound} - %{name} {sign} {ahead}",
            f"2 * %{name} + {ahead} {sign} {bound} * 2",
        ]
        return self.rng.choice(forms)

    def on_parameters(self) -> str:
        """A condition on parameters, the same ones again and again."""
        name = self.rng.choice(self.parameters)
        forms = [
            f"%{name} % 2 == {self.rng.randrange(2)}",
            f"%{name} % 3 == {self.rng.randrange(3)}",
            f"%{name} {self.rng.choice(['<', '>=', '==', '!='])} {self.rng.choice([0, 1, 2])}",
            f"%{name} // 2 > {self.rng.randrange(2)}",
        ]
        if len(self.parameters) > 1:
            forms.append(f"%n {self.rng.choice(['<', '>=', '=='])} %m")
        if self.shape.divergent:
            forms.append(f"wave {self.rng.choice(['<', '==', '>='])} %{name}")
        return self.rng.choice(forms)

    def blocks(self) -> None:
        """A few blocks with any branches between them, loops entered in two places included."""
        labels = [self.fresh("b") for _ in range(self.rng.randint(2, 5))]
        for number, label in enumerate(["", *labels]):
            if label:
                self.lines.append(f"^{label}:")
            self.numbers = []
            for _ in range(self.rng.randint(0, 3)):
                if self.left > 0:
                    self.statement(1, 1)
            if number == len(labels):
                self.put(1, "return")
            elif self.rng.random() < 0.6:
                target = self.rng.choice(labels)
                # The last block must stay within reach, or nothing ever ends.
                branch = f"cond_br %{self.fresh('c')}, ^{target}, ^{labels[number]}"
                self.put(1, branch + self.expect(*PROBABILITIES))
            else:
                self.put(1, f"br ^{labels[number]}")

    def access(self, guarded: bool = False) -> str:
        if self.results and self.rng.random() < 0.35:
            user = self.rng.choice(["compute", "mma", "global_write", "write"])
            what = f" {self.view()}," if user == "write" else ""
            return f"{user}{what} %{self.rng.choice(self.results)}"
        kinds = ["read", "read", "write", "write"]
        if self.shape.uses and self.rng.random() < 0.08:
            return "wait_count lds=0"
        if self.shape.atomics:
            kinds.append("atomic")
        if self.shape.asynchronous:
            kinds += ["gather_to_lds", "tensor_load_to_lds", "async_mma"]
            if self.shape.waits:
                kinds += ["wait_count"]
            if self.shape.groups_of_copies:
                kinds += ["commit"]
        if self.shape.scratch and not guarded:
            kinds.append("exchange")
        kind = self.rng.choice(kinds)
        if kind == "wait_count":
            counter = self.rng.choice(["load", "tensor", "mma", "lds"])
            return f"wait_count {counter}={self.rng.choice([0, 0, 1, 2])}"
        if kind == "commit":
            return "commit load"
        group = ""
        if kind != "exchange" and self.shape.groups and self.rng.random() < 0.15:
            group = f" group=g{self.rng.randint(0, 1)}"
        named = ""
        if self.shape.uses and kind in ("read", "atomic"):
            name = self.fresh("r")
            named = f"%{name} = "
        places = self.view()
        while self.shape.several and kind in SEVERAL and self.rng.random() < 0.4:
            places += f", {self.view()}"
        text = f"{named}{kind} {places}{group}"
        if named:
            self.results.append(name)
        return text

    def view(self) -> str:
        name, slots, size = self.rng.choice(self.buffers)
        view = f"%{name}"
        if self.shape.arithmetic and slots == 1 and self.rng.random() < 0.3:
            lane = " + lane" if self.rng.random() < 0.1 else ""
            part = f"({self.any_number()}{lane}) % 4 * 16"
            return f"{view}[{part}..{part} + 16]"
        if self.shape.by_wave and self.rng.random() < 0.15:
            return f"{view}{self.part_of_wave(slots, size)}"
        if slots > 1 and self.rng.random() < 0.9:
            view += f"[{self.slot(slots)}]"
        elif slots > 1:
            return view
        if self.shape.ranges and self.rng.random() < 0.35:
            lo = self.rng.choice([0, 16, 32])
            view += f"[{lo}..{self.rng.choice([hi for hi in (16, 32, 48, 64) if hi > lo])}]"
        return view

    def part_of_wave(self, slots: int, size: int) -> str:
        """A slot or range that depends on the wave: its own, or a neighbour's."""
        ahead = self.rng.choice([0, 0, 1])
        if slots > 1:
            return f"[(wave + {ahead}) % {slots}]"
        part = size // 4
        lo = f"(wave + {ahead}) % 4 * {part}"
        return f"[{lo}..{lo} + {part}]"

    def any_number(self) -> str:
        """What the place of an access is computed from."""
        wave = self.shape.by_wave and self.rng.random() < 0.2
        return self.expression(self.leaves(wave=wave, differing=True))

    def slot(self, slots: int) -> str:
        if self.shape.arithmetic and self.rng.random() < 0.6:
            return f"({self.any_number()}) % {slots}"
        if self.shape.unknown and self.rng.random() < 0.4:
            return self.rng.choice(["?", "? + 1", "? % 2"])
        if self.parameters and not self.shape.ends and self.rng.random() < 0.5:
            name, ahead = self.rng.choice(self.parameters), self.rng.randint(0, slots)
            return f"%{name} % {slots}" if not ahead else f"(%{name} + {ahead}) % {slots}"
        if self.numbers and self.rng.random() < 0.5:
            name, below = self.rng.choice(self.numbers)
            return f"%{name}" if below <= slots else f"%{name} % {slots}"
        if not self.loop_vars or self.rng.random() < 0.3:
            return str(self.rng.randrange(slots))
        ahead = self.rng.randint(0, slots)
        return f"(%{self.rng.choice(self.loop_vars)} + {ahead}) % {slots}"


UNBOUNDED = 1 << 30
"""What a number that counts without end stays below, as far as slots are concerned."""


class _BlockWriter(_Writer):
    """Loops, diamonds and worse, written with labelled blocks: rings, counters, and what sides forward."""

    def __init__(self, rng: random.Random, shape: Shape, expectations: random.Random) -> None:
        super().__init__(rng, shape, expectations)
        self.local: set[str] = set()
        """Numbers that structured loops carry: they cannot be named in other blocks."""

    def top(self) -> None:
        self.pieces(0, False)
        while self.left > 0:
            self.pieces(0, False)
        self.put(1, "return")

    def pieces(self, depth: int, guarded: bool) -> None:
        """Straight pieces and pieces of control flow, one after the other."""
        for _ in range(self.rng.randint(1, 3)):
            if self.left <= 0:
                return
            roll = self.rng.random()
            if roll < 0.45 or depth > 2 or self.left < 2:
                known = len(self.numbers)
                self.statement(1, self.shape.depth - 1, guarded)
                self.local |= {name for name, _ in self.numbers[known:]}
            elif roll < 0.68:
                self.circle(depth, guarded)
            elif roll < 0.95 or guarded:
                self.diamond(depth, guarded)
            else:
                self.two_entries()

    def label(self, name: str, params: list[tuple[str, int]] | None = None) -> None:
        """Begin a block."""
        self.numbers = [number for number in self.numbers if number[0] not in self.local]
        self.lines.append(
            f"^{name}({', '.join(f'%{param}' for param, _ in params)}):" if params else f"^{name}:"
        )
        self.numbers += params or []

    def jump(self, target: str, args: list[str]) -> None:
        self.put(1, f"br ^{target}({', '.join(args)})" if args else f"br ^{target}")

    def choose(self, condition: str, then: str, orelse: str) -> None:
        expect = "" if "wave" in condition else self.expect(*PROBABILITIES)
        self.put(1, f"cond_br {condition}, ^{then}, ^{orelse}{expect}")

    def scoped(self, depth: int, guarded: bool) -> None:
        """Pieces whose numbers are not used behind them, or seldom: there they can be old, or not known at all."""
        known = list(self.numbers)
        self.pieces(depth, guarded)
        kept = known if self.rng.random() < 0.9 else [*known, *self.numbers]
        self.numbers = [number for number in dict.fromkeys(kept) if number[0] not in self.local]

    # ------------------------------------------------------------ numbers

    def agreed(self) -> list[tuple[str, int]]:
        """The numbers that conditions can ask for."""
        return [number for number in self.numbers if number[0] not in self.differing]

    def number(self, below: int, agreed: bool) -> str:
        """Something to forward: 0 or more, and less than `below`."""
        known = self.agreed() if agreed else self.numbers
        roll = self.rng.random()
        if roll < 0.03:
            return "?"
        if roll < 0.06 and not agreed:
            return f"wave % {below}"
        if not known or roll < 0.4:
            return str(self.rng.randrange(below))
        name, least = self.rng.choice(known)
        forms = [
            f"(%{name} + {self.rng.randint(1, 3)}) % {below}",
            f"select(%{name} % 2 == 0, {self.rng.randrange(below)}, {self.rng.randrange(below)})",
            f"%{name}" if least <= below else f"%{name} % {below}",
            f"%{name} * 3 % {below}",
        ]
        return self.rng.choice(forms)

    def following(self, name: str, below: int) -> str:
        """What a number of a ring becomes."""
        forms = [
            f"(%{name} + {self.rng.randint(1, 2)}) % {below}",
            f"select(%{name} + 1 < {below}, %{name} + 1, 0)",
            f"select(%{name} == 0, {below} - 1, %{name} - 1)",
        ]
        if below != 3:
            forms.append(f"%{name} ^ 1")
        return self.rng.choice([*forms, *forms, self.number(below, True)])

    def test(self) -> str:
        """A condition that all waves decide alike."""
        known = self.agreed()
        if not known or self.rng.random() < 0.35:
            return f"%{self.fresh('c')}"
        name, below = self.rng.choice(known)
        if below == UNBOUNDED:
            return f"%{name} % {self.rng.choice([2, 3])} == {self.rng.randrange(2)}"
        sign = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"%{name} {sign} {self.rng.randrange(below)}"

    def test_by_wave(self) -> str:
        known = self.agreed()
        if known and self.rng.random() < 0.3:
            name, below = self.rng.choice(known)
            forms = [f"wave == %{name} % 2", f"(wave + %{name}) % 2 == 0"]
            return self.rng.choice(forms if below == UNBOUNDED else [*forms, f"wave < %{name}"])
        return self.rng.choice(["wave == 0", "wave >= 1", "wave % 2 == 0", "wave < 2"])

    # ------------------------------------------------------------ control flow

    def circle(self, depth: int, guarded: bool) -> None:
        """A loop that is left at its head or at its end, sometimes from the middle."""
        head, inside, end = self.fresh("head"), self.fresh("body"), self.fresh("end")
        params: list[tuple[str, int]] = []
        first: list[str] = []
        count = self.rng.choice([0, 0, 1, 2, 3, 4]) if self.rng.random() < 0.4 else None
        if count is not None:
            params.append((self.fresh("n"), count + 1))
            first.append("0")
        for _ in range(self.rng.randint(0 if params else 1, 2)):
            below = self.rng.choice([2, 2, 3, 3, 4, UNBOUNDED])
            params.append((self.fresh("x"), below))
            first.append(self.number(min(below, 4), True))
        self.jump(head, first)
        self.label(head, params)
        at_head = self.rng.random() < 0.5
        stays = f"%{params[0][0]} < {count}" if count is not None else f"%{self.fresh('c')}"
        if at_head:
            self.choose(stays, inside, end)
            self.label(inside)
        self.scoped(depth + 1, guarded)
        if self.rng.random() < 0.15:
            go = self.fresh("go")
            self.choose(self.test(), end, go)
            self.label(go)
            self.scoped(depth + 1, guarded)
        if not at_head:
            self.choose(stays, inside, end)
            self.label(inside)
        self.jump(head, self.next_round(params, counted=count is not None))
        self.label(end)
        if self.rng.random() < 0.3:
            self.numbers = [number for number in self.numbers if number not in params]

    def next_round(self, params: list[tuple[str, int]], counted: bool) -> list[str]:
        """What a loop's numbers become; sometimes two of them change places."""
        args = []
        for place, (name, below) in enumerate(params):
            if below == UNBOUNDED:
                args.append(f"%{name} + {self.rng.choice([1, 1, 2])}")
            elif counted and not place:
                args.append(f"%{name} + 1")
            else:
                args.append(self.following(name, below))
        last = params[counted:]
        if len(last) > 1 and last[0][1] == last[1][1] and self.rng.random() < 0.3:
            args[-2:] = [f"%{last[1][0]}", f"%{last[0][0]}"]
        return args

    def diamond(self, depth: int, guarded: bool) -> None:
        """Two sides that forward different numbers, or one that does nothing."""
        yes, no, join = self.fresh("yes"), self.fresh("no"), self.fresh("join")
        divergent = self.shape.divergent and self.rng.random() < 0.35
        params = [(self.fresh("y"), self.rng.choice([2, 3])) for _ in range(self.rng.choice([0, 1, 1, 2]))]
        agreed = not divergent and self.rng.random() < 0.9
        one_sided = not params and self.rng.random() < 0.5
        self.choose(self.test_by_wave() if divergent else self.test(), yes, join if one_sided else no)
        before = set(self.numbers)
        for side in (yes,) if one_sided else (yes, no):
            self.label(side)
            self.scoped(depth + 1, guarded or divergent)
            self.jump(join, [self.number(below, agreed) for _, below in params])
            if divergent:
                self.differing |= {number[0] for number in self.numbers if number not in before}
        self.label(join, params)
        if not agreed:
            self.differing |= {name for name, _ in params}

    def two_entries(self) -> None:
        """A loop that is entered in two places, each with a number of its own."""
        ways, heads = [self.fresh("way"), self.fresh("way")], [self.fresh("head"), self.fresh("head")]
        again, end = [self.fresh("again"), self.fresh("again")], self.fresh("end")
        params = [(self.fresh("x"), self.rng.choice([2, 3])) for _ in heads]
        self.choose(self.test(), *ways)
        for way, head, (_, below) in zip(ways, heads, params, strict=True):
            self.label(way)
            self.jump(head, [self.number(below, True)])
        for here, there in ((0, 1), (1, 0)):
            self.label(heads[here], [params[here]])
            for _ in range(self.rng.randint(0, 2)):
                self.statement(1, self.shape.depth)
            self.choose(self.test(), again[here], end)
            self.label(again[here])
            self.jump(heads[there], [self.number(params[there][1], True)])
        self.label(end)

    # ------------------------------------------------------------ where numbers are used

    def conditional(self, indent: int, depth: int, guarded: bool) -> None:
        if self.rng.random() < 0.5 and self.agreed():
            self.put(indent, f"if {self.test()} {{")
            self.body(indent + 1, depth + 1, guarded)
            self.put(indent, "}")
        else:
            super().conditional(indent, depth, guarded)

    def view(self) -> str:
        name, slots, size = self.rng.choice(self.buffers)
        if slots == 1 and self.shape.ranges and self.numbers and self.rng.random() < 0.4:
            number, below = self.rng.choice(self.numbers)
            lo = f"%{number} * 16" if below <= 4 else f"%{number} % 4 * 16"
            return f"%{name}[{lo}..{lo} + {self.rng.choice([size // 4, size // 4, 1])}]"
        return super().view()
