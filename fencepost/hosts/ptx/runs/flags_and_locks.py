"""Threads that wait for a flag or a lock: `while (!flag);` or `while (atomicCAS(&lock, 0, 1));`, with fences.

PTX orders what comes before the fence and the store of one thread before what comes after the loop and the fence of
the other. Runs do not follow that: two accesses that may be in order so are no race that a run has shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations, effect, is_strong
from fencepost.hosts.ptx.reading.flow import Flow, Loop
from fencepost.hosts.ptx.reading.module import Instruction, registers_in
from fencepost.hosts.ptx.runs.race_order import reaches

BY_A_FLAG = "a flag or a lock may order this access with that of another thread, which is not followed"
RELEASES, ACQUIRES = frozenset({"release", "acq_rel"}), frozenset({"acquire", "acq_rel"})


@lru_cache(maxsize=256)
def may_be_ordered(flow: Flow, places: tuple[Place, Place]) -> bool:
    """Whether one of two accesses may come behind a loop that waits for what the other one's thread stores."""
    waits = list(_waits(flow))
    if not waits:
        return False
    first, second = (flow.blocks[each.block].instructions[each.index] for each in places)
    if is_strong(first) and is_strong(second) and not set(places).isdisjoint(waits):
        return True  # The flag itself.
    return any(
        _is_handed_over(flow, one) and _is_waited_for(flow, other, waits)
        for one, other in (places, places[::-1])
    )


def _is_handed_over(flow: Flow, access: Place) -> bool:
    """Whether its thread may store a flag behind it, with a fence between."""
    stores = _places(
        flow, lambda each: each.name in ("atom", "red") or (each.name == "st" and is_strong(each))
    )
    fences = _places(flow, _is_fence)
    return any(
        _follows(flow, access, store)
        and (
            not RELEASES.isdisjoint(flow.blocks[store.block].instructions[store.index].parts)
            or any(_follows(flow, access, each) and _follows(flow, each, store) for each in fences)
        )
        for store in stores
    )


def _is_waited_for(flow: Flow, access: Place, waits: list[Place]) -> bool:
    """Whether its thread may have waited for a flag before it, with a fence between."""
    fences = _places(flow, _is_fence)
    return any(
        _follows(flow, wait, access)
        and (
            not ACQUIRES.isdisjoint(flow.blocks[wait.block].instructions[wait.index].parts)
            or any(_follows(flow, wait, each) and _follows(flow, each, access) for each in fences)
        )
        for wait in waits
    )


def _follows(flow: Flow, first: Place, second: Place) -> bool:
    """Whether a thread can come from one place to another past no barrier of the block."""
    return reaches(flow, first, second, lambda each: effect(each).barrier == "block", round_loops=True)


def _is_fence(instruction: Instruction) -> bool:
    parts = instruction.parts
    return parts[0] == "membar" or (parts[0] == "fence" and not {"proxy", "mbarrier_init"} & set(parts))


def _places(flow: Flow, wanted: Callable[[Instruction], bool]) -> list[Place]:
    return [
        Place(number, index)
        for number in flow.order
        for index, each in enumerate(flow.blocks[number].instructions)
        if wanted(each)
    ]


def _waits(flow: Flow) -> Iterator[Place]:
    """The atomics and strong loads whose results decide over a branch of a loop that they are in."""
    for place in _places(flow, lambda each: each.name == "atom" or (each.name == "ld" and is_strong(each))):
        around = flow.loops_around(place.block)
        if around and _decides(flow, min(around, key=lambda each: len(each.blocks)), place):
            yield place


def _decides(flow: Flow, loop: Loop, place: Place) -> bool:
    inside = [each for number in sorted(loop.blocks) for each in flow.blocks[number].instructions]
    loaded = flow.blocks[place.block].instructions[place.index]
    known = {name for each in destinations(loaded) for name in registers_in(each)}
    before = -1
    while len(known) != before:
        before = len(known)
        for each in inside:
            if any(name in known for operand in each.operands for name in registers_in(operand)):
                known |= {name for target in destinations(each) for name in registers_in(target)}
    return any(each.name == "bra" and each.guard is not None and each.guard.name in known for each in inside)
