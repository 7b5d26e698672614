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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from fencepost.check.concrete_access import Bytes, Effect, effect_of, shown
from fencepost.check.environments import Env
from fencepost.check.loop_context import Context
from fencepost.check.race_reasons import too_weak, why_racing
from fencepost.check.report import Explored, OutOfRange, Race
from fencepost.check.start_values import Starts
from fencepost.check.visibility import Rules, Status, Tracked
from fencepost.flow import Block, Guard
from fencepost.ir import ops

VISITED, COMPARED = 8, 12
"""What it costs to reach a block and to compare two accesses (see `Explored.work`); passing an operation costs 1."""
EVALUATED = 50
"""What it costs to work out the bytes of an access, for each place."""
TURNS = (slice(0, 1), slice(1, 8), slice(8, None))
"""Iterations that every access is followed from before any is from more: if the budget ends, each had its turn."""
MOST_RACES = 1000
"""Pairs of operations that are reported: nobody reads more, and each has a path."""
SHOWN = 64
"""Of a longer way through one block, a path keeps the two ends."""


@dataclass(slots=True)
class Walked:
    """A state of the walk and how it was reached."""

    block: int
    gap: int
    env: Env
    status: Status
    came_from: Walked | None
    around: int = -1
    """The loop that went round on the way here from there, or -1."""
    went_round: Walked | None = None
    """The last state before this one that was reached by a loop going round, of those around the tracked access."""

    def last_round(self, loops: set[int]) -> Walked | None:
        """This state, if it was reached by one of these loops going round; else the last one before it that was."""
        return self if self.around in loops else self.went_round


@dataclass(frozen=True, slots=True)
class OtherAccess:
    """An access that meets the tracked one."""

    op: ops.MemoryOperation
    wave: int
    place: Bytes
    step: Walked = field(compare=False, repr=False)
    """Where it is made."""


