"""Greedy interval cover: the fewest barriers, each as late as its first uncovered consumer allows.

Windows are taken by where they end. One that no barrier lies in yet gets one right before its consumer, the
latest place that still covers it and so the one most likely to cover the next window, too. That is one sweep
in program order with the set of open windows as state; windows within an iteration come first, those that cross
into the next iteration when the sweep follows the back edge. Two things go beyond the seed's algorithm:

* a window that enters a loop is closed in front of the loop rather than inside it, where it would cost one
  barrier per iteration; likewise, if that is cheaper, one that enters a conditional and goes on behind it;
* what the cross-iteration barriers made redundant is taken out again, the most expensive first.

Exact on straight lines. In loops and branches it is a heuristic that is never worse than `eager`: the results
with and without closing windows early are priced, and the cheapest is returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from fencepost.analysis.program import Program, Step
from fencepost.analysis.transfer import Placement
from fencepost.flow import Flow
from fencepost.ir import ops
from fencepost.placement.fallback import complete, complete_in_front_of_calls
from fencepost.placement.redundant import prune
from fencepost.placement.strategy import Strategy, cost


@dataclass(frozen=True)
class Minimize(Strategy):
    """The fewest barriers executed, covering windows greedily by their ends."""

    name: ClassVar[str] = "minimize"
    improves: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "the fewest barriers, by covering hazard windows greedily by their right ends (Wave)"
    )

    def choose(self, program: Program) -> Placement:
        """See the module."""
        return min(
            self.candidates(program), key=lambda placement: (cost(program.flow, placement), len(placement))
        )

    def candidates(self, program: Program) -> Iterator[Placement]:
        """The placements with and without closing windows early."""
        eager = complete_in_front_of_calls(program, program.existing)
        if len(program.flow.blocks) == 1:
            # Without control flow nothing can be closed earlier for less, and the sweep leaves nothing redundant.
            yield eager
            return
        yield prune(program, eager, program.existing)
        loops, conditionals = _loop_entries(program), _conditional_entries(program)
        if loops:
            yield _closing_early(program, loops)
        if conditionals:
            both = {block: _both(loops.get(block, NOTHING), conditionals[block]) for block in conditionals}
            yield _closing_early(program, {**loops, **both})


Conflicts = tuple[int, int]
"""Pending bits, and bits in flight, that something conflicts with."""
NOTHING: Conflicts = (0, 0)


def _closing_early(program: Program, entries: dict[int, Conflicts]) -> Placement:
    """Cover windows greedily, with steps at the ends of some blocks that conflict with the whole region behind."""
    steps = list(program.steps)
    for instance, node in enumerate(program.instances.nodes):
        if node.block in entries:
            conflicts, in_flight = entries[node.block]
            entry = Step(len(program.flow.blocks[node.block].ops), conflicts=conflicts, in_flight=in_flight)
            steps[instance] = [*steps[instance], entry]
    stabbed = complete(replace(program, steps=steps), program.existing)
    return prune(program, complete(program, stabbed), program.existing)


def _loop_entries(program: Program) -> dict[int, Conflicts]:
    """For each block right in front of a loop: everything that the loop conflicts with."""
    flow = program.flow
    hot = [NOTHING] * len(flow.loops)
    for instance in program.order:
        loop = flow.blocks[program.instances.nodes[instance].block].loop
        if loop >= 0:
            hot[loop] = _both(hot[loop], _conflicts(program, instance))
    for inner in sorted(flow.loops, key=lambda loop: -loop.depth):
        if inner.parent >= 0:
            hot[inner.parent] = _both(hot[inner.parent], hot[inner.index])
    entries: dict[int, Conflicts] = {}
    for entered in flow.loops:
        if entered.header < 0 or entered.trip in (0, 1):
            continue
        for before in _in_front(flow, entered.header, set(entered.latches)):
            entries[before] = _both(entries.get(before, NOTHING), hot[entered.index])
    return entries


def _conditional_entries(program: Program) -> dict[int, Conflicts]:
    """For each block right in front of a uniform conditional: everything that its sides conflict with."""
    flow = program.flow
    hot: dict[ops.Operation, Conflicts] = {}
    for instance in program.order:
        here = _conflicts(program, instance)
        owner = flow.blocks[program.instances.nodes[instance].block].graph.owner
        while owner is not None and here != NOTHING:
            if isinstance(owner, ops.Conditional):
                hot[owner] = _both(hot.get(owner, NOTHING), here)
            owner = owner.graph.owner if owner.graph is not None else None
    return {
        block.index: hot[block.anchor]
        for block in flow.blocks
        if block.anchor is not None and block.anchor in hot and len(block.successors) > 1 and not block.guards
    }


def _conflicts(program: Program, instance: int) -> Conflicts:
    """Everything that the operations of an instance conflict with."""
    conflicts = in_flight = 0
    for step in program.steps[instance]:
        conflicts |= step.conflicts
        in_flight |= step.in_flight
    return conflicts, in_flight


def _both(one: Conflicts, other: Conflicts) -> Conflicts:
    return one[0] | other[0], one[1] | other[1]


def _in_front(flow: Flow, header: int, latches: set[int]) -> list[int]:
    """The blocks from which a loop is entered; none if a barrier could not stand in one of them."""
    before = [block for block in flow.blocks[header].predecessors if block not in latches]
    blocks = [flow.blocks[block] for block in before]
    if any(block.origin in flow.sealed for block in blocks):
        return []
    return before
