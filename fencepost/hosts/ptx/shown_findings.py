"""Verdicts on PTX kernels as diagnostics, as places in files, and as JSON.

A place is a line of the CUDA file wherever line tables name one; otherwise a line of the PTX text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from fencepost.hosts.ptx.cuda_statements import braces_of, length_of_function
from fencepost.hosts.ptx.element_names import element_in, is_a_part, with_element
from fencepost.hosts.ptx.judged import JudgedPtx
from fencepost.hosts.ptx.kernel_names import plain_text
from fencepost.hosts.ptx.race_findings import OUTSIDE
from fencepost.hosts.ptx.race_iterations import IN_LATER, IN_NEXT
from fencepost.hosts.ptx.thread_names import shown_sizes, with_warp
from fencepost.hosts.ptx.verdicts import Finding, InLoop, KernelVerdict, Reason, Site, Thread
from fencepost.ir.source import Mark, Source, Span
from fencepost.report.allow_comments import silenced_json, silenced_lines
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.located import Located, Place
from fencepost.report.words import enumerated, plural

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
PRIOR = "__pipeline_wait_prior"
"""What CUDA calls `cp.async.wait_group`."""
FENCE = "fence.proxy.async"
_LOOP = re.compile(r"\b(?:for|while|do)\b")
LONGEST_WRAPPER = 8
"""Lines of a function that is nothing but a name for some assembly."""
KINDS = {
    "FP001": "race",
    "FP002": "divergent barrier",
    "FP003": "barrier out of step",
    "FP006": "mbarrier out of step",
    "FP008": "missing fence",
    "FP009": "access to a block that may not be there",
    "FP010": "misuse of tensor memory",
}
"""What findings are called when they are counted."""
MANY = {
    "barrier out of step": "barriers out of step",
    "mbarrier out of step": "mbarriers out of step",
    "access to a block that may not be there": "accesses to blocks that may not be there",
    "misuse of tensor memory": "misuses of tensor memory",
}


def kind_of(finding: Finding) -> str:
    """What a finding is called when it is counted: a wait for an mbarrier that never ends is a deadlock."""
    waits = "mbarrier" in finding.second.instruction or "never completes" in finding.message
    return "deadlock" if finding.code == "FP002" and waits else KINDS[finding.code]


# ---------------------------------------------------------------- diagnostics


def finding_diagnostics(judged: JudgedPtx, *, every: bool = False) -> list[Diagnostic]:
    """What was found, with the two places that it is about; each pair of lines once, unless `every` one is wanted."""
    if every:
        return [_diagnostic(judged, each) for each in judged.verdict.findings]
    return [_diagnostic(judged, each, others) for each, *others in _together(judged)]


def distinct(judged: JudgedPtx) -> list[Finding]:
    """One finding for each pair of lines, the worst: compilers unroll loops, and of copies all say the same.

    Of copies that one change to a wait mends, the first.
    """
    return [first for first, *_ in _together(judged)]


def _together(judged: JudgedPtx) -> list[list[Finding]]:
    """The findings that are shown, each followed by others that what mends it mends as well, or may mend."""
    worst: dict[tuple[Any, ...], Finding] = {}
    for each in sorted(judged.verdict.findings, key=lambda finding: finding.severity == "warning"):
        places = sorted(_span(judged, site).line for site in (each.first, each.second))
        worst.setdefault((each.code, *places), each)
    cause = next((each for each in worst.values() if each.causes), None)
    if cause is not None:
        return [[cause, *(each for each in worst.values() if each is not cause)]]
    shown: dict[tuple[Any, ...], list[Finding]] = {}
    for number, each in enumerate(worst.values()):
        shown.setdefault(_mended_alike(judged, each) or (number,), []).append(each)
    return _folded(list(shown.values()))


def _folded(groups: list[list[Finding]]) -> list[list[Finding]]:
    """What the change that mends a race mends as well stands with the race."""
    races = [each for each in groups if each[0].code == "FP001"]
    kept = []
    for each in groups:
        race = next((one for one in races if all(_mends(one[0], other) for other in each)), None)
        if race is None:
            kept.append(each)
        else:
            race += each
    return kept


def _mends(race: Finding, other: Finding) -> bool:
    """Whether what orders a race also mends a missing fence between the same two accesses, or lets a block start that
    its second access is to: a barrier of the cluster in front of it."""
    same = race.second.ptx_line == other.second.ptx_line
    if other.code == "FP008":
        return same and race.first.ptx_line == other.first.ptx_line and FENCE in race.fix
    return same and other.code == "FP009" and "started" in other.message and is_between_blocks(race)


def is_between_blocks(finding: Finding) -> bool:
    """Whether its two threads are in different blocks of a cluster."""
    return finding.blocks is not None and finding.blocks[0] != finding.blocks[1]


def _mended_alike(judged: JudgedPtx, finding: Finding) -> tuple[Any, ...] | None:
    """What findings have in common that one change mends: a wait for copies, a fence, a barrier of the cluster."""
    if finding.wait is not None or finding.code == "FP008":
        return finding.code, finding.severity, _span(judged, finding.second), _fix(judged, finding)
    return (finding.code, finding.severity, finding.fix) if finding.code == "FP009" else None


def _diagnostic(judged: JudgedPtx, finding: Finding, others: Sequence[Finding] = ()) -> Diagnostic:
    sites = (finding.first, finding.second)
    marks = [Mark(_span(judged, site), _doing(judged, finding, at)) for at, site in enumerate(sites)]
    if finding.wait is not None:
        marks.append(Mark(_span(judged, finding.wait.site), finding.wait.said))
    found = Diagnostic(
        finding.code,
        message_of(judged, finding),
        tuple(marks),
        (*_notes_of_the_run(judged, finding, others), *_notes_of_the_fix(judged, finding, others)),
        judged.quoted,
        origins=tuple(_origin(judged, site) for site in sites),
    )
    return replace(found, severity=finding.severity, primary=1)


def _notes_of_the_run(
    judged: JudgedPtx, finding: Finding, others: Sequence[Finding]
) -> Iterator[tuple[str, str]]:
    """What follows, the launch, and the instructions."""
    sites = (finding.first, finding.second)
    in_ptx = judged.quoted is judged.ptx
    if finding.causes:
        yield from _what_may_follow(judged, others)
    if finding.values:
        yield "seen with", _seen_with(judged, finding.values)
    if finding.chosen:
        yield "chosen", _chosen(judged, finding.chosen)
    if not in_ptx:
        yield "ptx", " and ".join(dict.fromkeys(f"`{plain_text(site.instruction)}`" for site in sites))
    elsewhere = [site for site in sites if (site.source_line if in_ptx else line_of(judged, site) is None)]
    if elsewhere:
        yield "written", f"the first in {finding.first}; the second in {finding.second}"
    if finding.build:
        yield "build", finding.build


def _notes_of_the_fix(
    judged: JudgedPtx, finding: Finding, others: Sequence[Finding]
) -> Iterator[tuple[str, str]]:
    """What mends it, and what that mends besides."""
    besides = () if finding.causes else others
    folded = next((each for each in besides if each.code != finding.code), None)
    if folded is not None:
        yield "also", f"{message_of(judged, folded)} ({folded.code}): the same change mends it"
    if finding.fix:
        alike = [each for each in besides if each.code == finding.code]
        yield "fix", _fix(judged, finding) + _also(judged, alike)


def _also(judged: JudgedPtx, others: Sequence[Finding]) -> str:
    """What else the same change mends."""
    lines = [str(line) for line in dict.fromkeys(_span(judged, each.first).line for each in others)]
    if not lines:
        return ""
    what = "the copy of line" if others[0].wait is not None else "line" if len(lines) == 1 else "lines"
    return f"; it would also mend {what} {enumerated(lines)}"


def _what_may_follow(judged: JudgedPtx, others: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """Findings that may be there only because of another one: the first race, and how many there are besides."""
    race = next((each for each in others if each.code == "FP001"), None)
    if race is not None:
        lines = enumerated(dict.fromkeys(str(_span(judged, site).line) for site in (race.first, race.second)))
        yield "so", f"{message_of(judged, race)} ({'lines' if ' ' in lines else 'line'} {lines})"
    more = len(others) - (race is not None)
    if more:
        text = f"{plural(more, 'more finding')} may follow from it: mend it and check again"
        yield "then", f"{text} (--all shows {'it' if more == 1 else 'them'})"


def _fix(judged: JudgedPtx, finding: Finding) -> str:
    """What mends it; one line is not told to go before itself."""
    text = _worded(judged, finding.fix, (finding.first, finding.second))
    if finding.wait is not None and PRIOR in judged.quoted.line(_span(judged, finding.wait.site).line):
        text = re.sub(r"cp\.async\.wait_group (\d+)", rf"{PRIOR}(\1)", text)
    lines = {_span(judged, site).line for site in (finding.first, finding.second)}
    text = _with_calls(judged, finding, text)
    if len(lines) == 1 and finding.first != finding.second:
        (line,) = lines
        between = f"between the two accesses of line {line} (in a loop: between its iterations)"
        loop = _loop_of(judged.quoted.text, line) if judged.quoted is not judged.ptx else None
        if loop is not None:
            between = f"between the iterations of the loop of line {loop}"
            between += "" if OUTSIDE in text or "__syncwarp" in text else ", outside of conditions"
        text = text.replace(f"between line {line} and line {line}", between)
        text = text.replace(f"order line {line} and line {line}", f"order the accesses of line {line}")
    return text


def _with_calls(judged: JudgedPtx, finding: Finding, text: str) -> str:
    """The place between two lines of functions that were called one after the other: with the two calls."""
    sites = (finding.first, finding.second)
    calls = [_called_from(judged, site).removeprefix(", ") for site in sites]
    if "" in calls or calls[0] == calls[1]:
        return text
    one, other = (f"line {_span(judged, site).line}" for site in sites)
    return text.replace(f"between {one} and {other}", f"between {one} ({calls[0]}) and {other} ({calls[1]})")


def _loop_of(text: str, line: int) -> int | None:
    """The line of the innermost loop with braces around a line of CUDA."""
    around = [
        each.start
        for each in braces_of(text)
        if each.is_loop and text.count("\n", 0, each.start) < line <= text.count("\n", 0, each.end) + 1
    ]
    words = list(_LOOP.finditer(text[: max(around)])) if around else []
    return text.count("\n", 0, words[-1].start()) + 1 if words else None


def message_of(judged: JudgedPtx, finding: Finding) -> str:
    """What a finding says, with the names, lines and elements of the file that is quoted."""
    text = with_element(finding.message, finding, element_of(judged, finding))
    first, second = (_in_loop(judged, each) for each in finding.iterations)
    if first and second and (first.line, first.iteration + 1) == (second.line, second.iteration):
        text = text.replace(IN_LATER, IN_NEXT)
    return _worded(judged, text, (finding.first, finding.second))


def element_of(judged: JudgedPtx, finding: Finding) -> str:
    """The element of an array that both accesses touch; empty if only its bytes are known."""
    if judged.quoted is judged.ptx:
        return ""
    return element_in(finding, judged.quoted.text, _first_line(judged, finding), judged.name)


def _first_line(judged: JudgedPtx, finding: Finding) -> int:
    """The upper one of the lines of a finding: its variables are declared above."""
    return min(_span(judged, site).line for site in (finding.first, finding.second))


def _worded(judged: JudgedPtx, text: str, named: tuple[Site, ...] = ()) -> str:
    """A message with the names and lines of the file that is quoted.

    Code of a header that was inlined twice has two lines by one name; `named` places are in the order of the text.
    """
    if judged.quoted is not judged.ptx:
        for name, lines in _lines_by_name(judged, named).items():
            text = re.sub(rf"{re.escape(name)}(?!\d)", partial(_next_line, lines), text)
        file = re.escape(Path(judged.quoted.name).name)
        text = re.sub(rf"(?<![^\s`])(?:[^\s`]*/)?{file}:(\d+)", r"line \1", text)
    for number, name in enumerate(judged.parameters):
        text = re.sub(rf"\b{re.escape(judged.verdict.kernel)}_param_{number}\b", name, text)
    return plain_text(text)


def _next_line(lines: Iterator[int], _: re.Match[str]) -> str:
    return f"line {next(lines)}"


def _lines_by_name(judged: JudgedPtx, named: tuple[Site, ...]) -> dict[str, Iterator[int]]:
    """The lines that each name of a place stands for, one mention after the other; the last one from there on."""
    lines: dict[str, list[int]] = {}
    for site in (*named, *_sites(judged.verdict)):
        line = line_of(judged, site)
        if line is not None and (site in named or str(site) not in lines):
            lines.setdefault(str(site), []).append(line)
    return {name: chain(known, repeat(known[-1])) for name, known in lines.items()}


def _sites(verdict: KernelVerdict) -> list[Site]:
    """Every place that a verdict names."""
    found = [site for each in verdict.findings for site in (each.first, each.second)]
    found += [each.wait.site for each in verdict.findings if each.wait is not None]
    return found + [each.site for each in verdict.reasons if each.site is not None]


def _seen_with(judged: JudgedPtx, values: Mapping[str, int]) -> str:
    """The launch that a finding was seen with: the block, then parameters and the rest."""
    shown = []
    for names, said in ((BLOCK, "blocks of {} threads"), (CLUSTER, "clusters of {} blocks")):
        sizes = [values[name] for name in names if name in values]
        shown += [said.format(shown_sizes(sizes))] if sizes else []
    others = (name for name in values if name not in (*BLOCK, *CLUSTER))
    named = (f"{_called(judged, name).replace('ctaid', 'blockIdx')} = {values[name]}" for name in others)
    return ", ".join([*shown, *named])


def _chosen(judged: JudgedPtx, names: Sequence[str]) -> str:
    """Which values nobody has given, and how to give one's own."""
    called = [_called(judged, name) for name in names]
    what = "is an example" if len(called) == 1 else "are examples"
    return f"{enumerated(called)} {what}; --param {called[0]}=NUMBER checks another value"


