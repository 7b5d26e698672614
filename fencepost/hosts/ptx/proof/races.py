"""Whether two threads can touch the same bytes in one interval, one of them writing: quick tests, then a solver."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, sum_parts
from fencepost.hosts.ptx.proof.allocators import Allocators
from fencepost.hosts.ptx.proof.bytes_by_thread import Listed, contested
from fencepost.hosts.ptx.proof.intervals import Interval, Iteration, Place, Reached
from fencepost.hosts.ptx.proof.race_questions import Budget, Candidate, Outcome, Touch
from fencepost.hosts.ptx.proof.race_solver import SECONDS_FOR_ONE_ACCESS, RaceSolver
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions, common
from fencepost.hosts.ptx.proof.solver_threads import Thread
from fencepost.hosts.ptx.proof.thread_pairs import ANY, ITSELF, OTHER_WARPS, Pairs
from fencepost.hosts.ptx.reading.effects import effect, is_strong
from fencepost.hosts.ptx.reading.flow import ENTRY, NotJudged

BATCH = 24
"""How many accesses one question compares a write with."""
MOST_PAIRS_OF_STATES = 9


class Races(RaceSolver):
    """Asks about every pair of accesses in every interval of a kernel."""

    def __init__(
        self, evaluator: Evaluator, forms: ClosedForms, questions: Questions, budget: Budget
    ) -> None:
        super().__init__(evaluator, forms, questions, budget)
        self.allocators = Allocators(self, questions)

    def interval(self, interval: Interval, threads: Pairs, outcome: Outcome) -> None:
        """Adds what is found in one interval."""
        touches = list(self._touches(interval))
        by_variable: dict[str, list[Touch]] = {}
        for touch in touches:
            by_variable.setdefault(touch.footprint.variable, []).append(touch)
        for group in by_variable.values():
            self._group(group, threads, outcome)

    def happens_somewhere(self, places: Collection[Place]) -> bool:
        """Whether each of some instructions has an access that some thread can perform inside of its variable."""
        return all(any(map(self.may_happen, self._touches(self._alone(place)))) for place in places)

    def _alone(self, place: Place) -> Interval:
        """An interval with the accesses of one instruction, in any iterations."""
        flow = self.evaluator.flow
        around = tuple(sorted((loop.header, Iteration("any")) for loop in flow.loops_around(place.block)))
        accesses = effect(flow.blocks[place.block].instructions[place.index]).accesses
        return Interval((ENTRY, 0, ()), tuple(Reached(place, each, around) for each in accesses), {})

    def misses(
        self,
        place: Place,
        variable: str,
        words: tuple[int, int],
        known: Callable[[Thread, str], list[Formula]],
    ) -> bool:
        """Whether an access never touches some bytes of a variable; `known` is what may be taken for granted."""
        z3 = self.questions.z3
        for touch in self._touches(self._alone(place)):
            if touch.footprint.variable != variable:
                continue
            thread = self._thread("1", touch, False, coarse=False)
            performed = self._performs(thread, touch)
            offset = thread.formula(touch.footprint.offset)
            meets = z3.And(z3.ULT(offset, words[1]), z3.ULT(words[0], offset + touch.footprint.size))
            solver = z3.SolverFor("QF_BV")
            self.limit(solver, SECONDS_FOR_ONE_ACCESS)
            solver.add(
                *self.pair_of_threads(ITSELF), *performed, *thread.facts, *known(thread, variable), meets
            )
            if solver.check() != z3.unsat:
                return False
        return True

    def own_copies(self, interval: Interval, outcome: Outcome) -> None:
        """Adds the copies that may write the bytes of an access by the same thread; the interval has nothing else."""
        touches = list(self._touches(interval))
        for touch in touches:
            copies = [
                each
                for each in touches
                if each.kind == "copy" and each.footprint.variable == touch.footprint.variable
            ]
            if touch.kind == "copy":
                continue
            for start in range(0, len(copies), BATCH):
                batch = copies[start : start + BATCH]
                answer, values = self._solve(touch, batch, ITSELF)
                if answer == "yes":
                    outcome.candidates.append(Candidate(batch[0], touch, values))
                elif answer == "late":
                    outcome.open.append((batch[0], touch))

    def _group(self, group: list[Touch], threads: Pairs, outcome: Outcome) -> None:
        distinct: dict[object, Touch] = {}
        for touch in group:
            distinct.setdefault(touch.key(), touch).alike.append(touch.reached)
        touches = list(distinct.values())
        for at, numbers in self._to_compare(touches):
            write = touches[at]
            if self.budget.left() <= 0:
                outcome.open.append((write, touches[numbers[0]]))
                return
            others = [
                touches[number] for number in numbers if self._is_asked(write, touches[number], threads)
            ]
            for start in range(0, len(others), BATCH):
                self.ask(write, others[start : start + BATCH], threads, outcome)
            if len(outcome.candidates) > self.enough or len(outcome.open) >= self.enough_open:
                return

    def _is_asked(self, write: Touch, other: Touch, threads: Pairs) -> bool:
        """Whether a pair is a question that was not asked before, and that a quick test does not answer."""
        key = self._question_key(write, other, threads)
        if key in self._asked:
            return False
        self._asked.add(key)
        return not self._apart(write, other)

    def _question_key(self, write: Touch, other: Touch, threads: Pairs) -> object:
        """Equal for questions with one answer. What is known of a counter's numbers holds in one interval."""
        interval = write.interval.start if self.allocators.exist else None
        return (write.key(), other.key(), threads, interval)

    def _only_in_this_interval(self, write: Touch, other: Touch, threads: Pairs) -> None:
        """The ways from this barrier keep two accesses apart; from another one, they may still meet."""
        self._asked.discard(self._question_key(write, other, threads))

    def _to_compare(self, touches: Sequence[Touch]) -> Iterator[tuple[int, list[int]]]:
        """For each access that writes, those that it may meet."""
        listed = [self._listed(touch) for touch in touches]
        meeting = _meeting(touches, listed)
        origins = {None if each is None else each.shared for each in listed}
        one_origin = len(origins) == 1 and None not in listed

        def may_meet(at: int, number: int) -> bool:
            write, other = touches[at], touches[number]
            if other.kind != "read" and number < at:
                return False  # The pair has its turn the other way round.
            if write.kind == other.kind == "atomic" and write.matches(other):
                return False  # It needs no order.
            if at in meeting and number in meeting:
                return True
            own, its = listed[at], listed[number]
            return own is None or its is None or own.shared != its.shared

        for at, write in enumerate(touches):
            if write.kind == "read" or (one_origin and at not in meeting):
                continue
            numbers = [number for number in range(len(touches)) if may_meet(at, number)]
            if numbers:
                yield at, numbers

    def _touches(self, interval: Interval) -> Iterator[Touch]:
        for reached in interval.reached:
            for footprint in self.addresses.footprints(reached.place, reached.access):
                block, index = reached.place.block, reached.place.index
                instruction = self.evaluator.flow.blocks[block].instructions[index]
                own = self.forms.closed(self.evaluator.guard_of(instruction, block, index))
                held = [*self.conditions(block), own, self.forms.closed(footprint.condition)]
                parts = [part for each in held for part in self.evaluator.values.conjuncts(each)]
                conditions = tuple(each for each in parts if each.known != 1)
                yield Touch(reached, footprint, conditions, interval, is_strong(instruction))

    def conditions(self, block: int) -> tuple[Expression, ...]:
        """What holds for a thread at a block, in closed form."""
        if block not in self._conditions:
            found = [self.forms.closed(each) for each in self.evaluator.conditions(block)]
            self._conditions[block] = tuple(each for each in found if each.known != 1)
        return self._conditions[block]

    def _apart(self, first: Touch, second: Touch) -> bool:
        """A quick test: the bytes of both, listed thread by thread, or a stride that keeps threads apart."""
        if self.apart_in_a_block and place_pairs(first, second) <= self.apart_in_a_block:
            return True
        left, right = self._listed(first), self._listed(second)
        if left is not None and right is not None and left.shared == right.shared:
            return left.apart_from(right)
        return self._strided(first, second)

    def _listed(self, touch: Touch) -> Listed | None:
        if self.listings is None:
            return None
        key = (touch.footprint, touch.conditions, touch.reached.iterations, touch.reached.place.block)
        if key not in self._lists:
            size = self.evaluator.sizes.get(touch.footprint.variable)
            self._lists[key] = self.listings.listed(
                touch.footprint.offset,
                touch.footprint.size,
                size,
                touch.conditions,
                touch.reached,
            )
        return self._lists[key]

    def _strided(self, first: Touch, second: Touch) -> bool:
        """Each thread has bytes of its own, at a stride of at least the size."""
        left, right = first.footprint, second.footprint
        if left.offset is not right.offset or first.reached.iterations != second.reached.iterations:
            return False
        _, factors = sum_parts(left.offset)
        moving = {
            a: c for a, c in factors.items() if not common(self.questions, a, dict(first.reached.iterations))
        }
        if len(moving) != 1:
            return False
        atom, factor = next(iter(moving.items()))
        launch = self.evaluator.launch
        one_row = (launch.block or launch.largest)[1:] == (1, 1)
        size = max(left.size, right.size)
        own = atom.operation == "leaf" and atom.leaf.name == "tid.x"
        return own and one_row and size <= factor <= (1 << 31) // 1024

    # ---- the solver

    def ask(self, write: Touch, others: Sequence[Touch], threads: Pairs, outcome: Outcome) -> None:
        """Whether a write can meet one of some accesses; adds the answer to the outcome."""
        if threads.same_warp and len(outcome.weak) > self.enough:
            others = [other for other in others if not self._only_weak(write, other, threads)]
        if not others or len(outcome.candidates) > self.enough or len(outcome.open) >= self.enough_open:
            return
        answer, _ = self._solve(write, others, threads)
        if answer == "no":
            return
        if (
            threads == ANY
            and self.evaluator.launch.warp_synchronous
            and all(each.reached.place != write.reached.place for each in others)
        ):
            apart, _ = self._solve(write, others, OTHER_WARPS)
            if apart == "no":
                self._within_warps(write, others, outcome)
                return
        if len(others) > 1:
            for part in (others[: len(others) // 2], others[len(others) // 2 :]):
                self.ask(write, part, threads, outcome)
        elif answer == "yes":
            self._with_paths(write, others[0], threads, outcome)
        else:
            outcome.open.append((write, others[0]))

    def _within_warps(self, write: Touch, others: Sequence[Touch], outcome: Outcome) -> None:
        """Accesses that meet within a warp at most: the first few that do."""
        for other in others:
            if len(outcome.weak) > self.enough:
                return
            answer, values = self._solve(write, [other], ANY)
            if answer == "no":
                continue
            answer, values = self._solve(write, [other], ANY, with_paths=True)
            if answer == "no":
                self._only_in_this_interval(write, other, ANY)
            else:
                outcome.weak.append(Candidate(write, other, values))

    def _only_weak(self, write: Touch, other: Touch, threads: Pairs) -> bool:
        """Whether a meeting is no race: of an atomic and a strong load or, if the threads of a warp run in step, of
        two of them at different instructions."""
        if {write.kind, other.kind} == {"atomic", "read"}:
            return (write if write.kind == "read" else other).strong
        in_step = self.evaluator.launch.warp_synchronous and threads.same_warp
        return in_step and write.reached.place != other.reached.place

    def _with_paths(self, write: Touch, other: Touch, threads: Pairs, outcome: Outcome) -> None:
        """Asks again, with what is known because both threads came from the same barrier."""
        answer, values = self._solve(write, [other], threads, with_paths=True)
        if answer == "yes" and self._apart_in_each_state(write, other, threads):
            answer = "no"
        candidate = Candidate(write, other, values)
        if answer == "yes" and self._only_weak(write, other, threads):
            outcome.weak.append(candidate)
        elif answer == "yes":
            outcome.candidates.append(candidate)
        elif answer == "late":
            outcome.open.append((write, other))
        else:
            self._only_in_this_interval(write, other, threads)

    def _apart_in_each_state(self, write: Touch, other: Touch, threads: Pairs) -> bool:
        """Whether accesses that stand for several states, of which less is known together, do not meet in any."""
        pairs = list(product(write.by_state(), other.by_state()))
        if not 1 < len(pairs) <= MOST_PAIRS_OF_STATES:
            return False
        return all(self._solve(one, [two], threads, with_paths=True)[0] == "no" for one, two in pairs)


__all__ = ["NotJudged", "Races"]


def place_pairs(first: Touch, second: Touch) -> set[frozenset[Place]]:
    """The pairs of instructions that a question about two touches is about."""
    return {
        frozenset((one.place, other.place))
        for one in (first.reached, *first.alike)
        for other in (second.reached, *second.alike)
    }


def _meeting(touches: Sequence[Touch], listed: Sequence[Listed | None]) -> set[int]:
    """The accesses that may meet others whose bytes are listed from the same place: those with a byte that two
    threads touch, and those that are not listed. Most kernels have many accesses, and none of the former."""
    meeting = {at for at, each in enumerate(listed) if each is None}
    classes: dict[object, list[int]] = {}
    for at, each in enumerate(listed):
        if each is not None:
            classes.setdefault(each.shared, []).append(at)
    for members in classes.values():
        cells = [each for at in members if (each := listed[at]) is not None]
        found = contested(cells, [touches[at].kind != "read" for at in members])
        meeting |= {members[number] for number in found}
    return meeting
