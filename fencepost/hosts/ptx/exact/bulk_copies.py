"""Bulk copies (TMA): into shared memory, which end with a phase of an mbarrier, and out of it, which end with a wait.

How large the box of a tensor copy is stands in its tensor map, which the kernel is only given. It is worked out from
the bytes that a phase expects and from where its copies go; a verdict names the boxes that it was given for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.clocks import Threads
from fencepost.hosts.ptx.exact.mbarriers import Operation
from fencepost.hosts.ptx.exact.problems import NotExact, Problem
from fencepost.hosts.ptx.exact.shadow import NOBODY, Touch
from fencepost.hosts.ptx.intervals import Place

if TYPE_CHECKING:
    from fencepost.hosts.ptx.exact.run import Run


class BulkCopies:
    """The bulk copies of one run."""

    def __init__(self, run: Run, boxes: Mapping[object, int] | None) -> None:
        self.run = run
        self.boxes: dict[object, int] = dict(boxes or {})
        self.reading: dict[int, tuple[int, int, Place]] = {}
        """By thread, the column and clock of its last copy out of shared memory, and where it was issued."""
        self.seen: set[object] = set()
        """The tensor maps that copies used."""
        self.groups = np.zeros(run.count, dtype=np.int64)

    def issue(self, form: forms.BulkCopy, place: Place, who: Threads) -> list[Threads]:
        """Threads issue a copy each; the threads that can go on because of its bytes."""
        run = self.run
        where = run.shared_addresses(form.address, who, place)
        sizes = run.certain(form.size, who, 32, place) if form.size is not None else None
        woken = []
        for number, thread in enumerate(map(int, who)):
            start = int(where[number])
            key = self._tensor_map(form, place, thread)
            size = int(sizes[number]) if sizes is not None else self._box(key, place)
            if form.mbarrier is None:
                self._out(place, thread, start, size or self._staged(key, start))
            else:
                barrier = int(run.shared_addresses(form.mbarrier, who[number : number + 1], place)[0])
                woken += self._in(place, thread, (start, size, barrier), key)
        return woken

    def _box(self, key: object, place: Place) -> int:
        """The bytes of a tensor map's box; 0 if they are not known yet."""
        if key in self.run.made_boxes:
            self.boxes[key] = self.run.made_boxes[key]
            if not self.boxes[key]:
                raise NotExact("a copy by a tensor map that the kernel makes, whose box is not known", place)
        return self.boxes.get(key, 0)

    def _tensor_map(self, form: forms.BulkCopy, place: Place, thread: int) -> object:
        if form.tensor_map is None:
            return None
        who = np.array([thread])
        made_up = self.run.made_up.of(form.tensor_map, who).any()
        found = place if made_up else int(self.run.read(form.tensor_map, who, 64).bits[0])
        self.seen.add(found)
        return found

    def _in(self, place: Place, thread: int, what: tuple[int, int, int], key: object) -> list[Threads]:
        start, size, barrier = what
        run, who = self.run, np.array([thread])
        found = run.mbarriers.objects.get(barrier)
        if found is None:
            run.not_made(place, barrier, who)
            return []
        run.mbarrier_at(place, barrier, who)
        if size:
            column, clock = np.array([found.column]), np.array([found.completed + 1], dtype=np.int32)
            kept, starts = run.inside(place, who, np.array([start], dtype=np.uint64), size)
            if kept.size:
                run.touch(
                    Touch(
                        "write",
                        run.number_of(place),
                        kept,
                        starts.astype(np.int64),
                        size,
                        column,
                        clock,
                        True,
                    )
                )
                run.spoil(starts, size)
        elif not run.mbarriers.lazy:
            raise NotExact("a tensor copy whose box is not known", place)
        return run.mbarriers.bring(found, Operation(place, who, size), key, start)

    def _out(self, place: Place, thread: int, start: int, size: int) -> None:
        run, who = self.run, np.array([thread])
        if not size:
            raise NotExact("a tensor copy whose box is not known", place)
        column = np.array([run.clocks.column(("bulk", thread), thread, False)])
        clock = np.array([self.groups[thread] + 1], dtype=np.int32)
        self.reading[thread] = (int(column[0]), int(clock[0]), place)
        kept, starts = run.inside(place, who, np.array([start], dtype=np.uint64), size)
        if kept.size:
            run.touch(
                Touch("read", run.number_of(place), kept, starts.astype(np.int64), size, column, clock, True)
            )

    def _staged(self, key: object, start: int) -> int:
        """What was written from an address on without a gap: a copy out of it is taken to be of that."""
        shadow = self.run.shadows[start // self.run.memory.span]
        cell = (start - shadow.base) // shadow.unit
        end = cell
        objects = {(each - shadow.base) // shadow.unit for each in self.run.mbarriers.objects}
        while end < len(shadow.rows) and end not in objects:
            row = int(shadow.rows[end])
            if row == NOBODY or shadow.writer[row] == NOBODY:
                break
            end += 1
        size = (end - cell) * shadow.unit
        if size:
            self.boxes[key] = size
        return size

    def unfinished(self) -> list[Problem]:
        """Copies that may still read shared memory when the block ends, and its memory is given to another."""
        return [
            Problem(
                "FP001",
                "the block can end while a copy that thread {1} issued still reads its shared memory",
                (place, place),
                (thread, thread),
                "wait for the copies before the end: cp.async.bulk.wait_group.read 0",
            )
            for thread, (column, clock, place) in self.reading.items()
            if self.run.clocks.seen[thread, column] < clock
        ]

    def group(self, left: int | None, who: Threads) -> None:
        """A commit, or a wait that leaves so many groups."""
        if left is None:
            self.groups[who] += 1
            return
        for thread in map(int, who):
            column = self.run.clocks.column(("bulk", thread), thread, False)
            self.run.clocks.learn(np.array([thread]), column, int(self.groups[thread]) - left)


def worked_out(
    brought: Mapping[tuple[int, int], list[tuple[object, int, int]]], expected: Mapping[tuple[int, int], int]
) -> dict[object, int] | None:
    """The boxes of tensor maps, from what each phase expects and where its copies go; None if nothing fits."""
    phases = _with_unknown_boxes(brought, expected)
    maps = sorted({each for unknown, _ in phases for each in unknown}, key=str)
    starts = sorted({to for copies in brought.values() for _, to, _ in copies})
    room = {each: _room(each, brought, starts) for each in maps}
    for rest in [None, *maps]:
        boxes = {each: room[each] for each in maps if each != rest}
        if rest is not None and not _remainder(boxes, rest, phases):
            continue
        if all(0 < boxes[each] <= room[each] for each in maps) and _fits(boxes, phases):
            return boxes
    alike = {each: total // len(unknown) for unknown, total in phases for each in unknown}
    return alike if _fits(alike, phases) and all(alike[each] <= room[each] for each in maps) else None


def _with_unknown_boxes(
    brought: Mapping[tuple[int, int], list[tuple[object, int, int]]], expected: Mapping[tuple[int, int], int]
) -> list[tuple[list[object], int]]:
    """For each phase with such copies: the tensor maps whose boxes are not known, and how many bytes they bring."""
    phases = []
    for key, copies in brought.items():
        unknown = [tensor_map for tensor_map, _, size in copies if not size]
        if unknown:
            phases.append((unknown, expected.get(key, 0) - sum(size for _, _, size in copies)))
    return phases


def _room(
    tensor_map: object, brought: Mapping[tuple[int, int], list[tuple[object, int, int]]], starts: list[int]
) -> int:
    """How far it is from where a map's copies go to where the next copy goes."""
    gaps = [
        min((each for each in starts if each > to), default=to + (1 << 20)) - to
        for copies in brought.values()
        for key, to, _ in copies
        if key == tensor_map
    ]
    return min(gaps)


def _remainder(boxes: dict[object, int], rest: object, phases: list[tuple[list[object], int]]) -> bool:
    """Gives one map what is left in the first phase that has it."""
    for unknown, total in phases:
        times = unknown.count(rest)
        if times:
            left = total - sum(boxes[each] for each in unknown if each != rest)
            boxes[rest] = left // times
            return left > 0 and left % times == 0
    return False


def _fits(boxes: dict[object, int], phases: list[tuple[list[object], int]]) -> bool:
    return all(sum(boxes[each] for each in unknown) == total for unknown, total in phases)
