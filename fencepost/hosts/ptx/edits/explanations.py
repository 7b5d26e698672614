"""What each barrier of a kernel in PTX is for: the pairs of accesses that it alone puts in order, or why nothing
needs it.

A barrier is taken out and the kernel judged again: what is found then, and was not found before, is what it is for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fencepost.hosts.ptx.asked_launch import AskedLaunch
from fencepost.hosts.ptx.edits.text_edits import as_good, barriers, global_pair, without
from fencepost.hosts.ptx.proof.beside_barriers import beside
from fencepost.hosts.ptx.proof.global_memory import GlobalPair
from fencepost.hosts.ptx.proof.prove import places
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Instruction
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Reason, Site

SECONDS_FOR_A_BARRIER = 6.0
"""For the verdict on the kernel without it; if that is not enough, the barrier counts as needed."""
NOTHING_MEETS = "no two threads touch the same bytes on its two sides, one of them writing"
WRONG_WITH_IT = (
    "not explained: the kernel is wrong with all of its barriers (`fencepost check`); mend that first"
)
PROVEN_WITHOUT_IT = "the kernel is proven without this: take it out, or let all threads of the block reach it"
MOVES_DATA = ("cp", "mbarrier", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "wmma")
"""Instructions that have to do with shared memory besides plain accesses."""


@dataclass(frozen=True)
class ExplainedBarrier:
    """A barrier: what goes wrong without it, or why nothing does."""

    site: Site
    findings: tuple[Finding, ...] = ()
    """What is found without it."""
    possible: tuple[Reason, ...] = ()
    """What cannot be ruled out without it, where no run shows anything."""
    for_global: GlobalPair | None = None
    """Accesses to global memory that it may put in order, where shared memory does not need it."""
    redundant: str = ""
    """Why nothing needs it."""
    note: str = ""
    """Why it was not looked at."""


@dataclass(frozen=True)
class PtxExplanation:
    """The barriers of a kernel, in the order of the text, and the verdict on the kernel with all of them."""

    verdict: KernelVerdict
    barriers: tuple[ExplainedBarrier, ...]


def explain(
    text: str,
    kernel: str,
    launch: AskedLaunch | None = None,
    begin: Callable[[int, int], None] = lambda number, of: None,
) -> PtxExplanation:
    """What each barrier of a kernel is for; `begin` is told of each before it is looked at."""
    launch = launch or AskedLaunch()
    verdict = launch.judge(text, kernel)
    module = parse(text)
    removable = {each.span for each in barriers(module, kernel)}
    every = [
        each
        for each in module.routines[kernel].body
        if isinstance(each, Instruction) and each.name in ("bar", "barrier") and "warp" not in each.parts
    ]
    found = []
    for number, each in enumerate(every, 1):
        begin(number, len(every))
        if each.span not in removable:
            found.append(ExplainedBarrier(each.site, note=_kept_because(each)))
        elif verdict.verdict == "undecided":
            found.append(ExplainedBarrier(each.site, note="the kernel is not decided, with or without it"))
        else:
            found.append(_explained(text, kernel, each, launch, verdict))
    return PtxExplanation(verdict, tuple(found))


def _kept_because(barrier: Instruction) -> str:
    """Why taking a barrier out is not tried."""
    if barrier.guard is not None:
        return "it has a predicate"
    if "red" in barrier.parts:
        return "its result is used"
    if "cluster" in barrier.parts:
        return "it is one half of the barrier of a cluster"
    return "it is a barrier of some of the threads"


def _explained(
    text: str, kernel: str, barrier: Instruction, launch: AskedLaunch, verdict: KernelVerdict
) -> ExplainedBarrier:
    shorter = launch.judge(without(text, barrier), kernel, SECONDS_FOR_A_BARRIER)
    known = {_what(each) for each in verdict.findings}
    new = tuple(each for each in shorter.findings if _what(each) not in known)
    if new or shorter.verdict == "undecided":
        return ExplainedBarrier(barrier.site, new, shorter.reasons)
    pair = global_pair(text, kernel, [barrier], launch)
    if pair is not None:
        return ExplainedBarrier(barrier.site, for_global=pair)
    if verdict.verdict != "proven" and shorter.verdict == "proven":
        return ExplainedBarrier(barrier.site, note=PROVEN_WITHOUT_IT)
    if not as_good(shorter, verdict) and shorter.verdict == "proven":
        return ExplainedBarrier(barrier.site, possible=(Reason(f"holds only for {shorter.holds_for}"),))
    why = untouched_side(text, kernel, barrier)
    if verdict.verdict == "proven":
        return ExplainedBarrier(barrier.site, redundant=why or NOTHING_MEETS)
    # Judging ends with the first things that go wrong, so that without the barrier it may just find these again.
    if why and all(each.code == "FP001" for each in verdict.findings):
        return ExplainedBarrier(barrier.site, redundant=why)
    return ExplainedBarrier(barrier.site, note=WRONG_WITH_IT)


def _what(finding: Finding) -> tuple[object, ...]:
    """What an error is about: the same for the copies that a compiler makes of one loop or call."""
    if finding.severity != "error":
        return (finding.code, finding.first.instruction, finding.second.instruction)
    later = "iteration" in finding.message
    return (finding.code, _written(finding.first), _written(finding.second), later)


def _written(site: Site) -> tuple[object, ...]:
    if site.source_line is None:
        return (site.instruction,)
    return (site.source_file, site.source_line, site.inlined_at, site.instruction.partition(" ")[0])


def untouched_side(text: str, kernel: str, barrier: Instruction) -> str:
    """On which side of a barrier nothing touches shared memory before the next one, in words; empty if on none."""
    flow = Flow(parse(text).routines[kernel])
    block = {place: each for place, each in places(flow) if effect(each).barrier == "block"}
    (here,) = [place for place, each in block.items() if each.span == barrier.span]
    for forward, what in ((False, "before"), (True, "after")):
        side = beside(flow, here, block.keys(), forward=forward)
        if not any(_touches_shared(flow.blocks[each.block].instructions[each.index]) for each in side.places):
            sites = sorted({str(block[end].site) for end in side.ends})
            if sites:
                return (
                    f"shared memory is not touched between it and the barrier {what} it ({', '.join(sites)})"
                )
            return f"shared memory is not touched {what} it"
    return ""


def _touches_shared(instruction: Instruction) -> bool:
    return bool(effect(instruction).accesses) or instruction.name in MOVES_DATA
