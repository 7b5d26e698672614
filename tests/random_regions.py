"""Random kernels of regions, with functions, forwarded names, commit groups, engines that read, and exchanges."""

from __future__ import annotations

import random


class Writer:
    """A random kernel with functions, handed-on names, groups of copies, engines that read, and exchanges."""

    def __init__(self, seed: int, *, long: bool = False) -> None:
        self.random = random.Random(seed)
        self.long = long
        """Outer loops run long enough for their iterations to be folded."""
        self.names = 0
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.grouped = self.random.random() < 0.4
        self.asynchronous = self.random.random() < 0.7
        self.raw = self.random.random() < 0.4
        self.reset()

    def reset(self) -> None:
        self.buffers: list[tuple[str, int]] = []
        self.numbers: list[str] = []
        self.values: list[str] = []
        self.tokens: list[str] = []

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"%{stem}{self.names}"

    def kernel(self) -> str:
        for name in ["f", "g"][: self.random.choice([0, 0, 1, 2])]:
            self.body(f"func @{name} {{", self.random.randint(1, 4))
            self.functions.append(name)
        self.body(f"kernel @k waves={self.random.choice([1, 2, 2, 3])} {{", self.random.randint(4, 9))
        return "\n".join(self.lines) + "\n"

    def body(self, head: str, size: int) -> None:
        self.reset()
        self.lines.append(head)
        for stem in "abc"[: self.random.randint(1, 3)]:
            slots = self.random.choice([1, 1, 2, 3])
            shape = f"{slots} x 4" if slots > 1 else "4"
            place = f" at {self.random.choice([0, 2, 4, 8])}" if self.random.random() < 0.4 else ""
            self.lines.append(f"  shared %{stem} : {shape}{place}")
            self.buffers.append((f"%{stem}", slots))
        self.left = size
        while self.left > 0:
            self.statement(1, False)
        self.lines.append("}")

    def put(self, indent: int, text: str) -> None:
        self.lines.append("  " * indent + text)

    def statement(self, indent: int, guarded: bool) -> None:
        self.left -= 1
        roll = self.random.random()
        if roll < 0.14 and not guarded:
            self.put(indent, self.barrier())
        elif roll < 0.26 and self.asynchronous:
            self.put(indent, self.wait())
        elif roll < 0.66 or indent > 3:
            self.access(indent, guarded)
        elif roll < 0.80:
            self.loop(indent, guarded)
        elif roll < 0.93 or not self.functions or guarded:
            self.conditional(indent, guarded)
        else:
            name = self.random.choice(self.functions)
            self.put(indent, f"call @{name}" + self.random.choice(["", " at 4", " at 8"]))

    def barrier(self) -> str:
        kinds = ["barrier"]
        if self.asynchronous:
            kinds += ["barrier async", "barrier load=0", "barrier tensor=1", "barrier load=1 tensor=0"]
            if self.tokens:
                kinds += [f"barrier after {self.random.choice(self.tokens)}", "barrier mma=0"]
        if self.raw:
            kinds += ["workgroup_barrier", "workgroup_barrier"]
        return self.random.choice(kinds)

    def wait(self) -> str:
        if self.grouped and self.random.random() < 0.4:
            return self.random.choice(["commit load", "commit load", "commit tensor"])
        if self.tokens and self.random.random() < 0.2:
            return f"wait_count after {self.random.choice(self.tokens)}"
        counter = self.random.choice(["load", "load", "tensor", "mma", "lds"])
        return f"wait_count {counter}={self.random.choice([0, 0, 1, 2])}"

    def access(self, indent: int, guarded: bool) -> None:
        kinds = ["read", "read", "write", "write", "atomic"]
        if self.asynchronous:
            kinds += ["gather_to_lds", "tensor_load_to_lds", "async_mma", "tensor_store_from_lds"]
            kinds += ["global_read"]
        if not guarded:
            kinds.append("exchange")
        if self.values:
            kinds.append("compute")
        kind = self.random.choice(kinds)
        if kind == "global_read":
            self.put(indent, kind)
        elif kind == "compute":
            self.put(indent, f"compute {self.random.choice(self.values)}")
        else:
            line = f"{kind} {self.view()}"
            if kind in ("read", "exchange") and self.raw:
                name = self.fresh("r")
                line = f"{name} = {line}"
                self.values.append(name)
            elif kind == "atomic":
                line += self.random.choice(["", "", " update=add", " update=max", " update=exchange"])
                if self.raw and self.random.random() < 0.3:
                    name = self.fresh("r")
                    line = f"{name} = {line}"
                    self.values.append(name)
            elif kind not in ("read", "exchange", "write") and self.random.random() < 0.3:
                name = self.fresh("t")
                line = f"{name} = {line}"
                self.tokens.append(name)
            if kind != "exchange" and self.random.random() < 0.1:
                line += " group=g"
            self.put(indent, line)

    def view(self) -> str:
        name, slots = self.random.choice(self.buffers)
        if slots == 1 or self.random.random() < 0.1:
            return name
        return f"{name}[{self.slot(slots)}]"

    def slot(self, slots: int) -> str:
        roll = self.random.random()
        if roll < 0.1:
            return f"(wave + {self.random.randrange(slots)}) % {slots}"
        if not self.numbers or roll < 0.3:
            return str(self.random.randrange(slots))
        return f"({self.random.choice(self.numbers)} + {self.random.randrange(slots)}) % {slots}"

    def number(self) -> str:
        """A number to forward."""
        choices = ["0", "1", "2"]
        for name in self.numbers:
            choices += [f"({name} + 1) % 3", f"{name} ^ 1", f"select({name} + 1 < 2, {name} + 1, 0)", name]
        if self.random.random() < 0.05:
            return "?"
        return self.random.choice(choices)

    def following(self, name: str) -> str:
        """What a number becomes."""
        forms = [f"({name} + 1) % 3", f"select({name} + 1 < 2, {name} + 1, 0)", f"{name} ^ 1", f"{name} + 1"]
        return self.random.choice([*forms, *forms, self.number()])

    def loop(self, indent: int, guarded: bool) -> None:
        bound = self.random.choice(["0", "1", "2", "3", "4", "5", "?", "?"])
        if self.long:
            bound = self.random.choice(["1", "2"] if indent > 1 else ["19", "23", "40", "67", "100"])
        scope = len(self.numbers), len(self.buffers), len(self.values)
        names: list[tuple[str, str]] = []
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            kind = self.random.choice(["number", "number", "buffer", "value"])
            if kind == "buffer":
                buffer, slots = self.random.choice(self.buffers)
                names.append((f"buffer {slots}", buffer))
            elif kind == "value" and self.values:
                names.append(("value", self.random.choice(self.values)))
            else:
                names.append(("number", self.number()))
        var = self.fresh("i")
        bindings = [(self.fresh("x"), kind, init) for kind, init in names]
        carry = " carry " + ", ".join(f"{name} = {init}" for name, _, init in bindings) if bindings else ""
        self.put(indent, f"loop {var} in 0..{bound}{carry} {{")
        self.numbers.append(var)
        for name, kind, _ in bindings:
            self.introduce(name, kind)
        for _ in range(self.random.randint(1, 3)):
            if self.left > 0:
                self.statement(indent + 1, guarded)
        if bindings:
            self.put(indent + 1, "next " + ", ".join(self.handed(name, kind) for name, kind, _ in bindings))
        self.put(indent, "}")
        self.forget(scope)
        for name, kind, _ in bindings:
            self.introduce(name, kind)

    def introduce(self, name: str, kind: str) -> None:
        if kind == "number":
            self.numbers.append(name)
        elif kind == "value":
            self.values.append(name)
        else:
            self.buffers.append((name, int(kind.split()[1])))

    def forget(self, scope: tuple[int, int, int]) -> None:
        numbers, buffers, values = scope
        del self.numbers[numbers:], self.buffers[buffers:], self.values[values:]

    def handed(self, name: str, kind: str) -> str:
        if kind == "number":
            return self.following(name)
        if kind == "value":
            return self.random.choice(self.values)
        slots = int(kind.split()[1])
        return self.random.choice([buffer for buffer, count in self.buffers if count == slots])

    def conditional(self, indent: int, guarded: bool) -> None:
        condition = f"{self.fresh('c')}"
        divergent = self.random.random() < 0.25
        if divergent:
            condition = self.random.choice(["wave == 0", "wave >= 1"])
        elif self.numbers and self.random.random() < 0.5:
            condition = f"{self.random.choice(self.numbers)} % 3 == {self.random.choice([0, 1])}"
        kinds = []
        if not divergent and self.random.random() < 0.5:
            kinds = [self.random.choice(["number", f"buffer {self.random.choice(self.buffers)[1]}"])]
        names = [self.fresh("n") for _ in kinds]
        gives = " gives " + ", ".join(names) if names else ""
        self.put(indent, f"if {condition}{gives} {{")
        for side in range(2):
            if side:
                if not names and self.random.random() < 0.5:
                    break
                self.put(indent, "} else {")
            scope = len(self.numbers), len(self.buffers), len(self.values)
            for _ in range(self.random.randint(1, 2)):
                if self.left > 0:
                    self.statement(indent + 1, guarded or divergent)
            if names:
                given = [self.number() if kind == "number" else self.handed("", kind) for kind in kinds]
                self.put(indent + 1, "give " + ", ".join(given))
            self.forget(scope)
        self.put(indent, "}")
        for name, kind in zip(names, kinds, strict=True):
            self.introduce(name, kind)
