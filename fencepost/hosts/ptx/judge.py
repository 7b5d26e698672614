"""The verdict on a kernel: proven if every question has its answer, a race if a run shows one, otherwise
undecided."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from random import Random

from fencepost.hosts.ptx.any_numbers import race_with_any_numbers, sampled_numbers
from fencepost.hosts.ptx.calls import inlined
from fencepost.hosts.ptx.effects import effect, waits_for_copies
from fencepost.hosts.ptx.evaluate import Evaluator
from fencepost.hosts.ptx.exact.verdict import SECONDS as EXACT_SECONDS
from fencepost.hosts.ptx.exact.verdict import Judge
from fencepost.hosts.ptx.flow import ENTRY, Flow, NotJudged
from fencepost.hosts.ptx.global_findings import add_global_races
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.kernel_names import plain_name
from fencepost.hosts.ptx.launch import Assumption, Given, Launch, launch_of, parameter_key
from fencepost.hosts.ptx.local_memory import followed
from fencepost.hosts.ptx.made_up_data import MadeUp
from fencepost.hosts.ptx.memory import MANY
from fencepost.hosts.ptx.module import Instruction, Module, Operand, Routine, Special
from fencepost.hosts.ptx.observed import Conflict, CopyInRace
from fencepost.hosts.ptx.parameter_roles import roles_of
from fencepost.hosts.ptx.preconditions import satisfying
from fencepost.hosts.ptx.prove import SECONDS, Proof, Prover, places
from fencepost.hosts.ptx.race_iterations import IN_LATER, Iterations, iterations_of
from fencepost.hosts.ptx.race_order import RaceOrder, order_of
from fencepost.hosts.ptx.simulate import Missed, Seen, Setup, Unfaithful, placed_variables, simulate
from fencepost.hosts.ptx.thread_names import shown_sizes, thread_number, two_accesses
from fencepost.hosts.ptx.usual_blocks import MOST_BLOCKS, Block, blocks_to_try, fits
from fencepost.hosts.ptx.verdicts import (
    Finding,
    KernelVerdict,
    Reason,
    SharedVariable,
    Site,
    Thread,
    Wait,
    bytes_of,
)
from fencepost.ir.source import FencepostError
from fencepost.report.words import nth_newest

QUICK_SECONDS = 0.7
"""For a run before the proof is tried: most kernels are right, and runs prove nothing."""
SLOW_SECONDS = 2.0
MIXED_SECONDS = 5.0
MOST_MIXED = 1024
"""For runs with small and large parameters, and how many there are at most."""
SHARE_OF_RUNS, SHARE_OF_EXACT_RUNS = 0.5, 0.4
"""Of the seconds for a proof, so many more for runs that look for a race, and for one that decides."""
LARGEST = 1 << 16
"""Larger parameters of a solver's model are not run with."""
MOST_MODELS = 3
LARGER, SMALLER, MOST_BOUNDS = 16, (2, 4, 8), 6
"""How much larger a number is made that may bound how far threads go in shared memory, small ones, and how many such
numbers are looked at."""
IN_STEP = "; if the threads of a warp run in step"
WARP: Block = (32, 1, 1)
SECONDS_FOR_EVERY_BLOCK = 6.0


@dataclass(frozen=True)
class Case:
    """A kernel to judge: its module, its flow, and what is known about its launch."""

    module: Module
    routine: Routine
    flow: Flow
    launch: Launch

    def site(self, place: Place) -> Site:
        """Where an instruction stands."""
        return self.flow.blocks[place.block].instructions[place.index].site

    def position(self, place: Place) -> tuple[int, int]:
        """Which comes first; functions stand elsewhere in the text than where they are called."""
        return self.flow.position[place.block], place.index


def axes_of(routine: Routine) -> frozenset[str]:
    """The dimensions of the block that a kernel reads."""
    found = {"x"}
    for item in routine.body:
        for operand in getattr(item, "operands", ()):
            found |= _axes(operand)
    return frozenset(found)


def _axes(operand: Operand) -> set[str]:
    if isinstance(operand, Special) and operand.name.startswith(("tid.", "ntid.")):
        return {operand.name[-1]}
    return set()


