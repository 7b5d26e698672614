"""The barrier of a cluster: threads of all blocks arrive, and each waits later. A thread arrives again only once it
has waited, so that no arrival can count for another phase. Threads that have ended count as arrived."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.exact.clocks import Clocks, Known, Threads
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.proof.intervals import Place

AWAY, ARRIVED, OPEN = 0, 1, 2
"""A thread that has not arrived; one that has; one whose phase is complete, and who may wait without waiting."""


class ClusterBarrier:
    """The barrier in its current phase."""

    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self.problems: list[Problem] = []
        self.states: NDArray[np.int8] = np.zeros(clocks.threads, dtype=np.int8)
        self.waiting: list[tuple[Threads, Place]] = []
        self.last: tuple[Place, int] | None = None
        """The last arrival, and one of its threads."""
        self.known: Known | None = None
        self.released: Known | None = None
        """What the last complete phase has passed on."""

    def arrive(self, place: Place, who: Threads, relaxed: bool, live: Threads) -> list[Threads]:
        """Threads arrive; those that can go on because of it."""
        twice = who[self.states[who] != AWAY]
        if twice.size:
            text = "thread {1} arrives at the barrier of the cluster again, and has not waited since it arrived last"
            self._problem(place, twice, text, "wait (barrier.cluster.wait) after every arrival")
        released = self.clocks.release(who, relaxed, place)
        self.known = released if self.known is None else self.clocks.join(self.known, released)
        self.states[who] = ARRIVED
        self.last = (place, int(who[0]))
        return self.ended(live)

    def wait(self, place: Place, who: Threads) -> Threads:
        """Threads wait; those that can go on at once."""
        stray = who[self.states[who] == AWAY]
        if stray.size:
            text = "thread {1} waits at the barrier of the cluster, and has not arrived"
            self._problem(place, stray, text, "arrive (barrier.cluster.arrive) before every wait")
        on: Threads = who[self.states[who] != ARRIVED]
        if on.size and self.released is not None:
            self.clocks.acquire(on, self.released)
        self.states[on] = AWAY
        waiting = np.setdiff1d(who, on)
        if waiting.size:
            self.waiting.append((waiting, place))
        return on

    def ended(self, live: Threads) -> list[Threads]:
        """Whether the phase is complete, now that some have arrived or ended; those that can go on because of it."""
        if self.known is None or (self.states[live] != ARRIVED).any():
            return []
        self.released, self.known = self.known, None
        self.states[self.states == ARRIVED] = OPEN
        woken = [who for who, _ in self.waiting]
        self.waiting = []
        for who in woken:
            self.clocks.acquire(who, self.released)
            self.states[who] = AWAY
        return woken

    def missing(self, live: Threads) -> Threads:
        """Threads that a phase which is not complete waits for."""
        found: Threads = live[self.states[live] != ARRIVED]
        return found

    def _problem(self, place: Place, who: Threads, text: str, fix: str) -> None:
        before, thread = self.last or (place, int(who[0]))
        self.problems.append(Problem("FP003", text, (before, place), (thread, int(who[0])), fix))
