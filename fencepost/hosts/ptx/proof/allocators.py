"""Atomic counters that hand out places: `at = atomicAdd(&count, 1); queue[at] = x;`.

Between two barriers of the block, additions of positive constants to one word give every thread, and every iteration,
a number of its own. That holds if nothing else writes the counter's variable there (barriers of a warp do not part
it: what is set anew hands out the same numbers again), and if the number was drawn in the interval in which it is
used: on every way back from the use, the atomic comes before any barrier. A thread that went by an atomic which
stands in no loop has no such number, and whatever is said about it means nothing; so there, it is enough that no
barrier lies between the atomic and the use.

Of a counter that all threads together only set to zero and add constants to, no number is negative; and where no
atomic of it is in a loop, none is larger than what all threads add. Several counters, each with an array of its own,
need that: `at = atomicAdd(&count[side], 1); list[side][at] = x;`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from fencepost.hosts.ptx.expressions.expression_nodes import Expression
from fencepost.hosts.ptx.proof.intervals import Interval, Place, Reached, Walk
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread
from fencepost.hosts.ptx.reading.effects import Access, effect, space_of
from fencepost.hosts.ptx.reading.flow import ENTRY
from fencepost.hosts.ptx.reading.ssa import Assigned

if TYPE_CHECKING:
    from fencepost.hosts.ptx.proof.race_questions import Touch
    from fencepost.hosts.ptx.proof.race_solver import RaceSolver

NOT_NEGATIVE = (1 << 31) - 1


@dataclass(frozen=True)
class CounterResult:
    """A number from a counter: the counter's variable, its address, and how far it was moved on."""

    variable: str
    address: Expression
    step: int


