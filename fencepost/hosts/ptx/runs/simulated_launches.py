"""Launches of one kernel that are simulated to find a race: usual ones, and those that a proof points at.

A run can show a race, and proves nothing. Numbers that nobody gave are made up; a race that depends on them is none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from random import Random

from fencepost.hosts.ptx.expressions.parameter_roles import roles_of
from fencepost.hosts.ptx.launches.launch import parameter_key
from fencepost.hosts.ptx.launches.preconditions import satisfying
from fencepost.hosts.ptx.launches.thread_names import thread_number
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch
from fencepost.hosts.ptx.proof.prove import Proof
from fencepost.hosts.ptx.reading.module import Routine
from fencepost.hosts.ptx.runs.any_numbers import race_with_any_numbers, sampled_numbers
from fencepost.hosts.ptx.runs.flags import BY_A_FLAG, may_be_ordered
from fencepost.hosts.ptx.runs.made_up_data import MadeUp
from fencepost.hosts.ptx.runs.memory import MANY, NEGATIVE
from fencepost.hosts.ptx.runs.observed import Conflict
from fencepost.hosts.ptx.runs.race_findings import findings_of, thread_of
from fencepost.hosts.ptx.runs.race_iterations import iterations_of
from fencepost.hosts.ptx.runs.simulate import simulate
from fencepost.hosts.ptx.runs.simulation_setup import NotSimulated, Setup, SimulationResult
from fencepost.hosts.ptx.verdicts import (
    Finding,
    KernelVerdict,
    Reason,
)

QUICK_SECONDS = 0.7
"""For a run before the proof is tried: most kernels are right, and runs prove nothing."""
MIXED_SECONDS = 5.0
MOST_MIXED = 1024
"""For runs with small and large parameters, and how many there are at most."""
LARGEST = 1 << 16
"""Larger parameters of a solver's model are not run with."""
MOST_MODELS = 3
LARGER, SMALLER, MOST_BOUNDS = 16, (2, 4, 8), 6
"""How much larger a number is made that may bound how far threads go in shared memory, small ones, and how many such
numbers are looked at."""


