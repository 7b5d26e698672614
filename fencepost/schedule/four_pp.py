"""Four clusters of matrix instructions: the writes of a quarter follow one cluster behind its reads.

Quarters of a tile lie in different bytes. While the second quarter is read, the first one of the next tile can
be written, and so on; the last quarter is written where the iteration ends, in one cluster with the first reads
of the next. For each quarter, reads and writes stand two barriers apart, the first of them fenced: eight
barriers an iteration, and no cluster moves more than a quarter.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.ir import ops
from fencepost.schedule.arrangement import Arrangement, Cluster, fenced, line, plain, preferred
from fencepost.schedule.classify import LoopOperations, fills, loop_order
from fencepost.schedule.loop_refusals import refusal
from fencepost.schedule.slicing import reduction_steps, sliced, slices_of, slices_of_reads, sources

SLICES = 4


def arrange_four_pp(found: LoopOperations) -> Arrangement:
    """The loop in four clusters of matrix instructions."""
    slices = slices_of(reduction_steps(found.mmas), SLICES)
    mmas = sliced(found.mmas, slices, SLICES)
    step_of = slices_of_reads(found.local_reads, slices)
    reads = sliced(found.local_reads, step_of, SLICES)
    writes = _writes(found, reads)
    fetched = [_fetched(found, quarter) for quarter in writes]
    clusters: list[Cluster] = []
    for number in range(SLICES):
        memory: Cluster = [*reads[number], line()]
        if number < SLICES // 2:
            memory += [*fetched[2 * number], *fetched[2 * number + 1], line()]
        if number:
            memory += [*writes[number - 1], line()]
        quarter = _ORDINALS[number]
        clusters.append(
            [
                *memory,
                fenced(f"reads of the {quarter} quarter are complete: the early group writes it next"),
                line(),
            ]
        )
        clusters.append(
            [
                *preferred(mmas[number]),
                plain(f"late reads → early writes of the {quarter} quarter, the second of two barriers"),
                line(),
            ]
        )
    clusters.append([*writes[-1], line()])
    return Arrangement(
        clusters,
        [fenced("the first tile is there: write → read")],
        [fenced("the fourth quarter of the last tile is there: write → read")],
    )


_ORDINALS = ("first", "second", "third", "fourth")


def _writes(found: LoopOperations, reads: Sequence[Sequence[ops.Read]]) -> list[list[ops.Write]]:
    """The writes of each quarter: those into bytes that its reads touch, and no others."""
    parts: list[list[ops.Write]] = [[] for _ in range(SLICES)]
    for side, moves in (("left", found.lhs), ("right", found.rhs)):
        seen = set()
        for write in moves.local_writes:
            quarters = [number for number, quarter in enumerate(reads) if fills(write, quarter)]
            if len(quarters) != 1:
                raise refusal(
                    "FP504",
                    f"a local write of the {side} operand reaches {len(quarters)} quarters of the tile",
                    "each local write fills bytes of one quarter along the reduction",
                    [(write, "")],
                )
            parts[quarters[0]].append(write)
            seen.add(quarters[0])
        if len(seen) < SLICES:
            raise refusal(
                "FP504",
                f"the local writes of the {side} operand come in {len(seen)} parts along the reduction",
                f"they come in {SLICES}, one for each quarter",
                [(write, "") for write in moves.local_writes],
            )
    return parts


def _fetched(found: LoopOperations, writes: Sequence[ops.Write]) -> list[ops.Operation]:
    wanted = set(sources(value for write in writes for value in write.uses))
    every = {*found.lhs.global_reads, *found.rhs.global_reads}
    return loop_order(found.loop, {op for op in every if op in wanted})
