"""What runs show, in words: findings with two threads and two lines, and doubts that leave a kernel undecided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from fencepost.hosts.ptx.exact import forms
from fencepost.hosts.ptx.exact.accesses import Found
from fencepost.hosts.ptx.exact.address_slice import AddressSlice
from fencepost.hosts.ptx.exact.data_dependent_branches import BranchChoices
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.exact.shadow import UnorderedAccesses
from fencepost.hosts.ptx.exact.tcgen05_forms import TensorAllocation, TensorForm
from fencepost.hosts.ptx.exact.tensor_shadow import BASE as TENSOR
from fencepost.hosts.ptx.exact.tensor_shadow import CELL, COLUMNS
from fencepost.hosts.ptx.exact.tensor_shadow import SIZE as TENSOR_SIZE
from fencepost.hosts.ptx.launches.thread_names import WARP, thread_number
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import element_size, is_strong
from fencepost.hosts.ptx.reading.flow import Flow, Loop
from fencepost.hosts.ptx.runs.flags_and_locks import BY_A_FLAG, may_be_ordered
from fencepost.hosts.ptx.runs.race_findings import UNLIKE_ATOMICS
from fencepost.hosts.ptx.runs.race_iterations import IN_LATER
from fencepost.hosts.ptx.verdicts import Finding, LastSync, Reason, SharedVariable, Site, Thread, bytes_of

MOST_FINDINGS = 20
MBARRIER = 8
"""Bytes of an mbarrier."""
RACES = ("FP001", "FP008", "FP009", "FP010")
"""What often follows from something else; the last ones from the first."""
ENDED_BY = {
    "tcgen05.mma": "a tcgen05.commit after the tcgen05.mma, and a wait for the mbarrier that it names",
    "tcgen05.cp": "a tcgen05.commit after the tcgen05.cp, and a wait for the mbarrier that it names",
    "tcgen05.ld": "tcgen05.wait::ld after the tcgen05.ld, and then a barrier or an mbarrier",
    "tcgen05.st": "tcgen05.wait::st after the tcgen05.st, and then a barrier or an mbarrier",
    "wgmma.mma_async": "wgmma.wait_group after the products, and then a barrier or an mbarrier",
    "cp.async.bulk": "a wait for the mbarrier of the bulk copy, or for its group",
    "cp.reduce.async.bulk": "a wait for the mbarrier of the bulk copy, or for its group",
    "cp.async": "a wait for the copies, and then a barrier",
    "st.async": "a wait for the mbarrier that the st.async names",
    "red.async": "a wait for the mbarrier that the red.async names",
}
"""What goes on by itself once a thread has issued it, and how it is waited for."""
BY_THE_ASYNC_PROXY = ("wgmma.mma_async", "cp.async.bulk", "cp.reduce.async.bulk", "tcgen05.mma", "tcgen05.cp")
"""Of these, those that see what a thread has stored behind a proxy fence alone."""
CALLED = {
    "wgmma.mma_async": "wgmma",
    "cp.async.bulk": "bulk copy",
    "cp.reduce.async.bulk": "bulk copy",
    "cp.async": "copy",
}
NOT_COMPARED = "two threads store to the same bytes, values that are not compared"
DATA_DEPENDENT = "the address depends on data, and nothing orders it with another access to the same variable"


@dataclass
class Findings:
    """What runs of one kernel have shown so far."""

    flow: Flow
    needed: AddressSlice
    warp_synchronous: bool = False
    """Whether the threads of a warp run in step."""
    findings: dict[object, Finding] = field(default_factory=dict)
    doubts: list[Reason] = field(default_factory=list)
    by_data: bool = False
    """Whether data decide over what is doubted."""
    run: Run = field(init=False)
    """The last one."""

    @property
    def errors(self) -> bool:
        """Whether something was found that is more than a warning."""
        return any(each.severity == "error" for each in self.findings.values())

    @property
    def more_than_fences(self) -> bool:
        """Whether something was found besides warnings of missing fences."""
        return any(each.code != "FP008" or each.severity == "error" for each in self.findings.values())

    def site(self, place: Place) -> Site:
        """Where an instruction stands."""
        return self.flow.blocks[place.block].instructions[place.index].site

    def doubt(self, text: str, place: Place | None) -> None:
        """A reason why the kernel may not be decided."""
        self.doubts.append(Reason(text, self.site(place) if place is not None else None))

    def add(self, run: Run, found: Found, numbers: Iterable[str]) -> None:
        """What one run shows; `numbers` are parameters that it made up."""
        self.run = run
        if found.outside is not None:
            self.doubt("an access outside of its shared variable", found.outside)
        if found.unwritten is not None and run.bulk.boxes:
            text = (
                "reads bytes that nothing has written: the bytes expected may be fewer than the copies bring"
            )
            self.doubt(text, run.place_of(found.unwritten))
        values = self._values(numbers)
        for problem in found.problems:
            finding = self._problem(problem, values)
            self.findings.setdefault((finding.code, problem.places), finding)
        for clash in found.clashes:
            if clash.data_dependent or clash.perhaps_equal:
                self.by_data = True
                self.doubt(
                    DATA_DEPENDENT if clash.data_dependent else NOT_COMPARED, run.place_of(clash.places[1])
                )
                continue
            if self._is_in_step(clash):
                continue
            if self._may_be_ordered(clash):
                self.doubt(BY_A_FLAG, run.place_of(clash.places[1]))
                continue
            finding = self._clash(clash, values)
            self.findings.setdefault((finding.code, finding.severity, frozenset(clash.places)), finding)
        loaded = [
            each for each in found.clashes if not (each.proxy or each.perhaps_equal or each.data_dependent)
        ]
        if found.relied and loaded:
            text = "what threads load here may differ, and it matters whether it does"
            self.doubt(text, run.place_of(loaded[0].places[1]))

    def _values(self, numbers: Iterable[str]) -> dict[str, int]:
        """The launch that was run."""
        setup = self.run.setup
        values = {f"block.{axis}": size for axis, size in zip("xyz", setup.block, strict=True)}
        if self.needed.of_cluster:
            values |= {f"cluster.{axis}": size for axis, size in zip("xyz", setup.cluster, strict=True)}
        values |= dict(setup.parameters)
        return values | dict.fromkeys(set(numbers) - setup.parameters.keys(), setup.number)

    def only_on_a_way(self, choices: BranchChoices) -> None:
        """What was found is there if data decide so, and perhaps no data do: a doubt, and no finding."""
        shown = next(iter(self.findings.values()))
        site = self.site(choices.place) if choices.place is not None else shown.first
        self.doubts.append(Reason(f"if data decide so, {shown.message}", site))
        self.findings.clear()

    def most_telling(self) -> list[Finding]:
        """As many as are shown: one of each kind and pair of lines first, since unrolled loops repeat them."""
        ordered = sorted(self.findings.values(), key=_rank)
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

    # ---- words

    def _thread(self, number: int) -> Thread:
        x, y, _ = self.run.setup.block
        inside = number % self.run.per_block
        return inside % x, inside // x % y, inside // (x * y)

    def _ranks(self, threads: tuple[int, int]) -> tuple[int, int] | None:
        """The blocks of two threads, if there are several."""
        if prod(self.run.setup.cluster) == 1:
            return None
        return threads[0] // self.run.per_block, threads[1] // self.run.per_block

    def _named(self, number: int) -> str:
        """A thread in words, with its block, if there are several."""
        ranks = self._ranks((number, number))
        said = thread_number(self._thread(number), self.run.setup.block)
        return said if ranks is None else f"{said} of block {ranks[0]}"

    def _problem(self, problem: Problem, values: Mapping[str, int]) -> Finding:
        """A finding about barriers, mbarriers or lifetimes, with threads and mbarriers by their names."""
        threads = self._thread(problem.threads[0]), self._thread(problem.threads[1])
        sites = [self.site(each) for each in problem.places]
        names = [self._mbarrier(each) for each in problem.mbarriers]
        worded = dict(zip(("mbarrier", "other"), names, strict=False))
        in_fix = tuple(self.site(each) for each in problem.in_fix)
        lines = {name: str(site) for name, site in zip(("where", "also"), in_fix, strict=False)}
        text = problem.message.format(*(self._named(each) for each in problem.threads), **worded)
        bytes_ = None
        if problem.address is not None:
            bytes_ = (self._offset(problem.address), problem.size)
        elif problem.mbarriers:
            bytes_ = (self._offset(problem.mbarriers[0]), MBARRIER)
        return Finding(
            problem.code,
            problem.severity,
            text,
            sites[0],
            sites[1],
            threads,
            bytes_,
            values,
            problem.fix.format(**lines, **worded),
            blocks=self._ranks(problem.threads),
            mbarriers=(names[-1], names[0]) if names else None,
            causes=problem.causes,
            visits=problem.visits,
            in_fix=in_fix,
        )

    def _mbarrier(self, address: int) -> str:
        """An mbarrier in words: an element of an array, if that is what its variable can be."""
        several = prod(self.run.setup.cluster) > 1
        block = f" of block {address // self.run.memory.span}" if several else ""
        found = self.run.memory.variable_at(address)
        offset = self._offset(address)
        if found is None or found.name.startswith("dynamic") or offset % MBARRIER or found.size % MBARRIER:
            where = "" if found is None else f" of {found.name if ' ' in found.name else f'`{found.name}`'}"
            return f"the mbarrier at bytes {offset}..{offset + MBARRIER}{where}{block}"
        index = f"[{offset // MBARRIER}]" if found.size > MBARRIER else ""
        return f"`{found.name}{index}`{block}"

    def _offset(self, address: int) -> int:
        found = self.run.memory.variable_at(address)
        return address % self.run.memory.span - found.start if found is not None else address

    def _variable(self, address: int) -> SharedVariable | None:
        found = self.run.memory.variable_at(address)
        return SharedVariable(found.name, found.size) if found is not None else None

    def _clash(self, clash: UnorderedAccesses, values: Mapping[str, int]) -> Finding:
        """A finding about two accesses that nothing orders (FP001), or that lack a proxy fence alone (FP008)."""
        places = [self.run.place_of(each) for each in clash.places]
        later = self._is_round_a_loop(clash)
        order = [0, 1] if later else sorted(range(2), key=lambda at: self.site(places[at]).ptx_line)
        sites = [self.site(places[at]) for at in order]
        threads = [self._thread(clash.threads[at]) for at in order]
        who = [self._named(clash.threads[at]) for at in order]
        doing = [self._doing(places[at], clash, at) for at in order]
        ranks = self._ranks((clash.threads[order[0]], clash.threads[order[1]]))
        actors = [self._actor(places[at], who[number]) for number, at in enumerate(order)]
        what = f"{_together(actors, doing)} {self._place_of(clash)}"
        severity, why = self._severity(clash)
        if clash.proxy:
            text, fix = self._missing_fence(clash)
        else:
            text = f"{IN_LATER}, " * later + "with nothing that orders them" + why
            how = self._ordered_by(places, clash)
            if not how and ranks is not None and ranks[0] != ranks[1]:
                how = "cluster.sync(), or an mbarrier that both blocks use (a barrier orders one block alone)"
            when = " of the next iteration" if later else ""
            fix = f"order {sites[0]} and {sites[1]}{when}: {how or 'a barrier or an mbarrier wait'}"
        return Finding(
            "FP008" if clash.proxy else "FP001",
            severity,
            f"{what} {text}",
            sites[0],
            sites[1],
            (threads[0], threads[1]),
            (self._offset(clash.address), clash.size) if clash.address < TENSOR else None,
            values,
            fix,
            blocks=ranks,
            variable=self._variable(clash.address) if clash.address < TENSOR else None,
            in_one_warp=self._is_of_one_warp(clash),
            last_sync=None if clash.proxy else self._last_sync(clash),
        )

    def _is_round_a_loop(self, clash: UnorderedAccesses) -> bool:
        """Whether two threads access something themselves, one of them in a later iteration: what came first in the
        run stands behind the other one, or before it in an unrolled loop, whose copies follow one another."""
        first, second = map(self.run.place_of, clash.places)
        around = self.flow.loops_around(second.block)
        common = [each for each in self.flow.loops_around(first.block) if each in around]
        if not common or any(column >= self.run.count for column in clash.columns):
            return False
        one, other = self.site(first), self.site(second)
        unrolled = one.source_file == other.source_file and (one.source_line or 0) > (other.source_line or 0)
        unrolled &= not (one.inlined_at or other.inlined_at)
        return self._comes_before(common[-1], second, first) or (
            unrolled and self._comes_before(common[-1], first, second)
        )

    def _comes_before(self, loop: Loop, one: Place, other: Place) -> bool:
        """Whether an iteration of a loop can come to one place, and then to the other."""
        if one.block == other.block:
            return one.index < other.index
        seen: set[int] = set()
        todo = [one.block]
        while todo:
            inside = [each for each in self.flow.successors[todo.pop()] if each in loop.blocks]
            new = {each for each in inside if each != loop.header} - seen
            seen |= new
            todo += new
        return other.block in seen

    def _last_sync(self, clash: UnorderedAccesses) -> LastSync | None:
        """The last that the second thread has waited for of the first one: what is behind it is not in order."""
        column, releases = clash.columns[0], self.run.clocks.releases
        place = releases.get((column, clash.known)) if releases and column < self.run.count else None
        if place is None or clash.threads[0] == clash.threads[1]:
            return None
        one, other = map(self._named, clash.threads)
        access = {"read": "read", "write": "write", "atomic": "update"}[clash.kinds[0]]
        said = f"the last that thread {other} has waited for of thread {one}, whose {access} is behind it"
        return LastSync(self.site(place), said)

    def _asynchronous(self, place: Place) -> str:
        """What goes on by itself once a thread has issued it; nothing for other instructions."""
        opcode = self.flow.blocks[place.block].instructions[place.index].opcode
        return next((begin for begin in ENDED_BY if opcode.startswith(begin)), "")

    def _actor(self, place: Place, thread: str) -> str:
        """Who accesses memory: a thread, or something that it has issued."""
        begin = self._asynchronous(place)
        return f"the {CALLED.get(begin, begin)} of thread {thread}" if begin else f"thread {thread}"

    def _ordered_by(self, places: Sequence[Place], clash: UnorderedAccesses) -> str:
        """How to order two accesses, given as they came in the run, one of which a thread has issued; nothing for
        others. What is in flight is waited for; what comes before it, no wait for it puts in order."""
        earlier, later = (self._asynchronous(each) for each in places)
        if earlier or not later:
            return ENDED_BY.get(earlier, "")
        called = CALLED.get(later, later)
        if clash.kinds[0] == "read":
            other = f"if the read is to come second, {ENDED_BY[later]}"
            return f"a barrier or an mbarrier wait before the {called}; {other}"
        fence = "fence.proxy.async behind the store, then " if later in BY_THE_ASYNC_PROXY else ""
        return f"{fence}a barrier or an mbarrier wait before the {called}"

    def _place_of(self, clash: UnorderedAccesses) -> str:
        """What two accesses touch both, in words."""
        several = prod(self.run.setup.cluster) > 1
        if clash.address >= TENSOR:
            rank, inside = divmod(clash.address - TENSOR, TENSOR_SIZE)
            lane, column = divmod(inside // CELL, COLUMNS)
            where = f"the same columns of tensor memory (lane {lane}, column {column})"
            return f"{where} of block {rank}" if several else where
        where = f"the same {bytes_of(self._variable(clash.address))}"
        return f"{where} of block {clash.address // self.run.memory.span}" if several else where

    @staticmethod
    def _missing_fence(clash: UnorderedAccesses) -> tuple[str, str]:
        """What is missing between two accesses that are ordered otherwise, and what to do about it."""
        if clash.address >= TENSOR:
            fix = (
                "put tcgen05.fence::before_thread_sync before the barrier or arrival that orders them (a commit "
                "needs none), and tcgen05.fence::after_thread_sync behind the wait"
            )
            return "in order, but with no tcgen05.fence on the way from one to the other", fix
        fix = "put fence.proxy.async between the access and the barrier or arrival that follows it"
        return "through the generic and the async proxy with no proxy fence between them", fix

    def _severity(self, clash: UnorderedAccesses) -> tuple[Literal["error", "warning"], str]:
        if clash.proxy:
            return ("warning" if clash.kinds[0] == "read" or clash.address >= TENSOR else "error"), ""
        if any(self._is_mbarrier(each) for each in clash.places):
            return "error", ""
        if {"atomic", "read"} == set(clash.kinds) and self._is_strong(
            clash.places[clash.kinds.index("read")]
        ):
            return "warning", " (an atomic, and a strong load)"
        if clash.kinds == ("atomic", "atomic") and len(set(map(self._element, clash.places))) > 1:
            return "error", UNLIKE_ATOMICS
        return "error", " (both threads are in one warp)" if self._is_of_one_warp(clash) else ""

    def _is_in_step(self, clash: UnorderedAccesses) -> bool:
        """Whether two accesses are in order because the threads of a warp run in step."""
        apart = clash.places[0] != clash.places[1] and not any(
            self._is_mbarrier(each) for each in clash.places
        )
        return self.warp_synchronous and not clash.proxy and apart and self._is_of_one_warp(clash)

    def _may_be_ordered(self, clash: UnorderedAccesses) -> bool:
        """Whether threads may order what they do themselves by a flag or a lock."""
        plain = not clash.proxy and all(column < self.run.count for column in clash.columns)
        first, second = map(self.run.place_of, clash.places)
        return plain and may_be_ordered(self.flow, (first, second))

    def _is_of_one_warp(self, clash: UnorderedAccesses) -> bool:
        """Whether both accesses are by threads of one warp themselves, not by what these have issued."""
        plain = all(column < self.run.count for column in clash.columns)
        return plain and clash.threads[0] // WARP == clash.threads[1] // WARP

    def _is_strong(self, number: int) -> bool:
        place = self.run.place_of(number)
        return is_strong(self.flow.blocks[place.block].instructions[place.index])

    def _element(self, number: int) -> int:
        place = self.run.place_of(number)
        return element_size(self.flow.blocks[place.block].instructions[place.index])

    def _is_mbarrier(self, number: int) -> bool:
        return isinstance(self.needed.forms.get(self.run.place_of(number)), forms.Mbarrier | TensorForm)

    def _doing(self, place: Place, clash: UnorderedAccesses, at: int) -> str:
        form = self.needed.forms.get(place)
        if isinstance(form, forms.Mbarrier):
            return "initializes" if form.does == "init" else "uses"
        if isinstance(form, TensorAllocation):
            return "allocates" if form.does == "alloc" else "frees"
        words = {"read": "reads", "write": "writes", "atomic": "updates"}
        return words[clash.kinds[at]]


def _together(actors: Sequence[str], doing: Sequence[str]) -> str:
    """Who does what, twice: two copies of one thread are called that."""
    if actors[0] == actors[1] and doing[0] == doing[1] and "copy of" in actors[0]:
        copies = actors[0].removeprefix("the ").replace("copy of", "copies of")
        return f"two {copies} {doing[0].removesuffix('s')}"
    return f"{actors[0]} {doing[0]} and {actors[1]} {doing[1]}"


def _rank(finding: Finding) -> tuple[bool, int, int]:
    """Errors first, and what is out of step before races, which often follow from it; those by their lines."""
    race = RACES.index(finding.code) + 1 if finding.code in RACES else 0
    return finding.severity != "error", race, finding.first.ptx_line if race else 0
