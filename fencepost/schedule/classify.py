"""The loop that multiplies, and what each of its operations is there for.

From the matrix instructions back: what reaches the first operand is the left one, what reaches the second the
right one. Local reads are followed to the bytes that they touch, these to the writes and copies that fill them,
and writes to the global reads whose values they store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fencepost.ir import ops
from fencepost.ir.expr import is_divergent
from fencepost.ir.printer import statement
from fencepost.ir.trace import CapturedTrace
from fencepost.schedule.loop_refusals import refusal
from fencepost.schedule.overlap import same_part
from fencepost.schedule.slicing import sources

SIDES = ("left", "right")
AnyValue = TypeVar("AnyValue", bound=ops.ValueOperation)


@dataclass(frozen=True, slots=True)
class Moves:
    """How one operand gets from global memory to the matrix instructions, in the order of the loop."""

    local_reads: tuple[ops.Read, ...]
    local_writes: tuple[ops.Write, ...]
    global_reads: tuple[ops.GlobalRead, ...]
    copies: tuple[ops.AsyncCopy, ...]
    """Copies straight into shared memory."""


@dataclass(frozen=True, slots=True)
class LoopOperations:
    """A loop that multiplies."""

    loop: ops.Iterate
    mmas: tuple[ops.MMA, ...]
    lhs: Moves
    rhs: Moves

    @property
    def copies(self) -> tuple[ops.AsyncCopy, ...]:
        """Copies straight into shared memory, of both operands."""
        return self.lhs.copies + self.rhs.copies

    @property
    def local_reads(self) -> tuple[ops.Read, ...]:
        """Of both operands."""
        return self.lhs.local_reads + self.rhs.local_reads


def find_loop(trace: CapturedTrace) -> ops.Iterate:
    """The one loop of the kernel whose body has matrix instructions; a loop around it may have some as well."""
    multiplying = [
        op
        for op in trace.preorder_walk()
        if isinstance(op, ops.Iterate) and any(isinstance(inner, ops.MMA) for inner in op.body)
    ]
    around = {owner for loop in multiplying for owner in _owners(loop)}
    loops = [loop for loop in multiplying if loop not in around]
    condition = "there is exactly one loop that multiplies, and all waves run it"
    if not loops:
        raise refusal("FP501", "no loop of this kernel has matrix instructions", condition)
    if len(loops) > 1:
        raise refusal(
            "FP501",
            f"{len(loops)} loops of this kernel have matrix instructions",
            condition,
            [(loop, "multiplies") for loop in loops],
        )
    for owner in _owners(loops[0]):
        if isinstance(owner, ops.Conditional) and is_divergent(owner.condition):
            raise refusal(
                "FP501",
                "only some of the waves run this loop",
                condition,
                [(loops[0], ""), (owner, "not all waves take the same side here")],
            )
    return loops[0]


def _owners(op: ops.Operation) -> Iterator[ops.Operation]:
    """The loops and conditionals around an operation, the innermost first."""
    owner = op.graph.owner if op.graph is not None else None
    while owner is not None:
        yield owner
        owner = owner.graph.owner if owner.graph is not None else None


def classify(loop: ops.Iterate) -> LoopOperations:
    """What each operation of the loop is there for; anything that does not fit is refused."""
    body = list(loop.body)
    _check_synchronization(loop)
    mmas = tuple(op for op in body if isinstance(op, ops.MMA))
    for mma in mmas:
        if len(mma.uses) < 2:
            raise refusal(
                "FP503", "a matrix instruction without a left and a right operand", _BELONGS, [(mma, "")]
            )
    sides = [_moves(body, mmas, side) for side in (0, 1)]
    found = LoopOperations(loop, mmas, *sides)
    _check_sides(found)
    _check_rest(body, found)
    return found


_BELONGS = "each operation belongs to the left or to the right operand"


def _moves(body: list[ops.Operation], mmas: tuple[ops.MMA, ...], side: int) -> Moves:
    found = sources(mma.uses[side] for mma in mmas)
    reads = _in_order(body, (value for value in found if isinstance(value, ops.Read)))
    if not reads:
        raise refusal(
            "FP502",
            f"the {SIDES[side]} operand is not read from shared memory in the loop",
            "the loop reads shared memory, multiplies, and moves the next tile in",
            [(mmas[0], f"its {SIDES[side]} operand")],
        )
    filled = [op for op in body if isinstance(op, ops.Write | ops.AsyncCopy) and fills(op, reads)]
    writes = tuple(op for op in filled if isinstance(op, ops.Write))
    copies = tuple(op for op in filled if isinstance(op, ops.AsyncCopy))
    if not filled:
        raise refusal(
            "FP502",
            f"nothing in the loop brings the next tile of the {SIDES[side]} operand in",
            "the loop reads shared memory, multiplies, and moves the next tile in",
            [(reads[0], "reads a tile that never changes")],
        )
    fetched = sources(value for write in writes for value in write.uses)
    global_reads = _in_order(body, (value for value in fetched if isinstance(value, ops.GlobalRead)))
    if writes and not global_reads:
        raise refusal(
            "FP502",
            f"no global read of the loop feeds the local writes of the {SIDES[side]} operand",
            "the loop reads shared memory, multiplies, and moves the next tile in",
            [(writes[0], "stores something else")],
        )
    return Moves(reads, writes, global_reads, copies)


def fills(op: ops.Write | ops.AsyncCopy, reads: Sequence[ops.Read]) -> bool:
    """Whether an operation writes bytes that reads of any iteration can touch."""
    return any(same_part(mine, theirs) for mine in op.views for read in reads for theirs in read.views)


def _in_order(body: list[ops.Operation], found: Iterable[AnyValue]) -> tuple[AnyValue, ...]:
    place = {op: number for number, op in enumerate(body)}
    return tuple(sorted((op for op in found if op in place), key=lambda op: place[op]))


def _check_synchronization(loop: ops.Iterate) -> None:
    """Refuse a loop with barriers of its own, and one with regions or calls, in which anything could happen."""
    for op in loop.body:
        if isinstance(op, ops.SyncOperation | ops.CommitGroup | ops.Exchange):
            raise refusal(
                "FP510",
                f"the loop has synchronization of its own: `{statement(op)}`",
                "schedules come first and bring their barriers along",
                [(op, "")],
                [
                    (
                        "help",
                        "take barriers and waits out of the loop; what is missing elsewhere, `insert` adds",
                    )
                ],
            )
        if isinstance(op, ops.Iterate | ops.Conditional | ops.Call):
            raise refusal(
                "FP510",
                "the loop has control flow inside",
                "the operations of the loop stand in one row",
                [(op, "")],
            )


def _check_sides(found: LoopOperations) -> None:
    left, right = set(_all(found.lhs)), set(_all(found.rhs))
    for op in loop_order(found.loop, left & right):
        raise refusal(
            "FP503", f"`{statement(op)}` serves the left and the right operand", _BELONGS, [(op, "")]
        )


def _check_rest(body: list[ops.Operation], found: LoopOperations) -> None:
    known = {*_all(found.lhs), *_all(found.rhs)}
    for op in body:
        if isinstance(op, ops.MemoryOperation) and op not in known:
            raise refusal("FP503", f"`{statement(op)}` serves neither operand", _BELONGS, [(op, "")])


def _all(moves: Moves) -> Iterator[ops.Operation]:
    yield from moves.local_reads
    yield from moves.local_writes
    yield from moves.global_reads
    yield from moves.copies


def loop_order(loop: ops.Iterate, wanted: set[ops.Operation]) -> list[ops.Operation]:
    """Operations in the order of the loop."""
    return [op for op in loop.body if op in wanted]
