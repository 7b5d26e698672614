"""What a conditional asks: something about the wave, something that is the same for all waves, or who knows.

A barrier in a conditional is met by the waves that reach it. So a condition counts as the same for all waves only
where everything in it is seen to be; what is not known may differ from wave to wave.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from fencepost.hosts.wave.byte_views import by_wave
from fencepost.hosts.wave.nodes import Kind, Node, class_of, kind_of
from fencepost.hosts.wave.thread_numbers import THREADS, Numbers
from fencepost.ir.expr import Compare, Condition, Const, Flag, Unknown, Wave

ANYONE = Compare("<", Wave(), Unknown())
"""Any wave may take it or not."""

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Ge": operator.ge,
    "Gt": operator.gt,
    "Le": operator.le,
    "Lt": operator.lt,
    "Eq": operator.eq,
    "Ne": operator.ne,
}
_RELATIONS = {
    sympy.Ge: operator.ge,
    sympy.Gt: operator.gt,
    sympy.Le: operator.le,
    sympy.Lt: operator.lt,
    sympy.Eq: operator.eq,
    sympy.Ne: operator.ne,
}
_PLAIN = ("NewRegister", "CastOp", "Broadcast", "Extract", "ExtractSlice", "Permute", "Reshape", "BitcastOp")
"""Operations whose result is as uniform as what they are given, besides arithmetic."""
_ARITHMETIC = ("BinaryOpBase", "BinaryPyOp", "ComparisonPyOp", "UnaryPyOp", "SelectOp")


@dataclass(slots=True)
class Conditions:
    """Conditions of a trace."""

    numbers: Numbers
    registers: Mapping[Any, Node]
    """Symbols that registers are bound to."""
    asked: int = 0

    def of(self, condition: Any) -> Condition:
        """What a conditional asks."""
        holds = self._by_thread(condition)
        if holds is not None:
            return self._by_wave(holds)
        if isinstance(condition, sympy.Basic):
            uniform = self.is_uniform_expression(condition)
        else:
            uniform = self.is_uniform(condition)
        if not uniform:
            return ANYONE
        self.asked += 1
        return Flag(f"c{self.asked}")

    # ------------------------------------------------------------ what is known

    def _by_thread(self, condition: Any) -> Any:
        """Whether it holds, for each thread; None if that is not known."""
        if isinstance(condition, sympy.Basic):
            compare = _RELATIONS.get(type(condition))
            sides = condition.args
        else:
            cls = class_of(condition)
            compare = _COMPARISONS.get(cls.__name__) if cls is not None else None
            sides = tuple(_scalar(side) for side in condition.args)
        if compare is None or len(sides) != 2:
            return None
        left, right = (self.numbers.integers(side) for side in sides)
        return None if left is None or right is None else compare(left, right)

    def _by_wave(self, holds: Any) -> Condition:
        group = self.numbers.workgroup
        if not isinstance(holds, np.ndarray) or group is None:
            return Compare("==", Const(int(bool(np.all(holds)))), Const(1))
        lanes = [holds[at : at + group.lanes] for at in range(0, len(holds), group.lanes)]
        if any(wave.any() and not wave.all() for wave in lanes):
            return ANYONE  # lanes of one wave part: no barrier may stand in there
        takes = [int(wave[0]) for wave in lanes]
        first = takes.index(1) if 1 in takes else len(takes)
        if takes == [0] * first + [1] * (len(takes) - first):
            return Compare(">=", Wave(), Const(first)) if 0 < first < len(takes) else _always(first == 0)
        until = takes.index(0)
        if takes == [1] * until + [0] * (len(takes) - until):
            return Compare("<", Wave(), Const(until))
        return Compare("==", by_wave(takes), Const(1))

    # ------------------------------------------------------------ what is the same for all threads

    def is_uniform_expression(self, expr: Any) -> bool:
        """Whether an expression has the same value in all threads."""
        return all(
            symbol.name not in THREADS
            and (symbol not in self.registers or self.is_uniform(self.registers[symbol]))
            for symbol in expr.free_symbols
        )

    def is_uniform(self, node: Any, depth: int = 0) -> bool:
        """Whether a register has the same value in all threads."""
        if isinstance(node, int | float):
            return True
        if isinstance(node, sympy.Basic):
            return self.is_uniform_expression(node)
        if not hasattr(node, "args") or depth > 64:
            return False
        kind = kind_of(node)
        if kind is Kind.PLACEHOLDER:
            lifted = node.meta.get("lifted")
            return lifted is None or self.is_uniform(lifted, depth + 1)
        if kind is Kind.SCALAR:
            return self.is_uniform(node.args[0], depth + 1)
        if kind is Kind.READ:
            return self._reads_one_place(node, depth)
        names = {base.__name__ for base in (class_of(node) or object).__mro__}
        if names.isdisjoint(_PLAIN) and names.isdisjoint(_ARITHMETIC):
            return False
        return all(self.is_uniform(given, depth + 1) for given in node.all_input_nodes)

    def _reads_one_place(self, node: Node, depth: int) -> bool:
        """Whether a read is of the same element in all threads, which nobody writes to meanwhile."""
        index = getattr(node, "index", None)
        memory, _, mapping, given, *_ = node.args
        if kind_of(memory) is not Kind.PLACEHOLDER or not isinstance(index, dict):
            return False
        if mapping is not None and not all(self.is_uniform(value, depth + 1) for value in given):
            return False
        starts = [getattr(sequence, "start", sequence) for sequence in index.values()]
        return all(isinstance(start, int) or self.is_uniform_expression(start) for start in starts)


def _always(holds: bool) -> Condition:
    return Compare("==", Const(int(holds)), Const(1))


def _scalar(side: Any) -> Any:
    """A number that a node stands for, or what is given itself."""
    return side.args[0] if hasattr(side, "args") and kind_of(side) is Kind.SCALAR else side
