"""Verdicts on PTX kernels as diagnostics, and in one line.

A place is a line of the CUDA file wherever line tables name one; otherwise a line of the PTX text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.launches.thread_names import shown_sizes
from fencepost.hosts.ptx.reading.kernel_names import plain_text
from fencepost.hosts.ptx.report.one_barrier import with_one_barrier
from fencepost.hosts.ptx.report.quoted_findings import (
    BLOCK,
    CLUSTER,
    doing,
    fix_of,
    message_of,
)
from fencepost.hosts.ptx.report.quoted_places import (
    line_of,
    origin_of,
    shown_parameter,
    span_of,
    worded,
)
from fencepost.hosts.ptx.report.waits_as_written import with_waits_as_written
from fencepost.hosts.ptx.verdicts import Finding, Reason, Site
from fencepost.ir.source import Mark
from fencepost.report.allow_comments import silenced_lines
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.words import enumerated, plural

_WITHOUT_BARRIER = re.compile(r",? with no barrier between them")
MOST_ALSO = 3
"""So many races are told with the one that the same barrier mends."""
FENCE = "fence.proxy.async"
KINDS = {
    "FP001": "race",
    "FP002": "divergent barrier",
    "FP003": "barrier out of step",
    "FP006": "mbarrier out of step",
    "FP008": "missing fence",
    "FP009": "access to a block that may not be there",
    "FP010": "misuse of tensor memory",
}
"""What findings are called when they are counted."""
MANY = {
    "barrier out of step": "barriers out of step",
    "mbarrier out of step": "mbarriers out of step",
    "access to a block that may not be there": "accesses to blocks that may not be there",
    "misuse of tensor memory": "misuses of tensor memory",
}


def kind_of(finding: Finding) -> str:
    """What a finding is called when it is counted: a wait for an mbarrier that never ends is a deadlock."""
    waits = "mbarrier" in finding.second.instruction or "never completes" in finding.message
    return "deadlock" if finding.code == "FP002" and waits else KINDS[finding.code]


# ---------------------------------------------------------------- diagnostics


def finding_diagnostics(
    judged: JudgedPtx, *, every: bool = False, by_barrier: bool = True
) -> list[Diagnostic]:
    """What was found, with the two places that it is about; each pair of lines once, unless `every` one is wanted.

    Of races that one barrier mends, the first, with the others as notes; each by itself if not `by_barrier`."""
    if every:
        return [_diagnostic(judged, each) for each in judged.verdict.findings]
    return [_diagnostic(judged, each, others) for each, *others in _together(judged, by_barrier=by_barrier)]


def distinct(judged: JudgedPtx, *, by_barrier: bool = True) -> list[Finding]:
    """One finding for each pair of lines, the worst: compilers unroll loops, and of copies all say the same.

    Of copies that one change to a wait mends, and of races that one barrier does, the first.
    """
    return [first for first, *_ in _together(judged, by_barrier=by_barrier)]


def _together(judged: JudgedPtx, *, by_barrier: bool) -> list[list[Finding]]:
    """The findings that are shown, each followed by others that what mends it mends as well, or may mend."""
    worst: dict[tuple[Any, ...], Finding] = {}
    for each in sorted(judged.verdict.findings, key=lambda finding: finding.severity == "warning"):
        places = sorted(span_of(judged, site).line for site in (each.first, each.second))
        worst.setdefault((each.code, *places), each)
    cause = next((each for each in worst.values() if each.causes), None)
    if cause is not None:
        return [[cause, *(each for each in worst.values() if each is not cause)]]
    shown: dict[tuple[Any, ...], list[Finding]] = {}
    for number, each in enumerate(worst.values()):
        shown.setdefault(_mended_alike(judged, each) or (number,), []).append(each)
    folded = _folded(list(shown.values()))
    return with_one_barrier(judged, folded) if by_barrier else folded


def _folded(groups: list[list[Finding]]) -> list[list[Finding]]:
    """What the change that mends a race mends as well stands with the race."""
    races = [each for each in groups if each[0].code == "FP001"]
    kept = []
    for each in groups:
        race = next((one for one in races if all(_mends(one[0], other) for other in each)), None)
        if race is None:
            kept.append(each)
        else:
            race += each
    return kept


def _mends(race: Finding, other: Finding) -> bool:
    """Whether what orders a race also mends a missing fence between the same two accesses, or lets a block start that
    its second access is to: a barrier of the cluster in front of it."""
    same = race.second.ptx_line == other.second.ptx_line
    if other.code == "FP008":
        return same and race.first.ptx_line == other.first.ptx_line and FENCE in race.fix
    return same and other.code == "FP009" and "started" in other.message and is_between_blocks(race)


def is_between_blocks(finding: Finding) -> bool:
    """Whether its two threads are in different blocks of a cluster."""
    return finding.blocks is not None and finding.blocks[0] != finding.blocks[1]


def _mended_alike(judged: JudgedPtx, finding: Finding) -> tuple[Any, ...] | None:
    """What findings have in common that one change mends: a wait for copies, a fence, a barrier of the cluster."""
    if finding.wait is not None:
        return finding.code, finding.severity, fix_of(judged, finding)
    if finding.code == "FP008":
        return finding.code, finding.severity, span_of(judged, finding.second), fix_of(judged, finding)
    return (finding.code, finding.severity, finding.fix) if finding.code == "FP009" else None


def _diagnostic(judged: JudgedPtx, finding: Finding, others: Sequence[Finding] = ()) -> Diagnostic:
    sites = (finding.first, finding.second)
    marks = [Mark(span_of(judged, site), doing(judged, finding, at)) for at, site in enumerate(sites)]
    if finding.wait is not None:
        said = with_waits_as_written(judged, finding, finding.wait.said)
        marks.append(Mark(span_of(judged, finding.wait.site), said))
    if finding.last_sync is not None:
        marks.append(Mark(span_of(judged, finding.last_sync.site), finding.last_sync.said))
    found = Diagnostic(
        finding.code,
        message_of(judged, finding),
        tuple(marks),
        (*_notes_of_the_run(judged, finding, others), *_notes_of_the_fix(judged, finding, others)),
        judged.quoted,
        origins=tuple(origin_of(judged, site) for site in sites),
    )
    return replace(found, severity=finding.severity, primary=1)


def _notes_of_the_run(
    judged: JudgedPtx, finding: Finding, others: Sequence[Finding]
) -> Iterator[tuple[str, str]]:
    """What follows, the launch, and the instructions."""
    sites = (finding.first, finding.second)
    in_ptx = judged.quoted is judged.ptx
    if finding.causes:
        yield from _what_may_follow(judged, others)
    if finding.values:
        yield "seen with", _seen_with(judged, finding.values)
    if finding.chosen:
        yield "chosen", _chosen(judged, finding.chosen)
    if not in_ptx:
        yield "ptx", " and ".join(dict.fromkeys(f"`{plain_text(site.instruction)}`" for site in sites))
    elsewhere = [site for site in sites if (site.source_line if in_ptx else line_of(judged, site) is None)]
    if elsewhere:
        yield "written", f"the first in {finding.first}; the second in {finding.second}"
    if finding.build:
        yield "build", finding.build


def _notes_of_the_fix(
    judged: JudgedPtx, finding: Finding, others: Sequence[Finding]
) -> Iterator[tuple[str, str]]:
    """What mends it, and what that mends besides."""
    besides = [] if finding.causes else list(others)
    by_barrier = [each for each in besides if each.barrier is not None]
    besides = [each for each in besides if each.barrier is None]
    for each in by_barrier[:MOST_ALSO]:
        lines = enumerated(str(span_of(judged, site).line) for site in (each.first, each.second))
        what = _WITHOUT_BARRIER.split(message_of(judged, each))[0]
        yield "also", f"{what} (lines {lines}): the same barrier mends it"
    more = len(by_barrier) - MOST_ALSO
    if more > 0:
        yield (
            "also",
            f"{plural(more, 'more race')} that the same barrier mends (--all shows {'it' if more == 1 else 'them'})",
        )
    folded = next((each for each in besides if each.code != finding.code), None)
    if folded is not None:
        yield "also", f"{message_of(judged, folded)} ({folded.code}): the same change mends it"
    if finding.fix:
        alike = [each for each in besides if each.code == finding.code]
        yield "fix", fix_of(judged, finding) + _also(judged, finding, alike)


def _also(judged: JudgedPtx, finding: Finding, others: Sequence[Finding]) -> str:
    """What else the same change mends: the lines of other copies, or if there are none, of other accesses."""

    def lines(*sites: Site) -> list[int]:
        return list(dict.fromkeys(span_of(judged, site).line for site in sites))

    if finding.wait is None:
        found, one, many = lines(*(each.first for each in others)), "line", "lines"
    else:
        found, one, many = lines(*(each.first for each in others)), "the copy of line", "the copies of lines"
        found = [each for each in found if each not in lines(finding.first)]
        if not found:
            found, one, many = lines(*(each.second for each in others)), "line", "lines"
            found = [each for each in found if each not in lines(finding.second)]
    if not found:
        return ""
    return f"; the same change mends {one if len(found) == 1 else many} {enumerated(map(str, found))}"


def _what_may_follow(judged: JudgedPtx, others: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Findings that may be there only because of another one: a race, and how many there are besides."""
    races = [each for each in others if each.code == "FP001"]
    # What is read too early says more than what is written twice.
    race = min(races, key=lambda each: each.first.is_same_source(each.second), default=None)
    if race is not None:
        lines = enumerated(
            dict.fromkeys(str(span_of(judged, site).line) for site in (race.first, race.second))
        )
        yield "so", f"{message_of(judged, race)} ({'lines' if ' ' in lines else 'line'} {lines})"
    more = len(others) - (race is not None)
    if more:
        them = "it" if more == 1 else "them"
        text = f"{plural(more, 'more finding')} may follow from this one (--all shows {them})"
        yield "then", f"{text}: mend it and check again"


