"""The least number of barriers that a kernel needs, whatever waiting for copies costs.

fencepost weighs waits and barriers against each other, so the cost of its optimum is not a number of barriers where
copies to LDS are under way. Here copies are plain writes: a barrier that orders a write also orders a copy once a
wait stands in front of it, and two copies of one engine need nothing between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.flow import build_flow
from fencepost.hosts.wave.barrier_pass import compilations, config_for, read
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.insert import insert_barriers

MEETINGS = (ops.SharedMemoryBarrier, ops.SharedMemoryBarrierSignal, ops.WorkgroupBarrier)
"""Where waves meet; of a barrier in two halves the first counts."""


@dataclass(frozen=True)
class Optimum:
    """How often waves have to meet in one run of a kernel."""

    loop: float
    """In loops."""
    outside: float
    proven: bool

    @property
    def executed(self) -> float:
        """In all."""
        return self.loop + self.outside


def meetings(kernel: CapturedTrace) -> tuple[float, float]:
    """How often waves meet in one run of a kernel as it is: in loops and outside."""
    inside = outside = 0.0
    for block in build_flow(kernel).blocks:
        for op in block.ops:
            if isinstance(op, MEETINGS):
                if _in_loop(op):
                    inside += block.frequency
                else:
                    outside += block.frequency
    return inside, outside


def optimum(trace: Any, target: str) -> Optimum:
    """The optimum for a trace that is being compiled, with the barriers that have to stay in it."""
    config = config_for(target)
    kernel = read(trace, config, without=compilations[trace].spare).trace
    copies = without_copies(kernel)
    inserted = insert_barriers(
        kernel,
        config,
        "optimal",
        whole=True,
        latencies=False,
        ignore=lambda first, second: first in copies and second in copies,
    )
    return Optimum(*meetings(kernel), proven="optimal, proven" in inserted.proof)


def without_copies(kernel: CapturedTrace) -> set[ops.MemoryOperation]:
    """Make copies plain writes; these. Waits for counters go."""
    made: set[ops.MemoryOperation] = set()
    for op in list(kernel.preorder_walk()):
        graph = op.graph
        if graph is None:
            continue
        if isinstance(op, ops.AsyncCopy):
            write = ops.Write(op.views, group=op.group, host=op.host)
            graph.insert_before(op, write)
            graph.remove(op)
            made.add(write)
        elif isinstance(op, ops.MemoryCounterWait):
            graph.remove(op)
        elif isinstance(op, ops.SharedMemoryBarrier):
            op.counts = {}
            op.wait_async_ops = False
    return made


def _in_loop(op: ops.Operation) -> bool:
    around = op.graph.owner if op.graph is not None else None
    while around is not None:
        if isinstance(around, ops.Iterate):
            return True
        around = around.graph.owner if around.graph is not None else None
    return False
