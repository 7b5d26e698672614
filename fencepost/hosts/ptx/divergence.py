"""Whether every barrier is reached by all threads that have not ended: its branches are taken alike by all of them.

A branch that some threads take to their end, passing no barrier, is no divergence: ended threads take no part."""

from __future__ import annotations

from dataclasses import dataclass

from .effects import effect
from .evaluate import Evaluator
from .intervals import Iteration, Place
from .questions import Questions, Thread, loads_agree
from .races import Races, Threads, readable
from .values import Expression


@dataclass(frozen=True)
class Doubt:
    """A barrier and a branch that threads may take differently on their way to it."""

    barrier: Place
    branch: int
    values: dict[str, int]


class Divergence:
    """Asks about the branches that decide whether barriers are reached."""

    def __init__(self, evaluator: Evaluator, races: Races, questions: Questions) -> None:
        self.evaluator = evaluator
        self.races = races
        self.questions = questions
        self.flow = evaluator.flow
        self._answers: dict[tuple[int, frozenset[int], str], dict[str, int] | None] = {}
        self.barrier_blocks = {
            number
            for number in self.flow.order
            if any(effect(each).barrier == "block" for each in self.flow.blocks[number].instructions)
        }

    def doubts(self, barrier: Place, threads: Threads) -> list[Doubt]:
        """The branches on which threads may part before a barrier."""
        found = []
        for branch in sorted(self._deciding(barrier.block)):
            if threads == "any" and self._ends_otherwise(branch):
                continue
            common = frozenset(
                loop.header for loop in self.flow.loops_around(branch) if barrier.block in loop
            )
            key = (branch, common, threads)
            if key not in self._answers:
                self._answers[key] = self._parts(branch, common, threads)
            values = self._answers[key]
            if values is not None:
                found.append(Doubt(barrier, branch, values))
        return found

    def _deciding(self, block: int) -> set[int]:
        found: set[int] = set()
        todo = [block]
        while todo:
            for branch in self.flow.control_dependences.get(todo.pop(), ()):
                if branch not in found:
                    found.add(branch)
                    todo.append(branch)
        return found

    def _ends_otherwise(self, branch: int) -> bool:
        """Whether all but one of the ways on lead to the thread's end without a barrier."""
        leading = [
            following
            for following in self.flow.successors[branch]
            if self.flow.reachable([following]) & self.barrier_blocks
        ]
        return len(leading) <= 1

    def _parts(self, branch: int, common: frozenset[int], threads: Threads) -> dict[str, int] | None:
        """Values with which two threads take a branch differently; None if there are none."""
        conditions = [
            self.questions.forms.closed(self.evaluator.edge(branch, following))
            for following in self.flow.successors[branch]
        ]
        if all(self._same_for_all(condition, branch, common) for condition in conditions):
            return None
        z3 = self.questions.z3
        modes = {
            loop.header: Iteration("start" if loop.header in common else "any")
            for loop in self.flow.loops_around(branch)
        }
        pair = [
            Thread(self.questions, name, tuple(sorted(modes.items())), threads == "same warp")
            for name in ("1", "2")
        ]
        solver = z3.SolverFor("QF_BV")
        self.races.limit(solver, self.races.budget.left())
        solver.add(*self.races.pair_of_threads(threads))
        for thread in pair:
            solver.add(*[thread.formula(each) for each in self.races.conditions(branch)])
        different = [pair[0].formula(each) != pair[1].formula(each) for each in conditions]
        solver.add(z3.Or(*different), *loads_agree(self.questions, pair[0], pair[1]))
        solver.add(*pair[0].facts, *pair[1].facts)
        answer = solver.check()
        if answer == z3.unsat:
            return None
        return readable(solver.model()) if answer == z3.sat else {}

    def _same_for_all(self, condition: Expression, branch: int, common: frozenset[int]) -> bool:
        """Whether the condition is uniform and threads are in the same iterations when they come to it."""
        around = {loop.header for loop in self.flow.loops_around(branch)}
        return around == common and self.questions.uniformity.uniform(condition, branch)
