"""What comments allow, for whoever judges a kernel or puts barriers into it: `fix`, `insert`, editors, tests.

A race that a comment allows is no finding, and gets no barrier: what `check` accepts, the others leave as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fencepost.analysis.conflicts import Filter
from fencepost.check import Check, Report, check
from fencepost.check.lockstep import in_step
from fencepost.emit.write import Inserted
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.insert import Insert
from fencepost.phases import begin_phase
from fencepost.report.allow_comments import MARK
from fencepost.report.findings import CODES, spans_of
from fencepost.report.isolated_accesses import can_be_isolated
from fencepost.report.silencing import Places, Silenced, Silencer

RACE, ORDER = CODES["race"], CODES["wrong order"]


def check_heeding_comments(kernel: CapturedTrace, options: Check | None = None) -> Report:
    """Judge a kernel; what its comments allow is only counted."""
    begin_phase(f"checking @{kernel.name}")
    return Silencer().apply(kernel, (options or Check()).apply(kernel))[0]


def insert_heeding_comments(insert: Insert) -> Callable[[CapturedTrace], Inserted]:
    """Put barriers into a kernel, none for a race that its comments allow."""
    return lambda kernel: heeding_comments(insert, kernel).apply(kernel)


def heeding_comments(insert: Insert, kernel: CapturedTrace) -> Insert:
    """`insert` for one kernel: races that its comments allow are left alone."""
    allowed = allowed_pairs(kernel)
    return insert if allowed is None else replace(insert, ignore=allowed)


def allowed_pairs(kernel: CapturedTrace) -> Filter | None:
    """Which pairs of accesses may race, by the comments at one of the two; None if no comment allows any.

    Where waves are skewed, what allows a race does not allow the wrong order, which barriers keep as well: there both
    codes have to be allowed.
    """
    if not _may_have_comments(kernel):
        return None
    allowed = {code: _allowed_accesses(kernel, code) for code in (RACE, ORDER)}
    if not allowed[RACE]:
        return None
    enough = allowed[RACE] if in_step(build_flow(kernel)) else allowed[RACE] & allowed[ORDER]
    return lambda one, other: (one.owner or one) in enough or (other.owner or other) in enough


def still_silenced(kernel: CapturedTrace) -> Silenced:
    """What is left of the findings in a kernel because comments allow it."""
    if allowed_pairs(kernel) is None:
        return {}
    return Silencer().apply(kernel, check(kernel))[1]


def _may_have_comments(kernel: CapturedTrace) -> bool:
    """Whether a comment may allow something; of a kernel without a text, in the text that is printed of it."""
    if kernel.source is not None:
        return kernel.may_mention(MARK)
    bodies = (kernel, *kernel.functions())
    return MARK in spans_of(kernel)[0].text or any(
        op.origin for body in bodies for op in body.preorder_walk()
    )


def _allowed_accesses(kernel: CapturedTrace, code: str) -> set[ops.Operation]:
    source, spans = spans_of(kernel)
    silencer, places = Silencer(), Places(source, spans)
    bodies = (kernel, *kernel.functions())
    accesses = (op for body in bodies for op in body.preorder_walk() if can_be_isolated(op))
    return {op for op in accesses if silencer.allow_at(code, op, places) is not None}
