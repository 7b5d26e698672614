"""Who touched each place of tensor memory last, and whether a new operation is ordered after that.

Tensor memory has 128 lanes of 512 columns, each of 32 bits. Its operations are asynchronous: one is complete for a
thread that has waited for it (`wait::ld`, or the phase of an mbarrier that a commit arrives at). Some pairs are a
pipeline: there it is enough that the first was issued before. Between threads, what is known counts only behind the
two fences `before_thread_sync` and `after_thread_sync`; where these alone are missing, it is said so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fencepost.hosts.ptx.exact.clocks import Clock, Clocks, Threads
from fencepost.hosts.ptx.exact.shadow import NOBODY, Numbers, Shadow, Touch

LANES, COLUMNS, CELL = 128, 512, 4
SIZE = LANES * COLUMNS * CELL
BASE = 1 << 40
"""Where tensor memory begins among all addresses; that of each block has `SIZE` bytes."""


@dataclass(frozen=True)
class Operation:
    """What a column does: its kind, whether two blocks work together, and what a product accumulates into."""

    kind: str
    pair: bool = False
    accumulator: object = None
    issued: int = -1
    """The column of what its thread has issued; the clocks are the same."""

    def goes_before(self, later: Operation) -> bool:
        """Whether the two are a pipeline: they are carried out in the order in which they are issued."""
        if self.pair != later.pair:
            return False
        if (self.kind, later.kind) == ("mma", "mma"):
            return self.accumulator == later.accumulator
        return (self.kind, later.kind) in PIPELINES


PIPELINES = {("cp", "mma"), ("cp 4x256b", "mma"), ("shift", "mma"), ("shift", "cp 4x256b"), ("mma", "shift")}
SYNCHRONOUS = ("alloc", "dealloc")


class TensorShadow(Shadow):
    """The tensor memory of one block."""

    def __init__(self, clocks: Clocks, rank: int, operations: dict[int, Operation]) -> None:
        super().__init__(clocks, SIZE, BASE + rank * SIZE)
        self.operations = operations
        """By column; columns of threads are those that allocate and free."""

    def forget(self, column: int, columns: int) -> None:
        """Columns that are allocated are free: whoever used them has come to an end before they were freed."""
        starts = (np.arange(LANES) * COLUMNS + column) * CELL // self.unit
        cells = (starts[:, None] + np.arange(columns * CELL // self.unit)).reshape(-1)
        rows = self.rows[cells]
        rows = rows[rows != NOBODY]
        self.writer[rows], self.several[rows] = NOBODY, False
        for table in self.tables.values():
            table[rows] = 0

    def _relied(self, touch: Touch, threads: Threads, columns: Numbers) -> Clock:
        """How far issuers may rely on a column: what fences have passed on."""
        later = self.operations.get(int(touch.columns[0]))
        if later is None or later.kind in SYNCHRONOUS:
            return self._relied_without_fences(touch, threads, columns)
        handed = self._known(self.clocks.tensor, touch, threads, columns)
        # Who uses memory that another thread has allocated has its address from there.
        plain = columns < self.clocks.threads
        return np.where(plain, self.clocks.order[threads, columns], handed)

    def _relied_without_fences(self, touch: Touch, threads: Threads, columns: Numbers) -> Clock:
        """How far they could rely on it if nothing but fences were missing."""
        return self._known(self.clocks.order, touch, threads, columns)

    def _known(self, table: Clock, touch: Touch, threads: Threads, columns: Numbers) -> Clock:
        found: Clock = table[threads, columns]
        later = self.operations.get(int(touch.columns[0]))
        for column in np.unique(columns):
            earlier = self.operations.get(int(column))
            if earlier is None or later is None or not earlier.goes_before(later):
                continue
            here = columns == column
            found[here] = np.maximum(found[here], table[threads[here], earlier.issued])
        return found
