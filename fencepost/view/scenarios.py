"""The runs that a page can play: the kernel as it stands, each race that `check` found, each barrier switched off.

A barrier is switched off by leaving it out of what the waves run. Where a race follows, the run is recorded with the
schedule that shows it, once without the barrier and once with it: the same speed of the waves, and the race is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from fencepost.check import representatives
from fencepost.check.lockstep import has_mbarriers
from fencepost.check.loop_context import Context
from fencepost.check.paths import Paths, Visit
from fencepost.check.report import Explored
from fencepost.check.simulate import everyone
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.printer import statement
from fencepost.ir.source import Span
from fencepost.ir.trace import CapturedTrace
from fencepost.report.words import plural
from fencepost.view.page_data import Recording, Scenario, Switch
from fencepost.view.recording import Met, RecordedRun, Recorder

MOST_SWITCHES = 40
"""Barriers that can be switched off, and"""
MOST_FINDINGS = 8
"""races that get a run."""
MOST_PATHS, TRIED = 24, 6
"""Paths that are looked at, and those of them that a race is looked for on."""
MOST_EVENTS = 240
"""Operations of a wave in one run,"""
ENOUGH_EVENTS, ENOUGH_ITERATIONS = 48, 4
"""or fewer, where a loop has run a few times by then."""
FEW_WAVES, MOST_WAVES = 4, 8
"""So many waves all have a lane; of more, two of each kind, or so many where they touch different bytes. Where
mbarriers count arrivals, all of them have one."""
MOST_WORK = 2_000_000
"""What all runs of a kernel may cost together: see `check.report.Explored.work`."""

FIRST, SECOND = 0, 1
"""The waves that reasons and reports name where all waves do the same."""

Spans = Mapping[ops.Operation, Span]


@dataclass(frozen=True, slots=True)
class ReportedRace:
    """A race as a report names it: the access that should come first, then the one that comes too early."""

    lines: tuple[int, int]
    waves: tuple[int, int]
    because: str = ""
    """What lets it happen, where that is a wait of the kernel."""


@dataclass(slots=True)
class Scenarios:
    """The runs of one kernel."""

    runs: list[Scenario]
    switches: list[Switch]
    of_race: dict[ReportedRace, int]
    """For a race that was found: the run that shows it."""
    left_out: list[str] = field(default_factory=list)


def scenarios_of(
    trace: CapturedTrace, races: Sequence[ReportedRace], spans: Spans, wrong: Collection[ops.Operation] = ()
) -> Scenarios:
    """Everything that can be played about a kernel, given the races that `check` found and what is `wrong` in it."""
    stage = _Stage(trace, spans, bool(races))
    found = Scenarios([], [], {})
    base = stage.as_it_stands(races)
    if base is None:
        found.left_out.append("no run: there is nothing to run in the kernel")
        return found
    found.runs.append(Scenario("as it stands", (), base))
    _add_races(stage, races, found)
    _add_switches(stage, found, wrong)
    if stage.explored.out_of_work():
        found.left_out.append("runs: there is more to simulate than a page has time for")
    if base.cut:
        found.left_out.append(f"the run as it stands is shown for its first {plural(base.steps, 'step')}")
    return found


def _add_races(stage: _Stage, races: Sequence[ReportedRace], found: Scenarios) -> None:
    for race in races[:MOST_FINDINGS]:
        shown = stage.show_reported(race)
        if shown is None:
            continue
        recording = stage.record_as(*shown, (), race.waves)
        if recording.races:
            found.of_race[race] = len(found.runs)
            title = f"race {len(found.of_race)}: lines {race.lines[0]} → {race.lines[1]}"
            found.runs.append(Scenario(title, (), _because(recording, race.because)))
    missing = len(races) - len(found.of_race)
    if missing:
        found.left_out.append(f"runs of {plural(missing, 'cause')} of races")


def _because(recording: Recording, reason: str) -> Recording:
    """A run whose first race says what lets it happen."""
    first, *others = recording.races
    text = f"{first.text}; {reason}" if reason else first.text
    return replace(recording, races=(replace(first, text=text), *others))


def _add_switches(stage: _Stage, found: Scenarios, wrong: Collection[ops.Operation]) -> None:
    switchable = [op for op in stage.operations if is_switchable(op)]
    known: set[ops.Operation] = set()
    for op in switchable:
        if len(found.switches) >= MOST_SWITCHES:
            found.left_out.append(f"switches of {plural(len(switchable) - len(known), 'barrier')}")
            return
        if op in known:
            continue
        together = stage.halves(op)
        known |= together
        switch = _switch(stage, op, together, found)
        if not together.isdisjoint(wrong):
            switch = replace(switch, note="this is what is wrong: see the findings", wrong=True)
        found.switches.append(switch)


def _switch(stage: _Stage, op: ops.Operation, together: set[ops.Operation], found: Scenarios) -> Switch:
    """A switch for a barrier: the run that goes wrong without it and the one with it, or why there is none."""
    lines = tuple(sorted({stage.line(each) for each in together}))
    text = statement(op)
    shown = stage.show(together)
    # Without a race there may be a deadlock: waves that meet one barrier fewer than the others.
    path, met = shown if shown is not None else (stage.hangs(together), None)
    off = stage.record_as(path, met, together, (FIRST, SECOND)) if path is not None else None
    if path is None or off is None or not (off.races or off.stuck):
        why = f"no {'other ' if stage.races else ''}race without it on the paths that were run"
        if shown is not None:
            why = "the race without it comes later than a run is shown"
        elif stage.explored.out_of_work():
            why = "not simulated: that would take too long"
        return Switch(stage.line(op), lines, text, None, None, why)
    on = stage.record(path, (), _as_shown(met, off))
    number = len(found.runs)
    where = f"line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))}"
    found.runs.append(Scenario(f"without {where}", lines, off, number + 1))
    found.runs.append(Scenario(f"with {where}, at the same speed", (), on, number))
    return Switch(stage.line(op), lines, text, number, number + 1)


def is_switchable(op: ops.Operation) -> bool:
    """Whether an operation is one that somebody has written to synchronize."""
    return isinstance(op, ops.SyncOperation | ops.MbarrierWait) and op.owner is None


class _Stage:
    """A kernel, ready to be run along a few paths."""

    def __init__(self, trace: CapturedTrace, spans: Spans, races: bool) -> None:
        self.spans = spans
        self.races = races
        """Whether there are races with all barriers."""
        self.explored = Explored("simulate", most_work=MOST_WORK)
        self.context = Context.of(build_flow(trace))
        self.trace = trace
        bodies = (trace, *trace.functions())
        written = [op for body in bodies for op in body.preorder_walk()]
        self.operations = sorted(written, key=self.line)
        self.has_mbarriers = any(isinstance(op, ops.MbarrierWait) for op in self.operations)
        self.paths = self._interesting()
        self.known_races: dict[int, Sequence[Met]] = {}
        """With all barriers, for each path that was asked about."""

    def line(self, op: ops.Operation) -> int:
        """Where an operation stands."""
        span = self.spans.get(op.owner or op)
        return span.line if span else 0

    def _interesting(self) -> list[list[Visit]]:
        """Paths that go to as many places as possible, loops a few times; of equals the shortest."""
        looking = Explored("simulate", most_work=MOST_WORK // 4)
        paths = [self._cut(path) for path in islice(Paths(self.context, looking, MOST_PATHS), MOST_PATHS)]
        paths = [path for path in paths if path]
        return sorted(paths, key=lambda path: (-_places(path), len(path)))

    def _cut(self, path: list[Visit]) -> list[Visit]:
        """The beginning of a path: as much as is shown."""
        events = 0
        for number, visit in enumerate(path):
            events += len(self.context.flow.blocks[visit.block].ops)
            often = max((count for _, count in visit.iteration), default=0)
            # Waves that wait for each other are on sides of a conditional, which follow each other on a path.
            enough = events > ENOUGH_EVENTS and often >= ENOUGH_ITERATIONS and not self.has_mbarriers
            if events > MOST_EVENTS or enough:
                return path[: number + 1]
        return path

    def waves(self, path: list[Visit]) -> list[int]:
        """The waves that run: all, or some of each kind."""
        if self.trace.waves <= FEW_WAVES or has_mbarriers(self.context.flow):
            return list(range(self.trace.waves))
        return representatives(self.context, path, everyone)[:MOST_WAVES]

    def show(self, off: Collection[ops.Operation]) -> tuple[list[Visit], Met] | None:
        """A path on which two accesses race without some barriers, and not with them."""
        for path in self.paths[:TRIED]:
            if self.explored.out_of_work():
                return None
            known = {met.pair for met in self._races(path, ())} if self.races else set()
            found = [met for met in self._races(path, off) if met.pair not in known]
            if found:
                return path, min(found, key=_interest)
        return None

    def show_reported(self, race: ReportedRace) -> tuple[list[Visit], Met] | None:
        """A path on which the accesses of a report race, with the one second that comes too early."""
        for path in self.paths[:TRIED]:
            if self.explored.out_of_work():
                return None
            met = self._races(path, ())
            found = [each for each in met if self._lines(each) == race.lines]
            # Sides of a conditional that waves take at the same time have no order in the program.
            found = found or [each.swapped for each in met if self._lines(each.swapped) == race.lines]
            if found:
                return path, min(found, key=_interest)
        return None

    def _lines(self, met: Met) -> tuple[int, int]:
        return self.line(met.pair[0]), self.line(met.pair[1])

    def hangs(self, off: Collection[ops.Operation]) -> list[Visit] | None:
        """A path on which waves wait for ever without some barriers, and not with them."""
        for path in self.paths[:TRIED]:
            runs = [
                RecordedRun(self.context, path, self.waves(path), out, self.explored) for out in ((), off)
            ]
            for run in runs:
                run.run()
            stuck = [any(state.at < len(state.events) for state in run.waves) for run in runs]
            if runs[0].ends and stuck == [False, True] and not self.explored.out_of_work():
                return path
        return None

    def _races(self, path: list[Visit], off: Collection[ops.Operation]) -> Sequence[Met]:
        if not off and id(path) in self.known_races:
            return self.known_races[id(path)]
        run = RecordedRun(self.context, path, self.waves(path), off, self.explored)
        run.run()
        found = [_as_seen_from(off, met, run) for met in run.met]
        if not off:
            self.known_races[id(path)] = found
        return found

    def as_it_stands(self, races: Sequence[ReportedRace]) -> Recording | None:
        """The run with nothing changed; if the first race happens in it, by the waves that the report names."""
        if not self.paths:
            return None
        path, met = self.show_reported(races[0]) or (None, None) if races else (None, None)
        named = met.by(*races[0].waves) if met is not None and path is self.paths[0] else None
        run = RecordedRun(self.context, self.paths[0], self.waves(self.paths[0]), (), self.explored)
        return Recorder(run, self.spans, None, named).play()

    def record_as(
        self, path: list[Visit], met: Met | None, off: Collection[ops.Operation], waves: tuple[int, int]
    ) -> Recording:
        """A run that shows a race of these waves, the ones that are spoken of, if they can have it; else as found."""
        named = met.by(*waves) if met is not None else None
        if named is not None:
            recording = self.record(path, off, named)
            if recording.races and (recording.races[0].first[0], recording.races[0].second[0]) == waves:
                return recording
        return self.record(path, off, met)

    def record(self, path: list[Visit], off: Collection[ops.Operation], shown: Met | None) -> Recording:
        """A run, written down."""
        run = RecordedRun(self.context, path, self.waves(path), off, self.explored)
        return Recorder(run, self.spans, shown).play()

    def halves(self, op: ops.Operation) -> set[ops.Operation]:
        """What goes off together: a split barrier with all of its halves, as they meet on the paths."""
        if not isinstance(op, ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait):
            return {op}
        together: set[ops.Operation] = {op}
        pairs = self._pairs(op.bar_id)
        grown = True
        while grown:
            more = {each for pair in pairs if together & pair for each in pair}
            grown = not more <= together
            together |= more
        return together

    def _pairs(self, bar_id: int) -> list[set[ops.Operation]]:
        """Signals and the waits that they let through."""
        pairs: list[set[ops.Operation]] = []
        for path in self.paths[:TRIED]:
            signal: ops.Operation | None = None
            for visit in path:
                for each in self.context.flow.blocks[visit.block].ops:
                    if isinstance(each, ops.SharedMemoryBarrierSignal) and each.bar_id == bar_id:
                        signal = each
                    elif isinstance(each, ops.SharedMemoryBarrierWait) and each.bar_id == bar_id and signal:
                        pairs.append({signal, each})
        return pairs


def _as_shown(met: Met | None, recording: Recording) -> Met | None:
    """A race by the waves that have it in a run."""
    if met is None or not recording.races:
        return met
    return met.by(recording.races[0].first[0], recording.races[0].second[0]) or met


def _interest(met: Met) -> tuple[bool, int]:
    """What is shown first: a read of what is not there yet, then what comes first."""
    return met.hazard != "RAW", met.first.event.number


def _as_seen_from(off: Collection[ops.Operation], met: Met, run: RecordedRun) -> Met:
    """Of two accesses without an order, the one whose wave no longer waits is the one that comes too early."""
    if not off or not run.on_opposite_sides(met.first.event, met.second.event):
        return met
    runs = {state.wave for state in run.waves if run.left_out[state.wave]}
    return met.swapped if met.first.wave in runs and met.second.wave not in runs else met


def _places(path: Sequence[Visit]) -> int:
    """How much a path shows: blocks, each in its first iterations."""
    return len({(visit.block, tuple(min(count, 2) for _, count in visit.iteration)) for visit in path})
