"""The execution model made executable: it finds races and deadlocks, and says how much it looked at.

`check` judges what the rest of fencepost does, so it shares nothing with `analysis` and `placement`: it
reads the kernel (`ir`) and its program points (`flow`), and has its own table of effects, its own notion of
bytes, and its own ways of looking.

* `track`, where all waves meet the same barriers in the same order: follow each access until every wave can
  see it. It covers all paths; only loops whose variable decides bytes or branches are cut short, and then
  the report says so.
* `simulate`, where waves may be skewed or take different sides of a conditional with barriers in it: run
  representative waves along one path after the other. Paths are bounded in length and number. Where that cuts
  anything off, `skew.track` follows each access as `track` does, with how many barriers the waves are apart as part
  of the state: that covers all paths and trip counts. Where it cannot, the report says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fencepost.check.fix_places import with_fixes
from fencepost.check.lockstep import has_mbarriers, in_step
from fencepost.check.loop_context import Context
from fencepost.check.paths import Paths, Visit
from fencepost.check.report import UNFILLED, Deadlock, Explored, OutOfRange, Race, Report, Touch
from fencepost.check.simulate import Simulation, Unknown, admits, everyone
from fencepost.check.skew.track import SkewTracker
from fencepost.check.skew.waves_apart import WavesApart, has_split_barriers
from fencepost.check.split_alternation import split_errors, too_many_barriers
from fencepost.check.start_values import Starts
from fencepost.check.track import Tracker
from fencepost.check.trusted_mbarriers import TRUSTED, TrustingTracker
from fencepost.flow import Flow, build_flow
from fencepost.ir.builder import Kernel
from fencepost.ir.expr import can_be_unknown, decide
from fencepost.ir.limits import check_count
from fencepost.ir.trace import CapturedTrace, trace_of
from fencepost.option_fields import option, positive

__all__ = ["Check", "Deadlock", "Explored", "OutOfRange", "Race", "Report", "Touch", "check"]


BUDGET = 500_000
"""Steps of `track`."""
WORK = 8
"""For each of them, what may be looked at and compared on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Look for races and deadlocks in a kernel."""

    method: str = option("", "`track` or `simulate`; by default the first that fits")
    budget: int = option(
        BUDGET, "how many steps to follow accesses for", "--budget", metavar="STEPS", parse=positive
    )
    paths: int = option(
        100, "how many paths to simulate where waves are skewed", "--paths", metavar="N", parse=positive
    )
    """As many again are sampled if there are more."""
    seed: int = option(0, "what the samples are chosen by")
    named_barriers: int | None = option(
        None, "how many barriers with a number the hardware has: more are reported"
    )
    simulated: bool = option(
        True,
        "simulate paths; without, skewed waves are followed on all paths at once, and what that does not "
        "prove is not proven",
    )
    trusting: bool = option(
        False,
        "assume that mbarriers are used correctly, and judge only barriers and waits, on all paths: that takes a "
        "fraction of the time, and works for a part of a kernel whose other parts arrive on the same mbarriers",
    )
    unfilled: bool = option(
        False,
        "report reads of slots that nobody has filled yet as well (FP007): they are no race, but read garbage",
        "--unfilled",
    )

    def apply(self, kernel: CapturedTrace | Kernel | Flow) -> Report:
        """What is found in a kernel, which may be given by its flow if that has been built."""
        check_count("budget", self.budget), check_count("paths", self.paths)
        flow = kernel if isinstance(kernel, Flow) else build_flow(trace_of(kernel))
        trace = flow.trace
        options = replace(self, trusting=self.trusting and has_mbarriers(flow))
        lockstep = in_step(flow, trusting=options.trusting)
        method = self.method or ("track" if lockstep else "simulate")
        # Less work than by default is no use: what there is to do is bounded by `budget` and `paths` as well.
        explored = Explored(method, most_work=WORK * max(self.budget, BUDGET))
        if method == "track":
            if not lockstep:
                raise ValueError("`track` needs all waves to meet the same barriers: use `simulate`")
            found = options.track(flow, explored)
        elif method == "simulate":
            found = options.simulate(flow, explored)
        else:
            raise ValueError(f"unknown method {method!r}: there are 'track' and 'simulate'")
        if self.named_barriers is not None:
            found.deadlocks = [*found.deadlocks, *too_many_barriers(flow, self.named_barriers)]
        found.explored.unjudged = trace.unjudged
        for less in trace.narrowed:
            found.explored.cut(less)
        unasked = 0
        if not self.unfilled:
            # The order is right: by the execution model there is nothing to find.
            unasked = sum(each.kind == UNFILLED for each in found.deadlocks)
            found.deadlocks = [each for each in found.deadlocks if each.kind != UNFILLED]
        races = with_fixes(flow, found.races)
        # The same question about the kernel with a change; a change may make another method the one that fits.
        judged = Report(races, found.deadlocks, found.out_of_range, found.explored, trace, options.apply)
        judged.unasked = unasked
        return judged

    def track(self, flow: Flow, explored: Explored) -> Report:
        """All accesses, where all waves meet the same barriers."""
        tracker = TrustingTracker if self.trusting else Tracker
        return _fewest_limits(
            Context.of(flow, parameters=True, phases=False, ends=True),
            lambda context: _track(context, tracker, explored, self.budget),
        )

    def simulate(self, flow: Flow, explored: Explored) -> Report:
        """One path after the other; then all accesses, unless that covered everything or another method was named."""
        most = self.paths if self.simulated else 0
        races, deadlocks, out_of_range = _simulate(Context.of(flow), explored, most, self.seed)
        if self.method or explored.complete or deadlocks or has_mbarriers(flow):
            return Report(races, deadlocks, out_of_range, explored)
        found = _fewest_limits(
            Context.of(flow, parameters=True, phases=False, ends=True),
            lambda context: _follow(context, explored, self.budget),
        )
        known = {(id(race.first.op), id(race.second.op)) for race in races}
        races += [r for r in found.races if (id(r.first.op), id(r.second.op)) not in known]
        outside = {id(finding.op) for finding in out_of_range}
        out_of_range += [finding for finding in found.out_of_range if id(finding.op) not in outside]
        return Report(races, found.deadlocks, out_of_range, found.explored)


def check(kernel: CapturedTrace | Kernel | Flow, **options: Any) -> Report:
    """Look for races and deadlocks in a kernel; `options` are the fields of `Check`."""
    return Check(**options).apply(kernel)


def _fewest_limits(context: Context, look: Callable[[Context], Report]) -> Report:
    """What is found with values for parameters; or without, where so many of them are the reason to stop early."""
    found = look(context)
    if set(found.explored.limits) <= {TRUSTED} or not context.environments.parameters.followed:
        return found
    without = look(Context.of(context.flow, phases=False, ends=True))
    if without.races:
        parameters = context.environments.parameters
        asked = (parameters.followed | parameters.dropped) & context.flow.trace.numbers.keys()
        without.explored.not_followed = tuple(sorted(asked))
    return without if len(without.explored.limits) < len(found.explored.limits) else found


def _track(context: Context, kind: type[Tracker], like: Explored, budget: int) -> Report:
    """All accesses, where all waves meet the same barriers."""
    explored = Explored(like.method, most_work=like.most_work)
    tracker = kind(context, explored, budget)
    tracker.run()
    deadlocks = split_errors(context, explored)
    if tracker.races:
        explored.not_followed = _not_followed(context)
    return Report(list(tracker.races.values()), deadlocks, list(tracker.out_of_range.values()), explored)


def _not_followed(context: Context) -> tuple[str, ...]:
    """The parameters that decide something and have too many values to follow them."""
    return tuple(sorted(context.environments.parameters.dropped))


def _follow(context: Context, simulated: Explored, budget: int) -> Report:
    """The same for all paths and trip counts; what is found and how much was looked at."""
    if has_split_barriers(context):
        simulated.cut("split barriers of skewed waves are only simulated")
        return Report([], [], [], simulated)
    explored = Explored("apart", paths=simulated.paths, most_work=simulated.most_work)
    if context.hands_on:
        Starts(context, explored)
    apart = WavesApart(context, explored, context.compared)
    apart.run()
    if apart.deadlocks or not explored.complete:
        for limit in simulated.limits:
            explored.cut(limit)
        return Report([], apart.deadlocks, [], explored)
    tracker = SkewTracker(context, explored, budget, apart)
    tracker.run()
    if tracker.races:
        explored.not_followed = _not_followed(context)
    return Report(list(tracker.races.values()), [], list(tracker.out_of_range.values()), explored)


def _simulate(
    context: Context, explored: Explored, most: int, seed: int
) -> tuple[list[Race], list[Deadlock], list[OutOfRange]]:
    """What simulations of one path after the other find, and what they leave out."""
    races: dict[tuple[int, int, str, str], Race] = {}
    deadlocks: dict[tuple[str, tuple[int, ...]], Deadlock] = {}
    out_of_range: dict[int, OutOfRange] = {}
    if not most:
        explored.cut("no path was simulated")
        return [], [], []
    for path in Paths(context, explored, most, seed):
        if explored.out_of_work():
            break
        explored.paths += 1
        for unknown in _unknown_sets(context, path, explored):
            run = Simulation(context, path, representatives(context, path, unknown), unknown, explored)
            run.run()
            if run.mbarriers.lost:
                explored.cut("mbarriers, or phases, that are not known")
            for key, race in run.races.items():
                races.setdefault(key, race)
            for deadlock in run.deadlocks:
                deadlocks.setdefault((deadlock.kind, tuple(id(op) for op, _ in deadlock.ops)), deadlock)
            for op, finding in run.out_of_range.items():
                out_of_range.setdefault(op, finding)
    return list(races.values()), list(deadlocks.values()), list(out_of_range.values())


def representatives(context: Context, path: list[Visit], unknown: Unknown) -> list[int]:
    """Waves that stand for all: two of each kind that takes part in the same blocks of a path.

    All of them where the bytes that are touched depend on the wave, or arrivals are counted.
    """
    trace = context.flow.trace
    if context.touches_by_wave() or has_mbarriers(context.flow):
        return list(range(trace.waves))
    guarded = [visit for visit in path if context.flow.blocks[visit.block].guards]
    kinds: dict[tuple[bool, ...], list[int]] = {}
    for wave in range(trace.waves):
        kind = tuple(
            admits(guard, wave, visit.frames[depth], unknown)
            for visit in guarded
            for depth, guard in context.environments.guards(context.flow.blocks[visit.block])
        )
        kinds.setdefault(kind, []).append(wave)
    return sorted(wave for alike in kinds.values() for wave in alike[:2])


def _unknown_sets(context: Context, path: list[Visit], explored: Explored) -> list[Unknown]:
    """Sets of waves to try for divergent conditions that the kernel does not tell."""
    guards = {guard for block in context.flow.blocks for guard in block.guards}
    unknown = any(can_be_unknown(guard.condition) for guard in guards)
    if not unknown and not (guards and context.hands_on and _meets_unknown(context, path)):
        return [everyone]
    explored.cut("divergent conditions that are not known were tried with a few sets of waves")
    half = context.flow.trace.waves // 2
    return [everyone, lambda wave: False, lambda wave: wave == 0, lambda wave: wave >= half]


def _meets_unknown(context: Context, path: list[Visit]) -> bool:
    """Whether a divergent condition on the path depends on a name whose value is not known."""
    return any(
        decide(guard.condition, visit.frames[depth], wave) is None
        for visit in path
        for depth, guard in context.environments.guards(context.flow.blocks[visit.block])
        for wave in range(context.flow.trace.waves)
    )
