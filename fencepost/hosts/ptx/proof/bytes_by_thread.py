"""Bytes that an access touches, listed thread by thread: exact and quick where the block is known and the
address depends on nothing but the thread, iterations of short loops, and something that both threads share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts
from fencepost.hosts.ptx.expressions.lanes import Bits, Lane, Lanes, signed
from fencepost.hosts.ptx.proof.intervals import Iteration, Reached
from fencepost.hosts.ptx.proof.solver_questions import Questions, common
from fencepost.hosts.ptx.reading.arithmetic import signed as as_signed

MOST_POINTS = 1 << 18
MOST_ITERATIONS = 128
Cells = NDArray[np.int64]


@dataclass(frozen=True)
class Listed:
    """The bytes, each with the first and last thread that touches it; offsets count from `shared`."""

    cells: Cells
    first: Cells
    last: Cells
    shared: object
    """The part of the offset that is the same for both threads; only equal parts can be compared."""

    def apart_from(self, other: Listed) -> bool:
        """Whether no byte is touched by two threads, one through each access."""
        _, left, right = np.intersect1d(self.cells, other.cells, assume_unique=True, return_indices=True)
        owner = self.first[left]
        alone = (self.last[left] == owner) & (other.first[right] == owner) & (other.last[right] == owner)
        return bool(alone.all())


def contested(listed: Sequence[Listed], writes: Sequence[bool]) -> set[int]:
    """Which of some accesses touch a byte that two threads touch, one of them writing: all that can meet another one.

    They must be counted from the same `shared`. One pass over all their bytes, however many pairs there are."""
    if not listed:
        return set()
    cells = np.concatenate([each.cells for each in listed])
    first = np.concatenate([each.first for each in listed])
    last = np.concatenate([each.last for each in listed])
    numbers = np.repeat(np.arange(len(listed)), [each.cells.size for each in listed])
    if not cells.size:
        return set()
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    several = np.minimum.reduceat(first[order], starts) != np.maximum.reduceat(last[order], starts)
    written = np.logical_or.reduceat(np.array(writes)[numbers[order]], starts)
    sizes = np.diff(np.r_[starts, ordered.size])
    return set(np.unique(numbers[order][np.repeat(several & written, sizes)]).tolist())


class CannotList(Exception):
    """The expression depends on something that has no number here."""


class Points:
    """Numbers for leaves: every thread of the block in every iteration of some loops."""

    def __init__(self, block: tuple[int, int, int], loops: Mapping[int, int]) -> None:
        x, y, z = block
        sizes = [x * y * z, *loops.values()]
        self.count = int(np.prod(sizes))
        if self.count > MOST_POINTS:
            raise CannotList
        grid = np.indices(sizes).reshape(len(sizes), -1)
        self.threads = grid[0]
        tids = (self.threads % x, self.threads // x % y, self.threads // (x * y))
        self.leaves: dict[str, Bits] = {
            f"tid.{axis}": tid.astype(np.uint64) for axis, tid in zip("xyz", tids, strict=True)
        }
        self.iterations: dict[int, Bits] = {
            header: at.astype(np.uint64) for header, at in zip(loops, grid[1:], strict=True)
        }
        self.lanes = Lanes(self.count)
        self._done: dict[Expression, Lane] = {}

    def numbers(self, value: Expression, fixed: Mapping[int, Iteration]) -> Lane:
        """The value of an expression at every point."""
        found = self._done.get(value)
        if found is None:
            found = self._compute(value, fixed)
            self._done[value] = found
        return found

    def _compute(self, value: Expression, fixed: Mapping[int, Iteration]) -> Lane:
        if value.operation == "constant":
            return self.lanes.constant(value.known or 0, value.width)
        if value.operation == "leaf":
            return Lane(self._leaf(value, fixed), value.width)
        arguments = [self.numbers(each, fixed) for each in value.arguments]
        if value.operation == "sum":
            constant, factors = sum_parts(value)
            total = self.lanes.constant(constant, value.width)
            for argument, factor in zip(arguments, factors.values(), strict=True):
                scaled = self.lanes.binary("mul", argument, self.lanes.constant(factor, value.width))
                total = self.lanes.binary("add", total, scaled)
            return total
        rules: dict[str, Callable[[], Lane]] = {
            "not": lambda: self.lanes.invert(arguments[0]),
            "choose": lambda: self.lanes.choose(*arguments),
            "zext": lambda: self.lanes.extend(arguments[0], value.width, False),
            "sext": lambda: self.lanes.extend(arguments[0], value.width, True),
            "extract": lambda: self.lanes.extract(arguments[0], int(str(value.payload)), value.width),
        }
        if value.operation == "function":
            raise CannotList
        if value.operation in rules:
            return rules[value.operation]()
        return self.lanes.binary(value.operation, arguments[0], arguments[1])

    def _leaf(self, value: Expression, fixed: Mapping[int, Iteration]) -> Bits:
        leaf = value.leaf
        if leaf.kind == "thread" and leaf.name in self.leaves:
            return self.leaves[leaf.name]
        if leaf.kind == "iteration" and leaf.block is not None:
            if leaf.block in self.iterations:
                return self.iterations[leaf.block]
            mode = fixed.get(leaf.block)
            if mode is not None and mode.kind == "number":
                return np.full(self.count, np.uint64(mode.number), dtype=np.uint64)
        raise CannotList


class Listings:
    """Lists accesses of one kernel whose block is known."""

    def __init__(self, questions: Questions, block: tuple[int, int, int]) -> None:
        self.questions = questions
        self.block = block
        self._trips: dict[int, int | None] = {}

    def listed(
        self,
        offset: Expression,
        size: int,
        limit: int | None,
        conditions: tuple[Expression, ...],
        reached: Reached,
    ) -> Listed | None:
        """The bytes of an access; None if they cannot be listed."""
        try:
            return self._list(offset, size, limit, conditions, reached)
        except CannotList:
            return None

    def _list(
        self,
        offset: Expression,
        size: int,
        limit: int | None,
        conditions: tuple[Expression, ...],
        reached: Reached,
    ) -> Listed:
        iterations = dict(reached.iterations)
        own, shared = self._split(offset, iterations)
        loops = self._loops(own, iterations)
        points = Points(self.block, loops)
        held = np.ones(points.count, dtype=bool)
        for condition in (*self._facts(loops, reached.place.block), *conditions):
            try:
                held &= points.numbers(condition, iterations).bits != 0
            except CannotList:
                continue
        starts = signed(points.numbers(own, iterations))[held]
        threads = points.threads[held]
        if not shared:
            inside = (starts >= 0) & (starts + size <= (limit if limit is not None else 1 << 30))
            starts, threads = starts[inside], threads[inside]
        cells = (starts[:, None] + np.arange(size)).reshape(-1)
        return self._merged(cells, np.repeat(threads, size), shared)

    @staticmethod
    def _merged(cells: Cells, threads: Cells, shared: object) -> Listed:
        if not cells.size:
            return Listed(cells, cells, cells, shared)
        order = np.argsort(cells, kind="stable")
        cells, threads = cells[order], threads[order]
        starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
        first, last = np.minimum.reduceat(threads, starts), np.maximum.reduceat(threads, starts)
        return Listed(cells[starts], first, last, shared)

    def _split(self, offset: Expression, iterations: Mapping[int, Iteration]) -> tuple[Expression, object]:
        """The part of an offset that differs between threads, and the part that they share."""
        values = self.questions.forms.values
        constant, factors = sum_parts(offset)
        own: dict[Expression, int] = {}
        shared = []
        for atom, factor in factors.items():
            if common(self.questions, atom, iterations) and not self._is_numbered(atom, iterations):
                modes = [
                    (loop.header, iterations.get(loop.header))
                    for leaf in leaves(atom)
                    for loop in self.questions.evaluator.flow.loops_around(leaf.leaf.block or 0)
                ]
                shared.append((atom, as_signed(factor, 32), tuple(modes)))
            else:
                own[atom] = factor
        return values.total(constant, own, offset.width), tuple(shared)

    @staticmethod
    def _is_numbered(value: Expression, iterations: Mapping[int, Iteration]) -> bool:
        for leaf in leaves(value):
            mode = iterations.get(leaf.leaf.block) if leaf.leaf.block is not None else None
            if leaf.leaf.kind != "iteration" or mode is None or mode.kind != "number":
                return False
        return True

    def _facts(self, loops: Mapping[int, int], block: int | None) -> list[Expression]:
        """What is known about the iterations of some loops for a thread at a block."""
        found = []
        for header in loops:
            loop = self.questions.evaluator.flow.loop_of[header]
            found.append(self.questions.taken_again(loop))
            if block is not None and block not in loop:
                found.append(self.questions.left_then(loop))
        return [fact for fact in found if fact is not None]

    def _loops(self, value: Expression, iterations: Mapping[int, Iteration]) -> dict[int, int]:
        """The loops to run through, with how many iterations they have at most."""
        found = {}
        for leaf in leaves(value):
            header = leaf.leaf.block
            if leaf.leaf.kind != "iteration" or header is None:
                continue
            mode = iterations.get(header)
            if mode is None or mode.kind == "any":
                for each, trips in self._with_inner(header).items():
                    found[each] = trips
            elif mode.kind != "number":
                raise CannotList
        return found

    def _with_inner(self, header: int) -> dict[int, int]:
        """A loop and those whose last iteration its own iterations depend on, with their trips."""
        found = {}
        for each in self._needed(header):
            trips = self.trips(each)
            if trips is None:
                raise CannotList
            found[each] = trips
        return found

    def _needed(self, header: int) -> list[int]:
        fact = self.questions.taken_again(self.questions.evaluator.flow.loop_of[header])
        others = {
            leaf.leaf.block
            for leaf in (leaves(fact) if fact is not None else ())
            if leaf.leaf.kind == "iteration" and leaf.leaf.block is not None
        }
        return sorted({header, *others})

    def trips(self, header: int) -> int | None:
        """How many iterations a loop has at most, if its back edge depends on threads and other such loops
        alone."""
        if header not in self._trips:
            self._trips[header] = None
            self._trips[header] = self._count_trips(header)
        return self._trips[header]

    def _count_trips(self, header: int) -> int | None:
        """How many iterations a loop has at most, found by trying its condition in each; None if it cannot be."""
        fact = self.questions.taken_again(self.questions.evaluator.flow.loop_of[header])
        if fact is None:
            return None
        others = {}
        for each in self._needed(header):
            if each != header:
                trips = self.trips(each)
                if trips is None:
                    return None
                others[each] = trips
        try:
            points = Points(self.block, {**others, header: MOST_ITERATIONS})
            held: NDArray[np.bool_] = points.numbers(fact, {}).bits != 0
            for known in self._facts(others, header):
                held &= points.numbers(known, {}).bits != 0
        except CannotList:
            return None
        # An iteration is reached if the back edge was taken at the end of each one before.
        table: NDArray[np.bool_] = np.logical_and.accumulate(held.reshape(-1, MOST_ITERATIONS), axis=1)
        reached = [bool(table[:, at].any()) for at in range(MOST_ITERATIONS)]
        return None if reached[-1] else max(1, sum(reached))
