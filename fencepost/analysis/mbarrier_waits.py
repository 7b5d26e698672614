"""Mbarriers, as placement sees them: a wait for one completes the copies that arrive on it.

Every wave waits by itself, so nobody has to be met. Which phase is waited for, and which of several mbarriers in one
buffer, is not looked at here: a barrier could not make up for a wrong one. `check` looks at it.
"""

from __future__ import annotations

from fencepost.analysis.access_class import ClassTable, all_ages
from fencepost.analysis.block_instances import BlockInstances
from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View


def buffers_arrived_on(view: View) -> tuple[Buffer, ...]:
    """The buffers that an mbarrier can be in."""
    return view.buffer.choices if isinstance(view.buffer, BufferArg) else (view.buffer,)


def settled_by(flow: Flow, instances: BlockInstances, table: ClassTable) -> dict[Buffer, int]:
    """For each buffer of mbarriers: the classes of copies that a wait for one of them settles, as bits."""
    found: dict[Buffer, int] = {}
    for accesses in table.accesses:
        for _, number in accesses:
            mbarrier = table.classes[number].mbarrier
            if mbarrier is not None:
                found[mbarrier] = found.get(mbarrier, 0) | all_ages(table, number)
    for block in flow.blocks:
        for op in block.ops:
            if isinstance(op, ops.MbarrierArrive) and op.counter:
                copies = table.engines.get(op.counter, 0)
                for buffer in buffers_arrived_on(op.view):
                    late = _issued_late(flow, instances, table, op.counter, buffer)
                    found[buffer] = found.get(buffer, 0) | (copies & ~late)
    return found


def _issued_late(
    flow: Flow, instances: BlockInstances, table: ClassTable, counter: str, buffer: Buffer
) -> int:
    """The classes of copies that can reach a wait for an mbarrier without an arrival behind them, as bits.

    An engine arrives once the copies that were issued before are complete; of later ones it says nothing.
    """
    found = 0
    for instance, accesses in enumerate(table.accesses):
        block = flow.blocks[instances.nodes[instance].block]
        for gap, number in accesses:
            bits = all_ages(table, number)
            if bits & table.engines.get(counter, 0) & ~found and _slips(flow, block, gap, counter, buffer):
                found |= bits
    return found


def _slips(flow: Flow, start: Block, gap: int, counter: str, buffer: Buffer) -> bool:
    """Whether a way leads from a place to a wait for an mbarrier, past no arrival of the engine on it."""
    todo, seen = [(start, gap + 1)], set[int]()
    while todo:
        block, first = todo.pop()
        for op in block.ops[first:]:
            if isinstance(op, ops.MbarrierWait) and buffer in buffers_arrived_on(op.view):
                return True
            if (
                isinstance(op, ops.MbarrierArrive)
                and op.counter == counter
                and buffer in buffers_arrived_on(op.view)
                # Behind a divergent condition only some waves arrive.
                and set(block.guards) <= set(start.guards)
            ):
                break
        else:
            for target in block.successors:
                if target not in seen:
                    seen.add(target)
                    todo.append((flow.blocks[target], 0))
    return False