def _seen_with(judged: JudgedPtx, values: Mapping[str, int]) -> str:
    """The launch that a finding was seen with: the block, then parameters and the rest."""
    shown = []
    for names, said in ((BLOCK, "blocks of {} threads"), (CLUSTER, "clusters of {} blocks")):
        sizes = [values[name] for name in names if name in values]
        shown += [said.format(shown_sizes(sizes))] if sizes else []
    others = (name for name in values if name not in (*BLOCK, *CLUSTER))
    named = (
        f"{shown_parameter(judged, name)[0].replace('ctaid', 'blockIdx')} = {values[name]}" for name in others
    )
    return ", ".join([*shown, *named])


def _chosen(judged: JudgedPtx, names: Sequence[str]) -> str:
    """Which values nobody has given, and how to give one's own."""
    called = [shown_parameter(judged, name) for name in names]
    what = "is an example" if len(called) == 1 else "are examples"
    return (
        f"{enumerated(said for said, _ in called)} {what}; --param {called[0][1]}=NUMBER checks another value"
    )


def conclusion(judged: JudgedPtx) -> str:
    """The verdict in one line."""
    verdict = judged.verdict
    in_ptx = judged.quoted is judged.ptx
    written = None if in_ptx else verdict.written_barriers
    barriers = plural(verdict.barriers if written is None else written, "barrier")
    accesses = plural(verdict.shared_accesses, "shared access", "shared accesses")
    accesses += " as compiled" if verdict.has_copies and not in_ptx else ""
    known = [worded(judged, verdict.holds_for)] if verdict.holds_for else []
    return f"{_found(judged)} ({'; '.join([*known, f'{barriers}, {accesses}'])})"


