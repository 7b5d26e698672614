"""Follow one access of one wave until every other wave can see it; whatever meets it before that races.

This is exact where all waves meet the same barriers in the same order, that is, where no
synchronization stands under a divergent conditional: then the k-th barrier of every wave is the same one,
and of two accesses the one that comes later in the sequence that all waves run is ordered after the earlier
one precisely if, in between, the earlier one was completed and then a rendezvous was passed. So the state
that matters is small: is it complete, which split barriers were signalled since, how many operations of its
counter were issued since. The walk goes over states, not over paths; going round a loop that leads back
to a known state ends it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, replace
from itertools import product

from fencepost.check.access import LDS, Bytes, Effect, counted_on, effect_of, touched
from fencepost.check.context import Context, Env, runs_in, start_values
from fencepost.check.report import Explored, OutOfRange, Race, Touch
from fencepost.flow import Block
from fencepost.ir import ops

STARTS = {0: 1, 1: 256, 2: 24, 3: 8}
"""By how many loops around an access are followed: iterations of each that it is started from."""


SHOWN = 64
"""Of a longer way through one block, a path keeps the two ends."""
MOST_STARTS = 4096
"""Combinations of iterations that an access is started from."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far the tracked access is on its way to being visible."""

    complete: bool = False
    signalled: frozenset[int] = frozenset()
    """Split barriers that its wave has signalled since it was complete."""
    later: int = 0
    """Operations of its counter that its wave has issued since."""
    reads: frozenset[int] = frozenset()
    """Reads issued since: when one of them is used, everything before it is complete."""
    rounds: frozenset[int] = frozenset()
    """For a member of a group: the loops around it that have gone round since."""


@dataclass(slots=True)
class Tracked:
    """The access that is followed."""

    op: ops.MemoryOperation
    effect: Effect
    block: Block
    env: Env
    wave: int
    bytes: list[Bytes]
    loops: set[int]
    status: Status


@dataclass(slots=True)
class _Step:
    """A state of the walk and how it was reached."""

    block: int
    gap: int
    env: Env
    status: Status
    came_from: _Step | None
    around: int = -1
    """The loop that went round on the way here from there, or -1."""