def _called(judged: JudgedPtx, name: str) -> str:
    """A parameter as CUDA calls it."""
    kernel, _, number = name.rpartition("_param_")
    if kernel == judged.verdict.kernel and number.isdigit() and int(number) < len(judged.parameters):
        return judged.parameters[int(number)]
    return name


def _doing(judged: JudgedPtx, finding: Finding, at: int) -> str:
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
    return f"{who}{block} {verb}{what}{_in_iteration(judged, finding, at)}{_called_from(judged, site)}"


def _in_iteration(judged: JudgedPtx, finding: Finding, at: int) -> str:
    """Which iteration of which loop, where that is known."""
    found = _in_loop(judged, finding.iterations[at])
    return f" in iteration {found.iteration} of the loop of line {found.line}" if found is not None else ""


def _in_loop(judged: JudgedPtx, found: InLoop | None) -> InLoop | None:
    """The iteration of a loop, if its line is one of a loop, and what is in it several times is so because of other
    loops inside: otherwise the loop is unrolled, and its iterations are not those of the source."""
    source = judged.quoted
    if found is None or source is judged.ptx or not _LOOP.search(source.line(found.line)):
        return None
    inner = (
        each != found.line
        and (_LOOP.search(source.line(each)) or _loop_of(source.text, each) not in (None, found.line))
        for each in found.repeated
    )
    return found if all(inner) else None


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


