"""Who touched each byte of shared memory last, and whether a new access is ordered after that.

Shared memory is cut into cells, as large as the accesses allow. A cell has one last write and, for each column, the
clock of its last read, of its last atomic, and of writes of the same value that nothing orders (which is allowed). A
write that comes after all of them takes their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.exact.clocks import Clock, Clocks, Threads

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint64]
Kind = Literal["read", "write", "atomic"]
LARGEST_CELL = 16
WARP = 32
NOBODY = SEVERAL = -1
OF_SIZE = "atomics of "
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MADE_UP = np.uint64(1 << 63)
"""Is set in what stands for four bytes that depend on data; other four bytes are themselves."""


@dataclass(frozen=True)
class Touch:
    """One instruction that some threads carry out: who, where, in which columns and with which clocks."""

    kind: Kind
    place: int
    threads: Threads
    starts: Numbers
    size: int
    columns: Numbers
    clocks: Clock
    engine: bool = False
    """Made through the async proxy."""
    in_order: bool = True
    """Whether it is made behind what its column did before; engines keep no order among what they do."""
    values: tuple[Bits, ...] | None = None
    """What is written, four bytes at a time, or a number for it; None if that was not computed."""
    made_up: bool = False
    """Whether some of these values depend on data: different ones may then be equal after all."""
    reach: Literal["", "narrow", "far"] = ""
    """Of an atomic in a cluster: atomic among the threads of its block alone (`.cta`), or of another block."""
    element: int = 0
    """Bytes of each operation of an atomic: those of other sizes are none for it."""

    def part(self, some: Numbers, base: int) -> Touch:
        """Some of the threads alone, with addresses that are counted from a base."""
        return replace(
            self,
            threads=self.threads[some],
            starts=self.starts[some] - base,
            columns=self.columns[some],
            clocks=self.clocks[some],
            values=None if self.values is None else tuple(each[some] for each in self.values),
        )


@dataclass(frozen=True)
class UnorderedAccesses:
    """Two accesses to a cell that are not ordered, or that only lack a proxy fence."""

    places: tuple[int, int]
    threads: tuple[int, int]
    columns: tuple[int, int]
    kinds: tuple[Kind, Kind]
    address: int
    size: int
    proxy: bool = False
    perhaps_equal: bool = False
    """Two writes whose values were not computed."""
    data_dependent: bool = False
    """An address depends on data: perhaps they never meet."""
    known: int = 0
    """How far the second thread knows the column of the first one to have come."""


@dataclass(frozen=True)
class Cells:
    """The cells of one access: each with its row of the tables, and which of the threads touches it."""

    touch: Touch
    cells: Numbers
    rows: Numbers
    who: Numbers
    values: Bits | None

    def issuers(self, some: Numbers) -> Threads:
        """The threads that touch some of the cells."""
        return self.touch.threads[self.who[some]]


class Shadow:
    """The cells of one memory, such as a block's shared memory, which begins at `base` among all addresses."""

    def __init__(self, clocks: Clocks, size: int, base: int = 0) -> None:
        self.clocks = clocks
        self.base = base
        self.unit = LARGEST_CELL
        self.rows: Numbers = np.full(size // self.unit + 1, NOBODY, dtype=np.int64)
        """Which row of the tables a cell has; cells that nobody touched have none."""
        self.count = 0
        self.writer: Numbers = np.zeros(0, dtype=np.int64)
        self.written: Clock = np.zeros(0, dtype=np.int32)
        self.wrote: Numbers = np.zeros(0, dtype=np.int64)
        self.values: Bits = np.zeros(0, dtype=np.uint64)
        self.valued: Flags = np.zeros(0, dtype=bool)
        self.issuer: Numbers = np.zeros(0, dtype=np.int64)
        """Which thread issued the last write: copies of several threads arrive on one mbarrier, in one column."""
        self.issued: dict[tuple[int, int], int] = {}
        """By column and place, the last thread that issued something that engines do."""
        self.tables: dict[str, Clock] = {}
        """Clocks by cell and column: of `reads`, of `atomics`, and of `writes` besides the last one."""
        self.places: NDArray[np.int16] = np.zeros((0, 0), dtype=np.int16)
        """Where each column last touched a cell, other than by the last write."""
        self.several: Flags = np.zeros(0, dtype=bool)
        """Cells that have writes besides the last one."""
        self.element = 0
        """The bytes of each atomic operation, if all had the same; each size has a table of its own otherwise."""
        self.relied = False
        """Whether writes of made-up values were taken as equal."""
        self.unwritten: int | None = None
        """Where an engine read a cell that nothing had written."""
        self.unwritten_by_threads: int | None = None
        """Where a thread did."""
        self._marks: Numbers = np.zeros(0, dtype=np.int64)
        """Who touched each cell last in one access."""
        self._columns: Numbers = np.zeros(0, dtype=np.int64)
        """The columns that the tables have, which are those that touched this memory."""
        self._places_of_columns: Numbers = np.full(clocks.width, NOBODY, dtype=np.int64)
        """Where the tables have a column."""

    # ---- rows

    def _refine(self, unit: int) -> None:
        """Cuts every cell into smaller ones."""
        times = self.unit // unit
        self.clocks.spend((times - 1) * self.places.size * (2 + 4 * len(self.tables)))
        rows = np.repeat(self.rows, times)
        used = rows != NOBODY
        rows[used] = rows[used] * times + np.tile(np.arange(times), len(self.rows))[used]
        self.rows = rows
        for name in ("writer", "written", "wrote", "values", "valued", "issuer", "places", "several"):
            setattr(self, name, np.repeat(getattr(self, name), times, axis=0))
        for name, table in self.tables.items():
            self.tables[name] = np.repeat(table, times, axis=0)
        # What a whole cell was given says nothing of its parts.
        self.valued[:] = False
        self.count *= times
        self.unit = unit

    def _rows_of(self, cells: Numbers) -> Numbers:
        fresh = np.unique(cells[self.rows[cells] == NOBODY])
        if fresh.size:
            self.rows[fresh] = np.arange(self.count, self.count + fresh.size)
            self.count += fresh.size
        self._reserve()
        return self.rows[cells]

    def _in_tables(self, columns: Numbers) -> Numbers:
        """Where the tables have columns; those that they lack are added."""
        if self._places_of_columns.size < self.clocks.width:
            more = self.clocks.width - self._places_of_columns.size
            self._places_of_columns = np.pad(self._places_of_columns, (0, more), constant_values=NOBODY)
        found = self._places_of_columns[columns]
        fresh = np.unique(columns[found == NOBODY])
        if not fresh.size:
            return found
        self._places_of_columns[fresh] = np.arange(self._columns.size, self._columns.size + fresh.size)
        self._columns = np.concatenate([self._columns, fresh])
        self._reserve()
        return self._places_of_columns[columns]

    def _reserve(self) -> None:
        more = self.count - len(self.writer)
        if more > 0:
            more = max(more, len(self.writer))
            self.writer = np.concatenate([self.writer, np.full(more, NOBODY, dtype=np.int64)])
            for name in ("written", "wrote", "values", "valued", "issuer", "several"):
                table = getattr(self, name)
                setattr(self, name, np.concatenate([table, np.zeros(more, dtype=table.dtype)]))
        height, width = len(self.writer), self.places.shape[1]
        if width < self._columns.size:
            width = max(2 * width, self._columns.size)
        if len(self._marks) != height:
            self._marks = np.zeros(height, dtype=np.int64)
        if self.places.shape != (height, width):
            grow = ((0, height - self.places.shape[0]), (0, width - self.places.shape[1]))
            self.clocks.spend((height * width - self.places.size) * (2 + 4 * len(self.tables)))
            self.places = np.pad(self.places, grow)
            for name, table in self.tables.items():
                self.tables[name] = np.pad(table, grow)

    def _put(self, name: str, where: tuple[Numbers, Numbers], clocks: Clock, place: int | Numbers) -> None:
        """Notes clocks in a table, by rows and columns, and where they come from."""
        rows, columns = where
        places = self._in_tables(columns)
        if name not in self.tables:
            self.clocks.spend(4 * self.places.size)
            self.tables[name] = np.zeros(self.places.shape, dtype=np.int32)
        self.tables[name][rows, places] = clocks
        self.places[rows, places] = place

    # ---- accesses

    def touch(self, touch: Touch) -> list[UnorderedAccesses]:
        """Notes an access; what it is not ordered after."""
        if not touch.threads.size:
            return []
        unit = self.unit
        while unit > 1 and (touch.size % unit or bool((touch.starts % unit).any())):
            unit //= 2
        if unit < self.unit:
            self._refine(unit)
        parts = touch.size // self.unit
        cells = (touch.starts[:, None] // self.unit + np.arange(parts)).reshape(-1)
        who = np.repeat(np.arange(touch.threads.size), parts)
        values = self._mixed(touch, who) if touch.kind == "write" and touch.values is not None else None
        here = Cells(touch, cells, self._rows_of(cells), who, values)
        if touch.kind == "read" and (self.writer[here.rows] == NOBODY).any():
            self._read_unwritten(here)
        late, equal = self._unordered(here)
        found = [*self._after_writes(here, late), *self._after_others(here)]
        if touch.kind == "write":
            found += self._at_once(here)
        self._note(here, equal)
        return found

    def _read_unwritten(self, here: Cells) -> None:
        """Notes a read of cells that nothing has written; what threads have only updated counts as written."""
        if here.touch.engine:
            self.unwritten = here.touch.place
            return
        never = self.writer[here.rows] == NOBODY
        if "atomics" in self.tables:
            never &= ~self.tables["atomics"][here.rows].any(axis=1)
        if never.any():
            self.unwritten_by_threads = here.touch.place

    def _mixed(self, touch: Touch, who: Numbers) -> Bits:
        """What is written into each cell, as one number."""
        assert touch.values is not None
        chunks = np.stack(touch.values, axis=1)
        part = np.arange(who.size) % (touch.size // self.unit)
        if self.unit < 4:
            per = 4 // self.unit
            shift = (part % per * self.unit * 8).astype(np.uint64)
            whole = chunks[who, part // per]
            cut = (whole >> shift) & np.uint64((1 << 8 * self.unit) - 1)
            named: Bits = np.where(whole & MADE_UP != 0, (whole + shift * GOLDEN) | MADE_UP, cut)
            return named
        each = self.unit // 4
        found = np.zeros(who.shape, dtype=np.uint64)
        for number in range(each):
            found = (found * GOLDEN) ^ chunks[who, part * each + number]
        return found

    def _relied(self, touch: Touch, threads: Threads, columns: Numbers) -> Clock:
        """How far issuers may rely on a column: less than they have seen of it, if a proxy fence is missing."""
        seen: Clock = self.clocks.seen[threads, columns]
        if not touch.engine:
            return seen
        return np.where(self.clocks.generic[columns], self.clocks.fenced[threads, columns], seen)

    def _relied_without_fences(self, touch: Touch, threads: Threads, columns: Numbers) -> Clock:
        """How far they could rely on it if no fence were missing."""
        found: Clock = self.clocks.seen[threads, columns]
        return found

    def _lacks_only_a_fence(self, here: Cells, at: int, column: int, clock: int) -> bool:
        """Whether one cell's accesses are ordered but for a proxy fence, or one of `tcgen05`: FP008, not FP001."""
        issuer = here.touch.threads[here.who[at : at + 1]]
        return int(self._relied_without_fences(here.touch, issuer, np.array([column]))[0]) >= clock

    def _unordered(self, here: Cells) -> tuple[Numbers, Numbers]:
        """Which cells have a last write that is not ordered before; and those that are given the same value again."""
        touch = here.touch
        some = np.flatnonzero(self.writer[here.rows] != NOBODY)
        rows, columns = here.rows[some], self.writer[here.rows[some]]
        late = self._relied(touch, here.issuers(some), columns) < self.written[rows]
        if touch.kind != "read" and touch.in_order and not touch.engine:
            # The copies of one thread keep their order among themselves.
            late &= columns != touch.columns[here.who[some]]
        equal = np.zeros(late.shape, dtype=bool)
        if here.values is not None:
            equal = late & self.valued[rows] & (self.values[rows] == here.values[some])
            self.relied |= touch.made_up and bool(equal.any())
        return some[late & ~equal], some[equal]

    def _after_writes(self, here: Cells, late: Numbers) -> Iterator[UnorderedAccesses]:
        apart = self._apart(here, late, self.writer[here.rows[late]])
        for at in self._few(late, self.wrote[here.rows[late]], apart):
            row = int(here.rows[at])
            column = int(self.writer[row])
            clash = self._clash(here, at, (int(self.wrote[row]), column, "write"), int(self.issuer[row]))
            only_a_fence = self._lacks_only_a_fence(here, at, column, int(self.written[row]))
            unknown = here.values is None or not self.valued[row] or self._copies(clash, here.touch)
            # What a copy brings is not what a thread stores but by chance.
            own = [each < self.clocks.threads for each in clash.columns]
            comparable = not here.touch.engine and bool(self.clocks.generic[column]) and own[0] == own[1]
            yield replaced(clash, only_a_fence, here.touch.kind == "write" and unknown and comparable)

    def _after_others(self, here: Cells) -> Iterator[UnorderedAccesses]:
        names: dict[Kind, tuple[str, ...]] = {
            "read": ("atomics", "writes"),
            "atomic": ("reads", "writes"),
            "write": ("reads", "atomics", "writes"),
        }
        kinds: dict[str, Kind] = {"reads": "read", "writes": "write"}
        # An atomic of a block's own and one of another block are none for each other.
        others = {"": (), "narrow": ("far",), "far": ("narrow",)}[here.touch.reach]
        for name in (*names[here.touch.kind], *others, *self._of_other_sizes(here.touch)):
            if name == "writes" and not self.several[here.rows].any():
                continue
            if name not in self.tables:
                continue
            table = self.tables[name][here.rows]
            if name == "writes":
                # Several threads have written one value there: the same once more does no harm.
                table = np.where(self._is_there(here)[:, None], 0, table)
            at, found = np.nonzero(table)
            if not at.size:
                continue
            clocks, columns = table[at, found], self._columns[found]
            late = self._relied(here.touch, here.issuers(at), columns) < clocks
            places = self.places[here.rows[at[late]], found[late]].astype(np.int64)
            at, columns, clocks = at[late], columns[late], clocks[late]
            for number in self._few(np.arange(at.size), places, self._apart(here, at, columns)):
                cell, column = int(at[number]), int(columns[number])
                clash = self._clash(here, cell, (int(places[number]), column, kinds.get(name, "atomic")))
                yield replaced(
                    clash, self._lacks_only_a_fence(here, cell, column, int(clocks[number])), False
                )

    def _of_other_sizes(self, touch: Touch) -> list[str]:
        """The tables of atomics that are none for an atomic, as they update more bytes at once, or fewer."""
        if touch.kind != "atomic" or not touch.element or self.element == touch.element:
            return []
        if self.element == 0:
            self.element = touch.element
        elif self.element != SEVERAL:
            if "atomics" in self.tables:
                self.tables[_table_of(self.element)] = self.tables["atomics"].copy()
            self.element = SEVERAL
        return [each for each in self.tables if each.startswith(OF_SIZE) and each != _table_of(touch.element)]

    def _is_there(self, here: Cells) -> Flags:
        """Which cells hold what is written into them."""
        if here.values is None:
            return np.zeros(here.rows.shape, dtype=bool)
        found: Flags = self.valued[here.rows] & (self.values[here.rows] == here.values)
        self.relied |= here.touch.made_up and bool(found.any())
        return found

    def _at_once(self, here: Cells) -> Iterator[UnorderedAccesses]:
        """Threads that write one cell with one instruction; the others than the last are noted."""
        self._marks[here.rows] = here.who
        if (self._marks[here.rows] == here.who).all():
            return
        order = np.argsort(here.rows, kind="stable")
        rows, who = here.rows[order], here.who[order]
        twice = np.flatnonzero((rows[1:] == rows[:-1]) & (who[1:] != who[:-1]))
        if not twice.size:
            return
        first, second = order[twice], order[twice + 1]
        differ = np.ones(twice.size, dtype=bool)
        if here.values is not None:
            differ = here.values[first] != here.values[second]
            self.relied |= here.touch.made_up and not bool(differ.all())
        for at in np.flatnonzero(differ)[:4]:
            one, other = int(first[at]), int(second[at])
            column = int(here.touch.columns[here.who[one]])
            issuer = int(here.touch.threads[here.who[one]])
            clash = self._clash(here, other, (here.touch.place, column, "write"), issuer)
            yield replaced(clash, False, here.values is None or here.touch.made_up)

    @staticmethod
    def _copies(clash: UnorderedAccesses, touch: Touch) -> bool:
        """Threads that store by one instruction: often the same result, computed by each of them."""
        return touch.made_up and clash.places[0] == clash.places[1]

    def _note(self, here: Cells, equal: Numbers) -> None:
        """Remembers an access: the last write of each cell, and the clocks of reads, atomics and equal writes."""
        touch, rows = here.touch, here.rows
        columns, clocks = touch.columns[here.who], touch.clocks[here.who]
        if columns[0] >= self.clocks.threads:
            self.issued[int(columns[-1]), touch.place] = int(touch.threads[-1])
        if touch.kind != "write":
            names = ["reads"] if touch.kind == "read" else ["atomics"]
            if touch.reach:
                names.append(touch.reach)
            if touch.kind == "atomic" and self.element == SEVERAL:
                names.append(_table_of(touch.element))
            for name in names:
                self._put(name, (rows, columns), clocks, touch.place)
            return
        kept = rows[equal]
        before = self.writer[kept], self.written[kept], self.wrote[kept]
        cleared = np.setdiff1d(rows, kept) if kept.size else rows
        for name, table in self.tables.items():
            table[cleared if name == "writes" else rows] = 0
        self.several[cleared] = False
        if kept.size:
            self._put("writes", (kept, before[0]), before[1], before[2])
            self.several[kept] = True
        self.writer[rows], self.written[rows], self.wrote[rows] = columns, clocks, touch.place
        self.issuer[rows] = touch.threads[here.who]
        others = np.flatnonzero(self.writer[rows] != columns)
        if others.size:
            self._put("writes", (rows[others], columns[others]), clocks[others], touch.place)
            self.several[rows[others]] = True
        self.valued[rows] = here.values is not None
        if here.values is not None:
            self.values[rows] = here.values

    def _apart(self, here: Cells, at: Numbers, columns: Numbers) -> Flags:
        """Which accesses are clashed with by a thread of another warp."""
        owners = np.array([self.clocks.owners[each] for each in columns], dtype=np.int64)
        found: Flags = owners // WARP != here.issuers(at) // WARP
        return found

    @staticmethod
    def _few(bad: Numbers, places: Numbers, apart: Flags) -> Iterator[int]:
        """The first few for each place that is clashed with; those of different warps are told before others."""
        for place in np.unique(places)[:8]:
            here = places == place
            yield from map(int, np.concatenate([bad[here & apart], bad[here & ~apart]])[:2])

    def _clash(
        self, here: Cells, at: int, earlier: tuple[int, int, Kind], issuer: int | None = None
    ) -> UnorderedAccesses:
        place, column, kind = earlier
        if issuer is None:
            issuer = self.issued.get((column, place), self.clocks.owners[column])
        thread, own = int(here.touch.threads[here.who[at]]), int(here.touch.columns[here.who[at]])
        return UnorderedAccesses(
            (place, here.touch.place),
            (issuer, thread),
            (column, own),
            (kind, here.touch.kind),
            self.base + int(here.cells[at]) * self.unit,
            self.unit,
            known=int(self.clocks.seen[thread, column]),
        )


def _table_of(element: int) -> str:
    return f"{OF_SIZE}{element}"


def replaced(clash: UnorderedAccesses, proxy: bool, perhaps_equal: bool) -> UnorderedAccesses:
    """The same clash with what else is known of it."""
    return replace(clash, proxy=proxy, perhaps_equal=perhaps_equal)
