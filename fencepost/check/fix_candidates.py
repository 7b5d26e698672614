"""What might help against a finding, the likeliest first. `group_by_fix` tries each, and claims only what does help.

A barrier or wait is proposed where the first access meets the second: before that, before the loops and conditionals
around it, or at the end of the loop that carries the hazard. What stands in the kernel already and is too weak, in
the wrong place or of the wrong phase is changed rather than joined by another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

from fencepost.check.concrete_access import counted_on, shown
from fencepost.check.fix_places import barrier_that_waits
from fencepost.check.report import UNFILLED, Deadlock, Race
from fencepost.check.suggested_edits import BEFORE, BEHIND, END, INSTEAD, Edit
from fencepost.flow import Flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import Binary, Const, Expr, Var, decide

Edits = tuple[Edit, ...]
AnyOp = TypeVar("AnyOp", bound=ops.Operation)
MOST_COUNTS = 8
"""Counts that are tried for one wait, from the largest that could do."""
MOST_WAITS = 12
"""Waits for mbarriers whose phase is tried."""


def for_race(flow: Flow, race: Race) -> Iterator[Edits]:
    """What might order two accesses."""
    for bare in _without_fence(race):
        yield (Edit(bare, ops.SharedMemoryBarrier(), INSTEAD),)
    if race.signalled:
        yield from _waits_moved(flow, race)
    first = race.first.op
    if isinstance(first, ops.AsyncOperation) and not race.waited:
        if first.arrives is not None:
            yield from _phases(flow, [first.arrives])
            yield from _mbarrier_waits(shown(race.second.op), first.arrives.view)
        yield from _engine_waits(flow, race, first)
    elif flow.trace.waves == 1 or race.first.wave == race.second.wave:
        yield (Edit(shown(race.second.op), ops.MemoryCounterWait({ops.LDS_COUNTER: 0})),)
    if _has_mbarriers(flow):
        yield from _phases(flow)
    if flow.trace.waves > 1:
        for place, how in _places(flow, race):
            yield (Edit(place, ops.SharedMemoryBarrier(), how),)


def for_deadlock(flow: Flow, deadlock: Deadlock, races: Sequence[Race] = ()) -> Iterator[Edits]:
    """What might let waves go on; `races` were found as well, and say which copies nobody waits for."""
    if _has_mbarriers(flow):
        awaited = [race.first.op.arrives for race in races if isinstance(race.first.op, ops.AsyncOperation)]
        marked = [op for op, _ in deadlock.ops]
        if deadlock.kind == UNFILLED:
            yield from _phases_of_both_sides(flow, marked)
        yield from _phases(flow, [each for each in awaited if each is not None], marked)
        yield from _usual_phases_of_both(marked)
        yield from _counts_of_mbarriers(flow)
        places = [race.second.op for race in races if race.first.by_engine]
        yield from _forgotten_waits(flow, [*places, *(op for op, _ in deadlock.ops)])
    for op, _ in deadlock.ops:
        if isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier)) and op.owner is None:
            yield from _out_of_conditionals(flow, op)
    for op, _ in deadlock.ops[::-1]:
        if isinstance(op, (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait)):
            yield from _other_half(flow, deadlock.kind, op)


def _without_fence(race: Race) -> list[ops.Operation]:
    """The rendezvous between two accesses that lack the fence which would order them, the last one first."""
    found = [race.unfenced] if race.unfenced is not None else []
    found += [op for op in _barriers_on(race.path) if isinstance(op, ops.WorkgroupBarrier)]
    return list(dict.fromkeys(found))


# ---------------------------------------------------------------- places


def _places(flow: Flow, race: Race) -> Iterator[tuple[ops.Operation, str]]:
    """Where a barrier that all waves meet could stand between two accesses: before loops, then near the second."""
    divergent = {guard.branch for block in flow.blocks for guard in block.guards}
    for op, how in dict.fromkeys(_between(race, divergent)):
        if any(up in divergent for up in list(_around(op))[1:]):
            continue
        if how == BEFORE or op not in divergent:
            yield op, how


def _between(race: Race, divergent: Collection[ops.Operation]) -> Iterator[tuple[ops.Operation, str]]:
    """Every place between two accesses, whoever gets there, the likeliest first."""
    around = list(_around(shown(race.second.op)))
    inside = next((n for n in range(len(around) - 1, -1, -1) if around[n] in divergent), -1)
    free = around[inside:] if inside >= 0 else around
    # Before a loop that the first access is not in, it runs once; that is where `insert` puts it.
    with_first = list(_around(shown(race.first.op)))
    loops = [op for op in free if isinstance(op, ops.Iterate) and op not in with_first]
    yield from ((op, BEFORE) for op in reversed(loops))
    if race.fix is not None and race.fix.before is not None:
        yield race.fix.before, BEFORE
    yield from ((op, BEFORE) for op in free)
    yield from ((op, END) for op in with_first if isinstance(op, ops.Iterate))


def _around(op: ops.Operation) -> Iterator[ops.Operation]:
    """An operation, and the loops and conditionals that it stands in, from the inside out."""
    here: ops.Operation | None = op
    while here is not None:
        yield here
        here = here.graph.owner if here.graph is not None else None


# ---------------------------------------------------------------- waits for engines


def _engine_waits(flow: Flow, race: Race, first: ops.AsyncOperation) -> Iterator[Edits]:
    """A wait for what an engine does: stronger where one stands, else at a barrier that stands, else with one.

    That is what `insert` does as well: whoever follows the suggestion gets the kernel that it writes.
    """
    counter = first.counter
    grouped = any(_closes_group(op, counter) for block in flow.blocks for op in block.ops)
    if not _is_for_others(race.weak, race.path):
        yield from _stronger_waits(race.weak, counter)
    closing: list[ops.Operation] = []
    wait: list[ops.Operation]
    if grouped and not any(_closes_group(op, counter) for op in race.path):
        closing.append(ops.CommitGroup(counter))
        yield from _groups_closed(race.path, counter)
    if flow.trace.waves == 1 or race.first.wave == race.second.wave:
        # The engine and its own wave: nobody else has to know, unless others read it as well.
        for count in _descending(_later(race.path, shown(race.second.op), counter, grouped)):
            wait = [*closing, ops.MemoryCounterWait({counter: count})]
            yield tuple(Edit(shown(race.second.op), op) for op in wait)
    if flow.trace.waves == 1:
        return
    for barrier in _barriers_on(race.path):
        for count in _descending(_later(race.path, barrier, counter, grouped)):
            yield (*(Edit(barrier, op) for op in closing), *_waiting_first(barrier, counter, count))
    for place, how in _places(flow, race):
        for count in _descending(_later(race.path, shown(race.second.op), counter, grouped)):
            wait = [*closing, *barrier_that_waits(first, count)]
            yield tuple(Edit(place, op, how) for op in wait)
    yield from _stronger_waits(race.weak, counter)


def _groups_closed(path: Sequence[ops.Operation], counter: str) -> Iterator[Edits]:
    """The group closed before a wait that stands: that may be right, and only the group be open."""
    for op in dict.fromkeys(path):
        if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)) and counter in op.counts:
            yield (Edit(op, ops.CommitGroup(counter)),)


def _is_for_others(weak: ops.Operation | None, path: Sequence[ops.Operation]) -> bool:
    """Whether shared memory is accessed between a wait and the next barrier: it may be there for that."""
    if weak is None or weak not in path:
        return False
    behind = path[len(path) - path[::-1].index(weak) :]
    for number, op in enumerate(behind):
        if isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier)):
            return any(isinstance(each, ops.MemoryOperation) for each in behind[:number])
    return False


def _waiting_first(barrier: ops.Operation, counter: str, count: int) -> Edits:
    """A barrier that stands, and waits for a counter first. A host's has no counts: the wait comes in front of it."""
    if barrier.host is not None:
        return (Edit(barrier, ops.MemoryCounterWait({counter: count})),)
    if isinstance(barrier, ops.SharedMemoryBarrier):
        return (Edit(barrier, replace(barrier, counts={**barrier.counts, counter: count}), INSTEAD),)
    return (Edit(barrier, ops.SharedMemoryBarrier(counts={counter: count}), INSTEAD),)


