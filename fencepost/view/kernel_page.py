"""What a page shows of one kernel, put together from what `check`, `explain` and runs of the kernel say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from time import thread_time

from fencepost.check import Check, Report
from fencepost.ir import ops
from fencepost.ir.printer import statement
from fencepost.ir.source import FencepostError, Span
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.explain import Explained, Explanation, explain_barriers
from fencepost.phases import begin_phase
from fencepost.report.findings import spans_of, verdict
from fencepost.report.python_lines import python_lines, written_at
from fencepost.report.silencing import Silenced, Silencer
from fencepost.report.stalls import stall_sentence, stalls_of
from fencepost.report.words import consequence
from fencepost.timing import SyncTime
from fencepost.version import __version__
from fencepost.view.hazard_windows import Windows, windows_of
from fencepost.view.mended_kernel import mended_kernel
from fencepost.view.page_data import Barrier, KernelPage, Page, Text
from fencepost.view.page_findings import findings_of
from fencepost.view.scenarios import is_switchable, scenarios_of
from fencepost.view.strategy_rows import as_it_stands, strategy_rows

MOST_REASONS = 12
"""Of a barrier."""
MOST_SECONDS = 5.0
"""A page that has taken longer goes without strategies; one that would take longer shows kernels once."""

Spans = dict[ops.Operation, Span]


def page_of(
    traces: Iterable[CapturedTrace],
    target: str = "",
    title: str = "",
    *,
    mended: bool = True,
    options: Check | None = None,
) -> Page:
    """A page of some kernels, with what `check` finds in them with these options.

    With `mended`, those that are wrong stand on it a second time, as `fix` leaves them; and those of a host, by the
    lines of the Python that they were written in.
    """
    options = options or Check()
    made = _Pages(target, options)
    every = list(traces)
    for trace in every:
        report = made.add(trace, f"@{trace.name}")
        in_time = made.has_time_for_another()
        alone = sum(other.source is trace.source for other in every) == 1
        again = mended_kernel(trace, report, target, options, alone=alone) if mended and in_time else None
        if mended and not report.ok and not in_time:
            made.leave_out("the kernel mended: what is here took long enough")
        if again is not None:
            made.add(again.kernel, f"@{trace.name}, mended")
            made.join(again.added)
        with python_lines(trace) as source:
            if mended and source is not None and made.has_time_for_another():
                # Judged again: what is said may name lines.
                made.add(trace, f"@{trace.name}, in {Path(source.name).name}")
    named = title or (Path(made.texts[0].name).name if made.texts else "")
    return Page(named, __version__, tuple(made.texts), tuple(made.kernels))


class _Pages:
    """The kernels of a page, and the texts that they stand in."""

    def __init__(self, target: str, options: Check) -> None:
        self.target = target
        self.options = options
        self.texts: list[Text] = []
        self.kernels: list[KernelPage] = []
        self.numbers: dict[str, int] = {}
        """Texts that are there, by what they say."""
        self.start = thread_time()

    def is_late(self) -> bool:
        """Whether making the page has taken so long that what can be left out is."""
        return thread_time() - self.start > MOST_SECONDS

    def has_time_for_another(self) -> bool:
        """Whether a kernel can be shown once more: that takes about as long as all that is there."""
        return 2 * (thread_time() - self.start) < MOST_SECONDS

    def leave_out(self, what: str) -> None:
        """Say that something about the last kernel is not shown."""
        last = self.kernels[-1]
        self.kernels[-1] = replace(last, left_out=(*last.left_out, what))

    def join(self, added: tuple[int, ...]) -> None:
        """Let the last two kernels lead to each other: one as it stands, one mended."""
        number = len(self.kernels) - 1
        self.kernels[number - 1] = replace(self.kernels[number - 1], other=number)
        self.kernels[number] = replace(self.kernels[number], other=number - 1, added=added)

    def add(self, trace: CapturedTrace, title: str) -> Report:
        """One more kernel, and what was found in it, less what its comments allow.

        Without its barriers, one that was there before is the same again for strategies.
        """
        source, _ = spans_of(trace)
        begin_phase(f"checking {title}")
        report, silenced = Silencer().apply(trace, self.options.apply(trace))
        if source.text not in self.numbers:
            self.numbers[source.text] = len(self.texts)
            # Not splitlines(): the numbers of lines are those that everything else counts.
            lines = [line.rstrip("\r") for line in source.text.rstrip("\n").split("\n")]
            self.texts.append(Text(source.name, tuple(lines)))
        before = self.kernels[-1] if self.kernels else None
        page = _kernel_page(trace, report, silenced, self.target)
        self.kernels.append(replace(page, title=title, text=self.numbers[source.text]))
        if before is not None and before.name == trace.name and before.strategies:
            rows, why = (as_it_stands(trace, self.target), *before.strategies[1:]), ""
        elif self.is_late():
            rows, why = (), "strategies side by side: what is here took long enough"
        else:
            rows, why = strategy_rows(trace, self.target)
        self.kernels[-1] = replace(self.kernels[-1], strategies=rows)
        if why:
            self.leave_out(why)
        return report


def _kernel_page(trace: CapturedTrace, report: Report, silenced: Silenced, target: str) -> KernelPage:
    """Everything but the strategies."""
    source, spans = spans_of(trace)
    left_out: list[str] = []
    explained, windows = _explained(trace, target, spans, left_out)
    found = findings_of(report, silenced, source, spans)
    left_out += found.left_out
    begin_phase(f"running @{trace.name} step by step")
    runs = scenarios_of(trace, found.races, spans, found.wrong)
    left_out += [*runs.left_out, *report.explored.limits]
    places = ((op, written_at(op)) for op in spans)
    written = {
        _line(op, spans): f"{at[0]}:{at[1]}" for op, at in places if at is not None and at[0] != source.name
    }
    return KernelPage(
        trace.name,
        f"@{trace.name}",
        0,
        min((span.line for span in spans.values()), default=1),
        trace.waves,
        target,
        f"{verdict(report)} ({report.explored})",
        report.ok,
        report.proven,
        _buffers(trace, windows),
        tuple(
            replace(barrier, wrong=found.wrong.get(op, ""))
            for op, barrier in _barriers(trace, explained, stalls_of(trace, target), spans)
        ),
        windows.found,
        tuple(each.shown(runs) for each in found.shown),
        tuple(runs.runs),
        tuple(runs.switches),
        (),
        written,
        tuple(dict.fromkeys(left_out)),
    )


def _explained(
    trace: CapturedTrace, target: str, spans: Spans, left_out: list[str]
) -> tuple[Explanation | None, Windows]:
    """Why each barrier is there, and all windows; nothing for kernels that `explain` refuses."""
    begin_phase(f"explaining @{trace.name}")
    try:
        explained = explain_barriers(trace, target)
    except FencepostError as refused:
        left_out.append(f"hazard windows and reasons: {refused.message}")
        return None, Windows((), False)
    windows = windows_of(trace, explained, spans)
    left_out += explained.limits
    if windows.more:
        left_out.append(f"hazard windows: there are more than the {len(windows.found):,} shown")
    return explained, windows


def _buffers(trace: CapturedTrace, windows: Windows) -> tuple[str, ...]:
    """Buffers, those without a window last."""
    touched = {window.buffer for window in windows.found}
    names = [f"%{buffer.name}" for body in (trace, *trace.functions()) for buffer in body.buffers.values()]
    known = dict.fromkeys([*names, *sorted(touched)])
    return tuple(sorted(known, key=lambda name: name not in touched))


# ---------------------------------------------------------------- barriers


def _barriers(
    trace: CapturedTrace,
    explained: Explanation | None,
    stalls: dict[ops.Operation, SyncTime],
    spans: Spans,
) -> list[tuple[ops.Operation, Barrier]]:
    """Every barrier and wait of the kernel, in the order of lines."""
    entries = {entry.op: entry for entry in explained.barriers} if explained is not None else {}
    found = []
    for body in (trace, *trace.functions()):
        for op in body.preorder_walk():
            if is_switchable(op):
                entry = entries.get(op) if isinstance(op, ops.SyncOperation) else None
                found.append((op, _barrier(op, entry, stall_sentence(stalls.get(op)), spans)))
    return sorted(found, key=lambda each: each[1].line)


def _barrier(op: ops.Operation, entry: Explained | None, stall: str, spans: Spans) -> Barrier:
    line, text, origin = _line(op, spans), statement(op), op.origin
    stall = stall.strip(" ()")
    if entry is None:
        return Barrier(line, text, None, (), 0, stall, origin)
    if entry.redundant:
        return Barrier(line, text, False, (entry.redundant,), 0, stall, origin)
    reasons = [f"without it, {consequence(hazard, spans)}" for hazard in entry.hazards]
    notes = [entry.note] if entry.note else []
    return Barrier(
        line,
        text,
        True,
        (*reasons[:MOST_REASONS], *notes),
        max(0, len(reasons) - MOST_REASONS),
        stall,
        origin,
    )


def _line(op: ops.Operation, spans: Spans) -> int:
    span = spans.get(op.owner or op)
    return span.line if span else 0
