"""Refusals of `schedule`, why a loop is not scheduled: one code for each condition, with the operations concerned.

| code | the condition that failed |
|---|---|
| FP501 | there is exactly one loop that multiplies, and all waves run it |
| FP502 | the loop reads shared memory, multiplies, and moves the next tile in |
| FP503 | each operation belongs to the left or to the right operand |
| FP504 | the steps along the reduction divide into the strategy's slices, and so do reads and writes where needed |
| FP505 | an even number of waves, the same in the kernel and the constraints |
| FP506 | the tile sizes are multiples of what waves and instructions take |
| FP507 | the loop was scheduled for prefetch |
| FP508 | an order keeps every dependency |
| FP509 | an order keeps every operation |
| FP510 | the loop has no synchronization of its own yet |
| FP511 | the target has what the strategy needs |
| FP512 | a tile is not overwritten by the copies of its own iteration |
| FP513 | the scheduled kernel is free of races and deadlocks |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fencepost.ir.ops import Operation
from fencepost.ir.source import FencepostError, Mark


def refusal(
    code: str,
    message: str,
    condition: str,
    marks: Iterable[tuple[Operation, str]] = (),
    notes: Sequence[tuple[str, str]] = (),
) -> FencepostError:
    """An error that says which condition failed, and where."""
    return FencepostError(
        message,
        [Mark(op.span, text) for op, text in marks],
        code=code,
        exit_code=1,
        notes=[("condition", condition), *notes],
    )
