"""What a kernel can say: the range of each number, the spelling of names, what can be expected (`expect=`).

Parser and builder both ask here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.ir import ops
from fencepost.ir.expr import Const, Expr, is_divergent, whole
from fencepost.ir.ops import LDS_COUNTER, UPDATES, WORKGROUP
from fencepost.ir.source import FencepostError, Mark, Span, UsageError, described

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
MOST_DIGITS = 18
"""Numbers with more digits than this are refused: no GPU has room for them."""
LARGEST = 10**MOST_DIGITS
MOST_DEPTH = 64
"""Expressions nested deeper than this are refused rather than risked on Python's stack."""
MOST_BYTES = 2**40
MOST_WAVES = 64
MOST_PRIORITY = 3


def check_name(name: str) -> str:
    """`name`, if the text form can spell it."""
    if not isinstance(name, str):
        raise UsageError(f"a name is a string, not {described(name)}")
    if not NAME.fullmatch(name):
        raise FencepostError(
            f"{name!r} is no name: letters, digits, _ and single dots between them, with a letter or _ first"
        )
    return name


def check_number(number: int, span: Span | None = None, what: str = "a number") -> int:
    """`number`, if it is whole and not too large."""
    number = whole(number, what)
    if not -LARGEST < number < LARGEST:
        raise FencepostError("the number is too large", [Mark(span)])
    return number


def check_constants(leaves: Sequence[Expr]) -> None:
    """Refuse constants that are too large among the leaves of an expression."""
    for leaf in leaves:
        if type(leaf) is Const and not -LARGEST < leaf.value < LARGEST:
            check_number(leaf.value)


def check_waves(waves: int, span: Span | None = None) -> int:
    """`waves`, if a workgroup can have so many."""
    waves = whole(waves, "the number of waves")
    if not 1 <= waves <= MOST_WAVES:
        raise FencepostError(f"{waves} waves; a workgroup has 1 to {MOST_WAVES}", [Mark(span)])
    return waves


def check_size(name: str, size: int, span: Span | None = None) -> None:
    """Refuse a buffer of `size` bytes that is larger than any memory."""
    if size > MOST_BYTES:
        raise FencepostError(f"%{name} has {size} bytes, more than a terabyte", [Mark(span)])


def check_step(step: int, span: Span | None = None) -> int:
    """`step`, if a loop can count by it."""
    step = whole(step, "a loop's step")
    if step < 1:
        raise FencepostError("a loop's step is at least 1", [Mark(span)])
    return check_number(step, span)


def check_barrier(number: int, span: Span | None = None) -> int:
    """`number`, if a split barrier can have it."""
    number = whole(number, "a barrier's id")
    if number < WORKGROUP:
        raise FencepostError("barrier ids are -1 (the workgroup's) and up", [Mark(span)])
    return check_number(number, span)


def check_count(what: str, number: int) -> int:
    """`number`, if so many arrivals or bytes can be asked for."""
    number = whole(number, repr(what))
    if number < 1:
        raise FencepostError(f"{what!r} is a number from 1")
    return check_number(number)


def check_some(first: int, end: int, span: Span | None = None) -> tuple[int, int]:
    """The waves from `first` up to, not including, `end`, if a barrier can be for them."""
    first, end = whole(first, "a wave"), whole(end, "a wave")
    if not 0 <= first < end <= MOST_WAVES:
        raise FencepostError(
            f"a barrier for waves {first}..{end}; they are counted from 0 to {MOST_WAVES}", [Mark(span)]
        )
    return first, end


def check_priority(priority: int, span: Span | None = None) -> int:
    """`priority`, if a wave can have it."""
    priority = whole(priority, "a priority")
    if not 0 <= priority <= MOST_PRIORITY:
        raise FencepostError(f"priority {priority}; waves have 0 to {MOST_PRIORITY}", [Mark(span)])
    return priority


def check_engine(counter: str, span: Span | None = None) -> str:
    """`counter`, if an engine can count on it."""
    if counter == LDS_COUNTER:
        # Nothing would tell such an access from what the wave does itself.
        raise FencepostError(
            f"{LDS_COUNTER!r} counts plain accesses; an engine needs a counter of its own",
            [Mark(span)],
            code="FP105",
        )
    return counter


def check_update(update: str, span: Span | None = None) -> str:
    """`update`, if atomics have it; empty if they do not say."""
    if update and update not in UPDATES:
        raise FencepostError(
            f"unknown update {update!r}",
            [Mark(span)],
            code="FP105",
            notes=[("known updates", ", ".join(UPDATES))],
        )
    return update


def check_frame(frame: int, span: Span | None = None) -> int:
    """`frame`, if the buffers of a function can stand so far on."""
    frame = whole(frame, "a frame")
    if frame < 0:
        raise FencepostError(f"a frame at {frame}; addresses begin at 0", [Mark(span)])
    if frame > MOST_BYTES:
        raise FencepostError(f"a frame at {frame}, more than a terabyte on", [Mark(span)])
    return frame


def check_expected(
    op: ops.Iterate | ops.Conditional | ops.CondBranch, word: Span | None = None, number: Span | None = None
) -> None:
    """Refuse an expectation that `op` cannot have. `word` and `number` are where it is written.

    A loop of unknown length can say how often it runs, a uniform conditional or branch how likely its first side is.
    That guides costs, and nothing relies on it; what says nothing is estimated by `flow`.
    """
    if op.expect is None:
        return
    word = word or op.span
    if isinstance(op, ops.Iterate):
        _check_expected_trip(op, word, number or word)
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


def _check_expected_trip(op: ops.Iterate, word: Span | None, number: Span | None) -> None:
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
