"""Barriers taken out of PTX text and put into it. Every other byte stays; every step is judged again.

`prune` comments out each `bar.sync` that the kernel is proven without, one after the other. `insert` puts
`bar.sync 0;` between the two accesses of a race, at the last place before the second one that all threads reach,
until the kernel is proven; a kernel that it cannot mend whole comes back as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fencepost.hosts.ptx.checking import check_text
from fencepost.hosts.ptx.effects import effect
from fencepost.hosts.ptx.flow import ENTRY, Flow, NotJudged
from fencepost.hosts.ptx.module import Instruction, Module, Routine
from fencepost.hosts.ptx.parse import parse
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


def prune(text: str, kernel: str, launch: Launch | None = None) -> Edited:
    """Takes out the barriers that nothing needs. A kernel that is not proven is left as it is."""
    launch = launch or Launch()
    before = after = launch.judge(text, kernel)
    removed: list[Site] = []
    if before.verdict != "proven":
        return Edited(text, (), before, before)
    for number in range(len(barriers(parse(text), kernel))):
        instruction = barriers(parse(text), kernel)[number - len(removed)]
        shorter = without(text, instruction)
        verdict = launch.judge(shorter, kernel)
        same = verdict.verdict == "proven" and verdict.holds_for == before.holds_for
        if same and len(verdict.findings) <= len(before.findings):
            removed.append(instruction.site)
            text, after = shorter, verdict
    return Edited(text, tuple(removed), before, after)


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


def without(text: str, instruction: Instruction) -> str:
    """The text with an instruction commented out."""
    start, end = instruction.span
    return f"{text[:start]}/* {text[start:end]} */{text[end:]}"


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
