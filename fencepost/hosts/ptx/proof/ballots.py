"""What `__ballot_sync` with all lanes tells: the lanes of a warp get the same bits, each its own condition as one.

So `__popc(ballot & ((1 << lane) - 1))` is a place of its own for every lane whose condition holds. All lanes of a
warp that have not exited take part in a vote whose mask is full, and its value is one only in the same iteration.

What is counted is then a number of bits: of fewer bits there are fewer. A solver that has every bit of such counts
takes too long to see that, so it is told, and asked without them first.
"""

from __future__ import annotations

from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts
from fencepost.hosts.ptx.proof.active_masks import came_together, is_active_mask
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.ssa import Assigned

WARP_BITS, LANES = 5, 31
BITS, HALF = 32, 1 << 16
MOST_COUNTS = 4
"""Instructions that count bits of ballots, about which a solver is told more."""


class Ballots:
    """What is known about two threads' ballots."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.flow = questions.evaluator.flow
        self._conditions: dict[Expression, Expression | None] = {}
        self.exist = any(
            each.name == "activemask" or (each.name == "vote" and "ballot" in each.parts)
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )
        """Whether there may be any."""
        self._counts: list[tuple[Expression, Expression]] | None = None

    def facts(self, first: Thread, second: Thread, numbers: tuple[Formula, Formula]) -> list[Formula]:
        """Each thread's own bit, and that both are the same if the threads are of one warp; `numbers` are those of
        the threads in their block."""
        if not self.exist:
            return []
        z3 = self.questions.z3
        found: list[Formula] = []
        for thread in (first, second):
            if thread.coarse:  # The ballots behind counts that were left open.
                for bits, _ in self._counted():
                    thread.formula(bits)
        for thread, number in zip((first, second), numbers, strict=True):
            for value in [each for each in thread.opaque if self._is_in_step(thread, each)]:
                condition = self._condition(value)
                assert condition is not None
                own = z3.LShR(thread.opaque[value], number & LANES) & 1
                found.append((own == 1) == thread.formula(condition))
        one_warp = z3.LShR(numbers[0], WARP_BITS) == z3.LShR(numbers[1], WARP_BITS)
        for value in first.opaque:
            if is_active_mask(self.flow, value) and value in second.opaque:
                same = first.opaque[value] == second.opaque[value]
                found.append(z3.Implies(came_together(self.questions, value), z3.And(one_warp, same)))
            elif (
                value in second.opaque
                and self._condition(value) is not None
                and together(self.flow, first, second, value)
            ):
                found.append(z3.Implies(one_warp, first.opaque[value] == second.opaque[value]))
        return [*found, *self._of_counts(first, second)]

    def with_conditions(self, found: frozenset[Expression]) -> frozenset[Expression]:
        """Some leaves, and those of the conditions that lanes voted with for ballots among them."""
        if not self.exist:
            return found
        voted = [held for each in found if (held := self._condition(each)) is not None]
        return found.union(*map(leaves, voted))

    def leave_counts_open(self, thread: Thread) -> None:
        """Makes counts of bits of ballots variables, about which only `facts` says anything."""
        upper = self.questions.forms.values.upper
        for _, count in self._counted() if self.exist else ():
            constant, factors = sum_parts(count)
            if constant == 0 and all(upper(each) < HALF and factors[each] == 1 for each in factors):
                for part in factors:  # They add up to the count without a carry, so that none is larger.
                    thread.leave_open(part, BITS)

    def _of_counts(self, first: Thread, second: Thread) -> list[Formula]:
        """Of bits that are among others there are no more, and fewer if there are others; of all bits there are as
        many as a word has. This holds for any bits."""
        z3 = self.questions.z3
        counted = [
            (thread.formula(bits), thread.formula(count))
            for thread in (first, second)
            for bits, count in self._counted()
            if any(leaf in thread.opaque for leaf in leaves(bits))
        ]
        found = []
        for at, (bits, count) in enumerate(counted):
            found.append(z3.ULE(count, BITS))
            for number, (others, more) in enumerate(counted):
                if number == at:
                    continue
                beyond = z3.If(others & ~bits == 0, z3.BitVecVal(0, 32), z3.BitVecVal(1, 32))
                found.append(z3.Implies(bits & ~others == 0, z3.ULE(count + beyond, more)))
                if number > at:
                    left = z3.If(
                        bits | others == ~z3.BitVecVal(0, 32), z3.BitVecVal(0, 32), z3.BitVecVal(1, 32)
                    )
                    found.append(z3.Implies(bits & others == 0, z3.ULE(count + more + left, BITS)))
        return found

    def _counted(self) -> list[tuple[Expression, Expression]]:
        """What is counted of ballots, and the counts."""
        if self._counts is None:
            self._counts = []
            evaluator, closed = self.questions.evaluator, self.questions.forms.closed
            for number in self.flow.order:
                for index, instruction in enumerate(self.flow.blocks[number].instructions):
                    if instruction.opcode != "popc.b32" or len(self._counts) == MOST_COUNTS:
                        continue
                    bits = closed(evaluator.operand(instruction.operands[1], number, index, 32))
                    if any(self._condition(leaf) is not None for leaf in leaves(bits)):
                        count = evaluator.definition(Assigned(number, index, 0))
                        self._counts.append((bits, closed(count)))
        return self._counts

    def _condition(self, value: Expression) -> Expression | None:
        """What lanes voted with, if a value is such a ballot."""
        if value not in self._conditions:
            self._conditions[value] = self._voted(value)
        return self._conditions[value]

    def _voted(self, value: Expression) -> Expression | None:
        definition = value.leaf.definition
        if is_active_mask(self.flow, value):
            return self.questions.forms.values.constant(1, 1)  # A lane that is there is among them.
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


def together(flow: Flow, first: Thread, second: Thread, value: Expression) -> bool:
    """Whether both threads are in the same iteration of the loops around where a warp has made a value."""
    modes = [
        (first.iterations.get(loop.header), second.iterations.get(loop.header))
        for loop in flow.loops_around(value.leaf.block or 0)
    ]
    return all(one is not None and one == other and one.kind in ("start", "number") for one, other in modes)