class Tracker:
    """Follows every access of a kernel in turn."""

    def __init__(self, context: Context, explored: Explored, budget: int) -> None:
        self.context = context
        self.explored = explored
        self.budget = budget
        self.races: dict[tuple[int, int, int, str], Race] = {}
        self.out_of_range: dict[int, OutOfRange] = {}
        self.places: dict[tuple[int, bool], list[int]] = {}
        self.inside: dict[ops.Operation, frozenset[int]] = {}
        self.gap_of = {op: gap for block in context.flow.blocks for gap, op in enumerate(block.ops)}
        self.rules = Rules.of(context)

    def run(self) -> None:
        """Follow every access of every block that can be reached."""
        reachable = self.context.reachable_blocks()
        starts = Starts(self.context, self.explored)
        todo: list[tuple[Block, int, ops.MemoryOperation, list[Env]]] = []
        for block in self.context.flow.blocks:
            if block.index in reachable and any(isinstance(op, ops.MemoryOperation) for op in block.ops):
                environments = starts.of(block)
                for gap, op in enumerate(block.ops):
                    if isinstance(op, ops.MemoryOperation):
                        todo.append((block, gap, op, environments))
        for turn in TURNS:
            for block, gap, op, environments in todo:
                if environments[turn]:
                    self.start(block, gap, op, environments[turn])
        if self.context.cut:
            self.explored.cut("loops of unknown length were followed for a bounded number of iterations")

    def start(self, block: Block, gap: int, op: ops.MemoryOperation, environments: list[Env]) -> None:
        """Follow one operation from each iteration and wave that it has to be followed from."""
        effect = effect_of(op)
        if effect is None:
            return
        loops = {loop.index for loop in self.context.flow.loops_around(block.index)}
        later = -1 if effect.counter in self.context.grouped else 0
        for env, wave in self.followed_waves(block, environments):
            places = self.places_of(op, block, env, wave)
            status = Status(later=later, sides=self.sides_taken(block, env, wave))
            self.follow(Tracked(op, effect, block, env, wave, places, loops, status), gap)

    def followed_waves(self, block: Block, environments: Iterable[Env]) -> Iterator[tuple[Env, int]]:
        """The waves that run a block in each of some iterations, as long as the budget lasts."""
        for env in environments:
            for wave in self.context.waves:
                if not self.context.admits(block, env, wave):
                    continue
                if self.explored.steps > self.budget:
                    self.explored.cut(f"stopped after {self.budget} steps")
                    return
                if self.explored.out_of_work():
                    return
                self.explored.accesses += 1
                yield env, wave

    def sides_taken(self, block: Block, env: Env, wave: int) -> frozenset[Guard]:
        """Whoever runs a block has taken the sides around it, also where nobody knows why."""
        if not block.guards or not self.rules.completion_matters:
            return frozenset()
        return frozenset(self.context.undecided(block, env, wave))

    def places_of(self, op: ops.MemoryOperation, block: Block, env: Env, wave: int) -> list[Bytes]:
        """The bytes that an access can touch; remembers one that leaves its buffer."""
        known = len(self.context.touched)
        places = self.context.places(op, block, env[-1], wave)
        if len(self.context.touched) > known:
            self.explored.work += EVALUATED * (1 + len(places))
        for place in places:
            if not place.inside and id(op) not in self.out_of_range:
                self.out_of_range[id(op)] = self.context.out_of_range(place, op, block, env[-1])
        return [place.bytes for place in places]

    # ------------------------------------------------------------ the walk

    def follow(self, tracked: Tracked, gap: int) -> None:
        """Walk on from the access until it is visible on every path; record what it meets on the way."""
        start = Walked(tracked.block.index, gap + 1, tracked.env, tracked.status, None)
        seen = {(start.block, start.gap, start.env, start.status)}
        todo = deque([start])
        steps = 0
        limit = 20_000
        context, explored, blocks = self.context, self.explored, self.context.flow.blocks
        while todo:
            step = todo.popleft()
            steps += 1
            if steps > limit:
                explored.cut(f"an access followed for more than {limit} blocks")
                break
            explored.work += VISITED + 2 * len(step.env[-1])
            if explored.work > explored.most_work and explored.out_of_work():
                break
            block = blocks[step.block]
            for entered in self.entering(tracked, block, step):
                status = self.pass_block(tracked, block, step, entered)
                if status is None:
                    continue
                for target, env, around in context.successors(block, step.env):
                    after = self.after_back_edge(tracked, status, around) if tracked.op.group else status
                    key = (target, 0, env, after)
                    if key not in seen:
                        seen.add(key)
                        earlier = step.last_round(tracked.loops)
                        todo.append(Walked(target, 0, env, after, step, around, earlier))
        explored.steps += steps

    def entering(self, tracked: Tracked, block: Block, step: Walked) -> list[Status]:
        """The status where a block begins; one for each side that the wave may have taken, where that is not known.

        What the wave waits for in there counts if it has taken that side, and everything else that it does there
        comes behind the wait; if it has not, it does nothing of that.
        """
        status = step.status
        if status.sides:
            status = self.leaving(block, status)
        if not block.guards or status.complete or not self.rules.completion_matters:
            return [status]
        if not self.context.admits(block, step.env, tracked.wave) or not status.admits(block):
            return [status]
        found: list[Status] = []
        for guard in self.context.undecided(block, step.env, tracked.wave):
            if guard not in status.sides:
                other = replace(guard, holds=not guard.holds)
                found.append(status._replace(sides=status.sides | {other}))
                status = status._replace(sides=status.sides | {guard})
        return [status, *found]

    def leaving(self, block: Block, status: Status) -> Status:
        """The status behind conditionals: what was read on a side is named nowhere else."""
        around = {guard.branch for guard in block.guards}
        left = [guard for guard in status.sides if guard.branch not in around]
        if not left:
            return status
        reads = status.reads
        for guard in left:
            reads -= self.results_inside(guard.branch)
        return status._replace(sides=status.sides.difference(left), reads=reads)

    def results_inside(self, branch: ops.Operation) -> frozenset[int]:
        """The results of everything on both sides of a conditional."""
        if branch not in self.inside:
            self.inside[branch] = frozenset(
                id(shown(op))
                for block in self.context.flow.blocks
                if any(guard.branch is branch for guard in block.guards)
                for op in block.ops
            )
        return self.inside[branch]

    def after_back_edge(self, tracked: Tracked, status: Status, around: int) -> Status:
        """For a member of a group, which loops have begun another iteration matters."""
        if tracked.op.group and around in tracked.loops and around not in status.rounds:
            return status._replace(rounds=status.rounds | {around})
        return status

    # many branches because this is the innermost loop of the walk: each kind of operation is distinguished right here
    def pass_block(self, tracked: Tracked, block: Block, step: Walked, status: Status) -> Status | None:
        """The status at the block's end; None once the access is visible or has met something."""
        taking_part = not block.guards or (
            self.context.admits(block, step.env, tracked.wave) and status.admits(block)
        )
        places = self.places_that_matter(block, tracked.effect)
        self.explored.work += len(places)
        for number in range(bisect_left(places, step.gap) if step.gap else 0, len(places)):
            op = block.ops[places[number]]
            if number % 64 == 63:
                # A long way through one block is more than one step of work.
                self.explored.steps += 1
            if isinstance(op, ops.MemoryCounterWait):
                if taking_part:
                    status = self.rules.waited(tracked, op, status)
            elif isinstance(op, ops.SyncOperation):
                advanced = self.rules.synchronize(tracked, op, status)
                if advanced is None:
                    return None
                status = advanced
            elif isinstance(op, ops.ValueOperation):
                if taking_part and not status.complete and self.rules.completion_matters:
                    status = self.rules.used(tracked, op, status)
                if isinstance(op, ops.MemoryOperation) and self.meets(
                    tracked, op, block, step, status, taking_part
                ):
                    return None
                if taking_part and self.rules.completion_matters and not status.complete:
                    status = self.rules.issued(tracked, op, status)
            elif isinstance(op, ops.CommitGroup) and taking_part:
                status = self.rules.closed(tracked, op, status)
        holders = self.context.environments.value_holders
        if holders and block.index in holders and taking_part and not status.complete:
            status = self.rules.forward(tracked, block, status)
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
        if isinstance(op, ops.SyncOperation) or self.rules.completion_matters:
            return True
        effect = effect_of(op)
        return effect is not None and (to_a_write or effect.writes)

    # ------------------------------------------------------------ meeting another access

    def meets(
        self,
        tracked: Tracked,
        op: ops.MemoryOperation,
        block: Block,
        step: Walked,
        status: Status,
        taking_part: bool,
    ) -> bool:
        """Whether `op` races with the tracked access; if so, the race is recorded."""
        effect = self.conflict(tracked, op, block, status)
        if effect is None:
            return False
        ordered = tracked.effect.kept_in_order(effect)
        by_engine = not ordered and (tracked.effect.engine or effect.engine)
        if taking_part and not status.complete and by_engine:
            place = self.overlap(tracked, op, block, step.env, tracked.wave)
            if place is not None:
                self.record(tracked, OtherAccess(op, tracked.wave, place, step), status)
                return True
        others = self.context.others(tracked.wave)
        self.explored.steps += len(others) // 8
        self.explored.work += COMPARED * (1 + len(others) // 4)
        for wave in others:
            if not self.context.admits(block, step.env, wave):
                continue
            if ordered and self.cooperate(tracked, op, block, step, wave):
                continue
            place = self.overlap(tracked, op, block, step.env, wave)
            if place is not None:
                self.record(tracked, OtherAccess(op, wave, place, step), status)
                return True
        return False

    def conflict(
        self, tracked: Tracked, op: ops.MemoryOperation, block: Block, status: Status
    ) -> Effect | None:
        """What `op` does, if it conflicts with the tracked access and is not part of the same act."""
        effect = effect_of(op)
        if effect is None or not tracked.effect.conflicts(effect):
            return None
        if op.group and op.group == tracked.op.group and self.one_instance(tracked, block, status):
            return None
        return effect

    def cooperate(
        self, tracked: Tracked, op: ops.MemoryOperation, block: Block, step: Walked, wave: int
    ) -> bool:
        """Whether two copies are acts of the same waves, among them `wave` and the tracked access's own.

        Each engine then keeps its wave's share of them in order. Copies that different waves issue have no order.
        """
        context, own = self.context, tracked.wave
        certain = context.demands(tracked.block, tracked.env, wave) and context.demands(block, step.env, own)
        # Who takes part in one run of a block takes part in all of it, whoever that is.
        if not certain and not (block is tracked.block and step.came_from is None):
            return False
        return context.cooperates(
            tracked.op, tracked.block, tracked.env[-1], own, wave
        ) and context.cooperates(op, block, step.env[-1], own, wave)

    def one_instance(self, tracked: Tracked, block: Block, status: Status) -> bool:
        """Whether both are made in one run of their function, and one iteration of all loops around both."""
        if block.calls != tracked.block.calls:
            return False
        return not any(loop.index in status.rounds for loop in self.context.flow.loops_around(block.index))

    def overlap(
        self, tracked: Tracked, op: ops.MemoryOperation, block: Block, env: Env, wave: int
    ) -> Bytes | None:
        """The bytes of `op` in `wave` that meet the tracked ones."""
        places = self.places_of(op, block, env, wave)
        # Lanes that touch bytes of their own are many places.
        self.explored.work += len(places) * (4 + len(tracked.bytes))
        for place in places:
            for mine in tracked.bytes:
                if place.meets(mine):
                    return place
        return None

    def record(self, tracked: Tracked, met: OtherAccess, status: Status) -> None:
        """Keep the first race that was found between two operations at each distance."""
        op, step, effect = met.op, met.step, effect_of(met.op)
        assert effect is not None
        hazard = tracked.effect.hazard_with(effect)
        around = {loop.index for loop in self.context.flow.loops_around(step.block)}
        rounds = tuple(loop for loop in self.rounds(tracked, step) if loop in around)
        key = (id(shown(tracked.op)), id(shown(op)), min(len(rounds), 1), hazard)
        if key in self.races:
            return
        if len(self.races) >= MOST_RACES:
            self.explored.cut(f"only the first {MOST_RACES} races")
            return
        path = self.path_to(tracked, step, op)
        self.explored.work += len(path)
        mine = next(mine for mine in tracked.bytes if mine.meets(met.place))
        first = self.context.touch(tracked.op, tracked.block, tracked.wave, tracked.env[-1], mine)
        block = self.context.flow.blocks[step.block]
        second = self.context.touch(op, block, met.wave, step.env[-1], met.place)
        why = why_racing(first, second, path, status.complete, bool(status.signalled), status.later < 0)
        # What no group takes in yet, no count waits for.
        weak = too_weak(first, path) if not status.complete and status.later >= 0 else None
        self.races[key] = Race(
            "race",
            hazard,
            first,
            second,
            rounds,
            why,
            tuple(path),
            status.complete,
            bool(status.signalled),
            weak=weak,
        )

    def rounds(self, tracked: Tracked, step: Walked) -> tuple[int, ...]:
        """The loops around the tracked access that went round on the way to `step`, in order."""
        found: list[int] = []
        here: Walked | None = step
        while here is not None:
            if here.around in tracked.loops:
                found.append(here.around)
            here = here.went_round
        return tuple(reversed(found))

    def path_to(self, tracked: Tracked, step: Walked, op: ops.Operation) -> list[ops.Operation]:
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
