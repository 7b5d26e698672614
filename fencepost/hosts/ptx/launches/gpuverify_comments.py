"""What comments of files for GPUVerify say of all launches: `//--blockDim=[16,16] --gridDim=64 --warp-sync=32`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.hosts.ptx.launches.launch import MOST_THREADS

Block = tuple[int, int, int]
_BLOCK = re.compile(r"^\s*//.*--(?:blockDim|local_size)=(\d+|\[[\d,\s]+\])", re.MULTILINE)
_GRID = re.compile(r"^\s*//.*--(?:gridDim|num_groups)=(\d+|\[[\d,\s]+\])", re.MULTILINE)
_ONE_BLOCK = re.compile(r"^\s*//.*--only-intra-group\b", re.MULTILINE)
_WARP_SYNCHRONOUS = re.compile(r"^\s*//.*--warp-sync=32\b", re.MULTILINE)


def block_of_comments(text: str) -> Block | None:
    """The block of all kernels, if comments name one: such a file states all that its launches keep to."""
    block = _sizes(_BLOCK, text)
    return block if block is not None and is_a_block(block) else None


def grid_of_comments(text: str) -> Block | None:
    """The grid of all kernels, if comments name one."""
    return _sizes(_GRID, text)


def is_about_one_block(text: str) -> bool:
    """Whether a comment says that blocks are not to be looked at together."""
    return _ONE_BLOCK.search(text) is not None


def is_warp_synchronous(text: str) -> bool:
    """Whether a comment says that the threads of a warp run in step."""
    return _WARP_SYNCHRONOUS.search(text) is not None


def three(sizes: Sequence[int]) -> Block | None:
    """Sizes in three directions, 1 where there are fewer."""
    x, y, z = [*sizes, 1, 1][:3] if 0 < len(sizes) <= 3 else (0, 0, 0)
    return (x, y, z) if min(x, y, z) > 0 else None


def is_a_block(sizes: Block) -> bool:
    """Whether a GPU has blocks as large as that."""
    x, y, z = sizes
    return x * y * z <= MOST_THREADS


def _sizes(pattern: re.Pattern[str], text: str) -> Block | None:
    """What all comments of one kind say, if it is the same."""
    named = {tuple(map(int, re.findall(r"\d+", match))) for match in pattern.findall(text)}
    return three(named.pop()) if len(named) == 1 else None
