"""Memory for a simulated block: shared bytes, and global and local memory whose first contents are made up.

A kernel must be free of races whatever its input is, so that any contents will do, as long as the same address
keeps giving the same bytes until something is stored there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.lanes import Bits

SHARED_START = 0x1000
GAP = 0x1000
"""Room between shared variables, so that an access outside of its variable is seen."""
DYNAMIC_BYTES = 232448
LOCAL_START = 1 << 36
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
    """All memory of one simulated block."""

    def __init__(self, placed: list[Placed], seed: int) -> None:
        self.placed = placed
        end = placed[-1].start + placed[-1].size + GAP if placed else SHARED_START
        self.shared = np.zeros(end + 64, dtype=np.uint8)
        self.written = np.zeros(end + 64, dtype=bool)
        self.seed = seed
        self.stored: dict[tuple[int, int], int] = {}

    def start_of(self, name: str) -> int | None:
        """The address of a shared variable."""
        return next((each.start for each in self.placed if each.name == name), None)

    def variable_at(self, address: int) -> Placed | None:
        """The shared variable that an address lies in."""
        for each in self.placed:
            if each.start <= address < each.start + each.size:
                return each
        return None

    def inside(self, addresses: Bits, size: int) -> NDArray[np.bool_]:
        """Which accesses lie inside a shared variable."""
        found = np.zeros(addresses.shape, dtype=bool)
        for each in self.placed:
            found |= (addresses >= each.start) & (addresses + np.uint64(size) <= each.start + each.size)
        return found

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

    def load_other(self, addresses: Bits, size: int, owners: NDArray[np.int64] | None = None) -> Bits:
        """Global memory, or local memory of the threads that own it."""
        words = addresses >> np.uint64(2)
        mixed = (words + np.uint64(self.seed * 0x51ED270B)) * np.uint64(0x9E3779B97F4A7C15)
        found = (mixed >> np.uint64(40)) % np.uint64(5)
        found = np.where(addresses & np.uint64(3) == 0, found, np.uint64(0))
        if size == 8:
            # Two words; the upper one is zero so that numbers stay small.
            found &= np.uint64(0xFFFFFFFF)
        if self.stored:
            for at, address in enumerate(addresses):
                owner = -1 if owners is None else int(owners[at])
                kept = self.stored.get((owner, int(address)))
                if kept is not None:
                    found[at] = kept & ((1 << (8 * size)) - 1)
        return found

    def store_other(self, addresses: Bits, values: Bits, owners: NDArray[np.int64] | None = None) -> None:
        """Stores to global or local memory."""
        for at, address in enumerate(addresses):
            owner = -1 if owners is None else int(owners[at])
            self.stored[(owner, int(address))] = int(values[at])
