"""The verdict on a kernel: proven if every question has its answer, a race if a run shows one, otherwise
undecided."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import prod

from fencepost.hosts.ptx.constant_tables import with_tables
from fencepost.hosts.ptx.exact.verdict import SECONDS as EXACT_SECONDS
from fencepost.hosts.ptx.exact.verdict import Judge, with_its_numbers
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.local_memory import followed
from fencepost.hosts.ptx.expressions.parameter_roles import roles_of
from fencepost.hosts.ptx.launches.launch import IN_STEP, Assumption, Given, Launch, launch_of
from fencepost.hosts.ptx.launches.preconditions import satisfying
from fencepost.hosts.ptx.launches.thread_names import shown_sizes
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch, axes_of
from fencepost.hosts.ptx.proof.prove import SECONDS, Proof, Prover, places
from fencepost.hosts.ptx.proof.scattered import with_scattered_stores
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import ENTRY, Flow, NotJudged
from fencepost.hosts.ptx.reading.inline_calls import inlined
from fencepost.hosts.ptx.reading.kernel_names import plain_name
from fencepost.hosts.ptx.reading.module import Instruction, Module, Routine
from fencepost.hosts.ptx.runs.global_findings import add_global_races, add_races_of_runs
from fencepost.hosts.ptx.runs.made_up_data import DataDependence
from fencepost.hosts.ptx.runs.simulated_launches import QUICK_SECONDS, Runs
from fencepost.hosts.ptx.runs.usual_blocks import MOST_BLOCKS, Block, blocks_to_try, fits
from fencepost.hosts.ptx.verdicts import (
    KernelVerdict,
    Reason,
)
from fencepost.ir.source import FencepostError

SLOW_SECONDS = 2.0
SHARE_OF_RUNS, SHARE_OF_EXACT_RUNS, SHARE_OF_SCATTERED = 0.5, 0.4, 0.25
"""Of the seconds for a proof, so many more for runs that look for a race, for one that decides, and for all threads
side by side."""
WARP: Block = (32, 1, 1)
SECONDS_FOR_EVERY_BLOCK = 6.0


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
        routine, tables = with_tables(module, routine, flow)
        flow = Flow(routine) if tables else flow
    except NotJudged as refusal:
        return _undecided(routine, launch, [_reason(refusal)], (0, 0))
    _refuse_pointers(routine, flow, launch)
    case = KernelAndLaunch(module, routine, flow, launch)
    effects = [(instruction, effect(instruction)) for _, instruction in places(flow)]
    barriers = sum(found.barrier == "block" or _is_a_barrier(each) for each, found in effects)
    accesses = sum(len(found.accesses) for _, found in effects if not all(a.generic for a in found.accesses))
    found = _judged(case, (barriers, accesses), seconds)
    if tables:
        held = ", ".join(map(plain_name, tables))
        found = replace(found, holds_for=f"{found.holds_for}; with the initial values of {held}")
    barriers = len(
        {each.written for each, found in effects if found.barrier == "block" or _is_a_barrier(each)}
    )
    shared = [each.written for each, found in effects if found.accesses]
    return replace(found, written_barriers=barriers, has_copies=len(shared) > len(set(shared)))


def _judged(case: KernelAndLaunch, counts: tuple[int, int], seconds: float) -> KernelVerdict:
    """The verdict on a kernel: by a run, if there is synchronization that only a run follows."""
    if any(effect(instruction).refused for _, instruction in places(case.flow)):
        return with_global_races(case, _exactly(case, counts))
    if case.launch.block is not None:
        return with_global_races(case, judge_block(case, counts, seconds))
    return judge_blocks(case, counts, seconds)


def _refuse_pointers(routine: Routine, flow: Flow, launch: Launch) -> None:
    """Numbers that were given for pointers would do nothing."""
    for name in sorted(roles_of(flow).addresses & launch.parameters.keys()):
        number = name.rpartition("_param_")[2]
        text = f"parameter {number} of {plain_name(routine.name)} is a pointer: --param gives numbers"
        raise FencepostError(text, code="FP104")


def _is_a_barrier(instruction: Instruction) -> bool:
    """Whether it waits at a barrier of a cluster, or at one of some threads of the block."""
    if instruction.parts[:2] == ("barrier", "cluster"):
        return "wait" in instruction.parts
    return instruction.name in ("bar", "barrier") and not {"warp", "arrive"} & {*instruction.parts}


def with_global_races(case: KernelAndLaunch, verdict: KernelVerdict) -> KernelVerdict:
    """The verdict on shared memory, and races in global memory that happen with every launch."""
    if case.launch.block is None:
        return verdict
    evaluator = Evaluator(case.module, case.routine, case.flow, case.launch)
    found = add_global_races(verdict, evaluator, case.launch.block)
    return add_races_of_runs(found, case) if case.launch.any_input and found.verdict != "race" else found


def judge_block(case: KernelAndLaunch, counts: tuple[int, int], seconds: float) -> KernelVerdict:
    """The verdict for one block: quick runs, the proof, and if that fails runs that look closer."""
    routine, launch = case.routine, case.launch
    prover = Prover(case.module, routine, case.flow, launch, seconds)
    runs = Runs(case, DataDependence(case.flow, prover.takes_alike), SHARE_OF_RUNS * seconds)
    runs.usual(QUICK_SECONDS)
    if runs.show_a_race:
        return runs.race(counts)
    proof = prover.prove()
    if proof.open and launch.required:
        # Remainders are hard for a solver: what is required may not even be needed.
        free = replace(launch, required=())
        proof = Prover(case.module, routine, case.flow, free, seconds).prove()
    proof = with_scattered_stores(prover, proof, SHARE_OF_SCATTERED * seconds)
    if proof.complete:
        holds = launch.describe(len(routine.parameters))
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
            reasons.insert(0, with_its_numbers(exactly.findings[0]))
        elif exactly.verdict != "undecided":
            return exactly
    return replace(_undecided(routine, launch, reasons, counts), cut_short=runs.late)


def _made_up_layout(case: KernelAndLaunch) -> bool:
    """Whether a run has to make up numbers that shared memory is laid out by: they may not fit the block."""
    return not roles_of(case.flow).layout <= case.launch.parameters.keys()


def _all_numbers_given(case: KernelAndLaunch) -> bool:
    """Whether the user has given every parameter that is not a pointer."""
    pointers = roles_of(case.flow).pointers
    return all(
        each.name in case.launch.parameters for each in case.routine.parameters if each.name not in pointers
    )


def _assuming(case: KernelAndLaunch, proof: Proof, reached: set[Place], seconds: float) -> Launch | None:
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
        if _is_proven(case, assumed, seconds) and _happen_inside(case, assumed, asked):
            return assumed
    return None


def _happen_inside(case: KernelAndLaunch, launch: Launch, asked: Collection[Place]) -> bool:
    """Whether accesses can be inside of their variables under a launch: if none can, nothing is proven about them."""
    return Prover(case.module, case.routine, case.flow, launch).races.happens_somewhere(asked)


def _is_proven(case: KernelAndLaunch, launch: Launch, seconds: float) -> bool:
    """Whether there is a proof for a launch, without what is required or with it; not one that is about nothing."""
    if launch.required and not _is_possible(case, launch):
        return False
    for each in [replace(launch, required=()), *([launch] if launch.required else [])]:
        proof = Prover(case.module, case.routine, case.flow, each, seconds).prove()
        if proof.complete and not proof.weak:
            return True
    return False


def _is_possible(case: KernelAndLaunch, launch: Launch) -> bool:
    """Whether any parameters are as a launch takes them to be."""
    prover = Prover(case.module, case.routine, case.flow, launch)
    return not prover.races.impossible([], ENTRY)


def judge_blocks(case: KernelAndLaunch, counts: tuple[int, int], seconds: float) -> KernelVerdict:
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
        if warp.verdict == "proven" and not warp.findings:
            found[WARP] = warp
    if racy and _is_guessed(case, found.keys()):
        (block,) = found
        text = f"there is a race with blocks of {shown_sizes(block)} threads: give the block (--block)"
        return _undecided(routine, launch, [Reason(text, seen=True)], counts)
    late = any(each.cut_short for each in found.values())
    return replace(together(routine, found, holds, counts), cut_short=late)


def _by_block(case: KernelAndLaunch, counts: tuple[int, int], seconds: float) -> dict[Block, KernelVerdict]:
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
        reasons.insert(0, Reason(text, seen=True))
    elif without:
        reasons.insert(
            0, Reason(f"there is no race with blocks of {without} threads: give the block (--block)")
        )
    if not found:
        reasons.append(Reason("no usual block keeps its accesses inside shared memory: give the block"))
    kept = tuple(_first_of_each(reasons)[:10])
    return KernelVerdict(routine.name, "undecided", (), kept, holds, *counts)


def _is_guessed(case: KernelAndLaunch, blocks: Collection[Block]) -> bool:
    """Whether a single block was tried that nobody has named, and no array of a known size was made for it."""
    variables = (*case.module.variables, *case.routine.variables)
    dynamic = any(each.space == "shared" and each.size is None for each in variables)
    return len(blocks) == 1 and dynamic and case.routine.largest_block not in blocks


def _is_weak(verdict: KernelVerdict) -> bool:
    """Whether a kernel is proven but for warnings, or if the threads of a warp run in step."""
    return verdict.verdict == "proven" and (bool(verdict.findings) or IN_STEP in verdict.holds_for)


def _exactly(case: KernelAndLaunch, counts: tuple[int, int], seconds: float = EXACT_SECONDS) -> KernelVerdict:
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


def _reason(refusal: NotJudged) -> Reason:
    return Reason(refusal.message, refusal.instruction.site if refusal.instruction is not None else None)


def _reasons(case: KernelAndLaunch, proof: Proof, late: bool) -> list[Reason]:
    shown = "no run has shown it in time" if late else "no run shows it"
    found = [_reason(each) for each in proof.refused]
    for doubt in proof.doubts:
        branch = case.flow.blocks[doubt.branch].instructions
        text = f"threads may part before a barrier, but {shown}"
        found.append(Reason(text, branch[-1].site if branch else case.site(doubt.barrier)))
    for candidate in proof.candidates:
        other = case.site(candidate.second.reached.place)
        text = f"may touch the same bytes as the access at {other}, with no barrier between them, but {shown}"
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
