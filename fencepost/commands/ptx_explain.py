"""`fencepost explain` on CUDA and PTX: for every barrier, what it alone puts in order, or why nothing needs it.

Of a CUDA file, barriers are shown as they are written: the copies that unrolling and inlining make of one line are
one entry, and that is redundant only if all of them can go together.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.commands.ptx_edits import pair_words
from fencepost.commands.ptx_files import read_ptx_file
from fencepost.hosts.ptx.files import PtxFile, located_errors
from fencepost.hosts.ptx.reading.kernel_names import plain_name
from fencepost.hosts.ptx.report.element_names import element_in, with_element
from fencepost.hosts.ptx.verdicts import Finding, Site
from fencepost.phases import begin_phase

if TYPE_CHECKING:
    from fencepost.hosts.ptx.edits.explanations import ExplainedBarrier, PtxExplanation
    from fencepost.ir.source import Source


WITHOUT = "without this"


@dataclass(frozen=True)
class Written:
    """A barrier as it is written, and what is known of each of its copies in PTX."""

    line: int | None
    copies: tuple[ExplainedBarrier, ...]
    together: bool
    """Whether all of its copies can go at once."""

    @property
    def redundant(self) -> str:
        """Why nothing needs it; empty if something does."""
        return self.copies[0].redundant if self.together else ""


@dataclass(frozen=True)
class ExplainedKernel:
    """A kernel with its barriers explained."""

    file: PtxFile
    kernel: str
    explanation: PtxExplanation
    barriers: tuple[Written, ...]


def explained_kernels(name: str, source: Source, options: argparse.Namespace) -> Iterator[ExplainedKernel]:
    """The kernels of a CUDA or PTX file, explained one after the other."""
    file = read_ptx_file(name, source, options)
    for kernel in file.kernels:
        begin_phase(f"explaining {plain_name(kernel)}")
        yield located_errors(file, lambda kernel=kernel: explained(file, kernel))  # type: ignore[misc]


def explained(file: PtxFile, kernel: str) -> ExplainedKernel:
    """One kernel with its barriers explained."""
    from fencepost.hosts.ptx.edits.explanations import explain
    from fencepost.hosts.ptx.edits.source_edits import line_in

    launch = file.launch_in_file(kernel)
    explanation = explain(file.ptx.text, kernel, launch)
    groups: dict[int | None, list[ExplainedBarrier]] = {}
    for each in explanation.barriers:
        line = line_in(each.site, file.source.name) if file.cuda is not None else each.site.ptx_line
        groups.setdefault(line, []).append(each)
    written = tuple(
        Written(line, tuple(copies), all(each.redundant for each in copies) and _can_go(file, kernel, copies))
        for line, copies in groups.items()
    )
    return ExplainedKernel(file, kernel, explanation, written)


def _can_go(file: PtxFile, kernel: str, copies: list[ExplainedBarrier]) -> bool:
    """Whether copies of one barrier that are redundant by themselves are so together."""
    from fencepost.hosts.ptx.edits.text_edits import as_good, barriers, global_pair, without
    from fencepost.hosts.ptx.reading.parse import parse

    if len(copies) == 1:
        return True
    launch, text = file.launch_in_file(kernel), file.ptx.text
    lines = {each.site.ptx_line for each in copies}
    group = [each for each in barriers(parse(text), kernel) if each.line in lines]
    shorter = launch.judge(without(text, *group), kernel)
    good = as_good(shorter, launch.judge(text, kernel))
    return good and global_pair(text, kernel, group, launch) is None


def explain_text(found: ExplainedKernel, most: int | None) -> None:
    """Print a kernel's barriers; at most so many reasons of each."""
    from fencepost.hosts.ptx.report.shown_findings import conclusion, reason_lines

    judged = found.file.judged(found.explanation.verdict)
    if not found.barriers:
        sys.stdout.write(f"{found.file.source.name}: {judged.name} has no barriers\n")
    for each in found.barriers:
        for line in _lines(found, each, most):
            sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{found.file.source.name}: {judged.name}: {conclusion(judged)}\n")
    for line in reason_lines(judged):
        sys.stdout.write(f"  {line}\n")


def _lines(found: ExplainedKernel, barrier: Written, most: int | None) -> Iterator[str]:
    where = f"{found.file.source.name}:{barrier.line or '?'}"
    spare = sum(bool(each.redundant) for each in barrier.copies)
    copies = f" ({len(barrier.copies)} copies in PTX)" if len(barrier.copies) > 1 else ""
    if barrier.redundant:
        yield f"{where}: redundant{copies}: {worded(found, barrier.redundant)}"
        return
    if spare and copies:
        copies = f" ({len(barrier.copies)} copies in PTX, {spare} of them redundant by themselves)"
    reasons = written_reasons(found, barrier)
    known = any(each.findings or each.possible or each.for_global for each in barrier.copies)
    yield f"{where}: {'needed' if known or spare else 'stays'}{copies}"
    yield from (f"  {line}" for line in reasons[:most])
    if most is not None and len(reasons) > most:
        yield f"  and {len(reasons) - most} more (--all shows them)"


