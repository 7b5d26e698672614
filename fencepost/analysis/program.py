"""A kernel reduced to what decides about barriers: steps that add, clear or conflict with pending accesses.

The state between two steps is a pair of bit sets: accesses that are *pending* (a barrier would order them
before whatever follows) and copies *in flight* (nothing but a wait helps, and a barrier after it).

A wait that leaves at most N operations of a counter outstanding completes a copy if at least N operations of
that counter were issued after it. So the bits of copies in flight come in *levels*: level n holds copies with n
later operations, the last level those with at least as many as any wait in the kernel asks for. An operation
that is counted moves all copies of its counter up one level; a wait for N lands those of level N and above.

A divergent conditional is one unit: no barrier may stand inside, so the block in front of it gets a step that
conflicts with everything that any operation inside would conflict with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.analysis.classes import ClassTable, all_ages, classify, width
from fencepost.flow import Block, Flow, Position, build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


class Step(NamedTuple):
    """What happens at one operation, or in front of a divergent conditional."""

    gap: int
    """The operation's place in its block: a barrier in this gap stands right before it."""
    adds: int = 0
    """An access: what becomes pending, or in flight if `in_flight`."""
    conflicts: int = 0
    """Pending bits that it must not overtake."""
    flying: int = 0
    """Bits in flight, on all levels, that it must not overtake."""
    in_flight: bool = False
    clears: int = 0
    """A barrier: PLAIN or ASYNC."""
    lands: int = 0
    """A wait: bits that are complete after it, on the levels that it reaches."""
    counts: int = 0
    """Bits of its counter on all levels but the last: one level up."""
    may_land: int = 0
    may_count: int = 0
    """The same where it is not certain, because not every wave that made the copy comes by: both can be."""


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
    flying_moves: Moves = ()
    """The same for bits in flight, on all levels."""


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
    width: int
    """Bits of one level."""
    levels: int
    """Levels of copies in flight."""
    steps: list[list[Step]] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)

    def on_levels(self, bits: int, first: int = 0, end: int | None = None) -> int:
        """`bits` on every level from `first` up to, not including, `end`."""
        found = 0
        for level in range(first, self.levels if end is None else end):
            found |= bits << level * self.width
        return found

    def of_any_level(self, flying: int) -> int:
        """The classes among bits in flight."""
        found, mask = 0, (1 << self.width) - 1
        while flying:
            found |= flying & mask
            flying >>= self.width
        return found

    def behind(self, step: Step, pending: int, flying: int) -> tuple[int, int]:
        """The state behind a step."""
        pending, flying = self.followed(step, pending, flying)
        return (pending, flying | step.adds) if step.in_flight else (pending | step.adds, flying)

    def followed(self, step: Step, pending: int, flying: int) -> tuple[int, int]:
        """What becomes of a state at a step, without what the step itself adds."""
        if step.clears:
            return 0, (0 if step.clears == ASYNC else flying)
        if flying:
            landed, perhaps = flying & step.lands, flying & step.may_land
            if landed or perhaps:
                pending, flying = pending | self.of_any_level(landed | perhaps), flying ^ landed
            up, perhaps = flying & step.counts, flying & step.may_count
            flying = (flying ^ up) | (up | perhaps) << self.width
        return pending, flying


def read_program(trace: CapturedTrace, *, count_barriers: bool = True) -> Program:
    """The program of `trace`. Barriers in the kernel count, unless told otherwise; then they are no steps."""
    flow = build_flow(trace)
    _refuse_split_phases(flow)
    table = classify(flow)
    program = Program(flow, table, width(table), _levels(flow, table))
    inside = _conflicts_inside_divergence(program)
    for block in flow.blocks:
        certain = _certain(program, block)
        steps = [
            step
            for gap, op in enumerate(block.ops)
            if (step := _step(program, gap, op, certain, count_barriers)) is not None
        ]
        if not block.guards and block.anchor in inside:
            conflicts, flying = inside[block.anchor]
            steps.append(Step(len(block.ops), conflicts=conflicts, flying=program.on_levels(flying)))
        program.steps.append(steps)
        program.edges.append([_edge(program, block.index, target) for target in block.successors])
    return program


