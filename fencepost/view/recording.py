"""One run of a kernel, written down step by step: `check`'s simulation with a schedule that one can watch.

In every step each wave runs one operation, unless it has to wait. Which accesses race does not depend on the schedule
(see `check.simulate`), but only some schedules show it: `Hold` keeps one wave from an access for as long as another
wave can go on without it. With a barrier between them the other wave has to wait; without, it overtakes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from fencepost.check.concrete_access import Bytes
from fencepost.check.loop_context import Context
from fencepost.check.paths import Visit
from fencepost.check.report import Explored
from fencepost.check.simulate import Simulation, everyone
from fencepost.check.simulated_waves import Event, Logged, WaveState
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.ir.source import Span
from fencepost.ir.trace import CapturedTrace
from fencepost.report.words import hanging_words, place
from fencepost.view.page_data import Access, Cell, Mbarrier, Phase, Recording, RunRace

MOST_STEPS = 600
"""Steps of a run that are written down."""
MOST_SLOTS = 24
"""Slots of buffers that get a lane."""
AFTERWARDS = 12
"""Steps that a run goes on after what it is there to show."""
FORGET = 16
"""After so many steps, accesses that can meet nothing any more are dropped."""
HELD, BLOCKED = "h", "x"
ACTIONS = {
    "r": "reads", "w": "writes", "u": "updates", "c": "starts a copy", "e": "starts an engine's read",
    "m": "computes", "g": "accesses global memory", "b": "passes a barrier", "t": "passes a wait", "s": "signals",
    "o": "uses an mbarrier", "v": "passes an mbarrier wait", "k": "goes on", BLOCKED: "waits", HELD: "is slow",
}  # fmt: skip
"""What a wave does in a step; the page shows the letter in the middle of a cell."""


@dataclass(frozen=True, slots=True)
class Hold:
    """One wave is kept from an operation until another has run one, or nobody can go on."""

    wave: int
    before: int
    """The operation, by its number in the sequence that all waves share."""
    other: int
    until: int


@dataclass(frozen=True, slots=True)
class Met:
    """Two accesses that race, as the simulation found them."""

    kind: str
    hazard: str
    first: Logged
    second: Logged

    @property
    def pair(self) -> tuple[ops.Operation, ops.Operation]:
        """The two operations."""
        return self.first.event.op, self.second.event.op

    @property
    def swapped(self) -> Met:
        """The same the other way round, for accesses that have no order in the program."""
        return Met(self.kind, self.second.effect.hazard_with(self.first.effect), self.second, self.first)

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Who makes which access."""
        return self.first.wave, self.first.event.number, self.second.wave, self.second.event.number

    def by(self, first: int, second: int) -> Met | None:
        """The same accesses, made by other waves; None if these do not make them."""
        if first not in self.first.event.waves or second not in self.second.event.waves:
            return None
        return Met(self.kind, self.hazard, replace(self.first, wave=first), replace(self.second, wave=second))

    @property
    def hold(self) -> Hold | None:
        """The schedule that shows it; one wave and its own engine need none."""
        first, second = self.first, self.second
        if first.wave == second.wave:
            return None
        return Hold(first.wave, first.event.number, second.wave, second.event.number)


@dataclass(slots=True)
class _Watched:
    """An access, and since when it is complete and visible."""

    logged: list[Logged]
    step: int
    complete: int | None = None
    visible: int | None = None


@dataclass(slots=True)
class _Lane:
    """What one wave has done."""

    cells: list[Cell] = field(default_factory=list)

    def add(self, step: int, line: int, action: str) -> None:
        """One more step; waiting goes on."""
        if self.cells and action in (HELD, BLOCKED):
            start, where, before, steps = self.cells[-1]
            if (where, before, start + steps) == (line, action, step):
                self.cells[-1] = (start, where, before, steps + 1)
                return
        self.cells.append((step, line, action, 1))