def _closes_group(op: ops.Operation, counter: str) -> bool:
    return isinstance(op, ops.CommitGroup) and op.counter == counter


def _stronger_waits(weak: ops.Operation | None, counter: str) -> Iterator[Edits]:
    """A wait that leaves too much outstanding, with smaller counts."""
    if isinstance(weak, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)) and not (weak.owner or weak.name):
        for count in _descending(weak.counts.get(counter, 0) - 1):
            stronger = replace(weak, counts={**weak.counts, counter: count})
            yield (Edit(weak, stronger, INSTEAD),)


def _barriers_on(path: Sequence[ops.Operation]) -> list[ops.Operation]:
    """The barriers of the kernel on a path, each once, the last one first."""
    existing = [
        op
        for op in path
        if isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier)) and op.owner is None
    ]
    return list(dict.fromkeys(reversed(existing)))


def _later(path: Sequence[ops.Operation], end: ops.Operation, counter: str, grouped: bool) -> int:
    """Operations of a counter (or groups) that are issued behind the first of a path, before it reaches `end`."""
    found = 0
    closed = False
    for op in path[1:]:
        if shown(op) is end:
            break
        if grouped:
            closes = _closes_group(op, counter)
            found += closes and closed
            closed = closed or closes
        elif isinstance(op, ops.ValueOperation):
            found += counted_on(op) == counter
    return found


