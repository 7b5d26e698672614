"""What a kernel's constraints say to a schedule, and whether ping-pong is worth it.

Two groups of waves that take turns need two waves on each of the four SIMDs, and tiles large enough that a cluster of
matrix instructions hides the memory operations of the other group. The sizes are those that Wave's own pass asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fencepost.hosts.wave.launch import symbols_in_use
from fencepost.hosts.wave.nodes import Node
from fencepost.hosts.wave.thread_numbers import Numbers
from fencepost.ir.source import FencepostError
from fencepost.schedule import Constraints, HardwareConstraint, LoopOperations, Tile
from fencepost.schedule.loop_refusals import refusal

WAVES, LANES, BITS = 8, 64, 16
UNIT = Tile(128, 128, 64)
COPYING_TARGET, TARGET = "gfx950", "gfx942"
"""Wave does not tell this pass what it compiles for. That copies are there says that the target has them."""


def check_worth(constraints: Constraints) -> None:
    """Refuse a kernel that would be no faster in two groups."""
    hardware, tile = constraints.hardware, constraints.tile
    assert tile is not None
    if hardware.waves != WAVES or hardware.threads_per_wave != LANES:
        raise refusal(
            "FP505",
            f"{hardware.waves} waves of {hardware.threads_per_wave} lanes",
            f"{WAVES} waves of {LANES} lanes: two on each SIMD, which take turns",
        )
    if hardware.element_bits != BITS:
        raise refusal("FP506", f"elements of {hardware.element_bits} bits", f"elements of {BITS} bits")
    if tile.m % UNIT.m or tile.n % UNIT.n or tile.k % UNIT.k:
        raise refusal("FP506", f"a tile of {tile}", f"the tile is a multiple of {UNIT}")


def constraints_for_loop(found: LoopOperations, given: Sequence[Any]) -> Constraints:
    """The tile of a loop that multiplies, the waves that share it, and their instruction."""
    from wave_lang.kernel.ops.wave_ops import get_custom
    from wave_lang.kernel.wave.constraints import HardwareConstraint as Hardware
    from wave_lang.kernel.wave.constraints import TilingConstraint, WaveConstraint, WorkgroupConstraint

    nodes: list[Node] = [mma.host for mma in found.mmas]
    kinds = {_operands(get_custom(node)) for node in nodes}
    if len(kinds) != 1:
        raise refusal("FP503", "matrix instructions of several kinds", "all multiply the same two operands")
    ((dims, bits, instruction),) = kinds
    hardware = next(constraint for constraint in given if isinstance(constraint, Hardware))
    numbers = Numbers(None, symbols_in_use())
    # Along the reduction the loop decides, along the others the workgroup, unless a loop divides them again.
    sizes = _sizes(given, WorkgroupConstraint, numbers) | _sizes(given, TilingConstraint, numbers)
    of_waves = _sizes(given, WaveConstraint, numbers)
    m, n, k = (_known(dim, sizes) for dim in dims)
    grid = tuple(size // (of_waves.get(dim) or size) for dim, size in zip(dims, (m, n, k), strict=True))
    return Constraints(
        Tile(m, n, k),
        HardwareConstraint(
            grid[:2],
            hardware.threads_per_wave,
            COPYING_TARGET if found.copies else TARGET,
            Tile(*hardware.mma_matrix_shapes(instruction)),
            bits,
        ),
    )


def _operands(mma: Any) -> tuple[tuple[Any, Any, Any], int, Any]:
    """The dimensions that an instruction multiplies along, how large its elements are, and which one it is."""
    left, right, result = (
        dict.fromkeys(kind.symbolic_shape) for kind in (mma.lhs_type, mma.rhs_type, mma.acc_type)
    )
    m = [dim for dim in left if dim not in right]
    n = [dim for dim in right if dim not in left]
    k = [dim for dim in left if dim in right and dim not in result]
    if not len(m) == len(n) == len(k) == 1:
        raise refusal("FP503", "operands with several dimensions", "one dimension for each of m, n and k")
    bits = {int(kind.dtype.bitwidth()) for kind in (mma.lhs_type, mma.rhs_type)}
    return (m[0], n[0], k[0]), max(bits), mma.mma_type


def _sizes(given: Sequence[Any], kind: type, numbers: Numbers) -> dict[Any, int]:
    """How far the tiles of one kind of constraint reach along each dimension, where that is known."""
    found = {each.dim: numbers.integer(each.tile_size) for each in given if isinstance(each, kind)}  # type: ignore[attr-defined]
    return {dim: size for dim, size in found.items() if size is not None}


def _known(dim: Any, sizes: dict[Any, int]) -> int:
    if dim not in sizes:
        raise FencepostError(f"the tile along {dim} is not known", code="FP422")
    return sizes[dim]