class RecordedRun(Simulation):
    """All waves along one path, without some of their barriers."""

    def __init__(
        self,
        context: Context,
        path: list[Visit],
        waves: list[int],
        off: Collection[ops.Operation] = (),
        explored: Explored | None = None,
    ) -> None:
        super().__init__(context, path, waves, everyone, explored)
        self.cut_off()
        self.met: list[Met] = []
        self.shown: Met | None = None
        """The race that is to be seen."""
        self.left_out: dict[int, list[Event]] = {}
        """What each wave would have run."""
        for state in self.waves:
            self.left_out[state.wave] = [event for event in state.events if event.op in off]
            if self.left_out[state.wave]:
                state.events = [event for event in state.events if event.op not in off]

    def cut_off(self) -> None:
        """Leave out what no recording gets to, at an operation a step: to follow what is behind it takes seconds."""
        for state in self.waves:
            if len(state.events) > MOST_STEPS:
                del state.events[MOST_STEPS:]
                self.ends = False

    def record(self, kind: str, first: Logged, second: Logged, why: str) -> None:
        """Keep what races, as it was run."""
        known = len(self.races)
        super().record(kind, first, second, why)
        new = len(self.races) > known
        wanted = self.shown
        if not new and (
            wanted is None or {first.wave, second.wave} != {wanted.first.wave, wanted.second.wave}
        ):
            return
        met = Met(kind, first.effect.hazard_with(second.effect), first, second)
        if wanted is not None and wanted.key in (met.key, met.swapped.key):
            # What the run is there to show comes first, also if other waves have raced in the same way before.
            self.met.insert(0, met if met.key == wanted.key else met.swapped)
        elif new:
            self.met.append(met)


