"""`bar` and `barrier` with numbers and counts: who has arrived in the current phase of each, and who waits."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from fencepost.hosts.ptx.exact.clocks import Clocks, Known, Threads
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.proof.intervals import Place

WARP = 32


@dataclass
class Phase:
    """A barrier in its current phase."""

    column: int
    number: int
    completed: int = 0
    count: int | None = None
    """How many threads are counted; None: all of the block."""
    arrived: int = 0
    threads: list[Threads] = field(default_factory=list)
    waiting: list[Threads] = field(default_factory=list)
    known: Known | None = None
    place: Place | None = None
    """The first arrival of this phase."""


@dataclass(frozen=True)
class Arrival:
    """Threads that arrive together at one barrier."""

    place: Place
    threads: Threads
    number: int
    count: int | None
    waits: bool
    aligned: bool


class HardwareBarriers:
    """The sixteen barriers of a block, by its rank in the cluster."""

    def __init__(self, clocks: Clocks, rank: int, threads: Threads) -> None:
        self.clocks = clocks
        self.rank = rank
        self.threads = threads
        """Those of the block."""
        self.phases: dict[int, Phase] = {}
        self.problems: list[Problem] = []
        self.parted: Place | None = None
        """Where threads waited for all others, of which some waited at another instruction."""
        self.held_back: dict[int, list[Threads]] = {}
        """By barrier, threads that arrive once more in a phase that they have arrived in."""
        self.again: list[Threads] = []
        """Those of them that can arrive now."""
        self.arrivals: dict[int, tuple[Place, int]] = {}
        """By barrier, an arrival that does not wait, and a thread."""
        self.waits: set[int] = set()
        """The barriers that threads have waited at."""

    def hold_back(self, arrival: Arrival) -> Threads:
        """Threads that have arrived in this phase already; they arrive again once it is complete."""
        phase = self.phases.get(arrival.number)
        if phase is None or not phase.threads:
            return arrival.threads[:0]
        twice = np.intersect1d(arrival.threads, np.concatenate(phase.threads))
        if twice.size:
            assert phase.place is not None
            self.held_back.setdefault(arrival.number, []).append(twice)
            self.problems.append(
                Problem(
                    "FP003",
                    f"thread {{1}} arrives at barrier {arrival.number} twice in one phase",
                    (phase.place, arrival.place),
                    (int(phase.threads[0][0]), int(twice[0])),
                    "wait (bar.sync) for the phase before the next arrival, or for what follows from it",
                )
            )
        return twice

    def arrive(self, arrival: Arrival, live: Threads) -> list[Threads]:
        """Threads arrive; those that can go on because of it."""
        if arrival.count is None:
            return self._arrive(arrival, arrival.threads, live)
        # With a count, the warps that complete a phase are those that it needs, and no others.
        found = []
        units = arrival.threads // WARP if arrival.aligned else arrival.threads
        for unit in np.unique(units):
            found += self._arrive(arrival, arrival.threads[units == unit], live)
        return found

    def _arrive(self, arrival: Arrival, who: Threads, live: Threads) -> list[Threads]:
        number = arrival.number
        if number not in self.phases:
            column = self.clocks.column(("barrier", self.rank, number), int(who[0]), True)
            self.phases[number] = Phase(column, number)
        phase = self.phases[number]
        self._in_step(phase, arrival, who)
        released = self.clocks.release(who, place=arrival.place)
        phase.known = released if phase.known is None else self.clocks.join(phase.known, released)
        phase.arrived += WARP if arrival.aligned and arrival.count is not None else who.size
        phase.threads.append(who)
        if arrival.waits:
            phase.waiting.append(who)
            self.waits.add(number)
        else:
            self.arrivals.setdefault(number, (arrival.place, int(who[0])))
        return self._completed(phase, live)

    def _in_step(self, phase: Phase, arrival: Arrival, who: Threads) -> None:
        """Whether the arrival counts for this phase in every schedule."""
        if phase.place is None:
            phase.place, phase.count = arrival.place, arrival.count
        if phase.count is None and phase.place != arrival.place:
            self.parted = self.parted or arrival.place
        first = int(phase.threads[0][0]) if phase.threads else int(who[0])
        both = (phase.place, arrival.place), (first, int(who[0]))
        if phase.count != arrival.count:
            said = [f"{each} threads" if each else "all threads" for each in (phase.count, arrival.count)]
            self.problems.append(
                Problem(
                    "FP003",
                    f"barrier {phase.number} is used with {said[0]} and with {said[1]} in one phase",
                    *both,
                    "give both the same number of threads",
                )
            )
        late = who[self.clocks.order[who, phase.column] < phase.completed]
        if late.size:
            self.problems.append(
                Problem(
                    "FP003",
                    f"thread {{1}} may arrive at barrier {phase.number} one phase too early: nothing tells it that "
                    "the phase before is complete",
                    both[0],
                    (first, int(late[0])),
                    _how_to_keep_step(arrival),
                )
            )

    def _completed(self, phase: Phase, live: Threads) -> list[Threads]:
        if phase.count is None:
            here = np.concatenate(phase.threads) if phase.threads else live[:0]
            if np.setdiff1d(live, here).size or not here.size:
                return []
        elif phase.arrived < phase.count:
            return []
        assert phase.known is not None
        phase.known = self._with_ended(phase, phase.known, live)
        phase.completed += 1
        woken = phase.waiting
        for who in woken:
            self.clocks.acquire(who, phase.known)
            self.clocks.learn(who, phase.column, phase.completed)
        phase.known, phase.arrived, phase.place = None, 0, None
        phase.threads, phase.waiting = [], []
        self.again += self.held_back.pop(phase.number, [])
        return woken

    def _with_ended(self, phase: Phase, known: Known, live: Threads) -> Known:
        """What a phase passes on: if all threads are counted, those that have ended count as arrived."""
        ended = np.setdiff1d(self.threads, np.concatenate([live, *phase.threads]))
        if phase.count is not None or not ended.size:
            return known
        return self.clocks.join(known, self.clocks.release(ended))

    def ended(self, live: Threads) -> list[Threads]:
        """Threads have ended: barriers of all threads may be complete without them."""
        return [
            who for phase in self.phases.values() if phase.threads for who in self._completed(phase, live)
        ]

    def waiting_for(self, thread: int) -> Phase | None:
        """The barrier that a thread waits at."""
        for phase in self.phases.values():
            if any(thread in who for who in phase.waiting):
                return phase
        return None

    def held_back_at(self, thread: int) -> Phase | None:
        """The barrier that a thread arrives at once more."""
        for number, held in self.held_back.items():
            if any(thread in who for who in held):
                return self.phases[number]
        return None

    def with_cause(self, written: Callable[[Place], Hashable]) -> list[Problem]:
        """What is wrong, the first of it as what the rest may follow from: above all, that nobody waits at a barrier
        where threads arrive, nor at another one where they arrive with the same operation."""
        if not self.problems:
            return []
        waited = {written(self.arrivals[each][0]) for each in self.waits & self.arrivals.keys()}
        for number, (place, thread) in self.arrivals.items():
            if number in self.waits or written(place) in waited:
                continue
            text = f"no thread waits at barrier {number}, where thread {{1}} arrives: nothing comes after its phases"
            fix = f"wait at it (bar.sync {number}) before what its phases are for"
            cause = Problem("FP003", text, (place, place), (thread, thread), fix, causes=True)
            return [cause, *self.problems]
        first, *others = self.problems
        return [replace(first, causes=first.code == "FP003"), *others]


def _how_to_keep_step(arrival: Arrival) -> str:
    """What keeps threads from arriving one phase too early."""
    if arrival.count is not None and arrival.threads.size > arrival.count:
        return (
            f"{arrival.threads.size} threads come here together, and the barrier counts {arrival.count}: make the "
            f"count {arrival.threads.size}, or give each group of {arrival.count} a barrier number of its own"
        )
    return (
        "let those who wait at the barrier say so first, by a barrier with another number, "
        "or use another number for this phase"
    )