def judge(module: Module, routine: Routine, given: Given, seconds: float = SECONDS) -> KernelVerdict:
    """The verdict on one kernel; its proof is given up after some seconds."""
    if satisfying(given.required, given.params, lambda _: 1) is None:
        # Nothing would be judged: the numbers that are given count.
        given = replace(given, required=())
    launch = launch_of(routine, given, axes_of(routine))
    try:
        routine = inlined(module, routine)
        launch = launch_of(routine, given, axes_of(routine))
        routine = followed(module, routine, launch)
        flow = Flow(routine)
    except NotJudged as refusal:
        return _undecided(routine, launch, [_reason(refusal)], (0, 0))
    _refuse_pointers(routine, flow, launch)
    case = Case(module, routine, flow, launch)
    effects = [(instruction, effect(instruction)) for _, instruction in places(flow)]
    barriers = sum(found.barrier == "block" or _is_cluster_wait(each) for each, found in effects)
    accesses = sum(len(found.accesses) for _, found in effects if not all(a.generic for a in found.accesses))
    refused = [
        Reason(f"{found.refused} is not judged", instruction.site)
        for instruction, found in effects
        if found.refused
    ]
    if refused:
        return with_global_races(case, _exactly(case, (barriers, accesses)))
    counts = (barriers, accesses)
    if launch.block is not None:
        return with_global_races(case, judge_block(case, counts, seconds))
    return judge_blocks(case, counts, seconds)


def _refuse_pointers(routine: Routine, flow: Flow, launch: Launch) -> None:
    """Numbers that were given for pointers would do nothing."""
    for name in sorted(roles_of(flow).addresses & launch.parameters.keys()):
        number = name.rpartition("_param_")[2]
        text = f"parameter {number} of {plain_name(routine.name)} is a pointer: --param gives numbers"
        raise FencepostError(text, code="FP104")


def _is_cluster_wait(instruction: Instruction) -> bool:
    return instruction.parts[:3] == ("barrier", "cluster", "wait")


def with_global_races(case: Case, verdict: KernelVerdict) -> KernelVerdict:
    """The verdict on shared memory, and races in global memory that happen with every launch."""
    if case.launch.block is None:
        return verdict
    evaluator = Evaluator(case.module, case.routine, case.flow, case.launch)
    return add_global_races(verdict, evaluator, case.launch.block)


def judge_block(case: Case, counts: tuple[int, int], seconds: float) -> KernelVerdict:
    """The verdict for one block: quick runs, the proof, and if that fails runs that look closer."""
    routine, launch = case.routine, case.launch
    prover = Prover(case.module, routine, case.flow, launch, seconds)
    runs = Runs(case, MadeUp(case.flow, prover.takes_alike), SHARE_OF_RUNS * seconds)
    runs.usual(QUICK_SECONDS)
    if runs.show_a_race:
        return runs.race(counts)
    proof = prover.prove()
    if proof.open and launch.required:
        # Remainders are hard for a solver: what is required may not even be needed.
        free = replace(launch, required=())
        proof = Prover(case.module, routine, case.flow, free, seconds).prove()
    if proof.complete:
        weak = bool(proof.weak or runs.findings)
        holds = launch.describe(len(routine.parameters)) + (IN_STEP if weak else "")
        found = KernelVerdict(routine.name, "proven", tuple(runs.findings), (), holds, *counts)
        return replace(found, notes=runs.notes())
    if runs.cut_short:
        runs.usual(SLOW_SECONDS)
    if not runs.show_a_race:
        assumed = _assuming(case, proof, runs.reached, seconds / 5)
        if assumed is not None:
            holds = assumed.describe(len(routine.parameters))
            return KernelVerdict(routine.name, "proven", tuple(runs.findings), (), holds, *counts)
        runs.suggested(proof)
    if runs.show_a_race:
        return runs.race(counts)
    reasons = [*runs.reasons(), *_reasons(case, proof, runs.late)]
    exact = Judge(case.module, case.routine, case.flow, case.launch)
    if not runs.reasons() and (not proof.candidates or exact.is_for_every_launch or _all_numbers_given(case)):
        # A run says nothing about other numbers, for which a solver has found two accesses that may meet.
        exactly = _exactly(case, counts, SHARE_OF_EXACT_RUNS * seconds)
        if exactly.verdict == "race" and not exact.is_for_every_launch and _made_up_layout(case):
            reasons.insert(0, _with_its_numbers(exactly.findings[0]))
        elif exactly.verdict != "undecided":
            return exactly
    return _undecided(routine, launch, reasons, counts)


