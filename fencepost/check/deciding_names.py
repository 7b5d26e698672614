"""The names of a kernel or function that decide anything: which bytes are touched, which way a branch goes.

Loops carry numbers and buffers from one iteration to the next, and conditionals give them to what follows.
Only those that decide something, themselves or through others, have to be followed. A number that grows
without end is followed modulo `modulus`, where nothing can distinguish values that far from each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import lcm

from fencepost.check.concrete_access import depends_on_wave, view_names, view_parts
from fencepost.check.expression_periods import period_of
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.expr import Condition, Expr, Var, leaves
from fencepost.ir.loop_carried import names_of
from fencepost.ir.trace import Body

Value = Expr | Buffer
"""What a name that is forwarded can be given: a number or a buffer."""

LARGEST_MODULUS = 4096
FORWARDING = (ops.Iterate, ops.Next, ops.Give, ops.Branch)
"""Operations that give names what they stand for from there on."""
ASKING = (ops.Conditional, ops.CondBranch)
TELLING = (*FORWARDING, *ASKING, ops.MemoryOperation)
"""Operations with expressions in them: nothing else decides, or is decided by, a name."""


@dataclass(slots=True)
class Names:
    """What the names of one body are for."""

    deciding: set[str] = field(default_factory=set)
    """Loop variables and handed-on names that decide something."""
    handed: dict[str, ops.Carried] = field(default_factory=dict)
    """Those among them that loops or conditionals forward, in the order of the text."""
    modulus: dict[str, int] = field(default_factory=dict)
    """Numbers among those of which only the remainder matters."""
    order: dict[str, int] = field(default_factory=dict)
    """Where loops and conditionals introduce each name in the text."""
    touches_by_wave: bool = False
    """Whether waves touch different bytes."""
    phases: bool = True
    """Whether it matters which phase an mbarrier is waited for."""

    @classmethod
    def of(cls, body: Body, *, phases: bool = True) -> Names:
        """Read a kernel or function."""
        names = cls(phases=phases)
        given: dict[str, ops.Carried] = {}
        feeds: dict[str, list[Value]] = {}
        telling: list[ops.Operation] = [op for op in body.preorder_walk() if isinstance(op, TELLING)]
        for op in telling:
            names.deciding |= view_names(op, phases=phases)
            names.touches_by_wave = names.touches_by_wave or depends_on_wave(op)
            condition = condition_of(op)
            if condition is not None:
                names.deciding |= variables(condition)
            if isinstance(op, ops.Iterate):
                names.order.setdefault(op.var, len(names.order))
            if isinstance(op, FORWARDING):
                for name, value in given_at(op):
                    names.order.setdefault(name.name, len(names.order))
                    given[name.name] = name
                    feeds.setdefault(name.name, []).append(value)
        if feeds:
            todo = [name for name in names.deciding if name in feeds]
            while todo:
                more = {used for value in feeds[todo.pop()] for used in variables(value)} - names.deciding
                names.deciding |= more
                todo += [name for name in more if name in feeds]
            names.handed = {name: given[name] for name in given if name in names.deciding}
            names.modulus = _moduli(names, telling)
        return names


def given_at(op: ops.Operation | None) -> Iterator[tuple[ops.Carried, Value]]:
    """The numbers and buffers that names are given at an operation, all at the same time."""
    for name, value in _handed(op):
        if not isinstance(value, ops.ValueOperation):
            yield name, value


def results_given_at(op: ops.Operation | None) -> list[tuple[ops.Carried, ops.ValueOperation]]:
    """The results of other operations that names are given at an operation."""
    if not isinstance(op, (ops.Iterate, ops.Next, ops.Give)):
        return []
    return [(name, value) for name, value in _handed(op) if isinstance(value, ops.ValueOperation)]


def _handed(op: ops.Operation | None) -> Iterable[tuple[ops.Carried, ops.Forwarded]]:
    if isinstance(op, ops.Iterate):
        return [(name, name.init) for name in op.carried if name.init is not None]
    if isinstance(op, (ops.Next, ops.Give)) and op.graph is not None:
        owner = op.graph.owner
        assert isinstance(owner, (ops.Iterate, ops.Conditional))
        return zip(names_of(owner), op.values, strict=True)
    if isinstance(op, ops.Branch):
        return zip(op.names, op.args, strict=True)
    return ()


def condition_of(op: ops.Operation) -> Condition | None:
    """The condition that an operation asks, if it does."""
    return op.condition if isinstance(op, ASKING) else None


def variables(value: Value | Condition) -> set[str]:
    """The names in an expression, condition or buffer."""
    if isinstance(value, Buffer):
        return {value.name} if isinstance(value, BufferArg) else set()
    return {leaf.name for leaf in leaves(value) if type(leaf) is Var}


def decisive(op: ops.Operation, names: Names) -> Iterator[tuple[Expr | Condition, int | None]]:
    """The expressions of an operation that decide something.

    Each comes with the modulus of the name that it is for, where it is for one that is followed modulo something.
    """
    condition = condition_of(op)
    if condition is not None:
        yield condition, None
    for part in view_parts(op, phases=names.phases):
        yield part, None
    for name, value in given_at(op):
        if name.name in names.handed and isinstance(value, Expr):
            yield value, names.modulus.get(name.name)


def period_in(operations: Iterable[ops.Operation], name: str, names: Names) -> int | None:
    """After what distance in a variable everything that operations decide repeats; None if something does not."""
    period = 1
    for op in operations:
        for part, modulus in decisive(op, names):
            repeats = period_of(part, name, modulus)
            if repeats is None:
                return None
            period = lcm(period, repeats)
    return period


def _moduli(names: Names, operations: list[ops.Operation]) -> dict[str, int]:
    """For each number that is forwarded: after what distance in it nothing can tell the difference."""
    numbers = [name for name, given in names.handed.items() if given.kind == ops.NUMBER]
    # What is decided directly comes first; what feeds a number then has to keep as much as that number keeps.
    direct: dict[str, list[ops.Operation]] = {name: [] for name in numbers}
    feeding: dict[str, list[ops.Operation]] = {name: [] for name in numbers}
    for op in operations:
        found = feeding if next(given_at(op), None) is not None else direct
        used = {name for part, _ in decisive(op, names) for name in variables(part)}
        for name in used & found.keys():
            found[name].append(op)
    for name in numbers:
        period = period_in(direct[name], name, names)
        if period is not None:
            names.modulus[name] = period
    changed = True
    while changed:
        changed = False
        for name in [name for name in numbers if name in names.modulus]:
            period = period_in(feeding[name], name, names)
            before = names.modulus[name]
            after = None if period is None else lcm(before, period)
            if after is None or after > LARGEST_MODULUS:
                del names.modulus[name]
                changed = True
            elif after != before:
                names.modulus[name] = after
                changed = True
    return names.modulus
