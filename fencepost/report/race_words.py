"""Two accesses that race, in words: who does what to which memory, before whom."""

from __future__ import annotations

from fencepost.check import Race, Touch
from fencepost.check.report import Iteration
from fencepost.ir import ops
from fencepost.ir.buffers import BufferArg, View
from fencepost.report.words import access, place


def shown_op(op: ops.Operation) -> ops.Operation:
    """The operation that stands in the text: itself, or the one that it is a part of."""
    return op.owner or op


def race_title(race: Race) -> str:
    """What can happen, in a sentence."""
    first, second = race.first, race.second
    one, two = f"wave {first.wave}", f"wave {second.wave}"
    if race.kind == "wrong order":
        late = f"{two}'s {access(second.op)}"
        return f"{late} comes before {one}'s {first.op.noun}, which it must follow"
    mine, theirs = _place(first), _place(second)
    what = (
        "it" if mine == theirs else mine if _objects(first, second) else f"{mine}, which shares bytes with it"
    )
    if _engine_reads(second) or _arrival(second) is not None:
        two += "'s engine"
    can = f"{two} can {_verb(second)} {theirs}"
    if _engine_reads(first):
        return f"{can} while {one}'s engine may still be reading {what}"
    if _arrival(first) is not None:
        return f"{can} before {one}'s engine has arrived at {what}"
    if first.by_engine:
        whose = "its own" if first.wave == second.wave else f"{one}'s"
        return f"{can} while {whose} copy into it is under way"
    done = "read" if race.hazard == "WAR" else _participle(first)
    return f"{can} before {one} has {done} {what}"


def _arrival(touch: Touch) -> View | None:
    """The mbarrier that an engine arrives on, if that is what it touches here and not what it copies."""
    arrives = touch.op.arrives if isinstance(touch.op, ops.AsyncOperation) else None
    if arrives is None or any(_holds(view, touch) for view in touch.op.views):
        return None
    return arrives.view


def _holds(view: View, touch: Touch) -> bool:
    """Whether bytes that were touched can be those of a view's buffer."""
    buffer = view.buffer
    found = buffer.choices if isinstance(buffer, BufferArg) else (buffer,)
    at = touch.bytes
    return any(
        at.space is each
        or (at.space is None and each.offset is not None and each.offset <= at.lo < each.offset + each.size)
        for each in found
    )


def _place(touch: Touch) -> str:
    """What is touched."""
    arrives = _arrival(touch)
    return place(touch.op) if arrives is None else str(arrives)


def _objects(first: Touch, second: Touch) -> bool:
    """Whether both are about mbarriers: one may be named in two ways, and that says nothing about memory."""
    return all(isinstance(each.op, ops.MbarrierOperation) or _arrival(each) for each in (first, second))


def _engine_reads(touch: Touch) -> bool:
    return touch.by_engine and touch.verb == "reads"


def _verb(touch: Touch) -> str:
    if _arrival(touch) is not None or isinstance(touch.op, ops.MbarrierArrive | ops.MbarrierExpect):
        return "arrive at"
    if isinstance(touch.op, ops.MbarrierWait):
        return "wait for"
    if isinstance(touch.op, ops.MbarrierInit):
        return "initialize"
    return {"reads": "read", "writes": "write", "updates": "update", "copies into": "start a copy into"}[
        touch.verb
    ]


def _participle(touch: Touch) -> str:
    if isinstance(touch.op, ops.MbarrierInit):
        return "initialized"
    if isinstance(touch.op, ops.MbarrierArrive | ops.MbarrierExpect):
        return "arrived at"
    if isinstance(touch.op, ops.MbarrierWait):
        return "waited for"
    return {"writes": "written", "updates": "updated"}.get(touch.verb, touch.verb)


def touch_words(touch: Touch, race: Race | None = None) -> str:
    """What is said behind the line of an access."""
    said = race.first.iteration if race is not None and touch is not race.first else ()
    when = iteration_words(touch.op, touch.iteration, touch.calls, said)
    if not touch.iteration and race is not None and race.distance:
        when = ", in the next iteration" if race.distance == 1 else f", {race.distance} iterations later"
    bytes_ = f"bytes {touch.bytes.lo}..{touch.bytes.hi}"
    arrives = _arrival(touch)
    if arrives is not None:
        return f"wave {touch.wave}'s engine arrives at {arrives}{when}"
    who = f"wave {touch.wave}'s engine" if _engine_reads(touch) else f"wave {touch.wave}"
    return f"{who} {touch.verb} {bytes_}{when}"


def iteration_words(
    op: ops.Operation, iteration: Iteration, calls: tuple[ops.Call, ...] = (), said: Iteration = ()
) -> str:
    """Which iteration an access is of; values that loops do not give are examples, and those `said` are left out."""
    loops = {name for each in (op, *calls) for name in _names_of_loops(each)}
    of_loops = [f"%{name} = {value}" for name, value in iteration if name in loops]
    others = [
        f"%{name} = {value}" for name, value in iteration if name not in loops and (name, value) not in said
    ]
    parts = [", ".join(of_loops), f"for example with {', '.join(others)}" if others else ""]
    return "".join(f", {part}" for part in parts if part)


def _names_of_loops(op: ops.Operation) -> list[str]:
    """The variables and loop-carried numbers of the loops around an operation."""
    found: list[str] = []
    here: ops.Operation | None = op.owner or op
    while here is not None:
        if isinstance(here, ops.Iterate):
            found += [here.var, *(each.name for each in here.carried)]
        here = here.graph.owner if here.graph is not None else None
    return found
