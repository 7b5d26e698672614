"""Threads as CUDA programmers number them: `thread 128` of a row of threads, `thread (3, 1)` of a plane."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.hosts.ptx.verdicts import Thread

WARP = 32


def shown_sizes(sizes: Sequence[int]) -> str:
    """`256` for a row of threads or of blocks, `32x8` for a plane."""
    x, y, z = sizes
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}" if y > 1 else str(x)


def thread_number(thread: Thread, block: Thread) -> str:
    """`128` if a block is a row of threads, `(3, 1)` if it is a plane; otherwise all three numbers."""
    if block[1:] == (1, 1):
        return str(thread[0])
    return f"({', '.join(map(str, thread[: 2 if block[2] == 1 else 3]))})"


def two_accesses(threads: Sequence[Thread], doing: Sequence[str], block: Thread, later: bool = False) -> str:
    """What two threads do: `thread 0 writes and thread 255 reads`, `threads 3 and 4 both write`.

    Of two that are an iteration apart, each has a verb of its own: what follows is about the second one.
    """
    one, two = (thread_number(each, block) for each in threads)
    if doing[0] == doing[1] and not later and " " not in doing[0]:
        return f"threads {one} and {two} both {doing[0].removesuffix('s')}"
    return f"thread {one} {doing[0]} and thread {two} {doing[1]}"


def with_warp(thread: Thread, block: Thread) -> str:
    """`thread 128 (warp 4)`; a block of one warp needs no number of it."""
    x, y, z = block
    said = f"thread {thread_number(thread, block)}"
    warp = (thread[0] + x * (thread[1] + y * thread[2])) // WARP
    return f"{said} (warp {warp})" if x * y * z > WARP else said
