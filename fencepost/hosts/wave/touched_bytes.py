"""Which bytes of its allocation an access touches.

An access of Wave touches, in every thread, some elements that follow each other. Here its *reach* is the stretch from
the first to the last byte, in between of which it may leave bytes out: larger than what is touched, never smaller.
What is not known is the whole allocation.

The members of an expanded tile differ in a constant only. So an index is taken apart into a constant and the rest,
and what depends on threads is computed once for each rest.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import sympy

from fencepost.hosts.wave.lds import Allocation
from fencepost.hosts.wave.nodes import FIELDS, Kind, Node, argument
from fencepost.hosts.wave.thread_numbers import Numbers, Vector

GATHERED_AT, TILE_AT, TILE_SHAPE, DIMENSIONS = 3, 4, 3, 0
"""Where copies keep the index in shared memory and the shape of a tile, and allocations what they are indexed by."""

DWORD = 32
"""The least that a lane copies, in bits."""


class Reach(NamedTuple):
    """The first byte and the one behind the last, of all threads together, and where each thread begins."""

    lo: int
    hi: int
    first: Vector
    """The first element of each thread, less a constant,"""
    constant: int
    """which is this one,"""
    length: int
    """and how many it touches from there on."""


class _Start(NamedTuple):
    """Where threads begin, less a constant."""

    first: Vector
    least: int
    most: int


@dataclass(slots=True)
class Footprints:
    """The bytes of accesses."""

    numbers: Numbers
    apart: dict[Any, tuple[int, int]] = field(default_factory=dict)
    """Expressions taken apart: the number of the rest, and the constant."""
    rests: dict[tuple[Any, ...], int] = field(default_factory=dict)
    """What is left of expressions without their constants, as the parts of a sum, numbered."""
    starts: dict[Any, _Start | None] = field(default_factory=dict)

    def reach(self, node: Node, kind: Kind, allocation: Allocation) -> Reach | None:
        """The bytes of an access; None if they are not known."""
        if kind is Kind.SCATTER or not allocation.strides:
            return None  # values in registers say where, or it is not known how the memory is laid out
        if kind is Kind.TENSOR_LOAD:
            return self._tile(node, allocation)
        fields = FIELDS[kind]
        elements = argument(node, fields.elements) or 1
        index = node.args[GATHERED_AT] if kind is Kind.GATHER else getattr(node, "index", None)
        mapping = argument(node, fields.mapping)
        if mapping is not None:
            one = self.numbers.integer(elements) == 1
            return self._mapped(mapping, index, kind, allocation) if one else None
        if not isinstance(index, dict) or len(index) != len(allocation.strides):
            return None
        places = [getattr(sequence, "start", sequence) for sequence in index.values()]
        count = elements if type(elements) is int else self.numbers.integer(elements)
        if count is None:
            return None
        if kind is not Kind.GATHER:
            return self._from(places, count, allocation)
        if count * allocation.bits < DWORD:
            return None  # lanes are four bytes apart then, whatever they copy
        # The first lane says where the wave begins; the lanes' elements follow each other from there.
        return self._from(places, count * self._lanes(), allocation, by_wave=True)

    def _mapped(self, mapping: Any, index: Any, kind: Kind, allocation: Allocation) -> Reach | None:
        """The bytes of an access to one element whose place is a function of the index."""
        if kind not in (Kind.READ, Kind.WRITE) or not isinstance(index, dict):
            return None
        sequences = index.values()
        if len(mapping.iters) != len(sequences):
            return None
        given = {name: value.start for name, value in zip(mapping.iters, sequences, strict=True)}
        dims = allocation.node.args[DIMENSIONS]
        if any(not dim.is_Symbol for dim in dims):
            return None
        places = mapping.map_input_indices(dims) if kind is Kind.READ else mapping.map_output_indices(dims)
        inner = Numbers(self.numbers.workgroup, ChainMap(given, dict(self.numbers.symbols)))
        return Footprints(inner)._from(places, 1, allocation)

    def _tile(self, node: Node, allocation: Allocation) -> Reach | None:
        """What an engine writes for a wave: a tile, row by row."""
        sizes = [self.numbers.integer(size) for size in node.args[TILE_SHAPE]]
        index = node.args[TILE_AT]
        if not len(sizes) == len(index) == len(allocation.strides):
            return None
        last = 0
        for size, stride in zip(sizes, allocation.strides, strict=True):
            if size is None:
                return None
            last += (size - 1) * stride
        places = [sequence.start for sequence in index.values()]
        return self._from(places, last + 1, allocation, by_wave=True)

    def _from(
        self, places: Iterable[Any], count: int, allocation: Allocation, *, by_wave: bool = False
    ) -> Reach | None:
        """The bytes of so many elements, from where each thread begins, or else the first lane of each wave."""
        strides, constant = allocation.strides, 0
        rests: list[int] = []
        for expr, stride in zip(places, strides, strict=True):
            try:
                rest, more = self.apart[expr]
            except KeyError:
                rest, more = self.apart[expr] = self._taken_apart(expr)
            except TypeError:  # it cannot be looked up
                return None
            rests.append(rest)
            constant += more * stride
        key = (*rests, strides, by_wave)
        try:
            start = self.starts[key]
        except KeyError:
            start = self.starts[key] = self._start(rests, strides, by_wave)
        if start is None:
            return None
        bits = allocation.bits
        lo = (start.least + constant) * bits // 8
        # Behind the end is possible: whole waves are copied, and the last one may have less to do. Before the
        # beginning is not, so something about the index is not as it is taken to be.
        if lo < 0:
            return None
        return Reach(lo, -(-(start.most + constant + count) * bits // 8), start.first, constant, count)

    def _taken_apart(self, expr: Any) -> tuple[int, int]:
        """The number of the rest of an expression, and its constant."""
        constant = 0
        rest: tuple[Any, ...] = (expr,)
        if isinstance(expr, int | sympy.Integer):
            constant, rest = int(expr), ()
        elif isinstance(expr, sympy.Add) and isinstance(expr.args[0], sympy.Integer):
            constant, rest = int(expr.args[0]), expr.args[1:]
        return self.rests.setdefault(rest, len(self.rests)), constant

    def _start(self, rests: Sequence[int], strides: tuple[int, ...], by_wave: bool) -> _Start | None:
        """Where each thread begins, without constants."""
        parts = list(self.rests)
        total: Vector = 0
        for number, stride in zip(rests, strides, strict=True):
            along = self.numbers.sum_of(parts[number])
            if along is None:
                return None
            total = total + along * stride
        if not isinstance(total, np.ndarray):
            return _Start(int(total), int(total), int(total))
        if by_wave:
            total = self._of_first_lanes(total)
        return _Start(total, int(total.min()), int(total.max()))

    def _of_first_lanes(self, first: Vector) -> Vector:
        """The value of the first lane of each thread's wave."""
        return np.repeat(first[:: self._lanes()], self._lanes())[: first.size]

    def _lanes(self) -> int:
        group = self.numbers.workgroup
        return group.lanes if group is not None else 64
