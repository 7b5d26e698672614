"""Registers that are filled some time after an instruction: what `tcgen05.ld` loads, and what wgmma adds up.

They are read only behind the wait for it (`tcgen05.wait::ld`; `wgmma.wait_group` for the group that the instruction
was committed to). That does not depend on the schedule, and is decided along the control flow: what is in flight on
every way to a read is a finding, what is on some way only may be one, as data may rule out the way. Of `tcgen05.ld`
it is a warning: PTX wants the wait, but ptxas keeps track of the registers, and Triton leaves it to that.
A `mov` reads nothing: compilers pass registers on with it, and what it passes on is in flight as well. Where a kernel
has a stack that pointers reach (all variables are there without optimization), a store to what may be the stack reads
nothing either: results are stored there as soon as an instruction has been issued, whatever the source says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations, space_of
from fencepost.hosts.ptx.reading.flow import ENTRY, Flow
from fencepost.hosts.ptx.reading.module import Group, Immediate, Instruction, registers_in

OLDEST = 9
"""More commits than any wait can leave."""
MOST = 5
LOAD, PRODUCT = "tcgen05.ld", "wgmma.mma_async"


@dataclass(frozen=True)
class Filled:
    """Where a register is filled, by what, and how many groups were committed since (wgmma)."""

    place: Place
    by: str
    commits: int = 0


@dataclass(frozen=True)
class State:
    """The registers in flight, and whether a `wgmma.fence` has come before."""

    filled: dict[str, Filled] = field(default_factory=dict)
    fenced: bool = False


@dataclass(frozen=True)
class Read:
    """A register that is read while it is filled; or a wgmma that no fence comes before (no register then)."""

    place: Place
    register: str
    filled: Filled


def is_there(flow: Flow) -> bool:
    """Whether a kernel has such instructions."""
    return any(_name(each) in (LOAD, PRODUCT) for each in _every(flow))


def _every(flow: Flow) -> Iterator[Instruction]:
    return (each for number in flow.order for each in flow.blocks[number].instructions)


def read_too_early(flow: Flow) -> tuple[list[Problem], list[Problem]]:
    """What is wrong, and what is if some way can be taken."""
    if not is_there(flow):
        return [], []
    every = {each.filled.place: each for each in reversed(list(_reads(flow, _on_every_way)))}
    some = {each.filled.place: each for each in reversed(list(_reads(flow, _on_some_way)))}
    loads = {key: each for key, each in some.items() if each.filled.by == LOAD}
    perhaps = [each for key, each in some.items() if key not in every | loads]
    certain = [*every.values(), *(each for key, each in loads.items() if key not in every)]
    return [_problem(each) for each in certain][:MOST], [_problem(each) for each in perhaps][:MOST]


def _problem(read: Read) -> Problem:
    places, threads = (read.filled.place, read.place), (0, 0)
    if not read.register:
        text = "the first wgmma of a warp group comes with no wgmma.fence before it"
        return Problem("FP008", text, places, threads, "put wgmma.fence.sync.aligned before the first wgmma")
    waits = {
        LOAD: "tcgen05.wait::ld.sync.aligned",
        PRODUCT: "wgmma.commit_group, and wgmma.wait_group for it,",
    }
    text = f"{read.register} is read while {read.filled.by} may still be filling it"
    severity: Literal["error", "warning"] = "warning" if read.filled.by == LOAD else "error"
    return Problem("FP001", text, places, threads, f"put {waits[read.filled.by]} between", severity)


def _name(instruction: Instruction) -> str:
    return ".".join(instruction.parts[:2])


Join = Callable[[State, State], State]


def _on_every_way(left: State, right: State) -> State:
    filled = {
        name: max(each, right.filled[name], key=lambda one: one.commits)
        for name, each in left.filled.items()
        if name in right.filled
    }
    return State(filled, left.fenced or right.fenced)


def _on_some_way(left: State, right: State) -> State:
    filled = dict(left.filled)
    for name, each in right.filled.items():
        filled[name] = min(filled.get(name, each), each, key=lambda one: one.commits)
    return State(filled, left.fenced and right.fenced)


def _reads(flow: Flow, join: Join) -> Iterator[Read]:
    """What is read too early, where ways that meet are joined so."""
    begin: dict[int, State] = {ENTRY: State()}
    todo = [ENTRY]
    while todo:
        number = todo.pop()
        after = begin[number]
        for index, instruction in enumerate(flow.blocks[number].instructions):
            after = _behind(after, instruction, Place(number, index), join is _on_every_way)
        for successor in flow.successors[number]:
            joined = join(begin[successor], after) if successor in begin else after
            if begin.get(successor) != joined:
                begin[successor] = joined
                todo.append(successor)
    stack = any(each.name == "cvta" and "local" in each.parts for each in _every(flow))
    for number in flow.order:
        state = begin.get(number, State())
        for index, instruction in enumerate(flow.blocks[number].instructions):
            place = Place(number, index)
            if _name(instruction) == PRODUCT and not state.fenced:
                yield Read(place, "", Filled(place, PRODUCT))
            for name in () if stack and _may_be_of_the_stack(instruction) else _read(instruction):
                if name in state.filled:
                    yield Read(place, name, state.filled[name])
            state = _behind(state, instruction, place, join is _on_every_way)


def _read(instruction: Instruction) -> Iterator[str]:
    """The registers that an instruction reads; wgmma adds to its results in order."""
    if instruction.name == "mov":
        return
    skip = 1 if destinations(instruction) or _name(instruction) == PRODUCT else 0
    for operand in instruction.operands[skip:]:
        yield from registers_in(operand)
    if instruction.guard is not None:
        yield instruction.guard.name


def _may_be_of_the_stack(instruction: Instruction) -> bool:
    """Whether it is a store to local memory, or to a generic address."""
    return instruction.name == "st" and space_of(instruction) in (None, "local")


def _behind(state: State, instruction: Instruction, place: Place, certainly: bool) -> State:
    """What is in flight behind an instruction; a predicated one is carried out or not, whichever says less."""
    after = _carried_out(state, instruction, place)
    if instruction.guard is None or after is state:
        return after
    return (_on_every_way if certainly else _on_some_way)(state, after)


def _carried_out(state: State, instruction: Instruction, place: Place) -> State:
    name, filled = _name(instruction), state.filled
    if name == "wgmma.fence":
        return replace(state, fenced=True)
    if name == "wgmma.commit_group":
        return replace(state, filled={key: _committed(each) for key, each in filled.items()})
    if name == "wgmma.wait_group" and isinstance(instruction.operands[0], Immediate):
        left = instruction.operands[0].value
        return _without(state, lambda each: each.by == PRODUCT and each.commits > left)
    if name == "tcgen05.wait::ld":
        return _without(state, lambda each: each.by == LOAD)
    if name == PRODUCT or (name == LOAD and isinstance(instruction.operands[0], Group)):
        return replace(
            state, filled=filled | dict.fromkeys(registers_in(instruction.operands[0]), Filled(place, name))
        )
    return _assigned(state, instruction)


def _assigned(state: State, instruction: Instruction) -> State:
    """Other instructions: what they assign is in flight no more, unless a `mov` hands it on."""
    filled = state.filled
    targets = [each for target in destinations(instruction) for each in registers_in(target)]
    if not filled or not targets:
        return state
    handed = None
    if instruction.name == "mov":
        sources = [each for operand in instruction.operands[1:] for each in registers_in(operand)]
        handed = next((filled[each] for each in sources if each in filled), None)
    if handed is None and not any(each in filled for each in targets):
        return state
    kept = {key: each for key, each in filled.items() if key not in targets}
    return replace(state, filled=kept if handed is None else kept | dict.fromkeys(targets, handed))


def _committed(each: Filled) -> Filled:
    return replace(each, commits=min(each.commits + 1, OLDEST)) if each.by == PRODUCT else each


def _without(state: State, done: Callable[[Filled], bool]) -> State:
    return replace(state, filled={key: each for key, each in state.filled.items() if not done(each)})
