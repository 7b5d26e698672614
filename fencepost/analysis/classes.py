"""Accesses that behave alike share a class, and a class is one bit.

Two accesses are of one class if they touch the same bytes in the same way for the same waves. A set of
pending accesses is then an integer, and "does this access conflict with anything pending" is one `and`.
A kernel has few classes however many operations it has.

Members of a group conflict only across instances, so a class whose operations belong to one has several bits:
the first for "in this instance", then, for each loop around it from the outside in, one for "in an earlier
iteration of that loop" (`ages`). Leaving a loop makes its iterations part of one instance again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fencepost.analysis.access import MemoryAccessType, Region, access_type, depends_on_wave, region_of
from fencepost.flow import Block, Flow, Guard
from fencepost.ir import ops
from fencepost.ir.buffers import View


@dataclass(frozen=True, slots=True)
class AccessClass:
    """What decides whether two accesses conflict."""

    type: MemoryAccessType
    engine: str
    """The engine of an async copy, by its counter; empty for what the wave does itself."""
    regions: tuple[Region, ...]
    waves: int
    """The waves that can run it, as bits."""
    atomic: bool = False
    group: str = ""
    loops: tuple[int, ...] = ()
    """For members of a group: the loops around them, outermost first."""
    by_wave: tuple[tuple[Region, ...], ...] = ()
    """Where the bytes depend on the wave: those of each wave. `regions` are then all of them together."""

    def matters(self, later: AccessClass) -> bool:
        """Whether the order of the two matters if they touch a common byte."""
        if self.type is later.type is MemoryAccessType.READ or (self.atomic and later.atomic):
            return False
        return not (self.engine and self.engine == later.engine)  # one engine keeps its own order

    def meets(self, later: AccessClass, same_wave: bool) -> bool:
        """Whether they touch a common byte in one and the same wave, or else in two different ones."""
        if not (self.by_wave or later.by_wave):
            # Every wave touches the same bytes, so only which waves there are decides.
            either = self.waves | later.waves
            two = self.waves and later.waves and either & (either - 1)
            there = self.waves & later.waves if same_wave else two
            return bool(there) and _overlap(self.regions, later.regions)
        mine, theirs = _numbers(self.waves), _numbers(later.waves)
        return any(
            (one == other) is same_wave and _overlap(self.at(one), later.at(other))
            for one in mine
            for other in theirs
        )

    def example(self, later: AccessClass) -> tuple[int, int] | None:
        """Two waves that touch a common byte, different ones if there are."""
        alike = None
        for one in _numbers(self.waves):
            for other in _numbers(later.waves):
                if _overlap(self.at(one), later.at(other)):
                    if one != other:
                        return one, other
                    alike = (one, other)
        return alike

    def at(self, wave: int) -> tuple[Region, ...]:
        """The bytes of one wave."""
        return self.by_wave[wave] if self.by_wave else self.regions


def _overlap(one: tuple[Region, ...], other: tuple[Region, ...]) -> bool:
    return any(mine.overlaps(theirs) for mine in one for theirs in other)


def _numbers(waves: int) -> list[int]:
    return [wave for wave in range(waves.bit_length()) if waves >> wave & 1]


@dataclass(slots=True)
class ClassTable:
    """The classes of a kernel, their bits, and which bits each one conflicts with."""

    classes: list[AccessClass] = field(default_factory=list)
    bit: list[int] = field(default_factory=list)
    """For each class, its bit while no loop around it has gone round since; the bits of its ages follow."""
    conflicts: list[int] = field(default_factory=list)
    """For each class, the bits of pending accesses that it must not overtake."""
    flying: list[int] = field(default_factory=list)
    """For each class, the bits of copies in flight that it must not overtake."""
    of_op: dict[ops.Operation, int] = field(default_factory=dict)
    engines: dict[str, int] = field(default_factory=dict)
    """For each counter, the bits of the copies that it counts."""
    grouped: list[int] = field(default_factory=list)
    """The classes that have ages."""


def classify(flow: Flow) -> ClassTable:
    """Give every access of a kernel its class."""
    table = ClassTable()
    numbers: dict[AccessClass, int] = {}
    places: dict[tuple[View, ...], tuple[tuple[Region, ...], tuple[tuple[Region, ...], ...]]] = {}
    waves: dict[tuple[Guard, ...], int] = {(): (1 << flow.trace.waves) - 1}
    for block in flow.blocks:
        if block.guards not in waves:
            waves[block.guards] = _admitted(flow, block)
        for op in block.ops:
            if not isinstance(op, ops.MemoryOperation):
                continue
            if op.views not in places:
                places[op.views] = _places(op.views, flow.trace.waves)
            place, by_wave = places[op.views]
            engine = op.counter if isinstance(op, ops.AsyncCopy) else ""
            loops = tuple(loop.index for loop in flow.loops_around(block.index))[::-1] if op.group else ()
            atomic = isinstance(op, ops.AtomicOp)
            admitted = waves[block.guards]
            made = AccessClass(access_type(op), engine, place, admitted, atomic, op.group, loops, by_wave)
            number = numbers.setdefault(made, len(numbers))
            table.of_op[op] = number
    table.classes = list(numbers)
    _assign_bits(table)
    _find_conflicts(table)
    return table


def _places(views: tuple[View, ...], waves: int) -> tuple[tuple[Region, ...], tuple[tuple[Region, ...], ...]]:
    """The bytes of an access, and, where they depend on the wave, those of each wave."""
    if not any(depends_on_wave(view) for view in views):
        return tuple(region_of(view) for view in views), ()
    by_wave = tuple(tuple(region_of(view, wave) for view in views) for wave in range(waves))
    return tuple(dict.fromkeys(region for regions in by_wave for region in regions)), by_wave


def _admitted(flow: Flow, block: Block) -> int:
    """The waves that can take part in a block in some iteration."""
    admitted = 0
    for wave in range(flow.trace.waves):
        if all(guard.admits(wave, {}) for guard in block.guards):
            admitted |= 1 << wave
    return admitted


def _assign_bits(table: ClassTable) -> None:
    place = 0
    for number, made in enumerate(table.classes):
        table.bit.append(1 << place)
        place += 1 + len(made.loops)
        if made.loops:
            table.grouped.append(number)
        if made.engine:
            table.engines[made.engine] = table.engines.get(made.engine, 0) | all_ages(table, number)


def width(table: ClassTable) -> int:
    """How many bits all classes have together."""
    return all_ages(table, len(table.classes) - 1).bit_length() if table.classes else 0


def all_ages(table: ClassTable, number: int) -> int:
    """All bits of a class."""
    return table.bit[number] * ((2 << len(table.classes[number].loops)) - 1)


def _find_conflicts(table: ClassTable) -> None:
    """Compare only classes that share bytes: sweep over each address space from low to high."""
    table.conflicts = [0] * len(table.classes)
    table.flying = [0] * len(table.classes)
    starts: dict[str, list[tuple[int, int, int]]] = {}
    for number, made in enumerate(table.classes):
        for region in made.regions:
            starts.setdefault(region.space, []).append((region.lo, region.hi, number))
    pairs: set[tuple[int, int]] = set()
    for ranges in starts.values():
        ranges.sort()
        active: list[tuple[int, int]] = []
        for lo, hi, number in ranges:
            active = [entry for entry in active if entry[0] > lo]
            active.append((hi, number))
            pairs.update((other, number) for _, other in active)
    for one, other in _both_ways(pairs):
        earlier, later = table.classes[one], table.classes[other]
        if not earlier.matters(later):
            continue
        bits = all_ages(table, one)
        if earlier.group and earlier.group == later.group:
            bits &= ~table.bit[one]
        others = earlier.meets(later, same_wave=False)
        own = (earlier.engine or later.engine) and earlier.meets(later, same_wave=True)
        # Pending: a copy has been waited for, so its own wave knows. What a wave did itself may still be
        # outstanding when it tells an engine to copy.
        if others or (own and not earlier.engine):
            table.conflicts[other] |= bits
        # In flight: no wave knows, its own no more than the others.
        if earlier.engine and (others or own):
            table.flying[other] |= bits


def _both_ways(pairs: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for one, other in pairs:
        yield one, other
        if one != other:
            yield other, one
