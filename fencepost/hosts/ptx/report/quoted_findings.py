"""Findings in the names, lines and elements of the quoted file: message, what each of the two threads does, and fix.

The messages themselves are made where findings are: `runs/race_findings`, `runs/global_findings`, `exact/findings`.
"""

from __future__ import annotations

import re

from fencepost.hosts.ptx.cuda_source.source_loops import (
    is_in_every_iteration,
    loop_around_both,
    loops_around,
)
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.launches.thread_names import with_warp
from fencepost.hosts.ptx.reading.kernel_names import plain_text
from fencepost.hosts.ptx.report.element_names import element_in, is_a_part, with_element
from fencepost.hosts.ptx.report.quoted_places import (
    called_from,
    line_of,
    lines_of,
    span_of,
    worded,
)
from fencepost.hosts.ptx.report.waits_as_written import with_parities_as_written, with_waits_as_written
from fencepost.hosts.ptx.runs.race_findings import AROUND_BOTH, OUTSIDE
from fencepost.hosts.ptx.runs.race_iterations import IN_LATER, IN_NEXT
from fencepost.hosts.ptx.verdicts import Finding, InLoop, Site, Thread
from fencepost.report.words import ordinal

BLOCK, CLUSTER = (tuple(f"{what}.{axis}" for axis in "xyz") for what in ("block", "cluster"))
"""What the sizes of a block and of a cluster are called among the values of a finding."""
_VERBS = (
    ("ld", "reads"),
    ("ldmatrix", "reads"),
    ("wmma.load", "reads"),
    ("st", "writes"),
    ("cp.", "copies into"),
    ("atom", "updates"),
    ("red", "updates"),
    ("bar", "waits"),
    ("bar.arrive", "arrives"),
    ("barrier.arrive", "arrives"),
    ("bar.cta.arrive", "arrives"),
    ("barrier.cta.arrive", "arrives"),
    ("barrier.cluster.arrive", "arrives"),
    ("mbarrier", "uses"),
    ("mbarrier.init", "initializes"),
    ("mbarrier.arrive", "arrives on the mbarrier at"),
    ("mbarrier.arrive.expect_tx", "arrives and expects bytes on the mbarrier at"),
    ("mbarrier.expect_tx", "expects bytes on the mbarrier at"),
    ("mbarrier.test_wait", "waits for the mbarrier at"),
    ("mbarrier.try_wait", "waits for the mbarrier at"),
    ("wmma.store", "writes"),
    ("wgmma", "reads"),
    ("cp.async.bulk", "copies into"),
    ("cp.reduce", "reads"),
    ("cp.reduce.async.bulk.shared", "updates"),
    ("st.async", "stores into"),
    ("tcgen05", "uses tensor memory"),
    ("tcgen05.alloc", "allocates"),
    ("tcgen05.dealloc", "frees"),
    ("tcgen05.ld", "loads"),
    ("tcgen05.st", "stores"),
    ("tcgen05.mma", "multiplies"),
    ("tcgen05.cp", "copies"),
    ("tcgen05.commit", "commits to the mbarrier at"),
    ("red.async", "updates"),
)
_LOOP = re.compile(r"\b(?:for|while|do)\b")


def fix_of(judged: JudgedPtx, finding: Finding) -> str:
    """What mends it; one line is not told to go before itself."""
    text = worded(judged, finding.fix, finding.in_fix or (finding.first, finding.second))
    text = with_parities_as_written(judged, finding, with_waits_as_written(judged, finding, text))
    lines = {span_of(judged, site).line for site in (finding.first, finding.second)}
    text = _with_calls(judged, finding, text)
    if AROUND_BOTH in text:
        return _at_ends_of_loop(judged, text, *lines)
    if finding.first == finding.second:
        return text
    return _within_a_line(judged, text, *lines) if len(lines) == 1 else _beside_loops(judged, finding, text)


