"""Which of two accesses that race comes first, and whether that is in the same iteration.

A barrier between two lines of a loop body orders them within an iteration, and not the second one before the first
one of the next. A report has to say which it is: "no barrier between them" is read from the first line down to the
second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Instruction

MOST_COPIES = 6
"""How many copies of an access are looked at, of a loop that the compiler has unrolled."""


@dataclass(frozen=True)
class RaceOrder:
    """How two accesses can come about with nothing that orders them."""

    swapped: bool = False
    """Whether the one that was named second comes first."""
    later: bool = False
    """Whether the one that comes second is in a later iteration."""
    without_barrier: bool = True
    """Whether one can follow the other with no barrier between; else something in flight has passed a barrier."""
    apart: bool = False
    """Whether none can follow the other at all: they are on two sides of a condition."""
    sides: bool = False
    """Whether that is so within an iteration of the loops around them."""


def order_of(flow: Flow, places: tuple[Place, Place], *, in_one_warp: bool = False) -> RaceOrder:
    """How two accesses come about, given in the order of the text; threads in one warp meet at its barriers, too."""

    def stops(instruction: Instruction) -> bool:
        barrier = effect(instruction).barrier
        return barrier == "block" or (in_one_warp and barrier == "warp")

    first, second = places
    for later in (False, True):
        if reaches(flow, first, second, stops, round_loops=later):
            return RaceOrder(later=later, sides=_on_two_sides(flow, places))
        if reaches(flow, second, first, stops, round_loops=later):
            return RaceOrder(swapped=True, later=later, sides=_on_two_sides(flow, places))
    apart = not any(
        reaches(flow, *pair, lambda _: False, round_loops=True) for pair in ((first, second), (second, first))
    )
    return RaceOrder(without_barrier=False, apart=apart)


def _on_two_sides(flow: Flow, places: tuple[Place, Place]) -> bool:
    """Whether none of two accesses follows the other within an iteration."""
    one, other = (flow.blocks[each.block].instructions[each.index] for each in places)
    return _some_apart(flow, _origin(one), _origin(other))


@lru_cache(maxsize=64)
def _some_apart(flow: Flow, one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether copies of two accesses are on two sides of a condition. Of a loop that is unrolled, a copy of one
    follows copies of the other from earlier iterations, and not the one from its own."""
    return any(
        not any(
            reaches(flow, *pair, lambda _: False, round_loops=False)
            for pair in ((first, second), (second, first))
        )
        for first in _copies(flow, one)
        for second in _copies(flow, other)
        if first != second
    )


def _copies(flow: Flow, origin: tuple[object, ...]) -> list[Place]:
    """The instructions of one kind that were made from one line in the same calls; the first ones."""
    return [
        Place(number, index)
        for number in flow.order
        for index, each in enumerate(flow.blocks[number].instructions)
        if _origin(each) == origin
    ][:MOST_COPIES]


def _origin(instruction: Instruction) -> tuple[object, ...]:
    """What copies of an access have in common; without lines, each is the only one."""
    site = instruction.site
    line = site.source_line or -site.ptx_line
    return instruction.opcode, site.source_file, line, site.inlined_at


def reaches(
    flow: Flow, start: Place, end: Place, stops: Callable[[Instruction], bool], *, round_loops: bool
) -> bool:
    """Whether control can get from one place to another past no barrier; round loops only if that is allowed."""
    todo, seen = [(start.block, start.index + 1)], set[int]()
    while todo:
        block, index = todo.pop()
        instructions = flow.blocks[block].instructions
        stop = next((at for at in range(index, len(instructions)) if stops(instructions[at])), None)
        if block == end.block and index <= end.index and (stop is None or end.index < stop):
            return True
        if stop is not None:
            continue
        for following in flow.successors[block]:
            if following not in seen and (round_loops or not flow.is_back_edge(block, following)):
                seen.add(following)
                todo.append((following, 0))
    return False
