"""Which bytes of its allocation each wave touches.

An access of Wave touches, in every thread, some elements that follow each other. Here its *reach* is the stretch from
the first to the last byte of each wave, in between of which it may leave bytes out: larger than what is touched,
never smaller. What is not known is the whole allocation.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fencepost.hosts.wave.memory import Allocation
from fencepost.hosts.wave.nodes import FIELDS, Kind, Node, argument
from fencepost.hosts.wave.numbers import Numbers, Vector

GATHERED_AT, TILE_AT, TILE_SHAPE, DIMENSIONS = 3, 4, 3, 0
"""Where copies keep the index in shared memory and the shape of a tile, and allocations what they are indexed by."""

DWORD = 32
"""The least that a lane copies, in bits."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The first byte and the one behind the last: of all waves, and of each one."""

    lo: int
    hi: int
    waves: tuple[tuple[int, int], ...] = ()
    """For each wave; empty where all waves have the same."""
    threads: tuple[Vector, int] | None = None
    """The first element of each thread and how many follow it, where the reach is that of one access."""

    def union(self, other: Reach) -> Reach:
        """Both, and what is in between."""
        lo, hi = min(self.lo, other.lo), max(self.hi, other.hi)
        if self.waves == other.waves:
            return Reach(lo, hi, self.waves)
        count = len(self.waves or other.waves)
        both = zip(self.by_wave(count), other.by_wave(count), strict=True)
        return Reach(lo, hi, tuple((min(a, c), max(b, d)) for (a, b), (c, d) in both))

    def by_wave(self, count: int) -> tuple[tuple[int, int], ...]:
        """The first byte and the one behind the last, for each of so many waves."""
        return self.waves or ((self.lo, self.hi),) * count

    def overlaps(self, other: Reach) -> bool:
        """Whether they have a byte in common, in whatever waves."""
        return self.lo < other.hi and other.lo < self.hi

    def meets_other_waves(self, other: Reach, count: int) -> bool:
        """Whether two different waves can touch a common byte."""
        if not (self.waves or other.waves):
            return self.overlaps(other)
        mine, theirs = self.by_wave(count), other.by_wave(count)
        return any(
            lo < high and low < hi
            for one, (lo, hi) in enumerate(mine)
            for two, (low, high) in enumerate(theirs)
            if one != two
        )


@dataclass(slots=True)
class Footprints:
    """The bytes of accesses. Nodes with the same index, as copies of a loop's body have, are looked at once."""

    numbers: Numbers
    known: dict[Any, Reach | None] = field(default_factory=dict)

    def reach(self, node: Node, kind: Kind, allocation: Allocation) -> Reach | None:
        """The bytes of an access, in each wave; None if they are not known."""
        if kind is Kind.SCATTER:
            return None  # values in registers say where
        if kind is Kind.TENSOR_LOAD:
            return self._tile(node, allocation)
        elements = argument(node, FIELDS[kind].elements) or 1
        index = node.args[GATHERED_AT] if kind is Kind.GATHER else getattr(node, "index", None)
        mapping = argument(node, FIELDS[kind].mapping)
        if mapping is not None:
            one = self.numbers.integer(elements) == 1
            return self._mapped(mapping, index, kind, allocation) if one else None
        if not isinstance(index, dict) or len(index) != len(allocation.strides):
            return None
        starts = tuple([getattr(sequence, "start", sequence) for sequence in index.values()])
        key = (starts, elements, kind is Kind.GATHER, allocation.strides, allocation.bits)
        if key not in self.known:
            self.known[key] = self._reach(starts, elements, kind is Kind.GATHER, allocation)
        return self.known[key]

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
        first = Footprints(inner)._first(places, allocation)
        return None if first is None else self._bytes(first, 1, allocation)

    def _reach(
        self, starts: Sequence[Any], elements: Any, gathered: bool, allocation: Allocation
    ) -> Reach | None:
        count, first = self.numbers.integer(elements), self._first(starts, allocation)
        if first is None or count is None:
            return None
        if gathered:
            if count * allocation.bits < DWORD:
                return None  # lanes are four bytes apart then, whatever they copy
            # The first lane says where the wave begins; the lanes' elements follow each other from there.
            first, count = self._of_first_lanes(first), count * self._lanes()
        return self._bytes(first, count, allocation)

    def _first(self, starts: Sequence[Any], allocation: Allocation) -> Vector | None:
        """The number of the first element that each thread touches."""
        total: Vector = 0
        for expr, stride in zip(starts, allocation.strides, strict=True):
            start = self.numbers.integers(expr)
            if start is None:
                return None
            total = total + start * stride
        return total

    def _tile(self, node: Node, allocation: Allocation) -> Reach | None:
        """What an engine writes for a wave: a tile, row by row."""
        sizes = [self.numbers.integer(size) for size in node.args[TILE_SHAPE]]
        index = node.args[TILE_AT]
        if not len(sizes) == len(index) == len(allocation.strides):
            return None
        first = self._first([sequence.start for sequence in index.values()], allocation)
        if first is None:
            return None
        last = 0
        for size, stride in zip(sizes, allocation.strides, strict=True):
            if size is None:
                return None
            last += (size - 1) * stride
        return self._bytes(self._of_first_lanes(first), last + 1, allocation)

    def _bytes(self, first: Vector, count: int, allocation: Allocation) -> Reach | None:
        """The bytes from the first element of each thread on, together for each wave."""
        bits = allocation.bits
        if isinstance(first, np.ndarray):
            by_wave = self._by_wave(first)
            ends = zip(by_wave.min(axis=1).tolist(), by_wave.max(axis=1).tolist(), strict=True)
            waves = tuple((low * bits // 8, -(-(high + count) * bits // 8)) for low, high in ends)
        else:
            waves = ((first * bits // 8, -(-(first + count) * bits // 8)),)
        lo, hi = min(low for low, _ in waves), max(high for _, high in waves)
        # Behind the end is possible: whole waves are copied, and the last one may have less to do. Before the
        # beginning is not, so something about the index is not as it is taken to be.
        if lo < 0:
            return None
        return Reach(lo, hi, () if len(set(waves)) == 1 else waves, (first, count))

    def _of_first_lanes(self, first: Vector) -> Vector:
        """The value of the first lane of each thread's wave."""
        if not isinstance(first, np.ndarray):
            return first
        by_wave = self._by_wave(first)
        return np.repeat(by_wave[:, 0], by_wave.shape[1])

    def _by_wave(self, values: Vector) -> Vector:
        group = self.numbers.workgroup
        assert group is not None
        short = group.waves * group.lanes - len(values)
        padded = np.concatenate([values, np.repeat(values[-1:], short)]) if short else values
        return padded.reshape(group.waves, group.lanes)

    def _lanes(self) -> int:
        group = self.numbers.workgroup
        return group.lanes if group is not None else 64
