"""What a `tcgen05` product or copy takes from shared memory: the descriptors of its operands and of itself.

A descriptor of shared memory has the layouts of wgmma's (`wgmma_descriptors`), with the swizzle encoded differently.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fencepost.hosts.ptx.exact.wgmma_descriptors import REACH, Numbers, units_of

SWIZZLES = {0: 0, 2: 1, 4: 2, 6: 3}
"""How wgmma's descriptors encode a swizzle of none, 128, 64 or 32 bytes."""
ELEMENTS = {"f16": 2, "tf32": 4}
"""Bytes of an element; of all other kinds a row of K is counted in bytes."""


@dataclass(frozen=True)
class Shape:
    """What an instruction descriptor says."""

    rows: int
    """M."""
    columns: int
    """N."""
    left_transposed: bool
    right_transposed: bool
    usual: bool
    """Whether the product is dense, and of the usual depth."""


def shape_of(descriptor: int, scaled: bool) -> Shape:
    """The shape of a product."""
    deep = scaled and bool(descriptor >> 31 & 1)
    return Shape(
        (descriptor >> 24 & 0x1F) * 16,
        (descriptor >> 17 & 0x3F) * 8,
        bool(descriptor >> 15 & 1),
        bool(descriptor >> 16 & 1),
        not descriptor >> 2 & 1 and not deep,
    )


def operand_units(descriptor: int, extent: int, transposed: bool, kind: str) -> Numbers | None:
    """The units of 16 bytes that an operand of so many rows (or columns) takes up; None if that is not known."""
    plain = _as_of_wgmma(descriptor)
    return None if plain is None else units_of(plain, extent, transposed, ELEMENTS.get(kind, 1))


def copied_units(descriptor: int, rows: int, units: int) -> Numbers | None:
    """The units of 16 bytes that a copy of so many rows reads: eight rows lie together."""
    plain = _as_of_wgmma(descriptor)
    if plain is None:
        return None
    if units == 2:
        return units_of(plain, rows, False, 1)
    start, stride = (plain & 0x3FFF) << 4, (plain >> 32 & 0x3FFF) << 4
    row = np.arange(rows)
    found: Numbers = (start + row // 8 * stride + row % 8 * 16) % REACH
    return found if plain >> 62 == 0 else None


def _as_of_wgmma(descriptor: int) -> int | None:
    """The descriptor as wgmma has it; None if its layout, its base offset or its leading dimension is unusual."""
    swizzle = SWIZZLES.get(descriptor >> 61 & 7)
    if swizzle is None or descriptor >> 49 & 0xF:
        return None
    return descriptor & (1 << 46) - 1 | swizzle << 62
