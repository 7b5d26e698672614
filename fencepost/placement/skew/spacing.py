"""Room between barriers where groups of waves are skewed.

Such schedules let one group multiply while the other one reads: what stands between two barriers runs at the same
time as what stands between the next two. Where in a stretch of registers alone a barrier stands orders nothing more
or less, but two of them side by side leave one group with nothing to do. So a new barrier that would stand next to
another one goes to the other end of its stretch.
"""

from __future__ import annotations

from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position
from fencepost.ir import ops


def spaced(program: Program, placement: Placement) -> Placement:
    """`placement` with new barriers apart from each other and from those that stand, where that changes nothing."""
    found = dict(placement)
    for position in sorted(placement):
        sync, existing = placement[position], program.existing.get(position)
        if not sync.rendezvous or sync.counts or sync.completes or position.block not in program.instances_of:
            continue
        new = sync.times - (existing is not None)
        start = _start(program, position)
        away = Position(position.block, start)
        if not new or away in found or start == position.gap:
            continue
        around = program.flow.blocks[position.block].ops
        crowded = sync.times > 1 or _is_barrier(around[position.gap : position.gap + 1])
        if crowded and not _is_barrier(around[:start][-1:]):
            found[away] = Sync()
            if sync.times > 1:
                left = sync._replace(times=sync.times - 1)
                found[position] = existing if existing is not None and left.times == 1 else left
            else:
                del found[position]
    if found == placement:
        return placement
    # Nothing but registers was moved over; should that be wrong, what is proven stays.
    return (
        found if len(conflicts_left(program, found)) <= len(conflicts_left(program, placement)) else placement
    )


def _start(program: Program, position: Position) -> int:
    """The first gap from which nothing but registers is touched up to a position."""
    block = program.flow.blocks[position.block]
    gap = position.gap
    while gap > 0 and _registers_alone(block.ops[gap - 1]):
        gap -= 1
    return gap


def _registers_alone(op: ops.Operation) -> bool:
    kept = (ops.MemoryOperation, ops.SyncOperation, ops.CommitGroup)
    return not isinstance(op, kept) and op.owner is None


def _is_barrier(operations: list[ops.Operation]) -> bool:
    return any(isinstance(op, (ops.WorkgroupBarrier, ops.SharedMemoryBarrier)) for op in operations)
