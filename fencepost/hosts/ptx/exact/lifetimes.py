"""Whether a block is there while other blocks of its cluster use its shared memory: it has started, and not ended.

Blocks of a cluster start at any time. A thread knows that another block has started from anything that a thread of it
has passed on. And a block may end as soon as its own threads have: one of them has to know, when it ends, that an
access to its shared memory has been made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fencepost.hosts.ptx.exact.clocks import Clock
from fencepost.hosts.ptx.exact.forms import Mbarrier
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.exact.shadow import Numbers, Touch

if TYPE_CHECKING:
    from fencepost.hosts.ptx.exact.accesses import Accesses

SYNC = "cluster.sync() (barrier.cluster.arrive and barrier.cluster.wait)"


class Lifetimes:
    """What the threads of a cluster touched in other blocks."""

    def __init__(self, machine: Accesses) -> None:
        self.machine = machine
        clocks = machine.clocks
        self.starts = [clocks.column(("start", rank), first, True) for rank, first in self._firsts()]
        for rank, column in enumerate(self.starts):
            clocks.learn(np.flatnonzero(machine.ranks == rank), column, 1)
        self.problems: dict[tuple[str, int], Problem] = {}
        self.touched: dict[tuple[int, int], Clock] = {}
        """By rank of a block and place of an access, the clock of the last one in each column."""
        self.threads: dict[tuple[int, int], Numbers] = {}
        """Who made it."""

    def _firsts(self) -> Iterator[tuple[int, int]]:
        return ((rank, rank * self.machine.per_block) for rank in range(self.machine.cluster_size))

    def touch(self, rank: int, touch: Touch) -> None:
        """Notes accesses to the memory of a block, those of other blocks among them."""
        far = np.flatnonzero(self.machine.ranks[touch.threads] != rank)
        if far.size:
            self._note(rank, touch, far)

    def outlived(self, touch: Touch) -> None:
        """Notes that a copy reads the memory of the block that issues it, until another block has got it."""
        self._note(int(self.machine.ranks[touch.threads[0]]), touch, np.arange(touch.threads.size))

    def _note(self, rank: int, touch: Touch, far: Numbers) -> None:
        machine = self.machine
        threads = touch.threads[far]
        early = threads[machine.clocks.order[threads, self.starts[rank]] < 1]
        if early.size:
            text = f"thread {{1}} uses shared memory of block {rank}, which may not have started yet"
            fix = f"put {SYNC} before the first access to another block"
            self._problem("start", touch.place, int(early[0]), (text, fix), touch)
        key = (rank, touch.place)
        width = machine.clocks.width
        clocks = self.touched.get(key, np.zeros(0, dtype=np.int32))
        clocks = np.pad(clocks, (0, width - clocks.size))
        who = np.pad(self.threads.get(key, np.zeros(0, dtype=np.int64)), (0, width))[:width]
        np.maximum.at(clocks, touch.columns[far], touch.clocks[far])
        who[touch.columns[far]] = threads
        self.touched[key], self.threads[key] = clocks, who

    def ended(self) -> list[Problem]:
        """Accesses that may come after the end of the block whose memory they touch."""
        machine = self.machine
        for (rank, place), clocks in self.touched.items():
            # Who has waited for an arrival knows that it was made, even if it was relaxed.
            form = machine.needed.forms.get(machine.place_of(place))
            table = machine.clocks.order if isinstance(form, Mbarrier) else machine.clocks.seen
            known = table[machine.ranks == rank].max(axis=0)
            late = np.flatnonzero(known[: clocks.size] < clocks)
            if late.size:
                text = f"thread {{1}} uses shared memory of block {rank}, which can have ended by then"
                fix = f"put {SYNC} after the last access to another block, before the kernel ends"
                self._problem("end", place, int(self.threads[rank, place][late[0]]), (text, fix), None)
        return list(self.problems.values())

    def _problem(
        self, what: str, place: int, thread: int, words: tuple[str, str], touch: Touch | None
    ) -> None:
        at = self.machine.place_of(place)
        address = None if touch is None else int(touch.starts[0])
        size = 0 if touch is None else touch.size
        problem = Problem("FP009", words[0], (at, at), (thread, thread), words[1], address=address, size=size)
        self.problems.setdefault((what, place), problem)
