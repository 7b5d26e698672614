"""Races in global memory that happen with every launch: of a block's threads and, where the grid is known, of blocks.

A proof is about shared memory. Of global memory little is known: where two pointers point, what sizes and strides
are. So nothing is proven here, but some races are certain: two accesses counted from one pointer, at places that
depend on nothing but the thread (and on what all threads have in common), by threads that nothing but their numbers
lets there, with no barrier between them on any way. Stores of two threads to one place count if the values differ for
certain. Nothing orders blocks; but a kernel that has atomics or fences may see to it, and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, sum_parts
from fencepost.hosts.ptx.expressions.lanes import signed
from fencepost.hosts.ptx.proof.bytes_by_thread import CannotList, Points
from fencepost.hosts.ptx.proof.global_memory import GlobalOrder, bytes_of, kind_of, same_for_all
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import NotJudged
from fencepost.hosts.ptx.reading.module import Instruction, Register, width_of

MOST_ACCESSES = 64
WARP = 32
Block = tuple[int, int, int]
ORIGIN: Block = (0, 0, 0)
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class GlobalAccess:
    """A plain access whose place depends on the thread alone."""

    place: Place
    writes: bool
    size: int
    base: str
    """The parameter that is the pointer."""
    common: frozenset[tuple[Expression, int]]
    """What all threads add to it."""
    offsets: Numbers
    threads: Numbers
    """Those that come here, whatever parameters are."""
    values: Numbers | None
    """What each thread stores, if that is known."""


@dataclass(frozen=True)
class GlobalRace:
    """Two threads that touch the same bytes, one of them writing."""

    places: tuple[Place, Place]
    threads: tuple[int, int]
    base: str
    blocks: tuple[Block, Block] | None = None
    """Of threads of two blocks: which blocks."""

    @property
    def in_one_warp(self) -> bool:
        """Whether two threads of one warp are all that race."""
        return self.blocks is None and self.threads[0] // WARP == self.threads[1] // WARP


def certain_races(evaluator: Evaluator, block: Block) -> list[GlobalRace]:
    """The races that happen with every launch, one for each pair of instructions; between blocks, if a block's own
    threads have none."""
    finder = _Finder(evaluator, block)
    return list(finder.races()) or list(finder.races_of_blocks())


class _Finder:
    def __init__(self, evaluator: Evaluator, block: Block) -> None:
        self.evaluator, self.flow = evaluator, evaluator.flow
        self.order = GlobalOrder(evaluator, (), distinct_pointers=True)
        try:
            self.points = Points(block, {})
        except CannotList:
            self.points = Points((1, 1, 1), {})
        self.number: Block | None = None
        """The number of the block, where that matters."""

    def races(self) -> Iterator[GlobalRace]:
        """Pairs of accesses that meet."""
        accesses = [each for each in self._accesses() if len(each.threads)]
        for number, first in enumerate(accesses):
            for second in accesses[number:]:
                if (first.writes or second.writes) and self._may_meet(first, second):
                    race = _meeting(first, second)
                    if race is not None and not self._in_step(race):
                        yield race

    def _in_step(self, race: GlobalRace) -> bool:
        """Whether the threads of a warp run in step, and nobody else races."""
        apart = race.places[0] != race.places[1]
        return self.evaluator.launch.warp_synchronous and apart and race.in_one_warp

    def races_of_blocks(self) -> Iterator[GlobalRace]:
        """Pairs of accesses by the first block and by its neighbours."""
        launch = self.evaluator.launch
        if launch.grid is None or launch.cluster is not None or self._has_order():
            return
        axes = [axis for axis in range(3) if launch.grid[axis] > 1]
        for axis in axes:
            neighbour = (int(axis == 0), int(axis == 1), int(axis == 2))
            ours, theirs = self._accesses_of(ORIGIN), self._accesses_of(neighbour)
            for first in ours:
                for second in theirs:
                    alike = first.base == second.base and first.common == second.common
                    if (first.writes or second.writes) and alike:
                        race = _meeting(first, second, of_blocks=True)
                        if race is not None:
                            yield replace(race, blocks=(ORIGIN, neighbour))

    def _accesses_of(self, number: Block) -> list[GlobalAccess]:
        self.number = number
        found = [each for each in self._accesses() if len(each.threads)]
        self.number = None
        return found

    def _in_block(self, value: Expression) -> Expression:
        """An expression in the block that is looked at."""
        number, grid = self.number, self.evaluator.launch.grid
        if number is None or grid is None:
            return value
        known = {f"ctaid.{axis}": each for axis, each in zip("xyz", number, strict=True)}
        known |= {f"nctaid.{axis}": each for axis, each in zip("xyz", grid, strict=True)}
        values = self.evaluator.values
        return values.substitute(
            value,
            lambda leaf: (
                values.constant(known[leaf.leaf.name], leaf.width) if leaf.leaf.name in known else None
            ),
        )

    def _has_order(self) -> bool:
        """Whether anything but barriers may put blocks in order."""
        return any(
            instruction.name not in ("bar", "barrier") and self._orders(number, index)
            for number in self.flow.order
            for index, instruction in enumerate(self.flow.blocks[number].instructions)
        )

    def _may_meet(self, first: GlobalAccess, second: GlobalAccess) -> bool:
        alike = first.base == second.base and first.common == second.common
        return alike and self._is_without_barrier(first.place, second.place)

    def _accesses(self) -> Iterator[GlobalAccess]:
        found = 0
        for number in self.flow.order:
            for index, instruction in enumerate(self.flow.blocks[number].instructions):
                if found == MOST_ACCESSES:
                    return
                place = Place(number, index)
                try:
                    access = self._access(place, instruction)
                except (CannotList, NotJudged):
                    continue
                if access is not None:
                    found += 1
                    yield access

    def _access(self, place: Place, instruction: Instruction) -> GlobalAccess | None:
        """A load or store whose bytes depend on the thread alone, beside what all threads share; None if others."""
        kind = kind_of(instruction)
        if (
            kind not in ("read", "write")
            or instruction.name not in ("ld", "st")
            or self.order.elsewhere(place)
        ):
            return None
        address, size = self.order.address(place), bytes_of(instruction)
        base = self.order.base(address)
        if address is None or base is None or not size:
            return None
        constant, parts = _linear(self._in_block(address))
        common = frozenset((atom, factor) for atom, factor in parts.items() if same_for_all(atom))
        offsets = np.full(self.points.count, constant, dtype=np.int64)
        for atom, factor in parts.items():
            if not same_for_all(atom):
                offsets = offsets + factor * signed(self.points.numbers(atom, {}))
        threads = self._coming(place, instruction)
        values = self._stored(place, instruction) if kind == "write" else None
        return GlobalAccess(place, kind == "write", size, base, common, offsets, threads, values)

    def _coming(self, place: Place, instruction: Instruction) -> Numbers:
        """The threads that come to a place, if nothing but their numbers decides."""
        conditions = [
            *self.evaluator.conditions(place.block),
            self.evaluator.guard_of(instruction, place.block, place.index),
        ]
        held = np.ones(self.points.count, dtype=bool)
        for condition in conditions:
            if condition.known != 1:
                held &= self.points.numbers(self._in_block(condition), {}).bits.astype(bool)
        return np.flatnonzero(held)

    def _stored(self, place: Place, instruction: Instruction) -> Numbers | None:
        """What each thread stores; None if that is not known, or is more than one register."""
        value = instruction.operands[-1]
        if not isinstance(value, Register):
            return None
        try:
            stored = self.evaluator.operand(value, place.block, place.index, width_of(value.type))
            return signed(self.points.numbers(self._in_block(self.order.forms.closed(stored)), {}))
        except (CannotList, NotJudged):
            return None

    def _is_without_barrier(self, first: Place, second: Place) -> bool:
        """Whether no way from where both come from to either passes a barrier."""
        above = first.block
        while not self.flow.dominates(above, second.block):
            above = self.flow.idom[above]
        if above == first.block == second.block:
            between = range(min(first.index, second.index), max(first.index, second.index) + 1)
            return not any(self._orders(above, index) for index in between)
        return all(
            self._is_clear(above, first if above == first.block else None, each) for each in (first, second)
        )

    def _is_clear(self, above: int, start: Place | None, end: Place) -> bool:
        """Whether nothing on any way from a place to another orders threads: no barrier, fence or atomic."""
        if end.block == above:
            return True
        begin = start.index if start is not None else len(self.flow.blocks[above].instructions)
        if any(
            self._orders(above, index) for index in range(begin, len(self.flow.blocks[above].instructions))
        ):
            return False
        # Blocks on a way: those that lead to the end without coming through its dominator again.
        waiting, seen = [end.block], {above}
        while waiting:
            block = waiting.pop()
            if block in seen:
                continue
            seen.add(block)
            last = end.index if block == end.block else len(self.flow.blocks[block].instructions)
            if any(self._orders(block, index) for index in range(last)):
                return False
            waiting += self.flow.predecessors[block]
        return True

    def _orders(self, block: int, index: int) -> bool:
        """Whether an instruction may put accesses of threads in order."""
        instruction = self.flow.blocks[block].instructions[index]
        found = effect(instruction)
        waits = instruction.name in (
            "bar",
            "barrier",
            "mbarrier",
            "membar",
            "fence",
            "atom",
            "shfl",
            "vote",
            "redux",
        )
        return (
            waits or found.barrier is not None or found.refused is not None or kind_of(instruction) == "order"
        )


def _linear(value: Expression) -> tuple[int, dict[Expression, int]]:
    """An address as a constant and multiples; index arithmetic is taken not to wrap around, as everywhere."""
    constant, parts = sum_parts(value)
    found: dict[Expression, int] = {}
    for atom, factor in parts.items():
        inner_constant, inner = 0, {atom: 1}
        if atom.operation in ("sext", "zext"):
            inner_constant, inner = _linear(atom.arguments[0])
            inner_constant = _as_signed(inner_constant, atom.arguments[0].width)
            inner = {each: _as_signed(one, atom.arguments[0].width) for each, one in inner.items()}
        constant += factor * inner_constant
        for each, one in inner.items():
            found[each] = found.get(each, 0) + factor * one
    return _as_signed(constant, value.width), {
        each: _as_signed(one, value.width) for each, one in found.items()
    }


def _as_signed(number: int, width: int) -> int:
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number


def _meeting(first: GlobalAccess, second: GlobalAccess, of_blocks: bool = False) -> GlobalRace | None:
    """Two threads that meet, of two blocks, or of two warps if there are such."""
    found: GlobalRace | None = None
    for byte in range(-(second.size - 1), first.size):
        # Where the second access begins at this byte of the first.
        shared, left, right = _at(first, second, byte)
        if not shared:
            continue
        for one, two in zip(left, right, strict=True):
            if (one == two and not of_blocks) or not _differ(first, second, one, two):
                continue
            race = GlobalRace((first.place, second.place), (int(one), int(two)), first.base)
            if of_blocks or not race.in_one_warp:
                return race
            found = found or race
    return found


def _at(first: GlobalAccess, second: GlobalAccess, byte: int) -> tuple[bool, Numbers, Numbers]:
    """Pairs of threads of which the second one's access begins at a byte of the first one's: of each place, two."""
    ours = first.offsets[first.threads] + byte
    theirs = second.offsets[second.threads]
    one: list[int] = []
    two: list[int] = []
    places: dict[int, list[int]] = {}
    for offset, thread in zip(theirs, second.threads, strict=True):
        kept = places.setdefault(int(offset), [])
        if len(kept) < 2 or (len(kept) == 2 and thread // WARP != kept[0] // WARP):
            kept.append(int(thread))
    for offset, thread in zip(ours, first.threads, strict=True):
        for other in places.get(int(offset), ()):
            one.append(int(thread))
            two.append(other)
    return bool(one), np.array(one, dtype=np.int64), np.array(two, dtype=np.int64)


def _differ(first: GlobalAccess, second: GlobalAccess, one: int, two: int) -> bool:
    """Whether it matters who comes first: a read and a write, or writes of different values."""
    if not (first.writes and second.writes):
        return True
    if first.values is None or second.values is None:
        return False
    return bool(first.values[one] != second.values[two])
