"""What a schedule has to fit: the tile, the waves that share it, the matrix instruction, the target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import prod

from fencepost.ir.source import FencepostError
from fencepost.targets import target_named

READ_BYTES = 16
"""What one lane reads or writes at once."""


class SchedulingType(Enum):
    """How the loop was scheduled before its operations are reordered."""

    NONE = "none"
    PREFETCH = "prefetch"
    MODULO = "modulo"


@dataclass(frozen=True, slots=True)
class Tile:
    """A block of the result, and how much of the reduction one iteration takes."""

    m: int = 128
    n: int = 256
    k: int = 64

    def __str__(self) -> str:
        return f"{self.m} × {self.n} × {self.k}"


@dataclass(frozen=True, slots=True)
class HardwareConstraint:
    """The waves of a workgroup, as a grid over the tile, and what they run on."""

    waves_per_block: tuple[int, ...] = (2, 4)
    threads_per_wave: int = 64
    target: str = "gfx942"
    mma: Tile = Tile(32, 32, 8)
    """What one matrix instruction multiplies."""
    element_bits: int = 16

    @property
    def waves(self) -> int:
        """How many waves there are."""
        return prod(self.waves_per_block)

    @property
    def read_k(self) -> int:
        """How far one read of all lanes reaches along the reduction: the rows of an instruction fill the rest."""
        return self.threads_per_wave * READ_BYTES * 8 // (self.element_bits * self.mma.m)


@dataclass(frozen=True, slots=True)
class Constraints:
    """All of them. Without a tile, the kernel's own operations decide."""

    tile: Tile | None = Tile()
    hardware: HardwareConstraint = HardwareConstraint()


_MMA = {"gfx90a": Tile(32, 32, 8), "gfx942": Tile(32, 32, 8), "gfx950": Tile(32, 32, 16)}
_SMALL_MMA = Tile(16, 16, 16)


DEFAULT_TILE = Tile()


def constraints_for(
    tile: Tile | None = DEFAULT_TILE, waves: int = 8, target: str = "", *, element_bits: int = 16
) -> Constraints:
    """The constraints of a target, with its matrix instruction and the squarest grid of waves that fits the tile."""
    name = target_named(target).name
    mma = _MMA.get(name, _SMALL_MMA)
    lanes = 64 if name in _MMA else 32
    grid = (1, waves) if tile is None else _grid(tile, waves, mma)
    return Constraints(tile, HardwareConstraint(grid, lanes, name, mma, element_bits))


def _grid(tile: Tile, waves: int, mma: Tile) -> tuple[int, int]:
    """Waves along m and n: each has a part of the tile, and the nearer that is to a square the less it reads."""
    grids = [(m, waves // m) for m in range(1, waves + 1) if waves % m == 0]
    fitting = [(m, n) for m, n in grids if tile.m % (m * mma.m) == 0 and tile.n % (n * mma.n) == 0]
    if not fitting:
        raise FencepostError(
            f"{waves} waves with instructions of {mma} do not divide a tile of {tile} evenly",
            code="FP506",
            exit_code=1,
            notes=[("condition", "each wave has whole instructions of the tile along m and n")],
        )
    return min(fitting, key=lambda grid: (tile.m // grid[0] + tile.n // grid[1], grid))
