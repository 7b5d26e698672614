"""Barrier objects, as placement sees them: a wait for one settles the copies that it is told about.

Every wave waits by itself, so nobody has to be met. Which phase is waited for, and which of several objects in one
buffer, is not looked at here: a barrier could not make up for a wrong one. `check` looks at it.
"""

from __future__ import annotations

from fencepost.analysis.classes import ClassTable, all_ages
from fencepost.flow import Flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View


def buffers_told(view: View) -> tuple[Buffer, ...]:
    """The buffers that a barrier object can be in."""
    return view.buffer.choices if isinstance(view.buffer, BufferArg) else (view.buffer,)


def settled_by(flow: Flow, table: ClassTable) -> dict[Buffer, int]:
    """For each buffer of barrier objects: the classes of copies that a wait for one of them settles, as bits."""
    found: dict[Buffer, int] = {}
    for accesses in table.accesses:
        for _, number in accesses:
            told = table.classes[number].tells
            if told is not None:
                found[told] = found.get(told, 0) | all_ages(table, number)
    for block in flow.blocks:
        for op in block.ops:
            if isinstance(op, ops.MbarrierArrive) and op.counter:
                for buffer in buffers_told(op.view):
                    found[buffer] = found.get(buffer, 0) | table.engines.get(op.counter, 0)
    return found
