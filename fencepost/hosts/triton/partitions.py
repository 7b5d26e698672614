"""Warp specialization: regions that are run by waves of their own, at the same time.

`ttg.warp_specialize` has a default region, for the waves that run the kernel anyway, and partitions, each with waves
of its own that do nothing before and after. All meet when it begins and when it ends. Barriers in a region are for
the waves of that region.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.hosts.triton.mlir.tree import Module, Operation, Region, Value

SPECIALIZE = "ttg.warp_specialize"
PARTITIONS = "ttg.warp_specialize.partitions"
ENDS = ("ttg.warp_yield", "ttg.warp_return")
"""What regions of a specialization end with."""


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A partition: its region, its waves, and what its arguments are."""

    op: Operation
    region: Region
    first: int
    """Its first wave, and the one behind its last."""
    end: int
    captured: tuple[tuple[Value, Value], ...]
    """Each argument of the region, and the value outside that it is."""

    @property
    def is_empty(self) -> bool:
        """Whether its waves do nothing: they are there so that groups of waves are complete."""
        first, *others = self.region.blocks
        return not others and all(op.name in ENDS for op in first.operations)


def parts_of(op: Operation, waves: int) -> list[Partition]:
    """The partitions of a specialization, in the order of their waves; `waves` run the default region."""
    holder = next((inner for inner in op.regions[1].blocks[0].operations if inner.name == PARTITIONS), None)
    if holder is None:
        return []
    # In older releases the specialization itself is given what partitions capture.
    captures = holder.operands or op.operands
    counts = op.integers("partitionNumWarps") or ()
    starts = op.integers("warpGroupStartIds")
    found: list[Partition] = []
    free = waves
    for number, region in enumerate(holder.regions):
        count = counts[number] if number < len(counts) else 1
        # Who gets which waves is decided late; until then they come one after the other.
        first = starts[number] if starts else free
        free = max(free, first + count)
        captured = tuple(zip(region.blocks[0].arguments, captures, strict=True))
        found.append(Partition(op, region, first, first + count, captured))
    return sorted(found, key=lambda part: part.first)


def specializations(module: Module, function: Operation) -> list[Operation]:
    """The specializations of a function."""
    return [op for op in function.walk() if op.name == SPECIALIZE] if module.mentions(SPECIALIZE) else []
