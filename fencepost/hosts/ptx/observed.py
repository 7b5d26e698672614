"""Accesses of one interval of a simulated block, and the races among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.lanes import Bits

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
    epochs: NDArray[np.int64]
    """How many warp barriers each thread had passed."""
    values: tuple[Bits, ...] = ()
    """What is written, four bytes at a time."""
    time: int = 0
    """When it was issued, counted in events."""
    copies: CopyHistory | None = None
    """If it is a copy: what became of it."""


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


@dataclass
class Log:
    """What happened since the last barrier."""

    events: list[Event] = field(default_factory=list)

    def conflicts(self) -> Iterator[Conflict]:
        """The races among the events; one for each pair of instructions and severity in a word."""
        touching = [event for event in self.events if event.threads.size]
        if not any(event.kind != READ for event in touching):
            return
        unit = 4 if all(e.size >= 4 and not (e.addresses & np.uint64(3)).any() for e in touching) else 1
        table = _Table(touching, unit)
        for rows in table.contested():
            yield from table.conflicts_among(rows)


class _Table:
    """Every word (or byte) that every thread touched: one row each."""

    def __init__(self, events: list[Event], unit: int) -> None:
        self.events = events
        self.unit = unit
        words, threads, numbers, values, epochs = [], [], [], [], []
        for number, event in enumerate(events):
            for at in range(event.size // unit):
                words.append(event.addresses + np.uint64(at * unit))
                threads.append(event.threads)
                numbers.append(np.full(event.threads.shape, number))
                values.append(self._written(event, at))
                epochs.append(event.epochs)
        self.words = np.concatenate(words)
        self.threads = np.concatenate(threads)
        self.numbers = np.concatenate(numbers)
        self.values = np.concatenate(values)
        self.epochs = np.concatenate(epochs)
        self.kinds = np.array([event.kind for event in events])[self.numbers]
        known: dict[Place, int] = {}
        self.places = np.array([known.setdefault(event.place, len(known)) for event in events])[self.numbers]
        self.found = np.zeros((len(known), len(known), 2), dtype=np.bool_)
        """For two instructions, and whether the threads are of one warp: a conflict was found. Others are like it."""

    def _written(self, event: Event, at: int) -> Bits:
        if not event.values:
            return np.zeros(event.threads.shape, dtype=np.uint64)
        if self.unit == 4:
            return event.values[at]
        return (event.values[at // 4] >> np.uint64(8 * (at % 4))) & np.uint64(0xFF)

    def contested(self) -> Iterator[NDArray[np.int64]]:
        """The rows of each word that several threads touch and one of them writes."""
        order = np.argsort(self.words, kind="stable")
        words = self.words[order]
        starts = np.flatnonzero(np.r_[True, words[1:] != words[:-1]])
        threads, kinds = self.threads[order], self.kinds[order]
        several = np.maximum.reduceat(threads, starts) != np.minimum.reduceat(threads, starts)
        written = np.maximum.reduceat(kinds, starts) > READ
        ends = np.r_[starts[1:], len(words)]
        chosen = np.flatnonzero(several & written)
        # Spread over the memory, so that different kinds of conflicts are seen.
        step = max(1, len(chosen) // MOST_WORDS)
        for at in chosen[::step]:
            yield order[starts[at] : ends[at]]

    def conflicts_among(self, rows: NDArray[np.int64]) -> Iterator[Conflict]:
        """Conflicts between the rows of one word; those between warps before those within one."""
        kept = np.array(self._one_of_each(rows), dtype=np.int64)
        seen: set[object] = set()
        for first in map(int, kept[self.kinds[kept] != READ][:MOST_WRITES]):
            for second in self._by_warp(kept, first):
                found = None if self.found[self._alike(first, second)] else self._conflict(first, second)
                if found is None:
                    continue
                self.found[self._alike(first, second)] = True
                key = frozenset(found.places), found.severity
                if key not in seen:
                    seen.add(key)
                    yield found

    def _alike(self, first: int, second: int | NDArray[np.int64]) -> tuple[Any, ...]:
        """Where `found` is noted of two rows."""
        same_warp = self.threads[first] // 32 == self.threads[second] // 32
        return self.places[first], self.places[second], same_warp.astype(np.int64)

    def _one_of_each(self, rows: NDArray[np.int64]) -> list[int]:
        """Two rows for each warp and instruction: many lanes of one warp would hide the others."""
        found: dict[object, list[int]] = {}
        for row in map(int, rows):
            lanes = found.setdefault((int(self.threads[row]) // 32, int(self.numbers[row])), [])
            if len(lanes) < 2 or (self.values[row] != self.values[lanes[0]] and len(lanes) == 2):
                lanes.append(row)
        return [row for lanes in found.values() for row in lanes]

    def _by_warp(self, rows: NDArray[np.int64], first: int) -> list[int]:
        """Those of other warps before those of its own; not its own thread, nor what a conflict is known of."""
        rows = rows[~self.found[self._alike(first, rows)] & (self.threads[rows] != self.threads[first])]
        same_warp = self.threads[rows] // 32 == self.threads[first] // 32
        return [*map(int, rows[~same_warp]), *map(int, rows[same_warp])]

    def _conflict(self, first: int, second: int) -> Conflict | None:
        threads = int(self.threads[first]), int(self.threads[second])
        kinds = int(self.kinds[first]), int(self.kinds[second])
        if threads[0] == threads[1] or kinds == (ATOMIC, ATOMIC):
            return None
        if kinds == (WRITE, WRITE) and self.values[first] == self.values[second]:
            return None
        events = self.events[int(self.numbers[first])], self.events[int(self.numbers[second])]
        same_warp = threads[0] // 32 == threads[1] // 32
        if same_warp and self.epochs[first] != self.epochs[second]:
            return None
        together = events[0].place == events[1].place
        atomic = ATOMIC in kinds
        # A plain store can undo an atomic update, or be lost in one; a plain load sees a value that was there.
        mild = atomic and READ in kinds
        severe = not mild and (not same_warp or together)
        return Conflict(
            (events[0].place, events[1].place),
            threads,
            int(self.words[first]),
            self.unit,
            "error" if severe else "warning",
            atomic,
            _copy_before(events, threads),
            (events[0].time, events[1].time),
        )


def _copy_before(events: tuple[Event, Event], threads: tuple[int, int]) -> CopyInRace | None:
    """The one of two events that is a copy, if it was issued first, as it was when the other one came."""
    first = 0 if events[0].time <= events[1].time else 1
    event, now = events[first], events[1 - first].time
    copies = event.copies
    if copies is None:
        return None
    lane = int(np.flatnonzero(event.threads == threads[first])[0])
    refills = bool(copies.refills[lane])
    if copies.completed_by is not None and copies.completed_by.time < now:
        return CopyInRace(event.place, True, copies.completed_by.place, 0, refills)
    for wait in reversed(copies.waits):
        if event.time < wait.time < now:
            found = np.flatnonzero(wait.threads == threads[first])
            if found.size:
                newest = int(wait.groups[found[0]] - copies.groups[lane])
                return CopyInRace(event.place, False, wait.place if newest > 0 else None, newest, refills)
    return CopyInRace(event.place, False, None, 0, refills)
