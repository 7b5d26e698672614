"""The control flow of a function as plain blocks, whether it is written with branches (cf) or regions (scf).

Every block has arguments, and ends by going to others and handing arguments on. What the regions of scf hand on
becomes arguments, too: a loop is a body that comes back to itself, and what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.hosts.triton.mlir.tree import Block, Operation, Region, Value
from fencepost.ir.source import FencepostError, Mark


class Sum(NamedTuple):
    """What a loop counts on to."""

    one: Value
    other: Value


Argument = Value | Sum


class Goto(NamedTuple):
    """Where a block leads, and what becomes of that block's arguments."""

    block: Flat
    arguments: tuple[Argument, ...] = ()


@dataclass(slots=True, eq=False)
class Flat:
    """A block: its arguments, its operations, and where it leads. Without a way on it ends the function."""

    name: str
    arguments: tuple[Value, ...] = ()
    operations: list[Operation] = field(default_factory=list)
    ways: list[Goto] = field(default_factory=list)
    end: Operation | None = None
    """The operation that the block's end stands in front of."""


@dataclass(slots=True)
class Flattening:
    """Makes the blocks of one function."""

    blocks: list[Flat] = field(default_factory=list)
    made: dict[Block, Flat] = field(default_factory=dict)

    def new(self, stem: str, arguments: Sequence[Value] = ()) -> Flat:
        """A block with a name of its own."""
        flat = Flat(f"{stem}{len(self.blocks)}", tuple(arguments))
        self.blocks.append(flat)
        return flat

    def function(self, op: Operation) -> list[Flat]:
        """The blocks of a function."""
        self.region(op.regions[0], self.new("entry", op.regions[0].blocks[0].arguments))
        return self.blocks

    def region(self, region: Region, into: Flat) -> list[Flat]:
        """Put a region's blocks in, the first one into `into`; returns the blocks that leave it."""
        first, *others = region.blocks
        self.made[first] = into
        for block in others:
            self.made[block] = self.new("b", block.arguments)
        ends = [self.fill(block, self.made[block]) for block in region.blocks]
        return [flat for flat in ends if not flat.ways]

    def fill(self, block: Block, here: Flat) -> Flat:
        """Put a block's operations in; returns the block that its end is in."""
        for op in block.operations:
            if op.name in ("scf.for", "scf.while", "scf.if", "scf.execute_region"):
                here.end = op
                here = getattr(self, op.name.replace("scf.", "scf_"))(op, here)
            elif op.successors:
                here.end = op
                here.ways = [Goto(self.made[way.block], way.arguments) for way in op.successors]
            elif op.name.startswith("scf.") and op.name not in ("scf.yield", "scf.condition", "scf.reduce"):
                raise FencepostError(f"{op.name} is not known", [Mark(op.span)], code="FP408")
            else:
                here.operations.append(op)
        if here.end is None and block.operations:
            here.end = block.operations[-1]
        return here

    # ------------------------------------------------------------ regions

    def scf_for(self, op: Operation, here: Flat) -> Flat:
        """`scf.for %i = lo to hi step s iter_args(...)`."""
        body = op.regions[0].blocks[0]
        low, _, step, *inits = op.operands
        inside, after = self.new("body", body.arguments), self.new("after", op.results)
        here.ways = [Goto(inside, (low, *inits)), Goto(after, tuple(inits))]
        for last in self.region(op.regions[0], inside):
            yielded = _yielded(last)
            # Whether to go on is asked in front of the loop and at its end: nothing can be put where an operation
            # of its own would ask.
            last.ways = [Goto(inside, (Sum(body.arguments[0], step), *yielded)), Goto(after, yielded)]
        return after

    def scf_if(self, op: Operation, here: Flat) -> Flat:
        """`scf.if %c { ... } else { ... }`."""
        after = self.new("after", op.results)
        here.ways = []
        for region in op.regions:
            if region.blocks:
                side = self.new("side")
                here.ways.append(Goto(side))
                for last in self.region(region, side):
                    last.ways = [Goto(after, _yielded(last))]
        if len(here.ways) < 2:
            here.ways.append(Goto(after))
        return after

    def scf_while(self, op: Operation, here: Flat) -> Flat:
        """`scf.while`: what decides comes first, then the body."""
        before, body = op.regions
        head = self.new("head", before.blocks[0].arguments)
        here.ways = [Goto(head, op.operands)]
        ends = self.region(before, head)
        inside = self.new("body", body.blocks[0].arguments)
        after = self.new("after", op.results)
        for asked in ends:
            going_on = asked.operations[-1].operands[1:]
            asked.ways = [Goto(inside, going_on), Goto(after, going_on)]
        for last in self.region(body, inside):
            last.ways = [Goto(head, _yielded(last))]
        return after

    def scf_execute_region(self, op: Operation, here: Flat) -> Flat:
        """`scf.execute_region`: its blocks, once."""
        after = self.new("after", op.results)
        inside = self.new("region")
        here.ways = [Goto(inside)]
        for last in self.region(op.regions[0], inside):
            last.ways = [Goto(after, _yielded(last))]
        return after


def _yielded(last: Flat) -> tuple[Value, ...]:
    """What the end of a region hands on."""
    if last.operations and last.operations[-1].name == "scf.yield":
        return last.operations[-1].operands
    return ()
