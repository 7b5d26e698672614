"""The data of a flow: blocks and their order, loops, guards and positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, NamedTuple

from fencepost.ir.expr import Condition, decide
from fencepost.ir.ops import (
    Call,
    CondBranch,
    Conditional,
    Iterate,
    MemoryCounterWait,
    Operation,
    SharedMemoryBarrier,
    SyncOperation,
)
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace, Graph
from fencepost.option_fields import at_least, option, probability

UNKNOWN_TRIP = 100
"""How often a loop is taken to run when nothing says so; only the choice between placements depends on it."""

TAKEN = 0.5
"""How likely each side of a uniform conditional is, for the same purpose."""

RARE = 1e-6
"""The least probability that counts as more than none: what can run is never free."""

LEAST, MOST = 1e-100, 1e200
"""The bounds of frequencies: loops inside loops multiply to more than numbers can hold. With these, costs, their sums
and the ratio of any two are finite."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """What frequencies are computed with where a kernel does not say; nothing else depends on it."""

    trip: float = option(
        UNKNOWN_TRIP,
        "how often a loop of unknown length is taken to run, unless it says `expect=`",
        "--trips",
        metavar="N",
        parse=at_least(1, "a number from 1 up"),
    )
    taken: float = option(
        TAKEN,
        "how likely the first side of a uniform conditional, or the first target of a branch, is taken to be, "
        "unless it says `expect=`",
        "--taken",
        metavar="P",
        parse=probability,
    )

    def __post_init__(self) -> None:
        if not (self.trip >= 1 and isfinite(self.trip)):
            raise FencepostError("a loop of unknown length is taken to run at least once")
        if not 0 <= self.taken <= 1:
            raise FencepostError("a probability is a number from 0 to 1, such as 0.05")


DEFAULT_ESTIMATES = Estimates()
"""What is assumed unless somebody says otherwise."""


class Assumed(NamedTuple):
    """A number that a kernel does not say and that was taken from the estimates."""

    op: Operation
    """The loop, conditional or branch; for a loop of blocks, the branch that closes it or by which it is left."""
    what: Literal["trip", "taken"]
    """Which of the estimates it is."""
    number: float


def chances(taken: float) -> tuple[float, float]:
    """How likely the sides of a conditional are, if the first one is taken with this probability."""
    first = min(max(taken, RARE), 1 - RARE)
    return first, 1 - first


def bounded(frequency: float) -> float:
    """The frequency of something that can run: a number that can be computed with, and more than nothing."""
    return min(max(frequency, LEAST), MOST)


class Position(NamedTuple):
    """A gap: before operation number `gap` of a block, or at its end."""

    block: int
    gap: int


@dataclass(frozen=True, slots=True)
class Guard:
    """One side of a divergent conditional: the waves that decide `condition` as `holds` take part.

    `branch` is the operation that asks; the two sides of one branch have guards that differ in `holds` alone.
    """

    branch: Conditional | CondBranch
    holds: bool
    depth: int = 0
    """The calls under way where it asks: a function's names and its caller's can be spelled alike."""

    @property
    def condition(self) -> Condition:
        """What each wave asks."""
        return self.branch.condition

    def admits(self, wave: int, env: dict[str, int]) -> bool:
        """Whether `wave` can take part; a condition that cannot be decided admits every wave."""
        return decide(self.condition, env, wave) in (None, self.holds)

    def demands(self, wave: int, env: dict[str, int]) -> bool:
        """Whether `wave` is certain to take part."""
        return decide(self.condition, env, wave) == self.holds


@dataclass(slots=True, eq=False)
class Block:
    """Operations that are executed together, and where execution can go next."""

    index: int
    graph: Graph
    loop: int
    """The innermost loop around the block, or -1."""
    frequency: float
    """How often the block runs for each run of the kernel, estimated; 0 only if it cannot run."""
    guards: tuple[Guard, ...] = ()
    frame: int = 0
    """How far on the allocations of the function that it belongs to stand."""
    calls: tuple[Call, ...] = ()
    """The calls that it is executed for, outermost first."""
    origin: int = -1
    """The first block made from the same operations: a function is expanded for each call of it."""
    ops: list[Operation] = field(default_factory=list)
    anchor: Operation | None = None
    """What the block's end stands before: a loop, a conditional, a call, a branch, what ends a region, or nothing."""
    successors: list[int] = field(default_factory=list)
    """For a uniform branch: where it leads if its condition holds, then where if not."""
    predecessors: list[int] = field(default_factory=list)
    begins_behind: Operation | None = None
    """The operation of its graph that its own follow: a loop, a conditional, a call; None if the graph begins so."""

    def way(self, holds: bool) -> int:
        """Where a uniform branch at the block's end leads; `divergence` may have put another block in between."""
        return self.successors[0 if holds else 1]


