"""A kernel that is wrong, as `fix` leaves it: what a page shows beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from fencepost.check import Check, Report
from fencepost.ir.parser import parse_all
from fencepost.ir.printer import print_file
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.fix import fix_text
from fencepost.passes.insert import Insert
from fencepost.phases import begin_phase
from fencepost.report.heeded_comments import check_heeding_comments, insert_heeding_comments


@dataclass(frozen=True, slots=True)
class Mended:
    """A kernel, and the lines of its text that are new or changed."""

    kernel: CapturedTrace
    added: tuple[int, ...]


def mended_kernel(
    trace: CapturedTrace, report: Report, target: str, options: Check, *, alone: bool
) -> Mended | None:
    """The kernel without what was found in it; None if nothing was, or `fix` cannot mend all of it.

    If it is `alone` in its file, the file keeps its layout; otherwise the kernel is printed.
    """
    if report.ok or any(op.host is not None for op in trace.preorder_walk()):
        return None
    begin_phase(f"mending @{trace.name}")
    text, name = print_file([trace]), "<mended>"
    if alone and trace.source is not None:
        text, name = trace.source.text, trace.source.name
    try:
        insert = insert_heeding_comments(Insert(target=target))
        fixed = fix_text(
            text, name, insert=insert, judge=lambda kernel: check_heeding_comments(kernel, options)
        )
    except FencepostError:
        return None  # the findings of the kernel itself say what is wrong with it
    if not fixed.changed or any(kernel.left for kernel in fixed.kernels):
        return None
    kernel = next(each for each in parse_all(fixed.after, name) if each.name == trace.name)
    return Mended(kernel, added_lines(text.split("\n"), fixed.after.split("\n")))


def added_lines(before: Sequence[str], after: Sequence[str]) -> tuple[int, ...]:
    """The lines that were not there before, from 1."""
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple(
        line + 1
        for step, _, _, start, end in steps
        if step in ("insert", "replace")
        for line in range(start, end)
    )
