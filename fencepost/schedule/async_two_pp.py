"""Copies straight into shared memory: reads and copies · all matrix instructions, in turn.

Nothing is written from registers, so there is no second pair to keep apart, and two barriers an iteration do:
the tile that is copied in goes to a slot of its own. The first one is fenced, so that the early group can copy
over what was just read, and waits until the copies of the next tile are complete; those of later tiles stay in
flight. In the iteration after that the early group reads what the late group has copied.

With a single tile ahead, the barrier waits for the copies that the same iteration has begun. It stands behind half of
the matrix instructions then, which hide them. Later it cannot stand: with it behind all of them nothing would be left
for the other group to run beside.
"""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.schedule.arrangement import Arrangement, Cluster, copied, fenced, line, plain, preferred
from fencepost.schedule.classify import LoopOperations
from fencepost.schedule.loop_refusals import refusal
from fencepost.schedule.tiles import first_reads, meets, numbers_by_iteration

AHEAD_AT_MOST = 16
"""Copies for iterations further ahead are taken to be for the next one, which is always safe."""


def arrange_async_two_pp(found: LoopOperations) -> Arrangement:
    """The loop in one cluster of memory operations and one of matrix instructions."""
    ahead = tiles_ahead(found)
    counts = _in_flight(found, ahead)
    # With one tile ahead the barrier waits for the copies of its own iteration: half of the products hide them.
    early = len(found.mmas) // 2 if ahead == 1 else 0
    memory: Cluster = [
        *(*found.lhs.local_reads, *found.rhs.local_reads, line()),
        *(*found.copies, line()),
        *(preferred(found.mmas[:early]) if early else []),
        fenced("reads are complete, and so is the next tile", counts),
        line(),
    ]
    multiply = [
        *preferred(found.mmas[early:]),
        plain("late reads → early copies, late copies → early reads: the second of two barriers"),
        line(),
    ]
    first = copied("the first tile is there: copy → read", _first_counts(found, list(counts)))
    if ahead == 1:
        return Arrangement([memory, multiply], first)
    last = copied("the last tiles are there: copy → read", dict.fromkeys(counts, 0))
    return Arrangement([memory, multiply], first, last)


def tiles_ahead(found: LoopOperations) -> int:
    """How many iterations lie between the copies of a tile and its reads: the least, over all of them."""
    numbers = numbers_by_iteration(found.loop, 2 * AHEAD_AT_MOST)
    least = AHEAD_AT_MOST
    for copy in found.copies:
        for read in found.local_reads:
            if any(meets(copy, now, read, now) for now in numbers):
                raise refusal(
                    "FP512",
                    "the loop copies into bytes that the same iteration reads",
                    "a tile is not overwritten by the copies of its own iteration",
                    [(copy, "copied over"), (read, "read")],
                    [("help", "a slot more keeps the two apart")],
                )
            for now in range(AHEAD_AT_MOST):
                later = (
                    ahead
                    for ahead in range(1, AHEAD_AT_MOST)
                    if meets(copy, numbers[now], read, numbers[now + ahead])
                )
                least = min(least, next(later, AHEAD_AT_MOST))
    return least if least < AHEAD_AT_MOST else 1


def _in_flight(found: LoopOperations, ahead: int) -> dict[str, int]:
    """For each counter, what may be under way when the next tile is complete: all of later tiles."""
    each: dict[str, int] = {}
    for op in found.loop.body:
        counter = _counter(op)
        if counter:
            each[counter] = each.get(counter, 0) + 1
    return {
        counter: (ahead - 1) * each[counter] for counter in dict.fromkeys(c.counter for c in found.copies)
    }


def _counter(op: ops.Operation) -> str:
    return op.counter if isinstance(op, ops.AsyncOperation | ops.GlobalRead | ops.GlobalWrite) else ""


def _first_counts(found: LoopOperations, counters: list[str]) -> dict[str, int]:
    """For each counter, what stands between the last copy of the first tile and the loop."""
    counts = dict.fromkeys(counters, 0)
    open_ = set(counters)
    wanted = first_reads(found.loop, found.local_reads)
    op = found.loop.prev
    while op is not None and open_:
        if ops.regions(op) or isinstance(op, ops.Call):
            # Whatever happens in there: wait for all of it.
            return counts | dict.fromkeys(open_, 0)
        counter = _counter(op)
        if isinstance(op, ops.AsyncCopy) and any(meets(op, {}, read, now) for read, now in wanted):
            open_.discard(counter)
        elif counter in open_:
            counts[counter] += 1
        op = op.prev
    return counts | dict.fromkeys(open_, 0)
