"""Waits for the matrix unit that wait for nothing once another one has been made stronger.

Triton lets products stay in flight from one iteration to the next, and so its waits leave some. If the last wait of
an iteration has to be for all of them, those before it have nothing left to wait for; the products in front of them
keep their registers to the end of the iteration. Waiting where Triton wanted to wait gives those back: in the one
kernel of the corpus that this is about, three blocks fit on a multiprocessor in place of two (docs/triton-h200.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.hosts.triton.mlir.tree import Block, Operation
from fencepost.hosts.triton.text_edits import SetAttribute

PRODUCT = "ttng.warp_group_dot"
WAIT = "ttng.warp_group_dot_wait"
LEFT = "pendings"
"""The attribute of a wait: how many products it leaves in flight."""


def idle_waits(stronger: Iterable[SetAttribute]) -> list[SetAttribute]:
    """Edits that let the waits wait that would wait for nothing, in the blocks that now end with a wait for all."""
    counts = {edit.operation: edit.value for edit in stronger if edit.operation.name == WAIT}
    blocks = {wait.block: None for wait in counts if wait.block is not None}
    return [
        SetAttribute(wait, LEFT, "0 : i32", inherent=True)
        for block in blocks
        for wait in _idle(block, {op: int(value.split()[0]) for op, value in counts.items() if value})
    ]


def _idle(block: Block, counts: dict[Operation, int]) -> list[Operation]:
    """The waits of one block that have nothing to wait for, if nothing is in flight where it begins."""
    found: list[Operation] = []
    in_flight = 0
    for op in block.operations:
        if op.name == PRODUCT and op.flag("isAsync"):
            in_flight += 1
        elif op.name == WAIT:
            left = counts.get(op, op.integer(LEFT) or 0)
            if 0 < in_flight <= left:
                found.append(op)
            in_flight = min(in_flight, left)
    # A product behind the last wait is in flight when the next iteration begins.
    return found if not in_flight else []
