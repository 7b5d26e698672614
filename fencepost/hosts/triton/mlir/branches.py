"""Where a terminator goes, and which of its operands become arguments of the block there.

The generic form lists all operands in one row. How they are shared out stands in
`operandSegmentSizes`: first the terminator's own operands, then one segment for each successor.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from fencepost.hosts.triton.mlir.tree import Block, Operation, Successor, Value

CONDITION = "cf.cond_br"
"""A branch whose first operand decides which way it goes."""


def successors(operation: Operation, blocks: list[Block]) -> tuple[Successor, ...]:
    """The successors of a terminator, each with the values that it hands over."""
    shares = _shares(operation, len(blocks))
    return tuple(Successor(block, share) for block, share in zip(blocks, shares, strict=True))


def _shares(operation: Operation, count: int) -> list[tuple[Value, ...]]:
    """One share of the operands for each of `count` successors."""
    operands = operation.operands
    if not operands or (len(operands) == 1 and operation.name == CONDITION):
        # Nothing is handed over: by far the most frequent case.
        return [()] * count
    sizes = operation.integers("operandSegmentSizes") or operation.integers("operand_segment_sizes")
    if sizes is None:
        # Without segments there is nothing to distinguish shares: all operands are for the only successor.
        return [operands] if count == 1 else [()] * count
    cases = operation.integers("case_operand_segments")
    if cases is not None:
        # A switch puts the operands of all its cases into the last segment and divides that again.
        sizes = (*sizes[:-1], *cases)
    segments = [operands[start:end] for start, end in pairwise(accumulate(sizes, initial=0))]
    return segments[-count:] if len(segments) >= count else [()] * count