def _within_a_line(judged: JudgedPtx, text: str, line: int) -> str:
    """A fix for two accesses of one line, which is not told to go before itself."""
    between = f"between the two accesses of line {line} (in a loop: between its iterations)"
    loops = loops_around(judged.quoted.text, line) if judged.quoted is not judged.ptx else []
    if loops:
        loop = loops[-1]
        between = f"between the iterations of the loop of line {loop.line}"
        if loop.has_room:
            between = f"at the end of the loop of line {loop.line} (before line {loop.last})"
        between += "" if OUTSIDE in text or "__syncwarp" in text else ", outside of conditions"
    text = text.replace(f"between line {line} and line {line}", between)
    return text.replace(f"order line {line} and line {line}", f"order the accesses of line {line}")


def _beside_loops(judged: JudgedPtx, finding: Finding, text: str) -> str:
    """A fix between two lines, one of which is in a loop that the other one is not in: outside of that loop."""
    said = re.search(r"between line (\d+) and line (\d+)", text)
    if said is None or finding.barrier is None or judged.quoted is judged.ptx:
        return text
    around = [loops_around(judged.quoted.text, int(line)) for line in said.groups()]
    ends = []
    for mine, others, line in zip(around, reversed(around), said.groups(), strict=True):
        loop = next((each for each in mine if each not in others), None)
        ends.append(f"line {line}" if loop is None else f"the loop of line {loop.line}")
    return f"{text[: said.start()]}between {ends[0]} and {ends[1]}{text[said.end() :]}"


def _at_ends_of_loop(judged: JudgedPtx, text: str, one: int, other: int | None = None) -> str:
    """A fix with the lines where a barrier goes that orders an iteration before the next one."""
    source = judged.quoted
    loop = loop_around_both(source.text, one, other or one) if source is not judged.ptx else None
    if loop is None:
        return text
    if not loop.has_room:
        return text.replace(AROUND_BOTH, f"at either end of the loop of line {loop.line}")
    ends = f"at the end of the loop of line {loop.line} (before line {loop.last}), or at its start"
    ends += f" (before line {loop.first})"
    return re.sub(rf"(put \S+) (between .*): {AROUND_BOTH}", rf"\1 {ends}: \2", text)


def _with_calls(judged: JudgedPtx, finding: Finding, text: str) -> str:
    """The place between two lines of functions that were called one after the other: with the two calls."""
    sites = (finding.first, finding.second)
    calls = [called_from(judged, site).removeprefix(", ") for site in sites]
    if "" in calls or calls[0] == calls[1]:
        return text
    one, other = (f"line {span_of(judged, site).line}" for site in sites)
    return text.replace(f"between {one} and {other}", f"between {one} ({calls[0]}) and {other} ({calls[1]})")


def message_of(judged: JudgedPtx, finding: Finding) -> str:
    """What a finding says, with the names, lines and elements of the file that is quoted."""
    text = with_element(finding.message, finding, element_of(judged, finding))
    first, second = (iteration_at(judged, finding, at) for at in (0, 1))
    if first and second and (first.line, first.iteration + 1) == (second.line, second.iteration):
        text = text.replace(IN_LATER, IN_NEXT)
    return worded(judged, text, (finding.first, finding.second))


def element_of(judged: JudgedPtx, finding: Finding) -> str:
    """The element of an array that both accesses touch; empty if only its bytes are known."""
    if judged.quoted is judged.ptx:
        return ""
    return element_in(finding, judged.quoted.text, _first_line(judged, finding), judged.name)


def _first_line(judged: JudgedPtx, finding: Finding) -> int:
    """The upper one of the lines of a finding: its variables are declared above."""
    return min(span_of(judged, site).line for site in (finding.first, finding.second))


def doing(judged: JudgedPtx, finding: Finding, at: int) -> str:
    """What a thread does at the first or the second place."""
    site, thread = (finding.first, finding.second)[at], finding.threads[at]
    block = "" if finding.blocks is None else f" of block {finding.blocks[at]}"
    verb = verb_of(site)
    if finding.code in ("FP002", "FP006") and verb == "copies into":
        verb = "copies, and arrives on the mbarrier at"
    what = _touched(judged, finding) if verb not in ("waits", "arrives") else ""
    if finding.mbarriers is not None and verb != "waits":
        verb, what = verb.removesuffix(" the mbarrier at"), f" {plain_text(finding.mbarriers[at])}"
    who = with_warp(thread, _block_of(finding))
    return f"{who}{block} {verb}{what}{_when(judged, finding, at)}{called_from(judged, site)}"


