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

What is added may also be a small number that is not known, such as how many lanes of a warp want a place: numbers of
two threads are then as far apart as what was added for the smaller one. A number that one lane draws for its warp and
hands on by a shuffle is one number of each warp. A counter that is taken down hands out numbers likewise.

A counter may lie in one variable with the queue (`struct { int tail; int items[64]; }`): what stores elsewhere in the
variable does not touch it, if it cannot as long as the numbers that were handed out are not negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts
from fencepost.hosts.ptx.proof.active_masks import GroupShuffles, came_together
from fencepost.hosts.ptx.proof.ballots import together
from fencepost.hosts.ptx.proof.intervals import Interval, Place, Reached, Walk
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.proof.solver_threads import Thread
from fencepost.hosts.ptx.reading.effects import Access, effect, space_of
from fencepost.hosts.ptx.reading.flow import ENTRY
from fencepost.hosts.ptx.reading.ssa import Assigned

if TYPE_CHECKING:
    from fencepost.hosts.ptx.proof.race_questions import Touch
    from fencepost.hosts.ptx.proof.races import Races

NOT_NEGATIVE = (1 << 31) - 1


SMALL = 1 << 20
"""What is added to a counter is less: all threads of a block together do not make it negative."""
NO_WRAP = (1 << 31) - 1
"""`atomicInc` with a bound that is not smaller counts as long as additions do."""


@dataclass(frozen=True)
class CounterResult:
    """A number from a counter: the counter's variable, its address, and how far it was moved on."""

    variable: str
    address: Expression
    size: int
    step: Expression
    """Less than `SMALL`."""
    down: bool = False
    """Whether the counter was taken down by that."""
    of_warp: bool = False
    """Whether one lane has drawn it for all lanes of its warp, or for those of `group`."""
    group: Expression | None = None
    """The mask of the lanes that came to an `activemask` together, if it was drawn for these."""