class Runs:
    """Simulated launches of one kernel and what they showed."""

    def __init__(self, case: KernelAndLaunch, made_up: MadeUp, seconds: float) -> None:
        self.case = case
        self.made_up = made_up
        self.left = seconds
        """Processor time that runs may still take."""
        self.late = False
        """Whether a run was broken off, or none begun, because time was up."""
        self.layout = roles_of(case.flow).layout
        self.findings: list[Finding] = []
        """Of the first run that showed an error, or else of the first that showed anything."""
        self.show_a_race = False
        self.unusual: Setup | None = None
        """A launch that shows a race, with parameters that only a solver came up with."""
        self.beyond_bounds: set[frozenset[Place]] = set()
        """Accesses that meet only where a number is larger than the author may have meant."""
        self.by_data: Conflict | None = None
        """Two stores that meet because of made-up data."""
        self.by_depth: Conflict | None = None
        """Two accesses that meet where made-up data let a thread go too far."""
        self.by_flag: Conflict | None = None
        """Two accesses that threads may order by a flag or a lock."""
        self.faithful = True
        self.cut_short = False
        self.reached: set[Place] = set()
        """Accesses that usual runs came to."""
        self.overran: list[tuple[Place, int] | None] = []
        """For each usual run, an access outside of shared memory, and the thread."""

    def usual(self, seconds: float) -> None:
        """Runs the kernel with its block and with usual sizes."""
        launch = self.case.launch
        block = launch.block
        assert block is not None
        count = prod(block)
        self.cut_short = False
        for setup in (
            Setup(block, launch.parameters, count),
            Setup(block, {**_last_block(block, 1000), **launch.parameters}, 1000, layout=count),
            Setup(block, launch.parameters, 4 * count),
            # Some numbers are flags, or choose between two ways.
            Setup(block, launch.parameters, 1, layout=count),
        ):
            if self.faithful and not self.show_a_race:
                self._run(replace(setup, seconds=seconds), True)
        if self.by_depth is not None and self.faithful and not self.show_a_race:
            # No tree has another node then, and no list.
            self._run(Setup(block, launch.parameters, count, spread=NEGATIVE, seconds=seconds), True)

    def suggested(self, proof: Proof) -> None:
        """Runs the kernel with the values that the solver found."""
        launch = self.case.launch
        block = launch.block
        assert block is not None
        for values in _models(self.case.routine, proof):
            # Sizes that shared memory is laid out by come from the caller; he may well keep to those that fit.
            others = {name: value for name, value in values.items() if name not in self.layout}
            self._again(Setup(block, {**others, **launch.parameters}, prod(block)))
            parameters = {**values, **launch.parameters}
            if not self.show_a_race and self.faithful and others != values:
                self._run(Setup(block, parameters), parameters == launch.parameters)
                self._with_any_layout(Setup(block, {**others, **launch.parameters}, prod(block)))
        if not (proof.candidates or proof.doubts or proof.open):
            return
        if self.layout and self.faithful and not self.show_a_race:
            self._with_any_numbers()
        for seed in range(2, 6):
            setup = Setup(block, launch.parameters, prod(block), seed, seconds=QUICK_SECONDS)
            self._again(setup)
            self._again(replace(setup, spread=MANY))
        end = time.thread_time() + MIXED_SECONDS
        for parameters in self._mixed():
            if time.thread_time() > end:
                break
            given = {**parameters, **launch.parameters}
            self._again(Setup(block, given, prod(block), seconds=QUICK_SECONDS))

    def _with_any_layout(self, setup: Setup) -> None:
        """Whether a race is there with half of the threads, one less than all, and more than all, for every size
        that shared memory is laid out by: then it is not that the caller keeps to powers of two, to odd numbers, or
        to sizes that are large enough."""
        count = prod(setup.block)
        for layout in (count // 2, count - 1, 4 * count + 4):
            seen = self._simulated(replace(setup, layout=layout))
            if seen is None or not seen.finished or seen.outside or not (seen.errors or seen.missed):
                return
        self._run(replace(setup, layout=count // 2), True)

    def _with_any_numbers(self) -> None:
        """Whether a race is there whatever the numbers are, those included that shared memory is laid out by."""
        launch, roles = self.case.launch, roles_of(self.case.flow)
        assert launch.block is not None
        names = {
            each.name
            for each in self.case.routine.parameters
            if each.type[1:].isdigit() and each.type[0] in "bsu" and each.name not in roles.pointers
        }
        numbers = sampled_numbers(launch.block, names - launch.parameters.keys())
        end = time.thread_time() + MIXED_SECONDS
        shown = race_with_any_numbers(
            (
                Setup(launch.block, {**each, **launch.parameters}, prod(launch.block), seconds=QUICK_SECONDS)
                for each in numbers
            ),
            lambda setup: self._simulated(setup) if time.thread_time() < end else None,
        )
        if shown is None:
            return
        seen = shown.seen
        seen.conflicts = [each for each in seen.conflicts if frozenset(each.places) in shown.pairs]
        self.findings = self._shown(shown.setup, seen)
        self.show_a_race = True

    def _again(self, setup: Setup) -> None:
        if self.faithful and not self.show_a_race:
            self._run(setup, True)

    def _mixed(self) -> Iterator[dict[str, int]]:
        """Small and large values, mixed, for numbers that shared memory is not laid out by: counts of steps are
        often small where sizes are large."""
        roles = roles_of(self.case.flow)
        names = [
            each.name
            for each in self.case.routine.parameters
            if each.type in ("u32", "s32", "b32") and each.name not in roles.layout | roles.pointers
        ]
        chosen = Random(1)
        for bits in chosen.sample(range(1 << min(len(names), 10)), min(MOST_MIXED, 1 << len(names))):
            small = chosen.choice((1, 2, 2))
            yield {name: 1000 if bits >> at & 1 else small for at, name in enumerate(names)}

    def _simulated(self, setup: Setup) -> SimulationResult | None:
        """What a run shows, without stores that meet because of made-up data; None if there is no such run."""
        case = self.case
        if self.left <= 0:
            self.late = True
            return None
        begin = time.thread_time()
        required = self._required(setup)
        if required is None:
            return None
        try:
            parameters = {**required, **setup.parameters}
            shorter = replace(
                setup,
                parameters=parameters,
                seconds=min(setup.seconds, self.left),
                warp_synchronous=case.launch.warp_synchronous,
            )
            seen = simulate(case.module, case.routine, case.flow, shorter)
        except NotSimulated:
            self.faithful = False
            return None
        finally:
            self.left -= time.thread_time() - begin
        seen.chosen = {**required, **seen.chosen}
        self.cut_short |= not seen.finished
        self.late |= not seen.finished
        self._leave_out(seen)
        return seen

    def _leave_out(self, seen: SimulationResult) -> None:
        """Takes out what a run does not show by itself: what hangs on made-up data, on a flag or on a bound."""
        case = self.case
        too_far = self._too_far(seen)
        by_data = [
            each
            for each in seen.conflicts
            if not case.launch.any_input and self.made_up.explains(each.places) and each not in too_far
        ]
        flags = [each for each in seen.conflicts if may_be_ordered(case.flow, each.places)]
        self.by_depth = self.by_depth or _first_error(too_far)
        self.by_data = self.by_data or _first_error(by_data)
        self.by_flag = self.by_flag or _first_error(flags)
        left_out = [*too_far, *by_data, *flags]
        seen.conflicts = [
            each
            for each in seen.conflicts
            if each not in left_out and frozenset(each.places) not in self.beyond_bounds
        ]

    def _too_far(self, seen: SimulationResult) -> list[Conflict]:
        """The conflicts at places that threads count up to as data let them, in a run that left shared memory so:
        what each thread has of its own ends somewhere, too."""
        made_up = self.made_up
        if (
            seen.outside is None
            or self.case.launch.any_input
            or not made_up.is_counted_by_data(seen.outside[0])
        ):
            return []
        return [each for each in seen.conflicts if any(map(made_up.is_counted_by_data, each.places))]

    def _required(self, setup: Setup) -> dict[str, int] | None:
        """Values of parameters that the file requires something of; None if those of this run do not do."""

        def wanted(name: str) -> int:
            return setup.number if setup.layout is None or name not in self.layout else setup.layout

        required = self.case.launch.required
        return satisfying(required, setup.parameters, wanted) if required else {}

    def _run(self, setup: Setup, usual: bool) -> None:
        seen = self._simulated(setup)
        if seen is None:
            return
        self.reached |= seen.places if usual else set()
        self.overran += [seen.outside] if usual else []
        errors = bool(seen.errors or seen.missed)
        if errors and seen.outside and setup.spread == MANY:
            return  # Such numbers were not meant to be indices.
        if errors and (not usual or self._hangs_on_numbers(setup, seen)):
            self.unusual = self.unusual or replace(setup, parameters={**seen.chosen, **setup.parameters})
            return
        found = bool(seen.conflicts or seen.missed)
        if found and (not self.findings or (errors and not self.show_a_race)):
            self.findings = self._shown(setup, seen)
        self.show_a_race |= errors

    def _shown(self, setup: Setup, seen: SimulationResult) -> list[Finding]:
        """What a run has shown, with the iterations that it happened in."""
        case = self.case
        asked = case.module, case.routine, case.flow, replace(setup, seconds=QUICK_SECONDS)
        return findings_of(case, setup, seen, iterations_of(*asked, seen.conflicts))

    def _hangs_on_numbers(self, setup: Setup, seen: SimulationResult) -> bool:
        """Whether a race is there because of numbers that the run made up, and that a caller may not give."""
        if self.case.launch.any_input:
            return False
        if seen.outside and self.layout:
            return True
        return self._hangs_on_layout(setup, seen) or self._hangs_on_bounds(setup, seen)

    def _hangs_on_bounds(self, setup: Setup, seen: SimulationResult) -> bool:
        """Whether a number that the run made up bounds how far threads go inside of shared memory, and the race is
        gone with a smaller one although the same threads come to the same accesses: rows of an array, of which PTX
        knows nothing, end somewhere. A number with which nothing leaves shared memory, however large, bounds nothing.
        """
        made_up = {**seen.chosen, **setup.parameters}
        names = sorted(made_up.keys() - self.layout - self.case.launch.parameters.keys())
        return not seen.missed and any(
            self._hangs_on(name, made_up[name], setup, seen) for name in names[:MOST_BOUNDS]
        )

    def _hangs_on(self, name: str, number: int, setup: Setup, seen: SimulationResult) -> bool:
        """The same for one of the numbers, the others as they were."""

        def with_value(value: int) -> SimulationResult | None:
            return self._simulated(replace(setup, parameters={**setup.parameters, name: value}))

        larger = with_value(LARGER * number)
        if larger is None or not larger.outside:
            return False
        for value in SMALLER:
            other = with_value(value) if value < number else None
            if other is not None and other.finished and not other.outside and _same_without(seen, other):
                self.beyond_bounds |= {frozenset(each.places) for each in seen.conflicts}
                return True
        return False

    def _hangs_on_layout(self, setup: Setup, seen: SimulationResult) -> bool:
        """Whether a race is gone with one less for the sizes that the run made up: a mask or an odd stride is
        meant then, and the number of threads is none. Sizes that nothing stays inside shared memory with say nothing.
        """
        if not seen.chosen.keys() & self.layout:
            return False
        other = self._simulated(replace(setup, layout=prod(setup.block) - 1))
        if other is None or not other.finished or other.outside or other.errors or other.missed:
            return False
        return {place for each in seen.conflicts for place in each.places} <= other.places and not seen.missed

    def race(self, counts: tuple[int, int]) -> KernelVerdict:
        """The verdict after a race was seen; it says nothing about other values of the parameters."""
        holds = self.case.launch.describe(0)
        return KernelVerdict(self.case.routine.name, "race", tuple(self.findings), (), holds, *counts)

    def notes(self) -> tuple[str, ...]:
        """That threads leave shared memory whatever the parameters are, which is not judged."""
        first = self.overran[0] if self.overran else None
        block = self.case.launch.block
        if first is None or block is None or None in self.overran:
            return ()
        place, number = first
        thread = thread_number(thread_of(block, number), block)
        site = self.case.site(place)
        line = site.inlined_at[-1] if site.inlined_at else site.source_line
        where = f"line {line}" if line else f"PTX line {site.ptx_line}"
        return (f"thread {thread} is outside of its shared array at {where}: such accesses are not judged",)

    def reasons(self) -> list[Reason]:
        """Races that were seen, but with parameters or data that may not occur."""
        found = []
        if self.unusual is not None:
            said = ", ".join(f"{name} = {value}" for name, value in self.unusual.parameters.items())
            text = f"there is a race if {said}" if said else "there is a race with some parameters"
            found.append(Reason(f"{text}: give the parameters if that cannot be", seen=True))
        if self.by_data is not None:
            text = "two threads store here if data that are loaded let them"
            found.append(Reason(text, self.case.site(self.by_data.places[0]), seen=True))
        if self.by_depth is not None:
            text = "threads meet here if data that are loaded let one go too far, as they do outside of shared memory"
            found.append(Reason(text, self.case.site(self.by_depth.places[0]), seen=True))
        if self.by_flag is not None:
            found.append(Reason(BY_A_FLAG, self.case.site(self.by_flag.places[0])))
        return found


def _first_error(conflicts: list[Conflict]) -> Conflict | None:
    return next((each for each in conflicts if each.severity == "error"), None)


def _same_without(seen: SimulationResult, other: SimulationResult) -> bool:
    """Whether the threads of every conflict come to the same accesses in another run, without any conflict there."""
    places = {place for each in other.conflicts for place in each.places}
    errors = [each for each in seen.conflicts if each.severity == "error"]
    return all(
        place in other.came and other.came[place][thread] and place not in places
        for each in errors
        for place, thread in zip(each.places, each.threads, strict=True)
    )


def _last_block(block: tuple[int, int, int], number: int) -> dict[str, int]:
    """The last block of a launch over so many elements, some of whose threads have nothing to do."""
    return {"ctaid.x": number // block[0], "ctaid.y": number // max(block) if block[1] > 1 else 0}


def _models(routine: Routine, proof: Proof) -> list[dict[str, int]]:
    """Parameters for which a solver has found what may happen, those that differ."""
    found: list[dict[str, int]] = []
    models = [each.values for each in proof.candidates] + [each.values for each in proof.doubts]
    for model in models:
        values = _parameters(routine, model)
        if values not in found and all(value < LARGEST for value in values.values()):
            found.append(values)
    return found[:MOST_MODELS]


def _parameters(routine: Routine, values: Mapping[str, int]) -> dict[str, int]:
    """The parameters and block numbers in a solver's model."""
    found = {}
    for name, value in values.items():
        base = name.partition("+")[0]
        if name.startswith("ctaid.") or (parameter_key(routine, base) == base and not base.isdigit()):
            found[name] = value
    return found
