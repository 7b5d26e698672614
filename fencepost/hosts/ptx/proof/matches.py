"""What `__match_any_sync` with all lanes tells: each lane gets those of its warp that have the same value as it has.

So two lanes with one value have one mask, and lanes with two values have masks without a common lane. A store of the
first lane of each mask (`lane == __ffs(mask) - 1`) to a place that the value names is one of one lane for each place.
"""

from __future__ import annotations

from fencepost.hosts.ptx.expressions.evaluate import FULL_MASK
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves
from fencepost.hosts.ptx.proof.active_masks import LOWEST, REVERSE
from fencepost.hosts.ptx.proof.ballots import LANES, WARP_BITS, together
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread
from fencepost.hosts.ptx.reading.instructions import operand_type, result
from fencepost.hosts.ptx.reading.module import width_of
from fencepost.hosts.ptx.reading.ssa import Assigned


class Matches:
    """What is known about two threads' matches."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        evaluator = questions.evaluator
        self.matched: dict[Expression, Expression] = {}
        """By mask, the value that lanes have in common."""
        for number in evaluator.flow.order:
            for index, each in enumerate(evaluator.flow.blocks[number].instructions):
                if each.parts[:3] != ("match", "any", "sync") or each.guard is not None:
                    continue
                value, lanes = (
                    evaluator.operand(operand, number, index, width)
                    for operand, width in zip(
                        each.operands[1:], (width_of(operand_type(each)), 32), strict=True
                    )
                )
                if lanes.known == FULL_MASK:
                    mask = evaluator.definition(Assigned(number, index, 0))
                    self.matched[mask] = questions.forms.closed(value)

    def facts(self, first: Thread, second: Thread, numbers: tuple[Formula, Formula]) -> list[Formula]:
        """What two threads of one warp know of each other; `numbers` are those of the threads in their block."""
        z3, flow = self.questions.z3, self.questions.evaluator.flow
        one_warp = z3.LShR(numbers[0], WARP_BITS) == z3.LShR(numbers[1], WARP_BITS)
        found: list[Formula] = []
        for mask, value in self.matched.items():
            if mask not in first.opaque or mask not in second.opaque:
                continue
            if not together(flow, first, second, mask):
                continue
            one, other = first.opaque[mask], second.opaque[mask]
            for number, lanes in zip(numbers, (one, other), strict=True):
                found.append(z3.LShR(lanes, number & LANES) & 1 == 1)
            alike = first.formula(value) == second.formula(value)
            same = [one == other]
            for name in LOWEST:
                lowest = self._lowest(name, mask)
                same.append(first.formula(lowest) == second.formula(lowest))
            found.append(z3.Implies(z3.And(one_warp, alike), z3.And(*same)))
            found.append(z3.Implies(z3.And(one_warp, z3.Not(alike)), one & other == 0))
        return found

    def with_masks(self, found: frozenset[Expression]) -> frozenset[Expression]:
        """Some leaves, and the masks of lanes that have the values of some of them in common."""
        return found.union(mask for mask, value in self.matched.items() if leaves(value) & found)

    def _lowest(self, name: str, mask: Expression) -> Expression:
        """The number of the lowest lane in a mask."""
        values = self.questions.forms.values
        return values.function(name, (result(values, REVERSE, [mask]),), 32)
