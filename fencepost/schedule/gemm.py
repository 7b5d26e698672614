"""Matrix multiplication with prefetch, for any tile and number of waves: what a compiler hands to ping-pong.

The next tile is on its way while this one is multiplied. Shared memory holds a tile in blocks along the
reduction, one for each step of the local reads, so that reads of different steps touch different bytes. One
operation is what all waves do with one instruction each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.builder import Kernel
from fencepost.ir.expr import Expr
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.schedule.constraints import READ_BYTES, Constraints, Tile


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How many operations of each kind a tile takes."""

    steps: int
    """Local reads along the reduction."""
    mmas_per_step: int
    rows: int
    """Instructions along m that a wave has."""
    columns: int
    lhs_bytes: int
    rhs_bytes: int
    move_bytes: int
    """What all waves move with one instruction each."""


def prefetch_gemm(constraints: Constraints | None = None, *, trip: int | None = None) -> CapturedTrace:
    """The kernel without barriers, one buffer for each operand, through registers into shared memory."""
    constraints = constraints or Constraints()
    sizes = _sizes(constraints)
    k = Kernel("gemm_pingpong", waves=constraints.hardware.waves)
    a, b = k.shared("a", bytes=sizes.lhs_bytes), k.shared("b", bytes=sizes.rhs_bytes)

    def fetch() -> tuple[list[ops.GlobalRead], list[ops.GlobalRead]]:
        return [k.global_read() for _ in _parts(a, sizes)], [k.global_read() for _ in _parts(b, sizes)]

    def store(fetched: tuple[list[ops.GlobalRead], list[ops.GlobalRead]]) -> None:
        for buffer, values in ((a, fetched[0]), (b, fetched[1])):
            for (lo, hi), value in zip(_parts(buffer, sizes), values, strict=True):
                k.write(buffer.bytes(lo, hi), value)

    store(fetch())
    zero = k.compute()
    names = [f"sum{number}" for number in range(sizes.rows * sizes.columns)]
    with k.loop("i", trip=trip, carry=dict.fromkeys(names, zero)) as (_, now):
        fetched = fetch()
        sums = _multiply(k, a.bytes, b.bytes, sizes, [now.value(name) for name in names])
        store(fetched)
        k.next(**dict(zip(names, sums, strict=True)))
    for total in _multiply(k, a.bytes, b.bytes, sizes, [now.value(name) for name in names]):
        k.global_write(total)
    return k.trace


def async_gemm(
    constraints: Constraints | None = None, *, ahead: int = 2, trip: int | None = None
) -> CapturedTrace:
    """The kernel without barriers, copied straight into shared memory, `ahead` tiles before they are multiplied."""
    constraints = constraints or Constraints()
    sizes = _sizes(constraints)
    slots = ahead + 1
    k = Kernel("gemm_async", waves=constraints.hardware.waves)
    a = k.shared("a", slots=slots, bytes=sizes.lhs_bytes)
    b = k.shared("b", slots=slots, bytes=sizes.rhs_bytes)

    def copy(slot: Expr | int) -> None:
        for buffer in (a, b):
            for lo, hi in _parts(buffer, sizes):
                k.gather_to_lds(buffer[slot].bytes(lo, hi))

    for tile in range(ahead):
        copy(tile)
    zero = k.compute()
    names = [f"sum{number}" for number in range(sizes.rows * sizes.columns)]
    with k.loop("i", trip=trip, carry={"s": 0, **dict.fromkeys(names, zero)}) as (_, now):
        s = now.number("s")
        copy((s + ahead) % slots)
        sums = _multiply(k, a[s].bytes, b[s].bytes, sizes, [now.value(name) for name in names])
        k.next(s=(s + 1) % slots, **dict(zip(names, sums, strict=True)))
    sums = [now.value(name) for name in names]
    for tile in range(ahead):
        slot = (now.number("s") + tile) % slots
        sums = _multiply(k, a[slot].bytes, b[slot].bytes, sizes, sums)
    for total in sums:
        k.global_write(total)
    return k.trace


def _multiply(
    k: Kernel,
    lhs: Callable[[int, int], View],
    rhs: Callable[[int, int], View],
    sizes: _Sizes,
    sums: Sequence[ops.ValueOperation],
) -> list[ops.ValueOperation]:
    """Local reads of all steps, then the instructions that use them, step by step."""
    left, right = sizes.lhs_bytes // sizes.steps, sizes.rhs_bytes // sizes.steps
    read = []
    for step in range(sizes.steps):
        xs = [k.read(lhs(step * left, (step + 1) * left)) for _ in range(sizes.rows)]
        ys = [k.read(rhs(step * right, (step + 1) * right)) for _ in range(sizes.columns)]
        read.append((xs, ys))
    totals = list(sums)
    for xs, ys in read:
        for _ in range(sizes.mmas_per_step):
            for row, x in enumerate(xs):
                for column, y in enumerate(ys):
                    place = row * sizes.columns + column
                    totals[place] = k.mma(x, y, totals[place])
    return totals


def _parts(buffer: Buffer, sizes: _Sizes) -> list[tuple[int, int]]:
    """The bytes of a slot that each instruction of all waves moves."""
    count = max(1, buffer.slot_bytes // sizes.move_bytes)
    each = buffer.slot_bytes // count
    return [(number * each, (number + 1) * each) for number in range(count)]


def _sizes(constraints: Constraints) -> _Sizes:
    tile, hardware = constraints.tile or Tile(), constraints.hardware
    rows, columns, *_ = (*hardware.waves_per_block, 1)
    mma, reach = hardware.mma, hardware.read_k
    wanted = {
        "m": (tile.m, rows * mma.m),
        "n": (tile.n, columns * mma.n),
        "k": (tile.k, reach),
    }
    for axis, (extent, unit) in wanted.items():
        if extent % unit:
            raise FencepostError(
                f"{extent} along {axis} is no multiple of {unit}",
                code="FP506",
                exit_code=1,
                notes=[("condition", "waves, instructions and reads divide the tile evenly")],
            )
    element = hardware.element_bits
    return _Sizes(
        steps=tile.k // reach,
        mmas_per_step=reach // mma.k,
        rows=tile.m // (rows * mma.m),
        columns=tile.n // (columns * mma.n),
        lhs_bytes=tile.m * tile.k * element // 8,
        rhs_bytes=tile.n * tile.k * element // 8,
        move_bytes=hardware.waves * hardware.threads_per_wave * READ_BYTES,
    )
