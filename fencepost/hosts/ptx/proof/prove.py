"""The proof that a kernel is free of races and barrier divergence, or what stands in its way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves
from fencepost.hosts.ptx.expressions.uniformity import Uniformity
from fencepost.hosts.ptx.launches.launch import Launch
from fencepost.hosts.ptx.proof.copies_in_flight import CopiesInFlight
from fencepost.hosts.ptx.proof.divergence import Divergence, PossibleDivergence
from fencepost.hosts.ptx.proof.global_atomics import loads_beside_global_atomics
from fencepost.hosts.ptx.proof.intervals import Place, Walk
from fencepost.hosts.ptx.proof.own_copies import ask_about_own_copies
from fencepost.hosts.ptx.proof.race_questions import Budget, Candidate, Outcome, Touch
from fencepost.hosts.ptx.proof.race_solver import ENOUGH, ENOUGH_OPEN
from fencepost.hosts.ptx.proof.races import Races
from fencepost.hosts.ptx.proof.solver_questions import Questions
from fencepost.hosts.ptx.proof.thread_pairs import ANY, OTHER_WARPS, SAME_WARP, Pairs
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import Flow, Loop, NotJudged
from fencepost.hosts.ptx.reading.module import Instruction, Module, Routine

SECONDS_PER_QUESTION = 3.0
SECONDS = 20.0
WHOLE_WARP = 0xFFFFFFFF
MOST_MASKS = 3
"""So many different masks of warp barriers are distinguished; others order nothing."""


@dataclass
class Proof:
    """What is left to explain; if nothing is, the kernel is proven."""

    candidates: list[Candidate] = field(default_factory=list)
    open: list[tuple[Touch, Touch]] = field(default_factory=list)
    doubts: list[PossibleDivergence] = field(default_factory=list)
    refused: list[NotJudged] = field(default_factory=list)
    weak: list[Candidate] = field(default_factory=list)
    """Pairs that meet and are no races: an atomic and a strong load or, if warps run in step, threads of one warp."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left."""
        return not (self.candidates or self.open or self.doubts or self.refused)


def places(flow: Flow) -> Iterable[tuple[Place, Instruction]]:
    """Every instruction and where it is."""
    for number in flow.order:
        for index, instruction in enumerate(flow.blocks[number].instructions):
            yield Place(number, index), instruction


def _subsets(masks: Iterable[Expression]) -> Iterator[frozenset[Expression]]:
    """Every choice among some masks."""
    every = list(masks)
    for size in range(len(every) + 1):
        yield from map(frozenset, combinations(every, size))


