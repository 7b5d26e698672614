"""Loops that do nothing but wait for an mbarrier: the run waits at once, however often a thread would go round."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fencepost.hosts.ptx.exact.address_slice import AddressSlice, sources
from fencepost.hosts.ptx.exact.forms import Mbarrier
from fencepost.hosts.ptx.expressions.evaluate import source_width
from fencepost.hosts.ptx.expressions.lanes import Lane, Lanes, mask
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.flow import Flow, Loop
from fencepost.hosts.ptx.reading.instructions import is_integer, result
from fencepost.hosts.ptx.reading.module import Immediate, Negated, Operand, Register, registers_in


def is_wait(needed: AddressSlice, place: Place) -> bool:
    """Whether a `try_wait` or `test_wait` stands there."""
    form = needed.forms.get(place)
    return isinstance(form, Mbarrier) and form.does.startswith("wait")


def waiting_loop(flow: Flow, needed: AddressSlice, place: Place) -> Loop | None:
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


def _does_nothing_else(flow: Flow, needed: AddressSlice, loop: Loop, place: Place) -> bool:
    """Whether a loop has no other access or synchronization than a wait, and passes on nothing needed."""
    others = [each for each in (*needed.forms, *needed.accesses) if each.block in loop and each != place]
    return not others and not _carries(flow, needed, loop)


def _inside(flow: Flow, loop: Loop) -> list[Place]:
    return [
        Place(number, index)
        for number in sorted(loop.blocks)
        for index in range(len(flow.blocks[number].instructions))
    ]


def _carries(flow: Flow, needed: AddressSlice, loop: Loop) -> bool:
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
    """Whether a thread whose wait has failed goes round again, whatever else it knows."""
    values = _if_it_fails(flow, loop, place)
    for number in loop.blocks:
        block = flow.blocks[number]
        if len(block.successors) < 2 or all(each in loop for each in block.successors):
            continue
        if block.guard is None or block.guard.name not in values:
            return False
        held = bool(values[block.guard.name].bits[0]) != block.guard_negated
        if block.successors[0 if held else 1] not in loop:
            return False
    return True


def _if_it_fails(flow: Flow, loop: Loop, place: Place) -> dict[str, Lane]:
    """What registers are in a round whose wait fails, as far as that depends on the wait alone."""
    order = sorted(_inside(flow, loop), key=lambda each: (flow.position[each.block], each.index))
    instructions = [(each, flow.blocks[each.block].instructions[each.index]) for each in order]
    assigned = Counter(
        name for _, one in instructions for target in destinations(one) for name in registers_in(target)
    )
    values: dict[str, Lane] = {}
    for each, instruction in instructions:
        targets = [name for target in destinations(instruction) for name in registers_in(target)]
        if len(targets) != 1 or assigned[targets[0]] > 1:
            continue
        if each == place:
            values[targets[0]] = Lane(np.zeros(1, dtype=np.uint64), 1)
        elif instruction.guard is None and is_integer(instruction):
            given = [
                _value(operand, source_width(instruction, number), values)
                for number, operand in enumerate(instruction.operands[1:])
            ]
            known = [value for value in given if value is not None]
            if len(known) == len(given):
                values[targets[0]] = result(Lanes(1), instruction, known)
    return values


def _value(operand: Operand, width: int, values: dict[str, Lane]) -> Lane | None:
    """The value of an operand, read in some width; None if it is not known."""
    if isinstance(operand, Immediate):
        return Lanes(1).constant(operand.value, width)
    if isinstance(operand, Negated):
        inner = _value(operand.register, 1, values)
        return None if inner is None else Lanes(1).invert(inner)
    if isinstance(operand, Register) and operand.name in values:
        return Lane(values[operand.name].bits & mask(min(width, 64)), width)
    return None
