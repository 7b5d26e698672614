"""Tensor descriptors made on the host: what a kernel that takes one is launched with.

The driver encodes a map of 128 bytes from an address, a shape and what the binary's metadata says about the tile; the
shape and the strides follow it among the arguments.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

TYPES = {"u8": 0, "i8": 0, "fp8e5": 0, "fp8e4nv": 0, "i32": 3, "fp16": 6, "fp32": 7, "bf16": 9}
"""The driver's numbers for types of elements."""
LARGE_LINES = 2
"""How far reads are widened on their way through the cache; no result depends on it."""
MAP_BYTES = 128


def encoded(address: int, dtype: str, shape: Sequence[int], meta: Mapping[str, Any]) -> np.void:
    """The map of a whole array that lies row by row at an address."""
    driver = ctypes.CDLL("libcuda.so.1")
    rank, size = len(shape), int(meta["elem_size"])
    strides = [int(np.prod(shape[dim + 1 :])) * size for dim in range(rank - 1)]
    # The driver counts dimensions from the innermost out.
    dims = (ctypes.c_uint64 * rank)(*reversed(shape))
    steps = (ctypes.c_uint64 * max(rank - 1, 1))(*reversed(strides))
    box = (ctypes.c_uint32 * rank)(*reversed(meta["block_size"]))
    ones = (ctypes.c_uint32 * rank)(*([1] * rank))
    # It has to lie at a multiple of 64 bytes.
    room = (ctypes.c_uint8 * (MAP_BYTES + 64))()
    start = -ctypes.addressof(room) % 64
    failed = driver.cuTensorMapEncodeTiled(
        ctypes.c_void_p(ctypes.addressof(room) + start),
        TYPES[dtype],
        rank,
        ctypes.c_void_p(address),
        dims,
        steps,
        box,
        ones,
        0,
        int(meta["swizzle"]),
        LARGE_LINES,
        0,
    )
    if failed:
        raise RuntimeError(f"the driver refuses a tensor map of {tuple(shape)}: error {failed}")
    raw = bytes(room)[start : start + MAP_BYTES]
    found: np.void = np.frombuffer(raw, dtype=np.dtype((np.void, MAP_BYTES)))[0]
    return found


def passed(address: int, dtype: str, shape: Sequence[int], meta: Mapping[str, Any]) -> list[Any]:
    """What stands for a descriptor among the arguments of a launch."""
    strides = [int(np.prod(shape[dim + 1 :])) for dim in range(len(shape))]
    return [
        encoded(address, dtype, shape, meta),
        *(np.int32(extent) for extent in shape),
        *(np.int64(step) for step in strides),
    ]
