"""The simulation: waves take their turns in the order of time, units and barriers in between.

One queue holds the next operation of every wave that does not stand at a barrier, by the time at which it is ready.
What is taken from it never lies before what was taken earlier, so units are handed out first come, first served.
"""

from __future__ import annotations

import heapq

from fencepost.flow import Flow, build_flow
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.targets.table import Latencies, latencies_for
from fencepost.timing.hardware_units import Units
from fencepost.timing.meetings import Meetings
from fencepost.timing.path import Path, follow, values_forwarded
from fencepost.timing.result import (
    FOREVER,
    MEMORY,
    OPERAND,
    UNIT,
    WAVES,
    Event,
    Passing,
    Stall,
    SyncTime,
    Timing,
    shown,
)
from fencepost.timing.wave import Counters, Wave, counter_of

ITERATIONS = 8
"""How often loops are followed by default: enough to see how they settle."""


def time_kernel(
    trace: CapturedTrace,
    target: str = "",
    *,
    iterations: int = ITERATIONS,
    simds: int = 0,
    latencies: Latencies | None = None,
) -> Timing:
    """Estimate how long `trace` takes and where its waves stand; it is an estimate, not a measurement.

    Loops are followed for at most `iterations` rounds. `simds` and `latencies` replace what the target has.
    """
    table = latencies or latencies_for(target)
    simds = simds or table.simds
    if iterations < 1 or simds < 1:
        raise ValueError("a timing estimate needs at least one iteration and one SIMD")
    flow = build_flow(trace)
    path = follow(flow, iterations)
    run = _Run(flow, path, table, simds)
    run.run()
    return run.result()


