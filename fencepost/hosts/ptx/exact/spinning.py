"""Loops that do nothing but wait for an mbarrier: the run waits at once, however often a thread would go round."""

from __future__ import annotations

from fencepost.hosts.ptx.effects import destinations
from fencepost.hosts.ptx.exact.forms import Mbarrier
from fencepost.hosts.ptx.exact.needed import Needed, sources
from fencepost.hosts.ptx.flow import Flow, Loop
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.module import registers_in


def is_wait(needed: Needed, place: Place) -> bool:
    """Whether a `try_wait` or `test_wait` stands there."""
    form = needed.forms.get(place)
    return isinstance(form, Mbarrier) and form.does.startswith("wait")


def waiting_loop(flow: Flow, needed: Needed, place: Place) -> Loop | None:
    """The loop that repeats a wait until it succeeds; None if it does anything else."""
    around = [loop for loop in flow.loops if place.block in loop]
    if not around:
        return None
    smallest = min(around, key=lambda each: len(each.blocks))
    # A wait at the top of a loop shares its header with that loop: only what leads back with nothing done counts.
    idle = [
        latch
        for latch in smallest.latches
        if _does_nothing_else(flow, needed, flow.natural_loop(smallest.header, [latch]), place)
    ]
    loop = flow.natural_loop(smallest.header, idle)
    is_wait_alone = place.block in loop and _does_nothing_else(flow, needed, loop, place)
    return loop if idle and is_wait_alone and _goes_round_by(flow, loop, place) else None


def _does_nothing_else(flow: Flow, needed: Needed, loop: Loop, place: Place) -> bool:
    """Whether a loop has no other access or synchronization than a wait, and hands on nothing needed."""
    others = [each for each in (*needed.forms, *needed.accesses) if each.block in loop and each != place]
    return not others and not _carries(flow, needed, loop)


def _inside(flow: Flow, loop: Loop) -> list[Place]:
    return [
        Place(number, index)
        for number in sorted(loop.blocks)
        for index in range(len(flow.blocks[number].instructions))
    ]


def _carries(flow: Flow, needed: Needed, loop: Loop) -> bool:
    """Whether something needed is carried from one round to the next."""
    assigned = {
        name
        for place in _inside(flow, loop)
        for target in destinations(flow.blocks[place.block].instructions[place.index])
        for name in registers_in(target)
    }
    position = {block: flow.position[block] for block in loop.blocks}
    done: set[str] = set()
    for place in sorted(_inside(flow, loop), key=lambda each: (position[each.block], each.index)):
        instruction = flow.blocks[place.block].instructions[place.index]
        if place in needed.places and (sources(instruction) & assigned) - done:
            return True
        done |= {name for target in destinations(instruction) for name in registers_in(target)}
    return False


def _goes_round_by(flow: Flow, loop: Loop, place: Place) -> bool:
    """Whether the loop is left, or not, by what the wait gave."""
    form = flow.blocks[place.block].instructions[place.index]
    known = {name for target in destinations(form) for name in registers_in(target)}
    for each in _inside(flow, loop):
        instruction = flow.blocks[each.block].instructions[each.index]
        if sources(instruction) & known:
            known |= {name for target in destinations(instruction) for name in registers_in(target)}
    for block in loop.blocks:
        leaves = any(following not in loop for following in flow.successors[block])
        guard = flow.blocks[block].guard
        if leaves and len(flow.successors[block]) > 1 and (guard is None or guard.name not in known):
            return False
    return True
