"""Barriers taken out of PTX text and put into it. Every other byte stays; every step is judged again.

`prune` comments out each `bar.sync` that the kernel is proven without, one after the other, unless it may put
accesses to global memory in order. `insert` puts
`bar.sync 0;` between the two accesses of a race, at the last place before the second one that all threads reach,
until the kernel is proven; a kernel that it cannot mend whole comes back as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fencepost.hosts.ptx.checking import check_text, with_deep_stack
from fencepost.hosts.ptx.effects import effect
from fencepost.hosts.ptx.evaluate import Evaluator
from fencepost.hosts.ptx.flow import ENTRY, Flow, NotJudged
from fencepost.hosts.ptx.global_memory import GlobalOrder, GlobalPair
from fencepost.hosts.ptx.judge import axes_of
from fencepost.hosts.ptx.launch import launch_of
from fencepost.hosts.ptx.module import Instruction, Module, Routine
from fencepost.hosts.ptx.parse import parse
from fencepost.hosts.ptx.prove import places
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Site

MOST_INSERTIONS = 8
MOST_PLACES = 6
"""How many places are tried for one race."""


@dataclass(frozen=True)
class Launch:
    """What is said about the launch, for judging each step."""

    block: tuple[int, int, int] | None = None
    params: Mapping[str, int] | None = None
    file: str = "<ptx>"
    distinct_pointers: bool = False
    """Whether parameters point to memory of their own, as if all were `__restrict__`."""

    def judge(self, text: str, kernel: str) -> KernelVerdict:
        """The verdict on one kernel of a text."""
        return check_text(text, self.block, self.params or {}, kernel, self.file)[0]


@dataclass(frozen=True)
class Edited:
    """A text after an edit: the barriers that were changed, and the verdicts before and after."""

    text: str
    changed: tuple[Site, ...]
    before: KernelVerdict
    after: KernelVerdict
    for_global: tuple[tuple[Site, GlobalPair], ...] = ()
    """Barriers that shared memory does not need, and accesses to global memory that they may put in order."""


def prune(text: str, kernel: str, launch: Launch | None = None) -> Edited:
    """Takes out the barriers that nothing needs. A kernel that is not proven is left as it is."""
    launch = launch or Launch()
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
    same = verdict.verdict == "proven" and verdict.holds_for == before.holds_for
    return same and len(verdict.findings) <= len(before.findings)


def global_pair(
    text: str, kernel: str, taken_out: Sequence[Instruction], launch: Launch
) -> GlobalPair | None:
    """Two accesses to global memory that some barriers of a text may put in order; None if there are none."""

    def look() -> GlobalPair | None:
        module = parse(text)
        routine = module.routines[kernel]
        flow = Flow(routine)
        known = launch_of(routine, launch.block, launch.params or {}, axes_of(routine))
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


def insert(text: str, kernel: str, launch: Launch | None = None) -> Edited:
    """Puts barriers where races are, until the kernel is proven; if it cannot be, the text stays as it is."""
    launch = launch or Launch()
    given = text
    before = after = launch.judge(text, kernel)
    added: list[Site] = []
    while after.verdict == "race" and len(added) < MOST_INSERTIONS:
        better = _mended(text, kernel, after, launch)
        if better is None:
            break
        text, after, site = better
        added.append(site)
    if after.verdict != "proven":
        return Edited(given, (), before, before)
    return Edited(text, tuple(added), before, after)


def _mended(
    text: str, kernel: str, verdict: KernelVerdict, launch: Launch
) -> tuple[str, KernelVerdict, Site] | None:
    """The text with one more barrier, with which the kernel is proven or has fewer races."""
    races = [each for each in verdict.findings if each.severity == "error"]
    best: tuple[str, KernelVerdict, Site] | None = None
    fewest = _count(verdict)
    for instruction in _places(parse(text).routines[kernel], races[0]):
        start = instruction.span[0]
        longer = f"{text[:start]}bar.sync 0; {text[start:]}"
        after = launch.judge(longer, kernel)
        if after.verdict == "proven":
            return longer, after, instruction.site
        if after.verdict == "race" and _count(after) < fewest and _all_races(after):
            fewest = _count(after)
            best = longer, after, instruction.site
    return best


def _count(verdict: KernelVerdict) -> int:
    return len(
        {(each.first.ptx_line, each.second.ptx_line) for each in verdict.findings if each.severity == "error"}
    )


def _all_races(verdict: KernelVerdict) -> bool:
    return all(each.code == "FP001" for each in verdict.findings)


def _places(routine: Routine, race: Finding) -> Iterator[Instruction]:
    """Instructions to put a barrier before: the accesses themselves, then what leads to them, nearest first."""
    try:
        flow = Flow(routine)
    except NotJudged:
        return
    given = 0
    seen: set[int] = set()
    for site in (race.second, race.first):
        for instruction in _leading_to(flow, site):
            if instruction.span[0] not in seen and given < MOST_PLACES:
                seen.add(instruction.span[0])
                given += 1
                yield instruction


def _leading_to(flow: Flow, site: Site) -> Iterator[Instruction]:
    """The access, then the first and last instruction of every block that dominates it, from near to far."""
    for number in flow.order:
        for instruction in flow.blocks[number].instructions:
            if instruction.line == site.ptx_line and instruction.text == site.instruction:
                yield instruction
                block = number
                while True:
                    instructions = flow.blocks[block].instructions
                    if instructions and block != number:
                        yield instructions[-1]
                    if instructions and block in flow.loop_of:
                        yield instructions[0]
                    if block == ENTRY:
                        return
                    block = flow.idom[block]
