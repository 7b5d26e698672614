"""Which accesses of a warp's threads are in order: lanes pass `bar.warp.sync` together, and nothing else orders them.

A thread knows of each lane of its warp up to when all it has done comes before the thread's next access. Lanes that
meet know the same afterwards, so that there is one row of such times for each meeting. Shuffles and votes make lanes
wait for each other, and pass on nothing of what is in memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.launches.thread_names import WARP

Numbers = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max
"""When something is complete that nothing waits for."""


class WarpClocks:
    """What the threads of each warp know of one another."""

    def __init__(self, threads: int) -> None:
        self._rows: list[Numbers] = [np.full(WARP, -1, dtype=np.int64)]
        self.row_of: Numbers = np.zeros(threads, dtype=np.int64)
        """By thread, the number of the row that says what it knows."""

    def meet(self, threads: Numbers, now: int) -> None:
        """Threads of one warp pass a barrier of the warp together."""
        row = np.max([self._rows[number] for number in np.unique(self.row_of[threads])], axis=0)
        row[threads % WARP] = now
        self.row_of[threads] = len(self._rows)
        self._rows.append(row)

    def restart(self, keep: bool) -> None:
        """After a barrier of all threads, which puts in order what came before it; `keep` says whether copies are
        still in flight."""
        self.row_of[:] = 0
        if not keep:
            del self._rows[1:]

    def rows(self) -> Numbers:
        """What threads know, by the number of their row and by lane."""
        return np.array(self._rows)
