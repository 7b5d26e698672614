"""How fast a wave gets on: what decides where an arrive pays."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.targets import latencies_for


class Pace(NamedTuple):
    """How long things take, as far as it decides where an arrive pays."""

    work: Callable[[ops.Operation], tuple[int, int]]
    """Cycles that an operation takes a wave by itself, and those that it takes only if more operations follow."""
    fence: int
    """Cycles until an access to shared memory is complete: what an arrive waits for if it comes right behind one."""


UNHURRIED = Pace(lambda op: (1, 0), 0)
"""Nothing is known: an arrive stands as early as it can."""


def pace_of(target: str) -> Pace:
    """How fast a wave gets on, on a target."""
    latencies = latencies_for(target)

    def work(op: ops.Operation) -> tuple[int, int]:
        cost = latencies.of(op)
        # A wave goes on once an operation has issued, unless it is many instructions; the next may find a busy unit.
        return (cost.busy, 0) if cost.stays else (latencies.issue, max(cost.busy - latencies.issue, 0))

    return Pace(work, latencies.of(ops.Write()).result)