def _descending(most: int) -> Iterator[int]:
    """Counts to try: the largest first, zero at last."""
    if most > 0:
        yield from range(most, max(most - MOST_COUNTS, 0), -1)
    if most >= 0:
        yield 0


# ---------------------------------------------------------------- split barriers


def _waits_moved(flow: Flow, race: Race) -> Iterator[Edits]:
    """The wait of a barrier that is signalled already, moved in front of the second access; or one put there."""
    signals = {op.bar_id for op in race.path if isinstance(op, ops.SharedMemoryBarrierSignal)}
    place = shown(race.second.op)
    for wait in _operations(flow, ops.SharedMemoryBarrierWait):
        if wait.bar_id in signals:
            yield (Edit(wait), Edit(place, ops.SharedMemoryBarrierWait(wait.bar_id)))
    for bar_id in sorted(signals):
        yield (Edit(place, ops.SharedMemoryBarrierWait(bar_id)),)


def _other_half(
    flow: Flow, kind: str, op: ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait
) -> Iterator[Edits]:
    """The signal or wait that is missing, and then the one that is there taken out."""
    bar_id = op.bar_id
    if kind == "wait without signal":
        yield (Edit(op, ops.SharedMemoryBarrierSignal(bar_id)),)
        for other in _operations(flow, ops.SharedMemoryBarrierSignal):
            if other.bar_id != bar_id:
                yield (Edit(op, ops.SharedMemoryBarrierWait(other.bar_id), INSTEAD),)
        for place in list(_around(op))[1:]:
            # One more before the back edge of the loop.
            yield (Edit(place, ops.SharedMemoryBarrierSignal(bar_id)),)
    elif kind == "signalled twice":
        yield (Edit(op, ops.SharedMemoryBarrierWait(bar_id)),)
        for place in list(_around(op))[1:]:
            yield (Edit(op), Edit(place, ops.SharedMemoryBarrierSignal(bar_id)))
    elif kind == "left signalled":
        for place in _around(op):
            yield (Edit(place, ops.SharedMemoryBarrierWait(bar_id), BEHIND),)
    for signal in _operations(flow, ops.SharedMemoryBarrierSignal):
        if signal.bar_id == bar_id:
            yield from _moved_out(signal)
    for wait in _operations(flow, ops.SharedMemoryBarrierWait):
        if wait.bar_id == bar_id:
            yield from _moved_out(wait)
    yield (Edit(op),)


def _moved_out(half: ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait) -> Iterator[Edits]:
    """A signal or wait that only some waves or paths reach: before the conditional around it, or behind it."""
    for around in list(_around(half))[1:]:
        for how in (BEFORE, BEHIND):
            yield (Edit(half), Edit(around, type(half)(half.bar_id), how))


# ---------------------------------------------------------------- barriers that not all waves meet


