"""The verdict on a kernel from exact runs: proven for the launches that were run, a race, or why neither."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.accesses import Found
from fencepost.hosts.ptx.exact.address_slice import AddressSlice
from fencepost.hosts.ptx.exact.concrete_runs import certain, concrete_setups
from fencepost.hosts.ptx.exact.data_dependent_branches import BranchChoices
from fencepost.hosts.ptx.exact.dead_blocks import DeadBlocks
from fencepost.hosts.ptx.exact.findings import Findings
from fencepost.hosts.ptx.exact.made_up_values import BLOCKS
from fencepost.hosts.ptx.exact.mbarrier_causes import with_cause
from fencepost.hosts.ptx.exact.other_ways import OtherWays
from fencepost.hosts.ptx.exact.problems import (
    DataDependentAddress,
    DependsOnData,
    DependsOnTestWait,
    NotExact,
    Problem,
    TooLong,
)
from fencepost.hosts.ptx.exact.registers_in_flight import read_too_early
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.exact.tensor_boxes import boxes_that_fit
from fencepost.hosts.ptx.exact.thread_registers import PARAMETER_ROOM, PARAMETERS
from fencepost.hosts.ptx.exact.ways import Way
from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.launches.launch import BOX, IN_STEP, Launch
from fencepost.hosts.ptx.launches.thread_names import shown_sizes
from fencepost.hosts.ptx.proof.global_atomics import every_load_beside_global_atomics
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch
from fencepost.hosts.ptx.reading.arithmetic import signed
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Module, Routine
from fencepost.hosts.ptx.runs.made_up_data import DataDependence
from fencepost.hosts.ptx.runs.simulation_setup import Setup
from fencepost.hosts.ptx.verdicts import OTHER_WAYS, Finding, Reason
from fencepost.report.words import plural

NUMBERS = (24, 200, 1536)
"""What integer parameters are, where nothing is said about them: larger and larger, until loops go round often."""
MORE_NUMBERS = (23, 26, 1, 3, 7, 100, 1027)
"""What they are besides, until every access and every barrier has been reached: remainders of unrolled loops."""
ODD = 29
"""A number with a remainder whatever it is divided by: rings and unrolled loops may not come to an end with it."""
FEW = 3
"""What one of several parameters is beside larger ones: where all have one number, quotients are 1, differences 0."""
MOST_APART = 4
"""So many parameters are few in turn."""
MANY_ROUNDS = 8
"""And so many times the threads, where these go over an array together."""
ENOUGH_ROUNDS = 16
OTHER_BLOCK = 3
"""The number of a second block that is run, if the number of the block matters."""
SECONDS = 30.0
SECONDS_FOR_ANOTHER_WAY = 3.0
MOST_SECONDS_AGAIN = 5.0
"""For a run that is repeated for the words of its report."""
WAYS_SECONDS = 10.0
"""For the runs of one launch, if data may lead several ways."""
MOST_REASONS = 10
MOST_SAID = 4
"""Runs for other ways whose numbers are named."""
CLUSTERS = ("cluster", "nclusterid", "is_explicit_cluster")
OF_A_BLOCK = ("ctaid.", "clusterid.")
"""Special registers that tell which block, or which cluster, is run."""


@dataclass
class ExactVerdict:
    """What exact runs say of a kernel."""

    verdict: Literal["proven", "race", "undecided"]
    holds_for: str
    findings: tuple[Finding, ...] = ()
    reasons: tuple[Reason, ...] = ()


@dataclass
class Judge:
    """Runs one kernel and words what the runs show."""

    module: Module
    routine: Routine
    flow: Flow
    launch: Launch
    seconds: float = SECONDS
    """Processor time for all runs together."""
    needed: AddressSlice = field(init=False)
    """What the way of the threads depends on."""
    valued: AddressSlice = field(init=False)
    """What is stored in shared memory besides."""
    end: float = field(init=False)
    is_plain: bool = field(init=False)
    """Whether `__syncthreads()` and barriers of warps are all that synchronizes: the former is for all threads."""
    dead: DeadBlocks = field(init=False)
    changing: frozenset[tuple[int, int]] = field(init=False)
    """Loads beside the kernel's own atomics of global memory."""
    boxes: dict[object, int] = field(default_factory=dict)
    ran: list[Setup] = field(default_factory=list)
    reached: set[Place] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    """Parameters that what is stored depends on, in a run that shows a race."""
    choices: BranchChoices = field(default_factory=BranchChoices)
    """Of the last run."""
    by_data: bool = False
    """Whether runs were made for the ways that data may lead."""
    rounds: int = 0
    """How often a thread of the last run went round a loop."""
    data_dependent: bool = False
    """Whether addresses depend on data."""
    shown: Findings = field(init=False)
    too_early: list[Problem] = field(init=False)
    """Registers that are read before they are filled."""
    last: Run = field(init=False)
    """The last run."""
    taken: set[Way] = field(default_factory=set)
    """The ways that threads have gone in some run."""
    special: list[Mapping[str, int]] = field(default_factory=list)
    """Numbers of runs that were made for other ways."""
    left_out: list[Mapping[str, int]] = field(default_factory=list)
    """Those for which nothing is proven."""

    def __post_init__(self) -> None:
        self.needed = AddressSlice(self.flow, False)
        if self.needed.loads_shared:
            # What threads hand over in shared memory decides as well.
            self.needed = AddressSlice(self.flow, True, addresses=False)
        self.valued = AddressSlice(self.flow, True, self.needed)
        self.shown = Findings(self.flow, self.needed, self.launch.warp_synchronous)
        self.end = time.thread_time() + self.seconds
        self.is_plain = not any(
            effect(each).refused for block in self.flow.blocks for each in block.instructions
        )
        self.dead = DeadBlocks(self.module, self.routine, self.flow, self.launch)
        evaluator = Evaluator(self.module, self.routine, self.flow, self.launch)
        self.changing = frozenset(every_load_beside_global_atomics(evaluator, ClosedForms(evaluator)))
        self.too_early, perhaps = read_too_early(self.flow)
        for each in perhaps:
            self.shown.doubt(f"on some way, {each.message}", each.places[1])

    @property
    def is_for_every_launch(self) -> bool:
        """Whether a run depends on no parameter and not on the number of the block."""
        return not self._open() and not any(each.startswith(BLOCKS) for each in self.needed.specials)

    def _left(self) -> float:
        return max(self.end - time.thread_time(), 0.0)

    def decide(self) -> ExactVerdict:
        """The verdict."""
        why_not = self._not_run()
        if why_not:
            return self._undecided(why_not)
        for setup in self._setups():
            if self.shown.errors:
                break
            try:
                self._run_each_way(setup)
            except NotExact as why:
                self.shown.doubt(why.message, why.place)
                self.shown.by_data |= isinstance(why, DependsOnData)
                self.ran.append(setup)
                if isinstance(why, DependsOnTestWait):
                    self._run_with_test_waits(setup)
                break
            self.ran.append(setup)
        if self._numbers_matter() and not (self.shown.errors or self.shown.doubts):
            self._run_other_ways()
        if self.shown.by_data:
            self._run_with_numbers_in_memory()
        chosen = tuple(sorted(self._open()))
        shown = [replace(each, chosen=chosen) for each in self.shown.most_telling()]
        if any(each.severity == "error" for each in shown):
            return ExactVerdict("race", self._holds(False), tuple(shown))
        doubts = self.shown.doubts
        if self._numbers_matter() and not doubts:
            # A proof for some parameters says nothing of instructions that other parameters would reach.
            doubts += [
                Reason("no run reaches this instruction", self.shown.site(each)) for each in self._unreached()
            ]
        if doubts:
            return self._undecided(doubts)
        return ExactVerdict("proven", self._holds(bool(shown)), tuple(shown))

    def _run_each_way(self, setup: Setup) -> None:
        """A run for each way that data may lead, until one shows something."""
        for found, choices in self._each_way(setup):
            found.problems = with_cause(self.last, found, self._again)
            self._note_releases(found)
            self.shown.add(self.last, found, self._relevant() | self.numbers)
            if choices and self.shown.more_than_fences:
                # Perhaps no data lead there.
                self.shown.only_on_a_way(choices)
                self.shown.by_data = True
                break

    def _note_releases(self, found: Found) -> None:
        """What threads that race have waited for last: the run once more, since most runs show nothing."""
        if self.choices or all(each.proxy for each in found.clashes):
            return
        again = self._again(MOST_SECONDS_AGAIN)
        again.clocks.releases = self.last.clocks.releases = {}
        with suppress(NotExact):
            again.execute_all()

    def _again(self, seconds: float) -> Run:
        """The last run once more."""
        setup = replace(self.last.setup, seconds=max(min(seconds, self._left()), 0.0))
        return Run(self.module, self.routine, self.flow, setup, self.last.needed, self.last.bulk.boxes)

    def _numbers_matter(self) -> bool:
        """Whether runs depend on numbers that are not given."""
        return bool(self._open()) or any(each.startswith(OF_A_BLOCK) for each in self.needed.specials)

    def _run_other_ways(self) -> None:
        """Runs with numbers that lead threads where no run has come, or for another reason."""
        odd = {name: ODD for name in self.needed.parameters if name.partition("+")[0] in self._open()}
        if odd:
            self._run_with_special(odd)
        ways = OtherWays(KernelAndLaunch(self.module, self.routine, self.flow, self.launch), self.needed)
        for way in list(ways.untaken(self.taken)):
            if way in self.taken or self.shown.errors or self.shown.doubts:
                continue
            numbers = ways.numbers(way)
            if numbers is not None:
                self._run_with_special(numbers)

    def _run_with_special(self, numbers: Mapping[str, int]) -> None:
        """A run with numbers that runs are not usually made with.

        Sizes of nothing may not be meant: where they go wrong, the verdict leaves them out. Sizes that are no
        multiples of anything, or do not go with each other, may not be meant either: they leave the kernel open."""
        usual, self.shown = self.shown, Findings(self.flow, self.needed, self.launch.warp_synchronous)
        reached, ended, outside = set(self.reached), True, False
        setup = self._setup({**numbers, **self.launch.parameters}, NUMBERS[0])
        try:
            self._run_each_way(replace(setup, seconds=min(setup.seconds, SECONDS_FOR_ANOTHER_WAY)))
            # A proof takes it that accesses stay inside of their variables.
            outside = self.last.found.outside is not None
        except TooLong:
            ended = False
        except NotExact as why:
            self.shown.doubt(why.message, why.place)
        seen, self.shown = self.shown, usual
        of_launch = [each for name, each in numbers.items() if not name.startswith(BLOCKS)]
        is_clean = ended and not (outside or seen.errors or seen.doubts)
        self.reached = self.reached if is_clean else reached
        if outside:
            return
        if not (seen.errors or seen.doubts):
            self.special += [numbers] if ended else []
            self.shown.findings |= seen.findings
        elif any(each == 0 or each >> 31 for each in of_launch):
            self.left_out.append(numbers)
        elif len(of_launch) > 1 or ODD in of_launch:
            self.shown.doubts += [with_its_numbers(each) for each in seen.findings.values() if seen.errors]
        else:
            self.shown.findings |= seen.findings
            self.shown.doubts += seen.doubts

    def _run_with_test_waits(self, setup: Setup) -> None:
        """A run in which waits that are tried once succeed: accesses that meet there do, if it comes to an end."""
        try:
            found = self._run(replace(setup, test_waits_succeed=True, seconds=self._left()), ())
        except NotExact:
            return
        if not self.choices and not any(each.code == "FP002" for each in found.problems):
            # A test wait may well miss its phase.
            self.shown.add(self.last, Found(found.clashes), self._relevant() | self.numbers)

    def _run_with_numbers_in_memory(self) -> None:
        """Runs with data, where it depends on them whether accesses meet: what these show is there for those data."""
        data = DataDependence(self.flow, lambda _: False)
        needed = AddressSlice(self.flow, True)
        more = Findings(self.flow, needed, self.launch.warp_synchronous)
        for setup in concrete_setups(self.flow, self.ran):
            if more.errors:
                break
            try:
                found = self._run_with(replace(setup, seconds=self._left()), needed, ())
            except NotExact:
                continue
            more.add(self.last, certain(found, data, self.last.place_of), _names(needed) - self._maps())
        self.shown.findings |= more.findings

    def _not_run(self) -> list[Reason]:
        """Why there is nothing to run, if so."""
        for at, why in self.needed.refused.items():
            return [Reason(f"{why} is not judged", self.shown.site(at))]
        groups = self._tensor_groups()
        if len(groups) > 1:
            text = "`tcgen05` of one block and of two in one kernel (`.cta_group`), which PTX rules out"
            return [Reason(text, self.shown.site(list(groups.values())[-1]))]
        unknown, of_cluster = [], self.needed.of_cluster
        if self.launch.cluster is None and of_cluster is not None:
            text = "the blocks of a cluster are not known: give them (--cluster)"
            unknown.append(Reason(text, self.shown.site(of_cluster)))
        if self.launch.block is None:
            unknown.append(Reason("the block is not known: give it (--block)"))
        return unknown

    def _tensor_groups(self) -> dict[str, Place]:
        """Whether `tcgen05` is of one block or of two, with an instruction that says so."""
        found: dict[str, Place] = {}
        for place in sorted(self.needed.forms, key=lambda each: (each.block, each.index)):
            instruction = self.flow.blocks[place.block].instructions[place.index]
            if instruction.name == "tcgen05":
                groups = (part for part in instruction.parts if part.startswith("cta_group::"))
                found |= {part: found.get(part, place) for part in groups}
        return found

    def _setups(self) -> Iterator[Setup]:
        """Launches to run: with larger and larger numbers, if they matter, and for another block, if that matters."""
        axes = sorted({f"ctaid.{each[-1]}" for each in self.needed.specials if each.startswith(OF_A_BLOCK)})
        blocks = [self.launch.parameters]
        if axes and not any(each in self.launch.parameters for each in axes):
            blocks.append({**self.launch.parameters, **dict.fromkeys(axes, OTHER_BLOCK)})
        numbers = NUMBERS if self._open() else NUMBERS[:1]
        for parameters in blocks:
            self.rounds = 0
            for number in numbers:
                if self.rounds < ENOUGH_ROUNDS:
                    yield self._setup(parameters, number)
        for number in MORE_NUMBERS if self._open() else ():
            if self._unreached():
                yield self._setup(self.launch.parameters, number)
        yield from self._apart()
        threads = prod(self.launch.block or (1,)) * prod(self.launch.cluster or (1,))
        if self._open() and self.rounds < ENOUGH_ROUNDS and self._unreached():
            yield self._setup(self.launch.parameters, MANY_ROUNDS * threads + 3)

    def _apart(self) -> Iterator[Setup]:
        """Launches whose parameters differ from each other, if loops have hardly gone round."""
        given = self.launch.parameters
        names = sorted(each for each in self.needed.parameters if each.partition("+")[0] in self._open())
        for name in names[:MOST_APART] if len(names) > 1 else ():
            if self.rounds < ENOUGH_ROUNDS:
                yield self._setup({**given, name: FEW}, NUMBERS[1])

    def _setup(self, parameters: Mapping[str, int], number: int) -> Setup:
        assert self.launch.block is not None
        matters = self.needed.of_cluster or any(each.startswith(CLUSTERS) for each in self.needed.specials)
        cluster = (self.launch.cluster if matters else None) or (1, 1, 1)
        setup = Setup(self.launch.block, parameters, number, seconds=self._left(), cluster=cluster)
        return replace(setup, changing=self.changing)

    def _open(self) -> set[str]:
        """Parameters that matter and are not given."""
        return self._relevant() - self.launch.parameters.keys()

    def _unreached(self) -> list[Place]:
        """Accesses and synchronization that no run has carried out."""
        every = (*self.needed.forms, *self.needed.accesses)
        missed = (each for each in every if each not in self.reached and each.block not in self.dead)
        return sorted(missed, key=lambda each: (each.block, each.index))

    def _undecided(self, reasons: list[Reason]) -> ExactVerdict:
        holds = self.launch.describe(len(self.routine.parameters))
        # Unrolled loops repeat what they are about.
        lines = {
            (each.message, each.site and (each.site.source_line or each.site.ptx_line)): each
            for each in reversed(reasons)
        }
        kept = [each for each in dict.fromkeys(reasons) if each in lines.values()]
        return ExactVerdict("undecided", holds, (), tuple(kept[:MOST_REASONS]))

    # ---- runs

    def _each_way(self, setup: Setup) -> Iterator[tuple[Found, BranchChoices]]:
        """A run for each way that data may lead."""
        given: tuple[bool, ...] | None = ()
        end = time.thread_time() + min(WAYS_SECONDS, self._left())
        while given is not None:
            found = self._run(setup, given)
            parted = [each.parted for each in self.last.hardware if each.parted is not None]
            if parted and self.is_plain and not (found.clashes or found.problems):
                raise NotExact("threads of the block that wait at two barriers", parted[0])
            yield found, self.choices
            given = self.choices.following()
            self.by_data |= bool(self.choices)
            if given is not None and time.thread_time() > end:
                raise TooLong("runs for every way that data may lead take too long", self.choices.place)

    def _run(self, setup: Setup, given: tuple[bool, ...]) -> Found:
        try:
            return self._run_with_values(replace(setup, data_dependent=self.data_dependent), given)
        except DataDependentAddress:
            self.data_dependent = True
            return self._run_with_values(replace(setup, data_dependent=True), given)

    def _run_with_values(self, setup: Setup, given: tuple[bool, ...]) -> Found:
        """A run; with the stored values followed as well where it matters whether two threads store the same."""
        if not self.needed.values:
            try:
                found = self._run_with(setup, self.needed, given)
            except DataDependentAddress:
                raise
            except DependsOnData:
                self.choices = BranchChoices()
            else:
                if not self.choices and not any(clash.perhaps_equal for clash in found.clashes):
                    return found
        found = self._run_with(setup, self.valued, given)
        if any(clash.perhaps_equal for clash in found.clashes) and not self.choices:
            # For any values of the parameters, nothing says so; for some, two threads may store different ones.
            numbers = AddressSlice(self.flow, True)
            again = self._run_with(setup, numbers, given)
            if not all(clash.perhaps_equal for clash in again.clashes):
                self.numbers = _names(numbers)
                return again
        return found

    def _run_with(self, setup: Setup, needed: AddressSlice, given: tuple[bool, ...]) -> Found:
        """One run, after another one if the boxes of tensor maps have to be worked out first."""
        boxes = self._given_boxes()
        if not all(each in boxes for each in self._tensor_maps(setup, needed, boxes, given)):
            first = Run(self.module, self.routine, self.flow, setup, needed)
            first.choices = BranchChoices(given)
            first.bulk.boxes |= boxes
            first.execute_all()
            found = boxes_that_fit(first.mbarriers.brought, first.mbarriers.expected)
            if found is None:
                raise NotExact(
                    "the boxes of the tensor maps cannot be worked out from the bytes that are expected: "
                    "give them (--param NAME.box=BYTES)"
                )
            boxes = {**first.bulk.boxes, **found, **boxes}
        run = Run(self.module, self.routine, self.flow, setup, needed, boxes)
        run.choices = self.choices = BranchChoices(given)
        result = run.execute_all()
        result.problems += self.too_early
        self.boxes |= {key: size for key, size in result.boxes.items() if key is not None}
        self.rounds = max(self.rounds, run.most_rounds())
        self.reached |= run.reached
        self.taken |= run.ways_taken
        self.last = run
        return result

    def _given_boxes(self) -> dict[object, int]:
        """The boxes that are given, by where their tensor maps lie."""
        names = [each.name for each in self.routine.parameters]
        return {
            PARAMETERS + names.index(name.removesuffix(BOX)) * PARAMETER_ROOM: size
            for name, size in self.launch.parameters.items()
            if name.endswith(BOX)
        }

    def _tensor_maps(
        self, setup: Setup, needed: AddressSlice, boxes: Mapping[object, int], given: tuple[bool, ...]
    ) -> set[object]:
        """The tensor maps that copies use; one that is not known, where not all of their boxes are given."""
        copies = [each for each in needed.forms.values() if isinstance(each, forms.BulkCopy)]
        if not any(each.tensor_map is not None for each in copies):
            return set()
        if not boxes:
            return {None}
        first = Run(self.module, self.routine, self.flow, setup, needed)
        first.choices = BranchChoices(given)
        first.bulk.boxes |= boxes
        first.execute_all()
        return first.bulk.seen

    # ---- words

    def _relevant(self) -> set[str]:
        """The parameters that the runs depend on."""
        return _names(self.needed) - self._maps()

    def _maps(self) -> set[str]:
        """Parameters whose box is given."""
        return {name.removesuffix(BOX) for name in self.launch.parameters if name.endswith(BOX)}

    def _holds(self, warnings: bool) -> str:
        """For which launches, parameters and boxes the verdict holds, in words."""
        relevant = self._relevant()
        said = [self._size()]
        named = [
            f"{name} = {self.launch.parameters[name]}"
            for name in sorted(relevant & self.launch.parameters.keys())
        ]
        open_ = sorted(self._open())
        if open_:
            named.append(f"{', '.join(open_)} = {_values({each.number for each in self.ran})}")
            named += self._ran_apart()
        named += self._blocks_run()
        named += [f"the box of {self._map_name(key)} has {size} bytes" for key, size in self.boxes.items()]
        if named:
            said.append("run with " + ", ".join(named))
        if self.special:
            rest = [f"{len(self.special) - MOST_SAID} more"] if len(self.special) > MOST_SAID else []
            numbers = [*map(_numbers, self.special[:MOST_SAID]), *rest]
            said[-1] += f"{OTHER_WAYS} {' and '.join(numbers)}"
        said += [f"not with {_numbers(each)}" for each in self.left_out]
        if open_ and self.rounds:
            compiled = " as compiled" if self._is_unrolled() else ""
            said.append(f"loops of up to {plural(self.rounds, 'iteration')}{compiled}")
        if self.routine.parameters:
            said.append("every value of the other parameters" if named else "every value of the parameters")
        if self.by_data:
            said.append("every way that loaded data may lead")
        if self.launch.warp_synchronous:
            said.append(IN_STEP)
        if warnings:
            said.append("apart from the warnings")
        return "; ".join(said)

    def _is_unrolled(self) -> bool:
        """Whether the compiler has made several of one synchronization instruction of the source."""
        found = [self.flow.blocks[each.block].instructions[each.index].written for each in self.needed.forms]
        return len(found) > len(set(found))

    def _ran_apart(self) -> list[str]:
        """Parameters that were few while the others had the number of the run."""
        few = {
            name
            for each in self.ran
            for name in each.parameters.keys() - self.launch.parameters.keys()
            if name in self.needed.parameters
        }
        return [f"{name} = {FEW} (the others {NUMBERS[1]})" for name in sorted(few)]

    def _blocks_run(self) -> list[str]:
        """The numbers of blocks, or of clusters, that were run, as far as they matter."""
        cluster, named = self.launch.cluster or (1, 1, 1), []
        for special in sorted(self.needed.specials):
            family, _, axis = special.partition(".")
            if axis and family in ("ctaid", "clusterid", "nctaid", "nclusterid"):
                size = cluster["xyz".find(axis)]
                ran = {each.parameters.get(f"ctaid.{axis}", 0) // size for each in self.ran}
                if family in ("nctaid", "nclusterid"):
                    ran = {-(-(OTHER_BLOCK + 1) // size)}
                if family in ("ctaid", "nctaid"):
                    inside = range(size) if family == "ctaid" else (0,)
                    ran = {each * size + at for each in ran for at in inside}
                named.append(f"{special} = {_values(ran)}")
        if self.launch.cluster is None and any(each.startswith(CLUSTERS) for each in self.needed.specials):
            named.append("a cluster of one block")
        return named

    def _map_name(self, key: object) -> str:
        if isinstance(key, Place):
            return f"the tensor map at {self.shown.site(key)}"
        number = (int(str(key)) - PARAMETERS) // PARAMETER_ROOM
        names = [each.name for each in self.routine.parameters]
        return names[number] if 0 <= number < len(names) else "a tensor map"

    def _size(self) -> str:
        """The block that was run, and the cluster."""
        block = f"blocks of {shown_sizes(self.launch.block or (0, 0, 0))} threads"
        if self.launch.cluster is None or not self.needed.of_cluster:
            return block
        return f"{block}, clusters of {shown_sizes(self.launch.cluster)} blocks"


def with_its_numbers(finding: Finding) -> Reason:
    """That a race may be the fault of numbers that a run made up."""
    said = ", ".join(
        f"{name} = {value}" for name, value in finding.values.items() if not name.startswith("block.")
    )
    return Reason(
        f"there is a race if {said}: give the parameters if that cannot be", finding.first, seen=True
    )


def _names(needed: AddressSlice) -> set[str]:
    """The parameters that something depends on."""
    return {each.partition("+")[0] for each in needed.parameters}


def _numbers(named: Mapping[str, int]) -> str:
    """Numbers with their names; negative ones as such."""
    return ", ".join(f"{name} = {signed(each, 64 if each >> 32 else 32)}" for name, each in named.items())


def _values(numbers: set[int]) -> str:
    """Numbers as one says them: 24, 200 and 1536."""
    *most, last = map(str, sorted(numbers))
    return f"{', '.join(most)} and {last}" if most else last
