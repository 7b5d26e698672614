"""Races that one and the same barrier mends: two tiles that are filled in turn lack one `__syncthreads()`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fencepost.hosts.ptx.cuda_source.cuda_statements import braces_of
from fencepost.hosts.ptx.cuda_source.source_loops import SourceLoop, loop_around_both
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.report.quoted_places import span_of
from fencepost.hosts.ptx.runs.race_findings import BOTH_SIDES, OUTSIDE
from fencepost.hosts.ptx.verdicts import Finding, Site


@dataclass(frozen=True)
class _Gap:
    """Where a barrier has to go for some races: behind one line, and before another one."""

    behind: Site
    before: Site


def with_one_barrier(judged: JudgedPtx, groups: list[list[Finding]]) -> list[list[Finding]]:
    """Findings, each followed by those that what mends it mends as well: also by races that lack the same barrier.

    The first of these asks for a barrier in a place, and of a kind, that mends all of them."""
    if judged.quoted is judged.ptx:
        return groups
    merged: list[tuple[list[list[Finding]], _Gap | None]] = []
    for group in groups:
        gap = _gap_of(judged, group)
        for number, (others, common) in enumerate(merged):
            if gap is None or common is None:
                continue
            both = _narrower(judged, common, gap, later=_is_later(group[0]))
            if both is not None and all(_go_together(judged, each[0], group[0], both) for each in others):
                merged[number] = [*others, group], both
                break
        else:
            merged.append(([group], gap))
    return [_as_one(judged, found, gap) for found, gap in merged]


def _gap_of(judged: JudgedPtx, group: list[Finding]) -> _Gap | None:
    """Where the barrier goes that a race lacks; None if something else is wrong, or it is within one line."""
    first = group[0]
    lines = {_line(judged, each) for each in (first.first, first.second)}
    inlined = {each.inlined_at for each in (first.first, first.second)}
    if (
        len(group) > 1
        or first.barrier is None
        or BOTH_SIDES in first.fix
        or len(lines) < 2
        or len(inlined) > 1
    ):
        return None
    return _Gap(first.first, first.second)


def _narrower(judged: JudgedPtx, one: _Gap, other: _Gap, *, later: bool) -> _Gap | None:
    """What two gaps have in common."""
    behind = max(one.behind, other.behind, key=lambda each: _line(judged, each))
    before = min(one.before, other.before, key=lambda each: _line(judged, each))
    return _Gap(behind, before) if later or _line(judged, behind) < _line(judged, before) else None


def _go_together(judged: JudgedPtx, one: Finding, other: Finding, gap: _Gap) -> bool:
    """Whether a barrier in a gap is one for both races: in the same iteration, or at the end of the same loop."""
    alike = [(each.severity, each.build, each.first.inlined_at, _is_later(each)) for each in (one, other)]
    pairs = [(each.first, each.second) for each in (one, other)] + [(gap.behind, gap.before)]
    loops = [_loop(judged, *each) for each in pairs]
    if (
        alike[0] != alike[1]
        or any(each != loops[0] for each in loops)
        or (_is_later(one) and loops[0] is None)
    ):
        return False
    return _is_later(one) or len({_braces_around(judged, *each) for each in pairs}) == 1


def _is_later(finding: Finding) -> bool:
    return finding.barrier is not None and finding.barrier.later


def _as_one(judged: JudgedPtx, groups: list[list[Finding]], gap: _Gap | None) -> list[Finding]:
    """Races that one barrier mends, the first with that barrier as its fix."""
    if gap is None or len(groups) == 1:
        return [each for group in groups for each in group]
    found = [group[0] for group in groups]
    lead = next((each for each in found if each.barrier is not None and not each.barrier.of_warp), found[0])
    fix = lead.fix.replace(f"{lead.first} and {lead.second}", f"{gap.behind} and {gap.before}")
    if OUTSIDE not in fix and any(OUTSIDE in each.fix for each in found):
        fix += f", {OUTSIDE}"
    return [replace(lead, fix=fix), *(each for each in found if each is not lead)]


def _loop(judged: JudgedPtx, one: Site, other: Site) -> SourceLoop | None:
    return loop_around_both(judged.quoted.text, _line(judged, one), _line(judged, other))


def _braces_around(judged: JudgedPtx, one: Site, other: Site) -> int | None:
    """Where the innermost braces around two lines begin."""
    text = judged.quoted.text
    lines = sorted(_line(judged, each) for each in (one, other))
    around = [
        each.start
        for each in braces_of(text)
        if text.count("\n", 0, each.start) < lines[0] and lines[1] <= text.count("\n", 0, each.end) + 1
    ]
    return max(around, default=None)


def _line(judged: JudgedPtx, site: Site) -> int:
    return span_of(judged, site).line