def _made_up_layout(case: Case) -> bool:
    """Whether a run has to make up numbers that shared memory is laid out by: they may not fit the block."""
    return not roles_of(case.flow).layout <= case.launch.parameters.keys()


def _with_its_numbers(finding: Finding) -> Reason:
    """That a race may be the fault of numbers that a run made up."""
    said = ", ".join(
        f"{name} = {value}" for name, value in finding.values.items() if not name.startswith("block.")
    )
    return Reason(f"there is a race if {said}: give the parameters if that cannot be", finding.first)


def _all_numbers_given(case: Case) -> bool:
    """Whether the user has given every parameter that is not a pointer."""
    pointers = roles_of(case.flow).pointers
    return all(
        each.name in case.launch.parameters for each in case.routine.parameters if each.name not in pointers
    )


def _assuming(case: Case, proof: Proof, reached: set[Place], seconds: float) -> Launch | None:
    """The launch with something taken for granted about parameters that shared memory is laid out by, if that
    makes the kernel right: each is a power of two, or at least as large as a row of the block. Runs with such
    parameters must come to the accesses in question, lest the assumption be that nothing happens."""
    launch = case.launch
    assert launch.block is not None
    sizes = {each.name: each.size for each in case.routine.parameters}
    names = sorted(key for key in roles_of(case.flow).layout if sizes.get(key) == 4)
    names = [key for key in names if key not in launch.parameters]
    asked = {touch.reached.place for each in proof.candidates for touch in (each.first, each.second)}
    if not asked <= reached:
        return None
    if not names or not proof.candidates or proof.open or proof.refused or proof.doubts:
        return None
    for chosen in (
        tuple(Assumption(name, power_of_two=True) for name in names),
        tuple(Assumption(name, at_least=launch.block[0]) for name in names),
    ):
        assumed = replace(launch, assumptions=chosen)
        if _is_proven(case, assumed, seconds):
            return assumed
    return None


def _is_proven(case: Case, launch: Launch, seconds: float) -> bool:
    """Whether there is a proof for a launch, without what is required or with it; not one that is about nothing."""
    if launch.required and not _is_possible(case, launch):
        return False
    for each in [replace(launch, required=()), *([launch] if launch.required else [])]:
        proof = Prover(case.module, case.routine, case.flow, each, seconds).prove()
        if proof.complete and not proof.weak:
            return True
    return False


def _is_possible(case: Case, launch: Launch) -> bool:
    """Whether any parameters are as a launch takes them to be."""
    prover = Prover(case.module, case.routine, case.flow, launch)
    return not prover.races.impossible([], ENTRY)


def judge_blocks(case: Case, counts: tuple[int, int], seconds: float) -> KernelVerdict:
    """The verdict where nothing says the block: for every block if there is a proof, or else for usual ones."""
    routine, launch = case.routine, case.launch
    proof = Prover(case.module, routine, case.flow, launch, min(seconds, SECONDS_FOR_EVERY_BLOCK)).prove()
    holds = launch.describe(len(routine.parameters))
    if proof.complete and not proof.weak:
        return KernelVerdict(routine.name, "proven", (), (), holds, *counts)
    found = _by_block(case, counts, seconds)
    if launch.launched and (shown := [each for each in found.values() if each.verdict == "race"]):
        return shown[0]
    racy = found and all(each.verdict == "race" for each in found.values())
    if (
        racy
        and not launch.launched
        and launch.largest[1] == 1
        and fits(case.module, routine, case.flow, launch, WARP)
    ):
        # Kernels for one warp have no barriers: nothing else tells them from those that lack one.
        warp = judge_block(replace(case, launch=launch.with_block(WARP)), counts, seconds / 4)
        if warp.verdict == "proven" and not warp.findings and IN_STEP not in warp.holds_for:
            found[WARP] = warp
    if racy and _is_guessed(case, found.keys()):
        (block,) = found
        text = f"there is a race with blocks of {shown_sizes(block)} threads: give the block (--block)"
        return _undecided(routine, launch, [Reason(text)], counts)
    return together(routine, found, holds, counts)