def _called_from(judged: JudgedPtx, site: Site) -> str:
    """Where a function was called that was inlined, if its own line is quoted."""
    line = line_of(judged, site)
    if judged.quoted is judged.ptx or not site.inlined_at or line == site.inlined_at[-1]:
        return ""
    return f", called from line {site.inlined_at[-1]}"


def line_of(judged: JudgedPtx, site: Site) -> int | None:
    """The line of the quoted CUDA file that an instruction stands for: where a header was inlined, the call."""
    same = Path(site.source_file or "").name == Path(judged.quoted.name).name
    if same and site.source_line:
        return _outside_wrappers(judged.quoted, site)
    return site.inlined_at[-1] if site.inlined_at else None


def _outside_wrappers(source: Source, site: Site) -> int:
    """The line of an instruction; of one that is written as assembly in a small function, where that is called."""
    lines = [line for line in (site.source_line, *site.inlined_at[: site.near]) if line is not None]
    inner, *calls = lines
    if not re.search(r"\basm\b", source.line(inner)):
        return inner
    for call in calls:
        if length_of_function(source.text, inner) > LONGEST_WRAPPER:
            break
        inner = call
    return inner


def _span(judged: JudgedPtx, site: Site) -> Span:
    line = site.ptx_line if judged.quoted is judged.ptx else line_of(judged, site)
    return _whole_line(judged.quoted, line or 1)


