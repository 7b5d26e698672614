"""What was put into a module, from its text before and after: barriers, marks that membar leaves, counts of waits.

All are short beside the module: to compare lines takes a tenth of the time that it takes to read the text again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fencepost.hosts.triton.membar_marks import SYNCED
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.table import row_of

GROUP_WAIT, LOCAL = '"ttng.warp_group_dot_wait"(', "warpGroupLocal"
"""A wait for matrix operations, and the mark of one that is for one warp group."""
# Names are quoted in edits, and not where Triton prints them.
_SYNCED = re.compile(rf'"?{re.escape(SYNCED)}"? = (?:true|false)(?:, )?')
_LOCAL = re.compile(rf'(?<=[{{ ])"?{LOCAL}"?(?:, )?')
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
class PutIn:
    """What was put into a module."""

    barriers: tuple[Operation, ...]
    """Barriers that make shared memory visible, by the operation that each stands in front of,"""
    marked: frozenset[Operation]
    """waits for matrix operations that are those of one warp group now,"""
    counts: Mapping[Operation, int]
    """and waits that leave another number of operations outstanding."""


def put_in(before: Module, text: str) -> PutIn | None:
    """What a text has that a module's does not; None if that is anything but barriers, marks and counts."""
    old = before.text.split("\n")
    barrier, barriers, marked, place = barrier_line(), [], [], 0
    counts: dict[int, int] = {}
    for line in text.split("\n"):
        here = old[place] if place < len(old) else None
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
    found = _operations(before, old, {*barriers, *marked, *counts})
    if found is None:
        return None
    return PutIn(
        tuple(found[each] for each in barriers),
        frozenset(found[each] for each in marked),
        {found[each]: count for each, count in counts.items()},
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


def _operations(module: Module, lines: list[str], wanted: set[int]) -> dict[int, Operation] | None:
    """The operations that begin on some lines; None if one of them does not begin with an operation."""
    starts: dict[int, int] = {}
    offset = 0
    for number, line in enumerate(lines):
        if number in wanted:
            starts[offset + len(line) - len(line.lstrip())] = number
        offset += len(line) + 1
    found = {starts[op.start]: op for op in module.walk() if op.start in starts}
    return found if len(found) == len(wanted) else None
