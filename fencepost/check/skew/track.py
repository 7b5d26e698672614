"""Follow one access of one wave until every other wave is bound to come after it, where waves are skewed.

As `track` does, over states and not over paths, so that it holds for every path and every trip count. What differs is
who meets whom. Let the access x be made by wave i, and let `lead` be how many barriers more than i another wave j has
met at the same place of the program (`waves_apart`). Once x is complete, the next barrier of i makes it visible to
everyone; say that it is `ahead` = 1 barriers away, then 0, -1, ... as i meets more. An access y of j, later in the
program, comes after x exactly if that barrier is one that j has met before y: if `ahead` <= `lead`. While x is not
complete, y comes after it only if j is in front (`lead` >= 1) and x is complete before i meets its `lead`-th barrier
from y's place on: y is *owed* that. Everything else is a race or the wrong order.

Nothing of this grows without end. `lead` is bounded (or the kernel deadlocks, or the report says that it was cut
short), `ahead` ends when it is no more than the least lead, what is owed falls due within `lead` barriers. So
there are finitely many states, and a loop of unknown length is followed until it brings nothing new.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from fencepost.check.concrete_access import Bytes, effect_of
from fencepost.check.environments import Env
from fencepost.check.loop_context import Context
from fencepost.check.report import Explored
from fencepost.check.skew.waves_apart import BARRIERS, Met, WavesApart
from fencepost.check.track import COMPARED, VISITED, OtherAccess, Tracker, Walked
from fencepost.check.visibility import Status, Tracked
from fencepost.flow import Block
from fencepost.ir import ops

MOST_STEPS = 20_000
"""Blocks that one access is followed for."""


@dataclass(frozen=True, slots=True)
class Owed:
    """An access of a wave in front that comes after the followed one only if that is complete in time."""

    wave: int
    op: ops.MemoryOperation
    within: int
    """Barriers that the followed access's wave may meet before it is complete."""
    place: Bytes
    lead: int
    step: Walked = field(compare=False, repr=False)
    """Where it is made."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """How the followed access stands to the other waves."""

    met: Met
    ahead: int | None = None
    """How many barriers on the one is that makes it visible to everyone; None as long as it is not complete."""
    owed: frozenset[Owed] = frozenset()


@dataclass(slots=True)
class _Step(Walked):
    """A state of the walk and how it was reached."""

    ordering: Ordering = field(default_factory=lambda: Ordering(()))


class SkewTracker(Tracker):
    """Follows every access of a kernel whose waves are skewed."""

    def __init__(self, context: Context, explored: Explored, budget: int, apart: WavesApart) -> None:
        super().__init__(context, explored, budget)
        self.completion_matters = True
        self.apart = apart
        self.waves = apart.waves
        self.least_lead = -max((max(state.met) for state in apart.states), default=0)

    def run(self) -> None:
        """Follow every access from every state that it is made in."""
        for state in self.apart.states:
            block = self.context.flow.blocks[state.block]
            met = state.met
            for gap, op in enumerate(block.ops):
                if isinstance(op, BARRIERS):
                    met = self.apart.after(block, state.env, met)
                elif isinstance(op, ops.MemoryOperation):
                    self.start_skewed(block, gap, op, state.env, met)
        if self.context.cut:
            self.explored.cut("loops of unknown length were followed for a bounded number of iterations")

    def start_skewed(self, block: Block, gap: int, op: ops.MemoryOperation, env: Env, met: Met) -> None:
        """Follow one operation of each wave that makes it."""
        effect = effect_of(op)
        if effect is None:
            return
        loops = {loop.index for loop in self.context.flow.loops_around(block.index)}
        status = Status(later=-1 if effect.counter in self.context.grouped else 0)
        for _, wave in self.followed_waves(block, [env]):
            places = self.places_of(op, block, env, wave)
            self.follow_skewed(Tracked(op, effect, block, env, wave, places, loops, status), gap, met)

    def follow_skewed(self, tracked: Tracked, gap: int, met: Met) -> None:
        """Walk on from the access until all waves are bound to come after it, on every path."""
        start = _Step(tracked.block.index, gap + 1, tracked.env, tracked.status, None, ordering=Ordering(met))
        seen = {(start.block, start.gap, start.env, start.status, start.ordering)}
        todo = deque([start])
        steps = 0
        while todo:
            step = todo.popleft()
            steps += 1
            if steps > MOST_STEPS:
                self.explored.cut(f"an access followed for more than {MOST_STEPS} blocks")
                break
            self.explored.work += VISITED + 2 * len(step.env[-1])
            if self.explored.out_of_work():
                break
            block = self.context.flow.blocks[step.block]
            after = self.through(tracked, block, step)
            if after is None:
                continue
            status, ordering = after
            for target, env, around in self.context.successors(block, step.env):
                here = self.after_back_edge(tracked, status, around)
                key = (target, 0, env, here, ordering)
                if key not in seen:
                    seen.add(key)
                    earlier = step.last_round(tracked.loops)
                    todo.append(_Step(target, 0, env, here, step, around, earlier, ordering))
        self.explored.steps += steps

    # many branches because this is the innermost loop of the walk: each kind of operation is distinguished right here
    def through(self, tracked: Tracked, block: Block, step: _Step) -> tuple[Status, Ordering] | None:
        """How the access stands at the end of a block; None once nothing can come before it any more."""
        status, ordering = step.status, step.ordering
        takes_part = self.context.admits(block, step.env, tracked.wave)
        self.explored.work += len(block.ops) - step.gap
        for gap in range(step.gap, len(block.ops)):
            op = block.ops[gap]
            if isinstance(op, (ops.MemoryCounterWait, ops.SharedMemoryBarrier)) and takes_part:
                status = self.rules.waited(tracked, op, status)
            if isinstance(op, ops.SharedMemoryBarrier) and takes_part and not tracked.effect.engine:
                status = status.completed()
            ordering = self.noticed(ordering, status)
            if isinstance(op, BARRIERS):
                ordering = self.meeting(tracked, block, step, ordering, status, takes_part)
                if ordering.ahead is not None and ordering.ahead <= self.least_lead:
                    return None
            elif isinstance(op, ops.ValueOperation) and not isinstance(op, ops.SyncOperation):
                if takes_part and not status.complete:
                    status = self.rules.used(tracked, op, status)
                    ordering = self.noticed(ordering, status)
                if isinstance(op, ops.MemoryOperation):
                    compared = self.compare(tracked, op, block, step, status, ordering)
                    if compared is None:
                        return None
                    ordering = compared
                if takes_part and not status.complete:
                    status = self.rules.issued(tracked, op, status)
            elif isinstance(op, ops.CommitGroup) and takes_part:
                status = self.rules.closed(tracked, op, status)
        if block.index in self.context.environments.value_holders and takes_part and not status.complete:
            status = self.rules.forward(tracked, block, status)
        return status, ordering

    def noticed(self, ordering: Ordering, status: Status) -> Ordering:
        """The access may have become complete: then its wave's next barrier makes it visible."""
        if ordering.ahead is None and status.complete:
            return Ordering(ordering.met, 1)
        return ordering

    def meeting(
        self,
        tracked: Tracked,
        block: Block,
        step: _Step,
        ordering: Ordering,
        status: Status,
        takes_part: bool,
    ) -> Ordering:
        """Behind a barrier: who has met it, and what was due before it."""
        met = self.apart.after(block, step.env, ordering.met)
        if not takes_part:
            return Ordering(met, ordering.ahead, ordering.owed)
        if ordering.ahead is not None:
            return Ordering(met, ordering.ahead - 1)
        left: set[Owed] = set()
        for owed in ordering.owed:
            if owed.within:
                left.add(replace(owed, within=owed.within - 1))
            else:
                second = OtherAccess(owed.op, owed.wave, owed.place, owed.step)
                self.report(tracked, second, status, owed.lead)
        return Ordering(met, None, frozenset(left))

    def compare(
        self,
        tracked: Tracked,
        op: ops.MemoryOperation,
        block: Block,
        step: _Step,
        status: Status,
        ordering: Ordering,
    ) -> Ordering | None:
        """What an access of any wave is to the followed one; None if they race."""
        effect = self.conflict(tracked, op, block, status)
        if effect is None:
            return ordering
        self.explored.work += COMPARED * (1 + len(self.waves) // 4)
        owed = set(ordering.owed)
        ordered = tracked.effect.kept_in_order(effect)
        mine = ordering.met[self.waves.index(tracked.wave)]
        for wave, met in zip(self.waves, ordering.met, strict=True):
            if not self.context.admits(block, step.env, wave):
                continue
            own = wave == tracked.wave
            if own and (status.complete or not (tracked.effect.engine or effect.engine)):
                continue
            if ordered and (own or self.cooperate(tracked, op, block, step, wave)):
                continue
            lead = met - mine
            if not own and ordering.ahead is not None and ordering.ahead <= lead:
                continue
            place = self.overlap(tracked, op, block, step.env, wave)
            if place is None:
                continue
            if not own and ordering.ahead is None and lead >= 1:
                owed.add(Owed(wave, op, lead - 1, place, lead, step))
                continue
            if not own and self.opposite(tracked, block, step):
                self.explored.cut("accesses on the two sides of one conditional were only simulated")
                continue
            self.report(tracked, OtherAccess(op, wave, place, step), status, lead)
            return None
        return Ordering(ordering.met, ordering.ahead, frozenset(owed))

    def report(self, tracked: Tracked, met: OtherAccess, status: Status, lead: int) -> None:
        """Keep a race; if the waves are apart there, that is why."""
        known = set(self.races)
        self.record(tracked, met, status)
        for key in self.races.keys() - known if lead else ():
            self.races[key] = replace(self.races[key], why=_why(tracked.wave, met.wave, lead))

    def opposite(self, tracked: Tracked, block: Block, step: _Step) -> bool:
        """Whether two accesses stand on the two sides of one divergent conditional, in one run of it."""
        sides = {guard.branch: guard.holds for guard in block.guards}
        if not any(sides.get(guard.branch, guard.holds) != guard.holds for guard in tracked.block.guards):
            return False
        around = {loop.index for loop in self.context.flow.loops_around(block.index)}
        return block.calls == tracked.block.calls and not around & set(self.rounds(tracked, step))


def _why(first: int, second: int, lead: int) -> str:
    by = "one rendezvous" if abs(lead) == 1 else f"{abs(lead)} rendezvous"
    if lead > 0:
        when = f"is not complete by the time that wave {first} meets its next barrier behind the second one's place"
        return f"wave {second} runs {by} behind wave {first}, and the first access {when}"
    more = f"{1 - lead} barriers have to lie between the two, with the first access complete before them"
    return f"wave {first} runs {by} behind wave {second}: {more}"
