"""Accesses whose address depends on data: each may touch any byte of its variable, of its own block or of all.

Such an access is compared with everything that touched the variable, and everything that touches it later with such
an access. What is ordered then is ordered whatever the data are. What is not may never meet: a run whose memory
holds numbers tells more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from fencepost.hosts.ptx.exact.address_origins import origins_of, stores_shared_addresses
from fencepost.hosts.ptx.exact.clocks import Clock, Threads
from fencepost.hosts.ptx.exact.shadow import Kind, Numbers, Touch, UnorderedAccesses
from fencepost.hosts.ptx.reading.effects import Access

if TYPE_CHECKING:
    from fencepost.hosts.ptx.exact.accesses import Accesses

Region = tuple[int, int]
"""The rank of a block, and one of its variables by number."""
Last = dict[tuple[Region, Kind, int], tuple[Clock, Numbers]]
"""By variable, kind and (of atomics) size, the clock of the last access in each column, and where that was."""
CONFLICTS: dict[Kind, tuple[Kind, ...]] = {
    "read": ("write", "atomic"),
    "write": ("read", "write", "atomic"),
    "atomic": ("read", "write", "atomic"),
}


class DataDependentAccesses:
    """What touched each variable last, by column: accesses to known bytes, and others."""

    def __init__(self, machine: Accesses) -> None:
        self.machine = machine
        self.starts = np.array([each.start for each in machine.memory.placed], dtype=np.int64)
        self.precise: Last = {}
        self.data_dependent: Last = {}
        self.sizes = {0}
        """Those of atomics, and 0."""

    def regions(self, access: Access, who: Threads) -> list[tuple[Region, Threads]]:
        """The variables that an access may touch, each with the threads that may."""
        machine = self.machine
        origins = origins_of(machine.flow, access.address)
        names = [machine.names[each] for each in origins.symbols if each in machine.names]
        placed = machine.memory.placed
        some = [number for number, each in enumerate(placed) if each.name in names]
        stored = origins.loaded and stores_shared_addresses(machine.flow, frozenset(machine.names))
        if not stored and not some and access.generic and origins.parameters:
            return []
        if stored:
            some = []
        every = range(machine.cluster_size)
        anywhere = origins.mapped or not some
        # Without a variable that it is computed from, it may be anywhere.
        return [
            ((rank, number), who if anywhere else who[machine.ranks[who] == rank])
            for number in some or range(len(placed))
            for rank in every
            if anywhere or (machine.ranks[who] == rank).any()
        ]

    def note(self, touch: Touch) -> list[UnorderedAccesses]:
        """A precise access, of one block; what it is not ordered after."""
        span, found = self.machine.memory.span, list[UnorderedAccesses]()
        numbers = np.searchsorted(self.starts, touch.starts % span, side="right") - 1
        ranks = touch.starts // span
        for rank, number in {(int(r), int(n)) for r, n in zip(ranks, numbers, strict=True)}:
            part = touch.part(np.flatnonzero((ranks == rank) & (numbers == number)), 0)
            found += self._against(self.data_dependent, (rank, number), part)
            self._put(self.precise, (rank, number), part)
        return found

    def touch(self, touch: Touch, region: Region) -> list[UnorderedAccesses]:
        """An access whose address depends on data; what it is not ordered after."""
        found = [
            *self._against(self.precise, region, touch),
            *self._against(self.data_dependent, region, touch),
        ]
        if touch.kind == "write" and touch.threads.size > 1:
            # Threads that store with one instruction may all store to one place.
            found.append(self._clash(touch, 1, (touch.place, int(touch.columns[0]), touch.kind), region))
        self._put(self.data_dependent, region, touch)
        return found

    def _against(self, known: Last, region: Region, touch: Touch) -> Iterator[UnorderedAccesses]:
        clocks = self.machine.clocks
        for kind, size in product(CONFLICTS[touch.kind], self.sizes):
            # Atomics of one size need no order.
            if (region, kind, size) not in known or (kind == touch.kind and size == touch.element != 0):
                continue
            before, places = known[region, kind, size]
            columns = np.flatnonzero(before)
            relied: Clock = clocks.seen[np.ix_(touch.threads, columns)]
            if touch.engine:
                fenced = clocks.fenced[np.ix_(touch.threads, columns)]
                relied = np.where(clocks.generic[columns], fenced, relied)
            late = relied < before[columns]
            if touch.in_order and not touch.engine:
                late &= columns[None, :] != touch.columns[:, None]
            if late.any():
                at, column = (int(each[0]) for each in np.nonzero(late))
                found = int(columns[column])
                yield self._clash(touch, at, (int(places[found]), found, kind), region)

    def _put(self, known: Last, region: Region, touch: Touch) -> None:
        width = self.machine.clocks.width
        key = region, touch.kind, touch.element if touch.kind == "atomic" else 0
        self.sizes.add(key[2])
        clocks, places = known.get(key, (np.zeros(0, np.int32), np.zeros(0, np.int64)))
        clocks, places = np.pad(clocks, (0, width - clocks.size)), np.pad(places, (0, width - places.size))
        np.maximum.at(clocks, touch.columns, touch.clocks)
        places[touch.columns] = touch.place
        known[key] = clocks, places

    def _clash(
        self, touch: Touch, at: int, earlier: tuple[int, int, Kind], region: Region
    ) -> UnorderedAccesses:
        place, column, kind = earlier
        machine = self.machine
        return UnorderedAccesses(
            (place, touch.place),
            (machine.clocks.owners[column], int(touch.threads[at])),
            (column, int(touch.columns[at])),
            (kind, touch.kind),
            region[0] * machine.memory.span + int(self.starts[region[1]]),
            touch.size,
            data_dependent=True,
        )


def data_dependent_accesses(machine: Accesses, access: Access, touch: Touch) -> None:
    """Notes an access whose address depends on data, and that its variable may hold anything from now on."""
    assert machine.data_dependent is not None
    for region, who in machine.data_dependent.regions(access, touch.threads):
        some = np.flatnonzero(np.isin(touch.threads, who))
        part = replace(
            touch,
            threads=who,
            starts=touch.starts[some],
            columns=touch.columns[some],
            clocks=touch.clocks[some],
        )
        machine.found.clashes += machine.data_dependent.touch(part, region)
        if machine.lifetimes is not None:
            machine.lifetimes.touch(region[0], part)
        if touch.kind != "read":
            variable = machine.memory.placed[region[1]]
            start = region[0] * machine.memory.span + variable.start
            machine.spoil(np.array([start], dtype=np.uint64), variable.size)
