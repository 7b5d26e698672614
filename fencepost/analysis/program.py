"""A kernel reduced to what decides about barriers: steps that add, clear or conflict with pending accesses.

The state between two steps is a pair of bit sets: accesses that are *pending* (a barrier would order them
before whatever follows) and copies *in flight* (only a barrier that also drains the async counters would).

A divergent conditional is one unit: no barrier may stand inside, so the block in front of it gets a step that
conflicts with everything that any operation inside would conflict with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.classes import ClassTable, classify
from fencepost.flow import Flow, Position, build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


class Step(NamedTuple):
    """What happens at one operation. For a barrier, `clears`; for an access, `adds` and `conflicts`."""

    gap: int
    """The operation's place in its block: a barrier in this gap stands right before it."""
    adds: int = 0
    conflicts: int = 0
    in_flight: bool = False
    """What it adds is in flight."""
    clears: int = 0
    """PLAIN or ASYNC: this is a barrier."""
    lands: int = 0
    """Copies that a wait makes pending instead of in flight."""


PLAIN = 1
"""A barrier that orders what is pending."""
ASYNC = 2
"""A barrier that waits for the copies in flight, too."""

Placement = dict[Position, int]
"""Barriers to put in: where, and PLAIN or ASYNC."""


Moves = tuple[tuple[int, int], ...]
"""Bits that change along an edge, and by how many places (to the left if positive)."""


class Edge(NamedTuple):
    """A way out of a block; `moves` says how grouped accesses get older, or young again when a loop is left."""

    target: int
    moves: Moves
    loop: int
    """The loop that goes round, or -1."""


def moved(bits: int, moves: Moves) -> int:
    """`bits` after an edge."""
    if not moves or not bits:
        return bits
    after = 0
    for mask, places in moves:
        here = bits & mask
        bits ^= here
        after |= here << places if places >= 0 else here >> -places
    return bits | after


@dataclass(slots=True)
class Program:
    """The steps of every block and the edges between them."""

    flow: Flow
    table: ClassTable
    steps: list[list[Step]] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)

    def op_at(self, position: Position) -> ops.Operation | None:
        """The operation right behind a position; None at the end of a region."""
        block = self.flow.blocks[position.block]
        return block.ops[position.gap] if position.gap < len(block.ops) else block.anchor


def read_program(trace: CapturedTrace, *, count_barriers: bool = True) -> Program:
    """The program of `trace`. Barriers in the kernel count, unless told otherwise; then they are no steps."""
    flow = build_flow(trace)
    _refuse_split_phases(flow)
    table = classify(flow)
    program = Program(flow, table)
    inside = _conflicts_inside_divergence(program)
    for block in flow.blocks:
        steps: list[Step] = []
        for gap, op in enumerate(block.ops):
            number = table.of_op.get(op)
            if number is not None:
                adds, conflicts = table.bit[number], table.conflicts[number]
                steps.append(Step(gap, adds, conflicts, bool(table.classes[number].engine)))
            elif isinstance(op, ops.SharedMemoryBarrier):
                if count_barriers:
                    steps.append(Step(gap, clears=ASYNC if op.wait_async_ops else PLAIN))
            elif isinstance(op, ops.MemoryCounterWait):
                # Inside a divergent conditional only some waves wait: that completes nothing for certain.
                lands = 0 if block.guards else _landing(table, op)
                if lands:
                    steps.append(Step(gap, lands=lands))
            # A workgroup barrier has no fence: what is still outstanding it does not order. It counts for nothing.
        if not block.guards and block.anchor in inside:
            steps.append(Step(len(block.ops), conflicts=inside[block.anchor]))
        program.steps.append(steps)
        program.edges.append([_edge(flow, table, block.index, target) for target in block.successors])
    return program


def _landing(table: ClassTable, op: ops.MemoryCounterWait) -> int:
    """The copies that a wait certainly completes: all of a counter that it brings to zero, none of the others."""
    lands = 0
    for counter, count in op.counts.items():
        if count == 0:
            lands |= table.engines.get(counter, 0)
    return lands


def _edge(flow: Flow, table: ClassTable, source: int, target: int) -> Edge:
    loop = flow.crossed_loop(source, target)
    if not table.grouped:
        return Edge(target, (), loop)
    inside = {other.index for other in flow.loops_around(target)}
    masks: dict[int, int] = {}
    for number in table.grouped:
        loops = table.classes[number].loops
        for age in range(len(loops) + 1):
            # An access is as old as the outermost loop that has gone round since; 0 is young.
            here = age
            if here and loops[here - 1] not in inside:
                here = 0
            if loop in loops:
                round_ = loops.index(loop) + 1
                here = round_ if here == 0 else min(here, round_)
            if here != age:
                masks[here - age] = masks.get(here - age, 0) | table.bit[number] << age
    return Edge(target, tuple((mask, places) for places, mask in masks.items()), loop)


def _conflicts_inside_divergence(program: Program) -> dict[ops.Operation | None, int]:
    """For each outermost divergent branch: everything that an operation inside it conflicts with."""
    inside: dict[ops.Operation | None, int] = {}
    table = program.table
    for block in (program.flow.blocks[index] for index in program.flow.order):
        if block.guards:
            branch = block.guards[0].branch
            hot = inside.get(branch, 0)
            for op in block.ops:
                number = table.of_op.get(op)
                if number is not None:
                    hot |= table.conflicts[number]
            inside[branch] = hot
    return inside


def _refuse_split_phases(flow: Flow) -> None:
    """Placement reasons about waves that meet the same barriers; say so where they do not."""
    for block in flow.blocks:
        for op in block.ops:
            if (
                block.guards
                and isinstance(op, ops.SyncOperation)
                and not isinstance(op, ops.MemoryCounterWait)
            ):
                raise FencepostError(
                    f"{op.mnemonic} inside a divergent conditional: not all waves meet it",
                    [Mark(op.span), Mark(block.guards[-1].branch.span, "only some waves take this side")],
                    code="FP201",
                    notes=[
                        (
                            "help",
                            "`fencepost check` can judge such a kernel; barriers cannot be placed in it yet",
                        )
                    ],
                    source=flow.trace.source,
                )
            if isinstance(op, ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait):
                raise FencepostError(
                    f"the kernel has a split barrier ({op.mnemonic})",
                    [Mark(op.span)],
                    code="FP202",
                    notes=[
                        (
                            "help",
                            "`fencepost check` can judge such a kernel; barriers cannot be placed in it yet",
                        )
                    ],
                    source=flow.trace.source,
                )