class Recorder:
    """Lets a run go on step by step and writes it down."""

    def __init__(
        self,
        run: RecordedRun,
        spans: Mapping[ops.Operation, Span],
        shown: Met | None,
        named: Met | None = None,
    ) -> None:
        """`shown` is what the run is there for; `named` is what it is said to be, if it happens anyway."""
        self.run = run
        self.spans = spans
        self.hold = shown.hold if shown is not None else None
        run.shown = shown or named
        self.waited_for = [] if shown is None else [shown.first, shown.second]
        """What is to be seen; the run may end soon after that."""
        self.step = 0
        self.lanes = {state.wave: _Lane() for state in run.waves}
        self.steps_of: dict[tuple[int, int], int] = {}
        """For each wave and operation that was run: when."""
        self.accesses: list[_Watched] = []
        self.not_visible: list[_Watched] = []
        self.phases: dict[Bytes, list[Phase]] = {}
        self.names: dict[Bytes, str] = {}

    def play(self, most: int = MOST_STEPS) -> Recording:
        """Run until nobody can go on, or for so many steps."""
        run = self.run
        while self.step < most and not run.broken and not run.explored.out_of_work():
            if not self._advance():
                if self.hold is None:
                    break
                self.hold = None
                continue
            self.step += 1
            if self.step % FORGET == 0:
                run.forget()
            if self._has_shown():
                break
        return self._recording()

    def _has_shown(self) -> bool:
        """Whether everything that the run is there for was a while ago."""
        when = [self.steps_of.get((each.wave, each.event.number), self.step) for each in self.waited_for]
        return bool(when) and max(when) + AFTERWARDS < self.step

    # ------------------------------------------------------------ one step

    def _advance(self) -> bool:
        """One operation of every wave that can go on; whether there was one."""
        waiting: list[tuple[WaveState, str]] = []
        moved = False
        for state in self.run.waves:
            if state.at == len(state.events) or self.run.broken:
                continue
            if self._is_held(state, state.events[state.at]):
                waiting.append((state, HELD))
            elif self._try(state):
                moved = True
            else:
                waiting.append((state, BLOCKED))
        if not moved:
            return False
        for state, why in waiting:
            # The last one at a barrier lets the others go in the same step.
            if why == HELD or self.run.broken or not self._try(state):
                self.lanes[state.wave].add(self.step, self._line(state.events[state.at].op), why)
        return True

    def _try(self, state: WaveState) -> bool:
        """Run one operation of a wave, if it can go on."""
        event = state.events[state.at]
        known, knew = len(self.run.log), sum(state.knows.values())
        if not self.run.step(state):
            return False
        self._ran(state, event, self.run.log[known:])
        if sum(state.knows.values()) != knew:
            self._note_complete(state)
        return True

    def _is_held(self, state: WaveState, event: Event) -> bool:
        hold = self.hold
        if hold is None or state.wave != hold.wave or event.number < hold.before:
            return False
        # In the step after that, so that one can see who was first.
        if self.steps_of.get((hold.other, hold.until), self.step) < self.step:
            self.hold = None
            return False
        return True

    def _ran(self, state: WaveState, event: Event, logged: list[Logged]) -> None:
        self.lanes[state.wave].add(self.step, self._line(event.op), action_of(event.op))
        self.steps_of[state.wave, event.number] = self.step
        if logged:
            self.accesses.append(_Watched(logged, self.step))
            self.not_visible.append(self.accesses[-1])
        if isinstance(event.op, ops.MbarrierOperation) or getattr(event.op, "arrives", None) is not None:
            self._watch_mbarriers()

    def _note_complete(self, state: WaveState) -> None:
        """The wave has learnt something: accesses of its own are complete, or everyone can see some of others."""
        for watched in self.not_visible:
            entry = watched.logged[0]
            if watched.complete is None and entry.wave == state.wave and entry.is_known(state.knows):
                watched.complete = self.step
            if watched.visible is None and watched.complete is not None:
                others = (each.knows for each in self.run.waves)
                watched.visible = self.step if all(map(entry.is_known, others)) else None
        self.not_visible = [watched for watched in self.not_visible if watched.visible is None]

    def _watch_mbarriers(self) -> None:
        for mbarrier in self.run.mbarriers.mbarriers.at.values():
            if mbarrier.where is None:
                continue
            now = Phase(
                self.step, len(mbarrier.phases), mbarrier.arrived, mbarrier.count, max(mbarrier.bytes, 0)
            )
            known = self.phases.setdefault(mbarrier.where, [])
            self.names.setdefault(mbarrier.where, mbarrier.view)
            if not known or _state(known[-1]) != _state(now):
                known.append(now)

    # ------------------------------------------------------------ what was seen

    def _recording(self) -> Recording:
        run = self.run
        slots = slots_of(run.flow.trace)
        names = tuple(slots)
        left = [state for state in run.waves if state.at < len(state.events)]
        stopped = self.step >= MOST_STEPS or self._has_shown() or run.explored.out_of_work()
        # Where the path was cut off, a wave that came to its end there might have let the others go.
        waits = bool(left) and not stopped and (run.ends or len(left) == len(run.waves))
        cut = not waits and ((bool(left) and stopped) or not run.ends)
        stuck = [(state.wave, self._line(state.events[state.at].op)) for state in left] if waits else []
        return Recording(
            tuple(state.wave for state in run.waves),
            _groups(run.waves),
            self.step,
            tuple(tuple(self.lanes[state.wave].cells) for state in run.waves),
            names,
            tuple(self._access(watched, names, slots) for watched in self.accesses),
            tuple(Mbarrier(self.names[where], tuple(found)) for where, found in self.phases.items()),
            tuple(race for met in run.met if (race := self._race(met)) is not None),
            tuple(stuck),
            hanging_words(stuck),
            cut,
        )

    def _access(self, watched: _Watched, names: tuple[str, ...], slots: Slots) -> Access:
        entry = watched.logged[0]
        touched = {name for each in watched.logged for name in _touched(each.bytes, slots)}
        lanes = tuple(number for number, name in enumerate(names) if name in touched)
        op = entry.event.op
        return Access(
            entry.wave, self._line(op), action_of(op), watched.step, watched.complete, watched.visible, lanes
        )

    def _race(self, met: Met) -> RunRace | None:
        """A race, if both accesses were run in time."""
        first, second = met.first, met.second
        steps = [self.steps_of.get((each.wave, each.event.number)) for each in (first, second)]
        if steps[0] is None or steps[1] is None:
            return None
        lines = [self._line(each.event.op) for each in (first, second)]
        text = race_sentence(met, lines[0], lines[1], steps[1] < steps[0])
        return RunRace(met.hazard, (first.wave, lines[0], steps[0]), (second.wave, lines[1], steps[1]), text)

    def _line(self, op: ops.Operation) -> int:
        span = self.spans.get(op.owner or op)
        return span.line if span else 0


