"""Interval stabbing: the fewest barriers, each as late as its first uncovered consumer allows.

Windows are taken by where they end. One that no barrier lies in yet gets one right before its consumer, the
latest place that still covers it and so the one most likely to cover the next window, too. That is one sweep
in program order with the set of open windows as state; windows within an iteration come first, those that cross
into the next iteration when the sweep goes round. Two things go beyond the seed's algorithm:

* a window that enters a loop is closed in front of the loop rather than inside it, where it would cost one
  barrier per iteration;
* what the cross-iteration barriers made redundant is taken out again, the most expensive first.

Exact on straight lines. In loops and branches it is a heuristic that is never worse than `eager`: both results
are priced, and the cheaper one is returned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fencepost.analysis.program import Placement, Program, Step
from fencepost.flow import Flow
from fencepost.placement.complete import complete
from fencepost.placement.prune import prune
from fencepost.placement.strategy import Strategy, cost


@dataclass(frozen=True)
class Minimize(Strategy):
    """The fewest barriers executed, by stabbing windows at their ends."""

    name: ClassVar[str] = "minimize"
    summary: ClassVar[str] = "the fewest barriers, by stabbing hazard windows at their right end (Wave)"

    def choose(self, program: Program) -> Placement:
        """See the module."""
        eager = complete(program, {})
        if not program.flow.loops:
            # Without loops nothing can be closed earlier for less, and the sweep leaves nothing redundant
            # on a straight line; branches can.
            return prune(program, eager) if len(program.flow.blocks) > 1 else eager
        stabbed = complete(program, complete(_with_loop_entries(program), {}))
        candidates = [prune(program, stabbed), prune(program, eager)]
        return min(candidates, key=lambda placement: (cost(program.flow, placement), len(placement)))


def _with_loop_entries(program: Program) -> Program:
    """The same program with a step in front of each loop that conflicts with whatever the loop conflicts with."""
    steps = list(program.steps)
    for block, (conflicts, flying) in _loop_entries(program).items():
        entry = Step(len(program.flow.blocks[block].ops), conflicts=conflicts, flying=flying)
        steps[block] = [*steps[block], entry]
    return replace(program, steps=steps)


def _loop_entries(program: Program) -> dict[int, tuple[int, int]]:
    """For each block right in front of a loop: everything, pending or in flight, that the loop conflicts with."""
    flow = program.flow
    hot = [(0, 0)] * len(flow.loops)
    for block in (flow.blocks[index] for index in flow.order):
        if block.loop >= 0:
            conflicts, flying = hot[block.loop]
            for step in program.steps[block.index]:
                conflicts |= step.conflicts
                flying |= step.flying
            hot[block.loop] = (conflicts, flying)
    for loop in sorted(flow.loops, key=lambda loop: -loop.depth):
        if loop.parent >= 0:
            hot[loop.parent] = _both(hot[loop.parent], hot[loop.index])
    entries: dict[int, tuple[int, int]] = {}
    for loop in flow.loops:
        if loop.header < 0 or loop.trip in (0, 1):
            continue
        for before in _in_front(flow, loop.header, set(loop.latches)):
            entries[before] = _both(entries.get(before, (0, 0)), hot[loop.index])
    return entries


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] | other[0], one[1] | other[1]


def _in_front(flow: Flow, header: int, latches: set[int]) -> list[int]:
    """The blocks from which a loop is entered; none if a barrier could not stand in one of them."""
    before = [block for block in flow.blocks[header].predecessors if block not in latches]
    blocks = [flow.blocks[block] for block in before]
    if any(block.guards for block in blocks):
        return []
    return before
