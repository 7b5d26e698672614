"""Run representative waves along one path and keep, for each, what it knows to be complete.

Knowledge is a vector clock: for every wave and every counter, how many operations are known to be complete.
A rendezvous forwards what each wave knew when it arrived; the k-th rendezvous of one wave meets the k-th of
every other, whatever line each stands on, so this covers skewed waves. One schedule is enough:
who meets whom at a barrier does not depend on timing. An access that the current wave does not know to be
complete races with it; one that it does know although it comes later in the program is ordered the wrong way.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.check.concrete_access import LDS, LDS_READ, counted_on, effect_of, shown
from fencepost.check.deadlock import left_signalled, who_is_stuck
from fencepost.check.deciding_names import results_given_at
from fencepost.check.loop_context import Context
from fencepost.check.mbarrier_phases import MbarrierPhases
from fencepost.check.mbarrier_state import Clock, alone_name, without_old
from fencepost.check.paths import Visit
from fencepost.check.race_reasons import too_weak
from fencepost.check.report import Deadlock, Explored, OutOfRange, Race, Touch, barrier_name
from fencepost.check.simulated_waves import Event, Logged, Meeting, WaveState, join, meeting_of, meets
from fencepost.check.skew.race_reasons import WaveAccess, Why, barriers_of, why_skewed
from fencepost.flow import Block, Guard
from fencepost.ir import ops
from fencepost.ir.expr import decide

STEPPED = 8
"""What it costs to run one operation of one wave: see `Explored.work`."""
JOINED = 8
"""So much of what a wave knows can be compared in one unit of work."""

Unknown = Callable[[int], bool]
"""Which waves are taken to satisfy a divergent condition that the kernel does not tell."""


def everyone(wave: int) -> bool:
    """All waves."""
    return True


def admits(guard: Guard, wave: int, env: dict[str, int], unknown: Unknown) -> bool:
    """Whether a wave takes part in what is guarded."""
    decided = decide(guard.condition, env, wave)
    return (unknown(wave) if decided is None else decided) == guard.holds


Sides = dict[tuple[ops.Operation, tuple[ops.Call, ...]], bool]
"""Divergent conditionals, each with the calls that led to it, and which side of it something is on."""


class Simulation:
    """All waves along one path."""

    def __init__(
        self,
        context: Context,
        path: list[Visit],
        waves: list[int],
        unknown: Unknown = everyone,
        explored: Explored | None = None,
    ) -> None:
        self.context = context
        self.explored = explored or Explored("simulate")
        self.flow = context.flow
        self.races: dict[tuple[int, int, str, str], Race] = {}
        self.deadlocks: list[Deadlock] = []
        self.out_of_range: dict[int, OutOfRange] = {}
        self.log: list[Logged] = []
        self.broken = False
        """A barrier is out of step; what would follow means nothing."""
        self.meetings: dict[tuple[Meeting, int], tuple[int, Clock]] = {}
        """For each barrier and phase: how many waves have arrived, and what they knew."""
        self.mbarriers = MbarrierPhases(self)
        self.known_sides: dict[int, Sides] = {}
        """For each block that was asked about."""
        self.ends = not self.flow.blocks[path[-1].block].successors
        """Whether the path goes on to the kernel's end."""
        self.waves = [WaveState(wave, []) for wave in waves]
        number = 0
        for visit in path:
            block = self.flow.blocks[visit.block]
            guards = self.context.environments.guards(block)
            taking_part = [
                state
                for state in self.waves
                if all(admits(guard, state.wave, visit.frames[depth], unknown) for depth, guard in guards)
            ]
            together = frozenset(state.wave for state in taking_part)
            events = list(block.ops)
            if block.anchor is not None and block.index in context.environments.value_holders:
                events.append(block.anchor)
            for op in events:
                number += 1
                event = Event(op, visit, number, together)
                for state in taking_part:
                    state.events.append(event)
            self.explored.work += len(events) * len(taking_part) + len(self.waves)
            if self.explored.out_of_work():
                break

    def run(self) -> None:
        """Run every wave as far as it gets; what then still waits, waits for ever."""
        moving = True
        while moving and not self.broken and not self.explored.out_of_work():
            moving = False
            for state in self.waves:
                while state.at < len(state.events) and not self.broken and self.step(state):
                    moving = True
                    if self.explored.out_of_work():
                        break
            self.forget()
        # Who has not been run to its end is not stuck.
        if not self.broken and not self.explored.out_of_work():
            self.find_deadlocks()

    def forget(self) -> None:
        """Drop accesses that every wave knows to be complete and has passed: nothing can meet them any more.

        A wave on the other side of a divergent conditional never reaches what stands on this one.
        """
        self.explored.work += len(self.log)
        coming = [(s, s.events[s.at]) for s in self.waves if s.at < len(s.events)]
        self.log = [
            entry
            for entry in self.log
            if any(
                not entry.is_known(state.knows)
                or (event.number <= entry.event.number and not self.on_opposite_sides(entry.event, event))
                for state, event in coming
            )
        ]
        asked = {(entry.wave, entry.alone) for entry in self.log if entry.alone}
        asked |= self.mbarriers.mbarriers.channels()
        for state in self.waves:
            self.explored.work += len(state.knows) // JOINED
            state.knows = without_old(state.knows, asked)
        self.meetings = {
            meeting: (count, without_old(known, asked))
            for meeting, (count, known) in self.meetings.items()
            if any(
                state.waits.get(meeting[0], 0) <= meeting[1] and meets(state.wave, meeting[0])
                for state in self.waves
            )
        }
        self.mbarriers.forget(asked)

    def step(self, state: WaveState) -> bool:
        """Run one operation; False if the wave has to wait."""
        event = state.events[state.at]
        op = event.op
        self.explored.work += STEPPED
        if isinstance(op, ops.SyncOperation):
            if not self.synchronize(state, op):
                return False
        elif isinstance(op, ops.MbarrierOperation):
            if not self.mbarriers.use(state, event, op):
                return False
        elif isinstance(op, ops.ValueOperation):
            self.issue(state, event, op)
        elif isinstance(op, ops.CommitGroup):
            state.closed.setdefault(op.counter, []).append(state.issued.get(op.counter, 0))
        else:
            self.forward(state, op)
        state.at += 1
        return True

    # ------------------------------------------------------------ synchronization

    def synchronize(self, state: WaveState, op: ops.SyncOperation) -> bool:
        """False while the wave has to wait."""
        if isinstance(op, ops.MemoryCounterWait):
            self.count_down(state, op)
            return True
        if isinstance(op, (ops.SharedMemoryBarrier, ops.WorkgroupBarrier)):
            if not state.arrived_here:
                if isinstance(op, ops.SharedMemoryBarrier):
                    self.count_down(state, op)
                    self.fence(state)
                self.arrive(state, meeting_of(op), op)
                state.arrived_here = True
            if not self.pass_barrier(state, meeting_of(op)):
                return False
            state.arrived_here = False
            return True
        if isinstance(op, ops.SharedMemoryBarrierSignal):
            self.fence(state)
            self.arrive(state, op.bar_id, op)
            return True
        if isinstance(op, ops.SharedMemoryBarrierWait):
            return self.pass_barrier(state, op.bar_id)
        return True

    def count_down(self, state: WaveState, op: ops.MemoryCounterWait | ops.SharedMemoryBarrier) -> None:
        """Wait until no more than the given number of operations is outstanding."""
        if op.drains:
            for counter, count in state.issued.items():
                if counter != LDS:
                    state.complete(counter, count)
        for counter, allowed in op.counts.items():
            if counter == LDS:
                # Reads return in order; what was written is there for others once nothing is outstanding.
                state.complete(LDS_READ, state.issued.get(LDS, 0) - allowed)
                if allowed == 0:
                    self.fence(state)
            elif counter in self.context.grouped:
                closed = state.closed.get(counter, [])
                if len(closed) > allowed:
                    state.complete(counter, closed[-1 - allowed])
            else:
                state.complete(counter, state.issued.get(counter, 0) - allowed)

    def fence(self, state: WaveState) -> None:
        """Everything that the wave did in shared memory is complete."""
        state.complete(LDS, state.issued.get(LDS, 0))
        state.complete(LDS_READ, state.issued.get(LDS, 0))

    def arrive(self, state: WaveState, bar_id: Meeting, op: ops.Operation) -> None:
        """The wave is at a barrier and forwards what it knows."""
        phase = state.arrivals.get(bar_id, 0)
        if not meets(state.wave, bar_id):
            text = f"wave {state.wave} reaches a barrier that is not for it, and may be taken for one of the others"
            self.deadlocks.append(Deadlock("stuck", text, ((op, f"wave {state.wave} comes here"),)))
            self.broken = True
        if phase > state.waits.get(bar_id, 0):
            assert isinstance(bar_id, int), "halves are for all waves"
            text = f"{barrier_name(bar_id)} is signalled twice before it is waited for, by wave {state.wave}"
            marks = ((state.signals[bar_id], "signalled here"), (op, "and again here"))
            self.deadlocks.append(Deadlock("signalled twice", text, marks))
            self.broken = True
        state.signals[bar_id] = op
        state.arrivals[bar_id] = phase + 1
        count, known = self.meetings.get((bar_id, phase), (0, {}))
        self.explored.work += len(state.knows) // JOINED
        self.meetings[bar_id, phase] = (count + 1, join(known, state.knows))

    def pass_barrier(self, state: WaveState, bar_id: Meeting) -> bool:
        """Leave the barrier if every wave has arrived for this phase."""
        phase = state.waits.get(bar_id, 0)
        if phase >= state.arrivals.get(bar_id, 0):
            return False
        count, known = self.meetings[bar_id, phase]
        if count < sum(meets(other.wave, bar_id) for other in self.waves):
            return False
        state.waits[bar_id] = phase + 1
        self.explored.work += len(known) // JOINED
        state.knows = join(state.knows, known)
        return True

    # ------------------------------------------------------------ accesses

    def issue(self, state: WaveState, event: Event, op: ops.ValueOperation) -> None:
        """Operands are there, the operation takes its place on its counter."""
        for value in op.uses:
            if id(value) in state.read_at:
                state.complete(LDS_READ, state.read_at[id(value)])
        counter = counted_on(op)
        if counter is None:
            return
        place = state.issued.get(counter, 0) + 1
        if isinstance(op, ops.MemoryOperation):
            self.access(state, event, op, place)
            if isinstance(op, (ops.Read, ops.AtomicOp)):
                state.read_at[id(shown(op))] = place
        state.issued[counter] = place

    def forward(self, state: WaveState, op: ops.Operation) -> None:
        """Names take what was read, or something else."""
        handed = results_given_at(op)
        places = [state.read_at.get(id(value), 0) for _, value in handed]
        for (name, _), place in zip(handed, places, strict=True):
            state.read_at[id(name)] = place

    def access(self, state: WaveState, event: Event, op: ops.MemoryOperation, place: int) -> None:
        """Compare an access with all that could still be under way."""
        effect = effect_of(op)
        if effect is None:
            return
        block = self.block(event)
        mine: list[Logged] = []
        arrives = op.arrives if isinstance(op, ops.AsyncOperation) else None
        alone = alone_name(effect.counter, event.number) if arrives is not None else ""
        frame = tuple(event.visit.env.items())
        for found in self.context.places(op, block, frame, state.wave):
            if not found.inside and id(op) not in self.out_of_range:
                self.out_of_range[id(op)] = self.context.out_of_range(found, op, block, frame)
            arrived = state.arrivals.get(ops.WORKGROUP, 0)
            mine.append(Logged(event, state.wave, effect, place, found.bytes, arrived, alone))
        self.explored.work += len(self.log)
        for logged in self.log:
            if logged.effect.conflicts(effect) and any(logged.bytes.meets(entry.bytes) for entry in mine):
                self.compare(logged, next(e for e in mine if e.bytes.meets(logged.bytes)), state)
        self.log += mine
        if mine and not isinstance(op, ops.MbarrierOperation):
            self.mbarriers.data_accessed(state, mine)
        if arrives is not None:
            self.mbarriers.engine_arrives(state, event, op, arrives)

    def block(self, event: Event) -> Block:
        """Where an event stands."""
        return self.flow.blocks[event.visit.block]

    def compare(self, earlier: Logged, now: Logged, state: WaveState) -> None:
        """`earlier` was issued before `now` in this schedule; report them if nothing makes that so in every one."""
        self.explored.work += STEPPED
        same_wave = earlier.wave == now.wave
        if same_wave and not (earlier.effect.engine or now.effect.engine):
            return
        if self.one_instance(earlier.event, now.event):
            return
        if earlier.effect.kept_in_order(now.effect) and (same_wave or self.cooperate(earlier, now)):
            return
        ordered = earlier.is_known(state.knows)
        if not ordered:
            first, second = (earlier, now) if earlier.event.number <= now.event.number else (now, earlier)
            why = "no rendezvous of the two waves lies between them, with the first one complete before it"
            self.record("race", first, second, why)
        elif now.event.number < earlier.event.number and not self.on_opposite_sides(earlier.event, now.event):
            why = (
                f"wave {earlier.wave} runs ahead and is done with the later access "
                f"before wave {now.wave} makes the earlier one"
            )
            self.record("wrong order", now, earlier, why)

    def cooperate(self, one: Logged, other: Logged) -> bool:
        """Whether two copies are acts of the same waves, among them the two at hand.

        Each engine then keeps its wave's share of them in order. Copies that different waves issue have no order.
        """
        return all(
            {one.wave, other.wave} <= event.waves
            and isinstance(event.op, ops.MemoryOperation)
            and self.context.cooperates(
                event.op, self.block(event), tuple(event.visit.env.items()), one.wave, other.wave
            )
            for event in (one.event, other.event)
        )

    def one_instance(self, one: Event, other: Event) -> bool:
        """Whether two events are parts of one cooperative act."""
        if one.number == other.number:
            return True
        first, second = one.op, other.op
        assert isinstance(first, ops.MemoryOperation) and isinstance(second, ops.MemoryOperation)
        if not first.group or first.group != second.group:
            return False
        if self.block(one).calls != self.block(other).calls:
            return False
        common = dict(other.visit.iteration)
        return all(common.get(loop, count) == count for loop, count in one.visit.iteration)

    def on_opposite_sides(self, one: Event, other: Event) -> bool:
        """Whether the two stand on different sides of one divergent conditional: no program order there."""
        sides = self.sides(other)
        common = dict(other.visit.iteration)
        return any(sides.get(branch, side) != side for branch, side in self.sides(one).items()) and all(
            common.get(loop, count) == count for loop, count in one.visit.iteration
        )

    def sides(self, event: Event) -> Sides:
        """The divergent conditionals around an event, and which side it is on."""
        found = self.known_sides.get(event.visit.block)
        if found is None:
            block = self.block(event)
            guards = self.context.environments.guards(block)
            found = {(guard.branch, block.calls[:depth]): guard.holds for depth, guard in guards}
            self.known_sides[event.visit.block] = found
        return found

    def record(self, kind: str, first: Logged, second: Logged, why: str) -> None:
        """Keep the first finding for each pair of operations."""
        hazard = first.effect.hazard_with(second.effect)
        key = (id(shown(first.event.op)), id(shown(second.event.op)), kind, hazard)
        if key in self.races:
            return
        state = next(state for state in self.waves if state.wave == first.wave)
        self.explored.work += len(state.events)
        path = tuple(e.op for e in state.events if first.event.number <= e.number <= second.event.number)
        counts = dict(first.event.visit.iteration)
        rounds: list[int] = []
        for loop, count in second.event.visit.iteration:
            rounds += [loop] * max(count - counts.get(loop, count), 0)
        touches = self.touch(first), self.touch(second)
        waited = first.is_known(state.knows)
        apart = self.why(kind, first, second)
        found = apart or Why(why)
        self.races[key] = Race(
            kind,
            hazard,
            *touches,
            tuple(rounds),
            found.text,
            path or (first.event.op,),
            waited,
            unfenced=found.unfenced,
            weak=too_weak(touches[0], path) if apart is None and not waited else None,
        )

    def why(self, kind: str, first: Logged, second: Logged) -> Why | None:
        """Why two accesses are not in order, if their waves are skewed."""
        made = [
            WaveAccess(entry.event.op, entry.effect, entry.wave, entry.event.number, entry.arrived)
            for entry in (first, second)
        ]
        barriers = []
        for entry in (first, second):
            state = next(state for state in self.waves if state.wave == entry.wave)
            if any(isinstance(event.op, ops.SharedMemoryBarrierSignal) for event in state.events):
                return None
            barriers.append(barriers_of(state.events, self.who_meets))
        return why_skewed(kind, made[0], made[1], barriers[0], barriers[1])

    def who_meets(self, event: Event) -> str:
        """The condition around an operation that not all waves run."""
        guards = self.block(event).guards
        return " and ".join(f"{'' if g.holds else 'not '}{g.condition}" for g in guards)

    def touch(self, entry: Logged) -> Touch:
        """An access as the report shows it."""
        op = entry.event.op
        assert isinstance(op, ops.MemoryOperation)
        frame = tuple(entry.event.visit.env.items())
        return self.context.touch(op, self.block(entry.event), entry.wave, frame, entry.bytes)

    # ------------------------------------------------------------ the end

    def find_deadlocks(self) -> None:
        """Every wave has run as far as it gets: report who waits, and what was left signalled."""
        # Who waits for an mbarrier keeps others at barriers waiting, seldom the other way round.
        stuck = [state for state in self.waves if state.at < len(state.events)]
        if not self.ends and len(stuck) < len(self.waves):
            # Somebody reached the point where the path was cut off, and might have let the others go.
            return
        for_mbarrier = [s for s in stuck if isinstance(s.events[s.at].op, ops.MbarrierOperation)]
        if for_mbarrier:
            self.mbarriers.stuck(for_mbarrier)
            return
        found = who_is_stuck(self.waves, stuck[0]) if stuck else left_signalled(self.waves)
        if found is not None:
            self.deadlocks.append(found)
