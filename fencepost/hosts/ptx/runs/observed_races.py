"""Accesses of one interval of a simulated block, and the races among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.launches.thread_names import WARP
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.runs.warp_clocks import WarpClocks

READ, WRITE, ATOMIC = 0, 1, 2
MOST_WORDS = 600
"""How many contested words are looked at in one interval."""
MOST_WRITES = 12


@dataclass(frozen=True)
class WaitEvent:
    """One wait for copies by some threads: when, and how many groups each had committed then."""

    place: Place
    time: int
    threads: NDArray[np.int64]
    groups: NDArray[np.int64]


@dataclass(frozen=True)
class CopyHistory:
    """For copies of some threads: what became of each."""

    groups: NDArray[np.int64]
    """The commit group of each thread's."""
    refills: NDArray[np.bool_]
    """Whether its bytes had been written before."""
    waits: Sequence[WaitEvent]
    """The last waits of all threads, in order."""
    completed_by: WaitEvent | None = None
    """The wait that completed the copies, if one did."""


@dataclass(frozen=True)
class CopyInRace:
    """A copy of one thread as it was when another thread touched its bytes."""

    place: Place
    complete: bool
    wait: Place | None
    """The wait that had completed it, or had left it in flight; None if there was none since it was issued."""
    newest: int
    """When that wait left it in flight: in which group it was, counted from the newest (1)."""
    refills: bool


@dataclass(frozen=True)
class Event:
    """One instruction carried out by some threads: which bytes each touched, and what it wrote there."""

    place: Place
    kind: int
    size: int
    threads: NDArray[np.int64]
    addresses: Bits
    knowledge: NDArray[np.int64]
    """What each thread knew of the others of its warp: the number of a row of `WarpClocks`."""
    values: tuple[Bits, ...] = ()
    """What is written, four bytes at a time."""
    time: int = 0
    """When it was issued, counted in events."""
    complete: int = 0
    """When it was complete: a copy, when its thread had waited for it."""
    strong: bool = False
    """Whether it is strong, as atomics are: a volatile load, for example."""
    copies: CopyHistory | None = None
    """If it is a copy: what became of it."""
    element: int = 0
    """Bytes of one operation, of which it may have several."""


@dataclass(frozen=True)
class Conflict:
    """Two accesses to one byte that nothing orders."""

    places: tuple[Place, Place]
    threads: tuple[int, int]
    address: int
    size: int
    severity: Literal["error", "warning"]
    atomic: bool
    copy: CopyInRace | None = None
    """The copy that was issued before the other access, if that is what races."""
    times: tuple[int, int] = (0, 0)
    """When the two happened, counted in events of the run."""

    @property
    def kind(self) -> tuple[frozenset[Place], str, bool]:
        """What one conflict is enough of: two instructions, how bad it is, and whether it takes two warps."""
        return frozenset(self.places), self.severity, self.in_one_warp

    @property
    def in_one_warp(self) -> bool:
        """Whether two threads of one warp are all that is known to race."""
        return self.threads[0] // WARP == self.threads[1] // WARP


@dataclass
class Log:
    """What happened since the last barrier."""

    clocks: WarpClocks
    events: list[Event] = field(default_factory=list)
    warp_synchronous: bool = False
    """Whether the threads of a warp run in step: then no two of them race at different instructions."""

    def conflicts(self) -> Iterator[Conflict]:
        """The races among the events; one of each kind."""
        touching = [event for event in self.events if event.threads.size]
        if not any(event.kind != READ for event in touching):
            return
        unit = 4 if all(e.size >= 4 and not (e.addresses & np.uint64(3)).any() for e in touching) else 1
        table = _Table(touching, unit, self.clocks.rows(), self.warp_synchronous)
        for rows in table.contested():
            yield from table.conflicts_among(rows)


