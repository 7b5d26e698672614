"""Why a wait is too weak, in numbers: how many it lets stay in flight, and which of them the one is that matters."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.check import Race
from fencepost.check.concrete_access import counted_on
from fencepost.ir import ops
from fencepost.ir.printer import statement
from fencepost.report.words import nth_newest

LEFT = "this wait lets it stay in flight"


def reason(race: Race) -> str:
    """Why two accesses race: in numbers, where a wait between them leaves too much outstanding."""
    return _left_in_flight(race) or race.why


def _left_in_flight(race: Race) -> str:
    """What a weak wait leaves; empty if there is none, or the path does not say how many come later."""
    weak, work = race.weak, race.first.op
    if not isinstance(weak, ops.MemoryCounterWait | ops.SharedMemoryBarrier):
        return ""
    if not isinstance(work, ops.AsyncOperation) or weak not in race.path:
        return ""
    between = race.path[1 : len(race.path) - 1 - race.path[::-1].index(weak)]
    left = weak.counts.get(work.counter, 0)
    closed = sum(isinstance(op, ops.CommitGroup) and op.counter == work.counter for op in between)
    later = [op for op in between if counted_on(op) == work.counter]
    newest = closed or 1 + len(later)
    if newest > left:
        return ""
    what = "commit group" if closed else _noun([work, *later], work.counter)
    many = f"the newest {what}" if left == 1 else f"the {left} newest {_plural(what)}"
    return f"`{statement(weak)}` lets {many} stay in flight{_which(race, newest, left, bool(closed))}"


def _which(race: Race, newest: int, left: int, grouped: bool) -> str:
    used = "read" if race.second.verb == "reads" else "overwritten"
    reads = isinstance(race.first.op, ops.AsyncRead)
    if left == 1 and not grouped:
        return f", and that is the {f'one that reads what is {used} here' if reads else f'copy {used} here'}"
    it = f"the {race.first.op.mnemonic} that reads what is {used} here" if reads else f"the copy {used} here"
    if left == 1:
        return f", and {it} is in it"
    return f"; {it} is {'in ' if grouped else ''}the {nth_newest(newest)}"


def _noun(issued: Sequence[ops.Operation], counter: str) -> str:
    """What stays in flight: copies, if nothing else counts on that counter on the way."""
    if all(isinstance(op, ops.AsyncCopy) for op in issued):
        return "copy"
    kinds = {op.mnemonic for op in issued}
    return kinds.pop() if len(kinds) == 1 else f"`{counter}` operation"


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
