"""Stores to places that threads work out together: `if (keep) list[sum_of_flags_before] = x;`.

A solver that looks at two threads sees two numbers that were loaded. All threads side by side show that they are sums
of flags (`block_paths.py`), and two of those differ if what one has more is at least one: the flag of the thread
itself, say. That is decided here for all pairs of threads, by the least and the largest distance of their places.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.bit_sums import is_flag
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, sum_parts
from fencepost.hosts.ptx.proof.block_paths import BlockPaths
from fencepost.hosts.ptx.proof.block_values import Undetermined, Visit
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.prove import Proof, Prover
from fencepost.hosts.ptx.proof.race_solver import ENOUGH
from fencepost.hosts.ptx.proof.races import place_pairs
from fencepost.hosts.ptx.reading.arithmetic import signed
from fencepost.hosts.ptx.reading.flow import NotJudged

ROUNDS = 3
"""A proof stops after a few pairs; so often, those that are left are looked at."""
MOST_CASES = 8
"""Sides of conditions in one address."""
MOST_CELLS = 1 << 25
"""Of the tables of flags that places are compared by."""
WRAPS = 1 << 32
Pair = frozenset[Place]
Columns = tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]
]


def with_scattered_stores(prover: Prover, proof: Proof, seconds: float) -> Proof:
    """The proof again, if the pairs that were in its way are of places that threads have worked out together."""
    given, apart = proof, set[Pair]()
    for _ in range(ROUNDS):
        if not proof.candidates or proof.open or proof.doubts or proof.refused:
            return proof
        pairs = {pair for each in proof.candidates for pair in place_pairs(each.first, each.second)}
        copies = any("copy" in (each.first.kind, each.second.kind) for each in proof.candidates)
        if pairs & apart or copies or prover.evaluator.launch.block is None:
            return proof
        found = places_apart(prover, pairs, seconds)
        if not pairs <= found:
            return proof
        apart |= found
        prover = Prover(*prover.given)
        prover.races.apart_in_a_block = frozenset(apart)
        proof = prover.prove()
        if not _in_one_order(prover, proof):
            return given
    return proof


def places_apart(prover: Prover, pairs: set[Pair], seconds: float) -> set[Pair]:
    """Those pairs of accesses at which no two threads of a block touch the same bytes between two barriers."""
    wanted = {place for pair in pairs for place in pair}
    block = BlockPaths(prover.evaluator, prover.races.addresses, wanted, seconds)
    try:
        block.run(prover.takes_alike)
    except (Undetermined, NotJudged):
        return set()
    block.end = time.thread_time() + seconds
    return {
        pair
        for pair in pairs
        if _are_apart(block, [each for each in block.visits if each.place in pair], len(pair) > 1)
    }


def _are_apart(block: BlockPaths, visits: Sequence[Visit], two: bool) -> bool:
    by_interval: dict[int, list[Visit]] = {}
    for each in visits:
        by_interval.setdefault(block.interval_of(each.interval), []).append(each)
    return all(_Table(block, each, two).apart() for each in by_interval.values())


def _in_one_order(prover: Prover, proof: Proof) -> bool:
    """Whether accesses of one warp, where that runs in step, are in an order that does not depend on which side of a
    condition comes first."""
    if not prover.evaluator.launch.warp_synchronous:
        return True
    flow = prover.flow
    for each in proof.weak:
        one, other = sorted(
            (each.first.reached.place.block, each.second.reached.place.block), key=flow.position.__getitem__
        )
        if not (flow.dominates(one, other) and flow.postdominates(other, one)):
            return False
    return len(proof.weak) <= ENOUGH


@dataclass(frozen=True)
class _Row:
    """One way to an access: where it goes if some flags are what they are there."""

    place: Place
    thread: int
    constant: int
    factors: dict[Expression, int]
    held: dict[Expression, int]
    size: int


def _of_two_threads(rows: Iterable[_Row]) -> list[_Row]:
    """Of rows that are alike but for the thread, two: from any other thread, one of them is a different one."""
    found: dict[object, dict[int, _Row]] = {}
    for row in rows:
        said = (
            row.place,
            row.constant,
            row.size,
            frozenset(row.factors.items()),
            frozenset(row.held.items()),
        )
        alike = found.setdefault(said, {})
        if len(alike) < 2:
            alike.setdefault(row.thread, row)
    return [row for alike in found.values() for row in alike.values()]


class _Table:
    """The addresses of all threads in one interval, as sums of flags."""

    def __init__(self, block: BlockPaths, visits: Sequence[Visit], two: bool) -> None:
        self.values = block.values
        self.placed = block.placed
        self.end = block.end
        self.two = two
        """Whether the question is about two instructions, not about one."""
        self.rows = _of_two_threads(row for visit in visits for row in self._rows(visit))

    def apart(self) -> bool:
        """Whether no two threads have a byte in common, of two instructions at one of them each; no if time is up."""
        rows = self.rows
        columns = {atom: None for row in rows for atom in (*row.factors, *row.held)}
        if len(rows) * len(columns) > MOST_CELLS:
            return False
        table = self._columns(list(columns) or [self.values.constant(1, 1)])
        numbers = {place: number for number, place in enumerate({row.place for row in rows})}
        places = np.array([numbers[row.place] for row in rows])
        threads = np.array([row.thread for row in rows])
        largest = max((row.size for row in rows), default=0)
        for at in range(len(rows)):
            if time.thread_time() > self.end:
                return False
            asked = (np.arange(len(rows)) > at) & (threads != threads[at])
            others = np.flatnonzero(asked & (places != places[at]) if self.two else asked)
            if others.size and not _distant(at, others, table, largest):
                return False
        return True

    def _columns(self, atoms: Sequence[Expression]) -> Columns:
        """The rows as numbers: factors, constants, which flags are held to be one and zero; and the largest value of
        each atom."""
        rows, columns = self.rows, {atom: number for number, atom in enumerate(atoms)}
        shape = (len(rows), len(atoms))
        factors, yes, no = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for at, row in enumerate(rows):
            for atom, factor in row.factors.items():
                factors[at, columns[atom]] = factor
            for atom, value in row.held.items():
                (yes if value else no)[at, columns[atom]] = True
        constants = np.array([float(row.constant) for row in rows])
        most = np.array([1.0 if atom.width == 1 else float(self.values.upper(atom)) for atom in atoms])
        return factors, constants, yes, no, most

    def _rows(self, visit: Visit) -> Iterator[_Row]:
        held = self._flags(self.values.conjuncts(visit.condition))
        for address, more in self._cases(visit.address, held):
            constant, factors = sum_parts(self.placed(address))
            known = {(a.arguments[0] if is_flag(a) else a): signed(c, a.width) for a, c in factors.items()}
            yield _Row(visit.place, visit.thread, signed(constant, address.width), known, more, visit.size)

    def _flags(self, conditions: Sequence[Expression]) -> dict[Expression, int]:
        """What conditions that hold say about flags."""
        return {
            each.arguments[0] if each.operation == "not" else each: int(each.operation != "not")
            for each in conditions
        }

    def _cases(
        self, address: Expression, held: dict[Expression, int]
    ) -> list[tuple[Expression, dict[Expression, int]]]:
        """An address without if-then-else, for every way that their conditions may be."""
        found: list[tuple[Expression, dict[Expression, int]]] = []
        todo = [(address, held)]
        while todo:
            case, known = todo.pop()
            choice = next((each for each in sum_parts(case)[1] if each.operation == "choose"), None)
            if choice is None or len(found) + len(todo) > MOST_CASES:
                found.append((case, known))
                continue
            condition, yes, no = choice.arguments
            for value, side in ((1, yes), (0, no)):
                if known.get(condition, value) == value:
                    todo.append((self._in_place(case, choice, side), {**known, condition: value}))
        return found

    def _in_place(self, case: Expression, choice: Expression, side: Expression) -> Expression:
        constant, factors = sum_parts(case)
        factor = factors.pop(choice)
        scaled = self.values.binary("mul", side, self.values.constant(factor, side.width))
        return self.values.binary("add", self.values.total(constant, factors, case.width), scaled)


def _distant(at: int, others: NDArray[np.int64], table: Columns, size: int) -> bool:
    """Whether the places of one row are always as far from those of others as an access is large."""
    factors, constants, yes, no, most = table
    apart = factors[others] - factors[at]
    is_one, is_zero = yes[others] | yes[at], no[others] | no[at]
    possible = ~(is_one & is_zero).any(axis=1)
    ends = apart * np.where(is_zero, 0, most)
    begins = np.where(is_one, ends, 0)
    least = constants[others] - constants[at] + np.minimum(begins, ends).sum(axis=1)
    largest = constants[others] - constants[at] + np.maximum(begins, ends).sum(axis=1)
    above = (least >= size) & (largest <= WRAPS - size)
    below = (largest <= -size) & (least >= size - WRAPS)
    return bool((above | below | ~possible).all())
