"""Whether two accesses can touch the same bytes, as a question for a solver: who performs them, where, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts, trailing_zeros
from fencepost.hosts.ptx.launches.launch import DYNAMIC_BYTES
from fencepost.hosts.ptx.proof.addresses import Addresses, Footprint
from fencepost.hosts.ptx.proof.allocators import Allocators
from fencepost.hosts.ptx.proof.ballots import Ballots
from fencepost.hosts.ptx.proof.bytes_by_thread import Listed, Listings
from fencepost.hosts.ptx.proof.intervals import Iteration, Place
from fencepost.hosts.ptx.proof.matches import Matches
from fencepost.hosts.ptx.proof.path_conditions import PathConditions
from fencepost.hosts.ptx.proof.race_questions import Answer, Budget, Question, Touch
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread, loads_agree, may_be_cut
from fencepost.hosts.ptx.proof.thread_pairs import ANY, ITSELF, Pairs
from fencepost.hosts.ptx.reading.arithmetic import signed

STEPS_PER_SECOND = 1_200_000
"""What z3 counts as its resources, about a second's worth."""
WIDE = 48
"""Bits in which an offset is computed if it may not fit 32."""
LARGEST_LAYOUT = 1 << 24
"""No parameter that shared memory is laid out by is larger than that."""
ENOUGH = 6
"""So many pairs that may meet are enough to look at."""
SHARE_OF_A_BATCH = 0.3
"""A question about many accesses gets less time: if it is hard, it is split anyway."""
SMALL = (16, 1024)
POSITIVE = (*SMALL, (1 << 16) - 1, (1 << 31) - 1)
SECONDS_FOR_SMALL_VALUES = 0.2
SECONDS_FOR_ONE_ACCESS = 1.0
SECONDS_FOR_CONDITIONS = 0.3
ENOUGH_OPEN = 2
"""So many pairs that were not decided in time are enough to say so."""


