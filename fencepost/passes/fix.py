"""`fix`: what `check` finds in kernels in text form, mended in their text.

A missing barrier or wait is put in by `insert`, which knows where few of them are enough. What `insert` does not
touch (phases and counts of mbarriers, barriers that not all waves reach, halves of split barriers, commit groups that
are left open) is mended by the edits that `check` suggests. Whatever was done, the text that comes out is read and
judged once more: it counts if the kernel is clean then, or if some of its findings are gone and no new one has come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fencepost.check import Deadlock, Race, Report, check
from fencepost.check.group_by_fix import Cause, Finding, Judge, causes_of
from fencepost.check.suggested_edits import Edit, applied
from fencepost.ir import ops
from fencepost.ir.parser import parse_all
from fencepost.ir.printer import print_file, statement
from fencepost.ir.source import FencepostError
from fencepost.ir.text_changes import NoLineOfItsOwn, Snapshot, changed_text
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.insert import insert_barriers

PutIn = Callable[[CapturedTrace], object]
"""Puts barriers and waits into a kernel."""

INSERTED = (ops.SharedMemoryBarrier, ops.MemoryCounterWait)
"""What `insert` puts in, or makes stronger where it stands."""

MORE = (
    ops.MbarrierOperation,
    ops.SharedMemoryBarrierSignal,
    ops.SharedMemoryBarrierWait,
    ops.CommitGroup,
)


@dataclass(frozen=True, slots=True)
class FixedKernel:
    """One kernel, before and after."""

    name: str
    before: Report
    after: Report
    """The same report, if nothing could be done."""

    @property
    def mended(self) -> int:
        """How many findings are gone."""
        return _number(self.before) - _number(self.after)

    @property
    def left(self) -> int:
        """How many findings are left."""
        return _number(self.after)


@dataclass(frozen=True, slots=True)
class FixedText:
    """A file, before and after."""

    before: str
    after: str
    kernels: tuple[FixedKernel, ...]

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after


def fix_text(
    text: str, name: str = "<text>", *, insert: PutIn = insert_barriers, judge: Judge = check
) -> FixedText:
    """Mend the kernels of a text, one after the other: what `judge` finds, with what `insert` puts in."""
    before = [judge(kernel) for kernel in parse_all(text, name)]
    now, after = text, list(before)
    for place, report in enumerate(before):
        if not report.ok:
            file = _File(now, name, place)
            # What was done to the kernels above has moved its lines.
            known = report if now == text else judge(file.kernel())
            now, after[place] = _mended_step_by_step(file, known, insert, judge)
    if now != text and len(before) > 1:
        after = [judge(kernel) for kernel in parse_all(now, name)]
        if any(_is_worse(old, new) for old, new in zip(before, after, strict=True)):
            # Kernels share functions: what mends one of them may harm another.
            now, after = text, before
    kernels = [
        FixedKernel(old.kernel.name, old, new)
        for old, new in zip(before, after, strict=True)
        if old.kernel is not None
    ]
    return FixedText(text, now, tuple(kernels))


@dataclass(frozen=True, slots=True)
class _File:
    """A text, and which of its kernels is to be mended."""

    text: str
    name: str
    place: int

    def read(self) -> list[CapturedTrace]:
        return parse_all(self.text, self.name)

    def with_text(self, text: str) -> _File:
        return _File(text, self.name, self.place)

    def kernel(self) -> CapturedTrace:
        return self.read()[self.place]


def _mended_step_by_step(file: _File, report: Report, insert: PutIn, judge: Judge) -> tuple[str, Report]:
    """The text with one kernel mended as far as possible, and what is left then."""
    while not report.ok:
        # What was mended in part may let the next attempt do more; each time there are fewer findings.
        text, after = _mended(file, report, insert, judge)
        if text == file.text:
            break
        file, report = file.with_text(text), after
    return file.text, report


def _mended(file: _File, report: Report, insert: PutIn, judge: Judge) -> tuple[str, Report]:
    """The text with one kernel mended, whole if that is possible, and what is left then."""
    best, left = file.text, report
    for attempt in _attempts(file, report, insert):
        if attempt == file.text:
            continue
        try:
            after = judge(file.with_text(attempt).kernel())
        except FencepostError:
            continue  # a barrier in another place may be one that no kernel can have
        if _is_worse(report, after):
            continue
        if after.ok:
            return attempt, after
        if _number(after) < _number(left):
            best, left = attempt, after
    return best, left


def _attempts(file: _File, report: Report, insert: PutIn) -> Iterator[str]:
    """Texts that may be better, the likeliest first."""
    simple = not report.deadlocks and not _has_more_than_barriers(report)
    if simple:
        yield from _with_barriers(file, insert)
    causes = causes_of(report)
    beyond = [edit for cause in causes if not _is_for_insert(cause) for edit in cause.edits]
    if beyond:
        # What `insert` does not touch first: where waves wait for ever, nothing else can be judged.
        edited = file.with_text(_with_edits(report, beyond))
        yield edited.text
        yield from _with_barriers(edited, insert)
    if not simple:
        yield from _with_barriers(file, insert)
    yield _with_edits(report, [edit for cause in causes for edit in cause.edits])


def _has_more_than_barriers(report: Report) -> bool:
    """Whether a kernel has mbarriers, split barriers or commit groups: a barrier may not be what is missing."""
    assert report.kernel is not None
    bodies = (report.kernel, *report.kernel.functions())
    return any(isinstance(op, MORE) for body in bodies for op in body.preorder_walk())


def _is_for_insert(cause: Cause) -> bool:
    """Whether `insert` puts such things in itself, and chooses their places better."""
    if any(isinstance(finding, Deadlock) for finding in cause.findings):
        return False
    return all(
        isinstance(edit.op, INSERTED)
        and not (isinstance(edit.op, ops.SharedMemoryBarrier) and edit.op.waves is not None)
        for edit in cause.edits
    )


def _with_edits(report: Report, edits: Sequence[Edit]) -> str:
    """The text of a kernel with edits that the report on it suggests."""
    assert report.kernel is not None
    before = Snapshot.of([report.kernel])
    with applied(edits):
        try:
            return changed_text(before.source.text, before.changes())
        except NoLineOfItsOwn:
            return before.source.text


def _with_barriers(file: _File, insert: PutIn) -> Iterator[str]:
    """The text with what `insert` puts in; nothing where it refuses."""
    here = file.read()
    before = Snapshot.of(here)
    try:
        insert(here[file.place])
    except FencepostError:
        return
    try:
        yield changed_text(before.source.text, before.changes())
    except NoLineOfItsOwn:
        yield print_file(here)


def _number(report: Report) -> int:
    return len(report.races) + len(report.deadlocks) + len(report.out_of_range)


def _is_worse(before: Report, after: Report) -> bool:
    """Whether there is something that was not there before, or less was looked at."""
    if before.explored.complete and not after.explored.complete:
        return True
    return not _kinds(after) <= _kinds(before)


def _kinds(report: Report) -> Counter[tuple[str, ...]]:
    """The findings by what they say, not by where: lines have moved."""
    every: list[Finding] = [*report.races, *report.deadlocks, *report.out_of_range]
    return Counter(map(_kind, every))


def _kind(finding: Finding) -> tuple[str, ...]:
    if isinstance(finding, Race):
        both = (finding.first.op, finding.second.op)
        return finding.kind, finding.hazard, *(statement(op.owner or op) for op in both)
    if isinstance(finding, Deadlock):
        return finding.kind, *(statement(op.owner or op) for op, _ in finding.ops)
    return "out of range", statement(finding.op)
