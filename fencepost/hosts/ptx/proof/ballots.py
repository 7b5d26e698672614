"""What `__ballot_sync` with all lanes tells: the lanes of a warp get the same bits, each its own condition as one.

So `__popc(ballot & ((1 << lane) - 1))` is a place of its own for every lane whose condition holds. All lanes of a
warp that have not exited take part in a vote whose mask is full, and its value is one only in the same iteration.
"""

from __future__ import annotations

from fencepost.hosts.ptx.expressions.expression_nodes import Expression
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread
from fencepost.hosts.ptx.reading.ssa import Assigned

WARP_BITS, LANES = 5, 31


class Ballots:
    """What is known about two threads' ballots."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.flow = questions.evaluator.flow
        self._conditions: dict[Expression, Expression | None] = {}
        self.exist = any(
            each.name == "vote" and "ballot" in each.parts
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )
        """Whether there may be any."""

    def facts(self, first: Thread, second: Thread, numbers: tuple[Formula, Formula]) -> list[Formula]:
        """Each thread's own bit, and that both are the same if the threads are of one warp; `numbers` are those of
        the threads in their block."""
        if not self.exist:
            return []
        z3 = self.questions.z3
        found: list[Formula] = []
        for thread, number in zip((first, second), numbers, strict=True):
            for value in [each for each in thread.opaque if self._is_in_step(thread, each)]:
                condition = self._condition(value)
                assert condition is not None
                own = z3.LShR(thread.opaque[value], number & LANES) & 1
                found.append((own == 1) == thread.formula(condition))
        one_warp = z3.LShR(numbers[0], WARP_BITS) == z3.LShR(numbers[1], WARP_BITS)
        for value in first.opaque:
            if (
                value in second.opaque
                and self._condition(value) is not None
                and self._together(first, second, value)
            ):
                found.append(z3.Implies(one_warp, first.opaque[value] == second.opaque[value]))
        return found

    def _condition(self, value: Expression) -> Expression | None:
        """What lanes voted with, if a value is such a ballot."""
        if value not in self._conditions:
            self._conditions[value] = self._voted(value)
        return self._conditions[value]

    def _voted(self, value: Expression) -> Expression | None:
        definition = value.leaf.definition
        if value.leaf.scope != "warp" or value.width != 32 or not isinstance(definition, Assigned):
            return None
        instruction = self.flow.blocks[definition.block].instructions[definition.index]
        if instruction.name != "vote" or "ballot" not in instruction.parts or instruction.guard is not None:
            return None
        evaluator = self.questions.evaluator
        said = evaluator.operand(instruction.operands[1], definition.block, definition.index, 1)
        return self.questions.forms.closed(said)

    def _is_in_step(self, thread: Thread, value: Expression) -> bool:
        """Whether a value is a ballot of an iteration that is known: after its loop, it may be of an older one."""
        return self._condition(value) is not None and all(
            thread.iterations.get(loop.header) is not None
            for loop in self.flow.loops_around(value.leaf.block or 0)
        )

    def _together(self, first: Thread, second: Thread, value: Expression) -> bool:
        """Whether both threads are in the same iteration of the loops around a vote."""
        modes = [
            (first.iterations.get(loop.header), second.iterations.get(loop.header))
            for loop in self.flow.loops_around(value.leaf.block or 0)
        ]
        return all(
            one is not None and one == other and one.kind in ("start", "number") for one, other in modes
        )