class RaceSolver:
    """Asks a solver about pairs of accesses of one kernel."""

    allocators: Allocators

    def __init__(
        self, evaluator: Evaluator, forms: ClosedForms, questions: Questions, budget: Budget
    ) -> None:
        self.evaluator = evaluator
        self.forms = forms
        self.questions = questions
        self.addresses = Addresses(evaluator, forms)
        self.ballots = Ballots(questions)
        self.matches = Matches(questions)
        self.budget = budget
        self.enough = ENOUGH
        self.enough_open = ENOUGH_OPEN
        block = evaluator.launch.block
        self.listings = Listings(questions, block) if block is not None else None
        self._lists: dict[object, Listed | None] = {}
        self.apart_in_a_block: frozenset[frozenset[Place]] = frozenset()
        """Pairs of accesses that no two threads of a block make to the same bytes between two barriers."""
        self._asked: set[object] = set()
        self._conditions: dict[int, tuple[Expression, ...]] = {}

    def _solve(
        self, write: Touch, others: Sequence[Touch], threads: Pairs, with_paths: bool = False
    ) -> tuple[Answer, dict[str, int]]:
        """First with hard values that both threads share left open; then exactly."""
        question = Question(write, tuple(others), threads, with_paths)
        if not with_paths:
            answer, values, coarsened = self._try(question, coarse=True)
            if answer == "no" or not coarsened:
                return answer, values
        answer, values, _ = self._try(question, coarse=False)
        return answer, values

    def _try(self, question: Question, coarse: bool) -> tuple[Answer, dict[str, int], bool]:
        """One question to the solver: an answer, numbers that show it, and whether anything was simplified for it."""
        z3 = self.questions.z3
        if self.budget.left() <= 0:
            return "late", {}, True
        solver = z3.SolverFor("QF_BV")
        same_warp = question.threads.same_warp
        write = question.write
        first = self._thread("1", write, same_warp, coarse)
        solver.add(*self.pair_of_threads(question.threads))
        held = self._performs(first, write)
        meetings = []
        shifts, coarsened = first.shifts, False
        for other in question.others:
            second = self._thread("1" if question.threads == ITSELF else "2", other, same_warp, coarse)
            parts = [self._meet(first, write, second, other), *self._performs(second, other)]
            # What is known of ballots is said last, as others may ask about more of them.
            parts += self.allocators.facts(first, write, second, other, self._numbers())
            parts += self.ballots.facts(first, second, self._numbers())
            parts += self.matches.facts(first, second, self._numbers())
            parts += loads_agree(self.questions, first, second)
            meetings.append(z3.And(*parts, *second.facts))
            shifts = shifts + [each for each in second.shifts if all(not each.eq(one) for one in shifts)]
            coarsened = coarsened or second.coarsened
        solver.add(*held, *first.facts, z3.Or(*meetings))
        if question.with_paths:
            for touch, name in ((write, "1"), (question.others[0], "2")):
                paths = PathConditions(self.questions, touch.interval, name, same_warp)
                ways = [paths.condition(touch.state)] if touch.state else map(paths.leading_to, touch.alike)
                solver.add(z3.Or(*ways))
        answer = self._check(solver, shifts, 1.0 if len(question.others) == 1 else SHARE_OF_A_BATCH)
        values = self._values(solver, SMALL if question.with_paths else ()) if answer == "yes" else {}
        return answer, values, coarsened or first.coarsened

    def _values(self, solver: Any, bounds: Sequence[int]) -> dict[str, int]:
        """The values for which accesses meet: if there are such, small ones, as runs have to come that far, and
        no sizes of nothing."""
        z3, model = self.questions.z3, solver.model()
        numbers = [each() for each in model.decls() if each.arity() == 0 and z3.is_bv_sort(each.range())]
        parameters = [each for each in numbers if str(each).partition("+")[0] in self.evaluator.parameters]
        for most in bounds:
            solver.push()
            solver.add(*[z3.ULE(each, most) for each in numbers if each.size() >= most.bit_length()])
            solver.add(*[each != 0 for each in parameters])
            self.limit(solver, SECONDS_FOR_SMALL_VALUES)
            found = solver.check() == z3.sat
            model = solver.model() if found else model
            solver.pop()
            if found:
                break
        return readable(model)

    @staticmethod
    def limit(solver: Any, seconds: float) -> None:
        """Bounds the work of a solver, so that the answer does not depend on what else the machine does."""
        solver.set("rlimit", max(1, int(seconds * STEPS_PER_SECOND)))
        solver.set("timeout", max(1, int(seconds * 20_000)))

    def _check(self, solver: Any, shifts: Sequence[Formula], share: float) -> Answer:
        """Asks; a question that takes long is split by how far its values are shifted."""
        z3 = self.questions.z3
        most = self.budget.left() * share
        self.limit(solver, min(1.0, most) if shifts else most)
        answer = solver.check()
        if answer == z3.unknown and shifts and self.budget.left() > 0:
            late = False
            for amount in range(33):
                solver.push()
                solver.add(shifts[0] == amount if amount < 32 else z3.ULT(31, shifts[0]))
                part = self._check(solver, shifts[1:], share)
                if part == "yes":
                    return "yes"
                solver.pop()
                late = late or part == "late"
                if late:
                    break
            return "late" if late else "no"
        if answer == z3.sat:
            return "yes"
        return "no" if answer == z3.unsat else "late"

    def _thread(self, name: str, touch: Touch, same_warp: bool, coarse: bool) -> Thread:
        block = touch.reached.place.block
        thread = Thread(self.questions, name, touch.reached.iterations, same_warp, coarse, block)
        if coarse:
            self.ballots.leave_counts_open(thread)
        return thread

    def _performs(self, thread: Thread, touch: Touch) -> list[Formula]:
        """The conditions under which a thread performs an access, and that it stays inside its variable."""
        offset = thread.formula(touch.footprint.offset)
        found = [thread.formula(each) for each in self._relevant(touch)]
        for header, number in touch.reached.known:
            found.append(thread.count(f"k{header}") == number)
        return [*found, *self._inside(thread, touch.footprint, offset)]

    def _inside(self, thread: Thread, footprint: Footprint, offset: Formula) -> list[Formula]:
        """The access stays inside its variable, and its index does not wrap around."""
        z3, values = self.questions.z3, self.evaluator.values
        size = self.evaluator.sizes.get(footprint.variable)
        last = (DYNAMIC_BYTES if size is None else size) - footprint.size
        constant, factors = sum_parts(footprint.offset)
        parts = {atom: signed(c, 32) for atom, c in factors.items()}
        most = abs(signed(constant, 32)) + sum(abs(c) * values.upper(a) for a, c in parts.items())
        if most < 1 << 31:
            return [z3.ULE(offset, last)]
        total = z3.BitVecVal(signed(constant, 32), WIDE)
        found = []
        for atom, factor in parts.items():
            part = thread.formula(atom)
            zeros = min(trailing_zeros(factor), 31)
            if may_be_cut(values, atom, zeros):
                part = z3.Extract(31 - zeros, 0, part)
                total = total + z3.SignExt(WIDE - part.size(), part) * factor
                continue
            small = values.upper(atom) < 1 << 31
            part = z3.ZeroExt(WIDE - 32, part) if small else z3.SignExt(WIDE - 32, part)
            total = total + part * factor
            if atom.operation == "mul" and not small:
                left, right = (thread.formula(each) for each in atom.arguments)
                found += [z3.BVMulNoOverflow(left, right, True), z3.BVMulNoUnderflow(left, right)]
        return [*found, z3.BitVecVal(0, WIDE) <= total, total <= last]

    def _relevant(self, touch: Touch) -> list[Expression]:
        """Conditions without those on data of this thread alone that its address does not depend on."""
        inside = self.ballots.with_conditions(leaves(touch.footprint.offset))
        inside = self.matches.with_masks(inside)

        def of_no_use(part: Expression) -> bool:
            return any(
                leaf.leaf.kind in ("opaque", "carried")
                and leaf not in inside
                and self.questions.uniformity.varies(leaf)
                for leaf in leaves(part)
            )

        found = [self.evaluator.values.weakened(each, of_no_use) for each in touch.conditions]
        return [each for each in found if each.known != 1]

    def _meet(self, first: Thread, write: Touch, second: Thread, other: Touch) -> Formula:
        """The bytes overlap and, for two plain writes, the values differ."""
        z3 = self.questions.z3
        left, right = first.formula(write.footprint.offset), second.formula(other.footprint.offset)
        if write.footprint.size == other.footprint.size:
            # Accesses are aligned to their size, so that equal sizes overlap only as a whole.
            overlap = left == right
        else:
            overlap = z3.Or(
                z3.ULT(left - right, other.footprint.size), z3.ULT(right - left, write.footprint.size)
            )
        if write.kind == "write" and other.kind == "write":
            differ = self._values_differ(first, write, second, other)
            if differ is not None:
                return z3.And(overlap, differ)
        return overlap

    def _values_differ(self, first: Thread, write: Touch, second: Thread, other: Touch) -> Formula | None:
        """That two stores write different values, as a formula; None if that is not known."""
        z3 = self.questions.z3
        stored = write.reached.access.values
        if not stored or len(stored) != len(other.reached.access.values):
            return None
        if write.reached.access.rows or other.reached.access.rows:
            return z3.BoolVal(False) if self._one_constant(write, other) else None
        if write.footprint.size != other.footprint.size:
            return None
        width = 8 * write.footprint.size // len(stored)
        found = []
        for left, right in zip(stored, other.reached.access.values, strict=True):
            values = []
            for operand, touch in ((left, write), (right, other)):
                place = touch.reached.place
                value = self.forms.closed(
                    self.evaluator.operand(operand, place.block, place.index, max(width, 16))
                )
                values.append(value)
            found.append(first.formula(values[0]) != second.formula(values[1]))
        return z3.Or(*found)

    def _one_constant(self, *touches: Touch) -> bool:
        """Whether all lanes of some `stmatrix` store one constant. Otherwise a row has values of other lanes."""
        found = set()
        for touch in touches:
            place = touch.reached.place
            for operand in touch.reached.access.values:
                value = self.forms.closed(self.evaluator.operand(operand, place.block, place.index, 32))
                found.add(value.known if touch.reached.access.rows else None)
        (constant, *others) = found
        # Transposed, the two halves change places.
        return not others and constant is not None and constant >> 16 == constant & 0xFFFF

    def impossible(self, conditions: Sequence[Expression], block: int, counting: bool = False) -> bool:
        """Whether no thread at a block can be under all the conditions; `counting` says that they compare how far
        loops have come, which is index arithmetic that does not wrap around."""
        return bool(self._under(conditions, block, counting).check() == self.questions.z3.unsat)

    def example(self, conditions: Sequence[Expression], block: int) -> dict[str, int] | None:
        """Numbers with which a thread at a block is under all the conditions, small ones if there are such, else
        positive ones; None if a solver finds none."""
        solver = self._under(conditions, block)
        return self._values(solver, POSITIVE) if solver.check() == self.questions.z3.sat else None

    def _under(self, conditions: Sequence[Expression], block: int, counting: bool = False) -> Any:
        """A solver for one thread at a block under all the conditions."""
        modes = {loop.header: Iteration("any") for loop in self.evaluator.flow.loops_around(block)}
        thread = Thread(self.questions, "1", tuple(sorted(modes.items())), False)
        solver = self.questions.z3.SolverFor("QF_BV")
        self.limit(solver, SECONDS_FOR_CONDITIONS)
        solver.add(*[thread.formula(each) for each in conditions], *thread.facts)
        if counting:
            solver.add(*[fact for each in conditions for fact in self._counted(thread, each)])
        solver.add(*self.pair_of_threads(ANY))
        return solver

    def _counted(self, thread: Thread, condition: Expression) -> Iterator[Formula]:
        """That the sides of a comparison, where they are counted by loops alone, do not wrap around."""
        z3 = self.questions.z3
        if condition.operation not in ("slt", "sle", "ult", "ule"):
            return
        extend = z3.SignExt if condition.operation.startswith("s") else z3.ZeroExt
        for side in condition.arguments:
            constant, factors = sum_parts(side)
            if side.operation == "sum" and all(each.leaf.kind == "iteration" for each in leaves(side)):
                wide = z3.BitVecVal(signed(constant, side.width), 2 * side.width)
                for atom, factor in factors.items():
                    wide += extend(side.width, thread.formula(atom)) * signed(factor, side.width)
                yield extend(side.width, thread.formula(side)) == wide

    def may_happen(self, touch: Touch) -> bool:
        """Whether some thread can perform an access inside of its variable."""
        thread = self._thread("1", touch, False, coarse=False)
        solver = self.questions.z3.SolverFor("QF_BV")
        self.limit(solver, SECONDS_FOR_ONE_ACCESS)
        solver.add(*self.pair_of_threads(ITSELF), *self._performs(thread, touch), *thread.facts)
        return bool(solver.check() != self.questions.z3.unsat)

    def pair_of_threads(self, threads: Pairs) -> list[Formula]:
        """Two different threads of one block, or one thread alone."""
        z3, launch = self.questions.z3, self.evaluator.launch
        sizes = [self._size(axis) for axis in range(3)]
        threads_ = {name: [self._tid(name, axis) for axis in range(3)] for name in ("1", "2")}
        found = []
        for tid in threads_.values():
            found += [z3.ULT(each, size) for each, size in zip(tid, sizes, strict=True)]
        if launch.block is None:
            most = max(launch.largest)
            found += [z3.ULE(size, most) for size in sizes] + [z3.ULE(1, size) for size in sizes]
            if launch.largest[1:] != (1, 1):
                found.append(z3.ULE(sizes[0] * sizes[1] * sizes[2], most))
        found += self._assumed()
        if threads == ITSELF:
            return found
        found.append(z3.Or(*[a != b for a, b in zip(threads_["1"], threads_["2"], strict=True)]))
        for mask in threads.naming | threads.not_naming:
            held, facts = self._name_each_other(mask)
            found += [held if mask in threads.naming else z3.Not(held), *facts]
        if threads != ANY:
            warps = [z3.LShR(each, 5) for each in self._numbers()]
            found.append(warps[0] == warps[1] if threads.same_warp else warps[0] != warps[1])
        return found

    def _numbers(self) -> tuple[Formula, Formula]:
        """The numbers of both threads in their block."""
        width, height = self._size(0), self._size(1)
        tids = [[self._tid(name, axis) for axis in range(3)] for name in ("1", "2")]
        one, other = (x + width * (y + height * z) for x, y, z in tids)
        return one, other

    def _name_each_other(self, mask: Expression) -> tuple[Formula, list[Formula]]:
        """Whether two lanes take part in barriers of the warp with each other, by the mask that each gives."""
        z3, lane = self.questions.z3, self.evaluator.special("laneid")
        pair = [Thread(self.questions, name, (), True) for name in ("1", "2")]
        masks = [each.formula(mask) for each in pair]
        lanes = [each.formula(lane) for each in pair]
        named = [z3.Extract(0, 0, z3.LShR(masks[0], each)) == 1 for each in lanes]
        return z3.And(masks[0] == masks[1], *named), [fact for each in pair for fact in each.facts]

    def _assumed(self) -> list[Formula]:
        """What the launch takes for granted about parameters."""
        z3, launch = self.questions.z3, self.evaluator.launch
        found = [each.formula(z3, launch.parameters) for each in launch.required]
        for each in launch.assumptions:
            value = self.questions.bounded(each.parameter, 32)
            found += [z3.ULE(each.at_least, value), z3.ULE(value, LARGEST_LAYOUT)]
            if each.power_of_two:
                found.append(value & (value - 1) == 0)
        return found

    def _size(self, axis: int) -> Formula:
        z3, launch = self.questions.z3, self.evaluator.launch
        if launch.block is not None:
            return z3.BitVecVal(launch.block[axis], 32)
        if launch.largest[axis] == 1:
            return z3.BitVecVal(1, 32)
        return self.questions.bounded(f"ntid.{'xyz'[axis]}", 32, launch.largest[axis])

    def _tid(self, name: str, axis: int) -> Formula:
        launch = self.evaluator.launch
        most = (launch.block or launch.largest)[axis] - 1
        if most == 0:
            return self.questions.z3.BitVecVal(0, 32)
        return self.questions.bounded(f"tid.{'xyz'[axis]}!{name}", 32, most)


def readable(model: Any) -> dict[str, int]:
    """The numbers of a solver's model."""
    return {str(each): model[each].as_long() for each in model.decls() if hasattr(model[each], "as_long")}
