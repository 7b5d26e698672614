"""A wait for the wrong phase of an mbarrier: which parity it names, which it should, and who comes too early."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fencepost.check import Deadlock, Race
from fencepost.check.group_by_fix import Cause, Finding
from fencepost.check.report import UNFILLED
from fencepost.check.suggested_edits import INSTEAD
from fencepost.ir import ops
from fencepost.ir.expr import Expr, Var, evaluate, leaves
from fencepost.ir.source import Mark, Span
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.race_words import race_title, shown_op, touch_words

MOST_ITERATIONS = 64
"""How far an iteration is looked for in which the two parities differ."""


def wrong_wait(cause: Cause) -> tuple[ops.MbarrierWait, ops.MbarrierWait] | None:
    """The wait that the fix changes, and what it becomes; None if that is not what the fix does."""
    for edit in cause.edits:
        was, now = edit.at, edit.op
        if isinstance(was, ops.MbarrierWait) and isinstance(now, ops.MbarrierWait) and edit.how == INSTEAD:
            return was, now
    return None


def shown_finding(cause: Cause) -> Finding:
    """The finding that a message about a cause shows.

    Of a wrong phase, that memory is used too early is what people look for; that a wave may hang comes second.
    """
    races = [each for each in cause.findings if isinstance(each, Race)]
    return races[0] if races and wrong_wait(cause) is not None else cause.findings[0]


def wrong_phase_diagnostic(
    found: Diagnostic,
    cause: Cause,
    wrong: tuple[ops.MbarrierWait, ops.MbarrierWait],
    spans: Mapping[ops.Operation, Span],
) -> Diagnostic:
    """A message about the wait that is behind a finding, and then about what it leads to."""
    wait, right = wrong
    places = [(Mark(spans.get(wait), parity_words(wait, right, cause)), wait.origin)]
    notes = [note for note in found.notes if note[0] == "fix"]
    said = shown_finding(cause)
    if isinstance(said, Race):
        race = as_it_happens(said, wrong)
        notes.insert(0, ("so", race_title(race)))
        for touch in (race.second, race.first):
            op = shown_op(touch.op)
            places.append((Mark(spans.get(op), touch_words(touch)), op.origin))
    else:
        # What a wave does that waits in vain stands behind its line; how it came there is not what is wrong.
        if _is_unfilled(said):
            notes.insert(0, ("so", found.title))
        others = zip(found.marks, found.origins, strict=True)
        places += [(mark, origin) for mark, origin in others if mark.span != spans.get(wait)]
    return replace(
        found,
        title=f"this wait for {wait.view} is for the wrong phase",
        marks=tuple(mark for mark, _ in places),
        origins=tuple(origin for _, origin in places),
        notes=tuple(notes),
        primary=0,
    )


def parity_words(wait: ops.MbarrierWait, right: ops.MbarrierWait, cause: Cause) -> str:
    """What is wrong with its phase, with the numbers of the first iteration that shows it."""
    found = _first_difference(wait, right.phase)
    if found is None:
        return f"phase={wait.phase} is not the parity of the phase that is meant"
    when, named, meant = found
    words = f"{when}this is parity {named}, but the phase to wait for has parity {meant}"
    if any(isinstance(each, Race) or _is_unfilled(each) for each in cause.findings):
        return f"{words}: the wait returns at once"
    if any(isinstance(each, Deadlock) and each.kind == "stuck" for each in cause.findings):
        return f"{words}: the wait blocks"
    return words


def _is_unfilled(finding: Finding) -> bool:
    """Whether a finding is about a read that comes before its bytes are written for the first time."""
    return isinstance(finding, Deadlock) and finding.kind == UNFILLED


def _first_difference(wait: ops.MbarrierWait, right: Expr) -> tuple[str, int, int] | None:
    """The first iteration in which two phases have different parities, as words, and the parities."""
    names = {leaf.name for phase in (wait.phase, right) for leaf in leaves(phase) if isinstance(leaf, Var)}
    loop = wait.graph.owner if wait.graph is not None else None
    while loop is not None and not isinstance(loop, ops.Iterate):
        loop = loop.graph.owner if loop.graph is not None else None
    if not names:
        values: range = range(1)
    elif isinstance(loop, ops.Iterate) and names == {loop.var}:
        most = MOST_ITERATIONS if loop.trip is None else min(loop.trip, MOST_ITERATIONS)
        values = range(loop.start, loop.start + most * loop.step, loop.step)
    else:
        return None
    for value in values:
        env = dict.fromkeys(names, value)
        named, meant = evaluate(wait.phase, env), evaluate(right, env)
        if named is None or meant is None:
            return None
        if named % 2 != meant % 2:
            when = "".join(f"with %{name} = {value} " for name in names)
            return when, named % 2, meant % 2
    return None


def as_it_happens(race: Race, wrong: tuple[ops.MbarrierWait, ops.MbarrierWait]) -> Race:
    """A race with the access second that comes too early.

    That is the one behind the wrong wait; or, in an iteration in which that wait is right, the other one, which some
    wave behind the wrong wait has let go on. Sides of a conditional that waves take at the same time have no order in
    the program, and are found in any.
    """
    first, second = race.first, race.second
    wait, right = wrong
    behind = [_is_behind(each.op, wait) for each in (first, second)]
    if behind[0] == behind[1]:
        return race
    waiting = second if behind[1] else first
    too_early = (
        waiting if _differs(wait, right, dict(waiting.iteration)) else (first if behind[1] else second)
    )
    if too_early is second:
        return race
    hazard = {"RAW": "WAR", "WAR": "RAW"}.get(race.hazard, race.hazard)
    return replace(race, first=second, second=first, hazard=hazard)


def _differs(wait: ops.MbarrierWait, right: ops.MbarrierWait, values: Mapping[str, int | str]) -> bool:
    """Whether two waits are for different parities, if that is known; else they are taken to be."""
    numbers = {name: value for name, value in values.items() if isinstance(value, int)}
    named, meant = evaluate(wait.phase, numbers), evaluate(right.phase, numbers)
    return named is None or meant is None or named % 2 != meant % 2


def _is_behind(op: ops.Operation, wait: ops.MbarrierWait) -> bool:
    """Whether an operation is on the same side of conditionals as a wait, or further inside."""
    here: ops.Operation | None = op.owner or op
    while here is not None:
        if here.graph is wait.graph:
            return True
        here = here.graph.owner if here.graph is not None else None
    return False
