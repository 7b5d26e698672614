"""Accesses taken apart from all others: what else is wrong, if a race with them is none?

`check` follows an access up to the first other one that it races with. If that race is allowed, what lies behind it
has not been looked at. So the kernel is judged once more with the allowed access in memory of its own: it still
counts, completes and is waited for as before, and races with no other access.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeGuard

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View


@contextmanager
def isolated(accesses: Iterable[ops.MemoryOperation]) -> Iterator[None]:
    """The kernel with these accesses in buffers of their own, for as long as it is looked at."""
    before = [(op, op.views) for op in accesses]
    try:
        for op, views in before:
            op.views = tuple(_elsewhere(view) for view in views)
        yield
    finally:
        for op, views in before:
            op.views = views


def can_be_isolated(op: ops.Operation) -> TypeGuard[ops.MemoryOperation]:
    """Whether other memory changes nothing but what an operation races with: that of an mbarrier is the mbarrier."""
    return isinstance(op, ops.MemoryOperation) and not isinstance(op, ops.MbarrierOperation)


def _elsewhere(view: View) -> View:
    """The same part of a new buffer of the same shape, which shares bytes with no other."""
    buffer = view.buffer
    return replace(view, buffer=Buffer(buffer.name, buffer.slot_bytes, buffer.slots))
