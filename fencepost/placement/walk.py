"""The older heuristic: one pre-order walk, a barrier before the consumer, a second round for the next iteration.

It remembers the last operation on each allocation. When the next one uses the memory differently, and no
barrier has been walked past in between, it puts one in front. After a loop's body it walks the body once more,
as the next iteration. Walking takes the two sides of a conditional one after the other, so that a barrier on
one side seems to cover the other; two writes, and allocations that share bytes, are no hazard to it. What it
misses for these reasons, `fallback` adds (docs/seed-differences.md has the kernels that show it).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from fencepost.analysis.access import MemoryAccessType, access_type
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import DRAIN, PLAIN, Placement, Sync
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.placement.fallback import complete_in_front_of_calls
from fencepost.placement.strategy import Strategy


@dataclass(frozen=True)
class Walk(Strategy):
    """A pre-order walk that looks at the last operation on each allocation."""

    name: ClassVar[str] = "walk"
    summary: ClassVar[str] = "one walk over the kernel, a barrier before each consumer (Wave, older)"
    keeps_positions: ClassVar[bool] = True

    def choose(self, program: Program) -> Placement:
        """See the module."""
        walk = _Walking(program)
        walk.over_kernel()
        return complete_in_front_of_calls(program, program.existing | walk.chosen)


@dataclass(slots=True)
class _Last:
    """The operation that used an allocation last, and when."""

    type: MemoryAccessType
    when: int
    in_flight: bool


@dataclass(slots=True)
class _Walking:
    program: Program
    chosen: Placement = field(default_factory=dict)
    last: dict[Buffer, _Last] = field(default_factory=dict)
    clock: int = 0
    barrier: int = -1
    async_barrier: int = -1

    def over_kernel(self) -> None:
        """Walk over the blocks in the order of the text."""
        ends = self.loop_ends()
        for block in self.program.flow.blocks:
            self.over_block(block.index)
            for first in ends.get(block.index, ()):
                # The loop's body again, as the next iteration; loops inside it are not doubled once more.
                for again in range(first, block.index + 1):
                    self.over_block(again)

    def loop_ends(self) -> dict[int, list[int]]:
        """For the last block of each loop that can go round: where the loop starts. Inner loops come first."""
        ends: dict[int, list[int]] = {}
        for loop in sorted(self.program.flow.loops, key=lambda loop: -loop.depth):
            if loop.latches:
                ends.setdefault(max(loop.latches), []).append(min(loop.header, *loop.latches))
        return ends

    def over_block(self, index: int) -> None:
        block = self.program.flow.blocks[index]
        for gap, op in enumerate(block.ops):
            # Two ticks: a barrier put in front of an operation is passed on the first, the operation on the second.
            self.clock += 2
            position = Position(block.origin, gap)
            if position in self.chosen:
                self.pass_barrier(self.chosen[position])
            if isinstance(op, ops.SharedMemoryBarrier):
                self.pass_barrier(DRAIN if op.drains else PLAIN)
            elif isinstance(op, ops.MemoryOperation):
                closed = block.origin in self.program.flow.sealed or position in self.program.inside_splits
                closed = closed or op.owner is not None
                self.access(op, None if closed else position)

    def pass_barrier(self, sync: Sync) -> None:
        self.barrier = self.clock - 1
        if sync.drains:
            self.async_barrier = self.clock - 1

    def access(self, op: ops.MemoryOperation, position: Position | None) -> None:
        """`position` is None where no barrier can stand."""
        used = access_type(op)
        alone = self.program.flow.trace.waves == 1
        for view in op.views:
            last = self.last.get(view.buffer)
            if last is not None and alone and not (last.in_flight or isinstance(op, ops.AsyncOperation)):
                continue
            if last is not None and position is not None and self.needs_barrier(last, used):
                sync = (DRAIN if last.in_flight else PLAIN).joined(self.chosen.get(position, PLAIN))
                self.chosen[position] = sync
                self.pass_barrier(sync)
        for view in op.views:
            self.last[view.buffer] = _Last(used, self.clock, isinstance(op, ops.AsyncOperation))

    def needs_barrier(self, last: _Last, used: MemoryAccessType) -> bool:
        if last.type is used and used is not MemoryAccessType.READ_WRITE:
            return False
        return last.when > (self.async_barrier if last.in_flight else self.barrier)