Slots = dict[str, tuple[Buffer, int]]
"""The lanes of a run: slots of buffers by their names."""


def slots_of(trace: CapturedTrace) -> Slots:
    """The slots that get a lane: those of mbarriers have phases instead."""
    objects = {
        view.buffer
        for body in (trace, *trace.functions())
        for op in body.preorder_walk()
        if isinstance(op, ops.MbarrierInit)
        for view in op.views
    }
    found: Slots = {}
    for buffer in trace.buffers.values():
        if buffer not in objects:
            for slot in range(min(buffer.slots, MOST_SLOTS)):
                name = f"%{buffer.name}[{slot}]" if buffer.slots > 1 else f"%{buffer.name}"
                found[name] = (buffer, slot)
    return dict(list(found.items())[:MOST_SLOTS])


def _touched(bytes_: Bytes, slots: Slots) -> list[str]:
    """The slots that some bytes lie in."""
    found = []
    for name, (buffer, slot) in slots.items():
        space = buffer if buffer.offset is None else None
        lo = (buffer.offset or 0) + slot * buffer.slot_bytes
        if bytes_.meets(Bytes(space, lo, lo + buffer.slot_bytes)):
            found.append(name)
    return found


def _groups(waves: list[WaveState]) -> tuple[int, ...]:
    """Numbers of wave groups: waves that run the same operations have the same."""
    known: dict[tuple[int, ...], int] = {}
    return tuple(
        known.setdefault(tuple(event.number for event in state.events), len(known)) for state in waves
    )


def _state(phase: Phase) -> tuple[int, int, int]:
    return phase.complete, phase.arrived, phase.bytes


def action_of(op: ops.Operation) -> str:
    """The letter for what a wave does."""
    kinds: tuple[tuple[type[ops.Operation] | tuple[type[ops.Operation], ...], str], ...] = (
        (ops.MbarrierWait, "v"),
        ((ops.MbarrierInit, ops.MbarrierInval, ops.MbarrierArrive, ops.MbarrierExpect), "o"),
        (ops.Read, "r"),
        (ops.Write, "w"),
        (ops.AsyncCopy, "c"),
        (ops.AsyncRead, "e"),
        (ops.MemoryOperation, "u"),
        ((ops.GlobalRead, ops.GlobalWrite), "g"),
        ((ops.MMA, ops.Compute), "m"),
        (ops.MemoryCounterWait, "t"),
        (ops.SharedMemoryBarrierSignal, "s"),
        (ops.SyncOperation, "b"),
    )
    return next((letter for kind, letter in kinds if isinstance(op, kind)), "k")


def race_sentence(met: Met, first_line: int, second_line: int, overtaken: bool) -> str:
    """What happens in a run, in a sentence; `overtaken` if the second access was run before the first."""
    first, second = met.first, met.second
    one, two = first.event.op, second.event.op
    assert isinstance(one, ops.MemoryOperation) and isinstance(two, ops.MemoryOperation)
    begins = f"wave {second.wave} {second.effect.verb} {place(two)} (line {second_line})"
    theirs = f"wave {first.wave}'s {one.noun} of it (line {first_line})"
    if not overtaken:
        if first.wave == second.wave:
            theirs = f"its own {one.noun} (line {first_line})"
        return f"{begins} while {theirs} is still under way"
    after = {
        "RAW": f"before {theirs}: it gets what was there before",
        "WAR": f"before {theirs}: wave {first.wave} gets the new value instead of the old one",
        "WAW": f"before {theirs}: the older value is what stays",
    }
    return f"{begins} {after[met.hazard]}"
