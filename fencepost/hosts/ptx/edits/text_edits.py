"""Barriers taken out of PTX text and put into it. Every other byte stays; every step is judged again.

`prune` comments out each `bar.sync` that the kernel is proven without, one after the other, unless it may put
accesses to global memory in order. `insert` puts
`bar.sync 0;` between the two accesses of a race, at the last place before the second one that all threads reach,
until the kernel is proven; a kernel that it cannot mend whole comes back as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fencepost.hosts.ptx.asked_launch import AskedLaunch
from fencepost.hosts.ptx.checking import with_deep_stack
from fencepost.hosts.ptx.edits.fix_races import Mender, is_at_the_end, mend, needs_cluster
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.launches.launch import launch_of
from fencepost.hosts.ptx.proof.global_memory import GlobalOrder, GlobalPair
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.kernel_and_launch import axes_of
from fencepost.hosts.ptx.proof.prove import places
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import ENTRY, Flow, NotJudged
from fencepost.hosts.ptx.reading.module import Instruction, Module
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.hosts.ptx.verdicts import OTHER_WAYS, Finding, KernelVerdict, Site

BARRIER = "bar.sync 0;"
CLUSTER_BARRIER = "barrier.cluster.arrive; barrier.cluster.wait;"
_OTHER_WAYS = re.compile(f"{OTHER_WAYS}[^;]*")
WARP_BARRIER = "bar.warp.sync 0xffffffff;"


@dataclass(frozen=True)
class Edited:
    """A text after an edit: the barriers that were changed, and the verdicts before and after."""

    text: str
    changed: tuple[Site, ...]
    before: KernelVerdict
    after: KernelVerdict
    for_global: tuple[tuple[Site, GlobalPair], ...] = ()
    """Barriers that shared memory does not need, and accesses to global memory that they may put in order."""
    left: tuple[Finding, ...] = ()
    """What no barrier mends, where the text is as it was because of that."""


def prune(text: str, kernel: str, launch: AskedLaunch | None = None) -> Edited:
    """Takes out the barriers that nothing needs. A kernel that is not proven is left as it is."""
    launch = launch or AskedLaunch()
    before = after = launch.judge(text, kernel)
    removed: list[Site] = []
    for_global: list[tuple[Site, GlobalPair]] = []
    if before.verdict != "proven":
        return Edited(text, (), before, before)
    for number in range(len(barriers(parse(text), kernel))):
        barrier = barriers(parse(text), kernel)[number - len(removed)]
        shorter = without(text, barrier)
        verdict = launch.judge(shorter, kernel)
        if not as_good(verdict, before):
            continue
        pair = global_pair(text, kernel, [barrier], launch)
        if pair is not None:
            for_global.append((barrier.site, pair))
            continue
        removed.append(barrier.site)
        text, after = shorter, verdict
    return Edited(text, tuple(removed), before, after, tuple(for_global))


def as_good(verdict: KernelVerdict, before: KernelVerdict) -> bool:
    """Whether a kernel is proven as it was: for the same launches, with no warning more."""
    launches, others = (_OTHER_WAYS.sub("", each.holds_for) for each in (verdict, before))
    return (
        verdict.verdict == "proven" and launches == others and len(verdict.findings) <= len(before.findings)
    )


def global_pair(
    text: str, kernel: str, taken_out: Sequence[Instruction], launch: AskedLaunch
) -> GlobalPair | None:
    """Two accesses to global memory that some barriers of a text may put in order; None if there are none."""

    def look() -> GlobalPair | None:
        module = parse(text)
        routine = module.routines[kernel]
        flow = Flow(routine)
        known = launch_of(routine, launch.given, axes_of(routine))
        spans = {each.span for each in taken_out}
        block = {place: each.span for place, each in places(flow) if effect(each).barrier == "block"}
        stay = {place for place, span in block.items() if span not in spans}
        order = GlobalOrder(Evaluator(module, routine, flow, known), stay, launch.distinct_pointers)
        pairs = (order.pair(place) for place, span in block.items() if span in spans)
        return next((pair for pair in pairs if pair is not None), None)

    return with_deep_stack(look)


def barriers(module: Module, kernel: str) -> list[Instruction]:
    """The barriers of a kernel that can be taken out: of all threads, with no predicate and no result."""
    return [
        item
        for item in module.routines[kernel].body
        if isinstance(item, Instruction)
        and effect(item).barrier == "block"
        and item.guard is None
        and "red" not in item.parts
    ]


def without(text: str, *instructions: Instruction) -> str:
    """The text with instructions commented out."""
    for each in sorted(instructions, key=lambda each: each.span, reverse=True):
        start, end = each.span
        text = f"{text[:start]}/* {text[start:end]} */{text[end:]}"
    return text


def insert(text: str, kernel: str, launch: AskedLaunch | None = None) -> Edited:
    """Puts barriers where races are, until the kernel is proven; if it cannot be, the text stays as it is."""
    launch = launch or AskedLaunch()
    before = launch.judge(text, kernel)

    def places_for(here: str, race: Finding) -> tuple[list[int], list[int]]:
        try:
            flow = Flow(parse(here).routines[kernel])
        except NotJudged:
            return [], []
        return (at_the_end(flow), []) if is_at_the_end(race) else places_between(flow, race)

    mender = Mender(
        _statements,
        places_for,
        lambda here: launch.judge(here, kernel),
    )
    mended = mend(text, before, mender)
    if mended.verdict.verdict != "proven":
        return Edited(text, (), before, before, left=mended.verdict.findings)
    spans = {place for place, _ in mended.added}
    every = (each for each in parse(mended.text).routines[kernel].body if isinstance(each, Instruction))
    added = [each.site for each in every if each.span[0] in spans]
    return Edited(mended.text, tuple(added), before, mended.verdict)


def _statements(race: Finding) -> tuple[str, ...]:
    """The barriers that may mend a finding, in PTX."""
    if needs_cluster(race):
        return (CLUSTER_BARRIER,)
    return (WARP_BARRIER, BARRIER) if race.in_one_warp else (BARRIER,)


def at_the_end(flow: Flow) -> list[int]:
    """Where every thread leaves the kernel, if that is one place."""
    ends = [each.span[0] for _, each in places(flow) if each.name in ("ret", "exit") and each.guard is None]
    return ends if len(ends) == 1 else []


def places_between(flow: Flow, race: Finding) -> tuple[list[int], list[int]]:
    """Where a barrier may go for a race, before the second access and before the first.

    It has to be on a way from one to the other. Places in the fewest loops come first, then those that are near."""
    at = {each.span: place for place, each in places(flow)}
    ends = [
        [place for place, each in places(flow) if each.site == site] for site in (race.first, race.second)
    ]
    if not all(ends):
        return [], []
    first, second = ends[0][0], ends[1][0]
    found = []
    for access in (second, first):
        between = [
            (each.span[0], len(flow.loops_around(at[each.span].block)))
            for each in _leading_to(flow, access)
            if _is_between(flow, first, at[each.span], second)
            or _is_between(flow, second, at[each.span], first)
        ]
        found.append([place for place, _ in sorted(dict(between).items(), key=lambda item: item[1])])
    return found[0], found[1]


def _is_between(flow: Flow, first: Place, here: Place, second: Place) -> bool:
    """Whether a thread can get from one access to another past the front of an instruction."""
    return _leads(flow, first, here) and (here == second or _leads(flow, here, second))


def _leads(flow: Flow, start: Place, end: Place) -> bool:
    if start.block == end.block and start.index < end.index:
        return True
    return end.block in flow.reachable(flow.successors[start.block])


def _leading_to(flow: Flow, access: Place) -> Iterator[Instruction]:
    """The access, then the first and last instruction of every block that dominates it, from near to far."""
    yield flow.blocks[access.block].instructions[access.index]
    block = access.block
    while True:
        instructions = flow.blocks[block].instructions
        if instructions and block != access.block:
            yield instructions[-1]
        if instructions and block in flow.loop_of:
            yield instructions[0]
        if block == ENTRY:
            return
        block = flow.idom[block]