def _whole_line(source: Source, line: int) -> Span:
    """A line without its indent and the comment behind it."""
    text = source.line(line)
    code = text.partition("//")[0].rstrip() or text.rstrip()
    indent = len(text) - len(text.lstrip())
    return Span(line, indent + 1, line, max(len(code), indent + 1) + 1)


def _origin(judged: JudgedPtx, site: Site) -> str:
    """Where it was written, if that is not in the text that is quoted."""
    if judged.quoted is not judged.ptx or not site.source_line:
        return ""
    return f"{site.source_file}:{site.source_line}"


def conclusion(judged: JudgedPtx) -> str:
    """The verdict in one line."""
    verdict = judged.verdict
    barriers = plural(verdict.barriers, "barrier")
    accesses = plural(verdict.shared_accesses, "shared access", "shared accesses")
    known = [_worded(judged, verdict.holds_for)] if verdict.holds_for else []
    return f"{_found(judged)} ({'; '.join([*known, f'{barriers}, {accesses}'])})"


def _found(judged: JudgedPtx) -> str:
    verdict, found = judged.verdict, distinct(judged)
    errors = [each for each in found if each.severity == "error"]
    warnings = len(found) - len(errors)
    counted = Counter(kind_of(each) for each in sorted(errors, key=lambda each: each.code))
    parts = [plural(number, kind, MANY.get(kind, "")) for kind, number in counted.items()]
    parts += [plural(warnings, "warning")] if warnings else []
    silenced = sum(len(found) for _, found in judged.silenced)
    parts += ["nothing else found"] if silenced and not parts else []
    parts += [f"{silenced} silenced"] if silenced else []
    if verdict.verdict == "undecided":
        parts.append("not decided")
    more = "no deadlock, no missing fence" if verdict.exact else "no divergent barrier"
    return ", ".join(parts) or f"no race in shared memory, {more}"


