"""The control flow of a function as plain blocks, whether it is written with branches (cf) or regions (scf).

Every block has arguments, and ends by going to others and handing arguments on. What the regions of scf pass on
becomes arguments, too: a loop is a body that comes back to itself, and what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.hosts.triton.mlir.tree import Block, Operation, Region, Value
from fencepost.hosts.triton.partitions import SPECIALIZE, Partition, parts_of
from fencepost.hosts.triton.register_operations import is_passed_by
from fencepost.ir.source import FencepostError, Mark


class LoopStep(NamedTuple):
    """What a loop counts on to."""

    one: Value
    other: Value


Argument = Value | LoopStep


class LoopTest(NamedTuple):
    """What a loop asks before it goes on."""

    one: Argument
    other: Value


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
    """Without those that are passed by, see `register_operations`."""
    ways: list[Goto] = field(default_factory=list)
    end: Operation | None = None
    """The operation that the block's end stands in front of."""
    asks: Value | LoopTest | None = None
    """With two ways on: what decides; the first way is where it holds."""
    below: int | None = None
    """With two ways on, and waves that part: those below this number go the first way."""
    waves: tuple[int, int] | None = None
    """Where only some waves run it: the first of them, and the one behind the last."""
    joins: Operation | None = None
    """The specialization that ends where it begins: all waves meet."""


@dataclass(slots=True)
class Flattening:
    """Makes the blocks of one function."""

    default: int = 0
    """The waves that run the function itself."""
    joint: bool = False
    """Whether the partitions of specializations are part of it."""
    blocks: list[Flat] = field(default_factory=list)
    made: dict[Block, Flat] = field(default_factory=dict)
    same: dict[Value, Value] = field(default_factory=dict)
    """Arguments of partitions, and results of specializations: the value that each is."""
    waves: tuple[int, int] | None = None
    """Where only some waves run the blocks that are being made: see `Flat`."""

    def new(self, stem: str, arguments: Sequence[Value] = ()) -> Flat:
        """A block with a name of its own."""
        flat = Flat(f"{stem}{len(self.blocks)}", tuple(arguments), waves=self.waves)
        self.blocks.append(flat)
        return flat

    def function(self, op: Operation) -> list[Flat]:
        """The blocks of a function."""
        self.region(op.regions[0], self.new("entry", op.regions[0].blocks[0].arguments))
        self.blocks = self.in_order()
        return self.blocks

    def partition(self, part: Partition) -> list[Flat]:
        """The blocks of a partition alone."""
        self.same |= dict(part.captured)
        self.region(part.region, self.new("entry"))
        self.blocks = self.in_order()
        return self.blocks

    def in_order(self) -> list[Flat]:
        """The blocks that can be reached, each behind those that it can take numbers from: what dominates it.

        A module may have them in any order, and what follows a specialization is made before what is inside.
        """
        done: list[Flat] = []
        seen = {self.blocks[0]}
        todo = [(self.blocks[0], iter(self.blocks[0].ways[::-1]))]
        while todo:
            here, ways = todo[-1]
            target = next((way.block for way in ways if way.block not in seen), None)
            if target is None:
                done.append(here)
                todo.pop()
            else:
                seen.add(target)
                todo.append((target, iter(target.ways[::-1])))
        return done[::-1]

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
            if is_passed_by(op):  # most are
                continue
            if op.name in ("scf.for", "scf.while", "scf.if", "scf.execute_region"):
                here.end = op
                here = getattr(self, op.name.replace("scf.", "scf_"))(op, here)
            elif op.name == SPECIALIZE:
                here.operations.append(op)
                here.end = op
                here = self.specialize(op, here)
            elif op.successors:
                here.end = op
                here.asks = op.operands[0] if len(op.successors) == 2 and op.operands else None
                here.ways = [Goto(self.made[way.block], way.arguments) for way in op.successors]
            elif op.name.startswith("scf.") and op.name not in ("scf.yield", "scf.condition", "scf.reduce"):
                raise FencepostError(f"{op.name} is not known", [Mark(op.span)], code="FP408")
            else:
                here.operations.append(op)
        if here.end is None and block.operations:
            here.end = block.operations[-1]
        return here

    # ------------------------------------------------------------ waves that part

    def specialize(self, op: Operation, here: Flat) -> Flat:
        """`ttg.warp_specialize`: its default region and, if they are wanted here, its partitions."""
        around, after = self.waves, self.new("join")
        after.joins = op
        self.waves = (0, self.default) if self.joint else around
        inside = self.new("default")
        for last in self.region(op.regions[0], inside):
            yielded = last.operations[-1].operands if last.operations else ()
            self.same |= dict(zip(op.results, yielded, strict=False))
            last.ways = [Goto(after)]
        self.waves = around
        here.ways = [Goto(inside)]
        end = self.default
        for part in parts_of(op, self.default) if self.joint else ():
            if part.first > end:
                # Waves of no partition, between those of two, go straight on.
                here = self.others(here, op, part.first)
                here.ways = [Goto(after)]
            end = part.end
            here = self.others(here, op, part.end)
            self.same |= dict(part.captured)
            self.waves = (part.first, part.end)
            inside = self.new("partition")
            for last in self.region(part.region, inside):
                last.ways = [Goto(after)]
            self.waves = around
            here.ways = [Goto(inside)]
        if here.below is not None:
            here.ways.append(Goto(after))
        return after

    def others(self, here: Flat, op: Operation, below: int) -> Flat:
        """Waves that go no way so far ask next whether one is theirs."""
        others = self.new("others")
        here.ways.append(Goto(others))
        here.below = here.below or self.default
        others.below, others.end = below, op
        return others

    # ------------------------------------------------------------ regions

    def scf_for(self, op: Operation, here: Flat) -> Flat:
        """`scf.for %i = lo to hi step s iter_args(...)`."""
        body = op.regions[0].blocks[0]
        low, high, step, *inits = op.operands
        inside, after = self.new("body", body.arguments), self.new("after", op.results)
        here.ways = [Goto(inside, (low, *inits)), Goto(after, tuple(inits))]
        here.asks = LoopTest(low, high)
        for last in self.region(op.regions[0], inside):
            yielded = _yielded(last)
            # Whether to go on is asked in front of the loop and at its end: nothing can be put where an operation
            # of its own would ask.
            again = LoopStep(body.arguments[0], step)
            last.ways = [Goto(inside, (again, *yielded)), Goto(after, yielded)]
            last.asks = LoopTest(again, high)
        return after

    def scf_if(self, op: Operation, here: Flat) -> Flat:
        """`scf.if %c { ... } else { ... }`."""
        after = self.new("after", op.results)
        here.ways, here.asks = [], op.operands[0]
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
            asked.asks = asked.operations[-1].operands[0]
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
    """What the end of a region passes on."""
    if last.operations and last.operations[-1].name == "scf.yield":
        return last.operations[-1].operands
    return ()