class Tracker:
    """Follows every access of a kernel in turn."""

    def __init__(self, context: Context, explored: Explored, budget: int) -> None:
        self.context = context
        self.explored = explored
        self.budget = budget
        self.races: dict[tuple[int, int, int, str], Race] = {}
        self.out_of_range: dict[int, OutOfRange] = {}
        self.places: dict[tuple[int, bool], list[int]] = {}
        self.gap_of = {op: gap for block in context.flow.blocks for gap, op in enumerate(block.ops)}
        blocks = context.flow.blocks
        everything = [op for block in blocks for op in block.ops]
        # Where every rendezvous is fenced and nothing is asynchronous, completion decides nothing.
        self.completion_matters = any(
            isinstance(op, ops.WorkgroupBarrier | ops.MemoryCounterWait | ops.AsyncCopy) for op in everything
        )
        self.most_waited = max(
            (
                count
                for op in everything
                if isinstance(op, ops.MemoryCounterWait)
                for count in op.counts.values()
            ),
            default=0,
        )

    def run(self) -> None:
        """Follow every access of every block that can be reached."""
        reachable = self.context.reachable_blocks()
        for block in self.context.flow.blocks:
            if block.index in reachable:
                for gap, op in enumerate(block.ops):
                    if isinstance(op, ops.MemoryOperation):
                        self.start(block, gap, op)
        if self.context.cut:
            self.explored.cut("loops of unknown length were followed for a bounded number of iterations")

    def start(self, block: Block, gap: int, op: ops.MemoryOperation) -> None:
        """Follow one operation from each iteration and wave that it has to be followed from."""
        effect = effect_of(op)
        if effect is None:
            return
        loops = list(self.context.flow.loops_around(block.index))
        followed = [loop for loop in reversed(loops) if loop.index in self.context.followed and loop.op]
        choices = []
        for loop in followed:
            values, everything = start_values(self.context, loop, STARTS[min(len(followed), 3)])
            if not everything:
                self.explored.cut(f"only the first and last iterations of %{loop.op.var if loop.op else ''}")
            choices.append([(loop.op.var if loop.op else "", value) for value in values])
        for number, env in enumerate(product(*choices)):
            if number >= MOST_STARTS:
                self.explored.cut(f"only {MOST_STARTS} combinations of iterations")
                return
            if not runs_in(op, dict(env)):
                continue
            for wave in self.context.waves:
                if not self.reachable_under(block, env, wave):
                    continue
                if self.explored.steps > self.budget:
                    self.explored.cut(f"stopped after {self.budget} steps")
                    return
                self.explored.accesses += 1
                places = [self.place(op, index, env, wave) for index in range(len(op.views))]
                status = Status()
                tracked = Tracked(
                    op, effect, block, env, wave, places, {loop.index for loop in loops}, status
                )
                self.follow(tracked, gap)

    def reachable_under(self, block: Block, env: Env, wave: int) -> bool:
        """Whether `wave` can take part in `block` in this iteration."""
        values = dict(env)
        return all(guard.admits(wave, values) for guard in block.guards)

    def demanded_under(self, block: Block, env: Env, wave: int) -> bool:
        """Whether `wave` is certain to take part in `block` in this iteration."""
        values = dict(env)
        return all(guard.demands(wave, values) for guard in block.guards)

    def place(self, op: ops.MemoryOperation, index: int, env: Env, wave: int) -> Bytes:
        """The bytes of one view; remembers an access that leaves its buffer."""
        bytes_, sound = touched(op.views[index], dict(env), wave)
        if not sound:
            self.out_of_range.setdefault(
                id(op), OutOfRange(op, env, f"{op.views[index]} lies outside %{op.views[index].buffer.name}")
            )
        return bytes_

    # ------------------------------------------------------------ the walk

    def follow(self, tracked: Tracked, gap: int) -> None:
        """Walk on from the access until it is visible on every path; record what it meets on the way."""
        start = _Step(tracked.block.index, gap + 1, tracked.env, tracked.status, None)
        seen = {(start.block, start.gap, start.env, start.status)}
        todo = deque([start])
        steps = 0
        limit = 20_000
        while todo:
            step = todo.popleft()
            steps += 1
            if steps > limit:
                self.explored.cut(f"an access followed for more than {limit} blocks")
                break
            block = self.context.flow.blocks[step.block]
            status = self.pass_block(tracked, block, step)
            if status is None:
                continue
            for target, env, around in self.context.successors(block, step.env):
                after = status
                if tracked.op.group and around in tracked.loops and around not in after.rounds:
                    after = replace(after, rounds=after.rounds | {around})
                key = (target, 0, env, after)
                if key not in seen:
                    seen.add(key)
                    todo.append(_Step(target, 0, env, after, step, around))
        self.explored.steps += steps

    def pass_block(self, tracked: Tracked, block: Block, step: _Step) -> Status | None:
        """The status at the block's end; None once the access is visible or has met something."""
        status = step.status
        taking_part = not block.guards or self.reachable_under(block, step.env, tracked.wave)
        # Touching is a matter of what can happen, completing of what must.
        certain = not block.guards or self.demanded_under(block, step.env, tracked.wave)
        places = self.places_that_matter(block, tracked.effect)
        for number in range(bisect_left(places, step.gap), len(places)):
            op = block.ops[places[number]]
            if number % 64 == 63:
                # A long way through one block is more than one step of work.
                self.explored.steps += 1
            if isinstance(op, ops.MemoryCounterWait):
                if certain:
                    status = self.wait_counted(tracked, op, status)
            elif isinstance(op, ops.SyncOperation):
                advanced = self.synchronize(tracked, op, status)
                if advanced is None:
                    return None
                status = advanced
            elif isinstance(op, ops.ValueOperation):
                if certain and not status.complete and self.completion_matters:
                    status = self.used(tracked, op, status)
                if isinstance(op, ops.MemoryOperation) and self.meets(
                    tracked, op, block, step, status, taking_part
                ):
                    return None
                if certain and self.completion_matters and not status.complete:
                    status = self.issued(tracked, op, status)
        return status

    def places_that_matter(self, block: Block, effect: Effect) -> list[int]:
        """The operations of a block that can do anything to an access: a read passes other reads by."""
        key = (block.index, effect.writes)
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = [
                place for place, op in enumerate(block.ops) if self.matters(op, effect.writes)
            ]
        return found

    def matters(self, op: ops.Operation, to_a_write: bool) -> bool:
        """Whether an operation can meet, complete or order an access."""
        if isinstance(op, ops.SyncOperation) or self.completion_matters:
            return True
        effect = effect_of(op)
        return effect is not None and (to_a_write or effect.writes)

    def synchronize(self, tracked: Tracked, op: ops.SyncOperation, status: Status) -> Status | None:
        """What a synchronization operation does for the tracked access; None: every wave can see it now."""
        own = tracked.effect.counter
        if isinstance(op, ops.WorkgroupBarrier):
            return None if status.complete else status
        fenced = status.complete or own == LDS
        if isinstance(op, ops.SharedMemoryBarrier):
            return None if fenced or op.wait_async_ops else status
        if isinstance(op, ops.SharedMemoryBarrierSignal):
            if not fenced:
                return status
            return replace(status, complete=True, signalled=status.signalled | {op.bar_id})
        if isinstance(op, ops.SharedMemoryBarrierWait):
            return None if op.bar_id in status.signalled else status
        return status

    def wait_counted(self, tracked: Tracked, op: ops.MemoryCounterWait, status: Status) -> Status:
        """A wait that leaves at most N outstanding completes what has N later ones on its counter.

        Shared memory is stricter: what was written there, others can rely on only once nothing is outstanding.
        """
        allowed = op.counts.get(tracked.effect.counter)
        if allowed is None or status.complete or status.later < allowed:
            return status
        if allowed and tracked.effect.needs_fence:
            return status
        return replace(status, complete=True)

    def used(self, tracked: Tracked, op: ops.ValueOperation, status: Status) -> Status:
        """A read whose result is used is complete, and so are the wave's reads before it: they return in order."""
        if tracked.effect.engine or tracked.effect.needs_fence:
            return status
        for value in op.uses:
            if value is tracked.op or id(value) in status.reads:
                return replace(status, complete=True)
        return status

    def issued(self, tracked: Tracked, op: ops.ValueOperation, status: Status) -> Status:
        """The tracked access's own wave issues another operation."""
        counter = counted_on(op)
        if counter == tracked.effect.counter and status.later <= self.most_waited:
            status = replace(status, later=status.later + 1)
        if isinstance(op, ops.Read | ops.AtomicOp) and op.name and not tracked.effect.engine:
            status = replace(status, reads=status.reads | {id(op)})
        return status

    # ------------------------------------------------------------ meeting another access

    def meets(
        self,
        tracked: Tracked,
        op: ops.MemoryOperation,
        block: Block,
        step: _Step,
        status: Status,
        taking_part: bool,
    ) -> bool:
        """Whether `op` races with the tracked access; if so, the race is recorded."""
        effect = effect_of(op)
        if effect is None or not tracked.effect.conflicts(effect):
            return False
        if op.group and op.group == tracked.op.group and self.one_instance(block, status):
            return False
        if taking_part and not status.complete and (tracked.effect.engine or effect.engine):
            place = self.overlap(tracked, op, step.env, tracked.wave)
            if place is not None:
                self.record(tracked, op, effect, tracked.wave, place, step, status)
                return True
        others = self.context.others(tracked.wave)
        self.explored.steps += len(others) // 8
        for wave in others:
            if block.guards and not self.reachable_under(block, step.env, wave):
                continue
            place = self.overlap(tracked, op, step.env, wave)
            if place is not None:
                self.record(tracked, op, effect, wave, place, step, status)
                return True
        return False

    def one_instance(self, block: Block, status: Status) -> bool:
        """Whether no loop around both accesses has gone round in between."""
        return not any(loop.index in status.rounds for loop in self.context.flow.loops_around(block.index))

    def overlap(self, tracked: Tracked, op: ops.MemoryOperation, env: Env, wave: int) -> Bytes | None:
        """The bytes of `op` in `wave` that meet the tracked ones."""
        for index in range(len(op.views)):
            place = self.place(op, index, env, wave)
            if any(place.meets(mine) for mine in tracked.bytes):
                return place
        return None

    def record(
        self,
        tracked: Tracked,
        op: ops.MemoryOperation,
        effect: Effect,
        wave: int,
        place: Bytes,
        step: _Step,
        status: Status,
    ) -> None:
        """Keep the first race that was found between two operations at each distance."""
        hazard = tracked.effect.hazard_with(effect)
        around = {loop.index for loop in self.context.flow.loops_around(step.block)}
        rounds = tuple(loop for loop in self.rounds(tracked, step) if loop in around)
        key = (id(tracked.op), id(op), min(len(rounds), 1), hazard)
        if key in self.races:
            return
        path = self.path_to(tracked, step, op)
        mine = next(mine for mine in tracked.bytes if mine.meets(place))
        first = Touch(tracked.op, tracked.wave, tracked.env, mine, tracked.effect.verb, tracked.effect.engine)
        second = Touch(op, wave, step.env, place, effect.verb, effect.engine)
        why = _why(tracked, wave, status, path)
        self.races[key] = Race(
            "race", hazard, first, second, rounds, why, tuple(path), status.complete, bool(status.signalled)
        )

    def rounds(self, tracked: Tracked, step: _Step) -> tuple[int, ...]:
        """The loops around the tracked access that went round on the way to `step`, in order."""
        found: list[int] = []
        here: _Step | None = step
        while here is not None:
            if here.around in tracked.loops:
                found.append(here.around)
            here = here.came_from
        return tuple(reversed(found))

    def path_to(self, tracked: Tracked, step: _Step, op: ops.Operation) -> list[ops.Operation]:
        """What is executed from the tracked access to `op`."""
        steps = [step]
        while steps[-1].came_from is not None:
            steps.append(steps[-1].came_from)
        path: list[ops.Operation] = [tracked.op]
        for here in reversed(steps):
            passed = self.context.flow.blocks[here.block].ops
            end = self.gap_of[op] + 1 if here is step else len(passed)
            if end - here.gap > SHOWN:
                # Nobody reads thousands of lines; a kernel with thousands of races should not keep them.
                path += passed[here.gap : here.gap + SHOWN // 2]
                path += passed[end - SHOWN // 2 : end]
            else:
                path += passed[here.gap : end]
        return path


def _why(tracked: Tracked, wave: int, status: Status, path: list[ops.Operation]) -> str:
    if tracked.effect.engine and not status.complete:
        return f"nothing has waited for the copy: counter {tracked.effect.counter!r} is never brought down in between"
    if wave == tracked.wave:
        return "the operation may still be outstanding when the engine starts to copy"
    if status.signalled:
        return "the barrier was signalled in between, but not waited for"
    if tracked.effect.engine:
        return "the copy was waited for, but no barrier after that wait tells the other waves"
    if any(isinstance(op, ops.WorkgroupBarrier) for op in path):
        return (
            "the workgroup barrier between them has no fence, and the first access may still be outstanding"
        )
    return "no barrier lies between them"
