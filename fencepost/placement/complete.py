"""The safety net under every strategy: a barrier right before whatever is still uncovered."""

from __future__ import annotations

from fencepost.analysis.pending import solve
from fencepost.analysis.program import ASYNC, PLAIN, Placement, Program, Step
from fencepost.flow import Position


def complete(program: Program, placement: Placement) -> Placement:
    """`placement` and, in program order, a barrier before each access that it leaves uncovered.

    Inside a divergent conditional no barrier can stand: what conflicts there stays (see `program`).
    """
    chosen = dict(placement)
    blocks = program.flow.blocks

    def put_barrier(block: int, step: Step, pending: int, flying: int) -> int:
        if blocks[block].guards:
            return 0
        position = Position(block, step.gap)
        strength = max(chosen.get(position, 0), ASYNC if flying else PLAIN)
        chosen[position] = strength
        return strength

    solve(program, chosen, put_barrier)
    return chosen
