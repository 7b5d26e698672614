"""`fencepost prune` and `insert` on CUDA and PTX: what is done to the kernels of a file, and what is said of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fencepost.commands.files import put_text
from fencepost.commands.output import print_json, print_styled, say
from fencepost.commands.ptx_files import read_ptx_file
from fencepost.hosts.ptx.files import PtxFile, located_errors
from fencepost.hosts.ptx.reading.kernel_names import plain_name
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Site
from fencepost.phases import begin_phase
from fencepost.report.words import plural

if TYPE_CHECKING:
    from fencepost.hosts.ptx.asked_launch import AskedLaunch
    from fencepost.hosts.ptx.edits.source_edits import Compiler, EditedSource
    from fencepost.hosts.ptx.proof.global_memory import GlobalPair
    from fencepost.hosts.ptx.unoptimized import Builds
    from fencepost.ir.source import Source


@dataclass(frozen=True)
class Barrier:
    """A barrier that was taken out, put in or kept."""

    line: int | None
    """Of the file that was read, or of the new one if the barrier was put in."""
    copies: tuple[Site, ...] = ()
    """Where it stands in PTX."""
    pair: GlobalPair | None = None
    """Accesses to global memory that keep it."""
    why: str = ""
    """What else keeps it, or what is left to do."""


@dataclass
class Change:
    """What became of one kernel. Of a CUDA file all barriers are in the first: lines belong to no single kernel."""

    kernel: str
    before: KernelVerdict
    after: KernelVerdict
    removed: list[Barrier] = field(default_factory=list)
    kept: list[Barrier] = field(default_factory=list)
    inserted: list[Barrier] = field(default_factory=list)
    left: tuple[Finding, ...] = ()
    """What no barrier mends."""
    notes: list[str] = field(default_factory=list)

    @property
    def mended(self) -> int:
        """Pairs of accesses that raced and do not any more."""
        return 0 if self.failed else _races(self.before)

    @property
    def unmended(self) -> int:
        """Pairs of accesses that race still, and divergent barriers."""
        return _races(self.after)

    @property
    def failed(self) -> bool:
        """Whether the kernel is not what `insert` is to make it."""
        return self.after.verdict != "proven"


def _races(verdict: KernelVerdict) -> int:
    found = [each for each in verdict.findings if each.severity == "error"]
    return len({(each.code, each.first.ptx_line, each.second.ptx_line) for each in found})


@dataclass
class Changed:
    """A file after an edit."""

    file: PtxFile
    text: str
    kernels: list[Change]


# ---------------------------------------------------------------- the edits


def pruned(file: PtxFile) -> Changed:
    """A file without the barriers that nothing needs."""
    return located_errors(file, lambda: _pruned_ptx(file) if file.cuda is None else _pruned_cuda(file))


def _pruned_ptx(file: PtxFile) -> Changed:
    from fencepost.hosts.ptx.edits.text_edits import barriers, prune
    from fencepost.hosts.ptx.reading.parse import parse

    text, found = file.ptx.text, []
    for kernel in file.kernels:
        begin_phase(f"pruning {plain_name(kernel)}")
        edited = prune(text, kernel, file.launch(kernel))
        pairs = {site.ptx_line: pair for site, pair in edited.for_global}
        gone = {site.ptx_line for site in edited.changed}
        stay = [each.site for each in barriers(parse(text), kernel) if each.line not in gone]
        kept = [Barrier(site.ptx_line, (site,), pairs.get(site.ptx_line)) for site in stay]
        removed = [Barrier(site.ptx_line, (site,)) for site in edited.changed]
        found.append(Change(kernel, edited.before, edited.after, removed, kept))
        text = edited.text
    return Changed(file, text, found)


def _pruned_cuda(file: PtxFile) -> Changed:
    from fencepost.hosts.ptx.edits.source_edits import prune_source

    begin_phase("pruning")
    # Other files may launch a kernel with other blocks: what goes is redundant for all that are not ruled out.
    edited = prune_source(file.source.text, file.kernels, _compiler(file, file.launch))
    removed = [
        Barrier(
            each.line,
            each.copies,
            why="take it out by hand: it is not written as __syncthreads()" * each.by_hand,
        )
        for each in edited.removed
    ]
    kept = [Barrier(each.line, each.copies, each.pair, each.why) for each in edited.kept]
    found = _cuda_changes(file, edited)
    found[0].removed, found[0].kept = removed, kept
    return Changed(file, edited.text, found)


def _cuda_changes(file: PtxFile, edited: EditedSource) -> list[Change]:
    found = [Change(each, edited.before[each], edited.after[each]) for each in file.kernels]
    found[0].notes += edited.notes
    return found


def inserted(file: PtxFile) -> Changed:
    """A file with the barriers that it lacks."""
    return located_errors(file, lambda: _inserted_ptx(file) if file.cuda is None else _inserted_cuda(file))


def _inserted_ptx(file: PtxFile) -> Changed:
    from fencepost.hosts.ptx.edits.text_edits import insert

    text, found = file.ptx.text, []
    for kernel in file.kernels:
        begin_phase(f"mending {plain_name(kernel)}")
        edited = insert(text, kernel, file.launch_in_file(kernel))
        text = edited.text
        # Later barriers move earlier ones down: they are looked up in the text that comes out.
        found.append(Change(kernel, edited.before, edited.after, left=edited.left))
    change = Changed(file, text, found)
    for each in found:
        each.inserted = [Barrier(line) for line in _new_lines(file.ptx.text, text, each.kernel)]
    return change


def _new_lines(before: str, after: str, kernel: str) -> list[int]:
    """The lines with barriers of a kernel that were put in."""
    from fencepost.hosts.ptx.edits.text_edits import barriers
    from fencepost.hosts.ptx.reading.parse import parse

    if before == after:
        return []
    old = [(each.site.source_line, each.text) for each in barriers(parse(before), kernel)]
    found = []
    for each in barriers(parse(after), kernel):
        if old and (each.site.source_line, each.text) == old[0]:
            old.pop(0)
        else:
            found.append(each.line)
    return found


def _inserted_cuda(file: PtxFile) -> Changed:
    from fencepost.hosts.ptx.edits.source_edits import insert_source

    begin_phase("mending")
    edited = insert_source(file.source.text, file.kernels, _compiler(file, file.launch_in_file))
    found = _cuda_changes(file, edited)
    found[0].inserted = [Barrier(line) for line in edited.inserted_lines]
    for each in found:
        if each.after.verdict == "race":
            each.left = edited.left
    return Changed(file, edited.text, found)


def _compiler(file: PtxFile, launch_of: Callable[[str], AskedLaunch]) -> Compiler:
    from fencepost.hosts.ptx.edits.source_edits import Compiler

    known: dict[str, PtxFile] = {file.source.text: file}
    builds: dict[str, Builds] = {}

    def compiled(text: str) -> PtxFile:
        if text not in known:
            known[text] = file.recompiled(text)
        return known[text]

    def judge(text: str, kernel: str) -> KernelVerdict:
        if text not in builds:
            builds[text] = compiled(text).builds()
        (verdict,) = builds[text].judge(kernel, launch_of(kernel).given)
        return verdict

    return Compiler(lambda text: compiled(text).ptx.text, judge, launch_of, file.source.name)


# ---------------------------------------------------------------- the commands


def run_prune(name: str, source: Source, options: argparse.Namespace) -> int:
    """`fencepost prune` on a CUDA or PTX file."""
    changed = pruned(read_ptx_file(name, source, options))
    put_text(options, changed.text)
    if options.json:
        print_json([_prune_json(changed, each) for each in changed.kernels])
        return 0
    for each in changed.kernels:
        for line in prune_lines(changed, each):
            say(line)
    return 0


def run_insert(name: str, source: Source, options: argparse.Namespace) -> int:
    """`fencepost insert` on a CUDA or PTX file; 1 if a kernel is not proven then."""
    changed = inserted(read_ptx_file(name, source, options))
    put_text(options, changed.text)
    if options.json:
        print_json([_insert_json(changed, each) for each in changed.kernels])
    else:
        say_inserted(changed)
    return 1 if any(each.failed for each in changed.kernels) else 0


def say_inserted(changed: Changed) -> None:
    """What was put into each kernel, and what is left."""
    for each in changed.kernels:
        for line in insert_lines(changed, each):
            say(line)
        show_left(changed, each)


def say_fixed(changed: Changed, *, written: bool) -> None:
    """What `fix` did to each kernel, or would do."""
    for each in changed.kernels:
        name = f"{changed.file.file}: {plain_name(each.kernel)}"
        if each.after.verdict == "undecided":
            say(f"{name}: not decided, nothing mended")
            for line in _reasons(changed, each.after):
                say(f"  {line}")
        elif each.failed:
            show_left(changed, each)
            say(f"{name}: {plural(_shown(changed, each.after), 'finding')} cannot be mended by barriers")
        elif each.mended:
            done = "mended" if written else "would be mended (-w writes it)"
            say(f"{name}: {plural(_shown(changed, each.before), 'finding')} {done}")
        else:
            say(f"{name}: nothing to mend")


def _shown(changed: Changed, verdict: KernelVerdict) -> int:
    """How many findings `check` shows: one for each pair of lines."""
    from fencepost.hosts.ptx.report.shown_findings import distinct

    return sum(each.severity == "error" for each in distinct(changed.file.judged(verdict)))


def show_left(changed: Changed, change: Change) -> None:
    """What no barrier mends, with both of its lines."""
    from dataclasses import replace

    from fencepost.hosts.ptx.report.shown_findings import finding_diagnostics
    from fencepost.report.diagnostics import render

    sys.stdout.flush()
    left = [each for each in change.left if each.severity == "error"]
    judged = changed.file.judged(replace(change.before, findings=tuple(left)))
    for diagnostic in finding_diagnostics(judged):
        print_styled(render(diagnostic), to_stderr=True)


# ---------------------------------------------------------------- words


def prune_lines(changed: Changed, change: Change) -> Iterator[str]:
    """What `prune` did to a kernel, for people."""
    judged = changed.file.judged(change.before)
    first = change is changed.kernels[0]
    if change.before.verdict != "proven":
        yield f"{judged.name}: left as it is, for it is not proven: {_verdict_words(changed, change.before)}"
        yield from (f"  {line}" for line in _reasons(changed, change.before))
        return
    if changed.file.cuda is not None and not first:
        yield f"{judged.name}: {_verdict_words(changed, change.after)}"
        return
    removed, kept = change.removed, change.kept
    where = f" (line {_lines(removed)})" if removed else ""
    name = changed.file.source.name if changed.file.cuda is not None else judged.name
    yield f"{name}: {plural(len(removed), 'barrier')} removed{where}, {len(kept)} kept"
    for each in (*removed, *kept):
        if words := barrier_words(changed, each):
            yield f"  line {each.line}: {words}"
    yield from (f"  {note}" for note in change.notes)
    yield f"  {judged.name}: {_verdict_words(changed, change.after)}"


def insert_lines(changed: Changed, change: Change) -> Iterator[str]:
    """What `insert` did to a kernel, for people."""
    judged = changed.file.judged(change.before)
    if change.inserted:
        yield f"{judged.name}: {plural(len(change.inserted), 'barrier')} inserted (line {_lines(change.inserted)})"
    if change.after.verdict == "undecided":
        yield f"{judged.name}: nothing inserted: not decided"
        yield from (f"  {line}" for line in _reasons(changed, change.before))
    elif change.failed:
        yield f"{judged.name}: left as it is: barriers alone do not mend it. What remains:"
    elif not change.inserted:
        yield f"{judged.name}: {_verdict_words(changed, change.after)}: nothing to insert"
    else:
        yield f"  {judged.name}: {_verdict_words(changed, change.after)}"


def barrier_words(changed: Changed, barrier: Barrier) -> str:
    """What else there is to say about a barrier: its copies, what keeps it, what is left to do."""
    parts = []
    if changed.file.cuda is not None and len(barrier.copies) > 1:
        parts.append(f"{len(barrier.copies)} copies in PTX")
    elif changed.file.cuda is None and barrier.copies and barrier.copies[0].source_line:
        parts.append(str(barrier.copies[0]))
    if barrier.pair is not None:
        parts.append(pair_words(changed.file, barrier.pair))
    elif barrier.why:
        parts.append(barrier.why)
    return "; ".join(parts)


def pair_words(file: PtxFile, pair: GlobalPair) -> str:
    """That a barrier orders global memory."""
    places = [_place(file, site) for site in (pair.first, pair.second)]
    words = f"kept for global memory: {places[0]} and {places[1]}"
    if pair.only_if_pointers_overlap:
        names = [_called(file, base or "") for base in pair.bases]
        words += f", if {names[0]} and {names[1]} overlap (--distinct-pointers: they do not)"
    return words


def _called(file: PtxFile, parameter: str) -> str:
    """A parameter as CUDA calls it."""
    kernel, _, number = parameter.rpartition("_param_")
    names = file.parameter_names(kernel)
    return f"`{names[int(number)]}`" if number.isdigit() and int(number) < len(names) else f"`{parameter}`"


def _place(file: PtxFile, site: Site) -> str:
    from fencepost.hosts.ptx.edits.source_edits import line_in

    line = line_in(site, file.source.name) if file.cuda is not None else site.ptx_line
    return f"`{site.instruction}` (line {line})"


def _lines(barriers: Sequence[Barrier]) -> str:
    return ", ".join(str(each.line) for each in barriers)


def _verdict_words(changed: Changed, verdict: KernelVerdict) -> str:
    from fencepost.hosts.ptx.report.shown_findings import conclusion

    return conclusion(changed.file.judged(verdict))


def _reasons(changed: Changed, verdict: KernelVerdict) -> list[str]:
    from fencepost.hosts.ptx.report.shown_findings import reason_lines

    return reason_lines(changed.file.judged(verdict))


# ---------------------------------------------------------------- JSON


def _prune_json(changed: Changed, change: Change) -> dict[str, Any]:
    return _change_json(changed, change) | {
        "removed": [_barrier_json(each) for each in change.removed],
        "kept": [_barrier_json(each) for each in change.kept],
    }


def _insert_json(changed: Changed, change: Change) -> dict[str, Any]:
    return _change_json(changed, change) | {"inserted": [each.line for each in change.inserted]}


def fixed_json(changed: Changed, change: Change) -> dict[str, Any]:
    """What `fix` did to a kernel, for programs."""
    from fencepost.hosts.ptx.report.verdict_json import verdict_json

    return {
        "kernel": plain_name(change.kernel),
        "mended": change.mended,
        "left": change.unmended,
        "verdict": verdict_json(changed.file.judged(change.after)),
    }


def _change_json(changed: Changed, change: Change) -> dict[str, Any]:
    """A kernel before and after; the text stands in the last entry."""
    from fencepost.hosts.ptx.report.verdict_json import verdict_json

    told: dict[str, Any] = {
        "file": changed.file.file,
        "kernel": plain_name(change.kernel),
        "before": verdict_json(changed.file.judged(change.before)),
        "after": verdict_json(changed.file.judged(change.after)),
        "notes": list(change.notes),
    }
    return told | ({"text": changed.text} if change is changed.kernels[-1] else {})


def _barrier_json(barrier: Barrier) -> dict[str, Any]:
    from fencepost.hosts.ptx.report.verdict_json import site_json

    pair = barrier.pair
    return {
        "line": barrier.line,
        "copies": [site_json(each) for each in barrier.copies],
        "why": barrier.why or None,
        "global_memory": None
        if pair is None
        else {
            "first": site_json(pair.first),
            "second": site_json(pair.second),
            "only_if_pointers_overlap": pair.only_if_pointers_overlap,
        },
    }