def _by_block(case: Case, counts: tuple[int, int], seconds: float) -> dict[Block, KernelVerdict]:
    """The verdicts for the blocks of launches, or for usual ones, until one of them settles the matter."""
    launch = case.launch
    blocks = launch.launched or blocks_to_try(case.module, case.routine, case.flow, launch)
    found: dict[Block, KernelVerdict] = {}
    for block in blocks:
        one = replace(case, launch=launch.with_block(block))
        found[block] = judge_block(one, counts, seconds / max(MOST_BLOCKS, len(blocks)))
        verdicts = {each.verdict for each in found.values()}
        if "race" in verdicts if launch.launched else "undecided" in verdicts or len(verdicts) > 1:
            break
    return found


def together(
    routine: Routine, found: Mapping[Block, KernelVerdict], holds: str, counts: tuple[int, int]
) -> KernelVerdict:
    """One verdict from those for several blocks: theirs if they agree.

    That nothing was found but among threads of a warp is no different verdict: blocks of few warps hide races.
    """
    if any(each.verdict == "race" for each in found.values()):
        found = {block: each for block, each in found.items() if not _is_weak(each)}
    verdicts = {each.verdict for each in found.values()}
    if len(verdicts) == 1 and (alike := next(iter(found.values()))).verdict != "undecided":
        sizes = ", ".join(shown_sizes(block) for block in sorted(found, key=prod))
        rest = [each.holds_for.partition("; ")[2] for each in found.values()]
        more = max(rest, key=len)
        said = f"blocks of {sizes} threads" + (f"; {more}" if more else "")
        return replace(alike, holds_for=said)
    reasons = [reason for each in found.values() for reason in each.reasons]
    with_race, without = (
        ", ".join(shown_sizes(block) for block, each in found.items() if each.verdict == verdict)
        for verdict in ("race", "proven")
    )
    if with_race:
        other = f", and none with {without}" if without else ""
        text = f"there is a race with blocks of {with_race} threads{other}: give the block (--block)"
        reasons.insert(0, Reason(text))
    elif without:
        reasons.insert(
            0, Reason(f"there is no race with blocks of {without} threads: give the block (--block)")
        )
    if not found:
        reasons.append(Reason("no usual block keeps its accesses inside shared memory: give the block"))
    kept = tuple(_first_of_each(reasons)[:10])
    return KernelVerdict(routine.name, "undecided", (), kept, holds, *counts)


def _is_guessed(case: Case, blocks: Collection[Block]) -> bool:
    """Whether a single block was tried that nobody has named, and no array of a known size was made for it."""
    variables = (*case.module.variables, *case.routine.variables)
    dynamic = any(each.space == "shared" and each.size is None for each in variables)
    return len(blocks) == 1 and dynamic and case.routine.largest_block not in blocks


def _is_weak(verdict: KernelVerdict) -> bool:
    """Whether a kernel is proven but for threads of one warp."""
    return verdict.verdict == "proven" and (bool(verdict.findings) or IN_STEP in verdict.holds_for)


def _exactly(case: Case, counts: tuple[int, int], seconds: float = EXACT_SECONDS) -> KernelVerdict:
    """The verdict on a kernel with synchronization that only a run follows."""
    launch = case.launch
    if launch.required:
        # Runs make up numbers of their own, which need not be such.
        chosen = satisfying(launch.required, launch.parameters, lambda _: prod(launch.block or (1,)))
        launch = replace(launch, parameters={**(chosen or {}), **launch.parameters})
    found = Judge(case.module, case.routine, case.flow, launch, seconds).decide()
    name = case.routine.name
    return KernelVerdict(
        name, found.verdict, found.findings, found.reasons, found.holds_for, *counts, exact=True
    )


