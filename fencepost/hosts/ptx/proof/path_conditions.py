"""What must have held on the way from a barrier to an access: the conditions of the branches taken since.

`Evaluator.conditions` knows what dominates an access. This adds what is known because the thread came from one
particular barrier without passing another, such as that a loop with a barrier in it was skipped.
"""

from __future__ import annotations

from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves
from fencepost.hosts.ptx.proof.intervals import Interval, Iteration, Reached, State
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread


class PathConditions:
    """Path conditions in one interval, for one of the two threads."""

    def __init__(self, questions: Questions, interval: Interval, name: str, same_warp: bool) -> None:
        self.questions = questions
        self.z3 = questions.z3
        self.interval = interval
        self.name = name
        self.same_warp = same_warp
        self._done: dict[State, Formula] = {}

    def leading_to(self, reached: Reached) -> Formula:
        """What holds if a thread gets to an access; nothing for a copy that was issued before the interval."""
        states = self.interval.states_of(reached)
        return self.z3.Or(*map(self.condition, states)) if states else self.z3.BoolVal(True)

    def condition(self, state: State) -> Formula:
        """What holds if a thread gets to a state."""
        if state == self.interval.start:
            return self.z3.BoolVal(True)
        found = self._done.get(state)
        if found is None:
            ways = [
                self.z3.And(self.condition(source), self._edge(source, state))
                for source in self.interval.sources[state]
                if not self._repeats(source, state)
            ]
            found = self.z3.simplify(self.z3.Or(*ways))
            self._done[state] = found
        return found

    def _repeats(self, source: State, state: State) -> bool:
        """Whether this is one more trip around a loop that the thread is in any iteration of."""
        loop = self.questions.evaluator.flow.loop_of.get(state[0])
        if loop is None or source[0] not in loop:
            return False
        return dict(source[2]).get(state[0]) == dict(state[2]).get(state[0])

    def _edge(self, source: State, state: State) -> Formula:
        evaluator = self.questions.evaluator
        condition = self.questions.forms.closed(evaluator.edge(source[0], state[0]))
        if condition.known is not None:
            return self.z3.BoolVal(bool(condition.known))
        if not self._is_definite(condition, dict(source[2])):
            return self.z3.BoolVal(True)
        thread = Thread(self.questions, self.name, source[2], self.same_warp)
        found = thread.formula(condition)
        if all(mode.kind in ("start", "number") for _, mode in source[2]):
            # They hold on this way: another one may not come to that iteration.
            return self.z3.And(found, *thread.facts)
        return found

    def _is_definite(self, condition: Expression, iterations: dict[int, Iteration]) -> bool:
        """Whether the condition is about one moment: not about an iteration that may come up again on the way."""
        for leaf in leaves(condition):
            home = leaf.leaf.block
            if home is None:
                continue
            for loop in self.questions.evaluator.flow.loops_around(home):
                mode = iterations.get(loop.header)
                if mode is None or mode.kind == "start":
                    continue
                if mode.kind != "number" or leaf.leaf.kind != "iteration":
                    return False
        return True
