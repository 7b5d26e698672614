"""What the dataflows see of a program: steps that issue, wait and meet, in blocks.

Assembly becomes such steps, and so does a kernel of ours: what both can be asked for is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

READ, WRITE, UPDATE, COPY_IN, COPY_OUT = "read", "write", "update", "copy in", "copy out"
"""What is done to shared memory: by the wave itself (an update is an atomic), or by an engine."""
COPIES = (COPY_IN, COPY_OUT)
START, END = 0, -1
"""In the place of a rendezvous: where a program begins and where it ends."""


class Access(NamedTuple):
    """An access to shared memory: which operation of the compiler's module makes it, and what it does."""

    number: int
    """The operation, by its number; 0 if it is not known."""
    does: str
    part: int = 0
    """Which part of the operation's memory, where that is distinguished: the offset from its beginning."""


class Meets(Enum):
    """What a step has to do with a rendezvous of the workgroup."""

    NOT = 0
    WHOLE = 1
    ARRIVES = 2
    LEAVES = 3


class Issue(NamedTuple):
    """Something that is outstanding on a counter from now on."""

    counter: str
    order: str
    """What completes in the order of issue; empty: in any order, so that only a wait for zero completes it."""
    loads: int = 0
    """The registers that it writes when it completes."""


class Wait(NamedTuple):
    """At most so many operations of a counter are outstanding then."""

    counter: str
    left: int


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, or one operation of a kernel."""

    line: int
    number: int = 0
    """The operation of the compiler's module that it belongs to."""
    access: Access | None = None
    offset: int = 0
    """What is added to the address of an access."""
    issues: tuple[Issue, ...] = ()
    waits: tuple[Wait, ...] = ()
    fence: bool = False
    """Whether it waits for all that the wave did to shared memory by itself (a fenced barrier of a kernel)."""
    meets: Meets = Meets.NOT
    commits: str = ""
    """The counter whose group of copies ends here; its waits count groups then."""
    calls: bool = False
    """Whether it runs another function, which begins by waiting for everything."""
    returns: bool = False
    """Whether it goes back to the caller, who takes everything to be complete."""
    mentions: int = 0
    """The registers that it names,"""
    result: int = 0
    """and those of them that only its own load writes."""


@dataclass(slots=True, eq=False)
class Steps:
    """The blocks of a program; execution starts with the first one."""

    name: str
    blocks: list[list[Step]] = field(default_factory=list)
    successors: list[list[int]] = field(default_factory=list)

    def order(self) -> list[int]:
        """The blocks that can be reached, each before its successors except along edges back."""
        seen: set[int] = set()
        found: list[int] = []
        todo: list[tuple[int, int]] = [(0, 0)] if self.blocks else []
        seen.add(0)
        while todo:
            block, place = todo.pop()
            if place < len(self.successors[block]):
                todo.append((block, place + 1))
                other = self.successors[block][place]
                if other not in seen:
                    seen.add(other)
                    todo.append((other, 0))
            else:
                found.append(block)
        return found[::-1]