class _Run:
    """All waves on their way."""

    def __init__(self, flow: Flow, path: Path, table: Latencies, simds: int) -> None:
        self.flow = flow
        self.path = path
        self.table = table
        grouped = frozenset(
            op.counter for block in flow.blocks for op in block.ops if isinstance(op, ops.CommitGroup)
        )
        self.waves = [
            Wave(number, program, Counters(grouped)) for number, program in enumerate(path.programs)
        ]
        self.units = Units(simds)
        self.meetings = Meetings(len(self.waves))
        self.queue: list[tuple[int, int]] = []
        """When each wave is ready, and its number."""
        self.reached: dict[int, tuple[int, int]] = {}
        """For waves at a barrier: when they reached it, and when nothing but other waves keeps them."""
        self.executed: dict[ops.Operation, int] = {}
        self.events: list[Event] = []
        self.stalls: list[Stall] = []
        self.passings: list[Passing] = []
        self.deadlock = ""

    def run(self) -> None:
        """Until every wave is at its end or stands for ever."""
        for wave in self.waves:
            self.enqueue(wave)
        while self.queue and not self.deadlock:
            ready, number = heapq.heappop(self.queue)
            wave = self.waves[number]
            op = wave.op
            assert op is not None
            if isinstance(op, ops.SyncOperation):
                self.synchronize(wave, op)
            elif isinstance(op, ops.CommitGroup):
                wave.counters.commit(op.counter)
                self.go_on(wave, ready + self.table.issue)
            else:
                self.issue(wave, op, ready)

    def go_on(self, wave: Wave, free: int) -> None:
        """The current operation has issued, and the next one can from `free` on."""
        wave.at += 1
        wave.free = free
        self.enqueue(wave)

    def enqueue(self, wave: Wave) -> None:
        """Put a wave's next operation into the queue."""
        while (op := wave.op) is not None:
            if isinstance(op, ops.Iterate | ops.Next | ops.Give):
                handed = values_forwarded(op)
                times = [wave.there.get(id(value), 0) for _, value in handed]
                wave.there.update((id(name), time) for (name, _), time in zip(handed, times, strict=True))
            elif not isinstance(op, ops.NullAsyncDep | ops.SchedulingBarrier):
                heapq.heappush(self.queue, (max(wave.free, wave.operands(op)), wave.number))
                return
            wave.at += 1

    def issue(self, wave: Wave, op: ops.Operation, ready: int) -> None:
        """An operation that runs on a unit."""
        latency = self.table.of(op)
        start = self.units.take(latency.unit, wave.number, ready, latency.busy) if latency.unit else ready
        end, done = start + latency.busy, start + max(latency.result, latency.busy)
        counter = counter_of(op)
        if counter is not None:
            done = wave.counters.start(counter, done)
        if isinstance(op, ops.Read | ops.AtomicOp | ops.GlobalRead | ops.MMA | ops.Compute):
            wave.there[id(op.owner or op)] = done
        self.events.append(Event(wave.number, latency.unit, start, end, done, op))
        self.stall(wave, wave.free, ready, op, OPERAND)
        issued = ready if latency.queued else start
        self.stall(wave, ready, issued, op, UNIT)
        self.go_on(wave, max(issued + self.table.issue, end) if latency.stays else issued + self.table.issue)

    def stall(self, wave: Wave, start: int, end: int, op: ops.Operation, reason: str) -> None:
        """Note that a wave stands still, if it does."""
        if end > start:
            self.stalls.append(Stall(wave.number, start, end, op, reason))

    # ------------------------------------------------------------ synchronization

    def synchronize(self, wave: Wave, op: ops.SyncOperation) -> None:
        """Wait for the wave's own operations, arrive, and wait for the others, as far as `op` does each."""
        reached = ready = wave.free
        if isinstance(op, ops.MemoryCounterWait | ops.SharedMemoryBarrier):
            ready = max(ready, wave.counters.waited_for(op))
        if isinstance(op, ops.SharedMemoryBarrier | ops.SharedMemoryBarrierSignal):
            ready = max(ready, wave.counters.all_done(ops.LDS_COUNTER))
        self.stall(wave, reached, ready, op, MEMORY)
        barrier = op.bar_id if isinstance(op, Split) else ops.WORKGROUP
        if isinstance(op, Arriving) and not self.arrive(wave, op, barrier, ready + self.table.of(op).result):
            return
        if isinstance(op, Waiting):
            # Its own arrival takes a while to be known, too: that is what a barrier costs in any case.
            self.reached[wave.number] = (reached, max(ready, wave.known.get(barrier, 0)))
            meeting = self.meetings.complete(wave, barrier)
            if meeting is not None:
                self.leave(wave, barrier, meeting.time)
            return
        self.passed(wave, op, reached, ready)

    def arrive(self, wave: Wave, op: ops.Operation, barrier: int, known: int) -> bool:
        """Arrive at a barrier and let through who stood there for this; False if it must not be."""
        if wave.arrivals.get(barrier, 0) > wave.waits.get(barrier, 0):
            self.deadlock = f"wave {wave.number} signals a second time before it waits, at {shown(op)}"
            self.reached[wave.number] = (wave.free, wave.free)
            return False
        for other in self.meetings.arrive(wave, barrier, known):
            self.leave(other, barrier, self.meetings.of(barrier, other.waits.get(barrier, 0)).time)
        return True

    def leave(self, wave: Wave, barrier: int, time: int) -> None:
        """Everyone is there: the wave goes on."""
        op = wave.op
        assert op is not None
        wave.waits[barrier] = wave.waits.get(barrier, 0) + 1
        reached, ready = self.reached.pop(wave.number)
        time = max(time, ready)
        self.stall(wave, ready, time, op, WAVES)
        self.passed(wave, op, reached, time)

    def passed(self, wave: Wave, op: ops.Operation, reached: int, time: int) -> None:
        """Note that a wave passes, and go on."""
        place = op.owner or op
        self.executed[place] = self.executed.get(place, 0) + 1
        self.passings.append(Passing(wave.number, time, op))
        self.go_on(wave, max(reached + self.table.issue, time))

    # ------------------------------------------------------------ the result

    def result(self) -> Timing:
        """What came of it."""
        waiting = [self.waves[number] for number in sorted(self.reached)] if self.path.complete else []
        stuck = tuple((wave.number, op) for wave in waiting if (op := wave.op) is not None)
        if stuck and not self.deadlock:
            numbers = ", ".join(str(number) for number, _ in stuck)
            places = " and ".join(dict.fromkeys(shown(op) for _, op in stuck))
            self.deadlock = f"wave{'s' if len(stuck) > 1 else ''} {numbers} would wait for ever at {places}"
        waves = len(self.waves)
        ends = [wave.free for wave in self.waves] + [ready for _, ready in self.reached.values()]
        cycles = max([*ends, *(max(event.end, event.done) for event in self.events)])
        for number, op in stuck:
            self.stall(self.waves[number], self.reached[number][1], cycles, op, FOREVER)
        self.events.sort(key=lambda event: (event.start, event.wave))
        self.stalls.sort(key=lambda stall: (stall.start, stall.wave))
        self.passings.sort(key=lambda passing: (passing.time, passing.wave))
        return Timing(
            self.flow.trace.name,
            self.table.target,
            waves,
            self.units.simds,
            cycles,
            self.sync_times(),
            self.units.use(waves),
            tuple(self.events),
            tuple(self.stalls),
            tuple(self.passings),
            tuple(self.path.assumptions),
            self.deadlock,
            stuck,
            self.path.complete,
        )

    def sync_times(self) -> tuple[SyncTime, ...]:
        """For every place where waves can wait for each other or their memory, how long they did."""
        stood: dict[tuple[ops.Operation, str], int] = {}
        for stall in self.stalls:
            key = (stall.op.owner or stall.op, stall.reason)
            stood[key] = stood.get(key, 0) + stall.cycles
        every = (op for block in self.flow.blocks for op in block.ops if isinstance(op, ops.SyncOperation))
        return tuple(
            SyncTime(
                op,
                self.executed.get(op, 0),
                stood.get((op, MEMORY), 0),
                stood.get((op, WAVES), 0),
                len(self.waves),
            )
            for op in dict.fromkeys(op.owner or op for op in every)
        )


Split = ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait
Arriving = ops.SharedMemoryBarrier | ops.WorkgroupBarrier | ops.SharedMemoryBarrierSignal
Waiting = ops.SharedMemoryBarrier | ops.WorkgroupBarrier | ops.SharedMemoryBarrierWait
