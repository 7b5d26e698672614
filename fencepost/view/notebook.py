"""What kernels, reports and results show in a notebook: the picture of the kernel, and what was said about it.

It is static: no script, so that it stays in a saved notebook and on pages that show one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost.check import Report
    from fencepost.emit.write import Inserted
    from fencepost.ir.builder import Kernel
    from fencepost.ir.trace import CapturedTrace

MOST_OPERATIONS = 400
"""Larger kernels show their text: nobody waits for a picture of every cell's result."""


def show_in_notebooks() -> None:
    """Give the types that a cell can end with their picture; `view` is above them, so they do not know of it."""
    from fencepost.check import Report
    from fencepost.emit.write import Inserted
    from fencepost.ir.builder import Kernel
    from fencepost.ir.trace import CapturedTrace

    shows = {CapturedTrace: trace_html, Kernel: kernel_html, Report: report_html, Inserted: inserted_html}
    for kind, html in shows.items():
        # By setattr: these classes declare no such method, and a type checker would take it for a mistake.
        setattr(kind, "_repr_html_", html)  # noqa: B010


def trace_html(trace: CapturedTrace) -> str:
    """A kernel: its picture."""
    if sum(1 for _ in trace.preorder_walk()) > MOST_OPERATIONS:
        return _block(str(trace))
    from fencepost.view.kernel_page import page_of
    from fencepost.view.svg_picture import svg_picture

    page = page_of([_as_it_is(trace)], mended=False)
    return f'<div style="overflow-x:auto">{svg_picture(page, page.kernels[0])}</div>'


def _as_it_is(trace: CapturedTrace) -> CapturedTrace:
    """The kernel, with a text that has what was put into it or taken out since it was read."""
    from fencepost.ir.parser import parse_all
    from fencepost.ir.printer import print_file

    if trace.source is None or _is_of_host(trace):
        return trace
    text = print_file([trace])
    read = (each for each in parse_all(trace.source.text) if each.name == trace.name)
    if any(print_file([each]) == text for each in read):
        return trace
    return next(each for each in parse_all(text, f"@{trace.name}") if each.name == trace.name)


def _is_of_host(trace: CapturedTrace) -> bool:
    """Whether it is a kernel of a host, which has a text of its own."""
    return any(op.host is not None for op in trace.preorder_walk())


def kernel_html(kernel: Kernel) -> str:
    """A kernel under construction: its picture so far."""
    from fencepost.ir.trace import trace_of

    return trace_html(trace_of(kernel))


def report_html(report: Report) -> str:
    """What `check` found: the picture of the kernel, with the words of the command line below."""
    picture = trace_html(report.kernel) if report.kernel is not None else ""
    return picture + _block(str(report))


def inserted_html(done: Inserted) -> str:
    """What `insert` did: how many barriers and why, and the picture of the kernel with them."""
    from html import escape

    from fencepost.ir.printer import locate
    from fencepost.report.findings import spans_of
    from fencepost.report.words import consequence, plural, times

    head = (
        f"{plural(len(done.barriers), 'barrier or wait', 'barriers and waits')} inserted by {done.strategy}"
    )
    done_times = f"<p>{escape(head)}, executed {escape(times(done.executed))}</p>"
    if not done.barriers:
        return done_times
    trace = done.barriers[0].reasons.program.flow.trace
    _, spans = spans_of(trace) if _is_of_host(trace) else locate(trace)
    reasons = "".join(
        f"<li>{f'line {spans[barrier.op].line}: ' if barrier.op in spans else ''}without it, "
        f"{escape(consequence(hazard, spans))}</li>"
        for barrier in done.barriers
        for hazard in barrier.hazards[:1]
    )
    return f"{done_times}<ul>{reasons}</ul>{trace_html(trace)}"


def _block(text: str) -> str:
    from html import escape

    return f'<pre style="overflow-x:auto">{escape(text)}</pre>'
