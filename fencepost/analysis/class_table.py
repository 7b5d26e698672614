"""The classes of a kernel's accesses, the bits that stand for them, and which bits each one conflicts with."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.analysis.access_class import AccessClass
from fencepost.analysis.isl_overlap import Solver


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
