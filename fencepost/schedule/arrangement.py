"""What clusters are made of besides the kernel's own operations, and where a schedule keeps its barriers.

Two groups of waves run the same loop, the late one a barrier behind the early one. So in a loop whose clusters
are divided by barriers, the early group is always one cluster ahead, and the k-th barrier of one group is the
k+1-th of the other. What that asks of barriers (b of them between two accesses x and y, in the program's
order):

* x in the late group, y in the early one: two, and x is complete before the first of them. When the early group
  has passed the second, the late group has passed the first and nothing more.
* x in the early group, y in the late one: none; but x is complete by then. The fence that the first case asks
  for sees to that.
* both in one group: one.

So for every pair that meets in shared memory there is a fenced barrier behind x and any other barrier before y.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fencepost.ir import ops

Cluster = list[ops.Operation]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A loop's new order, and the barriers that it needs around the loop."""

    clusters: Sequence[Cluster]
    before: Cluster
    """What makes the first tile visible, unless the kernel has a barrier there."""
    behind: Cluster = field(default_factory=list)
    """What makes visible what the last iteration has left unfinished."""


def fenced(why: str, counts: dict[str, int] | None = None) -> ops.SharedMemoryBarrier:
    """A barrier at which the wave's own accesses are complete."""
    return ops.SharedMemoryBarrier(False, counts or {}, comment=why)


def plain(why: str) -> ops.WorkgroupBarrier:
    """A barrier that only meets."""
    return ops.WorkgroupBarrier(comment=why)


def copied(why: str, counts: dict[str, int]) -> Cluster:
    """Wait for copies, then meet: what was copied is there for all waves."""
    return [ops.MemoryCounterWait(counts), plain(why)]


def line() -> ops.SchedulingBarrier:
    """Where the compiler stops moving instructions."""
    return ops.SchedulingBarrier()


def preferred(mmas: Iterable[ops.MMA]) -> Cluster:
    """Matrix instructions at raised priority: the other group's memory operations must not hold them up."""
    return [ops.SetWavePrio(1), *mmas, ops.SetWavePrio(0)]
