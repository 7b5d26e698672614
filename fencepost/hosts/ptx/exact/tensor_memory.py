"""Tensor memory in a run: the operations of `tcgen05` with their clocks.

An address has the column in its lower and the lane in its upper half. A warp reaches 32 lanes, by its number among
four. Products, copies and shifts are done some time after a thread has issued them; a commit arrives at an mbarrier
once all of them are. They reach shared memory through the async proxy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fencepost.hosts.ptx.exact import tcgen05_forms as forms
from fencepost.hosts.ptx.exact.clocks import Threads
from fencepost.hosts.ptx.exact.mbarriers import Operation as Arrival
from fencepost.hosts.ptx.exact.problems import NotExact
from fencepost.hosts.ptx.exact.shadow import Kind, Numbers, Touch
from fencepost.hosts.ptx.exact.tcgen05_descriptors import Shape, copied_units, operand_units, shape_of
from fencepost.hosts.ptx.exact.tensor_allocations import Area, TensorAllocations
from fencepost.hosts.ptx.exact.tensor_shadow import LANES, Operation
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.module import Address

if TYPE_CHECKING:
    from fencepost.hosts.ptx.exact.run import Run

WARP = 32
ROW_COLUMNS = 8
"""Columns of an operand in tensor memory: 32 bytes of K."""


class TensorMemory(TensorAllocations):
    """The tensor memories of all blocks of a run."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.issued = np.zeros(run.count, dtype=np.int64)
        """By thread, how many products, copies and shifts it has issued."""
        self.accesses = np.zeros(run.count // WARP + 1, dtype=np.int64)
        """By warp, how many loads and stores."""
        self.committed = np.zeros(run.count, dtype=np.int64)
        """By thread, how often it has committed."""

    # ---- loads and stores

    def access(self, form: forms.TensorAccess, place: Place, lanes: Threads) -> None:
        """`ld` and `st` of a warp."""
        run, rank = self.run, int(self.run.ranks[lanes[0]])
        address = self._address(form.address, place, lanes)
        lane, column = address >> 16, address & 0xFFFF
        own = int(lanes[0]) % run.per_block // WARP % 4 * WARP
        if not own <= lane <= lane + form.lanes <= own + WARP:
            used = f"lanes {lane} to {lane + form.lanes - 1} of tensor memory"
            text = f"uses {used}; its warp reaches {own} to {own + WARP - 1}"
            self.problem(place, lanes, text, "add the warp's own lanes to the address: 32 * (warp % 4) << 16")
            return
        starts = [column]
        if form.apart is not None:
            starts.append(column + int(run.certain(form.apart, lanes, 32, place)[0]))
        kind, reads = ("st", False) if form.stores else ("ld", True)
        touch = self._of_warp(kind, place, lanes)
        for start in starts:
            area = Area(lane + np.arange(form.lanes), start, form.columns)
            if self.is_allocated(rank, area, place, lanes):
                self.touch(rank, "read" if reads else "write", touch, area)

    def _of_warp(self, kind: str, place: Place, lanes: Threads) -> Touch:
        """A load or a store that is in flight until its warp waits."""
        run, warp = self.run, int(lanes[0]) // WARP
        self.accesses[warp] += 1
        column = run.clocks.column((f"tcgen05.{kind}", warp), int(lanes[0]), True)
        self.operations[column] = Operation(kind)
        clock = np.array([self.accesses[warp]], dtype=np.int32)
        none = np.zeros(1, dtype=np.int64)
        number = run.number_of(place)
        return Touch("read", number, lanes[:1], none, 0, np.array([column]), clock, True)

    def wait(self, form: forms.TensorWait, lanes: Threads) -> None:
        """`wait::ld` and `wait::st`: what the warp has loaded or stored is complete."""
        warp = int(lanes[0]) // WARP
        column = self.run.clocks.column(
            (f"tcgen05.{'ld' if form.loads else 'st'}", warp), int(lanes[0]), True
        )
        self.run.clocks.finish(lanes, column, int(self.accesses[warp]))

    # ---- products, copies, shifts

    def product(self, form: forms.TensorProduct, place: Place, thread: int) -> None:
        """`mma`."""
        who = np.array([thread])
        shape = shape_of(int(self.run.certain(form.descriptor, who, 32, place)[0]), bool(form.scales))
        blocks = self._blocks(form.pair, place, thread)
        if not shape.usual or shape.rows not in ((128, 256) if form.pair else (64, 128)):
            raise NotExact("a tcgen05 product of a shape that is not known", place)
        address = self._address(form.accumulator, place, who)
        width = shape.columns // 2 if form.pair and shape.rows == 128 else shape.columns
        accumulator = (address, shape.rows, shape.columns, form.kind)
        touch = self._issue("mma", form.pair, accumulator, place, thread)
        result = Area(self._lanes(shape, address >> 16), address & 0xFFFF, width)
        read: list[tuple[Area, Kind]] = [(result, "write")]
        if isinstance(form.left, Address):
            left = self._address(form.left, place, who)
            area = Area(self._lanes(shape, left >> 16), left & 0xFFFF, ROW_COLUMNS)
            if area.overlaps(result):
                text = "multiplies an operand of tensor memory into columns that it lies in"
                self.problem(place, who, text, "give the result columns of its own")
            read.append((area, "read"))
        for scale, rows in zip(form.scales, (min(shape.rows, LANES), shape.columns), strict=False):
            column = self._address(scale, place, who) & 0xFFFF
            read.append((Area(np.arange(LANES), column & 0x3FFF, -(-rows // WARP)), "read"))
        for rank in blocks:
            for area, kind in read:
                if self.is_allocated(rank, area, place, who):
                    self.touch(rank, kind, touch, area)
        self._operands(form, shape, place, (touch, blocks))

    def _operands(
        self, form: forms.TensorProduct, shape: Shape, place: Place, issued: tuple[Touch, list[int]]
    ) -> None:
        """The operands of a product in shared memory; each block of a pair has half of them."""
        touch, blocks = issued
        wanted = [(form.right, shape.columns // len(blocks), shape.right_transposed)]
        if not isinstance(form.left, Address):
            wanted.append((form.left, shape.rows // len(blocks), shape.left_transposed))
        for operand, extent, transposed in wanted:
            descriptor = int(self.run.certain(operand, touch.threads, 64, place)[0])
            units = operand_units(descriptor, extent, transposed, form.kind)
            if units is None:
                raise NotExact("a descriptor of shared memory with a layout that is not known", place)
            self._read_shared(touch, units, place, blocks)

    @staticmethod
    def _lanes(shape: Shape, first: int) -> Numbers:
        """The lanes of a matrix with so many rows: all, or sixteen of each warp's."""
        if shape.rows != 64:
            return np.arange(LANES)
        found: Numbers = (np.arange(0, LANES, WARP)[:, None] + first % WARP + np.arange(16)).reshape(-1)
        return found

    def copy(self, form: forms.TensorCopy, place: Place, thread: int) -> None:
        """`cp`."""
        who, blocks = np.array([thread]), self._blocks(form.pair, place, thread)
        address = self._address(form.address, place, who)
        kind = "cp 4x256b" if (form.rows, form.units) == (4, 2) else "cp"
        touch = self._issue(kind, form.pair, None, place, thread)
        units = copied_units(int(self.run.certain(form.descriptor, who, 64, place)[0]), form.rows, form.units)
        if units is None:
            raise NotExact("a descriptor of shared memory with a layout that is not known", place)
        first = address >> 16 if form.lanes < LANES else 0
        area = Area(first + np.arange(form.lanes), address & 0xFFFF, 4 * form.units)
        for rank in blocks:
            if self.is_allocated(rank, area, place, who):
                self.touch(rank, "write", touch, area)
        self._read_shared(touch, units, place, blocks)

    def shift(self, form: forms.TensorShift, place: Place, thread: int) -> None:
        """`shift`."""
        who = np.array([thread])
        address = self._address(form.address, place, who)
        touch = self._issue("shift", form.pair, None, place, thread)
        area = Area(address >> 16 & 0x60 | np.arange(WARP), address & 0xFFFF, ROW_COLUMNS)
        for rank in self._blocks(form.pair, place, thread):
            if self.is_allocated(rank, area, place, who):
                self.touch(rank, "write", touch, area)

    def _blocks(self, pair: bool, place: Place, thread: int) -> list[int]:
        """The blocks that an operation is of."""
        rank = int(self.run.ranks[thread])
        if pair and self.run.cluster_size % 2:
            raise NotExact("a tcgen05 operation of two blocks in a cluster that has no pairs", place)
        return [rank & ~1, rank | 1] if pair else [rank]

    def _issue(self, kind: str, pair: bool, accumulator: object, place: Place, thread: int) -> Touch:
        """A thread issues an operation that is in flight until a commit tells."""
        clocks = self.run.clocks
        self.issued[thread] += 1
        clock = int(self.issued[thread])
        issued = clocks.column(("tcgen05", thread), thread, False)
        clocks.finish(np.array([thread]), issued, clock)
        column = clocks.column((kind, pair, accumulator, thread), thread, False)
        self.operations[column] = Operation(kind, pair, accumulator, issued)
        none = np.zeros(1, dtype=np.int64)
        number, when = self.run.number_of(place), np.array([clock], dtype=np.int32)
        return Touch("read", number, np.array([thread]), none, 0, np.array([column]), when, True)

    def commit(self, form: forms.TensorCommit, place: Place, thread: int) -> list[Threads]:
        """`commit`: arrives when all that the thread has issued is done; who can go on because of it."""
        run, who = self.run, np.array([thread])
        barrier = int(run.shared_addresses(form.mbarrier, who, place)[0])
        span, ranks = run.memory.span, [barrier // run.memory.span]
        if form.blocks is not None:
            mask = int(run.certain(form.blocks, who, 16, place)[0])
            if not mask or mask >> run.cluster_size:
                raise NotExact(f"a commit for blocks {mask:#x} of a cluster of {run.cluster_size}", place)
            ranks = [rank for rank in range(run.cluster_size) if mask >> rank & 1]
        done = [
            column
            for column, each in self.operations.items()
            if each.issued >= 0 and each.pair == form.pair and run.clocks.owners[column] == thread
        ]
        # Commits of a thread arrive in order.
        self.committed[thread] += 1
        own = run.clocks.column(("tcgen05.commit", thread), thread, True)
        clocks = [*(self.issued[thread] for _ in done), self.committed[thread]]
        known = run.clocks.just(np.array([*done, own], dtype=np.int64), np.array(clocks, dtype=np.int32))
        # What is done comes after all that engines had done before it was issued.
        known = run.clocks.join(known, run.clocks.of_engines(thread))
        woken = []
        for at in (rank * span + barrier % span for rank in ranks):
            found = run.mbarriers.used(at, place, who)
            if found is None:
                run.not_made(place, at, who)
                continue
            run.bulk.used(place, who, found, (own, int(self.committed[thread])))
            woken += run.mbarriers.copies_arrive(found, Arrival(place, who), lambda _: known, True)
        return woken

    # ---- what is touched

    def _address(self, address: Address, place: Place, who: Threads) -> int:
        found = self.run.certain(address, who, 32, place)
        if np.unique(found).size != 1:
            raise NotExact("lanes that name different addresses of tensor memory", place)
        return int(found[0])

    def _read_shared(self, touch: Touch, units: Numbers, place: Place, blocks: list[int]) -> None:
        """The matrix unit reads units of 16 bytes in the shared memory of some blocks."""
        run = self.run
        for rank in blocks:
            where = (units + rank * run.memory.span).astype(np.uint64)
            threads, starts = run.inside(place, np.repeat(touch.threads, units.size), where, 16)
            count = threads.size
            columns, clocks = np.repeat(touch.columns, count), np.repeat(touch.clocks, count)
            run.touch(Touch("read", touch.place, threads, starts.astype(np.int64), 16, columns, clocks, True))
