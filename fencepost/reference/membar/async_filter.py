"""Triton's near-term filter: pairs of accesses that membar leaves alone because an async write is one of them.

It stands in for a model of what is in flight, and it is cruder: it looks at the two operations and not at what
lies between them, nor at which comes first. A read whose data was waited for is then never ordered before a refill
of the same bytes, unless a barrier happens to lie between them. `BlockInfo` needs no filter; this one is here to be
compared with it, and for hosts that know that such a barrier always follows (`insert_barriers(ignore=...)`).
"""

from __future__ import annotations

from fencepost.ir import ops


def filter_async_write_dependencies(earlier: ops.MemoryOperation, later: ops.MemoryOperation) -> bool:
    """Whether to ignore a pair: two async writes, or an async write and a read that is synced via a wait.

    An async write is one that an engine makes to shared memory. A store *from* shared memory is a read of it
    and no async write, although Triton's list of such operations has it.
    """
    engine_first, engine_later = isinstance(earlier, ops.AsyncCopy), isinstance(later, ops.AsyncCopy)
    if engine_first and engine_later:
        return True  # a barrier cannot order two copies
    if not engine_first and not engine_later:
        return False
    return is_synced_via_wait(later if engine_first else earlier)


def is_synced_via_wait(op: ops.Operation) -> bool:
    """Whether `op` is a read that uses a wait, or a value that a loop around it carries and that always is one."""
    return isinstance(op, ops.Read) and any(_is_wait(value, op, frozenset()) for value in op.uses)


def _is_wait(value: object, at: ops.Operation, seen: frozenset[ops.Carried]) -> bool:
    if isinstance(value, ops.MemoryCounterWait) or value in seen:
        return True
    if not isinstance(value, ops.Carried):
        return False
    while at.graph is not None and isinstance(at.graph.owner, ops.Operation):
        at = at.graph.owner
        if isinstance(at, ops.Iterate) and value in at.carried:
            end = at.body.last
            assert isinstance(end, ops.Next)
            carried = end.values[at.carried.index(value)]
            return all(
                _is_wait(source, place, seen | {value})
                for source, place in ((value.init, at), (carried, end))
            )
    return False
