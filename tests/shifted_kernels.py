"""Random small kernels whose waves are skewed: one half is delayed around a loop, as in ping-pong schedules."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class ShiftedKernel:
    """Makes one kernel as text. `copies` allows engines, `by_wave` slots that depend on the wave."""

    random: random.Random
    copies: bool = False
    by_wave: bool = False
    barriers: float = 0.5
    """How many of the statements are barriers."""
    names: list[str] = field(default_factory=list)
    """Reads whose results can be used."""

    def text(self) -> str:
        """The kernel."""
        r = self.random
        self.waves = r.choice([2, 4, 4, 8])
        slots = self.waves if self.by_wave else 2
        lines = [f"kernel @random waves={self.waves} {{", f"  shared %a : {slots} x 64", "  shared %b : 64"]
        lines += self.statements(r.randrange(3), "  ", False)
        times = r.choice([1, 1, 1, 1, 2])
        lines += self.held(">=", times)
        lines += self.statements(r.randrange(2), "  ", False)
        lines.append(f"  loop %i in 0..{r.choice(['?', '?', '?', '1'])} {{")
        lines += self.statements(r.randint(2, 7), "    ", True)
        lines.append("  }")
        lines += self.statements(r.randrange(3), "  ", False)
        lines += self.held("<", times)
        lines += self.statements(r.randrange(3), "  ", False)
        return "\n".join([*lines, "}", ""])

    def held(self, which: str, times: int) -> list[str]:
        """The barrier that one half is delayed by, or catches up at."""
        barrier = self.random.choice(["workgroup_barrier"] * 3 + ["barrier"])
        return [f"  if wave {which} {self.waves // 2} {{", *[f"    {barrier}"] * times, "  }"]

    def statements(self, count: int, indent: str, in_loop: bool) -> list[str]:
        """A few statements in a row."""
        return [line for _ in range(count) for line in self.statement(indent, in_loop)]

    def statement(self, indent: str, in_loop: bool) -> list[str]:
        """One statement, or a conditional with a few."""
        r = self.random
        if r.random() < self.barriers:
            plain = ["barrier", "barrier", "workgroup_barrier", "workgroup_barrier", "wait_count lds=0"]
            waits = ["wait_count load=0", "wait_count load=1", "barrier load=0", "barrier load=1"]
            return [indent + r.choice(plain + waits if self.copies else plain)]
        kinds = ["read", "read", "write", "use", "atomic"] + ["copy", "copy"] * self.copies
        kind = r.choice(kinds + ["if", "some"] * (len(indent) < 5))
        if kind == "read":
            name = f"%x{len(self.names)}"
            self.names.append(name)
            return [f"{indent}{name} = read {self.view(in_loop)}"]
        if kind == "use":
            near = self.names[-2:]
            return [f"{indent}compute {r.choice(near)}"] if near else [f"{indent}compute"]
        if kind == "if":
            return [
                f"{indent}if %c {{",
                *self.statements(r.randint(1, 2), indent + "  ", in_loop),
                f"{indent}}}",
            ]
        if kind == "some":
            which = r.choice([f"< {self.waves // 2}", f">= {self.waves // 2}", "== 0"])
            what = r.choice(["read", "write"])
            return [f"{indent}if wave {which} {{", f"{indent}  {what} {self.view(in_loop)}", f"{indent}}}"]
        mnemonic = {"write": "write", "atomic": "atomic", "copy": "gather_to_lds"}[kind]
        return [f"{indent}{mnemonic} {self.view(in_loop)}"]

    def view(self, in_loop: bool) -> str:
        """Bytes to touch."""
        choices = ["%a", "%b", "%a[0]", "%a[1]"]
        if in_loop:
            choices += ["%a[%i % 2]", "%a[(%i + 1) % 2]"]
        if self.by_wave:
            half = self.waves // 2
            choices = [
                "%a[wave]",
                "%a[wave]",
                f"%a[(wave + {half}) % {self.waves}]",
                "%a[(wave + 1) % 2]",
                "%b",
            ]
        return self.random.choice(choices)
