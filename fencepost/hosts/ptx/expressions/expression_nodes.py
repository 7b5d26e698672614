"""Expressions: what a node is, and what can be read off one without making another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.reading.ssa import Definition

Scope = Literal["block", "warp", "thread"]
"""Among which threads a leaf has one value."""


@dataclass(frozen=True)
class Leaf:
    """A value that is not computed from others.

    `thread`: a special register such as tid.x. `uniform`: a parameter, a block number. `base`: the address of a
    shared variable. `iteration`: how often the loop with the header `block` has taken its back edge. `carried`: a
    register at the head of that loop, whose value comes from the iteration before. `opaque`: what an instruction
    or join gave, not followed.
    """

    kind: Literal["thread", "uniform", "base", "iteration", "carried", "opaque"]
    name: str
    block: int | None = None
    """Where it is defined, if its value may differ from one iteration to the next."""
    scope: Scope = "block"
    definition: Definition | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Expression:
    """One node. `payload` is a constant, a leaf, the constant and coefficients of a sum, or the low bit of an
    extract."""

    operation: str
    width: int
    arguments: tuple[Expression, ...]
    payload: object
    number: int

    @property
    def known(self) -> int | None:
        """The value of a constant."""
        return self.payload if self.operation == "constant" else None  # type: ignore[return-value]

    @property
    def leaf(self) -> Leaf:
        """The leaf of an expression that is one."""
        assert isinstance(self.payload, Leaf)
        return self.payload

    def __repr__(self) -> str:
        return show(self)


def show(value: Expression) -> str:
    """The expression as a formula, for people."""
    if value.operation == "constant":
        return str(value.payload)
    if value.operation == "leaf":
        return value.leaf.name
    if value.operation == "sum":
        constant, factors = sum_parts(value)
        terms = [show(a) if c == 1 else f"{c}*{show(a)}" for a, c in factors.items()]
        return "(" + " + ".join([*terms, *([str(constant)] if constant else [])]) + ")"
    inner = ", ".join(show(each) for each in value.arguments)
    return f"{value.operation}({inner})"


def sum_parts(value: Expression) -> tuple[int, dict[Expression, int]]:
    """An expression as a constant plus multiples of atoms."""
    if value.operation == "constant":
        assert isinstance(value.payload, int)
        return value.payload, {}
    if value.operation == "sum":
        payload: tuple[int, tuple[int, ...]] = value.payload  # type: ignore[assignment]
        return payload[0], dict(zip(value.arguments, payload[1], strict=True))
    return 0, {value: 1}


def trailing_zeros(number: int) -> int:
    """How many low bits are zero; many for zero itself."""
    return (number & -number).bit_length() - 1 if number else 128


def leaves(value: Expression) -> frozenset[Expression]:
    """Every leaf in an expression."""
    seen: set[Expression] = set()
    found: set[Expression] = set()
    todo = [value]
    while todo:
        each = todo.pop()
        if each not in seen:
            seen.add(each)
            if each.operation == "leaf":
                found.add(each)
            todo += each.arguments
    return frozenset(found)
