"""Accesses to shared memory, each noted with its clock: plain ones, copies, matrix instructions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.address_slice import AddressSlice
from fencepost.hosts.ptx.exact.clocks import Clock
from fencepost.hosts.ptx.exact.data_dependent_addresses import DataDependentAccesses, data_dependent_accesses
from fencepost.hosts.ptx.exact.lifetimes import Lifetimes
from fencepost.hosts.ptx.exact.machine import Machine
from fencepost.hosts.ptx.exact.made_up_values import known, mix
from fencepost.hosts.ptx.exact.matrices import loaded, product, stored
from fencepost.hosts.ptx.exact.mbarriers import Mbarriers
from fencepost.hosts.ptx.exact.problems import DataDependentAddress, NotExact, Problem
from fencepost.hosts.ptx.exact.shadow import MADE_UP, Kind, Numbers, Touch, UnorderedAccesses
from fencepost.hosts.ptx.exact.tensor_maps import TensorMaps
from fencepost.hosts.ptx.exact.thread_registers import NEVER_WRITTEN
from fencepost.hosts.ptx.exact.wgmma_descriptors import units_of
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import Access, destinations
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import types_of
from fencepost.hosts.ptx.reading.module import Group, Instruction, Module, Routine, width_of
from fencepost.hosts.ptx.runs.simulation_setup import Setup, Threads

WARP = 32
KINDS: dict[str, Kind] = {"read": "read", "write": "write", "atomic": "atomic", "copy": "write"}
MATRICES = {"x1": 1, "x2": 2, "x4": 4}


@dataclass
class Found:
    """What one run showed."""

    clashes: list[UnorderedAccesses] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    outside: Place | None = None
    """An access outside of every shared variable."""
    unwritten: int | None = None
    """An instruction that reads bytes which nothing has written."""
    relied: bool = False
    """Whether it matters that threads load the same value: to store it, or to go the same way."""
    boxes: dict[object, int] = field(default_factory=dict)
    """Bytes of the boxes of tensor maps that were taken for granted."""


class Accesses(Machine):
    """A machine that notes what its threads touch."""

    mbarriers: Mbarriers

    def __init__(
        self, module: Module, routine: Routine, flow: Flow, setup: Setup, needed: AddressSlice
    ) -> None:
        super().__init__(module, routine, flow, setup, needed)
        self.found = Found()
        self.tensor_maps = TensorMaps(self)
        self.made_boxes: dict[object, int] = {}
        """Of tensor maps that the kernel makes."""
        self.wgmma_groups = np.zeros(self.count, dtype=np.int64)
        self.lifetimes = Lifetimes(self) if self.cluster_size > 1 else None
        self.data_dependent = DataDependentAccesses(self) if setup.data_dependent else None
        instructions = {
            place: flow.blocks[place.block].instructions[place.index] for place in needed.accesses
        }
        self.narrow = {
            place
            for place, each in instructions.items()
            if each.name in ("atom", "red") and "cta" in each.parts
        }
        """Atomics that are atomic for the threads of one block alone."""

    def touch(self, touch: Touch) -> None:
        """Notes an access and what it clashes with, in the memory of each block that is touched."""
        if self.data_dependent is not None:
            self.found.clashes += self.data_dependent.note(touch)
        if self.cluster_size == 1:
            self.found.clashes += self.shadows[0].touch(touch)
            return
        blocks = touch.starts // self.memory.span
        for rank in map(int, np.unique(blocks)):
            some = touch.part(np.flatnonzero(blocks == rank), rank * self.memory.span)
            for each in self._by_reach(rank, some):
                self.found.clashes += self.shadows[rank].touch(each)
            if self.lifetimes is not None:
                self.lifetimes.touch(rank, some)

    def _by_reach(self, rank: int, touch: Touch) -> list[Touch]:
        """An access, apart for threads of the block and of others, if some atomics are of one block alone."""
        if touch.kind != "atomic" or not self.narrow:
            return [touch]
        far = self.ranks[touch.threads] != rank
        narrow = self.place_of(touch.place) in self.narrow
        if narrow and far.any():
            text = "an atomic operation of scope `.cta` on the memory of another block"
            raise NotExact(text, self.place_of(touch.place))
        near = replace(touch.part(np.flatnonzero(~far), 0), reach="narrow" if narrow else "")
        return [near, replace(touch.part(np.flatnonzero(far), 0), reach="far")]

    def unguarded(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """As others, and products of matrices."""
        if instruction.name == "mma":
            product(self, instruction, who)
        else:
            super().unguarded(instruction, place, who)

    def inside(self, place: Place, who: Threads, where: Bits, size: int) -> tuple[Threads, Bits]:
        """Accesses that lie inside a shared variable."""
        if not who.size:
            return who, where
        fine = self.memory.inside(where, size)
        if not fine.all():
            self.found.outside = place
        return who[fine], where[fine]

    def access(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """`ld`, `st`, `atom`, `cp.async`, `ldmatrix` and `stmatrix`."""
        for access in self.needed.accesses[place]:
            who = self._data_dependent(instruction, access, place, who)
            if not who.size:
                continue
            where = self.addresses(access.address, who, place)
            if access.generic:
                shared = self.is_shared(where)
                self._elsewhere(instruction, place, who[~shared])
                who, where = who[shared], where[shared]
            where = self.cells(where)
            if not (access.generic or access.of_cluster):
                self.keep_to_own_block(where, who, place)
            if access.rows:
                count = next((MATRICES[part] for part in instruction.parts if part in MATRICES), 1)
                some = who % WARP < 8 * count
                stores = access.kind == "write"
                values = stored(self, instruction, who, some) if stores else None
                self._touch(access, place, who[some], where[some], values)
                if stores:
                    self.spoil(where[some], access.size)
                else:
                    loaded(self, instruction, who, where)
                continue
            values = self._values(access, who) if self.needed.values and access.kind == "write" else None
            self._touch(access, place, who, where, values)
            self._move(instruction, access, who, where)
            if instruction.name == "tensormap":
                self.made_boxes |= self.tensor_maps.touch(instruction, who, where)

    def _data_dependent(
        self, instruction: Instruction, access: Access, place: Place, who: Threads
    ) -> Threads:
        """Threads whose address depends on data may touch any place of a variable; the other threads."""
        unsure = self.made_up.of(access.address, who)
        if not unsure.any():
            return who
        if self.data_dependent is None:
            raise DataDependentAddress("an address or a barrier's operand depends on data", place)
        if access.kind == "atomic" and self.narrow and self.cluster_size > 1:
            raise NotExact("data decide where atomics are, and some are of scope `.cta`", place)
        some = who[unsure]
        columns, clocks = self._columns(access, some)
        starts = np.zeros(some.shape, dtype=np.int64)
        touch = Touch(KINDS[access.kind], self.number_of(place), some, starts, access.size, columns, clocks)
        data_dependent_accesses(self, access, replace(touch, element=access.element))
        for target in destinations(instruction):
            self.make_up(target, some)
        return who[~unsure]

    def _elsewhere(self, instruction: Instruction, place: Place, who: Threads) -> None:
        if who.size:
            for target in destinations(instruction):
                self.make_up(target, who)

    def _touch(
        self, access: Access, place: Place, who: Threads, where: Bits, values: tuple[Bits, ...] | None
    ) -> None:
        """One access of some threads to shared memory, given to the shadow of each byte, with its clocks."""
        kept, starts = self.inside(place, who, where, access.size)
        if values is not None and kept.size != who.size:
            fine = self.memory.inside(where, access.size)
            values = tuple(each[fine] for each in values)
        columns, clocks = self._columns(access, kept)
        if access.kind != "read":
            self.mbarriers.overwrite(starts, access.size, place, kept)
        self.touch(
            Touch(
                KINDS[access.kind],
                self.number_of(place),
                kept,
                starts.astype(np.int64),
                access.size,
                columns,
                clocks,
                values=values,
                made_up=any(bool((each & MADE_UP).any()) for each in values or ()),
                element=access.element,
            )
        )

    def _columns(self, access: Access, who: Threads) -> tuple[Threads, Clock]:
        """The columns of an access, and their clocks: of the threads, or of their copies."""
        if access.kind != "copy":
            return who, self.clocks.own(who)
        columns = np.array([self.copy_column(int(t)) for t in who], dtype=np.int64)
        return columns, (self.groups[who] + 1).astype(np.int32)

    def copy_column(self, thread: int) -> int:
        """The column of a thread's `cp.async`."""
        return self.clocks.column(("cp.async", thread), thread, True)

    def _values(self, access: Access, who: Threads) -> tuple[Bits, ...] | None:
        """What is stored, four bytes at a time: the bits, or the identities of what is made up."""
        if not access.values:
            return None
        chunks = self._chunks(access.values, access.size, who)
        each = access.size // len(access.values)
        found = []
        for number, bits in enumerate(chunks):
            together = max(4 // each, 1)
            first = number * 4 // each if each >= 4 else number * together
            stored = access.values[first : first + together]
            total = np.full(who.shape, np.uint64(number * 4 % max(each, 4)), dtype=np.uint64)
            for item in stored:
                total = mix(total + self.identity(item, who))
            found.append(np.where(self.made_up.any_of(stored, who), total | MADE_UP, bits))
        return tuple(found)

    def _move(self, instruction: Instruction, access: Access, who: Threads, where: Bits) -> None:
        """What the access does to registers and to memory."""
        if access.kind == "read":
            if destinations(instruction):
                self._load_shared(instruction, who, where)
        elif access.kind == "write" and access.values and self.needed.values:
            self._store_shared(instruction, who, where)
        else:
            self.spoil(where, access.size)
            for target in destinations(instruction):
                self.make_up(target, who)

    def spoil(self, where: Bits, size: int) -> None:
        """Memory holds something that is not known."""
        if self.needed.values and where.size:
            cells = (where.astype(np.int64)[:, None] + np.arange(size)).reshape(-1)
            cells = cells[cells < self.memory.shared.size]
            self.shared_made_up[cells] = True
            self.shared_identities[cells] = self.made_up.fresh(cells)

    def _load_shared(self, instruction: Instruction, who: Threads, where: Bits) -> None:
        kind = types_of(instruction)[-1]
        size = max(width_of(kind) // 8, 1)
        limit = np.int64(self.memory.shared.size - 16)
        for number, target in enumerate(destinations(instruction)):
            if not self.needed.values:
                self.make_up(target, who)
                continue
            at = np.minimum(where.astype(np.int64) + number * size, limit)
            bits = self.memory.load_shared(at.astype(np.uint64), min(size, 8))
            flags = np.zeros(who.shape, dtype=bool)
            identities = np.full(who.shape, np.uint64(size), dtype=np.uint64)
            for byte in range(size):
                made_up = self.shared_made_up[at + byte]
                stored = known(self.memory.shared[at + byte].astype(np.uint64))
                named = self.shared_identities[at + byte]
                named = np.where(named == NEVER_WRITTEN, self.made_up.fresh(who), named)
                flags |= made_up
                identities = mix(identities + np.where(made_up, named, stored))
            self.write(target, who, bits)
            self.made_up.set(target, who, flags, identities)

    def _store_shared(self, instruction: Instruction, who: Threads, where: Bits) -> None:
        last = instruction.operands[-1]
        size = max(width_of(types_of(instruction)[-1]) // 8, 1)
        limit = np.int64(self.memory.shared.size - 16)
        for number, item in enumerate(last.items if isinstance(last, Group) else (last,)):
            at = np.minimum(where.astype(np.int64) + number * size, limit)
            self.memory.store_shared(
                at.astype(np.uint64), min(size, 8), self.read(item, who, min(8 * size, 64)).bits
            )
            flags, identities = self.made_up.of(item, who), self.identity(item, who)
            for byte in range(size):
                self.shared_made_up[at + byte] = flags
                self.shared_identities[at + byte] = mix(identities + np.uint64(byte))

    def copy_groups(self, form: forms.Grouping, who: Threads) -> None:
        """`cp.async.commit_group` and its waits."""
        if form.left is None or form.uncommitted:
            self.groups[who] += 1
        if form.left is not None:
            columns = np.array([self.copy_column(int(t)) for t in who], dtype=np.int64)
            self.clocks.learn(who, columns, (self.groups[who] - form.left).astype(np.int32))

    # ---- matrix instructions

    def wgmma(self, form: forms.Wgmma, instruction: Instruction, place: Place, lanes: Threads) -> None:
        """A warp's part of a wgmma: reads that are in flight until a wait."""
        column = self.wgmma_column(int(lanes[0]) // WARP)
        clock = int(self.wgmma_groups[lanes[0]]) + 1
        for operand, extent, transposed in form.operands:
            found = self.certain(operand, lanes, 64, place)
            if np.unique(found).size != 1:
                raise NotExact("a wgmma whose lanes have different descriptors", place)
            units = units_of(int(found[0]), extent, transposed, form.element) + self.base_of(lanes)
            self._warp_touch("read", place, self._knowing(lanes), units, (column, clock))
        if self.needed.values:
            assert isinstance(instruction.operands[0], Group)
            self.make_up(instruction.operands[0], lanes)

    def base_of(self, who: Threads) -> int:
        """Where the shared memory of the block of some threads begins."""
        return int(self.ranks[who[0]]) * self.memory.span

    def _knowing(self, lanes: Threads) -> Threads:
        """One lane for each state of knowledge about other warps."""
        seen = self.clocks.seen[lanes]
        seen[:, lanes] = 0
        if (seen == seen[0]).all():
            return lanes[:1]
        _, first = np.unique(seen, axis=0, return_index=True)
        return lanes[first]

    def _warp_touch(
        self, kind: Kind, place: Place, lanes: Threads, units: Numbers, column: tuple[int, int]
    ) -> None:
        """The matrix unit touches units of 16 bytes for a warp."""
        threads = np.repeat(lanes, units.size)
        starts = np.tile(units.astype(np.int64), lanes.size)
        fine = self.memory.inside(starts.astype(np.uint64), 16)
        if not fine.all():
            self.found.outside = place
        count = int(fine.sum())
        self.touch(
            Touch(
                kind,
                self.number_of(place),
                threads[fine],
                starts[fine],
                16,
                np.full(count, column[0]),
                np.full(count, column[1], dtype=np.int32),
                True,
            )
        )

    def wide_matrix(
        self, form: forms.WideMatrix, instruction: Instruction, place: Place, lanes: Threads
    ) -> None:
        """A fragment of `wmma`, which the lanes of a warp load or store together."""
        start = int(self.shared_addresses(form.address, lanes, place, near=True)[0])
        if not form.stores:
            for target in destinations(instruction):
                self.make_up(target, lanes)
        if start >= self.memory.shared.size:
            return
        stride = form.length
        if form.stride is not None:
            stride = int(self.certain(form.stride, lanes, 32, place)[0]) * form.element
        starts = np.tile(start + stride * np.arange(form.rows), lanes.size)
        threads = np.repeat(lanes, form.rows)
        threads, where = self.inside(place, threads, starts.astype(np.uint64), form.length)
        values = None
        if form.stores:
            # All lanes write the fragment together: one value, that nobody else writes.
            values = tuple(
                np.full(threads.shape, self.made_up.fresh(lanes[:1])[0] | MADE_UP)
                for _ in range(max(form.length // 4, 1))
            )
            self.mbarriers.overwrite(where, form.length, place, threads)
            self.spoil(where, form.length)
        kind: Kind = "write" if form.stores else "read"
        self.touch(
            Touch(
                kind,
                self.number_of(place),
                threads,
                where.astype(np.int64),
                form.length,
                threads,
                self.clocks.own(threads),
                values=values,
            )
        )

    def wgmma_column(self, warp: int) -> int:
        """The column of a warp's wgmma."""
        return self.clocks.column(("wgmma", warp), warp * WARP, False)