def reason_lines(judged: JudgedPtx) -> list[str]:
    """Why a kernel is not decided, and what else there is to say, a line each."""
    notes = silenced_lines(dict(judged.silenced))
    notes += [f"note: {_worded(judged, each)}" for each in judged.verdict.notes]
    return [*(_reason(judged, each) for each in judged.verdict.reasons), *notes]


def _reason(judged: JudgedPtx, reason: Reason) -> str:
    if reason.site is None:
        return _worded(judged, reason.message)
    line = line_of(judged, reason.site) if judged.quoted is not judged.ptx else None
    where = f"line {line}, " if line else ""
    return f"{_worded(judged, reason.message)}: `{reason.site.instruction}` ({where}PTX line {reason.site.ptx_line})"


# ---------------------------------------------------------------- places


def located_findings(judged: JudgedPtx, *, every: bool = False) -> list[Located]:
    """Findings with their places in files, for SARIF and annotations; each pair of lines once, unless `every` one."""
    found = [_located(judged, each) for each in (judged.verdict.findings if every else distinct(judged))]
    allowed = ((allow, each) for allow, findings in judged.silenced for each in findings)
    return found + [replace(_located(judged, each), allow=allow) for allow, each in allowed]


def _located(judged: JudgedPtx, finding: Finding) -> Located:
    diagnostic = _diagnostic(judged, finding)
    second, first = (
        _place(judged, site, mark)
        for site, mark in zip((finding.second, finding.first), reversed(diagnostic.marks[:2]), strict=True)
    )
    notes = [f"{word}: {text}" for word, text in diagnostic.notes]
    said = [each.text for each in diagnostic.marks[:2]]
    text = "\n".join([finding.code, judged.name, finding.first.instruction, finding.second.instruction])
    return Located(
        finding.code,
        diagnostic.title,
        "\n".join([diagnostic.title, said[1], *notes]),
        second,
        ((first, said[0]),) if (first, said[0]) != (second, said[1]) else (),
        kernel=judged.name,
        fingerprint=sha256(text.encode()).hexdigest()[:32] + ":1",
        file=judged.file,
        fix=_fix(judged, finding),
        level=finding.severity,
    )


