"""The bytes that a wgmma operand takes up: its 64-bit descriptor, by the layouts of the PTX manual.

Addresses in a descriptor are without their low four bits. A matrix is made of rows of 16 bytes; K-major means that
a row runs along K, of which one instruction takes 32 bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
ATOM = {0: 1, 1: 8, 2: 4, 3: 2}
"""Swizzle mode → how many units of 16 bytes a swizzled row has: none, 128, 64 or 32 bytes."""
REACH = 1 << 18
"""Descriptors have 14 bits of the address: 256 KiB."""


def units_of(descriptor: int, extent: int, transposed: bool, element: int) -> Numbers:
    """The addresses of the units of 16 bytes that an operand of so many rows (or columns) takes up."""
    start = (descriptor & 0x3FFF) << 4
    leading = (descriptor >> 16 & 0x3FFF) << 4
    stride = (descriptor >> 32 & 0x3FFF) << 4
    swizzle = descriptor >> 62 & 3
    atom = ATOM[swizzle]
    if transposed:
        offsets = _along_rows(extent * element // 16, 32 // element, (leading, stride), atom)
    else:
        offsets = _along_k(extent, (leading, stride), atom)
    return np.unique(_swizzled((start + offsets) % REACH, swizzle))


def _along_k(extent: int, strides: tuple[int, int], atom: int) -> Numbers:
    """K-major: groups of eight rows, each with two units along K."""
    leading, stride = strides
    row, unit = (each.reshape(-1) for each in np.meshgrid(np.arange(extent), np.arange(2)))
    along = leading if atom == 1 else 16
    found: Numbers = row // 8 * stride + row % 8 * (atom * 16) + unit * along
    return found


def _along_rows(units: int, depth: int, strides: tuple[int, int], atom: int) -> Numbers:
    """M- or N-major: groups of eight along K, each with rows of as many units as the swizzle spans."""
    leading, stride = strides
    unit, k = (each.reshape(-1) for each in np.meshgrid(np.arange(units), np.arange(depth)))
    if atom == 1:
        leading, stride = stride, leading
    found: Numbers = unit // atom * leading + unit % atom * 16 + k // 8 * stride + k % 8 * (atom * 16)
    return found


def _swizzled(addresses: Numbers, swizzle: int) -> Numbers:
    bits = {0: 0, 1: 7, 2: 3, 3: 1}[swizzle]
    found: Numbers = addresses ^ ((addresses >> 7 & bits) << 4)
    return found