def _changes(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows differ from the one before; the first does."""
    found = np.zeros(len(columns[0]), dtype=bool)
    found[:1] = True
    for column in columns:
        found[1:] |= column[1:] != column[:-1]
    return found


class _Table:
    """Every word (or byte) that every thread touched: one row each."""

    def __init__(
        self, events: list[Event], unit: int, known: NDArray[np.int64], warp_synchronous: bool
    ) -> None:
        self.events = events
        self.known = known
        self.warp_synchronous = warp_synchronous
        self.unit = unit
        self.seen: set[object] = set()
        """The kinds of conflicts that were found; others are like them."""
        words, threads, numbers, values, knowledge = [], [], [], [], []
        for number, event in enumerate(events):
            for at in range(event.size // unit):
                words.append(event.addresses + np.uint64(at * unit))
                threads.append(event.threads)
                numbers.append(np.full(event.threads.shape, number))
                values.append(self._written(event, at))
                knowledge.append(event.knowledge)
        self.words = np.concatenate(words)
        self.threads = np.concatenate(threads)
        self.numbers = np.concatenate(numbers)
        self.values = np.concatenate(values)
        self.knowledge = np.concatenate(knowledge)
        self.warps = self.threads // WARP
        self.kinds = np.array([event.kind for event in events])[self.numbers]
        self.times = np.array([event.time for event in events])[self.numbers]
        self.complete = np.array([event.complete for event in events])[self.numbers]
        self.strong = np.array([event.strong for event in events])[self.numbers]
        self.elements = np.array([event.element for event in events])[self.numbers]
        number_of = {place: number for number, place in enumerate({event.place: None for event in events})}
        self.number_of_places = len(number_of)
        self.places = np.array([number_of[event.place] for event in events])[self.numbers]

    def _written(self, event: Event, at: int) -> Bits:
        if not event.values:
            return np.zeros(event.threads.shape, dtype=np.uint64)
        if self.unit == 4:
            return event.values[at]
        return (event.values[at // 4] >> np.uint64(8 * (at % 4))) & np.uint64(0xFF)

    def contested(self) -> Iterator[NDArray[np.int64]]:
        """The rows of each word that several threads touch and one of them writes; of many alike, a few."""
        order = np.argsort(self.words, kind="stable")
        starts = np.flatnonzero(_changes(self.words[order]))
        threads, kinds = self.threads[order], self.kinds[order]
        several = np.maximum.reduceat(threads, starts) != np.minimum.reduceat(threads, starts)
        written = np.maximum.reduceat(kinds, starts) > READ
        ends = np.append(starts[1:], len(order))
        chosen = np.flatnonzero(several & written)
        if not chosen.size:
            return
        # Spread over the memory, so that different kinds of conflicts are seen.
        step = max(1, len(chosen) // MOST_WORDS)
        kept = self._one_of_each(np.concatenate([order[starts[at] : ends[at]] for at in chosen[::step]]))
        yield from np.split(kept, np.flatnonzero(_changes(self.words[kept]))[1:])

    def conflicts_among(self, rows: NDArray[np.int64]) -> Iterator[Conflict]:
        """Conflicts between the rows of one word, of kinds that were not found before: those between warps first."""
        for first in rows[self.kinds[rows] != READ][:MOST_WRITES]:
            others = rows[self._races(int(first), rows)]
            if not others.size:
                continue
            same_warp = self.warps[others] == self.warps[first]
            polls = self._polls(int(first), others)
            # One number for the three, in their order: rows of an array are compared far more slowly.
            kinds = (same_warp * self.number_of_places + self.places[others]) * 2 + polls
            for one in np.unique(kinds, return_index=True)[1]:
                second, polled = int(others[one]), bool(polls[one])
                pair = frozenset((int(self.places[first]), int(self.places[second])))
                kind = pair, bool(same_warp[one]), polled
                if kind not in self.seen:
                    self.seen.add(kind)
                    yield self._conflict(int(first), second, polled)

    def _one_of_each(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of each word, two rows for each warp and instruction, and one with another value: many lanes of one warp
        would hide the others."""
        rows = rows[np.lexsort((rows, self.warps[rows], self.numbers[rows], self.words[rows]))]
        begins = _changes(self.words[rows], self.warps[rows], self.numbers[rows])
        start = np.flatnonzero(begins)[np.cumsum(begins) - 1]
        values = self.values[rows]
        differs = values != values[start]
        earlier = np.cumsum(differs) - differs
        first_to_differ = differs & (earlier == earlier[start])
        near = np.arange(len(rows)) - start < 2
        kept = rows[near | first_to_differ]
        by_word: NDArray[np.int64] = kept[np.lexsort((kept, self.words[kept]))]
        return by_word

    def _races(self, first: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows of the same word race with a write."""
        kind, kinds = self.kinds[first], self.kinds[rows]
        found: NDArray[np.bool_] = self.threads[rows] != self.threads[first]
        if kind == ATOMIC:
            found &= (kinds != ATOMIC) | (self.elements[rows] != self.elements[first])
        if kind == WRITE:
            found &= (kinds != WRITE) | (self.values[rows] != self.values[first])
        same_warp = self.warps[rows] == self.warps[first]
        if not (found & same_warp).any():
            return found
        found &= ~(same_warp & self._have_met(first, rows))
        if self.warp_synchronous:
            found &= ~same_warp | (self.places[rows] == self.places[first])
        return found

    def _have_met(self, first: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the threads of two rows, if of one warp, have met between their accesses, when the earlier one was
        complete."""
        is_later = self.times[rows] > self.times[first]
        lanes = np.where(is_later, self.threads[first], self.threads[rows]) % WARP
        knowledge = np.where(is_later, self.knowledge[rows], self.knowledge[first])
        complete = np.where(is_later, self.complete[first], self.complete[rows])
        met: NDArray[np.bool_] = self.known[knowledge, lanes] >= complete
        return met

    def _polls(self, first: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Loads beside an atomic that are strong themselves, such as those that poll a flag: no data race."""
        polls: NDArray[np.bool_] = (
            self.strong[rows] & (self.kinds[rows] == READ) & (self.kinds[first] == ATOMIC)
        )
        return polls

    def _conflict(self, first: int, second: int, polls: bool) -> Conflict:
        threads = int(self.threads[first]), int(self.threads[second])
        events = self.events[int(self.numbers[first])], self.events[int(self.numbers[second])]
        return Conflict(
            (events[0].place, events[1].place),
            threads,
            int(self.words[first]),
            self.unit,
            "warning" if polls else "error",
            ATOMIC in (self.kinds[first], self.kinds[second]),
            _copy_before(events, threads),
            (events[0].time, events[1].time),
        )


def _copy_before(events: tuple[Event, Event], threads: tuple[int, int]) -> CopyInRace | None:
    """The one of two events that is a copy, if it was issued first, as it was when the other one came."""
    first = 0 if events[0].time <= events[1].time else 1
    return copy_at(events[first], threads[first], events[1 - first].time)


def copy_at(event: Event, thread: int, now: int) -> CopyInRace | None:
    """What has become of a thread's copy by some time; None if the event is no copy."""
    copies = event.copies
    if copies is None:
        return None
    lane = int(np.flatnonzero(event.threads == thread)[0])
    refills = bool(copies.refills[lane])
    if copies.completed_by is not None and copies.completed_by.time < now:
        return CopyInRace(event.place, True, copies.completed_by.place, 0, refills)
    for wait in reversed(copies.waits):
        if event.time < wait.time < now:
            found = np.flatnonzero(wait.threads == thread)
            if found.size:
                newest = int(wait.groups[found[0]] - copies.groups[lane])
                return CopyInRace(event.place, False, wait.place if newest > 0 else None, newest, refills)
    return CopyInRace(event.place, False, None, 0, refills)
