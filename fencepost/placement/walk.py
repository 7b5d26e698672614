"""The older heuristic: one pre-order walk, a barrier before the consumer, a second round for the next iteration.

It remembers the last operation on each allocation. When the next one uses the memory differently, and no
barrier has been walked past in between, it puts one in front. After a loop's body it walks the body once more,
as the next iteration. Walking takes the two sides of a conditional one after the other, so that a barrier on
one side seems to cover the other; two writes, and allocations that share bytes, are no hazard to it. What it
misses for these reasons, `complete` adds (docs/seed-differences.md has the kernels that show it).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from fencepost.analysis.access import MemoryAccessType, access_type
from fencepost.analysis.program import ASYNC, PLAIN, Placement, Program
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.placement.complete import complete
from fencepost.placement.strategy import Strategy


@dataclass(frozen=True)
class Walk(Strategy):
    """A pre-order walk that looks at the last operation on each allocation."""

    name: ClassVar[str] = "walk"
    summary: ClassVar[str] = "one walk over the kernel, a barrier before each consumer (Wave, older)"

    def choose(self, program: Program) -> Placement:
        """See the module."""
        walk = _Walking(program)
        walk.over_blocks(0, len(program.flow.blocks), next_iteration=False)
        return complete(program, walk.chosen)


@dataclass(slots=True)
class _Last:
    """The operation that used an allocation last, and when."""

    type: MemoryAccessType
    when: int
    flying: bool


@dataclass(slots=True)
class _Walking:
    program: Program
    chosen: Placement = field(default_factory=dict)
    last: dict[Buffer, _Last] = field(default_factory=dict)
    clock: int = 0
    barrier: int = -1
    async_barrier: int = -1

    def over_blocks(self, start: int, end: int, next_iteration: bool) -> None:
        """Walk over the blocks from `start` to `end` in the order of the text."""
        flow = self.program.flow
        ends = {} if next_iteration else self.loop_ends()
        for index in range(start, end):
            self.over_block(index)
            for first in ends.get(index, ()):
                # The loop's body again, as the next iteration; loops inside it are not doubled once more.
                for again in range(first, index + 1):
                    self.over_block(again)
        del flow

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
            self.clock += 1
            position = Position(index, gap)
            if position in self.chosen:
                self.pass_barrier(self.chosen[position])
            if isinstance(op, ops.SharedMemoryBarrier):
                self.pass_barrier(ASYNC if op.wait_async_ops else PLAIN)
            elif isinstance(op, ops.MemoryOperation):
                self.access(op, None if block.guards else position)

    def pass_barrier(self, strength: int) -> None:
        self.barrier = self.clock
        if strength == ASYNC:
            self.async_barrier = self.clock

    def access(self, op: ops.MemoryOperation, position: Position | None) -> None:
        """`position` is None where no barrier can stand."""
        used = access_type(op)
        for view in op.views:
            last = self.last.get(view.buffer)
            if last is not None and position is not None and self.needs_barrier(last, used):
                strength = max(self.chosen.get(position, 0), ASYNC if last.flying else PLAIN)
                self.chosen[position] = strength
                self.pass_barrier(strength)
        for view in op.views:
            self.last[view.buffer] = _Last(used, self.clock, isinstance(op, ops.AsyncCopy))

    def needs_barrier(self, last: _Last, used: MemoryAccessType) -> bool:
        if last.type is used and used is not MemoryAccessType.READ_WRITE:
            return False
        return last.when > (self.async_barrier if last.flying else self.barrier)
