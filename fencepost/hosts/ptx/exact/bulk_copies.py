"""Bulk copies (TMA): into shared memory, which end with a phase of an mbarrier, and out of it, which end with a wait.

How large the box of a tensor copy is stands in its tensor map, which the kernel is only given: see `tensor_boxes`. A
verdict names the boxes that it was given for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.clocks import Clock, Threads
from fencepost.hosts.ptx.exact.mbarriers import SIZE, Mbarrier, Operation
from fencepost.hosts.ptx.exact.problems import NotExact, Problem
from fencepost.hosts.ptx.exact.shadow import NOBODY, Kind, Touch
from fencepost.hosts.ptx.proof.intervals import Place

if TYPE_CHECKING:
    from fencepost.hosts.ptx.exact.run import Run


@dataclass(frozen=True)
class Copy:
    """A copy that one thread issues: where it goes (or comes from), its bytes (0: not known yet), its tensor map."""

    place: Place
    thread: int
    start: int
    size: int
    tensor_map: object


class BulkCopies:
    """The bulk copies of one run."""

    def __init__(self, run: Run, boxes: Mapping[object, int] | None) -> None:
        self.run = run
        self.boxes: dict[object, int] = dict(boxes or {})
        self.reading: dict[int, tuple[int, int, Place]] = {}
        """By thread, the column and clock of its last copy out of shared memory, and where it was issued."""
        self.writing: dict[tuple[int, int], tuple[int, Place, int]] = {}
        """By block and column of an mbarrier, the phase of the last copy of the block's own, where it was issued, and
        by whom."""
        self.seen: set[object] = set()
        """The tensor maps that copies used."""
        self.groups = np.zeros(run.count, dtype=np.int64)

    def issue(self, form: forms.BulkCopy, place: Place, who: Threads) -> list[Threads]:
        """Threads issue a copy each; the threads that can go on because of its bytes."""
        run = self.run
        run.mbarriers.come(place, who)
        where = run.shared_addresses(form.address, who, place, form.near)
        sizes = run.certain(form.size, who, 32, place) if form.size is not None else None
        woken = []
        for number, thread in enumerate(map(int, who)):
            start = int(where[number])
            key = self._tensor_map(form, place, thread)
            size = int(sizes[number]) if sizes is not None else self._box(key, place)
            if form.mbarrier is None:
                self._out(place, thread, start, size or self._staged(key, start))
            else:
                woken += self._bring(form, Copy(place, thread, start, size, key))
        return woken

    def _bring(self, form: forms.BulkCopy, copy: Copy) -> list[Threads]:
        """A copy into shared memory, of one block or of those that a mask names."""
        run, who = self.run, np.array([copy.thread])
        assert form.mbarrier is not None
        barrier = int(run.shared_addresses(form.mbarrier, who, copy.place)[0])
        if form.blocks is None:
            self._same_block(form, copy, barrier)
            source = None
            if form.source is not None:
                source = int(run.shared_addresses(form.source, who, copy.place, near=True)[0])
            return self._in(copy, barrier, source, form.updates)
        mask = int(run.certain(form.blocks, who, 16, copy.place)[0])
        if not mask or mask >> run.cluster_size:
            raise NotExact(f"a copy into blocks {mask:#x} of a cluster of {run.cluster_size}", copy.place)
        span, woken = run.memory.span, []
        for rank in (each for each in range(run.cluster_size) if mask >> each & 1):
            to = rank * span + copy.start % span
            # Of a pair, the block that the mbarrier is in gets the bytes of both.
            counting = rank & ~1 | barrier // span & 1 if form.for_pair else rank
            woken += self._in(replace(copy, start=to), counting * span + barrier % span, None, False)
        return woken

    def _same_block(self, form: forms.BulkCopy, copy: Copy, barrier: int) -> None:
        """Bytes and the mbarrier that counts them are in one block, or in one pair."""
        span = self.run.memory.span
        blocks = copy.start // span, barrier // span
        if blocks[0] != blocks[1] and not (form.for_pair and blocks[0] // 2 == blocks[1] // 2):
            self._strays(copy.place, copy.thread, blocks)

    def _strays(self, place: Place, thread: int, blocks: tuple[int, int]) -> None:
        text = f"thread {{1}} writes to block {blocks[0]} and has block {blocks[1]} count the bytes"
        fix = "give the mbarrier of the block that is written to (mapa with the same rank)"
        self.run.found.problems.append(Problem("FP006", text, (place, place), (thread, thread), fix))

    def store(self, form: forms.AsyncStore, place: Place, who: Threads) -> list[Threads]:
        """`st.async` and `red.async`."""
        run, woken = self.run, []
        run.mbarriers.come(place, who)
        where = run.shared_addresses(form.address, who, place)
        barriers = run.shared_addresses(form.mbarrier, who, place)
        for barrier in map(int, np.unique(barriers)):
            here = barriers == barrier
            found = run.mbarriers.used(barrier, place, who[here])
            if found is None:
                run.not_made(place, barrier, who[here])
                continue
            kept, starts = run.inside(place, who[here], where[here], form.size)
            if not kept.size:
                continue
            stray = np.flatnonzero(starts // np.uint64(run.memory.span) != barrier // run.memory.span)
            if stray.size:
                to = int(starts[stray[0]]) // run.memory.span
                self._strays(place, int(kept[stray[0]]), (to, barrier // run.memory.span))
            self.used(place, who[here], found, (found.plain, found.completed + 1))
            column = np.full(kept.shape, found.plain)
            clock = np.full(kept.shape, found.completed + 1, dtype=np.int32)
            kind: Kind = "atomic" if form.updates else "write"
            at = starts.astype(np.int64)
            touch = Touch(kind, run.number_of(place), kept, at, form.size, column, clock, in_order=False)
            run.touch(replace(touch, element=form.updates))
            run.mbarriers.overwrite(starts, form.size, place, kept)
            run.spoil(starts, form.size)
            self._note(found, place, kept, int(at[0]))
            woken += run.mbarriers.bring(found, Operation(place, who[here], form.size), None, int(at[0]))
        return woken

    def _note(self, found: Mbarrier, place: Place, who: Threads, start: int) -> None:
        """Notes copies that threads bring to their own block; what comes from others is seen to by `lifetimes`."""
        rank = start // self.run.memory.span
        near = who[self.run.ranks[who] == rank]
        if near.size:
            self.writing[rank, found.column] = (found.completed + 1, place, int(near[0]))

    def used(self, place: Place, who: Threads, found: Mbarrier, when: tuple[int, int]) -> None:
        """An engine arrives at an mbarrier or brings bytes, some time until a column has come so far."""
        starts = np.full(who.shape, found.address, dtype=np.int64)
        clock = np.full(who.shape, when[1], dtype=np.int32)
        columns = np.full(who.shape, when[0])
        touch = Touch("atomic", self.run.number_of(place), who, starts, SIZE, columns, clock, element=SIZE)
        self.run.touch(touch)

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

    def _in(self, copy: Copy, barrier: int, source: int | None, updates: int) -> list[Threads]:
        run, who, place = self.run, np.array([copy.thread]), copy.place
        found = run.mbarriers.used(barrier, place, who)
        if found is None:
            run.not_made(place, barrier, who)
            return []
        self.used(place, who, found, (found.column, found.completed + 1))
        if copy.size:
            clock = np.array([found.completed + 1], dtype=np.int32)
            kind: Kind = "atomic" if updates else "write"
            self._touch(copy, copy.start, kind, (found.column, clock), updates)
            if source is not None:
                read = self._touch(copy, source, "read", (found.column, clock))
                if read is not None and run.lifetimes is not None:
                    run.lifetimes.outlived(read)
        elif not run.mbarriers.lazy:
            raise NotExact("a tensor copy whose box is not known", place)
        self._note(found, place, who, copy.start)
        return run.mbarriers.bring(found, Operation(place, who, copy.size), copy.tensor_map, copy.start)

    def _touch(
        self, copy: Copy, start: int, kind: Kind, when: tuple[int, Clock], element: int = 0
    ) -> Touch | None:
        """The engine reads or writes the bytes of a copy."""
        run = self.run
        who, where = np.array([copy.thread]), np.array([start], dtype=np.uint64)
        kept, starts = run.inside(copy.place, who, where, copy.size)
        if not kept.size:
            return None
        number, column = run.number_of(copy.place), np.array([when[0]])
        touch = Touch(kind, number, kept, starts.astype(np.int64), copy.size, column, when[1], True)
        run.touch(replace(touch, element=element))
        if kind != "read":
            run.mbarriers.overwrite(starts, copy.size, copy.place, kept)
            run.spoil(starts, copy.size)
        return touch

    def _out(self, place: Place, thread: int, start: int, size: int) -> None:
        run = self.run
        if not size:
            raise NotExact("a tensor copy whose box is not known", place)
        column = run.clocks.column(("bulk", thread), thread, False)
        clock = np.array([self.groups[thread] + 1], dtype=np.int32)
        self.reading[thread] = (column, int(clock[0]), place)
        self._touch(Copy(place, thread, start, size, None), start, "read", (column, clock))

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
        """Copies that may still use shared memory when the block ends, and its memory is given to another."""
        run = self.run
        found = [
            ("reads", thread, place)
            for thread, (column, clock, place) in self.reading.items()
            if run.clocks.seen[thread, column] < clock
        ]
        for (rank, column), (clock, place, thread) in self.writing.items():
            if run.clocks.order[run.ranks == rank, column].max() < clock:
                found.append(("writes", thread, place))
        fixes = {
            "reads": "wait for the copies before the end: cp.async.bulk.wait_group.read 0",
            "writes": "wait for the mbarrier of the copy before the end",
        }
        return [
            Problem(
                "FP001",
                f"the block can end while a copy that thread {{1}} issued still {does} its shared memory",
                (place, place),
                (thread, thread),
                fixes[does],
            )
            for does, thread, place in found
        ]

    def group(self, left: int | None, who: Threads) -> None:
        """A commit, or a wait that leaves so many groups."""
        if left is None:
            self.groups[who] += 1
            return
        for thread in map(int, who):
            column = self.run.clocks.column(("bulk", thread), thread, False)
            self.run.clocks.learn(np.array([thread]), column, int(self.groups[thread]) - left)
