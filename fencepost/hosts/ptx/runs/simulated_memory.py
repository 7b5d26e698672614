"""Memory for a simulated block: shared and local bytes, and global memory whose first contents are made up.

A kernel must be free of races whatever its input is, so that any contents will do, as long as the same address
keeps giving the same bytes until something is stored there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.lanes import Bits, mask
from fencepost.hosts.ptx.launches.launch import DYNAMIC_BYTES

SHARED_START = 0x1000
GAP = 0x1000
"""Room between shared variables, so that an access outside of its variable is seen."""
LOCAL_BITS = 36
LOCAL_START = 1 << LOCAL_BITS
LOCAL_GAP = 16
"""Room between local variables, and behind the last one."""
FEW, MANY = 5, 1 << 24
"""How many different numbers global memory holds: few are fit to be indices, many have an order to sort by."""
NEGATIVE = 0
"""In the place of how many there are: all of them are -1."""
POINTERS = 40
"""A pointer parameter with number n is (n + 1) shifted left by this."""


@dataclass(frozen=True)
class Placed:
    """A shared variable and where it was put."""

    name: str
    start: int
    size: int


def place(sizes: dict[str, int | None]) -> list[Placed]:
    """Puts shared variables one after the other."""
    found = []
    at = SHARED_START
    for name, size in sizes.items():
        bytes_ = DYNAMIC_BYTES if size is None else size
        found.append(Placed(name, at, bytes_))
        at += (bytes_ + GAP + 0xFFF) & ~0xFFF
    return found


class Memory:
    """All memory of one simulated block, or of the blocks of a cluster: their shared memories one after the other."""

    def __init__(self, placed: list[Placed], seed: int, spread: int = FEW, blocks: int = 1) -> None:
        self.placed = placed
        self.spread = spread
        self.blocks = blocks
        end = placed[-1].start + placed[-1].size + GAP if placed else SHARED_START
        self.span = (end + 64 + 15) & ~15
        """The bytes of one block."""
        self.shared = np.zeros(blocks * self.span, dtype=np.uint8)
        self.written = np.zeros(blocks * self.span, dtype=bool)
        self.seed = seed
        self.stored: dict[int, int] = {}

    def start_of(self, name: str) -> int | None:
        """The address of a shared variable."""
        return next((each.start for each in self.placed if each.name == name), None)

    def variable_at(self, address: int) -> Placed | None:
        """The shared variable that an address lies in."""
        for each in self.placed:
            if each.start <= address % self.span < each.start + each.size:
                return each
        return None

    def inside(self, addresses: Bits, size: int) -> NDArray[np.bool_]:
        """Which accesses lie inside a shared variable."""
        found = np.zeros(addresses.shape, dtype=bool)
        offsets = addresses % np.uint64(self.span)
        for each in self.placed:
            found |= (offsets >= each.start) & (offsets + np.uint64(size) <= each.start + each.size)
        return found & (addresses < np.uint64(self.shared.size))

    def load_shared(self, addresses: Bits, size: int) -> Bits:
        """Bytes of shared memory as numbers."""
        safe = np.minimum(addresses, np.uint64(self.shared.size - 16)).astype(np.int64)
        found = np.zeros(addresses.shape, dtype=np.uint64)
        for at in range(size):
            found |= self.shared[safe + at].astype(np.uint64) << np.uint64(8 * at)
        return found

    def store_shared(self, addresses: Bits, size: int, values: Bits) -> None:
        """Writes numbers into shared memory; of several threads at one address, the last one's stays."""
        safe = np.minimum(addresses, np.uint64(self.shared.size - 16)).astype(np.int64)
        for at in range(size):
            self.shared[safe + at] = ((values >> np.uint64(8 * at)) & np.uint64(0xFF)).astype(np.uint8)

    def load_other(self, addresses: Bits, size: int) -> Bits:
        """Global memory."""
        words = addresses >> np.uint64(2)
        mixed = (words + np.uint64(self.seed * 0x51ED270B)) * np.uint64(0x9E3779B97F4A7C15)
        found = (mixed >> np.uint64(40)) % np.uint64(self.spread or 1)
        found = np.where(addresses & np.uint64(3) == 0, found, np.uint64(0))
        if size == 8:
            # Two words; the upper one is zero so that numbers stay small.
            found &= np.uint64(0xFFFFFFFF)
        if self.spread == NEGATIVE:
            found = np.full(addresses.shape, mask(8 * size), dtype=np.uint64)
        if self.stored:
            for at, address in enumerate(addresses):
                kept = self.stored.get(int(address))
                if kept is not None:
                    found[at] = kept & ((1 << (8 * size)) - 1)
        return found

    def store_other(self, addresses: Bits, values: Bits) -> None:
        """Stores to global memory."""
        for at, address in enumerate(addresses):
            self.stored[int(address)] = int(values[at])


class LocalMemory:
    """Bytes that each thread has its own of: a row for each thread, the variables one after the other."""

    def __init__(self, sizes: dict[str, int], threads: int) -> None:
        self.starts: dict[str, int] = {}
        end = 0
        for name, size in sizes.items():
            self.starts[name] = end
            end += (size + LOCAL_GAP + 15) & ~15
        self.bytes = np.zeros((threads, end + LOCAL_GAP), dtype=np.uint8)

    def address_of(self, name: str) -> int:
        """The address of a variable, which is the same in every thread."""
        return LOCAL_START + self.starts[name]

    def holds(self, addresses: Bits) -> NDArray[np.bool_]:
        """Which addresses are local."""
        found: NDArray[np.bool_] = addresses >> np.uint64(LOCAL_BITS) == 1
        return found

    def _columns(self, addresses: Bits, size: int) -> NDArray[np.int64]:
        offsets = (addresses & np.uint64(LOCAL_START - 1)).astype(np.int64)
        return np.minimum(offsets, self.bytes.shape[1] - size)

    def load(self, addresses: Bits, size: int, threads: NDArray[np.int64]) -> Bits:
        """The numbers that some threads have at their addresses."""
        columns = self._columns(addresses, size)
        found = np.zeros(addresses.shape, dtype=np.uint64)
        for at in range(size):
            found |= self.bytes[threads, columns + at].astype(np.uint64) << np.uint64(8 * at)
        return found

    def store(self, addresses: Bits, size: int, values: Bits, threads: NDArray[np.int64]) -> None:
        """Writes numbers at the addresses of some threads."""
        columns = self._columns(addresses, size)
        for at in range(size):
            self.bytes[threads, columns + at] = ((values >> np.uint64(8 * at)) & np.uint64(0xFF)).astype(
                np.uint8
            )