def written_reasons(found: ExplainedKernel, barrier: Written) -> list[str]:
    """What goes wrong without a barrier, a line each; of CUDA, once for each pair of lines."""
    from fencepost.hosts.ptx.edits.explanations import WRONG_WITH_IT

    reasons = list(dict.fromkeys(line for each in barrier.copies for line in reasons_of(found, each)))
    if len(reasons) > 1:
        # Of another copy it is known what that is for.
        reasons = [each for each in reasons if each != WRONG_WITH_IT]
    if found.file.cuda is None:
        return reasons
    others = [each for each in reasons if not each.startswith(WITHOUT)]
    return [f"{WITHOUT}, {_finding_words(found, each)}" for each in pairs_without(found, barrier)] + others


def pairs_without(found: ExplainedKernel, barrier: Written) -> list[Finding]:
    """One finding for each pair of lines, the worst: of unrolled copies all say the same."""
    worst: dict[tuple[Any, ...], Finding] = {}
    findings = [finding for each in barrier.copies for finding in each.findings]
    for each in sorted(findings, key=lambda finding: finding.severity == "warning"):
        lines = sorted(_line(found, site) or 0 for site in (each.first, each.second))
        worst.setdefault((each.code, *lines), each)
    return list(worst.values())


def reasons_of(found: ExplainedKernel, barrier: ExplainedBarrier) -> Iterator[str]:
    """What goes wrong without a barrier, a line each."""
    for finding in barrier.findings:
        yield f"{WITHOUT}, {_finding_words(found, finding)}"
    for reason in barrier.possible:
        where = f" (`{reason.site.instruction}`, line {_line(found, reason.site)})" if reason.site else ""
        yield f"not decided without this: {worded(found, reason.message)}{where}"
    if barrier.for_global is not None:
        yield pair_words(found.file, barrier.for_global)
    if barrier.note:
        yield barrier.note


def _finding_words(found: ExplainedKernel, finding: Finding) -> str:
    lines = [_line(found, each) for each in (finding.first, finding.second)]
    text = finding.message
    if found.file.cuda is not None:
        first = min(each or 0 for each in lines)
        text = with_element(
            text, finding, element_in(finding, found.file.source.text, first, plain_name(found.kernel))
        )
    return f"{worded(found, text)} (lines {lines[0]} and {lines[1]})"


def _line(found: ExplainedKernel, site: Site) -> int | None:
    from fencepost.hosts.ptx.edits.source_edits import line_in

    return line_in(site, found.file.source.name) if found.file.cuda is not None else site.ptx_line


def worded(found: ExplainedKernel, text: str) -> str:
    """A message with lines and names as the file has them."""
    from fencepost.hosts.ptx.reading.kernel_names import plain_text

    lines = {each.site.ptx_line: _line(found, each.site) for each in found.explanation.barriers}
    text = re.sub(
        r"(?:PTX line \d+(?:, )?)+",
        lambda match: _named({lines.get(int(each)) or int(each) for each in re.findall(r"\d+", match[0])}),
        text,
    )
    for number, name in enumerate(found.file.parameter_names(found.kernel)):
        text = text.replace(f"{found.kernel}_param_{number}", name)
    if found.file.cuda is not None:
        for name in (str(Path(found.file.source.name).resolve()), found.file.source.name):
            text = text.replace(f"{name}:", "line ")
    return plain_text(text)


def _named(lines: set[int]) -> str:
    return f"line {', '.join(map(str, sorted(lines)))}"


def explain_json(found: ExplainedKernel) -> dict[str, Any]:
    """A kernel's barriers for programs."""
    from fencepost.hosts.ptx.report.verdict_json import site_json, verdict_json

    judged = found.file.judged(found.explanation.verdict)
    return {
        "file": found.file.file,
        "kernel": judged.name,
        "verdict": verdict_json(judged),
        "barriers": [
            {
                "line": each.line,
                "redundant": worded(found, each.redundant) or None,
                "copies": [
                    {
                        "site": site_json(copy.site),
                        "redundant": worded(found, copy.redundant) or None,
                        "reasons": [*reasons_of(found, copy)],
                    }
                    for copy in each.copies
                ],
            }
            for each in found.barriers
        ],
    }
