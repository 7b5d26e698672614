"""Whether every barrier is reached by all threads that have not ended: its branches are taken alike by all of them.

A branch that some threads take to their end, passing no barrier, is no divergence: ended threads take no part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression
from fencepost.hosts.ptx.proof.intervals import Iteration, Place
from fencepost.hosts.ptx.proof.race_solver import readable
from fencepost.hosts.ptx.proof.races import Races
from fencepost.hosts.ptx.proof.solver_questions import Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread, loads_agree
from fencepost.hosts.ptx.proof.thread_pairs import Pairs
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Instruction


@dataclass(frozen=True)
class PossibleDivergence:
    """A barrier and a branch that threads may take differently on their way to it."""

    barrier: Place
    branch: int
    values: dict[str, int]


@lru_cache(maxsize=8)
def barrier_blocks(flow: Flow, of_warps: bool = False) -> frozenset[int]:
    """The blocks with a barrier of all threads; those with one of a warp as well, if these count."""
    kinds = ("block", "warp") if of_warps else ("block",)
    return frozenset(
        number
        for number in flow.order
        if any(effect(each).barrier in kinds for each in flow.blocks[number].instructions)
    )


def deciding(dependences: Mapping[int, set[int]], block: int) -> set[int]:
    """The branches that decide whether and how often a block runs."""
    found: set[int] = set()
    todo = [block]
    while todo:
        for branch in dependences.get(todo.pop(), ()):
            if branch not in found:
                found.add(branch)
                todo.append(branch)
    return found


def dependences_of_those_who_stay(flow: Flow, barriers: frozenset[int]) -> dict[int, set[int]]:
    """Control dependences without early exits: for a thread that goes on, they are no branches."""
    kept = []
    for number, successors in enumerate(flow.successors):
        ways = successors
        if len(successors) > 1 and number in flow.reached and ends_otherwise(flow, number, barriers):
            ways = [each for each in successors if flow.reachable([each]) & barriers] or successors
        kept.append(ways)
    for number in flow.reached - _leading_to(flow.exit, kept):
        # The only way out of a loop is no early exit: without it, nothing would be behind the loop.
        kept[number] = flow.successors[number]
    return flow.dependences_along(kept)


def _leading_to(block: int, successors: Sequence[Sequence[int]]) -> set[int]:
    """The blocks from which a block is reached."""
    before: dict[int, list[int]] = {}
    for number, following in enumerate(successors):
        for each in following:
            before.setdefault(each, []).append(number)
    found, todo = {block}, [block]
    while todo:
        for each in before.get(todo.pop(), ()):
            if each not in found:
                found.add(each)
                todo.append(each)
    return found


def ends_otherwise(flow: Flow, branch: int, barriers: frozenset[int]) -> bool:
    """Whether all but one of the ways on lead to the thread's end: an early exit, not a barrier in a condition.

    If what follows the barrier is also done by the threads that skip it, they have not left early."""
    leading = [each for each in flow.successors[branch] if flow.reachable([each]) & barriers]
    if len(leading) > 1:
        return False
    others = flow.reachable([each for each in flow.successors[branch] if each not in leading])
    shared = others & flow.reachable(leading)
    return not any(_works(each) for number in shared for each in flow.blocks[number].instructions)


def _works(instruction: Instruction) -> bool:
    return instruction.name in ("st", "atom", "red", "ld") or bool(effect(instruction).accesses)


@lru_cache(maxsize=8)
def conditional_branches(flow: Flow) -> frozenset[int]:
    """The branches that all threads must take alike, because a barrier depends on them."""
    barriers = barrier_blocks(flow)
    dependences = dependences_of_those_who_stay(flow, barriers)
    found = {branch for block in barriers for branch in deciding(dependences, block)}
    return frozenset(branch for branch in found if not ends_otherwise(flow, branch, barriers))


class Divergence:
    """Asks about the branches that decide whether barriers are reached."""

    def __init__(self, evaluator: Evaluator, races: Races, questions: Questions) -> None:
        self.evaluator = evaluator
        self.races = races
        self.questions = questions
        self.flow = evaluator.flow
        self._answers: dict[tuple[int, frozenset[int], Pairs], dict[str, int] | None] = {}
        blocks, either = barrier_blocks(self.flow), barrier_blocks(self.flow, of_warps=True)
        self.of_block = blocks, dependences_of_those_who_stay(self.flow, blocks)
        self.of_warps = either, dependences_of_those_who_stay(self.flow, either)

    def doubts(self, barrier: Place, threads: Pairs) -> list[PossibleDivergence]:
        """The branches on which threads may part before a barrier."""
        found = []
        blocks, dependences = self.of_warps if threads.same_warp else self.of_block
        for branch in sorted(deciding(dependences, barrier.block)):
            if ends_otherwise(self.flow, branch, blocks):
                continue
            common = frozenset(
                loop.header for loop in self.flow.loops_around(branch) if barrier.block in loop
            )
            key = (branch, common, threads)
            if key not in self._answers:
                self._answers[key] = self._parts(branch, common, threads)
            values = self._answers[key]
            if values is not None:
                found.append(PossibleDivergence(barrier, branch, values))
        return found

    def _parts(self, branch: int, common: frozenset[int], threads: Pairs) -> dict[str, int] | None:
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
            Thread(self.questions, name, tuple(sorted(modes.items())), threads.same_warp)
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