def _found(judged: JudgedPtx) -> str:
    verdict, found = judged.verdict, distinct(judged)
    errors = [each for each in found if each.severity == "error"]
    warnings = len(found) - len(errors)
    counted = Counter(kind_of(each) for each in sorted(errors, key=lambda each: each.code))
    parts = [plural(number, kind, MANY.get(kind, "")) for kind, number in counted.items()]
    parts += [plural(warnings, "warning")] if warnings else []
    silenced = sum(len(found) for _, found in judged.silenced)
    parts += ["nothing else found"] if silenced and not parts else []
    parts += [f"{silenced} silenced"] if silenced else []
    if verdict.verdict == "undecided":
        parts.append("not decided")
    more = "no deadlock, no missing fence" if verdict.exact else "no divergent barrier"
    return ", ".join(parts) or f"no race in shared memory, {more}"


def reason_lines(judged: JudgedPtx) -> list[str]:
    """Why a kernel is not decided, and what else there is to say, a line each."""
    notes = silenced_lines(dict(judged.silenced))
    notes += [f"note: {worded(judged, each)}" for each in judged.verdict.notes]
    return [*(_reason(judged, each) for each in judged.verdict.reasons), *notes]


def _reason(judged: JudgedPtx, reason: Reason) -> str:
    if reason.site is None:
        return worded(judged, reason.message)
    line = line_of(judged, reason.site) if judged.quoted is not judged.ptx else None
    where = f"line {line}, " if line else ""
    return f"{worded(judged, reason.message)}: `{reason.site.instruction}` ({where}PTX line {reason.site.ptx_line})"
