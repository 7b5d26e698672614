"""The verdict on a kernel: proven if every question has its answer, a race if a run shows one, otherwise
undecided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.hosts.ptx.effects import effect
from fencepost.hosts.ptx.exact.verdict import Judge
from fencepost.hosts.ptx.flow import Flow, NotJudged
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.launch import Launch, launch_of, parameter_key
from fencepost.hosts.ptx.module import Module, Operand, Routine, Special
from fencepost.hosts.ptx.observed import Conflict
from fencepost.hosts.ptx.prove import Proof, Prover, places
from fencepost.hosts.ptx.simulate import Missed, Seen, Setup, Unfaithful, simulate
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Reason, Site, Thread

USUAL_BLOCKS = ((256, 1, 1), (128, 1, 1), (64, 1, 1), (512, 1, 1), (32, 1, 1))
"""Blocks that a kernel is tried with if none is given; the proof is for all of them."""
USUAL_ROWS = ((16, 16, 1), (32, 8, 1), (32, 32, 1))


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


def judge(
    module: Module, routine: Routine, block: tuple[int, int, int] | None, params: Mapping[str, int]
) -> KernelVerdict:
    """The verdict on one kernel."""
    launch = launch_of(routine, block, params, axes_of(routine))
    try:
        flow = Flow(routine)
    except NotJudged as refusal:
        return _undecided(routine, launch, [_reason(refusal)], (0, 0))
    case = Case(module, routine, flow, launch)
    effects = [(instruction, effect(instruction)) for _, instruction in places(flow)]
    barriers = sum(found.barrier == "block" for _, found in effects)
    accesses = sum(len(found.accesses) for _, found in effects if not all(a.generic for a in found.accesses))
    refused = [
        Reason(f"{found.refused} is not judged", instruction.site)
        for instruction, found in effects
        if found.refused
    ]
    if refused:
        return _exactly(case, (barriers, accesses))
    counts = (barriers, accesses)
    runs = Runs(case)
    runs.usual()
    if runs.show_a_race:
        return runs.race(counts)
    proof = Prover(module, routine, flow, launch).prove()
    if proof.complete:
        weak = bool(proof.weak or runs.findings)
        holds = launch.describe(len(routine.parameters)) + (
            "; if the threads of a warp run in step" if weak else ""
        )
        return KernelVerdict(routine.name, "proven", tuple(runs.findings), (), holds, barriers, accesses)
    runs.suggested(proof)
    if runs.show_a_race:
        return runs.race(counts)
    reasons = [*runs.reasons(), *_reasons(case, proof)]
    if launch.block is not None and not runs.reasons():
        exactly = _exactly(case, counts)
        if exactly.verdict != "undecided":
            return exactly
    return _undecided(routine, launch, reasons, counts)


def _exactly(case: Case, counts: tuple[int, int]) -> KernelVerdict:
    """The verdict on a kernel with synchronization that only a run follows."""
    found = Judge(case.module, case.routine, case.flow, case.launch).decide()
    name = case.routine.name
    return KernelVerdict(name, found.verdict, found.findings, found.reasons, found.holds_for, *counts)


class Runs:
    """Simulated launches of one kernel and what they showed."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.findings: list[Finding] = []
        """Of the first run that showed an error, or else of the first that showed anything."""
        self.errors = False
        self.racy: set[tuple[int, int, int]] = set()
        self.clean: set[tuple[int, int, int]] = set()
        self.unusual: Setup | None = None
        """A launch that shows a race, with parameters that only a solver came up with."""
        self.faithful = True

    @property
    def show_a_race(self) -> bool:
        """Whether there is a race with the block that is given, or with every block that was tried."""
        return bool(self.racy) and not self.clean

    def usual(self) -> None:
        """Runs the kernel with its block, or with blocks that are usual, and with usual sizes."""
        launch = self.case.launch
        if launch.block is not None:
            count = launch.block[0] * launch.block[1] * launch.block[2]
            for setup in (
                Setup(launch.block, launch.parameters, count),
                Setup(launch.block, {**_last_block(launch.block, 1000), **launch.parameters}, 1000),
                Setup(launch.block, launch.parameters, 4 * count),
            ):
                if self.faithful and not self.errors:
                    self._run(setup, True)
            self.clean.clear()
            return
        for block in USUAL_ROWS if launch.largest[1] > 1 else USUAL_BLOCKS:
            count = block[0] * block[1] * block[2]
            if self.faithful and count <= max(launch.largest):
                self._run(Setup(block, launch.parameters, count), True)

    def suggested(self, proof: Proof) -> None:
        """Runs the kernel with the values that the solver found."""
        launch = self.case.launch
        for values in _models(proof):
            block = launch.block
            if block is None or not self.faithful or self.errors:
                return
            parameters = {**_parameters(self.case.routine, values), **launch.parameters}
            self._run(Setup(block, parameters), parameters == launch.parameters)
        if launch.block is None:
            return
        count = launch.block[0] * launch.block[1] * launch.block[2]
        for seed in range(2, 8):
            if self.faithful and not self.errors and (proof.candidates or proof.doubts):
                self._run(Setup(launch.block, launch.parameters, count, seed), True)

    def _run(self, setup: Setup, usual: bool) -> None:
        case = self.case
        try:
            seen = simulate(case.module, case.routine, case.flow, setup)
        except Unfaithful:
            self.faithful = False
            return
        findings = _findings(case, setup, seen)
        errors = any(each.severity == "error" for each in findings)
        if errors and not usual:
            self.unusual = self.unusual or setup
            return
        if findings and (not self.findings or (errors and not self.errors)):
            self.findings = findings
        self.errors |= errors
        if errors:
            self.racy.add(setup.block)
        elif seen.finished and not seen.outside and not findings:
            self.clean.add(setup.block)

    def race(self, counts: tuple[int, int]) -> KernelVerdict:
        """The verdict after a race was seen."""
        holds = self.case.launch.describe(len(self.case.routine.parameters))
        return KernelVerdict(self.case.routine.name, "race", tuple(self.findings), (), holds, *counts)

    def reasons(self) -> list[Reason]:
        """Races that were seen, but not with every launch."""
        found = []
        if self.racy:
            racy = ", ".join("x".join(map(str, block)) for block in sorted(self.racy))
            found.append(
                Reason(f"there is a race with blocks of {racy} threads, not with others: give the block")
            )
        if self.unusual is not None:
            said = ", ".join(f"{name} = {value}" for name, value in self.unusual.parameters.items())
            found.append(Reason(f"there is a race if {said}: give the parameters if that cannot be"))
        return found


