"""Accesses that behave alike share a class, and a class is one bit.

Two accesses are of one class if they touch the same bytes in the same way for the same waves. A set of
pending accesses is then an integer, and "does this access conflict with anything pending" is one `and`.
A kernel has few classes however many operations it has.

Members of a group conflict only across instances, and a part of a buffer that is affine in a loop variable meets
itself only in the same iteration. So a class of such accesses has several bits: the first for "in this iteration",
then, for each loop around it from the outside in, one for "in an earlier iteration of that loop" (its *ages*).
Leaving a loop makes its iterations part of one again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.access import (
    Region,
    access_type,
    depends_on_wave,
    in_each_slot,
    regions_of,
    update_of,
)
from fencepost.analysis.access_class import AccessClass, ClassTable, all_ages
from fencepost.analysis.block_instances import BlockInstance, BlockInstances, values_in
from fencepost.analysis.conflicts import Filter, TooMuch, comparisons, find_conflicts, find_pairs
from fencepost.analysis.isl_overlap import Solver
from fencepost.analysis.symbolic_footprints import Footprint, Range, footprint_of, narrowed
from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.differing_names import Differing
from fencepost.ir.expr import LANE, Var, evaluate, leaves
from fencepost.ir.trace import Body

MOST_CLASSES = 4000
MOST_COMPARED = 300_000
"""Comparisons of two classes, at each age."""
MOST_PAIRS = 200_000
"""Pairs of classes that are compared."""
COARSER = 16
"""By how much the bytes that are not distinguished grow at a time,"""
MOST_GRANULE = 1 << 44
"""and when they are whole buffers, wherever these lie."""
Values = tuple[int | None, ...]
"""What is known of the numbers that decide which bytes an access touches."""


def classify(
    flow: Flow,
    instances: BlockInstances,
    ignore: Filter | None = None,
    *,
    slots: bool = True,
    granule: int = 1,
) -> ClassTable:
    """Give every access of a kernel its class. Pairs that `ignore` says so of do not conflict.

    Raises TooMuch if that would take too long with these block instances, and so many bytes distinguished.
    """
    table = ClassTable(solver=Solver(flow.trace.waves), granule=granule)
    bounded = granule < MOST_GRANULE and ignore is None
    classes = _Classes(
        flow, instances, slots, granule, MOST_CLASSES if bounded else math.inf, named=ignore is not None
    )
    table.accesses = [classes.accesses_of(instance) for instance in instances.nodes]
    table.classes = list(classes.numbers)
    table.only_in = _only_in(table)
    _assign_bits(table)
    find_pairs(table, MOST_PAIRS if bounded else math.inf)
    if bounded and comparisons(table) > MOST_COMPARED:
        raise TooMuch
    find_conflicts(table, ignore, instances.coarsest)
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
    known: dict[tuple[tuple[View, ...], int, int, Values], AccessedBytes] = field(default_factory=dict)
    names: dict[ops.MemoryOperation, tuple[str, ...]] = field(default_factory=dict)
    differing: dict[Body, Differing] = field(default_factory=dict)
    classified: dict[tuple[ops.MemoryOperation, int, int, tuple[int, int], Values], int] = field(
        default_factory=dict
    )

    def accesses_of(self, instance: BlockInstance) -> list[tuple[int, int]]:
        """The accesses of a block instance: where each stands in its block, and its class."""
        block = self.flow.blocks[instance.block]
        env = values_in(instance, self.flow) if instance.env else {}
        admitted = self.admitted(block, instance)
        found: list[tuple[int, int]] = []
        for gap, op in enumerate(block.ops):
            if not isinstance(op, ops.MemoryOperation):
                continue
            if op not in self.names:
                self.names[op] = deciding_names(op.views)
            seen = self.instances.seen(op, env)
            # What else is known there says nothing about this access.
            values = tuple([seen.get(name) for name in self.names[op]])
            sharers = self.sharers(block, instance, admitted) if isinstance(op, ops.AsyncCopy) else (0, -1)
            key = op, instance.block, admitted, sharers, values
            number = self.classified.get(key)
            if number is None:
                place = self.places(block, op, seen, values)
                made = self.access_class(op, block, place, seen, admitted, sharers)
                number = self.classified[key] = self.numbers.setdefault(made, len(self.numbers))
                if number > self.most:
                    raise TooMuch
            found.append((gap, number))
        return found

    def admitted(self, block: Block, instance: BlockInstance) -> int:
        """The waves that can run a block instance."""
        if not block.guards:
            return (1 << self.flow.trace.waves) - 1
        key = (*block.guards, *instance.env)
        if key not in self.waves:
            self.waves[key] = self.instances.waves_admitted(self.flow, instance)
        return self.waves[key]

    def sharers(self, block: Block, instance: BlockInstance, admitted: int) -> tuple[int, int]:
        """Who shares the copies in a block: the waves that are certain to, and else the block, if it runs once."""
        certain = self.instances.waves_certain(self.flow, instance)
        return certain, block.index if certain != admitted and block.loop < 0 else -1

    def places(
        self, block: Block, op: ops.MemoryOperation, seen: dict[str, int], values: Values
    ) -> AccessedBytes:
        """The bytes of an access."""
        key = op.views, block.loop, block.frame, values
        place = self.known.get(key)
        if place is None:
            place = accessed_bytes(self.flow, block, op.views, seen, self.slots and self.granule == 1)
            if self.granule > 1:
                place = AccessedBytes(widened(place.regions, self.granule))
            self.known[key] = place
        return place

    def access_class(
        self,
        op: ops.MemoryOperation,
        block: Block,
        place: AccessedBytes,
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
        mbarrier = _mbarrier_of(op)
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
            mbarrier,
            () if mbarrier is None else regions_of(mbarrier.whole(), seen, block.frame),
            op if self.named else None,
            *sharers,
            isinstance(op, ops.AsyncCopy) and self.apart(op, block, place, seen),
        )

    def apart(self, op: ops.AsyncCopy, block: Block, place: AccessedBytes, seen: dict[str, int]) -> bool:
        """Whether the waves that issue a copy make different bytes, and it is not known which."""
        body: Body = block.calls[-1].function if block.calls else self.flow.trace
        if body not in self.differing:
            self.differing[body] = Differing.of(body)
        views = [view for view in op.views if self.differing[body].through(view, op)]
        if place.footprints or self.granule > 1:
            return bool(views)
        return any(not is_known(view, seen, wave) for view in views for wave in range(self.flow.trace.waves))


def _mbarrier_of(op: ops.MemoryOperation) -> Buffer | None:
    """The buffer of the mbarrier that an engine arrives on, if it is known."""
    arrives = op.arrives if isinstance(op, ops.AsyncOperation) else None
    return None if arrives is None or isinstance(arrives.view.buffer, BufferArg) else arrives.view.buffer


def _only_in(table: ClassTable) -> list[int]:
    """For each class, the block instance that makes all its accesses, or -1."""
    makers: dict[int, int] = {}
    for instance, accesses in enumerate(table.accesses):
        for _, number in accesses:
            makers[number] = instance if makers.get(number, instance) == instance else -1
    return [makers[number] for number in range(len(table.classes))]


def _assign_bits(table: ClassTable) -> None:
    place = 0
    for number, made in enumerate(table.classes):
        table.bit.append(1 << place)
        place += 1 + len(made.loops)
        if made.loops:
            table.grouped.append(number)
        if made.engine:
            table.engines[made.engine] = table.engines.get(made.engine, 0) | all_ages(table, number)


class AccessedBytes(NamedTuple):
    """The bytes of an access: see AccessClass."""

    regions: tuple[Region, ...]
    by_wave: tuple[tuple[Region, ...], ...] = ()
    footprints: tuple[Footprint, ...] = ()
    ranges: tuple[Range, ...] = ()


def accessed_bytes(
    flow: Flow, block: Block, views: tuple[View, ...], env: dict[str, int], slots: bool
) -> AccessedBytes:
    """The bytes of some views in a block, with what is known of numbers there."""
    waves = flow.trace.waves
    if slots and any(_bytes_are_unknown(view, env) for view in views):
        footprints, ranges = _footprints(flow, block, views, env)
        if footprints:
            return AccessedBytes(tuple(footprint.within for footprint in footprints), (), footprints, ranges)
    if not slots:
        views = tuple(view.buffer.whole() if _slot_is_unknown(view, env) else view for view in views)
    if not any(depends_on_wave(view) for view in views):
        return AccessedBytes(tuple(region for view in views for region in regions_of(view, env, block.frame)))
    by_wave = tuple(
        tuple(region for view in views for region in regions_of(view, env, block.frame, wave))
        for wave in range(waves)
    )
    return AccessedBytes(tuple(dict.fromkeys(region for regions in by_wave for region in regions)), by_wave)


def widened(regions: tuple[Region, ...], granule: int) -> tuple[Region, ...]:
    """Regions that contain these and begin and end at multiples of `granule`."""
    wide = (
        Region(region.space, region.lo // granule * granule, -(-region.hi // granule) * granule)
        for region in regions
    )
    return tuple(dict.fromkeys(wide))


def is_known(view: View, env: dict[str, int], wave: int) -> bool:
    """Whether it is known which bytes a wave touches through a view."""
    if isinstance(view.buffer, BufferArg) and view.buffer.name not in env:
        return False
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return all(evaluate(part, env | {LANE: 0}, wave) is not None for part in parts)


def deciding_names(views: tuple[View, ...]) -> tuple[str, ...]:
    """The numbers, and the names of buffers, that decide which bytes some views are."""
    found: dict[str, None] = {}
    for view in views:
        if isinstance(view.buffer, BufferArg):
            found[view.buffer.name] = None
        for part in (view.slot, view.lo, view.hi):
            if part is not None:
                found |= {leaf.name: None for leaf in leaves(part) if isinstance(leaf, Var)}
    return tuple(found)


def _bytes_are_unknown(view: View, env: dict[str, int]) -> bool:
    """Whether its bytes depend on a number that is not known."""
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return any(isinstance(leaf, Var) and leaf.name not in env for part in parts for leaf in leaves(part))


def _slot_is_unknown(view: View, env: dict[str, int]) -> bool:
    """Whether its slot depends on a number that is not known."""
    return view.slot is not None and _bytes_are_unknown(View(view.buffer, view.slot), env)


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
