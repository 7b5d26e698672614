"""Slices along the reduction.

Matrix instructions that add to one sum follow each other along the reduction: the first of such a chain is step
0, the one that adds to its result step 1, and so on. So the kernel's own values tell the steps, without a word
in the text form. A local read belongs to the earliest step that uses it. Slices only say what is grouped with
what; an order that breaks anything is refused by `reorder_graph`, whatever the slices were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark

AnyOp = TypeVar("AnyOp", bound=ops.Operation)


def reduction_steps(mmas: Sequence[ops.MMA]) -> dict[ops.MMA, int]:
    """The step of each instruction: how many of the same loop body its sum has passed before."""
    steps: dict[ops.MMA, int] = {}
    for mma in mmas:
        # A sum defined further down is the one of the iteration before: this instruction begins a chain.
        added = (steps[value] + 1 for value in mma.uses[2:] if isinstance(value, ops.MMA) and value in steps)
        steps[mma] = max(added, default=0)
    return steps


def slices_of(steps: Mapping[ops.MMA, int], count: int) -> dict[ops.MMA, int]:
    """The slice of each instruction if the steps are divided into `count` equal parts."""
    total = max(steps.values(), default=-1) + 1
    if total < count or total % count:
        raise FencepostError(
            f"{total} step{'' if total == 1 else 's'} along the reduction cannot be divided into {count} slices",
            [Mark(mma.span) for mma in list(steps)[:1]],
            code="FP504",
            exit_code=1,
            notes=[
                ("condition", f"the steps along the reduction are a multiple of {count}"),
                ("steps", "instructions that add to one sum: `%s1 = mma %x, %y, %s0`"),
            ],
        )
    return {mma: step * count // total for mma, step in steps.items()}


def sliced(items: Iterable[AnyOp], slice_of: Mapping[AnyOp, int], count: int) -> list[list[AnyOp]]:
    """The operations of each slice, in the order in which they come."""
    found: list[list[AnyOp]] = [[] for _ in range(count)]
    for item in items:
        found[slice_of[item]].append(item)
    return found


def slices_of_reads(reads: Iterable[ops.Read], slices: Mapping[ops.MMA, int]) -> dict[ops.Read, int]:
    """The slice of each read: the earliest of the instructions that it reaches through other values."""
    found: dict[ops.Read, int] = {}
    wanted = set(reads)
    for mma, number in slices.items():
        for value in sources(mma.uses[:2]):
            if isinstance(value, ops.Read) and value in wanted:
                found[value] = min(found.get(value, number), number)
    return found


def sources(values: Iterable[ops.ValueOperation]) -> list[ops.ValueOperation]:
    """What values come from: reads and whatever else is no arithmetic on registers, the latter looked through."""
    found: dict[ops.ValueOperation, None] = {}
    seen: set[ops.ValueOperation] = set()
    todo = list(values)
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, ops.Compute):
            todo.extend(value.uses)
        else:
            found[value] = None
    return list(found)
