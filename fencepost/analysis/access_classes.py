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

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fencepost.analysis.access import (
    MemoryAccessType,
    Region,
    access_type,
    depends_on_wave,
    in_each_slot,
    merged,
    regions_of,
    update_of,
)
from fencepost.analysis.block_instances import BlockInstance, BlockInstances, values_in
from fencepost.analysis.footprints import Footprint, Range, footprint_of, narrowed
from fencepost.analysis.isl_overlap import ANY, LATER, SAME, Side, Solver
from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import Var, Wave, leaves

MOST_CLASSES = 4000
MOST_COMPARED = 300_000
"""Comparisons of two classes, at each age."""
MOST_PAIRS = 200_000
"""Pairs of classes that are compared."""
COARSER = 16
"""By how much the bytes that are not distinguished grow at a time,"""
MOST_GRANULE = 1 << 44
"""and when they are whole buffers, wherever these lie."""
Filter = Callable[[ops.MemoryOperation, ops.MemoryOperation], bool]
"""Whether a pair of accesses, the earlier one first, is to be left alone."""
Values = tuple[int | None, ...]
"""What is known of the numbers that decide which bytes an access touches."""


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
    """The buffer of the mbarrier that the engine arrives on when it is done,"""
    told: tuple[Region, ...] = ()
    """and its bytes."""
    op: ops.MemoryOperation | None = None
    """The one operation of the class, where a filter has to distinguish operations."""
    sharers: int = 0
    """For a copy: the waves that are certain to issue it, as bits. They share its work."""
    crew: int = -1
    """Where that is not certain: a block that runs once, whose waves, whichever they are, share all copies in it."""

    @property
    def writes(self) -> bool:
        """Whether it changes memory."""
        return self.type is not MemoryAccessType.READ

    def matters(self, later: AccessClass) -> bool:
        """Whether the order of the two matters if they touch a common byte."""
        if not (self.writes or later.writes) or (self.update is not None and self.update == later.update):
            return False
        if not self.kept_in_order(later) or self.by_wave or later.by_wave:
            return True
        return bool((self.waves | later.waves) & ~self.share(later)) or self.differs(later)

    def kept_in_order(self, later: AccessClass) -> bool:
        """Whether an engine keeps the two in order, as far as one wave issues both: what it reads it may overlap.

        Copies that different waves issue have no order, unless both waves share the work of both.
        """
        return bool(self.engine) and self.engine == later.engine and self.writes and later.writes

    def share(self, later: AccessClass) -> int:
        """The waves that share the work of two copies, as bits."""
        if self.crew >= 0 and self.crew == later.crew:
            return self.waves | later.waves
        return self.sharers & later.sharers

    def differs(self, later: AccessClass) -> bool:
        """Whether the bytes of one of the two are expressions that depend on the wave."""
        footprints = (*self.footprints, *later.footprints)
        parts = (part for footprint in footprints for part in (footprint.lo, footprint.hi))
        return any(isinstance(leaf, Wave) for part in parts for leaf in leaves(part))

    def meets(self, later: AccessClass, same_wave: bool, age: int, solver: Solver) -> bool:
        """Whether they touch a common byte in one and the same wave, or else in two different ones.

        `age` tells which loop has gone round since the earlier access: see the module.
        """
        if self.kept_in_order(later) and (same_wave or not self.apart(later)):
            return False
        if self.footprints or later.footprints:
            return self.could_meet(later, same_wave, age, solver)
        if not (self.by_wave or later.by_wave):
            # Every wave touches the same bytes, so only which waves there are decides.
            there = self.waves & later.waves if same_wave else _two(self.waves, later.waves)
            return bool(there) and _overlap(self.regions, later.regions)
        if same_wave:
            return any(
                _overlap(self.at(wave), later.at(wave)) and not self.cooperate(later, wave, wave)
                for wave in _numbers(self.waves & later.waves)
            )
        if not _overlap_of_two_waves(self, later):
            return False
        return not self.kept_in_order(later) or any(
            one != other and _overlap(self.at(one), later.at(other)) and not self.cooperate(later, one, other)
            for one in _numbers(self.waves)
            for other in _numbers(later.waves)
        )

    def apart(self, later: AccessClass) -> bool:
        """Whether two copies of one engine can be issued by two waves that do not share the work of both."""
        if self.by_wave or later.by_wave or self.differs(later):
            return True
        common = self.share(later)
        return _two(self.waves & ~common, later.waves) or _two(self.waves, later.waves & ~common)

    def cooperate(self, later: AccessClass, one: int, other: int) -> bool:
        """Whether two waves share the work of two copies of one engine: of each, both make the same bytes."""
        both = 1 << one | 1 << other
        return (
            self.kept_in_order(later)
            and both & self.share(later) == both
            and all(made.at(one) == made.at(other) for made in (self, later))
        )

    def could_meet(self, later: AccessClass, same_wave: bool, age: int, solver: Solver) -> bool:
        """The same where expressions decide: the intervals first, then the solver."""
        if not (self.waves & later.waves if same_wave else _two(self.waves, later.waves)):
            return False
        common = 0
        for mine, theirs in zip(self.ranges, later.ranges, strict=False):
            if mine.loop != theirs.loop:
                break
            common += 1
        relations = [SAME] * common
        if 0 < age <= common:
            relations[age - 1 :] = [LATER] + [ANY] * (common - age)
        # Waves that are listed one by one, or that take part only sometimes, are not distinguished here.
        distinguished = None if self.by_wave or later.by_wave else same_wave
        return any(
            one.within.overlaps(other.within)
            and solver.can_meet(
                Side(one, self.ranges), Side(other, later.ranges), tuple(relations), distinguished
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


def _two(some: int, others: int) -> bool:
    """Whether there are two different waves, one of some and one of others."""
    either = some | others
    return bool(some and others and either & (either - 1))


def _overlap_of_two_waves(one: AccessClass, other: AccessClass) -> bool:
    """Whether two different waves touch a common byte: a sweep over the bytes of all waves from low to high."""
    ends = [
        (region.space, region.lo, region.hi, wave, second)
        for second, made in enumerate((one, other))
        for wave in _numbers(made.waves)
        for region in made.at(wave)
    ]
    ends.sort()
    active: list[tuple[int, int, int, int]] = []
    for space, lo, hi, wave, second in ends:
        active = [entry for entry in active if entry[0] == space and entry[1] > lo]
        if lo < hi and any(entry[3] != second and entry[2] != wave for entry in active):
            return True
        active.append((space, hi, wave, second))
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
    in_flight: list[int] = field(default_factory=list)
    """For each class, the bits of copies in flight that it must not overtake."""
    own: list[int] = field(default_factory=list)
    """For each class, the bits that concern a wave and its own engine alone: nobody else touches the same bytes."""
    accesses: list[list[tuple[int, int]]] = field(default_factory=list)
    """For each phase, the place and class of each access."""
    engines: dict[str, int] = field(default_factory=dict)
    """For each counter, the bits of the copies that it counts."""
    grouped: list[int] = field(default_factory=list)
    """The classes that have ages."""
    solver: Solver = field(default_factory=lambda: Solver(1))
    pairs: set[tuple[int, int]] = field(default_factory=set)
    """Classes that share bytes, each pair once."""
    granule: int = 1
    """Bytes that are not told from each other: 1, or more where there would be too many classes."""


class TooMuch(Exception):
    """There are too many classes or pairs of them, or too many questions about them."""


class Places(NamedTuple):
    """The bytes of an access: see AccessClass."""

    regions: tuple[Region, ...]
    by_wave: tuple[tuple[Region, ...], ...] = ()
    footprints: tuple[Footprint, ...] = ()
    ranges: tuple[Range, ...] = ()


def classify(
    flow: Flow,
    instances: BlockInstances,
    ignore: Filter | None = None,
    *,
    slots: bool = True,
    granule: int = 1,
) -> ClassTable:
    """Give every access of a kernel its class. Pairs that `ignore` says so of do not conflict.

    Raises TooMuch if that would take too long with these phases, and so many bytes distinguished.
    """
    table = ClassTable(solver=Solver(flow.trace.waves), granule=granule)
    bounded = granule < MOST_GRANULE and ignore is None
    classes = _Classes(
        flow, instances, slots, granule, MOST_CLASSES if bounded else math.inf, named=ignore is not None
    )
    table.accesses = [classes.accesses_of(instance) for instance in instances.nodes]
    table.classes = list(classes.numbers)
    _assign_bits(table)
    _find_pairs(table, MOST_PAIRS if bounded else math.inf)
    if bounded and _comparisons(table) > MOST_COMPARED:
        raise TooMuch
    _find_conflicts(table, ignore, instances.coarsest)
    return table


@dataclass(slots=True)
class _Classes:
    """The classes that have been found so far, and what was worked out on the way."""

    flow: Flow
    instances: BlockInstances
    slots: bool
    granule: int
    most: float
    """How many there may be."""
    named: bool
    """Whether a class has to say which operation it stands for."""
    numbers: dict[AccessClass, int] = field(default_factory=dict)
    waves: dict[tuple[object, ...], int] = field(default_factory=dict)
    known: dict[tuple[tuple[View, ...], int, int, Values], Places] = field(default_factory=dict)
    names: dict[ops.MemoryOperation, tuple[str, ...]] = field(default_factory=dict)
    classified: dict[tuple[ops.MemoryOperation, int, int, Values], int] = field(default_factory=dict)

    def accesses_of(self, instance: BlockInstance) -> list[tuple[int, int]]:
        """The accesses of a phase: where each stands in its block, and its class."""
        block = self.flow.blocks[instance.block]
        env = values_in(instance, self.flow) if instance.env else {}
        admitted = self.admitted(block, instance, env)
        found: list[tuple[int, int]] = []
        for gap, op in enumerate(block.ops):
            if not isinstance(op, ops.MemoryOperation):
                continue
            if op not in self.names:
                self.names[op] = _names_in(op.views)
            seen = self.instances.parameters.seen(op, env)
            # What else is known there says nothing about this access.
            values = tuple([seen.get(name) for name in self.names[op]])
            key = op, instance.block, admitted, values
            number = self.classified.get(key)
            if number is None:
                place = self.places(block, op, seen, values)
                sharers = (
                    _sharers(self.flow, block, env, admitted) if isinstance(op, ops.AsyncCopy) else (0, -1)
                )
                made = self.access_class(op, block, place, seen, admitted, sharers)
                number = self.classified[key] = self.numbers.setdefault(made, len(self.numbers))
                if number > self.most:
                    raise TooMuch
            found.append((gap, number))
        return found

    def admitted(self, block: Block, instance: BlockInstance, env: dict[str, int]) -> int:
        """The waves that can take part in a phase."""
        if not block.guards:
            return (1 << self.flow.trace.waves) - 1
        key = (*block.guards, *instance.env)
        if key not in self.waves:
            self.waves[key] = _admitted(self.flow, self.instances, block, env)
        return self.waves[key]

    def places(self, block: Block, op: ops.MemoryOperation, seen: dict[str, int], values: Values) -> Places:
        """The bytes of an access."""
        key = op.views, block.loop, block.frame, values
        place = self.known.get(key)
        if place is None:
            place = _places(self.flow, block, op.views, seen, self.slots and self.granule == 1)
            if self.granule > 1:
                place = Places(_widened(place.regions, self.granule))
            self.known[key] = place
        return place

    def access_class(
        self,
        op: ops.MemoryOperation,
        block: Block,
        place: Places,
        seen: dict[str, int],
        admitted: int,
        sharers: tuple[int, int],
    ) -> AccessClass:
        """The class of an access."""
        loops = tuple(range_.loop for range_ in place.ranges)
        if op.group:
            loops = tuple(loop.index for loop in self.flow.loops_around(block.index))[::-1]
        # Two calls are two instances.
        distinguished = op.group and self.granule < MOST_GRANULE
        tells = _told(op)
        return AccessClass(
            access_type(op),
            op.counter if isinstance(op, ops.AsyncOperation) else "",
            place.regions,
            admitted,
            isinstance(op, ops.AtomicOp),
            update_of(op),
            f"{op.group} {[id(call) for call in block.calls]}" if distinguished else "",
            loops,
            place.by_wave,
            place.footprints,
            place.ranges,
            tells,
            () if tells is None else regions_of(tells.whole(), seen, block.frame),
            op if self.named else None,
            *sharers,
        )


def _widened(regions: tuple[Region, ...], granule: int) -> tuple[Region, ...]:
    """Regions that contain these and begin and end at multiples of `granule`."""
    wide = (
        Region(region.space, region.lo // granule * granule, -(-region.hi // granule) * granule)
        for region in regions
    )
    return tuple(dict.fromkeys(wide))


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
    """The buffer of the mbarrier that an engine arrives on; one that is not known is taken not to be told."""
    arrives = op.arrives if isinstance(op, ops.AsyncOperation) else None
    return None if arrives is None or isinstance(arrives.view.buffer, BufferArg) else arrives.view.buffer


def _places(flow: Flow, block: Block, views: tuple[View, ...], env: dict[str, int], slots: bool) -> Places:
    waves = flow.trace.waves
    if slots and any(_moves_with_a_loop(view, env) for view in views):
        footprints, ranges = _footprints(flow, block, views, env)
        if footprints:
            return Places(tuple(footprint.within for footprint in footprints), (), footprints, ranges)
    if not slots:
        views = tuple(view.buffer.whole() if _slot_moves(view, env) else view for view in views)
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


def _slot_moves(view: View, env: dict[str, int]) -> bool:
    """Whether its slot depends on a number that is not known."""
    return view.slot is not None and _moves_with_a_loop(View(view.buffer, view.slot), env)


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
    found: list[Footprint | None] = []
    for view in views:
        footprint = footprint_of(view, env, block.frame, by_name)
        # A slot that is unknown altogether: that part of each slot.
        parts = in_each_slot(view, env) if footprint is None else []
        found += [footprint_of(part, env, block.frame, by_name) for part in parts] or [footprint]
    footprints = tuple(
        narrowed(footprint, by_name, flow.trace.waves) for footprint in found if footprint is not None
    )
    if len(footprints) != len(found):
        return (), ()
    used = _names_used(footprints)
    if not used:
        return (), ()
    last = max(place for place, r in enumerate(chain) if r.name in used and by_name.get(r.name) is r)
    return footprints, tuple(
        r if by_name.get(r.name) is r else r._replace(name="") for r in chain[: last + 1]
    )


def _names_used(footprints: tuple[Footprint, ...]) -> set[str]:
    parts = (part for footprint in footprints for part in (footprint.lo, footprint.hi))
    return {leaf.name for part in parts for leaf in leaves(part) if isinstance(leaf, Var)}


def _depth_of(flow: Flow, loop: int) -> int:
    """How many calls deep a loop stands."""
    return len(flow.blocks[flow.loops[loop].header].calls)


def _admitted(flow: Flow, instances: BlockInstances, block: Block, env: dict[str, int]) -> int:
    """The waves that can take part in a block."""
    admitted = 0
    for wave in range(flow.trace.waves):
        if all(instances.admits(guard, wave, env) for guard in block.guards):
            admitted |= 1 << wave
    return admitted


def _sharers(flow: Flow, block: Block, env: dict[str, int], admitted: int) -> tuple[int, int]:
    """Who shares the copies in a block: the waves that are certain to, and else the block, if it runs once."""
    waves = range(flow.trace.waves)
    sure = sum(1 << wave for wave in waves if all(guard.demands(wave, env) for guard in block.guards))
    return sure, block.index if sure != admitted and block.loop < 0 else -1


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


def _comparisons(table: ClassTable) -> int:
    """How often classes that share bytes will be compared: where expressions decide, once for each age."""
    ages = [1 + len(made.loops) if made.footprints else 1 for made in table.classes]
    return sum(min(ages[one], ages[other]) for one, other in table.pairs)


def _find_conflicts(table: ClassTable, ignore: Filter | None, coarsest: bool) -> None:
    table.conflicts = [0] * len(table.classes)
    table.in_flight = [0] * len(table.classes)
    table.own = [0] * len(table.classes)
    for one, other, bits, age in pairs_that_matter(table, ignore):
        _note_conflict(table, one, other, bits, age)
        if table.solver.given_up and not coarsest:
            raise TooMuch
    for one, other in made_before_arrivals(table):
        either = table.classes[one].waves | table.classes[other].waves
        if either & (either - 1):
            table.conflicts[other] |= all_ages(table, one)


def made_before_arrivals(table: ClassTable) -> Iterator[tuple[int, int]]:
    """Plain writes to an mbarrier, and copies whose engine arrives on it: that must come behind them."""
    for other, later in enumerate(table.classes):
        if not later.told:
            continue
        for one, earlier in enumerate(table.classes):
            plain = earlier.writes and not earlier.engine and not earlier.atomic
            if plain and _overlap(earlier.regions, later.told):
                yield one, other


def _find_pairs(table: ClassTable, most: float) -> None:
    """The classes that share bytes: a sweep over each address space from low to high."""
    starts: dict[int, list[tuple[int, int, int]]] = {}
    for number, made in enumerate(table.classes):
        for region in made.regions:
            starts.setdefault(region.space, []).append((region.lo, region.hi, number))
    for ranges in starts.values():
        ranges.sort()
        active: list[tuple[int, int]] = []
        for lo, hi, number in ranges:
            active = [entry for entry in active if entry[0] > lo]
            active.append((hi, number))
            table.pairs.update((other, number) for _, other in active)
            if len(table.pairs) > most:
                raise TooMuch


def pairs_that_matter(table: ClassTable, ignore: Filter | None) -> Iterator[tuple[int, int, int, int]]:
    """Two classes whose order can matter, the earlier one first, with the bits of it that do, and at which age.

    Only classes that share bytes are compared.
    """
    for one, other in _both_ways(table.pairs):
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
    if own and not others:
        table.own[other] |= bits
    # Pending: a copy has been waited for, so its own wave knows. What a wave did itself may still be
    # outstanding when it tells an engine to copy.
    if others or (own and not earlier.engine):
        table.conflicts[other] |= bits
    # In flight: no wave knows, its own no more than the others.
    if earlier.engine and (others or own):
        table.in_flight[other] |= bits


def _both_ways(pairs: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for one, other in pairs:
        yield one, other
        if one != other:
            yield other, one