def _levels(flow: Flow, table: ClassTable) -> int:
    """Copies that any wait could tell apart are on different levels; without copies there are none."""
    if not table.engines:
        return 0
    asked = (
        count
        for block in flow.blocks
        for op in block.ops
        if isinstance(op, ops.MemoryCounterWait)
        for counter, count in op.counts.items()
        if counter in table.engines
    )
    # No counter is wider than this; a wait for more is taken as uncertain (see `_step`).
    return 1 + min(max(asked, default=0), 64)


def _certain(program: Program, block: Block) -> int:
    """The bits of copies all of whose waves are certain to come by a block."""
    table = program.table
    if not table.engines:
        return 0
    waves = range(program.flow.trace.waves)
    here = sum(1 << wave for wave in waves if all(guard.demands(wave, {}) for guard in block.guards))
    certain = 0
    for number, made in enumerate(table.classes):
        if made.engine and not made.waves & ~here:
            certain |= all_ages(table, number)
    return certain


def _step(program: Program, gap: int, op: ops.Operation, certain: int, count_barriers: bool) -> Step | None:
    table, levels = program.table, program.levels
    number = table.of_op.get(op)
    if number is not None and not table.engines:
        # By far the most frequent case.
        return Step(gap, table.bit[number], table.conflicts[number])
    counts = may_count = 0
    counted = table.engines.get(getattr(op, "counter", ""), 0) if table.engines else 0
    if counted:
        counts = program.on_levels(counted & certain, 0, levels - 1)
        may_count = program.on_levels(counted & ~certain, 0, levels - 1)
    if number is not None:
        flying = program.on_levels(table.flying[number])
        in_flight = bool(table.classes[number].engine)
        adds, conflicts = table.bit[number], table.conflicts[number]
        return Step(gap, adds, conflicts, flying, in_flight, counts=counts, may_count=may_count)
    if isinstance(op, ops.SharedMemoryBarrier):
        return Step(gap, clears=ASYNC if op.wait_async_ops else PLAIN) if count_barriers else None
    if isinstance(op, ops.MemoryCounterWait) and table.engines:
        lands = may_land = 0
        for name, count in op.counts.items():
            bits = table.engines.get(name, 0)
            lands |= program.on_levels(bits & certain, count)
            # A count beyond the levels could complete anything or nothing.
            may_land |= program.on_levels(
                bits if count >= levels else bits & ~certain, min(count, levels - 1)
            )
        return Step(gap, lands=lands, may_land=may_land) if lands or may_land else None
    # A workgroup barrier has no fence: what is still outstanding it does not order. It counts for nothing.
    return Step(gap, counts=counts, may_count=may_count) if counts or may_count else None


def _edge(program: Program, source: int, target: int) -> Edge:
    flow, table = program.flow, program.table
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
    moves = tuple((mask, places) for places, mask in masks.items())
    return Edge(target, moves, loop, tuple((program.on_levels(mask), places) for mask, places in moves))


def _conflicts_inside_divergence(program: Program) -> dict[ops.Operation | None, tuple[int, int]]:
    """For each outermost divergent branch: everything, pending or in flight, that something inside conflicts with."""
    inside: dict[ops.Operation | None, tuple[int, int]] = {}
    table = program.table
    for block in (program.flow.blocks[index] for index in program.flow.order):
        if block.guards:
            branch = block.guards[0].branch
            hot, flying = inside.get(branch, (0, 0))
            for op in block.ops:
                number = table.of_op.get(op)
                if number is not None:
                    hot |= table.conflicts[number]
                    flying |= table.flying[number]
            inside[branch] = (hot, flying)
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