def _out_of_conditionals(
    flow: Flow, barrier: ops.SharedMemoryBarrier | ops.WorkgroupBarrier
) -> Iterator[Edits]:
    """A barrier that some waves never reach: behind the conditional, in front of it, or for those waves alone."""
    divergent = {guard.branch for block in flow.blocks for guard in block.guards}
    whole = type(barrier)
    for around in _around(barrier):
        if around not in divergent:
            continue
        for how in (BEHIND, BEFORE):
            yield (Edit(barrier), Edit(around, whole(), how))
    some = _waves_at(flow, barrier)
    if some is not None and isinstance(barrier, ops.SharedMemoryBarrier) and barrier.waves is None:
        yield (Edit(barrier, replace(barrier, waves=some), INSTEAD),)
    yield (Edit(barrier),)


def _waves_at(flow: Flow, op: ops.Operation) -> tuple[int, int] | None:
    """The waves that reach an operation, if they are some that follow one another."""
    block = next((block for block in flow.blocks if op in block.ops), None)
    if block is None:
        return None
    found = []
    for wave in range(flow.trace.waves):
        sides = [decide(guard.condition, {}, wave) for guard in block.guards]
        if None in sides:
            return None
        if all(side == guard.holds for side, guard in zip(sides, block.guards, strict=True)):
            found.append(wave)
    if not found or found != list(range(found[0], found[-1] + 1)) or len(found) == flow.trace.waves:
        return None
    return found[0], found[-1] + 1


# ---------------------------------------------------------------- mbarriers


def _has_mbarriers(flow: Flow) -> bool:
    return any(isinstance(op, ops.MbarrierOperation) for block in flow.blocks for op in block.ops)


def _phases(
    flow: Flow, arrivals: Sequence[ops.Arrival] = (), marked: Sequence[ops.Operation] = ()
) -> Iterator[Edits]:
    """Each wait for an mbarrier with another phase: first those for what copies arrive on, and the marked ones.

    A producer and a consumer that both take the other parity are in order again, the wrong way round: the consumer
    reads what nobody has filled yet. So the order in which waits are tried matters, and where nothing else decides,
    the wait of whoever fills a slot comes before that of whoever reads it.
    """
    arrived_on = {arrival.view.buffer for arrival in arrivals}
    waits = list(dict.fromkeys(_operations(flow, ops.MbarrierWait)))
    waits.sort(
        key=lambda wait: (wait.view.buffer not in arrived_on, wait not in marked, _is_for_a_read(wait))
    )
    for wait in waits[:MOST_WAITS]:
        if wait.owner is None:
            for phase in dict.fromkeys((flipped(wait.phase), *_usual(wait, wait.view))):
                if phase != wait.phase:
                    yield (Edit(wait, replace(wait, phase=phase), INSTEAD),)


def _phases_of_both_sides(flow: Flow, marked: Sequence[ops.Operation]) -> Iterator[Edits]:
    """The other parity for a wait that is marked, and for one that is not: the two are in order, one phase off."""
    waits = list(dict.fromkeys(_operations(flow, ops.MbarrierWait)))
    for wait in waits:
        for other in waits[:MOST_WAITS]:
            if wait in marked and other not in marked:
                yield tuple(
                    Edit(each, replace(each, phase=flipped(each.phase)), INSTEAD) for each in (wait, other)
                )


def _usual_phases_of_both(marked: Sequence[ops.Operation]) -> Iterator[Edits]:
    """The phases of a ring for two waits that wait for each other, each of which is wrong for itself."""
    waits = [op for op in dict.fromkeys(marked) if isinstance(op, ops.MbarrierWait) and op.owner is None]
    if len(waits) == 2:
        waits.sort(key=_is_for_a_read)
        one, other = (
            [Edit(wait, replace(wait, phase=each), INSTEAD) for each in _usual(wait, wait.view)]
            for wait in waits
        )
        yield from product(one, other)


def _is_for_a_read(wait: ops.Operation) -> bool:
    """Whether what follows a wait reads data, before anything writes some."""
    here = wait.next
    while here is not None:
        if isinstance(here, ops.MemoryOperation) and not isinstance(here, ops.MbarrierOperation):
            return isinstance(here, (ops.Read, ops.AsyncRead))
        here = here.next
    return False


def _usual(at: ops.Operation, view: View) -> Iterator[Expr]:
    """The phases of an mbarrier that is used in turn with the others of its buffer, in the loop around `at`."""
    loop = next((op for op in _around(at) if isinstance(op, ops.Iterate)), None)
    turn: Expr = Const(0)
    if loop is not None:
        turn = loop.index if view.buffer.slots == 1 else Binary("//", loop.index, Const(view.buffer.slots))
    for phase in (turn, flipped(turn)):
        yield phase if isinstance(phase, Const) or phase != turn else Binary("%", turn, Const(2))


