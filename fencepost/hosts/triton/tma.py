"""Who issues a copy by NVIDIA's copy engine (TMA), and in how many messages.

A message copies a box of at most 256 elements along each dimension, and along the one that is contiguous in memory no
more than what is swizzled together. The first warp issues the first message, the next warp the next one, until
all warps have one; then the first warp goes on. A gather issues rows from every warp.
"""

from __future__ import annotations

from math import prod

from fencepost.hosts.triton.mlir.types import MemDesc, parse_encoding

BOX = 256
"""Elements of a message along one dimension, at most."""
GATHERS = ("ttng.async_tma_gather",)


def issuing_waves(name: str, memory: MemDesc | None, waves: int) -> int:
    """How many waves, the first ones, issue a copy of a tile; all of them where that is not known."""
    count = None if name in GATHERS or memory is None else messages(memory)
    return waves if count is None else min(count, waves)


def messages(memory: MemDesc) -> int | None:
    """How many messages a tile takes; None if its layout does not say."""
    layout = parse_encoding(memory.encoding)
    if layout is None or memory.bits is None:
        return None
    shape = [size for size in memory.shape if size is not None]
    if len(shape) < len(memory.shape) or not shape:
        return None
    kind = layout.name.removeprefix("ttg.")
    if kind == "swizzled_shared":
        # Without a swizzle that the engine would have to follow; else there is no such copy.
        return prod(-(-size // BOX) for size in shape)
    width = layout.parameters.get("swizzlingByteWidth")
    if kind != "nvmma_shared" or not isinstance(width, int):
        return None
    contiguous = 0 if layout.parameters.get("transposed") is True else len(shape) - 1
    bits = memory.bits * (2 if layout.parameters.get("fp4Padded") is True else 1)
    boxes = [BOX] * len(shape)
    if width:
        boxes[contiguous] = min(BOX, width * 8 // bits)
    return prod(-(-size // box) for size, box in zip(shape, boxes, strict=True))
