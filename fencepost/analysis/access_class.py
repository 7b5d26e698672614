"""Accesses that behave alike share a class: what decides whether two of them conflict.

The table of a kernel has its classes, the bits that stand for them, and which bits each one conflicts with.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fencepost.analysis.access import MemoryAccessType, Region, merged
from fencepost.analysis.isl_overlap import Solver
from fencepost.analysis.symbolic_footprints import Footprint, Range
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.ir.expr import Wave, leaves


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
    mbarrier: Buffer | None = None
    """The buffer of the mbarrier that the engine arrives on when it is done,"""
    arrives_on: tuple[Region, ...] = ()
    """and its bytes."""
    op: ops.MemoryOperation | None = None
    """The one operation of the class, where a filter has to distinguish operations."""
    sharers: int = 0
    """For a copy: the waves that are certain to issue it, as bits. They share its work."""
    shared_in: int = -1
    """Where that is not certain: a block that runs once, whose waves, whichever they are, share all copies in it."""
    apart: bool = False
    """Whether each wave touches bytes of its own that are not known, or not distinguished: it shares no work."""

    @property
    def writes(self) -> bool:
        """Whether it changes memory."""
        return self.type is not MemoryAccessType.READ

    def matters(self, later: AccessClass) -> bool:
        """Whether the order of the two matters if they touch a common byte."""
        if not (self.writes or later.writes) or (self.update is not None and self.update == later.update):
            return False
        if not self.kept_in_order(later) or self.by_wave or later.by_wave or self.apart or later.apart:
            return True
        return bool((self.waves | later.waves) & ~self.share(later)) or self.differs(later)

    def kept_in_order(self, later: AccessClass) -> bool:
        """Whether an engine keeps the two in order, as far as one wave issues both: what it reads it may overlap.

        Copies that different waves issue have no order, unless both waves share the work of both.
        """
        return bool(self.engine) and self.engine == later.engine and self.writes and later.writes

    def share(self, later: AccessClass) -> int:
        """The waves that share the work of two copies, as bits."""
        if self.shared_in >= 0 and self.shared_in == later.shared_in:
            return self.waves | later.waves
        return self.sharers & later.sharers

    def differs(self, later: AccessClass) -> bool:
        """Whether the bytes of one of the two are expressions that depend on the wave."""
        footprints = (*self.footprints, *later.footprints)
        parts = (part for footprint in footprints for part in (footprint.lo, footprint.hi))
        return any(isinstance(leaf, Wave) for part in parts for leaf in leaves(part))

    def issued_separately(self, later: AccessClass) -> bool:
        """Whether two copies of one engine can be issued by two waves that do not share the work of both."""
        if self.by_wave or later.by_wave or self.apart or later.apart or self.differs(later):
            return True
        common = self.share(later)
        return has_two(self.waves & ~common, later.waves) or has_two(self.waves, later.waves & ~common)

    def cooperate(self, later: AccessClass, one: int, other: int) -> bool:
        """Whether two waves share the work of two copies of one engine: of each, both make the same bytes."""
        both = 1 << one | 1 << other
        return (
            self.kept_in_order(later)
            and both & self.share(later) == both
            and not (self.apart or later.apart)
            and all(made.at(one) == made.at(other) for made in (self, later))
        )

    def expressions(self) -> tuple[Footprint, ...]:
        """The bytes as expressions."""
        return self.footprints or tuple(Footprint.of_region(region) for region in self.regions)

    def example(self, later: AccessClass) -> tuple[int, int] | None:
        """Two waves that touch a common byte, different ones if there are."""
        alike = None
        for one in numbered(self.waves):
            for other in numbered(later.waves):
                if regions_overlap(self.at(one), later.at(other)):
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


def regions_overlap(one: tuple[Region, ...], other: tuple[Region, ...]) -> bool:
    """Whether two lists of regions have a byte in common."""
    if len(one) * len(other) <= 16:
        return any(mine.overlaps(theirs) for mine in one for theirs in other)
    # Many small pieces, as lanes touch them: side by side in the order of their addresses.
    mine, theirs = list(merged(one)), list(merged(other))
    while mine and theirs:
        if mine[-1].overlaps(theirs[-1]):
            return True
        (mine if mine[-1] > theirs[-1] else theirs).pop()
    return False


def has_two(some: int, others: int) -> bool:
    """Whether there are two different waves, one of some and one of others."""
    either = some | others
    return bool(some and others and either & (either - 1))


def numbered(waves: int) -> list[int]:
    """The waves of a mask."""
    return [wave for wave in range(waves.bit_length()) if waves >> wave & 1]


@dataclass(slots=True)
class ClassTable:
    """The classes of a kernel, their bits, and which bits each one conflicts with."""

    classes: list[AccessClass] = field(default_factory=list)
    bit: list[int] = field(default_factory=list)
    """For each class, its bit in the same iteration of all loops around it; the bits of its ages follow."""
    conflicts: list[int] = field(default_factory=list)
    """For each class, the bits of pending accesses that it must not overtake."""
    in_flight: list[int] = field(default_factory=list)
    """For each class, the bits of copies in flight that it must not overtake."""
    own: list[int] = field(default_factory=list)
    """For each class, the bits that concern a wave and its own engine alone: nobody else touches the same bytes."""
    accesses: list[list[tuple[int, int]]] = field(default_factory=list)
    """For each block instance, the place and class of each access."""
    only_in: list[int] = field(default_factory=list)
    """For each class, the block instance that makes all its accesses, or -1 if several do."""
    engines: dict[str, int] = field(default_factory=dict)
    """For each counter, the bits of the copies that it counts."""
    grouped: list[int] = field(default_factory=list)
    """The classes that have ages."""
    solver: Solver = field(default_factory=lambda: Solver(1))
    pairs: set[tuple[int, int]] = field(default_factory=set)
    """Classes that share bytes, each pair once."""
    granule: int = 1
    """Bytes that are not distinguished: 1, or more where there would be too many classes."""
    within: dict[int, int] = field(default_factory=dict)
    """For sets of waves that were asked about: the bits of accesses that only these make."""


def width(table: ClassTable) -> int:
    """How many bits all classes have together."""
    return all_ages(table, len(table.classes) - 1).bit_length() if table.classes else 0


def all_ages(table: ClassTable, number: int) -> int:
    """All bits of a class."""
    return table.bit[number] * ((2 << len(table.classes[number].loops)) - 1)
