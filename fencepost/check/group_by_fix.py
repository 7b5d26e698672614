"""One mistake, one message: findings that one change would settle belong together, and the change is their fix.

A fix is never a guess. Each candidate is made, the kernel is judged again, and it counts only if the finding is gone
and nothing came that was not there before. What is settled stays so while the next finding is looked at: all fixes of
a report together leave a clean kernel, or those that do not get there are not claimed.

That takes several judgements of one kernel. Where they would cost too much, findings are put together by the place
that their fix names, and only fixes that need no trial are claimed: a barrier that all waves meet, right between two
accesses of a kernel whose waves all run the same barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from time import thread_time

from fencepost.check.concrete_access import shown
from fencepost.check.environments import bodies_of
from fencepost.check.fix_candidates import Edits, for_deadlock, for_race
from fencepost.check.report import UNFILLED, Deadlock, OutOfRange, Race, Report
from fencepost.check.suggested_edits import Edit, applied, in_scope
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace

Finding = Race | Deadlock | OutOfRange
Key = tuple[object, ...]
Judge = Callable[[CapturedTrace], Report]

MOST_WORK = 15_000
"""Steps of `check` that looking for fixes may take, in all: about a second."""
MOST_SECONDS = 2.0
MBARRIER_MISTAKES = ("early arrival", "missed phase", "lifetime", UNFILLED)
"""What goes wrong with mbarriers. Once it does, waves are a phase off, and each next operation is wrong as well."""
MOST_TRIALS = 60
"""Candidates that are tried for one finding."""


@dataclass(slots=True)
class Cause:
    """Findings that one change settles, the first of them to be shown; without edits, no fix is known."""

    findings: list[Finding]
    edits: list[Edit] = field(default_factory=list)


def causes_of(report: Report) -> list[Cause]:
    """The findings of a report by cause, in the order in which they are to be shown."""
    if report.ok:
        return []
    if report.kernel is None or report.judge is None:
        return _by_place(_findings(report), _is_in_step(report))
    cost = _cost(report.kernel, report)
    if 3 * cost > MOST_WORK:
        return _by_place(_findings(report), _is_in_step(report))
    now = report.judge(report.kernel)
    if {key_of(f) for f in _findings(now)} != {key_of(f) for f in _findings(report)}:
        return _by_place(_findings(report), _is_in_step(report))  # the kernel is not any more what was judged
    originals = {op for body in bodies_of(build_flow(report.kernel)) for op in body.preorder_walk()}
    trials, end = MOST_WORK // cost, thread_time() + MOST_SECONDS
    return _Repair(report.kernel, report.judge, trials, _is_in_step(report), originals, end).run(report)


def _is_in_step(report: Report) -> bool:
    """Whether all waves run the same barriers: one more that all of them meet orders what it lies between."""
    return report.explored.method == "track" and not report.deadlocks


def _cost(trace: CapturedTrace, report: Report) -> int:
    """About how many steps one judgement takes."""
    operations = sum(1 for _ in trace.preorder_walk())
    explored = report.explored
    return operations + explored.steps + explored.paths * operations * trace.waves


def key_of(finding: Finding) -> Key:
    """What makes two findings the same one, before and after a change."""
    if isinstance(finding, Race):
        return finding.kind, finding.hazard, id(shown(finding.first.op)), id(shown(finding.second.op))
    if isinstance(finding, Deadlock):
        return finding.kind, *(id(op) for op, _ in finding.ops)
    return "out of range", id(finding.op)


def _findings(report: Report) -> list[Finding]:
    """Deadlocks first: what follows a barrier that is never complete means little.

    Then what engines have in flight: whoever waits for that needs a barrier too, which covers other races as well.
    """
    in_flight = [race for race in report.races if race.first.by_engine and not race.waited]
    others = [race for race in report.races if not (race.first.by_engine and not race.waited)]
    return [*report.deadlocks, *in_flight, *others, *report.out_of_range]


@dataclass(slots=True)
class _Repair:
    """A kernel that is mended step by step, and is as it was in the end."""

    trace: CapturedTrace
    judge: Judge
    trials: int
    """Judgements that may still be asked for."""
    in_step: bool
    originals: set[ops.Operation]
    """What stands in the kernel as it came: only there does a fix have a place that can be named."""
    end: float
    """When, in seconds of this thread, to stop: what a judgement costs is only estimated."""

    def run(self, report: Report) -> list[Cause]:
        """Settle one finding after the other."""
        known: dict[Key, list[Finding]] = {}
        for finding in _findings(report):
            known.setdefault(key_of(finding), []).append(finding)
        causes: list[Cause] = []
        hopeless: set[Key] = set()
        with ExitStack() as undo:
            while True:
                open_ = [f for f in _findings(report) if key_of(f) not in hopeless]
                if not open_ or self.trials <= 0:
                    break
                finding = open_[0]
                settled = self.settle(finding, report)
                if settled is None:
                    hopeless.add(key_of(finding))
                    continue
                edits, after = settled
                undo.enter_context(applied(edits))
                left = {key_of(f) for f in _findings(after)}
                keys = dict.fromkeys(key_of(f) for f in _findings(report))
                gone = [f for key in keys if key not in left for f in known.get(key, ())]
                if gone:
                    causes.append(Cause(gone, list(edits)))
                elif causes:
                    # It came to light when the one before was settled: both have to be.
                    causes[-1].edits += edits
                report = after
            left_over = _findings(report)
        return self.described(causes, left_over, known)

    def described(
        self, causes: list[Cause], left: Sequence[Finding], known: dict[Key, list[Finding]]
    ) -> list[Cause]:
        """What is claimed: nothing of a fix that leads to findings that nobody could settle."""
        keys = dict.fromkeys(key_of(f) for f in left)
        settled = {id(f) for cause in causes for f in cause.findings}
        unsettled = [f for key in keys for f in known.get(key, ()) if id(f) not in settled]
        if any(key not in known for key in keys):
            # Some change has brought to light what no candidate settles; which one is not known.
            for cause in causes:
                cause.edits = []
        if self.trials <= 0:
            return _in_order([*causes, *_by_place(unsettled, self.in_step)])
        return _in_order([*causes, *_without_fix(unsettled)])

    def settle(self, finding: Finding, report: Report) -> tuple[Edits, Report] | None:
        """The first candidate that settles a finding, and what is left then."""
        if isinstance(finding, OutOfRange):
            return None
        before = {key_of(f) for f in _findings(report)}
        second_best: tuple[Edits, Report] | None = None
        for edits in islice(self.candidates(finding, report), MOST_TRIALS):
            if thread_time() > self.end:
                self.trials = 0
            if self.trials <= 0:
                break
            if not all(edit.at in self.originals and in_scope(self.trace, edit) for edit in edits):
                continue
            self.trials -= 1
            with applied(edits):
                after = self.judge(self.trace)
            found = {key_of(f) for f in _findings(after)}
            if key_of(finding) in found or self.is_less_known(report, after):
                continue
            if _is_wrong_elsewhere(edits, report, after):
                continue
            fresh = found - before
            if not fresh:
                return edits, after
            races = {key_of(race) for race in after.races}
            if second_best is None and fresh <= races and len(found) <= len(before):
                second_best = edits, after
        return second_best

    def candidates(self, finding: Race | Deadlock, report: Report) -> Iterator[Edits]:
        """What to try, the likeliest first."""
        flow = build_flow(self.trace)
        if isinstance(finding, Deadlock):
            return for_deadlock(flow, finding, report.races)
        return for_race(flow, finding)

    def is_less_known(self, before: Report, after: Report) -> bool:
        """Whether a change leads out of what can be judged: that it helps would not be known."""
        return before.explored.complete and not after.explored.complete


def _is_wrong_elsewhere(edits: Edits, before: Report, after: Report) -> bool:
    """Whether an mbarrier is right in one place and wrong in another now.

    That is so as well if a producer and a consumer are in order the wrong way round.
    """
    if not any(isinstance(edit.op, ops.MbarrierOperation) for edit in edits):
        return False
    return bool(after.deadlocks) or after.unasked > before.unasked


def _by_place(findings: Sequence[Finding], in_step: bool) -> list[Cause]:
    """Findings put together by the place that their fix names, without a trial."""
    causes = _chain_of_mbarriers(findings)
    groups: dict[tuple[str, ops.Operation], Cause] = {}
    for finding in findings:
        if _is_mbarrier_mistake(finding):
            continue
        fix = finding.fix if isinstance(finding, Race) else None
        if fix is None or fix.before is None:
            causes.append(Cause([finding]))
            continue
        cause = groups.get((fix.what, fix.before))
        if cause is None:
            cause = groups[fix.what, fix.before] = Cause([])
            if in_step and fix.ops:
                cause.edits = [Edit(fix.before, op) for op in fix.ops]
            causes.append(cause)
        cause.findings.append(finding)
    return causes


def _without_fix(findings: Sequence[Finding]) -> list[Cause]:
    """Findings that nothing settles: each for itself, but what goes wrong with mbarriers is one chain of events."""
    return [*_chain_of_mbarriers(findings), *(Cause([f]) for f in findings if not _is_mbarrier_mistake(f))]


def _is_mbarrier_mistake(finding: Finding) -> bool:
    return isinstance(finding, Deadlock) and finding.kind in MBARRIER_MISTAKES


def _chain_of_mbarriers(findings: Sequence[Finding]) -> list[Cause]:
    """What goes wrong with mbarriers, as one cause; the wait that is not for its phase comes first."""
    chain = [f for f in findings if isinstance(f, Deadlock) and f.kind in MBARRIER_MISTAKES]
    chain.sort(key=lambda f: f.kind != "missed phase")
    return [Cause([*chain])] if chain else []


def _in_order(causes: list[Cause]) -> list[Cause]:
    """Mbarriers out of step, from which other findings follow; then races, deadlocks, accesses out of range."""
    order: dict[type[Finding], int] = {Race: 0, Deadlock: 1, OutOfRange: 2}

    def rank(cause: Cause) -> int:
        first = cause.findings[0]
        return -1 if _is_mbarrier_mistake(first) and not cause.edits else order[type(first)]

    return sorted(causes, key=rank)
