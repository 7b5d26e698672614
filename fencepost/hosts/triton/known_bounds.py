"""What conditions say of numbers where they hold: behind a branch on `s > 0`, `s - 1` is not below zero.

A block that is entered by one way of one branch runs only if the branch has gone that way, and so does everything
that this block leads to alone. Numbers are not assigned twice, so what held then holds there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fencepost.hosts.triton.mlir.tree import Block, Operation, Region, Value
from fencepost.ir.expr import Binary, Const, Expr, Var

BRANCH, IF = "cf.cond_br", "scf.if"
AND, COMPARE = "arith.andi", "arith.cmpi"
EQUAL, NOT_EQUAL, LESS, AT_MOST, MORE, AT_LEAST = range(6)
"""The number of an `arith.cmpi` says how it compares; the ones that follow compare without sign."""
OPPOSITE = {EQUAL: NOT_EQUAL, NOT_EQUAL: EQUAL, LESS: AT_LEAST, AT_LEAST: LESS, MORE: AT_MOST, AT_MOST: MORE}
SWAPPED = {EQUAL: EQUAL, NOT_EQUAL: NOT_EQUAL, LESS: MORE, MORE: LESS, AT_MOST: AT_LEAST, AT_LEAST: AT_MOST}
MOST = 16
"""Blocks that are gone back from an operation."""

Entered = dict[Block, list[tuple[Operation, int]]]
"""The branches that lead to each block, and by which of their ways."""


@dataclass(slots=True)
class KnownBounds:
    """Finds them for operations; the branches of a region are looked for once."""

    entered: dict[Region, Entered] = field(default_factory=dict)

    def at(self, op: Operation, number: Callable[[Value], Expr]) -> dict[str, int]:
        """What names are at least where an operation runs; `number` reads values."""
        found: dict[str, int] = {}
        for condition, holds in self.conditions(op):
            for name, least in _bounds(condition, holds, number):
                found[name] = max(least, found.get(name, least))
        return found

    def conditions(self, op: Operation) -> Iterator[tuple[Value, bool]]:
        """The conditions that decided that an operation runs, and whether each held."""
        block = op.block
        for _ in range(MOST):
            if block is None:
                return
            around = block.region.operation
            if block is block.region.blocks[0]:
                if around.name != IF:
                    return
                yield around.operands[0], block.region is around.regions[0]
                block = around.block
                continue
            ways = self.ways_to(block)
            if len(ways) != 1:
                return
            ((branch, way),) = ways
            if branch.name == BRANCH:
                yield branch.operands[0], way == 0
            block = branch.block

    def ways_to(self, block: Block) -> list[tuple[Operation, int]]:
        """The branches that lead to a block."""
        region = block.region
        if region not in self.entered:
            found: Entered = {}
            for op in (each.operations[-1] for each in region.blocks if each.operations):
                for way, successor in enumerate(op.successors):
                    found.setdefault(successor.block, []).append((op, way))
            self.entered[region] = found
        return self.entered[region].get(block, [])


def _bounds(condition: Value, holds: bool, number: Callable[[Value], Expr]) -> Iterator[tuple[str, int]]:
    """What a condition says of names, if it holds or does not."""
    todo = [condition]
    while todo:
        op = todo.pop().defining_operation
        if op is None:
            continue
        if op.name == AND and holds:
            todo += op.operands
        predicate = op.integer("predicate") if op.name == COMPARE else None
        if predicate not in OPPOSITE:
            continue
        how = predicate if holds else OPPOSITE[predicate]
        one, other = (number(value) for value in op.operands)
        if isinstance(one, Const):
            one, other, how = other, one, SWAPPED[how]
        if isinstance(other, Const) and how in (EQUAL, MORE, AT_LEAST):
            name, added = _name_and_constant(one)
            if name:
                yield name, other.value + (how == MORE) - added


def _name_and_constant(expr: Expr) -> tuple[str, int]:
    """A name, and what is added to it; no name if a number is something else."""
    match expr:
        case Var(name):
            return name, 0
        case Binary("+", Var(name), Const(added)):
            return name, added
        case Binary("-", Var(name), Const(taken)):
            return name, -taken
    return "", 0
