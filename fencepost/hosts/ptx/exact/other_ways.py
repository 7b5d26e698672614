"""Ways through a kernel that no run has taken, and numbers that lead threads there: `if (n != 12345) barrier`.

Runs are made with numbers of their own. Where a comparison that decides over accesses or barriers comes out the same
in all of them, a solver is asked for numbers with which it does not. What it says is tried by another run, and
believed no further: a loop may keep threads from coming there.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from fencepost.hosts.ptx.exact.address_slice import AddressSlice
from fencepost.hosts.ptx.exact.made_up_values import BLOCKS
from fencepost.hosts.ptx.exact.ways import Way
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch
from fencepost.hosts.ptx.proof.prove import Prover
from fencepost.hosts.ptx.reading.flow import NotJudged
from fencepost.hosts.ptx.reading.ssa import Assigned

SECONDS = 5.0
"""For all questions about one kernel."""


class OtherWays:
    """The ways of one kernel."""

    def __init__(self, case: KernelAndLaunch, needed: AddressSlice) -> None:
        self.case, self.needed = case, needed
        self.end = time.thread_time() + SECONDS

    @cached_property
    def prover(self) -> Prover:
        """What knows the expressions of the kernel."""
        case = self.case
        return Prover(case.module, case.routine, case.flow, case.launch, SECONDS)

    def untaken(self, taken: Collection[Way]) -> Iterator[Way]:
        """Branches first: comparisons may decide over no more than a number."""
        flow = self.case.flow
        for block in sorted(self.needed.branches):
            for to in sorted(set(flow.successors[block])):
                way = Way(block, len(flow.blocks[block].instructions), to)
                if way not in taken:
                    yield way
        for place in sorted(self.needed.places, key=lambda each: (each.block, each.index)):
            if flow.blocks[place.block].instructions[place.index].name == "setp":
                for to in (0, 1):
                    way = Way(place.block, place.index, to)
                    if way not in taken:
                        yield way

    def is_branch(self, way: Way) -> bool:
        """Whether a way is that of a branch."""
        return way.index == len(self.case.flow.blocks[way.block].instructions)

    def numbers(self, way: Way) -> Mapping[str, int] | None:
        """Parameters, and numbers of the block, with which threads may take a way; None if there are none, or none
        that a solver finds."""
        if time.thread_time() > self.end:
            return None
        try:
            condition = self._condition(way)
        except NotJudged:
            return None
        if condition.known is not None or any(leaf.leaf.kind == "opaque" for leaf in leaves(condition)):
            return None
        conditions = [condition, *self.prover.races.conditions(way.block)]
        conditions += self._in_the_grid(conditions)
        found = self.prover.races.example(conditions, way.block) or {}
        return {name: value for name, value in found.items() if self._is_given(name)} or None

    def _in_the_grid(self, conditions: Sequence[Expression]) -> list[Expression]:
        """That the block is one of the grid, where its size is looked at."""
        evaluator = self.prover.evaluator
        names = {leaf.leaf.name for each in conditions for leaf in leaves(each)}
        return [
            evaluator.values.binary("ult", evaluator.special(f"ctaid.{axis}"), evaluator.special(size))
            for axis in "xyz"
            if (size := f"nctaid.{axis}") in names
        ]

    def _is_given(self, name: str) -> bool:
        return name.partition("+")[0] in self.prover.evaluator.parameters or name.startswith(BLOCKS)

    def _condition(self, way: Way) -> Expression:
        evaluator, forms = self.prover.evaluator, self.prover.forms
        if self.is_branch(way):
            return forms.closed(evaluator.edge(way.block, way.to))
        held = evaluator.definition(Assigned(way.block, way.index, 0))
        return forms.closed(held if way.to else evaluator.values.invert(held))