@dataclass(slots=True, eq=False)
class Loop:
    """A natural loop: the blocks from which its header can be reached again."""

    index: int
    parent: int
    header: int
    depth: int
    trip: int | None
    """How often the body runs for each time the loop is entered; None if unknown."""
    op: Iterate | None = None
    latches: list[int] = field(default_factory=list)
    """Blocks with an edge back to the header."""


@dataclass(slots=True, eq=False)
class Flow:
    """A kernel's program points. Block 0 is where execution starts."""

    trace: CapturedTrace
    estimates: Estimates = DEFAULT_ESTIMATES
    blocks: list[Block] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    """The blocks that can be reached, each before its successors except along edges back."""
    sealed: set[int] = field(default_factory=set)
    """Blocks, by origin, where no barrier can stand: for some call, only some waves reach them."""
    expanded: dict[int, float] = field(default_factory=dict)
    """For the origin of blocks that stand for several calls: how often they run together."""
    assumed: list[Assumed] = field(default_factory=list)
    """What frequencies rest on beside the kernel itself: as the kernel runs, and each once, in functions too."""

    def loops_around(self, block: int) -> Iterator[Loop]:
        """The loops that a block lies in, innermost first."""
        loop = self.blocks[block].loop
        while loop >= 0:
            yield self.loops[loop]
            loop = self.loops[loop].parent

    def crossed_loop(self, source: int, target: int) -> int:
        """The loop whose next iteration the edge from `source` to `target` starts, or -1."""
        for loop in self.loops_around(target):
            if loop.header != target:
                break
            if source in loop.latches:
                return loop.index
        return -1

    def frequency(self, position: Position) -> float:
        """How often a position is passed, for all calls together."""
        return self.expanded.get(position.block, self.blocks[position.block].frequency)

    def has(self, kind: type[Operation]) -> bool:
        """Whether there is an operation of a kind, also where it cannot be reached."""
        return any(isinstance(op, kind) for block in self.blocks for op in block.ops)

    def has_partial_barriers(self) -> bool:
        """Whether there are barriers that not all waves meet: for some of them, or inside a divergent conditional."""
        return any(
            is_rendezvous(op)
            and (block.guards or (isinstance(op, SharedMemoryBarrier) and op.waves is not None))
            for block in self.blocks
            for op in block.ops
        )

    def position(self, block: int, gap: int) -> Position:
        """The place in the kernel's text that a gap of a block stands for."""
        return Position(self.blocks[block].origin, gap)

    def insert(self, position: Position, op: Operation) -> None:
        """Put `op` into the kernel at `position`. The flow itself stays as it was."""
        block = self.blocks[position.block]
        anchor = block.ops[position.gap] if position.gap < len(block.ops) else block.anchor
        if anchor is not None and anchor.owner is not None:
            anchor = anchor.owner
        if anchor is None:
            block.graph.append(op)
        else:
            block.graph.insert_before(anchor, op)


def is_rendezvous(op: Operation) -> bool:
    """Whether waves meet at an operation, or say that they have come so far."""
    return isinstance(op, SyncOperation) and not isinstance(op, MemoryCounterWait)


def reverse_postorder(successors: list[list[int]]) -> list[int]:
    """The blocks that can be reached from block 0, each before its successors except along edges back."""
    seen = {0}
    finished: list[int] = []
    todo: list[tuple[int, Iterator[int]]] = [(0, iter(successors[0]))]
    while todo:
        block, rest = todo[-1]
        following = next((successor for successor in rest if successor not in seen), None)
        if following is None:
            finished.append(block)
            todo.pop()
        else:
            seen.add(following)
            todo.append((following, iter(successors[following])))
    finished.reverse()
    return finished