def _when(judged: JudgedPtx, finding: Finding, at: int) -> str:
    """Which iteration of which loop it is, or how often the thread has come there, where that is known."""
    found = iteration_at(judged, finding, at)
    if found is not None:
        return f" in the {ordinal(found.iteration)} iteration of the loop of line {found.line}"
    visit = 0 if _is_one_of_several(judged, finding, at) else finding.visits[at]
    return f", the {ordinal(visit)} time it comes here" if visit > 1 else ""


def iteration_at(judged: JudgedPtx, finding: Finding, at: int) -> InLoop | None:
    """In which iteration of which loop the first or the second place is."""
    if finding.visits[at]:
        if _is_one_of_several(judged, finding, at):
            return None
        return _iteration_of_visit(judged, (finding.first, finding.second)[at], finding.visits[at])
    return _shown_iteration(judged, finding.iterations[at])


def _is_one_of_several(judged: JudgedPtx, finding: Finding, at: int) -> bool:
    """Whether its line has several statements, which line tables do not tell apart."""
    line = line_of(judged, (finding.first, finding.second)[at])
    if judged.quoted is judged.ptx or line is None:
        return False
    code = re.sub(r"\bfor\s*\([^;]*;[^;]*;", "", judged.quoted.line(line).partition("//")[0])
    return code.count(";") > 1


def _iteration_of_visit(judged: JudgedPtx, site: Site, visit: int) -> InLoop | None:
    """The iteration in which a thread comes to a place for the n-th time, if there is one loop around it that comes
    there each time round."""
    line = line_of(judged, site) if judged.quoted is not judged.ptx else None
    if line is None:
        return None
    chain = lines_of(judged, site)
    lines = chain[chain.index(line) :]
    loops = [(loop, each) for each in lines for loop in loops_around(judged.quoted.text, each)]
    if len(loops) != 1 or not is_in_every_iteration(judged.quoted.text, *loops[0]):
        return None
    return InLoop(loops[0][0].line, visit)


def _shown_iteration(judged: JudgedPtx, found: InLoop | None) -> InLoop | None:
    """The iteration of a loop, if its line is one of a loop, and what is in it several times is so because of other
    loops inside: otherwise the loop is unrolled, and its iterations are not those of the source."""
    source = judged.quoted
    if found is None or source is judged.ptx or not _LOOP.search(source.line(found.line)):
        return None
    inner = (
        each != found.line
        and (_LOOP.search(source.line(each)) or _innermost(source.text, each) not in (None, found.line))
        for each in found.repeated
    )
    return found if all(inner) else None


def _innermost(text: str, line: int) -> int | None:
    """The line of the innermost loop around a line."""
    loops = loops_around(text, line)
    return loops[-1].line if loops else None


def _block_of(finding: Finding) -> Thread:
    """The block that a finding was seen with; one that is not known may have threads in every direction."""
    x, y, z = (finding.values.get(name, 2) for name in BLOCK)
    return x, y, z


def _touched(judged: JudgedPtx, finding: Finding) -> str:
    """What both accesses touch: an element, its bytes if they are not all of it, or bytes alone."""
    if finding.bytes is None:
        return ""
    bytes_, element = f"bytes {finding.bytes[0]}..{sum(finding.bytes)}", element_of(judged, finding)
    if not element:
        return f" {bytes_}"
    part = is_a_part(finding, judged.quoted.text, _first_line(judged, finding), judged.name)
    return f" {element} ({bytes_})" if part else f" {element}"


def verb_of(site: Site) -> str:
    """What an instruction does to shared memory, in a word or two."""
    words = site.instruction.split()
    opcode = words[1] if words[0].startswith("@") else words[0]
    if ".global.shared" in opcode:
        return "reads"
    return next((verb for begin, verb in reversed(_VERBS) if opcode.startswith(begin)), "is here")
