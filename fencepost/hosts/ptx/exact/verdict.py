"""The verdict on a kernel from exact runs: proven for the launches that were run, a race, or why neither."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.accesses import Found
from fencepost.hosts.ptx.exact.bulk_copies import worked_out
from fencepost.hosts.ptx.exact.dead_blocks import DeadBlocks
from fencepost.hosts.ptx.exact.decisions import Decisions
from fencepost.hosts.ptx.exact.machine import PARAMETER_ROOM, PARAMETERS
from fencepost.hosts.ptx.exact.needed import Needed
from fencepost.hosts.ptx.exact.problems import ByData, NotExact, Problem
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.exact.shadow import Clash
from fencepost.hosts.ptx.exact.values import BLOCKS
from fencepost.hosts.ptx.flow import Flow
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.launch import BOX, Launch
from fencepost.hosts.ptx.module import Module, Routine
from fencepost.hosts.ptx.simulate import Setup
from fencepost.hosts.ptx.verdicts import Finding, Reason, Site, Thread

NUMBERS = (24, 200, 1536)
"""What integer parameters are, where nothing is said about them: larger and larger, until loops go round often."""
MORE_NUMBERS = (23, 26, 1, 3, 7, 100, 1027)
"""What they are besides, until every access and every barrier has been reached: remainders of unrolled loops."""
ENOUGH_ROUNDS = 16
OTHER_BLOCK = 3
"""The number of a second block that is run, if the number of the block matters."""
SECONDS = 30.0
WAYS_SECONDS = 10.0
"""For the runs of one launch, if data may lead several ways."""
MOST_FINDINGS = 20
WARP = 32
RACES = ("FP001", "FP008", "FP009")
"""What often follows from something else; the last ones from the first."""
CLUSTERS = ("cluster", "nclusterid", "is_explicit_cluster")
OF_A_BLOCK = ("ctaid.", "clusterid.")
"""Special registers that tell which block, or which cluster, is run."""


@dataclass
class Decision:
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
    needed: Needed = field(init=False)
    """What the way of the threads depends on."""
    valued: Needed = field(init=False)
    """What is stored in shared memory besides."""
    end: float = field(init=False)
    dead: DeadBlocks = field(init=False)
    boxes: dict[object, int] = field(default_factory=dict)
    ran: list[Setup] = field(default_factory=list)
    reached: set[Place] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    """Parameters that what is stored depends on, in a run that shows a race."""
    decisions: Decisions = field(default_factory=Decisions)
    """Of the last run."""
    by_data: bool = False
    """Whether runs were made for the ways that data may lead."""
    rounds: int = 0
    """How often a thread of the last run went round a loop."""

    def __post_init__(self) -> None:
        self.needed = Needed(self.flow, False)
        if self.needed.loads_shared:
            # What threads hand over in shared memory decides as well.
            self.needed = Needed(self.flow, True, addresses=False)
        self.valued = Needed(self.flow, True, self.needed)
        self.end = time.thread_time() + self.seconds
        self.dead = DeadBlocks(self.module, self.routine, self.flow, self.launch)

    @property
    def is_for_every_launch(self) -> bool:
        """Whether a run depends on no parameter and not on the number of the block."""
        return not self._open() and not any(each.startswith(BLOCKS) for each in self.needed.specials)

    def _left(self) -> float:
        return max(self.end - time.thread_time(), 0.0)

    def decide(self) -> Decision:
        """The verdict."""
        why_not = self._not_run()
        if why_not:
            return self._undecided(why_not)
        findings: dict[object, Finding] = {}
        doubts: list[Reason] = []
        for setup in self._setups():
            if any(each.severity == "error" for each in findings.values()):
                break
            try:
                for found, decisions in self._each_way(setup):
                    self._findings(found, setup, findings, doubts)
                    if decisions and findings:
                        # Perhaps no data lead there.
                        doubts.append(self._on_a_way(decisions, findings))
                        findings.clear()
                        break
            except NotExact as why:
                doubts.append(Reason(why.message, self._site(why.place) if why.place is not None else None))
                break
            self.ran.append(setup)
        chosen = tuple(sorted(self._open()))
        shown = [replace(each, chosen=chosen) for each in _most_telling(findings.values())]
        if any(each.severity == "error" for each in shown):
            return Decision("race", self._holds(False), tuple(shown))
        open_ = self._open() or any(each.startswith(OF_A_BLOCK) for each in self.needed.specials)
        if open_ and not doubts:
            # A proof for some parameters says nothing of instructions that other parameters would reach.
            doubts += [
                Reason("no run reaches this instruction", self._site(each)) for each in self._unreached()
            ]
        if doubts:
            return self._undecided(doubts)
        return Decision("proven", self._holds(bool(shown)), tuple(shown))

    def _not_run(self) -> list[Reason]:
        """Why there is nothing to run, if so."""
        for at, why in self.needed.refused.items():
            return [Reason(f"{why} is not judged", self._site(at))]
        unknown, of_cluster = [], self.needed.of_cluster
        if self.launch.cluster is None and of_cluster is not None:
            text = "the blocks of a cluster are not known: give them (--cluster)"
            unknown.append(Reason(text, self._site(of_cluster)))
        if self.launch.block is None:
            unknown.append(Reason("the block is not known: give it (--block)"))
        return unknown

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

    def _setup(self, parameters: Mapping[str, int], number: int) -> Setup:
        assert self.launch.block is not None
        matters = self.needed.of_cluster or any(each.startswith(CLUSTERS) for each in self.needed.specials)
        cluster = (self.launch.cluster if matters else None) or (1, 1, 1)
        return Setup(self.launch.block, parameters, number, seconds=self._left(), cluster=cluster)

    def _open(self) -> set[str]:
        """Parameters that matter and are not given."""
        return self._relevant() - self.launch.parameters.keys()

    def _unreached(self) -> list[Place]:
        """Accesses and synchronization that no run has carried out."""
        every = (*self.needed.forms, *self.needed.accesses)
        missed = (each for each in every if each not in self.reached and each.block not in self.dead)
        return sorted(missed, key=lambda each: (each.block, each.index))

    def _undecided(self, reasons: list[Reason]) -> Decision:
        holds = self.launch.describe(len(self.routine.parameters))
        return Decision("undecided", holds, (), tuple(dict.fromkeys(reasons)))

    def _site(self, place: Place) -> Site:
        return self.flow.blocks[place.block].instructions[place.index].site

    # ---- runs

    def _each_way(self, setup: Setup) -> Iterator[tuple[Found, Decisions]]:
        """A run for each way that data may lead."""
        given: tuple[bool, ...] | None = ()
        end = time.thread_time() + min(WAYS_SECONDS, self._left())
        while given is not None:
            found = self._run(setup, given)
            yield found, self.decisions
            given = self.decisions.following()
            self.by_data |= bool(self.decisions)
            if given is not None and time.thread_time() > end:
                raise NotExact("runs for every way that data may lead take too long", self.decisions.place)

    def _run(self, setup: Setup, given: tuple[bool, ...]) -> Found:
        if not self.needed.values:
            try:
                found = self._run_with(setup, self.needed, given)
            except ByData:
                self.decisions = Decisions()
            else:
                if not self.decisions and not any(clash.perhaps_equal for clash in found.clashes):
                    return found
        found = self._run_with(setup, self.valued, given)
        if any(clash.perhaps_equal for clash in found.clashes) and not self.decisions:
            # For any values of the parameters, nothing says so; for some, two threads may store different ones.
            numbers = Needed(self.flow, True)
            again = self._run_with(setup, numbers, given)
            if not all(clash.perhaps_equal for clash in again.clashes):
                self.numbers = _names(numbers)
                return again
        return found

    def _run_with(self, setup: Setup, needed: Needed, given: tuple[bool, ...]) -> Found:
        boxes = self._given_boxes()
        if not all(each in boxes for each in self._tensor_maps(setup, needed, boxes, given)):
            first = Run(self.module, self.routine, self.flow, setup, needed)
            first.decisions = Decisions(given)
            first.bulk.boxes |= boxes
            first.execute_all()
            found = worked_out(first.mbarriers.brought, first.mbarriers.expected)
            if found is None:
                raise NotExact(
                    "the boxes of the tensor maps cannot be worked out from the bytes that are expected: "
                    "give them (--param NAME.box=BYTES)"
                )
            boxes = {**first.bulk.boxes, **found, **boxes}
        run = Run(self.module, self.routine, self.flow, setup, needed, boxes)
        run.decisions = self.decisions = Decisions(given)
        result = run.execute_all()
        self.boxes |= {key: size for key, size in result.boxes.items() if key is not None}
        self.rounds = max(self.rounds, run.most_rounds())
        self.reached |= run.reached
        self._places = run.place_of
        self._memory = run.memory
        self._per_block, self._threads = run.per_block, run.count
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
        self, setup: Setup, needed: Needed, boxes: Mapping[object, int], given: tuple[bool, ...]
    ) -> set[object]:
        """The tensor maps that copies use; one that is not known, where not all of their boxes are given."""
        copies = [each for each in needed.forms.values() if isinstance(each, forms.BulkCopy)]
        if not any(each.tensor_map is not None for each in copies):
            return set()
        if not boxes:
            return {None}
        first = Run(self.module, self.routine, self.flow, setup, needed)
        first.decisions = Decisions(given)
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
        relevant = self._relevant()
        said = [self._size()]
        named = [
            f"{name} = {self.launch.parameters[name]}"
            for name in sorted(relevant & self.launch.parameters.keys())
        ]
        open_ = sorted(self._open())
        if open_:
            named.append(f"{', '.join(open_)} = {_values({each.number for each in self.ran})}")
        named += self._blocks_run()
        named += [f"the box of {self._map_name(key)} has {size} bytes" for key, size in self.boxes.items()]
        if named:
            said.append("run with " + ", ".join(named))
        if open_ and self.rounds:
            said.append(f"loops of up to {self.rounds} iterations")
        if self.routine.parameters:
            said.append("every value of the other parameters" if named else "every value of the parameters")
        if self.by_data:
            said.append("every way that loaded data may lead")
        if warnings:
            said.append("apart from the warnings")
        return "; ".join(said)

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
            return f"the tensor map at {self._site(key)}"
        number = (int(str(key)) - PARAMETERS) // PARAMETER_ROOM
        names = [each.name for each in self.routine.parameters]
        return names[number] if 0 <= number < len(names) else "a tensor map"

    def _findings(
        self, found: Found, setup: Setup, findings: dict[object, Finding], doubts: list[Reason]
    ) -> None:
        if found.outside is not None:
            doubts.append(Reason("an access outside of its shared variable", self._site(found.outside)))
        if found.unwritten is not None and self.boxes:
            text = (
                "reads bytes that nothing has written: the bytes expected may be fewer than the copies bring"
            )
            doubts.append(Reason(text, self._site(self._places(found.unwritten))))
        values = {f"block.{axis}": size for axis, size in zip("xyz", setup.block, strict=True)}
        if self.needed.of_cluster:
            values |= {f"cluster.{axis}": size for axis, size in zip("xyz", setup.cluster, strict=True)}
        values |= dict(setup.parameters)
        values |= dict.fromkeys((self._relevant() | self.numbers) - setup.parameters.keys(), setup.number)
        for problem in found.problems:
            finding = self._problem(problem, setup, values)
            findings.setdefault((finding.code, problem.places), finding)
        for clash in found.clashes:
            if clash.perhaps_equal:
                site = self._site(self._places(clash.places[1]))
                doubts.append(
                    Reason("two threads store to the same bytes, values that are not compared", site)
                )
                continue
            finding = self._clash(clash, setup, values)
            findings.setdefault((finding.code, finding.severity, frozenset(clash.places)), finding)

        loaded = [clash for clash in found.clashes if not clash.proxy and not clash.perhaps_equal]
        if found.relied and loaded:
            text = "what threads load here may differ, and it matters whether it does"
            doubts.append(Reason(text, self._site(self._places(loaded[0].places[1]))))

    def _on_a_way(self, decisions: Decisions, findings: Mapping[object, Finding]) -> Reason:
        """Why a finding on a way that data may lead is no verdict."""
        shown = next(iter(findings.values()))
        text = f"if data decide so, {shown.message}"
        return Reason(text, self._site(decisions.place) if decisions.place is not None else shown.first)

    def _size(self) -> str:
        """The block that was run, and the cluster."""
        block = "blocks of {}x{}x{} threads".format(*(self.launch.block or (0, 0, 0)))
        if self.launch.cluster is None or not self.needed.of_cluster:
            return block
        return block + ", clusters of {}x{}x{} blocks".format(*self.launch.cluster)

    def _thread(self, setup: Setup, number: int) -> Thread:
        x, y, _ = setup.block
        inside = number % self._per_block
        return inside % x, inside // x % y, inside // (x * y)

    def _ranks(self, threads: tuple[int, int]) -> tuple[int, int] | None:
        """The blocks of two threads, if there are several."""
        if prod(self.launch.cluster or (1,)) == 1:
            return None
        return threads[0] // self._per_block, threads[1] // self._per_block

    def _named(self, setup: Setup, number: int) -> str:
        """A thread in words, with its block, if there are several."""
        ranks = self._ranks((number, number))
        said = str(self._thread(setup, number))
        return said if ranks is None else f"{said} of block {ranks[0]}"

    def _problem(self, problem: Problem, setup: Setup, values: Mapping[str, int]) -> Finding:
        threads = self._thread(setup, problem.threads[0]), self._thread(setup, problem.threads[1])
        sites = [self._site(each) for each in problem.places]
        text = problem.message.format(*(self._named(setup, each) for each in problem.threads))
        bytes_ = None
        if problem.address is not None:
            bytes_ = (self._offset(problem.address), problem.size)
        return Finding(
            problem.code,
            problem.severity,
            text,
            sites[0],
            sites[1],
            threads,
            bytes_,
            values,
            problem.fix,
            blocks=self._ranks(problem.threads),
        )

    def _offset(self, address: int) -> int:
        found = self._memory.variable_at(address)
        return address % self._memory.span - found.start if found is not None else address

    def _clash(self, clash: Clash, setup: Setup, values: Mapping[str, int]) -> Finding:
        places = [self._places(each) for each in clash.places]
        order = sorted(range(2), key=lambda at: self._site(places[at]).ptx_line)
        sites = [self._site(places[at]) for at in order]
        threads = [self._thread(setup, clash.threads[at]) for at in order]
        who = [self._named(setup, clash.threads[at]) for at in order]
        doing = [self._doing(places[at], clash, at) for at in order]
        variable = self._memory.variable_at(clash.address)
        name = "shared memory" if variable is None else f"`{variable.name}`"
        if variable is not None and variable.name.startswith("dynamic"):
            name = variable.name
        ranks = self._ranks((clash.threads[order[0]], clash.threads[order[1]]))
        if ranks is not None:
            name += f" of block {clash.address // self._memory.span}"
        text = f"thread {who[0]} {doing[0]} and thread {who[1]} {doing[1]} the same bytes of {name} "
        severity, why = self._severity(clash)
        if clash.proxy:
            text += "through the generic and the async proxy with no proxy fence between them"
            fix = "put fence.proxy.async between the access and the barrier or arrival that follows it"
        else:
            text += "with nothing that orders them" + why
            how = "a barrier, an mbarrier wait or a wait for the copies"
            if ranks is not None and ranks[0] != ranks[1]:
                how = "cluster.sync(), or an mbarrier that both blocks use (a barrier orders one block alone)"
            fix = f"order {sites[0]} and {sites[1]}: {how}"
        return Finding(
            "FP008" if clash.proxy else "FP001",
            severity,
            text,
            sites[0],
            sites[1],
            (threads[0], threads[1]),
            (self._offset(clash.address), clash.size),
            values,
            fix,
            blocks=ranks,
        )

    def _severity(self, clash: Clash) -> tuple[Literal["error", "warning"], str]:
        if clash.proxy:
            return ("warning" if clash.kinds[0] == "read" else "error"), ""
        plain = all(column < self._threads for column in clash.columns)
        mbarrier = any(self._is_mbarrier(each) for each in clash.places)
        if mbarrier:
            return "error", ""
        if "atomic" in clash.kinds:
            return "warning", " (one of the two is atomic)"
        same_warp = clash.threads[0] // WARP == clash.threads[1] // WARP
        if plain and same_warp and clash.places[0] != clash.places[1]:
            return "warning", " (both threads are in one warp)"
        return "error", ""

    def _is_mbarrier(self, number: int) -> bool:
        return isinstance(self.needed.forms.get(self._places(number)), forms.Mbarrier)

    def _doing(self, place: Place, clash: Clash, at: int) -> str:
        if isinstance(self.needed.forms.get(place), forms.Mbarrier):
            form = self.needed.forms[place]
            assert isinstance(form, forms.Mbarrier)
            return "initializes" if form.does == "init" else "uses"
        words = {"read": "reads", "write": "writes", "atomic": "updates"}
        return words[clash.kinds[at]]


def _names(needed: Needed) -> set[str]:
    """The parameters that something depends on."""
    return {each.partition("+")[0] for each in needed.parameters}


def _most_telling(findings: Iterable[Finding]) -> list[Finding]:
    """As many as are shown: one of each kind and pair of lines first, since unrolled loops repeat them."""
    ordered = sorted(findings, key=_rank)
    firsts = {
        (
            each.code,
            each.severity,
            *(site.source_line or site.ptx_line for site in (each.first, each.second)),
        ): each
        for each in reversed(ordered)
    }
    kept = [each for each in ordered if each in firsts.values()]
    return [*kept, *(each for each in ordered if each not in kept)][:MOST_FINDINGS]


def _rank(finding: Finding) -> tuple[bool, int, int]:
    """Errors first, and what is out of step before races, which often follow from it; those by their lines."""
    race = RACES.index(finding.code) + 1 if finding.code in RACES else 0
    return finding.severity != "error", race, finding.first.ptx_line if race else 0


def _values(numbers: set[int]) -> str:
    """Numbers as one says them: 24, 200 and 1536."""
    *most, last = map(str, sorted(numbers))
    return f"{', '.join(most)} and {last}" if most else last