class Allocators:
    """What is known about two threads' numbers from counters."""

    def __init__(self, races: Races, questions: Questions) -> None:
        self.races = races
        self.questions = questions
        self.flow = questions.evaluator.flow
        self.shuffles = GroupShuffles(questions)
        self._drawn: dict[Expression, CounterResult | None] = {}
        self._largest: dict[str, int | None] = {}
        self._fresh: dict[tuple[Place, Place], bool] = {}
        self._additions: dict[Place, CounterResult | None] = {}
        self._missing: dict[tuple[Place, str], bool] = {}
        self.exist = any(
            each.name == "atom" and {"add", "inc"} & {*each.parts} and space_of(each) == "shared"
            for number in self.flow.order
            for each in self.flow.blocks[number].instructions
        )
        """Whether there may be any such counter."""

    def facts(
        self, first: Thread, write: Touch, second: Thread, other: Touch, numbers: tuple[Formula, Formula]
    ) -> list[Formula]:
        """Numbers from one counter differ by at least what was added for the smaller one; `numbers` are those of the
        threads in their block."""
        if first.name == second.name:
            return []  # One thread has one number.
        z3 = self.questions.z3
        found = [*self._bounds(first), *self._bounds(second)]
        one_warp = z3.LShR(numbers[0], 5) == z3.LShR(numbers[1], 5)
        left = self._usable(first, write)
        right = self._usable(second, other) if left else []
        for value, mine in left:
            for another, yours in right:
                if mine.variable != yours.variable or mine.down != yours.down:
                    continue
                apart = self._distinct((first, value, mine), (second, another, yours))
                if mine.group is not None and value is another:
                    found += self._of_one_group(
                        (first, value), (second, another), mine.group, apart, one_warp
                    )
                elif (mine.of_warp or yours.of_warp) and not (
                    mine.group and yours.group and mine.group is not yours.group
                ):
                    found.append(z3.Or(one_warp, apart))
                else:
                    found.append(apart)
                if (
                    mine.group is None
                    and mine.of_warp
                    and value is another
                    and together(self.flow, first, second, value)
                ):
                    found.append(z3.Implies(one_warp, first.opaque[value] == second.opaque[another]))
        return found

    def _of_one_group(
        self,
        one: tuple[Thread, Expression],
        other: tuple[Thread, Expression],
        mask: Expression,
        apart: Formula,
        one_warp: Formula,
    ) -> list[Formula]:
        """That two threads which have come to an `activemask` together have one number, and others two."""
        z3, (first, value), (second, another) = self.questions.z3, one, other
        together = came_together(self.questions, mask)
        same = first.opaque[value] == second.opaque[another]
        return [z3.Or(together, apart), z3.Implies(together, z3.And(one_warp, same))]

    def _distinct(
        self, one: tuple[Thread, Expression, CounterResult], other: tuple[Thread, Expression, CounterResult]
    ) -> Formula:
        """That one number is at least as far behind the other as what was added for it."""
        z3 = self.questions.z3
        (first, value, mine), (second, another, yours) = one, other
        same = first.formula(mine.address) == second.formula(yours.address)
        apart = second.opaque[another] - first.opaque[value]
        apart = -apart if mine.down else apart
        steps = first.formula(mine.step), second.formula(yours.step)
        if mine.step.known and yours.step.known:
            distinct = z3.And(z3.ULE(steps[0], apart), z3.ULE(apart, (1 << 32) - yours.step.known))
            return z3.Implies(same, distinct)
        orders = [
            z3.And(z3.ULE(step, way), z3.ULE(way, NOT_NEGATIVE))
            for step, way in zip(steps, (apart, -apart), strict=True)
        ]
        return z3.Implies(same, z3.Or(*orders))

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
        return None if whole is None or drawn.down else min(whole - (drawn.step.known or 0), NOT_NEGATIVE)

    def _find_largest(self, variable: str) -> int | None:
        """What a counter of a variable holds at most in the end, if all that touches it stores zero or adds; one in a
        loop does not wrap around."""
        block, total, zeros, others = self.questions.evaluator.launch.block, 0, False, []
        for place, access in self._changing(variable):
            added = self._addition(place)
            if added is not None and added.down:
                return None
            if added is not None:
                once = block is not None and not self.flow.loops_around(place.block)
                known = added.step.known if once else None
                total += NOT_NEGATIVE if known is None else known * prod(block or ())
            elif self._stores_zero(place, access):
                zeros = True
            else:
                others.append(place)
        words = self._words(variable)
        if not zeros or not all(self._misses(place, variable, words) for place in others):
            return None
        return total

    def _words(self, variable: str) -> tuple[int, int]:
        """Between which bytes of a variable its counters lie."""
        first, end = 1 << 32, 0
        for place, _ in self._changing(variable):
            added = self._addition(place)
            if added is not None:
                constant, factors = sum_parts(added.address)
                upper = self.questions.forms.values.upper(added.address)
                begins = constant if all(c < 1 << 31 for c in factors.values()) else 0
                first, end = min(first, begins), max(end, upper + added.size)
        return first, end

    def _misses(self, place: Place, variable: str, words: tuple[int, int]) -> bool:
        """Whether an instruction that stores to the variable of a counter cannot reach it, as long as no number that
        was drawn from it is negative: the first one that did would have had such numbers."""
        key = (place, variable)
        if key not in self._missing:
            self._missing[key] = self.races.misses(place, variable, words, self._not_negative)
        return self._missing[key]

    def _not_negative(self, thread: Thread, variable: str) -> list[Formula]:
        """That numbers from the counters of a variable are none."""
        found = []
        for value in list(thread.opaque):
            drawn = self._drawn_from(value)
            if drawn is not None and drawn.variable == variable and not drawn.down:
                found.append(self.questions.z3.ULE(thread.opaque[value], NOT_NEGATIVE))
        return found

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
            if drawn is None or not self._only_adds(touch, drawn):
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
        place = Place(definition.block, definition.index)
        if self.flow.blocks[place.block].instructions[place.index].name == "shfl":
            return self._of_warp(value, place)
        return self._addition(place)

    def _of_warp(self, value: Expression, place: Place) -> CounterResult | None:
        """A number that one lane has drawn and hands on to the others of its warp, or of those that came together."""
        mask = self.shuffles.mask_of(place) if value.leaf.scope == "thread" else None
        if value.leaf.scope != "warp" and mask is None:
            return None
        evaluator, forms = self.questions.evaluator, self.questions.forms
        instruction = self.flow.blocks[place.block].instructions[place.index]
        operands = [
            evaluator.operand(each, place.block, place.index, 32) for each in instruction.operands[1:3]
        ]
        lane = forms.values.binary("eq", evaluator.special("laneid"), operands[1])
        known = [forms.closed(lane), *([] if mask is None else [self.shuffles.is_in_lowest(mask)])]
        given = self._for_lane(forms.closed(operands[0]), known, place.block)
        drawn = self._drawn_from(given) if given.operation == "leaf" else None
        if drawn is None or not isinstance(given.leaf.definition, Assigned):
            return None
        at = given.leaf.definition
        same_block = at.block == place.block and at.index < place.index
        drawn_before = same_block or self._without_barrier(self.flow.idom[at.block], place)
        alike = all(
            leaf.leaf.kind in ("uniform", "base", "iteration")
            or leaf.leaf.scope == "warp"
            or (leaf is mask and each is drawn.step)
            for each in (drawn.step, drawn.address)
            for leaf in leaves(each)
        )
        if mask is not None and not self.shuffles.follows(mask, Place(at.block, at.index)):
            return None
        return replace(drawn, of_warp=True, group=mask) if alike and drawn_before else None

    def _without_barrier(self, branch: int, place: Place) -> bool:
        """Whether every way back from an instruction comes from the end of a block before it meets a barrier."""
        todo, seen = [(place.block, place.index)], set()
        while todo:
            number, end = todo.pop()
            if any(effect(each).barrier == "block" for each in self.flow.blocks[number].instructions[:end]):
                return False
            if number == ENTRY:
                return False
            for before in self.flow.predecessors[number]:
                if before != branch and before not in seen:
                    seen.add(before)
                    todo.append((before, len(self.flow.blocks[before].instructions)))
        return True

    def _for_lane(self, given: Expression, lane: list[Expression], block: int) -> Expression:
        """What a value is in one lane, of which something is known, where conditions on the lane decide over it."""
        while given.operation == "choose":
            held, yes, no = given.arguments
            values = self.questions.forms.values
            if self.races.impossible([*lane, values.invert(held)], block):
                given = yes
            elif self.races.impossible([*lane, held], block):
                given = no
            else:
                break
        return given

    def _addition(self, place: Place) -> CounterResult | None:
        """The counter that an instruction adds a small number to, or takes a constant from."""
        if place not in self._additions:
            self._additions[place] = self._find_addition(place)
        return self._additions[place]

    def _find_addition(self, place: Place) -> CounterResult | None:
        instruction = self.flow.blocks[place.block].instructions[place.index]
        how = {"add", "inc"} & {*instruction.parts}
        if instruction.name not in ("atom", "red") or not how or space_of(instruction) != "shared":
            return None
        if instruction.parts[-1] not in ("u32", "s32"):
            return None
        evaluator, forms = self.questions.evaluator, self.questions.forms
        step = forms.closed(evaluator.operand(instruction.operands[-1], place.block, place.index, 32))
        if "inc" in how:
            if step.known is None or step.known < NO_WRAP:
                return None
            step = forms.values.constant(1, 32)
        down = step.known is not None and step.known > (1 << 32) - SMALL
        if down:
            step = forms.values.constant(-(step.known or 0), 32)
        (access,) = effect(instruction).accesses
        footprints = self.races.addresses.footprints(place, access)
        if step.known == 0 or forms.values.upper(step) >= SMALL or len(footprints) != 1:
            return None
        return CounterResult(footprints[0].variable, footprints[0].offset, access.size, step, down)

    def _only_adds(self, touch: Touch, drawn: CounterResult) -> bool:
        """Whether nothing but additions of one sign, and loads, touches a counter between two barriers."""
        for reached in self._between_barriers(touch):
            if reached.access.kind == "read":
                continue
            for footprint in self.races.addresses.footprints(reached.place, reached.access):
                if footprint.variable != drawn.variable:
                    continue
                added = self._addition(reached.place)
                if added is not None and added.down != drawn.down:
                    return False
                if added is None and not self._keeps_off(reached.place, drawn):
                    return False
        return True

    def _keeps_off(self, place: Place, drawn: CounterResult) -> bool:
        """Whether a store to a counter's variable does not touch it. Its numbers are not negative if it starts so."""
        if self._largest_of(drawn) is None:
            return False
        return self._misses(place, drawn.variable, self._words(drawn.variable))

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
