"""Vector clocks: what each thread knows of every other thread, copy and barrier.

A *column* is something that happens in order: one thread, the copies of one thread, the phases of one mbarrier. Row
t of `seen` says how far thread t knows each column to have come. `fenced` says the same of what a proxy fence has
made visible to the async proxy.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

Clock = NDArray[np.int32]
Threads = NDArray[np.int64]


class Clocks:
    """The clocks of one block. The first columns are the threads, each starting at 1."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.seen: Clock = np.zeros((threads, threads + 16), dtype=np.int32)
        self.fenced: Clock = np.zeros_like(self.seen)
        np.fill_diagonal(self.seen, 1)
        self.used = threads
        self.generic = np.ones(threads + 16, dtype=bool)
        """Which columns reach memory through the generic proxy."""
        self.owners: list[int] = list(range(threads))
        """The thread that a column is reported as."""
        self._columns: dict[Hashable, int] = {}

    @property
    def width(self) -> int:
        """How many columns there is room for."""
        return int(self.seen.shape[1])

    def column(self, key: Hashable, owner: int, generic: bool) -> int:
        """The column of something other than a thread; made if there is none yet."""
        found = self._columns.get(key)
        if found is None:
            if self.used == self.width:
                more = ((0, 0), (0, self.width))
                self.seen, self.fenced = np.pad(self.seen, more), np.pad(self.fenced, more)
                self.generic = np.pad(self.generic, (0, self.generic.size))
            found = self._columns[key] = self.used
            self.generic[found] = generic
            self.owners.append(owner)
            self.used += 1
        return found

    def own(self, who: Threads) -> Clock:
        """The clocks of some threads themselves."""
        return self.seen[who, who]

    def tick(self, who: Threads) -> None:
        """What these threads do from here on comes after what they have released."""
        self.seen[who, who] += 1

    def release(self, who: Threads) -> tuple[Clock, Clock]:
        """What some threads together know, to be handed on."""
        found = self.seen[who].max(axis=0), self.fenced[who].max(axis=0)
        self.tick(who)
        return found

    def acquire(self, who: Threads, known: tuple[Clock, Clock]) -> None:
        """Threads learn what others have released."""
        self.seen[who] = np.maximum(self.seen[who], self._fit(known[0]))
        self.fenced[who] = np.maximum(self.fenced[who], self._fit(known[1]))

    def learn(self, who: Threads, column: int, clock: int | Clock) -> None:
        """Threads learn that a column has come so far."""
        self.seen[who, column] = np.maximum(self.seen[who, column], clock)

    def fence(self, who: Threads) -> None:
        """A proxy fence: what these threads know is visible to the async proxy from here on."""
        self.fenced[who] = np.maximum(self.fenced[who], self.seen[who])
        self.tick(who)

    def _fit(self, known: Clock) -> Clock:
        return known if known.size == self.width else np.pad(known, (0, self.width - known.size))

    def nothing(self) -> tuple[Clock, Clock]:
        """What somebody knows who knows nothing."""
        return np.zeros(self.width, dtype=np.int32), np.zeros(self.width, dtype=np.int32)

    def join(self, left: tuple[Clock, Clock], right: tuple[Clock, Clock]) -> tuple[Clock, Clock]:
        """What two together know."""
        return (
            np.maximum(self._fit(left[0]), self._fit(right[0])),
            np.maximum(self._fit(left[1]), self._fit(right[1])),
        )