class Runs:
    """Simulated launches of one kernel and what they showed."""

    def __init__(self, case: Case, made_up: MadeUp, seconds: float) -> None:
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
            if each.type[1:] in ("32", "64") and each.type[0] in "bsu" and each.name not in roles.pointers
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

    def _simulated(self, setup: Setup) -> Seen | None:
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
            shorter = replace(setup, parameters=parameters, seconds=min(setup.seconds, self.left))
            seen = simulate(case.module, case.routine, case.flow, shorter)
        except Unfaithful:
            self.faithful = False
            return None
        finally:
            self.left -= time.thread_time() - begin
        seen.chosen = {**required, **seen.chosen}
        self.cut_short |= not seen.finished
        self.late |= not seen.finished
        doubted = [each for each in seen.conflicts if self.made_up.explains(each.places)]
        self.by_data = self.by_data or next((each for each in doubted if each.severity == "error"), None)
        seen.conflicts = [
            each
            for each in seen.conflicts
            if each not in doubted and frozenset(each.places) not in self.beyond_bounds
        ]
        return seen

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

    def _shown(self, setup: Setup, seen: Seen) -> list[Finding]:
        """What a run has shown, with the iterations that it happened in."""
        case = self.case
        asked = case.module, case.routine, case.flow, replace(setup, seconds=QUICK_SECONDS)
        return _findings(case, setup, seen, iterations_of(*asked, seen.conflicts))

    def _hangs_on_numbers(self, setup: Setup, seen: Seen) -> bool:
        """Whether a race is there because of numbers that the run made up, and that a caller may not give."""
        if seen.outside and self.layout:
            return True
        return self._hangs_on_layout(setup, seen) or self._hangs_on_bounds(setup, seen)

    def _hangs_on_bounds(self, setup: Setup, seen: Seen) -> bool:
        """Whether a number that the run made up bounds how far threads go inside of shared memory, and the race is
        gone with a smaller one although the same threads come to the same accesses: rows of an array, of which PTX
        knows nothing, end somewhere. A number with which nothing leaves shared memory, however large, bounds nothing.
        """
        made_up = {**seen.chosen, **setup.parameters}
        names = sorted(made_up.keys() - self.layout - self.case.launch.parameters.keys())
        return not seen.missed and any(
            self._hangs_on(name, made_up[name], setup, seen) for name in names[:MOST_BOUNDS]
        )

    def _hangs_on(self, name: str, number: int, setup: Setup, seen: Seen) -> bool:
        """The same for one of the numbers, the others as they were."""

        def with_value(value: int) -> Seen | None:
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

    def _hangs_on_layout(self, setup: Setup, seen: Seen) -> bool:
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
        thread = thread_number(_thread(block, number), block)
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
            found.append(Reason(f"{text}: give the parameters if that cannot be"))
        if self.by_data is not None:
            text = "two threads store here if data that are loaded let them"
            found.append(Reason(text, self.case.site(self.by_data.places[0])))
        return found


def _same_without(seen: Seen, other: Seen) -> bool:
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


def _findings(case: Case, setup: Setup, seen: Seen, iterations: Iterations) -> list[Finding]:
    found: dict[object, Finding] = {}
    values = {f"block.{axis}": size for axis, size in zip("xyz", setup.block, strict=True)}
    values |= {**seen.chosen, **setup.parameters}
    chosen = tuple(
        name
        for name in values
        if name.partition("+")[0] in {each.name for each in case.routine.parameters}
        and name not in case.launch.parameters
    )
    for missed in seen.missed:
        finding = _divergence(case, setup, missed, values)
        found.setdefault((finding.first.ptx_line, finding.second.ptx_line, "FP002"), finding)
    for conflict in seen.conflicts:
        key = (frozenset(conflict.places), conflict.severity)
        if key not in found:
            found[key] = _race(case, setup, conflict, values, iterations)
    ordered = sorted(found.values(), key=lambda each: (each.severity != "error", each.first.ptx_line))
    return [replace(each, chosen=chosen) for each in ordered[:20]]


def _thread(block: Block, number: int) -> Thread:
    x, y, _ = block
    return number % x, number // x % y, number // (x * y)


