"""Reads that are complete because their result has been used.

Reads return in order: an operation that uses what a read has returned makes that read, and all that its wave issued
before it, complete. So for every read, and every name that is handed its result, the reads that may have been issued
since are collected along the program; when the result is used, all others are complete. It matters only where
a rendezvous has no fence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

from fencepost.analysis.access import MemoryAccessType
from fencepost.analysis.access_class import ClassTable, all_ages
from fencepost.analysis.block_instances import BlockInstances
from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.loop_carried import names_of

Since = dict[int, int]
"""For each read, or name that holds its result, by identity: the classes of reads that may have been issued since.
As long as there was none, since the kernel's beginning: then nothing that was issued is complete by using it."""


def completed_by_use(
    flow: Flow, instances: BlockInstances, table: ClassTable, certain: Callable[[int], int]
) -> list[dict[int, int]]:
    """For each instance, by the place of an operation in its block: the bits of reads that are complete from then on.

    `certain` are the bits of accesses all of whose waves reach an instance. Of the others, some waves may not have
    read, or not used what is used there.
    """
    ages = [
        all_ages(table, number) if made.type is MemoryAccessType.READ and not made.engine else 0
        for number, made in enumerate(table.classes)
    ]
    reads = reduce(or_, ages, 0)
    found: list[dict[int, int]] = [{} for _ in instances.nodes]
    if not reads:
        return found
    used = _used(flow)
    used_in = {
        index: _uses_in(flow.blocks[index], used) for index in {node.block for node in instances.nodes}
    }
    starts: dict[int, Since] = {entry: dict.fromkeys(used, 0) for entry in range(instances.entries)}
    todo = deque(starts)
    while todo:
        instance = todo.popleft()
        index = instances.nodes[instance].block
        issued = {gap: ages[number] for gap, number in table.accesses[instance]}
        elsewhere = reads & ~certain(instance) if flow.blocks[index].guards else 0
        # What may have been issued only ever gets more, so the last round through an instance is the one that counts.
        found[instance], after = _through(
            flow.blocks[index], used_in[index], issued, reads, elsewhere, starts[instance]
        )
        for target, _ in instances.edges[instance]:
            before = starts.get(target)
            joined = after if before is None else {value: before[value] | after[value] for value in before}
            if joined != before:
                starts[target] = joined
                todo.append(target)
    return found


def _used(flow: Flow) -> set[int]:
    """Whatever is used somewhere, or forwarded."""
    used = {
        id(value)
        for block in flow.blocks
        for op in block.ops
        if isinstance(op, ops.ValueOperation)
        for value in op.uses
    }
    for block in flow.blocks:
        for name, value in _handed(block.anchor):
            used |= {id(name), id(value)}
    return used


class _Uses(NamedTuple):
    """An operation as far as it matters here."""

    gap: int
    uses: tuple[int, ...]
    result: int | None
    """What it makes, if that is used somewhere."""
    reads: bool


def _uses_in(block: Block, used: set[int]) -> list[_Uses]:
    """The operations of a block that use, make or read anything."""
    found = []
    for gap, op in enumerate(block.ops):
        if not isinstance(op, ops.ValueOperation) or isinstance(op, ops.SyncOperation):
            continue
        result = id(op.owner or op)
        uses, made = tuple(id(value) for value in op.uses), result if result in used else None
        if uses or made is not None or isinstance(op, ops.MemoryOperation):
            found.append(_Uses(gap, uses, made, isinstance(op, (ops.Read, ops.AtomicOp))))
    return found


@dataclass(slots=True)
class _Issued:
    """The reads of a block so far."""

    latest: dict[int, int] = field(default_factory=dict)
    """For the bits of each class, where one was issued last."""

    def since(self, gap: int) -> int:
        """The bits of those behind an operation."""
        found = 0
        for bits, last in self.latest.items():
            if last > gap:
                found |= bits
        return found


def _through(
    block: Block, uses_in: list[_Uses], issued: dict[int, int], reads: int, elsewhere: int, since: Since
) -> tuple[dict[int, int], Since]:
    """`elsewhere`: reads of waves that may not reach this."""
    done: dict[int, int] = {}
    so_far = _Issued()
    made: dict[int, tuple[int, int]] = {}
    """What was made in this block: what it begins with, and where."""
    for gap, uses, result, is_read in uses_in:
        complete = 0
        for value in uses:
            later, begun = made.get(value) or (since[value], -1)
            complete |= reads & ~(later | so_far.since(begun) | elsewhere)
        if complete:
            done[gap] = complete
        if issued.get(gap):
            so_far.latest[issued[gap]] = gap
        if result is not None:
            made[result] = (elsewhere if is_read else reads, gap)
    everything = so_far.since(-1)
    after = {value: later | everything for value, later in since.items()}
    after.update((value, later | so_far.since(begun)) for value, (later, begun) in made.items())
    handed = [(id(name), after[id(value)]) for name, value in _handed(block.anchor)]
    for name, later in handed:
        after[name] = later | elsewhere
    return done, after


def _handed(op: ops.Operation | None) -> list[tuple[ops.Carried, ops.ValueOperation]]:
    """The names that are given the results of operations at the end of a block, all at the same time."""
    pairs: list[tuple[ops.Carried, ops.Forwarded | None]] = []
    if isinstance(op, ops.Iterate):
        pairs = [(name, name.init) for name in op.carried]
    elif isinstance(op, (ops.Next, ops.Give)) and op.graph is not None:
        owner = op.graph.owner
        assert isinstance(owner, (ops.Iterate, ops.Conditional))
        pairs = list(zip(names_of(owner), op.values, strict=True))
    return [(name, value) for name, value in pairs if isinstance(value, ops.ValueOperation)]
