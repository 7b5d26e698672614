"""Barriers that keep global loads ahead of the stores that put what they bring into shared memory.

With a barrier between, a compiler issues all loads of a tile, and then all stores. Without it, it stores each part
when that has come, and uses the registers again for the next load: fewer registers, and a wave waits for memory many
times in place of once. So such a barrier earns its place even where nothing needs it; docs/triton-h200.md says how
much it is worth.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from fencepost.hosts.triton.mlir.tree import Block, Module, Operation
from fencepost.hosts.triton.text_edits import Edit, InsertBarrier, Remove

BARRIERS = frozenset({"ttg.barrier", "ttg.local_barrier", "gpu.barrier"})
"""By release."""
LOADS = frozenset({"tt.load", "amdg.buffer_load", "amdg.masked_load"})
"""Operations that bring a tile from global memory into registers."""
STORES = frozenset({"ttg.local_store", "ttg.local_alloc"})
SCRATCH = "allocation.offset"
"""What operations carry that go through shared memory by themselves."""

Stores = dict[int, Operation | None]
"""Stores by number, barriers not counted, and the barrier behind their loads; None if it is yet to be put in."""
Inserted = Mapping[Operation, Operation | None]
"""Barriers that are put in, by what each stands in front of; None for one that has no operation."""
NOTHING: Inserted = MappingProxyType({})


def lost(before: Module, edits: Sequence[Edit], after: Module, put_in: Inserted = NOTHING) -> list[Operation]:
    """The barriers of a module behind membar that stand between loads and stores where the edits leave none.

    `after` may be the module in front of membar, with the barriers that membar has `put_in`.
    """
    ours = _separated(before, *_changed(edits))
    found = (barrier for number, barrier in _separated(after, put_in).items() if number not in ours)
    return list(dict.fromkeys(barrier for barrier in found if barrier is not None))


@dataclass(frozen=True, slots=True)
class Unseparated:
    """A store with no barrier between it and the loads that it waits for."""

    store: Operation
    block: Block
    first: int
    """The place of the last of these loads in the block,"""
    last: int
    """and that of the store."""

    def meets(self, behind: Operation, before: Operation) -> bool:
        """Whether a barrier behind one operation and in front of another, or earlier, may stand in between."""
        operations = self.block.operations
        begin = operations.index(behind) if behind.block is self.block else -1
        end = operations.index(before) if before.block is self.block else len(operations)
        here = self.block in (behind.block, before.block)
        return here and begin < self.last and self.first < end


def may_lose(before: Module, edits: Sequence[Edit]) -> list[Unseparated]:
    """The stores for which `lost` could find a barrier, wherever membar puts its own: one for each at most."""
    inserted, removed = _changed(edits)
    return [
        Unseparated(found.store, block, found.loaded_at, found.at)
        for block in _loading(before)
        for found in _stores_in(block, inserted, removed)
        if not found.is_separated
    ]


def stores_what_it_loads(module: Module) -> bool:
    """Whether there are loads and stores at all that a barrier could stand between."""
    return any(map(_stores_loaded, _loading(module)))


def _loading(module: Module) -> list[Block]:
    """The blocks with loads."""
    if module.kinds.isdisjoint(LOADS):
        return []
    return list({op.block: None for op in module.walk() if op.name in LOADS and op.block is not None})


def _stores_loaded(block: Block) -> bool:
    loaded: set[Operation | Block] = set()
    for op in block.operations:
        if loaded and any(value.owner in loaded for value in op.operands):
            if _stores(op):
                return True
            loaded.add(op)
        elif op.name in LOADS:
            loaded.add(op)
    return False


def _separated(module: Module, inserted: Inserted = NOTHING, removed: Collection[Operation] = ()) -> Stores:
    """The stores that have a barrier between them and the loads that they wait for."""
    found = {
        each.store: each.barrier
        for block in _loading(module)
        for each in _stores_in(block, inserted, removed)
        if each.is_separated
    }
    if not found:
        return {}
    every = (op for op in module.walk() if op.name not in BARRIERS)
    return {number: found[op] for number, op in enumerate(every) if op in found}


def _changed(edits: Sequence[Edit]) -> tuple[Inserted, set[Operation]]:
    """The barriers that edits put in, and what they take out."""
    return (
        {edit.before: None for edit in edits if isinstance(edit, InsertBarrier)},
        {edit.operation for edit in edits if isinstance(edit, Remove)},
    )


class _Store(NamedTuple):
    """A store of what was loaded in its block, and the last barrier before it."""

    store: Operation
    at: int
    loaded_at: int
    barrier: Operation | None
    is_separated: bool
    """Whether the barrier is behind the loads."""


def _stores_in(block: Block, inserted: Inserted, removed: Collection[Operation]) -> list[_Store]:
    """The stores of what was loaded in one block, and the last barrier before each, if it is behind the loads.

    What was loaded earlier, an iteration ago for example, has been waited for.
    """
    found: list[_Store] = []
    loaded: dict[Operation | Block, int] = {}
    barrier, barrier_at = None, -1
    for place, op in enumerate(block.operations):
        if op in inserted:
            barrier, barrier_at = inserted[op], place
        if op.name in BARRIERS:
            if op not in removed:
                barrier, barrier_at = op, place
            continue
        latest = -1
        if loaded:
            for value in op.operands:
                latest = max(latest, loaded.get(value.owner, -1))
        if latest >= 0 and _stores(op):
            found.append(_Store(op, place, latest, barrier, barrier_at > latest))
        if op.name in LOADS:
            loaded[op] = place
        elif latest >= 0:
            loaded[op] = latest
    return found


def _stores(op: Operation) -> bool:
    """Whether an operation puts what it is given into shared memory."""
    return op.name in STORES or op.dictionary.get(SCRATCH) is not None
