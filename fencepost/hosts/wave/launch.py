"""What surrounds a trace: how many waves run the kernel, and the sizes that it is compiled for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fencepost.hosts.wave.thread_numbers import Workgroup


def workgroup_of(constraints: Sequence[Any]) -> Workgroup | None:
    """The workgroup that a kernel's constraints ask for; None if they do not say."""
    for constraint in constraints:
        lanes = getattr(constraint, "threads_per_wave", None)
        if not isinstance(lanes, int):
            continue  # others work out how many waves there are along a dimension, which takes its time
        waves = getattr(constraint, "waves_per_block", None)
        if waves:
            counts = [int(count) for count in waves] + [1] * (3 - len(waves))
            return Workgroup(lanes, (counts[0] * lanes, counts[1], counts[2]))
    return None


def symbols_in_use() -> Mapping[Any, Any]:
    """The sizes that the kernel in compilation is compiled for; none if no kernel is being compiled."""
    from wave_lang.kernel._support import context
    from wave_lang.kernel._support.indexing import IndexingContext

    try:
        found: Mapping[Any, Any] = context.current(IndexingContext).subs
    except IndexError:
        return {}
    return found
