"""Reads that are complete because their result has been used.

Reads return in order: an operation that uses what a read has returned makes that read, and all that its wave issued
before it, complete. So for every read, and every name that is handed its result, the reads that may have been issued
since are collected along the program; when the result is used, all others are complete. It matters only where
a rendezvous has no fence.
"""

from __future__ import annotations

from collections import deque

from fencepost.analysis.access import MemoryAccessType
from fencepost.analysis.classes import ClassTable, all_ages
from fencepost.analysis.phases import Phases
from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.handing import names_of

Since = dict[int, int]
"""For each read, or name that holds its result, by identity: the classes of reads that may have been issued since.
As long as there was none, since the kernel's beginning: then nothing that was issued is complete by using it."""


def completed_by_use(flow: Flow, phases: Phases, table: ClassTable) -> list[dict[int, int]]:
    """For each phase, by the place of an operation in its block: the bits of reads that are complete from then on."""
    reads = 0
    for number, made in enumerate(table.classes):
        if made.type is MemoryAccessType.READ and not made.engine:
            reads |= all_ages(table, number)
    found: list[dict[int, int]] = [{} for _ in phases.nodes]
    if not reads:
        return found
    starts: dict[int, Since] = {0: dict.fromkeys(_used(flow), 0)}
    todo = deque([0])
    while todo:
        phase = todo.popleft()
        block = flow.blocks[phases.nodes[phase].block]
        # What may have been issued only ever gets more, so the last round through a phase is the one that counts.
        found[phase], after = _through(block, dict(table.accesses[phase]), table, reads, dict(starts[phase]))
        for target, _ in phases.edges[phase]:
            before = starts.get(target)
            joined = after if before is None else {value: before[value] | after[value] for value in before}
            if joined != before:
                starts[target] = joined
                todo.append(target)
    return found


def _used(flow: Flow) -> set[int]:
    """Whatever is used somewhere, or handed on."""
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


def _through(
    block: Block, numbers: dict[int, int], table: ClassTable, reads: int, since: Since
) -> tuple[dict[int, int], Since]:
    done: dict[int, int] = {}
    for gap, op in enumerate(block.ops):
        if not isinstance(op, ops.ValueOperation) or isinstance(op, ops.SyncOperation):
            continue
        complete = 0
        for value in op.uses:
            complete |= reads & ~since[id(value)]
        if complete and not block.guards:
            # Under a guard, only some waves have come so far.
            done[gap] = complete
        issued = all_ages(table, numbers[gap]) & reads if gap in numbers else 0
        if issued:
            since = {value: later | issued for value, later in since.items()}
        result = id(op.owner or op)
        if result in since:
            read = isinstance(op, ops.Read | ops.AtomicOp) and not block.guards
            since[result] = 0 if read else reads
    handed = [(id(name), since[id(value)]) for name, value in _handed(block.anchor)]
    for name, later in handed:
        since[name] = reads if block.guards else later
    return done, since


def _handed(op: ops.Operation | None) -> list[tuple[ops.Carried, ops.ValueOperation]]:
    """The names that are given the results of operations at the end of a block, all at the same time."""
    pairs: list[tuple[ops.Carried, ops.Handed | None]] = []
    if isinstance(op, ops.Iterate):
        pairs = [(name, name.init) for name in op.carried]
    elif isinstance(op, ops.Next | ops.Give) and op.graph is not None:
        owner = op.graph.owner
        assert isinstance(owner, ops.Iterate | ops.Conditional)
        pairs = list(zip(names_of(owner), op.values, strict=True))
    return [(name, value) for name, value in pairs if isinstance(value, ops.ValueOperation)]
