"""The names of one kernel or function while it is put together: what each stands for, and where it can be used.

Buffers can be used everywhere, and values too: one that is used above its definition is that of the iteration before.
A loop's variable can be used in the loop; what a loop carries, in it and behind it; what a conditional gives, behind
it; each until the region around ends. The numbers of a labelled block can be used in all blocks. The parser and the
builder share these rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.expr import Compare, Condition, Const, Expr, Flag, Var, depth, leaves
from fencepost.ir.limits import MOST_DEPTH
from fencepost.ir.source import FencepostError, Mark, Span
from fencepost.ir.trace import Graph

DEPENDENCIES = (ops.AsyncOperation, ops.MemoryCounterWait, ops.NullAsyncDep, ops.Carried)
"""What a barrier or a wait can come after."""


@dataclass(slots=True)
class Names:
    """Every name, without its sign except in `taken`."""

    buffers: dict[str, Buffer]
    values: dict[str, ops.ValueOperation] = field(default_factory=dict)
    arguments: dict[str, BufferArg] = field(default_factory=dict)
    """Names that stand for one buffer or another."""
    handed: dict[str, ops.Carried] = field(default_factory=dict)
    """What loops carry and conditionals give, from where it is named on."""
    homes: dict[str, Graph] = field(default_factory=dict)
    """For loop variables and what is forwarded: the region in which each can be used."""
    parameters: set[str] = field(default_factory=set)
    """Numbers of labelled blocks and those that the kernel is given, which can be used in any block."""
    given: set[str] = field(default_factory=set)
    """Those that the kernel is given, among them."""
    flags: dict[str, Span | None] = field(default_factory=dict)
    """Conditions that are not known, and where each is first used."""
    taken: dict[str, Span | None] = field(default_factory=dict)

    # ------------------------------------------------------------ definitions

    def claim(self, name: str, span: Span | None = None) -> None:
        """Take a name, sign included; buffers, numbers and values never share one."""
        if name in self.taken:
            first = self.taken[name]
            if first is not None and span is not None and span.line < first.line:
                # The numbers of blocks take their names before what stands above them in the text.
                first, span = span, first
            raise FencepostError(
                f"the name {name} is already taken",
                [Mark(span), *_defined(first, "first defined here")],
                code="FP104",
            )
        self.taken[name] = span

    def define_buffer(self, buffer: Buffer, span: Span | None = None) -> None:
        """Make an allocation known."""
        self.claim(f"%{buffer.name}", span)
        self._check_flags(buffer.name)
        self.buffers[buffer.name] = buffer

    def define_value(self, op: ops.ValueOperation, span: Span | None = None) -> None:
        """Make the value of an operation known under its name."""
        self.claim(f"%{op.name}", span)
        self.values[op.name] = op

    def define_variable(self, name: str, home: Graph) -> None:
        """Make the variable of a loop, whose name is claimed, known in it."""
        self.homes[name] = home
        self._check_flags(name)

    def announce(self, name: ops.Carried) -> None:
        """Take a name for what a loop carries or a conditional gives."""
        self.claim(f"%{name.name}", name.span)
        self.handed[name.name] = name

    def introduce(self, name: ops.Carried, home: Graph) -> None:
        """From here on, what is forwarded can be used in `home`."""
        self.homes[name.name] = home
        if name.kind == ops.VALUE:
            self.values[name.name] = name
            return
        if name.buffer is not None:
            self.arguments[name.name] = name.buffer
        self._check_flags(name.name)

    def define_parameter(self, name: ops.Carried) -> None:
        """Make a number of a labelled block known in all blocks."""
        self.parameters.add(name.name)
        self._check_flags(name.name)

    def define_given(self, name: str, span: Span | None = None) -> None:
        """Make a number that the kernel is given known everywhere in it."""
        self.claim(f"%{name}", span)
        self.parameters.add(name)
        self.given.add(name)

    def given_at(self, name: str, span: Span | None = None) -> str:
        """`name`, if the kernel is given a number of that name."""
        if name not in self.given:
            known = ", ".join(f"%{known}" for known in sorted(self.given)) or "none"
            taken = f"%{name}" in self.taken
            help_ = [] if taken else [("help", f"`param %{name}` in front of the first statement")]
            raise FencepostError(
                f"%{name} is no number that the kernel is given",
                [Mark(span), *_defined(self.taken.get(f"%{name}"))],
                code="FP104",
                notes=[("numbers", known), *help_],
            )
        return name

    def define_flag(self, name: str, span: Span | None = None) -> None:
        """Note that a name is used as a condition."""
        if (
            name in self.buffers
            or name in self.parameters
            or (name in self.homes and name not in self.values)
        ):
            raise self.no_condition(name, span)
        self.flags.setdefault(name, span)

    def _check_flags(self, name: str) -> None:
        if name in self.flags:
            raise self.no_condition(name, self.flags[name])

    # ------------------------------------------------------------ uses

    def reaches(self, name: str, here: Graph | None) -> bool:
        """Whether what regions forward under `name` can be used in `here`."""
        home = self.homes.get(name)
        if home is None:
            return name in self.parameters
        while here is not home:
            owner = here.owner if here is not None else None
            if owner is None:
                return False
            here = owner.graph
        return True

    def check_numbers(self, expr: Expr | Condition, here: Graph, span: Span | None = None) -> None:
        """Refuse an expression that is too deep, or in which a name is no number that can be used in `here`."""
        if isinstance(expr, (Const, Flag)):
            return
        if depth(expr) > MOST_DEPTH:
            raise FencepostError(f"an expression nested more than {MOST_DEPTH} deep", [Mark(span)])
        for leaf in leaves(expr):
            if isinstance(leaf, Var):
                name = leaf.name
                known = self.reaches(name, here)
                if not known or name in self.arguments or name in self.values:
                    raise self._no_number(name, span, known)

    def check_condition(self, condition: Condition, here: Graph, span: Span | None = None) -> Condition:
        """`condition`, if it can be asked in `here`."""
        if isinstance(condition, Compare):
            self.check_numbers(condition, here, span)
        else:
            self.define_flag(condition.name, span)
        return condition

    def value_at(self, name: str, here: Graph, span: Span | None = None) -> ops.ValueOperation | None:
        """The value called `name`, or None if it is not defined yet."""
        value = self.values.get(name)
        if isinstance(value, ops.Carried) and not self.reaches(name, here):
            raise self.out_of_reach(name, span)
        return value

    def handed_at(self, name: str, here: Graph, span: Span | None = None) -> ops.Forwarded:
        """What `name` alone forwards: a number, a buffer or a value."""
        if name in self.buffers:
            return self.buffers[name]
        if name in self.homes:
            if not self.reaches(name, here):
                raise self.out_of_reach(name, span)
            return self.arguments.get(name) or self.values.get(name) or Var(name)
        if name in self.parameters:
            return Var(name)
        if name in self.values:
            return self.values[name]
        if name in self.handed:
            raise self.out_of_reach(name, span)
        raise FencepostError(f"nothing above this line is called %{name}", [Mark(span)], code="FP104")

    # ------------------------------------------------------------ complaints

    def kind(self, name: str) -> str:
        """What a name that is taken stands for."""
        if name in self.buffers or name in self.arguments:
            return ops.BUFFER
        if name in self.values:
            return ops.VALUE
        if name in self.given:
            return ops.NUMBER
        return (
            (self.handed[name].kind or "a result that is not known yet")
            if name in self.handed
            else "a loop variable"
        )

    def out_of_reach(self, name: str, span: Span | None) -> FencepostError:
        """A complaint about something forwarded that cannot be used where it is."""
        if name not in self.handed:
            message, notes = f"%{name} is not the variable of a loop around this line", []
        elif self.handed[name].init is not None:
            message = f"%{name} cannot be used here"
            notes = [
                ("why", "what a loop carries is known in it and behind it, until the region around it ends")
            ]
        else:
            message = f"%{name} cannot be used here"
            notes = [("why", "what a conditional gives is known behind it, until the region around it ends")]
        marks = [Mark(span), *_defined(self.taken.get(f"%{name}"))]
        return FencepostError(message, marks, code="FP104", notes=notes)

    def no_condition(self, name: str, span: Span | None) -> FencepostError:
        """A complaint about a name that stands where a condition must."""
        kind = self.kind(name)
        return FencepostError(
            f"%{name} is {kind}, which is no condition",
            [Mark(span), *_defined(self.taken[f"%{name}"])],
            code="FP104",
            notes=[("help", f"compare it: `%{name} == 0`")] if kind != ops.BUFFER else [],
        )

    def _no_number(self, name: str, span: Span | None, known: bool) -> FencepostError:
        stands_for_other = name in self.buffers or name in self.arguments or name in self.values
        if stands_for_other and (known or name not in self.handed):
            return self.wrong_kind(name, "a number", span)
        return self.out_of_reach(name, span)

    def no_buffer(self, name: str, span: Span | None) -> FencepostError:
        """A complaint about a name that stands where a buffer must."""
        known = ", ".join(f"%{buffer}" for buffer in self.buffers) or "none"
        return self.wrong_kind(name, ops.BUFFER, span, [("buffers", known)])

    def wrong_kind(
        self, name: str, wanted: str, span: Span | None, notes: Sequence[tuple[str, str]] = ()
    ) -> FencepostError:
        """A complaint about a name that stands for something else than `wanted`, or for nothing."""
        if f"%{name}" not in self.taken:
            return FencepostError(
                f"there is no {wanted.removeprefix('a ')} %{name}", [Mark(span)], code="FP104", notes=notes
            )
        if name in self.handed and name not in self.homes and name not in self.parameters:
            return self.out_of_reach(name, span)
        return FencepostError(
            f"%{name} is {self.kind(name)}; {wanted} is wanted here",
            [Mark(span), *_defined(self.taken[f"%{name}"])],
            code="FP104",
        )


def check_use(op: ops.ValueOperation, value: ops.ValueOperation, span: Span | None = None) -> None:
    """Refuse a value that is no async operation, nor forwards one."""
    if isinstance(op, ops.SyncOperation) and not isinstance(value, DEPENDENCIES):
        raise FencepostError(
            f"{op.mnemonic} cannot come after %{value.name}: {value.mnemonic} is not asynchronous",
            [Mark(span), *_defined(value.span)],
            code="FP105",
            notes=[
                (
                    "help",
                    "`after` takes async operations, waits, null_async_dep, and what is forwarded of these",
                )
            ],
        )


def _defined(span: Span | None, text: str = "defined here") -> list[Mark]:
    return [Mark(span, text)] if span is not None else []
