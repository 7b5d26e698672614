"""How often a kernel is expected to do something: numbers that guide costs, and that nothing relies on.

A loop of unknown length can say how often it runs, a uniform conditional or branch how likely its first side is.
What says nothing is estimated by `flow`.
"""

from __future__ import annotations

from decimal import Decimal

from fencepost.ir import ops
from fencepost.ir.expr import is_divergent
from fencepost.ir.limits import check_number
from fencepost.ir.source import FencepostError, Mark, Span


def check_expected(
    op: ops.Iterate | ops.Conditional | ops.CondBranch, word: Span | None = None, number: Span | None = None
) -> None:
    """Refuse an expectation that `op` cannot have. `word` and `number` are where it is written."""
    if op.expect is None:
        return
    word = word or op.span
    if isinstance(op, ops.Iterate):
        _check_loop(op, word, number or word)
        return
    if is_divergent(op.condition):
        raise FencepostError(
            f"'expect' on a divergent {op.mnemonic}: some waves go one way and the others the other",
            [Mark(word)],
            code="FP105",
            notes=[("help", "both sides run each time; leave `expect` out")],
        )
    if isinstance(op, ops.CondBranch) and op.trip is not None:
        raise FencepostError(
            "'trip' and 'expect' on one branch",
            [Mark(word)],
            code="FP105",
            notes=[("help", "say how often the loop runs, or how likely the first target is")],
        )
    if not 0 <= op.expect <= 1:
        raise FencepostError("a probability is a number from 0 to 1, such as 0.05", [Mark(number or word)])


def _check_loop(op: ops.Iterate, word: Span | None, number: Span | None) -> None:
    if op.trip is not None:
        times = f"{op.trip} time{'' if op.trip == 1 else 's'}"
        raise FencepostError(
            f"'expect' on a loop that runs {times}",
            [Mark(word)],
            code="FP105",
            notes=[("help", "`expect` is for loops whose length is not known, as in `0..?`")],
        )
    if not isinstance(op.expect, int) or op.expect < 1:
        raise FencepostError(
            "a loop is expected to run a whole number of times, and at least once", [Mark(number)]
        )
    check_number(op.expect, number)


def spelled_expected(op: ops.Iterate | ops.Conditional | ops.CondBranch) -> str:
    """How the text form writes what is expected, with a space in front; nothing if nothing is."""
    if op.expect is None:
        return ""
    if isinstance(op, ops.Iterate):
        return f" expect={op.expect:d}"
    # The shortest digits that mean this number, without an exponent; and no zero has a sign.
    digits = f"{Decimal(repr(float(op.expect) + 0.0)):f}"
    return f" expect={digits.rstrip('0').rstrip('.') if '.' in digits else digits}"
