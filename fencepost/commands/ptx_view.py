"""`fencepost view` on CUDA and PTX: a page of the file's own lines, with findings, barriers and hazard windows.

Threads are not played step by step: verdicts on such kernels are about thousands of them, most by proof and not by a
run. What `check` finds, what `explain` says of each barrier and what `fix` makes of the file is all there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import process_time

from fencepost.commands.ptx_edits import inserted
from fencepost.commands.ptx_explain import (
    ExplainedKernel,
    Written,
    explained,
    pairs_without,
    worded,
    written_reasons,
)
from fencepost.hosts.ptx.cuda_source.cuda_statements import braces_of
from fencepost.hosts.ptx.files import PtxFile, as_launched, judgements, located_errors
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.reading.kernel_names import plain_text
from fencepost.hosts.ptx.report.quoted_findings import message_of, verb_of
from fencepost.hosts.ptx.report.quoted_places import line_of
from fencepost.hosts.ptx.report.shown_findings import conclusion, distinct, finding_diagnostics, reason_lines
from fencepost.hosts.ptx.runs.race_iterations import IN_LATER, IN_NEXT
from fencepost.hosts.ptx.verdicts import Finding as PtxFinding
from fencepost.hosts.ptx.verdicts import Site
from fencepost.ir.source import FencepostError, Source
from fencepost.phases import begin_phase
from fencepost.version import __version__
from fencepost.view.kernel_page import MOST_REASONS
from fencepost.view.mended_kernel import added_lines
from fencepost.view.page_data import Barrier, Finding, KernelPage, Mark, Page, Text, Window

READING = ("reads", "uses")
MOST_SECONDS = 20.0
"""Reasons of barriers are left out if they would take longer: the kernel is judged once without each."""
NO_RUN = "threads step by step: kernels in CUDA and PTX are judged by proof, or by runs of a whole block"


def ptx_page(file: PtxFile, title: str = "") -> Page:
    """A page of the kernels of a file; those that are wrong stand on it a second time, as `fix` leaves them."""
    texts, kernels = [_text(file.source)], [*_kernel_pages(file, 0)]
    if any(not each.ok for each in kernels) and not any(_needs_more_than_barriers(each) for each in kernels):
        begin_phase("mending")
        changed = inserted(file)
        if changed.text != file.source.text and not any(each.failed for each in changed.kernels):
            again = file.with_ptx(changed.text) if file.cuda is None else file.recompiled(changed.text)
            texts.append(_text(again.source))
            kernels = _with_mended(kernels, [*_kernel_pages(again, 1)], texts)
    return Page(title or file.source.name.rpartition("/")[2], __version__, tuple(texts), tuple(kernels))


def _needs_more_than_barriers(kernel: KernelPage) -> bool:
    """Whether something was found that `fix` cannot mend, so that trying would only take time."""
    return any(each.code != "FP001" for each in kernel.findings) or any(
        each.wrong for each in kernel.barriers
    )


def _text(source: Source) -> Text:
    # Not splitlines(): the numbers of lines are those that everything else counts.
    return Text(source.name, tuple(line.rstrip("\r") for line in source.text.rstrip("\n").split("\n")))


def _with_mended(
    before: Sequence[KernelPage], after: Sequence[KernelPage], texts: Sequence[Text]
) -> list[KernelPage]:
    """Kernels that were wrong, each followed by what it is mended."""
    added = added_lines(texts[0].lines, texts[1].lines)
    found: list[KernelPage] = []
    for old, new in zip(before, after, strict=True):
        found.append(old)
        if not old.ok:
            number = len(found)
            found[-1] = replace(old, other=number)
            found.append(replace(new, title=f"{new.title}, mended", other=number - 1, added=added))
    return found


def _kernel_pages(file: PtxFile, text: int) -> Iterator[KernelPage]:
    for found in judgements(file):
        if isinstance(found, FencepostError):
            raise found
        yield _kernel_page(file, replace(found, as_ptx=True), text)


def _kernel_page(file: PtxFile, judged: JudgedPtx, text: int) -> KernelPage:
    """What is known of one kernel."""
    left_out = [NO_RUN, *reason_lines(judged)]
    reasons = _explained(as_launched(file, judged.verdict.kernel), left_out)
    windows = [*_windows(judged, reasons)]
    return KernelPage(
        judged.name,
        judged.name,
        text,
        _first_line(judged, file),
        0,
        file.asked.target,
        conclusion(judged),
        not judged.errors,
        judged.proven,
        tuple(dict.fromkeys(each.buffer for each in windows)),
        tuple(_barriers(judged, reasons)),
        tuple(windows),
        tuple(_findings(judged)),
        (),
        (),
        (),
        {},
        tuple(dict.fromkeys(left_out)),
        launch=judged.verdict.holds_for.partition(";")[0],
    )


def _windows(judged: JudgedPtx, reasons: ExplainedKernel | None) -> Iterator[Window]:
    """What nothing covers, and what barriers alone cover; one for each pair of lines, of however many threads."""
    shown: dict[Window, Window] = {}
    for window in _all_windows(judged, reasons):
        shown.setdefault(replace(window, text=""), window)
    return iter(shown.values())


def _all_windows(judged: JudgedPtx, reasons: ExplainedKernel | None) -> Iterator[Window]:
    for finding in judged.verdict.findings:
        yield from _window(judged, finding)
    if reasons is not None:
        for barrier in reasons.barriers:
            by, lines = f"the barrier on line {barrier.line}", (barrier.line or 0,)
            for pair in pairs_without(reasons, barrier):
                yield from (replace(each, covered=by, barriers=lines) for each in _window(judged, pair))


def _explained(file: PtxFile, left_out: list[str]) -> ExplainedKernel | None:
    """What each barrier is for; None where finding out would take long."""
    (kernel,) = file.kernels
    start = process_time()
    verdict = file.launch(kernel).judge(file.ptx.text, kernel)
    if (process_time() - start) * verdict.barriers > MOST_SECONDS:
        left_out.append("what each barrier is for: it would take long (`fencepost explain` shows it)")
        return None
    begin_phase("explaining barriers")
    return located_errors(file, lambda: explained(file, kernel))


def _line(judged: JudgedPtx, site: Site) -> int:
    return site.ptx_line if judged.quoted is judged.ptx else line_of(judged, site) or 0


def _first_line(judged: JudgedPtx, file: PtxFile) -> int:
    """Where the kernel begins."""
    name = judged.name.partition("<")[0].rpartition(":")[2]
    wanted = re.compile(rf"\b{re.escape(name if file.cuda is not None else judged.verdict.kernel)}\s*\(")
    lines = enumerate(judged.quoted.text.split("\n"), 1)
    return next((number for number, line in lines if wanted.search(line)), 1)


def _findings(judged: JudgedPtx) -> Iterator[Finding]:
    for each in finding_diagnostics(judged):
        marks = dict.fromkeys(Mark(mark.span.line, mark.text) for mark in each.marks if mark.span is not None)
        title = each.title if each.severity == "error" else f"(a warning) {each.title}"
        yield Finding(each.code, title, tuple(marks), each.notes)


def _barriers(judged: JudgedPtx, found: ExplainedKernel | None) -> Iterator[Barrier]:
    """The barriers by their lines, and waits that are what is wrong."""
    wrong = {
        _line(judged, each.wait.site): "lets a copy stay in flight"
        for each in distinct(judged)
        if each.wait is not None and each.wait.wrong
    }
    wrong |= {
        _line(judged, each.second): "waits for the wrong phase"
        for each in distinct(judged)
        if each.code == "FP006" and each.causes and "wait" in each.second.instruction
    }
    wrong |= {
        _line(judged, site): "not all threads of the block meet at it"
        for each in distinct(judged)
        for site in (each.first, each.second)
        if each.code == "FP002" and verb_of(site) == "waits"
    }
    barriers = {}
    for each in found.barriers if found is not None else ():
        if each.line is not None and found is not None:
            reasons = [worded(found, each.redundant)] if each.redundant else written_reasons(found, each)
            barriers[each.line] = Barrier(
                each.line,
                judged.quoted.line(each.line).strip(),
                _is_needed(each),
                tuple(reasons[:MOST_REASONS]),
                max(0, len(reasons) - MOST_REASONS),
            )
    for line, why in wrong.items():
        barriers[line] = Barrier(line, judged.quoted.line(line).strip(), None, (), wrong=why)
    yield from (barriers[line] for line in sorted(barriers))


def _is_needed(barrier: Written) -> bool | None:
    """Whether something needs a barrier; None where that is not known."""
    if barrier.redundant:
        return False
    return any(each.findings or each.possible or each.for_global for each in barrier.copies) or None


def _window(judged: JudgedPtx, finding: PtxFinding) -> Iterator[Window]:
    """The hazard of a race: the two accesses, in the order that they have to keep."""
    if finding.code not in ("FP001", "FP008") or finding.variable is None or finding.bytes is None:
        return
    text = message_of(judged, finding)
    verbs = verb_of(finding.first), verb_of(finding.second)
    kind = "WAR" if verbs[0] == "reads" else "RAW" if verbs[1] in READING or "mbarrier" in verbs[1] else "WAW"
    first, second = _line(judged, finding.first), _line(judged, finding.second)
    again = second < first or IN_LATER in text or IN_NEXT in text
    loop = _loop_around(judged.quoted.text, first, second) if again or first == second else None
    in_flight = verbs[0] == "copies into"
    buffer = plain_text(finding.variable.name)
    yield Window(buffer, kind, first, second, loop, int(again), in_flight, "", (), text)


def _loop_around(text: str, first: int, second: int) -> tuple[int, int] | None:
    """The first and last line of the innermost loop with braces around two lines of CUDA."""
    around = [
        (text.count("\n", 0, each.start) + 1, text.count("\n", 0, each.end) + 1)
        for each in braces_of(text)
        if each.is_loop
    ]
    inside = [each for each in around if each[0] <= min(first, second) and max(first, second) <= each[1]]
    return min(inside, key=lambda each: each[1] - each[0]) if inside else None