def _race(
    case: Case, setup: Setup, conflict: Conflict, values: Mapping[str, int], iterations: Iterations
) -> Finding:
    at = sorted(range(2), key=lambda at: case.position(conflict.places[at]))
    in_one_warp = conflict.severity == "warning" and not conflict.atomic
    first, second = conflict.places[at[0]], conflict.places[at[1]]
    order = order_of(case.flow, (first, second), in_one_warp=in_one_warp)
    copy = conflict.copy
    if order.swapped if copy is None else first != copy.place:
        first, second, at = second, first, at[::-1]
    sites = case.site(first), case.site(second)
    order = replace(order, later=order.later or _is_unrolled(*sites))
    threads = _thread(setup.block, conflict.threads[at[0]]), _thread(setup.block, conflict.threads[at[1]])
    who = [f"thread {thread_number(each, setup.block)}" for each in threads]
    loops = [iterations.get((conflict.times[number], conflict.threads[number])) for number in at]
    variable, offset = _variable(case, conflict.address)
    doing = _doing(case, first), _doing(case, second)
    if copy is None:
        message = (
            f"{two_accesses(threads, doing, setup.block, order.later)} the same {bytes_of(variable)} "
            f"{f'{IN_LATER}, ' if order.later else ''}with no barrier between them"
        )
        if first == second:
            fix = "let one thread store, or use an atomic"
        elif not order.later and _is_update(*sites):
            fix = (
                f"use an atomic: of two threads that update the same bytes at {sites[0]}, one update is lost"
            )
        else:
            fix = _order_fix(order, sites, in_one_warp)
        wait = None
    elif threads[0] == threads[1]:
        message = (
            f"thread {threads[1]} {doing[1]} bytes of {variable} that its own copy may not have written yet"
        )
        fix, wait = f"wait for the copy of {sites[0]} (cp.async.wait_group 0) before {sites[1]}", None
    else:
        what = f"{who[1]} {doing[1]} {bytes_of(variable)}, which the copy of {who[0]}"
        message, fix, wait = _about_copy(case, copy, what, (first, second), order)
    if conflict.severity == "warning":
        message += f" ({'one of the two is atomic' if conflict.atomic else 'both threads are in one warp'})"
    bytes_ = offset, conflict.size
    found = Finding("FP001", conflict.severity, message, *sites, threads, bytes_, values, fix, wait=wait)
    return replace(found, variable=variable, iterations=(loops[0], loops[1]))


def _about_copy(
    case: Case, copy: CopyInRace, what: str, places: tuple[Place, Place], order: RaceOrder
) -> tuple[str, str, Wait | None]:
    """What is wrong where a copy races: it is not waited for, or too late, or there is no barrier after the wait."""
    first, second = map(case.site, places)
    if copy.wait is None and copy.refills and order.without_barrier:
        message = f"{what} may overwrite first, with no barrier between them"
        moved = f"put the copy of {first} after {second}, with __syncthreads() between them"
        return message, f"copy into another buffer, or {moved}", None
    if copy.wait is None:
        message = f"{what} may not have written yet: nothing waits for it"
        wait = f"wait for the copy of {first} (cp.async.wait_group 0)"
        if order.without_barrier:
            return message, f"{wait}, then __syncthreads(), before {second}", None
        return message, f"{wait} before the barrier ahead of {second}", None
    site = case.site(copy.wait)
    if copy.complete:
        message = f"{what} writes, with no barrier after the wait for it"
        later = " of the next iteration" if case.position(copy.wait) > case.position(places[1]) else ""
        fix = f"put __syncthreads() between the wait at {site} and {second}{later}"
        return (
            message,
            fix,
            Wait(site, "the copying thread waits here; others need a barrier after it", False),
        )
    message = f"{what} may not have written yet: the wait at {site} lets it stay in flight"
    count = waits_for_copies(case.flow.blocks[copy.wait.block].instructions[copy.wait.index]) or 0
    newest = "the newest group" if count == 1 else f"the {count} newest groups"
    leaves = f"`{site.instruction}` leaves {newest} in flight; this copy is in the {nth_newest(copy.newest)}"
    more = count - copy.newest + 1
    many = "one group" if more == 1 else f"{more} groups"
    fix = f"wait for {many} more at {site}: `cp.async.wait_group {copy.newest - 1}` instead of {count}"
    return message, fix, Wait(site, leaves)