def flipped(phase: Expr) -> Expr:
    """The other parity, written as people write it."""
    if isinstance(phase, Const):
        return Const(1 - phase.value % 2)
    two = Const(2)
    if isinstance(phase, Binary) and phase.op == "%" and phase.rhs == two:
        inner = phase.lhs
        if isinstance(inner, Binary) and inner.op == "+" and inner.rhs == Const(1):
            return Binary("%", inner.lhs, two)
        return Binary("%", Binary("+", inner, Const(1)), two)
    return Binary("%", Binary("+", phase, Const(1)), two)


def _mbarrier_waits(place: ops.Operation, view: View) -> Iterator[Edits]:
    """A wait for an mbarrier in front of an operation, in whose loop it has another index than elsewhere."""
    here = _in_loop_of(place, view)
    for phase in _usual(place, here):
        yield (Edit(place, ops.MbarrierWait((here,), phase=phase)),)


def _in_loop_of(place: ops.Operation, view: View) -> View:
    """The same view, with the variable of the loop around `place` instead of another loop's."""
    loop = next((op for op in _around(place) if isinstance(op, ops.Iterate)), None)
    if loop is None or view.slot is None:
        return view
    return replace(view, slot=_renamed(view.slot, loop.index))


def _renamed(expr: Expr, variable: Expr) -> Expr:
    if isinstance(expr, Var):
        return variable
    if isinstance(expr, Binary):
        return Binary(expr.op, _renamed(expr.lhs, variable), _renamed(expr.rhs, variable))
    return expr


def _forgotten_waits(flow: Flow, places: Sequence[ops.Operation]) -> Iterator[Edits]:
    """Mbarriers that somebody arrives on and nobody waits for: a wait where things go wrong."""
    waited = {wait.view.buffer for wait in _operations(flow, ops.MbarrierWait)}
    arrived = {arrive.view.buffer: arrive.view for arrive in _operations(flow, ops.MbarrierArrive)}
    for copy in _operations(flow, ops.AsyncOperation):
        if copy.arrives is not None:
            arrived.setdefault(copy.arrives.view.buffer, copy.arrives.view)
    for buffer, view in arrived.items():
        if buffer not in waited:
            for place in dict.fromkeys(places):
                yield from _mbarrier_waits(shown(place), view)


def _counts_of_mbarriers(flow: Flow) -> Iterator[Edits]:
    """The arrivals that a phase takes and the bytes that it expects, counted otherwise."""
    for init in dict.fromkeys(_operations(flow, ops.MbarrierInit)):
        if init.owner is None:
            others = (init.count - 1, init.count + 1, flow.trace.waves, flow.trace.waves - 1, 1)
            for count in dict.fromkeys(others):
                if count >= 1 and count != init.count:
                    yield (Edit(init, replace(init, count=count), INSTEAD),)
    copies = [copy for copy in _operations(flow, ops.AsyncOperation) if copy.arrives and copy.arrives.bytes]
    brought: dict[Buffer, list[int]] = {}
    for copy in dict.fromkeys(copies):
        assert copy.arrives is not None
        brought.setdefault(copy.arrives.view.buffer, []).append(copy.arrives.bytes)
    expects = list(dict.fromkeys(_operations(flow, ops.MbarrierExpect)))
    for expect in expects:
        sizes = brought.get(expect.view.buffer, [])
        for size in dict.fromkeys((sum(sizes), *sizes)):
            if size and size != expect.bytes and expect.owner is None:
                yield (Edit(expect, replace(expect, bytes=size), INSTEAD),)
    for copy in dict.fromkeys(copies):
        assert copy.arrives is not None
        view = copy.arrives.view
        if all(expect.view.buffer is not view.buffer for expect in expects):
            yield (Edit(shown(copy), ops.MbarrierExpect((view,), bytes=copy.arrives.bytes)),)


def _operations(flow: Flow, kind: type[AnyOp]) -> Iterator[AnyOp]:
    for block in flow.blocks:
        for op in block.ops:
            if isinstance(op, kind):
                yield op