def _last_block(block: tuple[int, int, int], number: int) -> dict[str, int]:
    """The last block of a launch over so many elements, some of whose threads have nothing to do."""
    return {"ctaid.x": number // block[0], "ctaid.y": number // max(block) if block[1] > 1 else 0}


def _models(proof: Proof) -> list[dict[str, int]]:
    found = [each.values for each in proof.candidates][:2]
    found += [each.values for each in proof.doubts if each.values][:1]
    return [values for values in found if all(value < 1 << 16 for value in values.values())]


def _parameters(routine: Routine, values: Mapping[str, int]) -> dict[str, int]:
    """The parameters and block numbers in a solver's model."""
    found = {}
    for name, value in values.items():
        base = name.partition("+")[0]
        if name.startswith("ctaid.") or (parameter_key(routine, base) == base and not base.isdigit()):
            found[name] = value
    return found


def _findings(case: Case, setup: Setup, seen: Seen) -> list[Finding]:
    found: dict[object, Finding] = {}
    values = {f"block.{axis}": size for axis, size in zip("xyz", setup.block, strict=True)}
    values |= dict(setup.parameters)
    for missed in seen.missed:
        finding = _divergence(case, setup, missed, values)
        found.setdefault((finding.first.ptx_line, finding.second.ptx_line, "FP002"), finding)
    for conflict in seen.conflicts:
        key = (frozenset(conflict.places), conflict.severity)
        if key not in found:
            found[key] = _race(case, setup, conflict, values)
    ordered = sorted(found.values(), key=lambda each: (each.severity != "error", each.first.ptx_line))
    return ordered[:20]


def _thread(setup: Setup, number: int) -> Thread:
    x, y, _ = setup.block
    return number % x, number // x % y, number // (x * y)


def _race(case: Case, setup: Setup, conflict: Conflict, values: Mapping[str, int]) -> Finding:
    order = sorted(range(2), key=lambda at: case.site(conflict.places[at]).ptx_line)
    places_, threads = [conflict.places[at] for at in order], [conflict.threads[at] for at in order]
    sites = [case.site(place) for place in places_]
    doing = [_doing(case, place) for place in places_]
    variable, offset = _variable(case, conflict.address)
    first, second = (_thread(setup, each) for each in threads)
    message = (
        f"thread {first} {doing[0]} and thread {second} {doing[1]} the same bytes of {variable} "
        "with no barrier between them"
    )
    if conflict.severity == "warning":
        why = "one of the two is atomic" if conflict.atomic else "both threads are in one warp"
        message += f" ({why})"
    sync = "__syncwarp()" if conflict.severity == "warning" and not conflict.atomic else "__syncthreads()"
    same = places_[0] == places_[1]
    fix = (
        "let one thread store, or use an atomic" if same else f"put {sync} between {sites[0]} and {sites[1]}"
    )
    return Finding(
        "FP001",
        conflict.severity,
        message,
        sites[0],
        sites[1],
        (first, second),
        (offset, conflict.size),
        values,
        fix,
    )


def _doing(case: Case, place: Place) -> str:
    kinds = [each.kind for each in effect(case.flow.blocks[place.block].instructions[place.index]).accesses]
    words = {"read": "reads", "write": "writes", "atomic": "updates", "copy": "copies into"}
    return words[kinds[0]] if kinds else "touches"


def _variable(case: Case, address: int) -> tuple[str, int]:
    from fencepost.hosts.ptx.simulate import Simulation

    memory = Simulation(case.module, case.routine, case.flow, Setup((1, 1, 1))).memory
    found = memory.variable_at(address)
    if found is None:
        return "shared memory", address
    return (found.name if found.name.startswith("dynamic") else f"`{found.name}`"), address - found.start


def _divergence(case: Case, setup: Setup, missed: Missed, values: Mapping[str, int]) -> Finding:
    sites = [case.site(place) for place in missed.places]
    threads = [_thread(setup, each) for each in missed.threads]
    message = (
        f"threads of one block wait at different barriers: thread {threads[0]} at {sites[0]}, "
        f"thread {threads[1]} at {sites[1]}"
    )
    if missed.parted:
        message = (
            f"thread {threads[1]} waits at a barrier that thread {threads[0]} does not reach with it: "
            f"they part at {sites[0]}"
        )
    fix = "move the barrier out of the condition, so that all threads of the block reach it"
    return Finding("FP002", "error", message, sites[0], sites[1], (threads[0], threads[1]), None, values, fix)


def _reason(refusal: NotJudged) -> Reason:
    return Reason(refusal.message, refusal.instruction.site if refusal.instruction is not None else None)


def _reasons(case: Case, proof: Proof) -> list[Reason]:
    found = [_reason(each) for each in proof.refused]
    for doubt in proof.doubts:
        branch = case.flow.blocks[doubt.branch].instructions
        text = "threads may part before a barrier, but no run shows it"
        found.append(Reason(text, branch[-1].site if branch else case.site(doubt.barrier)))
    for candidate in proof.candidates:
        text = f"may meet the access at {case.site(candidate.second.reached.place)}, but no run shows it"
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