def _is_update(first: Site, second: Site) -> bool:
    """Whether a line loads a value and stores a new one to the same address, as `count[i]++` does."""
    addresses = [re.search(r"\[([^]]+)\]", each.instruction) for each in (first, second)]
    same = addresses[0] is not None and addresses[1] is not None and addresses[0][1] == addresses[1][1]
    return (
        same and first.source_line == second.source_line and first.instruction[:2] != second.instruction[:2]
    )


def _is_unrolled(first: Site, second: Site) -> bool:
    """Whether code of an earlier line comes later: two iterations of a loop that the compiler has written out."""
    lines = [each.source_line for each in (first, second) if not each.inlined_at]
    same = first.source_file == second.source_file
    return same and len(lines) == 2 and (lines[0] or 0) > (lines[1] or 0)


def _order_fix(order: RaceOrder, sites: tuple[Site, Site], in_one_warp: bool) -> str:
    """What puts two accesses in order."""
    sync = "__syncwarp()" if in_one_warp else "__syncthreads()"
    if order.later:
        return (
            f"put {sync} between {sites[0]} and {sites[1]} of the next iteration: at either end of the loop"
        )
    return f"put {sync} between {sites[0]} and {sites[1]}"


def _doing(case: Case, place: Place) -> str:
    kinds = [each.kind for each in effect(case.flow.blocks[place.block].instructions[place.index]).accesses]
    words = {"read": "reads", "write": "writes", "atomic": "updates", "copy": "copies into"}
    return words[kinds[0]] if kinds else "uses"


def _variable(case: Case, address: int) -> tuple[SharedVariable | None, int]:
    for each in placed_variables(case.module, case.routine)[1]:
        if each.start <= address < each.start + each.size:
            return SharedVariable(each.name, each.size), address - each.start
    return None, address


def _divergence(case: Case, setup: Setup, missed: Missed, values: Mapping[str, int]) -> Finding:
    sites = [case.site(place) for place in missed.places]
    threads = [_thread(setup.block, each) for each in missed.threads]
    who = [f"thread {thread_number(each, setup.block)}" for each in threads]
    message = (
        f"threads of one block wait at different barriers: {who[0]} at {sites[0]}, {who[1]} at {sites[1]}"
    )
    if missed.parted:
        message = f"{who[1]} waits at a barrier that {who[0]} does not reach with it: they part at {sites[0]}"
    fix = "move the barrier out of the condition, so that all threads of the block reach it"
    return Finding("FP002", "error", message, sites[0], sites[1], (threads[0], threads[1]), None, values, fix)


def _reason(refusal: NotJudged) -> Reason:
    return Reason(refusal.message, refusal.instruction.site if refusal.instruction is not None else None)


def _reasons(case: Case, proof: Proof, late: bool) -> list[Reason]:
    shown = "no run has shown it in time" if late else "no run shows it"
    found = [_reason(each) for each in proof.refused]
    for doubt in proof.doubts:
        branch = case.flow.blocks[doubt.branch].instructions
        text = f"threads may part before a barrier, but {shown}"
        found.append(Reason(text, branch[-1].site if branch else case.site(doubt.barrier)))
    for candidate in proof.candidates:
        text = f"may meet the access at {case.site(candidate.second.reached.place)}, but {shown}"
        found.append(Reason(text, case.site(candidate.first.reached.place)))
    for first, second in proof.open:
        text = f"not decided in time against the access at {case.site(second.reached.place)}"
        found.append(Reason(text, case.site(first.reached.place)))
    return _first_of_each(found)[:10]


def _first_of_each(reasons: list[Reason]) -> list[Reason]:
    found: dict[object, Reason] = {}
    for each in reasons:
        found.setdefault((each.message, each.site.ptx_line if each.site else 0), each)
    return list(found.values())


def _undecided(
    routine: Routine, launch: Launch, reasons: list[Reason], counts: tuple[int, int]
) -> KernelVerdict:
    holds = launch.describe(len(routine.parameters))
    return KernelVerdict(routine.name, "undecided", (), tuple(reasons), holds, counts[0], counts[1])