class Prover:
    """Asks all questions about one kernel under one launch."""

    def __init__(
        self, module: Module, routine: Routine, flow: Flow, launch: Launch, seconds: float = SECONDS
    ) -> None:
        self.flow = flow
        self.given = (module, routine, flow, launch, seconds)
        self.evaluator = Evaluator(module, routine, flow, launch)
        self.forms = ClosedForms(self.evaluator)
        self.uniformity = Uniformity(self.evaluator, self.forms)
        self.questions = Questions(self.evaluator, self.forms, self.uniformity)
        self.races = Races(
            self.evaluator,
            self.forms,
            self.questions,
            Budget(SECONDS_PER_QUESTION, time.thread_time() + seconds),
        )
        self.divergence = Divergence(self.evaluator, self.races, self.questions)
        self.barriers: dict[Place, str] = {}
        self.dead: frozenset[tuple[int, int]] = frozenset()
        """Edges that no thread can take."""
        self.stopping: frozenset[int] = frozenset()
        """Loops, by header, in which every iteration that is followed by another passes a barrier."""
        for place, instruction in places(flow):
            found = effect(instruction)
            if found.barrier or found.accesses:
                self.uniformity.matters.add(place.block)
            if found.barrier:
                self.barriers[place] = found.barrier

    def takes_alike(self, branch: int) -> bool:
        """Whether all threads that come to a branch take it alike, for a reason that is easy to see."""
        conditions = [
            self.forms.closed(self.evaluator.edge(branch, following))
            for following in self.flow.successors[branch]
        ]
        return all(self.uniformity.uniform(each, branch) for each in conditions)

    def prove(self) -> Proof:
        """All questions, until enough is known to be in the way."""
        proof = Proof()
        try:
            self._prove(proof)
        except NotJudged as refusal:
            proof.refused.append(refusal)
        unlike = self._loads_beside_atomics(proof) | loads_beside_global_atomics(self.evaluator, self.forms)
        if proof.complete and not unlike <= self.evaluator.unlike:
            # The proof has taken such loads as giving all threads the same value.
            again = Prover(*self.given)
            again.evaluator.unlike = unlike | self.evaluator.unlike
            return again.prove()
        return proof

    def _loads_beside_atomics(self, proof: Proof) -> set[tuple[int, int]]:
        """Loads of shared memory that another thread's atomic may meet; all, where not every pair was asked about."""
        found = {
            (each.reached.place.block, each.reached.place.index)
            for pair in proof.weak
            if "atomic" in (pair.first.kind, pair.second.kind)
            for each in (pair.first, pair.second)
            if each.kind == "read"
        }
        if found and len(proof.weak) > ENOUGH:
            return {
                (place.block, place.index)
                for place, instruction in places(self.flow)
                if any(each.kind == "read" for each in effect(instruction).accesses)
            }
        return found

    def _prove(self, proof: Proof) -> None:
        for place, kind in self.barriers.items():
            if kind == "block":
                proof.doubts += self.divergence.doubts(place, ANY)
        if proof.doubts:
            return
        block = {place for place, kind in self.barriers.items() if kind == "block"}
        whole, masked = self._of_warps()
        self._find_ways({place.block for place in block})
        self._ask(block, OTHER_WARPS if whole or masked else ANY, proof)
        for meeting in _subsets(masked) if whole or masked else ():
            if not proof.candidates:
                among = {place for mask in meeting for place in masked[mask]}
                pairs = Pairs("same warp", meeting, frozenset(masked) - meeting)
                self._ask(block | whole | among, pairs, proof)
        if proof.complete:
            outcome = Outcome()
            ask_about_own_copies(self.flow, self.races, outcome)
            proof.candidates += outcome.candidates
            proof.open += outcome.open

    def _ask(self, barriers: set[Place], threads: Pairs, proof: Proof) -> None:
        """The questions about some pairs of threads in all intervals between some barriers."""
        outcome = Outcome()
        walk = Walk(self.flow, lambda place, _: place in barriers, self.dead, self.stopping)
        copies = CopiesInFlight(self.flow, barriers).in_flight()
        for start in (None, *sorted(barriers, key=lambda each: (each.block, each.index))):
            interval = walk.interval(start).with_copies(copies.get(start, ()) if start is not None else ())
            self.races.interval(interval, threads, outcome)
            if len(outcome.candidates) > ENOUGH or len(outcome.open) >= ENOUGH_OPEN:
                break
        proof.open += outcome.open
        proof.candidates += outcome.candidates
        proof.weak += outcome.weak

    def _find_ways(self, barriers: set[int]) -> None:
        """Which ways between barriers there are."""
        self.dead = self._dead_edges(barriers)
        self.stopping = frozenset(
            loop.header
            for loop in self.flow.loops
            if barriers & loop.blocks and self._stops_in_each_iteration(loop, barriers)
        )

    def _stops_in_each_iteration(self, loop: Loop, barriers: set[int]) -> bool:
        """Whether no thread can go by the barriers of a loop and begin another iteration: `if (k < n) { ...;
        __syncthreads(); }` in a loop that goes on as long as k is less than n."""
        if len(loop.latches) != 1:
            return False
        edges = [
            (branch, each) for branch in loop.blocks for each in self.flow.successors[branch] if each in loop
        ]
        ways = {edge for edge in edges if not barriers & set(edge)}
        back = (loop.latches[0], loop.header)
        if loop.header in barriers or back not in ways:
            return True
        if not self._leads_back(loop, ways):
            return True
        needed = [
            edge
            for edge in sorted(ways)
            if len(self.flow.successors[edge[0]]) == 2
            and self.flow.loops_around(edge[0])[-1] is loop
            and (edge == back or not self._leads_back(loop, ways - {edge}))
        ]
        conditions = [self.forms.closed(self.evaluator.edge(*edge)) for edge in needed]
        return len(conditions) > 1 and self.races.impossible(conditions, loop.latches[0], counting=True)

    @staticmethod
    def _leads_back(loop: Loop, edges: set[tuple[int, int]]) -> bool:
        """Whether some edges lead through a whole iteration of a loop."""
        seen, todo = {loop.header}, [loop.header]
        while todo:
            number = todo.pop()
            for source, target in edges:
                if source == number and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return loop.latches[0] in seen

    def _dead_edges(self, barriers: set[int]) -> frozenset[tuple[int, int]]:
        """Edges around barriers in loops that cannot be taken, such as skipping an inner loop that always runs."""
        found = set()
        for loop in self.flow.loops:
            if not barriers & loop.blocks:
                continue
            for branch in loop.blocks:
                following = self.flow.successors[branch]
                if len(following) == 2 and any(each in loop for each in following):
                    found |= {(branch, each) for each in following if self._never(branch, each)}
        return frozenset(found)

    def _never(self, branch: int, following: int) -> bool:
        condition = self.forms.closed(self.evaluator.edge(branch, following))
        if condition.known is not None:
            return condition.known == 0
        if any(leaf.leaf.kind in ("opaque", "carried") for leaf in leaves(condition)):
            return False
        return self.races.impossible([condition, *self.races.conditions(branch)], branch)

    def _of_warps(self) -> tuple[set[Place], dict[Expression, set[Place]]]:
        """The barriers that all lanes of a warp pass together, and by their mask those that the lanes pass together
        that name each other in it. Others order nothing."""
        whole: set[Place] = set()
        masked: dict[Expression, set[Place]] = {}
        for place in (place for place, kind in self.barriers.items() if kind == "warp"):
            mask = self._mask(place)
            if mask is None:
                continue
            if mask.known == WHOLE_WARP:
                whole |= set() if self.divergence.doubts(place, SAME_WARP) else {place}
            elif not self.divergence.doubts(place, Pairs("same warp", frozenset({mask}))):
                masked.setdefault(mask, set()).add(place)
        if len(masked) > MOST_MASKS:
            masked = dict(list(masked.items())[:MOST_MASKS])
        return whole, masked

    def _mask(self, place: Place) -> Expression | None:
        """The mask of a barrier of a warp; None if it is not the same each time that a thread comes by."""
        instruction = self.flow.blocks[place.block].instructions[place.index]
        if not instruction.operands:
            return self.forms.values.constant(WHOLE_WARP, 32)
        found = self.forms.closed(
            self.evaluator.operand(instruction.operands[0], place.block, place.index, 32)
        )
        fixed = all(
            leaf.leaf.kind in ("thread", "uniform") and leaf.leaf.block is None for leaf in leaves(found)
        )
        return found if fixed else None