def _place(judged: JudgedPtx, site: Site, mark: Mark) -> Place:
    if judged.quoted is judged.ptx and site.source_line and site.source_file:
        return Place(site.source_file, site.source_line)
    span = mark.span
    return Place(judged.quoted.name, span.line if span else None, span)


def located_undecided(judged: JudgedPtx) -> Located:
    """That a kernel is not decided, and why."""
    title = f"{judged.name}: not decided"
    lines = [title, *reason_lines(judged)]
    return Located("", title, "\n".join(lines), Place(judged.file), kernel=judged.name, file=judged.file)


# ---------------------------------------------------------------- JSON


def verdict_json(judged: JudgedPtx) -> dict[str, Any]:
    """The verdict on one kernel for programs."""
    verdict = judged.verdict
    return {
        "kernel": judged.name,
        "entry": verdict.kernel,
        "ok": not judged.errors,
        "proven": judged.proven,
        "verdict": verdict.verdict,
        "holds_for": _worded(judged, verdict.holds_for),
        "barriers": verdict.barriers,
        "shared_accesses": verdict.shared_accesses,
        "findings": [_finding_json(judged, each) for each in verdict.findings],
        "reasons": [_reason_json(judged, each) for each in verdict.reasons],
        "notes": [_worded(judged, each) for each in verdict.notes],
    } | ({"silenced": silenced_json(dict(judged.silenced))} if judged.silenced else {})


def _finding_json(judged: JudgedPtx, finding: Finding) -> dict[str, Any]:
    blocks = finding.blocks or (None, None)
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": message_of(judged, finding),
        **{
            name: site_json(site) | {"thread": list(thread), "block": block} | _loop_json(judged, loop)
            for name, site, thread, block, loop in zip(
                ("first", "second"),
                (finding.first, finding.second),
                finding.threads,
                blocks,
                finding.iterations,
                strict=True,
            )
        },
        "bytes": [finding.bytes[0], sum(finding.bytes)] if finding.bytes else None,
        "element": element_of(judged, finding).replace("`", "") or None,
        "values": {_called(judged, name): value for name, value in finding.values.items()},
        "fix": _fix(judged, finding) or None,
        "build": "unoptimized" if finding.build else "compiled",
        "wait": site_json(finding.wait.site) if finding.wait is not None and finding.wait.wrong else None,
    }


def _loop_json(judged: JudgedPtx, loop: InLoop | None) -> dict[str, Any]:
    """Where an access is in its loop, if that is known."""
    found = _in_loop(judged, loop)
    return {"loop": {"line": found.line, "iteration": found.iteration}} if found is not None else {}


def site_json(site: Site) -> dict[str, Any]:
    """Where an instruction stands, for programs."""
    return {
        "instruction": site.instruction,
        "ptx_line": site.ptx_line,
        "source_file": site.source_file,
        "source_line": site.source_line,
        "inlined_at": list(site.inlined_at),
    }


def _reason_json(judged: JudgedPtx, reason: Reason) -> dict[str, Any]:
    return {
        "message": _worded(judged, reason.message),
        "site": site_json(reason.site) if reason.site else None,
    }
