"""Accesses that behave alike share a class, and a class is one bit.

Two accesses are of one class if they touch the same bytes in the same way for the same waves. A set of
pending accesses is then an integer, and "does this access conflict with anything pending" is one `and`.
A kernel has few classes however many operations it has.

Members of a group conflict only across instances, and a part of a buffer that moves on with a loop meets itself
only in the same iteration. So a class of such accesses has several bits: the first for "in this iteration",
then, for each loop around it from the outside in, one for "in an earlier iteration of that loop" (its *ages*).
Leaving a loop makes its iterations part of one again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fencepost.analysis.access import (
    MemoryAccessType,
    Region,
    access_type,
    depends_on_wave,
    merged,
    regions_of,
    update_of,
)
from fencepost.analysis.footprints import Footprint, Range, footprint_of, narrowed
from fencepost.analysis.phases import Phases, values_in
from fencepost.analysis.solver import ANY, LATER, SAME, Side, Solver
from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import Var, leaves

Filter = Callable[[ops.MemoryOperation, ops.MemoryOperation], bool]
"""Whether a pair of accesses, the earlier one first, is to be left alone."""


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
    update: str | None = None
    """The update that it does, if that commutes with others of its kind."""
    group: str = ""
    loops: tuple[int, ...] = ()
    """Where it matters in which iteration: the loops around it, outermost first."""
    by_wave: tuple[tuple[Region, ...], ...] = ()
    """Where the bytes depend on the wave: those of each wave. `regions` are then all of them together."""
    footprints: tuple[Footprint, ...] = ()
    """Where the bytes depend on loops that are not followed: as expressions. `regions` are then all they can be."""
    ranges: tuple[Range, ...] = ()
    """What the variables in `footprints` can be, outermost loop first."""
    tells: Buffer | None = None
    """The buffer of the barrier object that the engine tells when it is done,"""
    told: tuple[Region, ...] = ()
    """and its bytes."""
    op: ops.MemoryOperation | None = None
    """The one operation of the class, where a filter has to tell operations apart."""

    @property
    def writes(self) -> bool:
        """Whether it changes memory."""
        return self.type is not MemoryAccessType.READ

    def matters(self, later: AccessClass) -> bool:
        """Whether the order of the two matters if they touch a common byte."""
        if not (self.writes or later.writes) or (self.update is not None and self.update == later.update):
            return False
        # One engine keeps the order of its copies. What it reads and what it writes it may overlap.
        return not (self.engine and self.engine == later.engine and self.writes and later.writes)

    def meets(self, later: AccessClass, same_wave: bool, age: int, solver: Solver) -> bool:
        """Whether they touch a common byte in one and the same wave, or else in two different ones.

        `age` tells which loop has gone round since the earlier access: see the module.
        """
        if self.footprints or later.footprints:
            return self.could_meet(later, same_wave, age, solver)
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

    def could_meet(self, later: AccessClass, same_wave: bool, age: int, solver: Solver) -> bool:
        """The same where expressions decide: the intervals first, then the solver."""
        either = self.waves | later.waves
        if not (
            self.waves & later.waves if same_wave else self.waves and later.waves and either & (either - 1)
        ):
            return False
        common = 0
        for mine, theirs in zip(self.ranges, later.ranges, strict=False):
            if mine.loop != theirs.loop:
                break
            common += 1
        relations = [SAME] * common
        if 0 < age <= common:
            relations[age - 1 :] = [LATER] + [ANY] * (common - age)
        # Waves that are listed one by one, or that take part only sometimes, are not told apart here.
        told_apart = None if self.by_wave or later.by_wave else same_wave
        return any(
            one.within.overlaps(other.within)
            and solver.can_meet(
                Side(one, self.ranges), Side(other, later.ranges), tuple(relations), told_apart
            )
            for one in self.expressions()
            for other in later.expressions()
        )

    def expressions(self) -> tuple[Footprint, ...]:
        """The bytes as expressions."""
        return self.footprints or tuple(Footprint.of_region(region) for region in self.regions)

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

    def among(self, waves: int) -> AccessClass:
        """The same access as far as some waves make it."""
        return self if not self.waves & ~waves else replace(self, waves=self.waves & waves)

    def at(self, wave: int) -> tuple[Region, ...]:
        """The bytes of one wave."""
        return self.by_wave[wave] if self.by_wave else self.regions


def _overlap(one: tuple[Region, ...], other: tuple[Region, ...]) -> bool:
    if len(one) * len(other) <= 16:
        return any(mine.overlaps(theirs) for mine in one for theirs in other)
    # Many small pieces, as lanes touch them: side by side in the order of their addresses.
    mine, theirs = list(merged(one)), list(merged(other))
    while mine and theirs:
        if mine[-1].overlaps(theirs[-1]):
            return True
        (mine if mine[-1] > theirs[-1] else theirs).pop()
    return False


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
    accesses: list[list[tuple[int, int]]] = field(default_factory=list)
    """For each phase, the place and class of each access."""
    engines: dict[str, int] = field(default_factory=dict)
    """For each counter, the bits of the copies that it counts."""
    grouped: list[int] = field(default_factory=list)
    """The classes that have ages."""
    solver: Solver = field(default_factory=lambda: Solver(1))


class Places(NamedTuple):
    """The bytes of an access: see AccessClass."""

    regions: tuple[Region, ...]
    by_wave: tuple[tuple[Region, ...], ...] = ()
    footprints: tuple[Footprint, ...] = ()
    ranges: tuple[Range, ...] = ()


def classify(flow: Flow, phases: Phases, ignore: Filter | None = None, *, slots: bool = True) -> ClassTable:
    """Give every access of a kernel its class. Pairs that `ignore` says so of do not conflict."""
    table = ClassTable(solver=Solver(flow.trace.waves))
    numbers: dict[AccessClass, int] = {}
    waves: dict[tuple[object, ...], int] = {}
    everyone = (1 << flow.trace.waves) - 1
    known: dict[tuple[tuple[View, ...], int, int, tuple[int | None, ...]], Places] = {}
    names: dict[ops.MemoryOperation, tuple[str, ...]] = {}
    classified: dict[tuple[ops.MemoryOperation, int, int, tuple[int | None, ...]], int] = {}
    for phase in phases.nodes:
        block = flow.blocks[phase.block]
        env = values_in(phase, flow) if phase.env else {}
        admitted = everyone
        if block.guards:
            key = (*block.guards, *phase.env)
            if key not in waves:
                waves[key] = _admitted(flow, block, env)
            admitted = waves[key]
        found: list[tuple[int, int]] = []
        for gap, op in enumerate(block.ops):
            if not isinstance(op, ops.MemoryOperation):
                continue
            if op not in names:
                names[op] = _names_in(op.views)
            # What else is known there says nothing about this access.
            values = tuple([env.get(name) for name in names[op]])
            number = classified.get((op, phase.block, admitted, values))
            if number is not None:
                found.append((gap, number))
                continue
            place = known.get((op.views, block.loop, block.frame, values))
            if place is None:
                place = _places(flow, block, op.views, env, slots)
                known[op.views, block.loop, block.frame, values] = place
            loops = tuple(range_.loop for range_ in place.ranges)
            if op.group:
                loops = tuple(loop.index for loop in flow.loops_around(block.index))[::-1]
            # Two calls are two instances.
            group = f"{op.group} {[id(call) for call in block.calls]}" if op.group else ""
            made = AccessClass(
                access_type(op),
                op.counter if isinstance(op, ops.AsyncOperation) else "",
                place.regions,
                admitted,
                isinstance(op, ops.AtomicOp),
                update_of(op),
                group,
                loops,
                place.by_wave,
                place.footprints,
                place.ranges,
                tells := _told(op),
                () if tells is None else regions_of(tells.whole(), env, block.frame),
                op if ignore is not None else None,
            )
            number = numbers.setdefault(made, len(numbers))
            classified[op, phase.block, admitted, values] = number
            found.append((gap, number))
        table.accesses.append(found)
    table.classes = list(numbers)
    _assign_bits(table)
    _find_conflicts(table, ignore)
    return table


def _names_in(views: tuple[View, ...]) -> tuple[str, ...]:
    """The numbers, and the names of buffers, that decide which bytes some views are."""
    found: dict[str, None] = {}
    for view in views:
        if isinstance(view.buffer, BufferArg):
            found[view.buffer.name] = None
        for part in (view.slot, view.lo, view.hi):
            if part is not None:
                found |= {leaf.name: None for leaf in leaves(part) if isinstance(leaf, Var)}
    return tuple(found)


def _told(op: ops.MemoryOperation) -> Buffer | None:
    """The buffer of the barrier object that an engine tells; one that is not known is taken not to be told."""
    arrives = op.arrives if isinstance(op, ops.AsyncOperation) else None
    return None if arrives is None or isinstance(arrives.view.buffer, BufferArg) else arrives.view.buffer


def _places(flow: Flow, block: Block, views: tuple[View, ...], env: dict[str, int], slots: bool) -> Places:
    waves = flow.trace.waves
    if slots and any(_moves_with_a_loop(view, env) for view in views):
        footprints, ranges = _footprints(flow, block, views, env)
        if footprints:
            return Places(tuple(footprint.within for footprint in footprints), (), footprints, ranges)
    if not any(depends_on_wave(view) for view in views):
        return Places(tuple(region for view in views for region in regions_of(view, env, block.frame)))
    by_wave = tuple(
        tuple(region for view in views for region in regions_of(view, env, block.frame, wave))
        for wave in range(waves)
    )
    return Places(tuple(dict.fromkeys(region for regions in by_wave for region in regions)), by_wave)


def _moves_with_a_loop(view: View, env: dict[str, int]) -> bool:
    """Whether its bytes depend on a number that is not known."""
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return any(isinstance(leaf, Var) and leaf.name not in env for part in parts for leaf in leaves(part))


def _footprints(
    flow: Flow, block: Block, views: tuple[View, ...], env: dict[str, int]
) -> tuple[tuple[Footprint, ...], tuple[Range, ...]]:
    """The bytes as expressions of the loops around them; nothing if something is unknown altogether."""
    chain: list[Range] = []
    for loop in reversed(list(flow.loops_around(block.index))):
        op = loop.op
        chain.append(
            Range(loop.index, "", 0, None, 1)
            if op is None
            else Range(loop.index, op.var, op.start, op.stop, op.step)
        )
    # A function's loops stand inside those of whoever calls it, and have names of their own.
    depth = len(block.calls)
    by_name = {r.name: r for r in chain if r.name and _depth_of(flow, r.loop) == depth}
    found = [footprint_of(view, env, block.frame, by_name) for view in views]
    footprints = tuple(
        narrowed(footprint, by_name, flow.trace.waves) for footprint in found if footprint is not None
    )
    if len(footprints) != len(views):
        return (), ()
    used = {
        leaf.name
        for f in footprints
        for part in (f.lo, f.hi)
        for leaf in leaves(part)
        if isinstance(leaf, Var)
    }
    last = max(place for place, r in enumerate(chain) if r.name in used and by_name.get(r.name) is r)
    return footprints, tuple(
        r if by_name.get(r.name) is r else r._replace(name="") for r in chain[: last + 1]
    )


def _depth_of(flow: Flow, loop: int) -> int:
    """How many calls deep a loop stands."""
    return len(flow.blocks[flow.loops[loop].header].calls)


def _admitted(flow: Flow, block: Block, env: dict[str, int]) -> int:
    """The waves that can take part in a block."""
    admitted = 0
    for wave in range(flow.trace.waves):
        if all(guard.admits(wave, env) for guard in block.guards):
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


def _find_conflicts(table: ClassTable, ignore: Filter | None) -> None:
    table.conflicts = [0] * len(table.classes)
    table.flying = [0] * len(table.classes)
    for one, other, bits, age in pairs_that_matter(table, ignore):
        _note_conflict(table, one, other, bits, age)
    for other, later in enumerate(table.classes):
        if later.told:
            _note_objects(table, other, later)


def _note_objects(table: ClassTable, other: int, later: AccessClass) -> None:
    """An engine must not tell an object that is still being made: the copy comes behind plain writes to it."""
    for one, earlier in enumerate(table.classes):
        either = earlier.waves | later.waves
        plain = earlier.writes and not earlier.engine and not earlier.atomic
        if plain and either & (either - 1) and _overlap(earlier.regions, later.told):
            table.conflicts[other] |= all_ages(table, one)


def pairs_that_matter(table: ClassTable, ignore: Filter | None) -> Iterator[tuple[int, int, int, int]]:
    """Two classes whose order can matter, the earlier one first, with the bits of it that do, and at which age.

    Only classes that share bytes are compared: a sweep over each address space from low to high.
    """
    starts: dict[int, list[tuple[int, int, int]]] = {}
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
        if (
            ignore is not None
            and earlier.op is not None
            and later.op is not None
            and ignore(earlier.op, later.op)
        ):
            continue
        first = 1 if earlier.group and earlier.group == later.group else 0
        if earlier.footprints and later.footprints:
            for age in range(first, len(earlier.loops) + 1):
                yield one, other, table.bit[one] << age, age
        else:
            yield one, other, all_ages(table, one) & ~(table.bit[one] if first else 0), 0


def _note_conflict(table: ClassTable, one: int, other: int, bits: int, age: int) -> None:
    """See whether two classes meet at an age; if so, the later one must not overtake `bits`."""
    earlier, later, solver = table.classes[one], table.classes[other], table.solver
    others = earlier.meets(later, False, age, solver)
    own = (earlier.engine or later.engine) and earlier.meets(later, True, age, solver)
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
