"""Vector clocks: what each thread knows of every other thread, copy and barrier.

A *column* is something that happens in order: one thread, the copies of one thread, the phases of one mbarrier. Row
t of `seen` says how far thread t knows each column to have come, and sees what it wrote. `fenced` says the same of
what a proxy fence has made visible to the async proxy, and `order` of what has happened, visible or not: a relaxed
arrival tells that, and nothing else, and so do the bytes of a copy of the thread that issued it. What is known of
tensor memory is passed on between two fences: `handed` has what the first let out, `tensor` what the second let in.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.exact.problems import NotExact
from fencepost.hosts.ptx.proof.intervals import Place

Clock = NDArray[np.int32]
Threads = NDArray[np.int64]
MOST_BYTES = 3 << 30
MOST_RELEASES = 300_000
"""So many are noted for the words of a report."""
SEEN, FENCED, ORDER, HANDED = "seen", "fenced", "order", "handed"


@dataclass(frozen=True)
class Known:
    """What is passed on: a row for each kind of knowledge."""

    rows: Mapping[str, Clock]

    def only(self, *names: str) -> Known:
        """Some kinds of it alone."""
        return Known({name: row for name, row in self.rows.items() if name in names})


class Clocks:
    """The clocks of all threads. The first columns are the threads, each starting at 1.

    Where everything that tells what has happened also makes it visible, `order` is the table `seen`."""

    def __init__(
        self, threads: int, ordered_apart: bool = False, relaxed: bool = False, tensors: bool = False
    ) -> None:
        self.threads = threads
        self.spent = 0
        """Bytes of tables that go with these clocks."""
        size = (threads, threads + 16)
        self._count = 2 + (ordered_apart or relaxed) + 2 * tensors + 4 * relaxed
        """How many tables there are."""
        self.spend(4 * size[0] * size[1] * self._count)
        seen: Clock = np.zeros(size, dtype=np.int32)
        np.fill_diagonal(seen, 1)
        self.tables: dict[str, Clock] = {SEEN: seen, FENCED: np.zeros(size, dtype=np.int32)}
        self.published: dict[str, Clock] = {}
        """What memory fences have let a relaxed arrival pass on, and let threads see that waited relaxedly."""
        self.observed: dict[str, Clock] = {}
        """What relaxed waits have come upon, which a memory fence lets their threads see."""
        if ordered_apart or relaxed:
            self.tables[ORDER] = seen.copy()
        self.tensor: Clock = np.zeros((0, 0), dtype=np.int32)
        """What the `tcgen05` operations of a thread are ordered after."""
        if tensors:
            self.tables[HANDED] = np.zeros(size, dtype=np.int32)
            self.tensor = np.zeros(size, dtype=np.int32)
        if relaxed:
            self.published = {name: np.zeros(size, dtype=np.int32) for name in (SEEN, FENCED)}
            self.observed = {name: np.zeros(size, dtype=np.int32) for name in (SEEN, FENCED)}
        self.used = threads + 1
        self.generic = np.ones(threads + 16, dtype=bool)
        """Which columns reach memory through the generic proxy."""
        self.owners: list[int] = [*range(threads), 0]
        """The thread that a column is reported as."""
        self._time = threads
        """The column of the time: more than that of all that a thread has seen released. Of two things that different
        threads do at one time, none comes before the other."""
        self._columns: dict[Hashable, int] = {}
        self.releases: dict[tuple[int, int], Place] | None = None
        """Where threads, by their numbers and clocks, have let others know how far they are; None: not noted."""

    def spend(self, more: int) -> None:
        """Makes room for tables, unless they become too large."""
        self.spent += more
        if self.spent > MOST_BYTES:
            raise NotExact("the run takes too much memory: threads, and places that they share")

    @property
    def seen(self) -> Clock:
        """What threads see, by thread and column."""
        return self.tables[SEEN]

    @property
    def fenced(self) -> Clock:
        """What is visible to the async proxy."""
        return self.tables[FENCED]

    @property
    def order(self) -> Clock:
        """What threads know to have happened."""
        return self.tables[ORDER if ORDER in self.tables else SEEN]

    @property
    def width(self) -> int:
        """How many columns there is room for."""
        return int(self.seen.shape[1])

    def column(self, key: Hashable, owner: int, generic: bool) -> int:
        """The column of something other than a thread; made if there is none yet."""
        found = self._columns.get(key)
        if found is None:
            if self.used == self.width:
                self.spend(4 * self.seen.size * self._count)
                more = ((0, 0), (0, self.width))
                for tables in (self.tables, self.published, self.observed):
                    tables |= {name: np.pad(table, more) for name, table in tables.items()}
                if self.tensor.size:
                    self.tensor = np.pad(self.tensor, more)
                self.generic = np.pad(self.generic, (0, self.generic.size))
            found = self._columns[key] = self.used
            self.generic[found] = generic
            self.owners.append(owner)
            self.used += 1
        return found

    def own(self, who: Threads) -> Clock:
        """The clocks of some threads themselves."""
        return self.seen[who, who]

    def time(self, who: Threads) -> Clock:
        """What time it is for some threads."""
        found: Clock = self.seen[who, self._time]
        return found

    def tick(self, who: Threads) -> None:
        """What these threads do from here on comes after what they have released."""
        for name in (SEEN, ORDER):
            if name in self.tables:
                self.tables[name][who, who] += 1

    def release(self, who: Threads, relaxed: bool = False, place: Place | None = None) -> Known:
        """What some threads together know, to be passed on; of what they see, only what fences let, if relaxed."""
        if self.releases is not None and place is not None and len(self.releases) < MOST_RELEASES:
            self.releases |= dict.fromkeys(zip(who.tolist(), self.own(who).tolist(), strict=True), place)
        tables = {**self.tables, **self.published} if relaxed else self.tables
        found = Known({name: table[who].max(axis=0) for name, table in tables.items()})
        found.rows[SEEN][self._time] += 1
        self.tick(who)
        return found

    def acquire(self, who: Threads, known: Known, relaxed: bool = False) -> None:
        """Threads learn what others have released; they see it only behind a fence, if relaxed."""
        tables = {**self.tables, **self.observed} if relaxed else self.tables
        for name, row in known.rows.items():
            tables[name][who] = np.maximum(tables[name][who], self._fit(row))

    def meet(self, who: Threads) -> None:
        """Threads wait for each other (`.sync`), and see nothing of what the others have written because of it."""
        if ORDER in self.tables:
            self.acquire(who, self.release(who).only(ORDER))

    def memory_fence(self, who: Threads) -> None:
        """A memory fence: relaxed waits before it count as others do, and so do relaxed arrivals after it."""
        for name in (SEEN, FENCED):
            self.tables[name][who] = np.maximum(self.tables[name][who], self.observed[name][who])
            self.published[name][who] = self.tables[name][who]
        self.tick(who)

    def publish(self, who: Threads, columns: Threads) -> None:
        """A fence for some columns alone: relaxed arrivals after it hand these on."""
        rows = who[:, None]
        self.published[SEEN][rows, columns] = self.seen[rows, columns]

    def learn(self, who: Threads, column: int | Threads, clock: int | Clock) -> None:
        """Threads learn that a column, the same or one for each, has come so far."""
        for name in (SEEN, ORDER):
            if name in self.tables:
                table = self.tables[name]
                table[who, column] = np.maximum(table[who, column], clock)

    def fence(self, who: Threads) -> None:
        """A proxy fence: what these threads know is visible to the async proxy from here on."""
        self.fenced[who] = np.maximum(self.fenced[who], self.seen[who])
        self.tick(who)

    def before_thread_sync(self, who: Threads) -> None:
        """What `tcgen05` operations of these threads come after is passed on from here on."""
        handed = self.tables[HANDED]
        handed[who] = np.maximum(handed[who], self.tensor[who])

    def after_thread_sync(self, who: Threads) -> None:
        """`tcgen05` operations of these threads come after what was handed to them."""
        self.tensor[who] = np.maximum(self.tensor[who], self.tables[HANDED][who])

    def finish(self, who: Threads, column: int, clock: int) -> None:
        """Threads know that an operation on tensor memory has come so far, and theirs come after it."""
        self.learn(who, column, clock)
        self.tensor[who, column] = np.maximum(self.tensor[who, column], clock)

    def _fit(self, known: Clock) -> Clock:
        return known if known.size == self.width else np.pad(known, (0, self.width - known.size))

    def nothing(self) -> Known:
        """What somebody knows who knows nothing."""
        return Known({name: np.zeros(self.width, dtype=np.int32) for name in self.tables})

    def just(self, columns: Threads, clocks: Clock) -> Known:
        """That columns have come so far, and nothing else."""
        found = self.nothing()
        for name, row in found.rows.items():
            if name != FENCED:
                row[columns] = clocks
        return found

    def of_engines(self, thread: int) -> Known:
        """What a thread knows of copies and other engines."""
        return Known({SEEN: np.where(self.generic, 0, self.seen[thread])})

    def with_order(self, known: Known, before: Clock | None) -> Known:
        """What is known, and that something has happened besides."""
        if before is None or ORDER not in self.tables:
            return known
        return Known({**known.rows, ORDER: self.later(known.rows.get(ORDER), before)})

    def join(self, left: Known, right: Known) -> Known:
        """What two together know."""
        names = {**left.rows, **right.rows}
        return Known({name: self.later(left.rows.get(name), right.rows.get(name)) for name in names})

    def later(self, left: Clock | None, right: Clock | None) -> Clock:
        """How far columns have come by one or the other."""
        if left is None or right is None:
            found = right if left is None else left
            assert found is not None
            return self._fit(found)
        return np.maximum(self._fit(left), self._fit(right))
