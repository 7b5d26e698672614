"""What was put into a module, from its text before and after: barriers, marks that membar leaves, counts of waits.

All are short beside the module: to compare lines takes a tenth of the time that it takes to read the text again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from fencepost.hosts.triton.membar_marks import OLDER_SYNCED, SYNCED
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.shared_memory_effects import row_of

GROUP_WAIT, LOCAL = '"ttng.warp_group_dot_wait"(', "warpGroupLocal"
"""A wait for matrix operations, and the mark of one that is for one warp group."""
STRETCH = 16
"""Lines that are compared at once."""
# Names are quoted in edits, and not where Triton prints them.
_SYNCED = re.compile(rf'"?(?:{re.escape(SYNCED)}|{re.escape(OLDER_SYNCED)})"? = (?:true|false)(?:, )?')
_LOCAL = re.compile(rf'(?<=[{{ ])"?{LOCAL}"?(?:, )?')
# What can stand behind a barrier in its line.
_REST = re.compile(r"(?: loc\([^()\n]*\))?\n")
# A wait, and how many operations it leaves outstanding.
_WAIT = re.compile(r'\s*(?:%[\w$.:-]+ = )?"([^"]+)"\(')
_NUMBER = r'(?<=[{{ ])"?{}"? = (\d+) : i32(?:, )?'
# What is left of a dictionary that had nothing but a mark, or had it last.
_EMPTY = re.compile(r"<?\{\}>? ")
_LAST = re.compile(r", (?=\}>? )")


class ChangedModule(Module):
    """A module that differs little from another one; its own tree is read once somebody asks for it."""

    __slots__ = ("_read", "base")

    def __init__(self, base: Module, text: str) -> None:
        self.base, self.text, self.name = base, text, base.name
        self._read: Module | None = None

    def __getattr__(self, name: str) -> object:
        if self._read is None:
            self._read = read_module(self.text, self.name, trusted=True)
        return getattr(self._read, name)


@dataclass(frozen=True, slots=True)
class InsertedText:
    """What was put into a module."""

    barriers: tuple[Operation, ...]
    """Barriers that make shared memory visible, by the operation that each stands in front of,"""
    marked: frozenset[Operation]
    """waits for matrix operations that are those of one warp group now,"""
    counts: Mapping[Operation, int]
    """and waits that leave another number of operations outstanding."""


def put_in(before: Module, text: str) -> InsertedText | None:
    """What a text has that a module's does not; None if that is anything but barriers, marks and counts."""
    barriers = _only_barriers(before.text, text)
    if barriers is None:
        return _line_by_line(before, text)
    found = [_operation_at(before, offset) for offset in barriers]
    known = tuple(op for op in found if op is not None)
    return InsertedText(known, frozenset(), {}) if len(known) == len(found) else None


def _only_barriers(before: str, after: str) -> list[int] | None:
    """The lines that new barriers stand in front of, by where they begin; None if that is not all that is new."""
    barrier = installed_release().barrier
    if barrier in before:
        # Which of them are new has to be seen.
        return None
    pieces = after.split(barrier)
    for number in range(1, len(pieces)):
        # What belongs to the line of the barrier goes with it.
        rest = _REST.match(pieces[number])
        pieces[number - 1] = pieces[number - 1].rstrip(" \t")
        if rest is None or not pieces[number - 1].endswith("\n"):
            return None
        pieces[number] = pieces[number][rest.end() :]
    return list(accumulate(map(len, pieces[:-1]))) if "".join(pieces) == before else None


def _line_by_line(before: Module, text: str) -> InsertedText | None:
    old, new = before.text.split("\n"), text.split("\n")
    barrier, barriers, marked, at, place = barrier_line(), [], [], 0, 0
    counts: dict[int, int] = {}
    while at < len(new):
        same = new[at : at + STRETCH]
        if same == old[place : place + STRETCH]:
            at, place = at + len(same), place + len(same)
            continue
        line, here = new[at], old[place] if place < len(old) else None
        at += 1
        if line == here:
            place += 1
        elif barrier.fullmatch(line):
            barriers.append(place)
        elif here is not None and (count := _count_in(line, here)) is not None:
            counts |= {place: count} if count >= 0 else {}
            if (LOCAL in line) != (LOCAL in here):
                if LOCAL in here:
                    return None
                marked.append(place)
            place += 1
        else:
            return None
    if place < len(old):
        return None
    begins = [0, *accumulate(len(line) + 1 for line in old)]
    found = {each: _operation_at(before, begins[each]) for each in {*barriers, *marked, *counts}}
    known = {each: op for each, op in found.items() if op is not None}
    if len(known) < len(found):
        return None
    return InsertedText(
        tuple(known[each] for each in barriers),
        frozenset(known[each] for each in marked),
        {known[each]: count for each, count in counts.items()},
    )


@cache
def barrier_line() -> re.Pattern[str]:
    """A line with a barrier of membar's and nothing else."""
    return re.compile(rf"\s*{re.escape(installed_release().barrier)}(?: loc\([^()\n]*\))?")


def _count_in(line: str, before: str) -> int | None:
    """The count of a wait if that is all that has changed in a line beside marks, -1 without such a change.

    None if there is another difference.
    """
    one, other = _without_marks(line), _without_marks(before)
    if one == other:
        return -1
    wait = _WAIT.match(line)
    attribute = row_of(wait[1]).attribute if wait is not None else ""
    if not attribute:
        return None
    number = re.compile(_NUMBER.format(re.escape(attribute)))
    counts = number.findall(one)
    if len(counts) != 1 or len(number.findall(other)) != 1:
        return None
    same = _without_empty(number.sub("", one)) == _without_empty(number.sub("", other))
    return int(counts[0]) if same else None


def _without_marks(line: str) -> str:
    """A line without marks of membar's."""
    bare = _SYNCED.sub("", line)
    if GROUP_WAIT in line:
        bare = _LOCAL.sub("", bare)
    return _without_empty(bare)


def _without_empty(line: str) -> str:
    """A line without what is left of a dictionary that has lost its entries."""
    return _EMPTY.sub("", _LAST.sub("", line))


def _operation_at(module: Module, begin: int) -> Operation | None:
    """The operation that a line begins with; None if it begins with something else."""
    start = begin
    while module.text.startswith((" ", "\t"), start):
        start += 1
    place = bisect_left(module.every, start, key=lambda op: op.start)
    op = module.every[place] if place < len(module.every) else None
    return op if op is not None and op.start == start else None