class Allocators:
    """What is known about two threads' numbers from counters."""

    def __init__(self, races: RaceSolver, questions: Questions) -> None:
        self.races = races
        self.questions = questions
        self.flow = questions.evaluator.flow
        self._drawn: dict[Expression, CounterResult | None] = {}
        self._largest: dict[str, int | None] = {}
        self._fresh: dict[tuple[Place, Place], bool] = {}
        self.exist = any(
            each.name == "atom" and "add" in each.parts and space_of(each) == "shared"
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )
        """Whether there may be any such counter."""

    def facts(self, first: Thread, write: Touch, second: Thread, other: Touch) -> list[Formula]:
        """Numbers from one counter differ by at least what was added for the smaller one."""
        if first.name == second.name:
            return []  # One thread has one number.
        found = [*self._bounds(first), *self._bounds(second)]
        left = self._usable(first, write)
        right = self._usable(second, other) if left else []
        for value, mine in left:
            for another, yours in right:
                if mine.variable != yours.variable:
                    continue
                z3 = self.questions.z3
                same = first.formula(mine.address) == second.formula(yours.address)
                apart = second.opaque[another] - first.opaque[value]
                distinct = z3.And(z3.ULE(mine.step, apart), z3.ULE(apart, (1 << 32) - yours.step))
                found.append(z3.Implies(same, distinct))
        return found

    def _bounds(self, thread: Thread) -> list[Formula]:
        """Numbers from counters that begin at zero: none is negative, and none is more than all threads add."""
        found = []
        for value in list(thread.opaque):
            drawn = self._drawn_from(value)
            most = None if drawn is None else self._largest_of(drawn)
            if most is not None:
                found.append(self.questions.z3.ULE(thread.opaque[value], most))
        return found

    def _largest_of(self, drawn: CounterResult) -> int | None:
        if drawn.variable not in self._largest:
            self._largest[drawn.variable] = self._find_largest(drawn.variable)
        whole = self._largest[drawn.variable]
        return None if whole is None else min(whole - drawn.step, NOT_NEGATIVE)

    def _find_largest(self, variable: str) -> int | None:
        """What a word of a variable holds at most in the end, if all that touches it stores zero or adds constants;
        a counter in a loop does not wrap around."""
        block, total, zeros = self.questions.evaluator.launch.block, 0, False
        for place, access in self._changing(variable):
            added = self._addition(place)
            if added is not None:
                once = block is not None and not self.flow.loops_around(place.block)
                total += added.step * prod(block or ()) if once else NOT_NEGATIVE
            elif self._stores_zero(place, access):
                zeros = True
            else:
                return None
        return total if zeros else None

    def _changing(self, variable: str) -> Iterator[tuple[Place, Access]]:
        """All of the kernel that may change a variable."""
        for number in self.flow.order:
            for index, instruction in enumerate(self.flow.blocks[number].instructions):
                place = Place(number, index)
                for access in effect(instruction).accesses:
                    footprints = self.races.addresses.footprints(place, access)
                    if access.kind != "read" and any(each.variable == variable for each in footprints):
                        yield place, access

    def _stores_zero(self, place: Place, access: Access) -> bool:
        evaluator, forms = self.questions.evaluator, self.questions.forms
        if access.kind != "write" or not access.values or access.rows:
            return False
        width = max(8 * access.size // len(access.values), 16)
        stored = [evaluator.operand(each, place.block, place.index, width) for each in access.values]
        return all(forms.closed(each).known == 0 for each in stored)

    def _usable(self, thread: Thread, touch: Touch) -> list[tuple[Expression, CounterResult]]:
        found = []
        for value in list(thread.opaque):
            drawn = self._drawn_from(value)
            if drawn is None or not self._only_adds(touch, drawn.variable):
                continue
            definition = value.leaf.definition
            assert isinstance(definition, Assigned)
            if self._is_fresh(Place(definition.block, definition.index), touch.reached.place):
                found.append((value, drawn))
        return found

    def _drawn_from(self, value: Expression) -> CounterResult | None:
        if value not in self._drawn:
            self._drawn[value] = self._draw(value)
        return self._drawn[value]

    def _draw(self, value: Expression) -> CounterResult | None:
        definition = value.leaf.definition
        if value.width != 32 or not isinstance(definition, Assigned):
            return None
        return self._addition(Place(definition.block, definition.index))

    def _addition(self, place: Place) -> CounterResult | None:
        """The counter that an instruction adds a positive constant to."""
        instruction = self.flow.blocks[place.block].instructions[place.index]
        adds = instruction.name in ("atom", "red") and "add" in instruction.parts
        if not adds or space_of(instruction) != "shared" or instruction.parts[-1] not in ("u32", "s32"):
            return None
        evaluator, forms = self.questions.evaluator, self.questions.forms
        step = forms.closed(evaluator.operand(instruction.operands[-1], place.block, place.index, 32)).known
        (access,) = effect(instruction).accesses
        footprints = self.races.addresses.footprints(place, access)
        if step is None or not 0 < step < 1 << 16 or len(footprints) != 1:
            return None
        return CounterResult(footprints[0].variable, footprints[0].offset, step)

    def _only_adds(self, touch: Touch, variable: str) -> bool:
        """Whether nothing but additions and loads touches a variable between two barriers of the block."""
        for reached in self._between_barriers(touch):
            if reached.access.kind == "read":
                continue
            for footprint in self.races.addresses.footprints(reached.place, reached.access):
                if footprint.variable == variable and self._addition(reached.place) is None:
                    return False
        return True

    def _between_barriers(self, touch: Touch) -> Iterable[Reached]:
        """All accesses of the interval, and of those that barriers of a warp part it into."""
        if not self._has_barriers_of_warps:
            return touch.interval.reached
        found = list(touch.interval.reached)
        for interval in self._of_block:
            if any(each.place == touch.reached.place for each in interval.reached):
                found += interval.reached
        return found

    @cached_property
    def _of_block(self) -> list[Interval]:
        """The intervals between barriers of the block alone."""
        walk = Walk(self.flow, lambda _, instruction: effect(instruction).barrier == "block")
        starts = [
            Place(number, index)
            for number in self.flow.order
            for index, each in enumerate(self.flow.blocks[number].instructions)
            if effect(each).barrier == "block"
        ]
        return [walk.interval(start) for start in (None, *starts)]

    @cached_property
    def _has_barriers_of_warps(self) -> bool:
        return any(
            effect(each).barrier == "warp"
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )

    def _is_fresh(self, atomic: Place, use: Place) -> bool:
        """Whether every way back from the use meets the atomic before it meets a barrier or the entry, or goes by it
        for good."""
        key = (atomic, use)
        if key not in self._fresh:
            self._fresh[key] = self._search(atomic, use)
        return self._fresh[key]

    def _search(self, atomic: Place, use: Place) -> bool:
        """Whether no barrier of the block can be between the atomic and the use, on any path."""
        once = not self.flow.loops_around(atomic.block)
        after = self.flow.reachable(self.flow.successors[atomic.block]) if once else set()
        todo = [(use.block, use.index)]
        seen = set()
        while todo:
            number, end = todo.pop()
            instructions = self.flow.blocks[number].instructions
            met = False
            for index in reversed(range(min(end, len(instructions)))):
                if Place(number, index) == atomic:
                    met = True
                    break
                if effect(instructions[index]).barrier == "block":
                    if not once or number in after or number == atomic.block:
                        return False
                    met = True
                    break
            if met:
                continue
            if number == ENTRY and not once:
                return False
            for before in self.flow.predecessors[number]:
                if before not in seen:
                    seen.add(before)
                    todo.append((before, len(self.flow.blocks[before].instructions)))
        return True
