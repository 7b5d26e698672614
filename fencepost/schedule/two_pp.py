"""Two clusters of matrix instructions, with memory in between: reads · half of them · writes · the other half.

One buffer holds one tile. The reads of a tile come before the writes of the next into the same bytes, and these
before its reads: two pairs, each with a fenced barrier behind the first and a plain one before the second. That
is four barriers an iteration, two of them with a fence. (Wave's template has its fences at the other two; as it
stands, `check` finds races in it. Wave's barrier pass then adds two more.)
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.ir import ops
from fencepost.schedule.arrangement import Arrangement, Cluster, fenced, line, plain, preferred
from fencepost.schedule.classify import LoopOperations
from fencepost.schedule.slicing import reduction_steps, sliced, slices_of, slices_of_reads

SLICES = 2


# many parameters because Wave's template has these, under these names
def transform_two_PP_clusters(
    mma_nodes: Sequence[ops.MMA],
    local_load_lhs: Sequence[ops.Read],
    local_load_rhs: Sequence[ops.Read],
    global_load_lhs: Sequence[ops.GlobalRead],
    global_load_rhs: Sequence[ops.GlobalRead],
    local_write_lhs: Sequence[ops.Write],
    local_write_rhs: Sequence[ops.Write],
) -> list[Cluster]:
    """The four clusters of the loop, with their barriers; nothing is moved yet."""
    slices = slices_of(reduction_steps(mma_nodes), SLICES)
    first, second = sliced(mma_nodes, slices, SLICES)
    step_of = slices_of_reads([*local_load_lhs, *local_load_rhs], slices)
    lhs, rhs = sliced(local_load_lhs, step_of, SLICES), sliced(local_load_rhs, step_of, SLICES)
    return [
        [
            *(*lhs[0], *rhs[0], line()),
            *(*global_load_lhs, line()),
            *(*lhs[1], *rhs[1], line()),
            *global_load_rhs,
            fenced("reads are complete: the early group writes after the next barrier"),
            line(),
        ],
        [*preferred(first), plain("late reads → early writes, the second of two barriers"), line()],
        [
            *(*local_write_lhs, *local_write_rhs),
            fenced("writes are complete: the early group reads after the next barrier"),
            line(),
        ],
        [*preferred(second), plain("late writes → early reads, the second of two barriers"), line()],
    ]


def arrange_two_pp(found: LoopOperations) -> Arrangement:
    """The loop in two clusters of matrix instructions."""
    clusters = transform_two_PP_clusters(
        found.mmas,
        found.lhs.local_reads,
        found.rhs.local_reads,
        found.lhs.global_reads,
        found.rhs.global_reads,
        found.lhs.local_writes,
        found.rhs.local_writes,
    )
    return Arrangement(clusters, [fenced("the first tile is there: write → read")])
