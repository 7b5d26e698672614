"""Barriers taken out of CUDA code and put into it.

One barrier of the source is many in PTX where loops are unrolled, functions inlined and templates instantiated. It is
redundant only if all of its copies are, together, in every kernel of the file: they are taken out of the PTX that was
compiled with them, so that no access has moved. Every changed text is compiled and judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fencepost.hosts.ptx.asked_launch import AskedLaunch
from fencepost.hosts.ptx.cuda_source.cuda_statements import (
    CLUSTER_ASSEMBLY,
    CLUSTER_SYNC,
    SYNC,
    WARP_SYNC,
    end_of_function,
    places_before,
    without_barrier,
)
from fencepost.hosts.ptx.edits.fix_races import Mended, Mender, count_of, is_at_the_end, mend, needs_cluster
from fencepost.hosts.ptx.edits.text_edits import as_good, barriers, global_pair, without
from fencepost.hosts.ptx.proof.global_memory import GlobalPair
from fencepost.hosts.ptx.reading.module import Instruction, Label
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Site
from fencepost.ir.source import FencepostError


@dataclass(frozen=True)
class Compiler:
    """How a text of the file is compiled, and how its kernels are launched."""

    compile: Callable[[str], str]
    """The PTX of a text."""
    judge: Callable[[str, str], KernelVerdict]
    """The verdict on a kernel in a text, in the order of the source as well."""
    launch: Callable[[str], AskedLaunch]
    """For a kernel by its name in PTX."""
    name: str
    """The file."""


@dataclass(frozen=True)
class LineBarrier:
    """A barrier as it is written: its line, and its copies in PTX."""

    line: int | None
    copies: tuple[Site, ...]
    why: str = ""
    """Why it stays, where nothing in shared memory needs it."""
    pair: GlobalPair | None = None
    """Accesses to global memory that keep it."""
    by_hand: bool = False
    """Whether it is redundant, but not written as `__syncthreads();` on its line."""


@dataclass
class EditedSource:
    """A CUDA file after an edit."""

    text: str
    removed: list[LineBarrier] = field(default_factory=list)
    kept: list[LineBarrier] = field(default_factory=list)
    inserted: list[int] = field(default_factory=list)
    """Where barriers that were put in begin in the text."""
    before: dict[str, KernelVerdict] = field(default_factory=dict)
    after: dict[str, KernelVerdict] = field(default_factory=dict)
    left: tuple[Finding, ...] = ()
    """What no barrier mends."""
    notes: list[str] = field(default_factory=list)

    @property
    def inserted_lines(self) -> list[int]:
        """The lines of the text that barriers were put on."""
        return sorted(self.text.count("\n", 0, place) + 1 for place in self.inserted)


def line_in(site: Site, name: str) -> int | None:
    """The line of a file that an instruction was made from: where a header was inlined, the call."""
    if site.source_line and Path(site.source_file or "").name == Path(name).name:
        return site.source_line
    return site.inlined_at[-1] if site.inlined_at else None


def written_barriers(ptx: str, name: str) -> dict[int | None, dict[str, list[Instruction]]]:
    """The barriers of a text by the line they are written on, and by kernel."""
    module = parse(ptx)
    found: dict[int | None, dict[str, list[Instruction]]] = {}
    for kernel in module.kernels:
        for each in barriers(module, kernel.name):
            line = line_in(each.site, name)
            found.setdefault(line, {}).setdefault(kernel.name, []).append(each)
    return dict(sorted(found.items(), key=lambda item: item[0] or 0))


# ---------------------------------------------------------------- prune


def prune_source(text: str, kernels: Sequence[str], compiler: Compiler) -> EditedSource:
    """Takes the barriers out of a CUDA file that no kernel of it needs; `kernels` are those that are asked about."""
    ptx = compiler.compile(text)
    edited = EditedSource(text)
    edited.before = {each: compiler.launch(each).judge(ptx, each) for each in kernels}
    for line, copies in written_barriers(ptx, compiler.name).items():
        if not copies.keys() & set(kernels):
            continue
        sites = tuple(each.site for group in copies.values() for each in group)
        now = written_barriers(ptx, compiler.name).get(line, {})
        kept = _kept_because(ptx, now, edited, compiler)
        if line is None:
            kept = kept or LineBarrier(None, (), "its line is not known")
        if kept is not None:
            edited.kept.append(LineBarrier(line, sites, kept.why, kept.pair))
            continue
        shorter = without_barrier(edited.text, line or 0)
        edited.removed.append(LineBarrier(line, sites, by_hand=shorter is None))
        if shorter is not None:
            edited.text = shorter
        ptx = without(ptx, *(each for group in now.values() for each in group))
    edited.after = dict(edited.before)
    if edited.text != text:
        _compile_again(text, edited, compiler)
    return edited


def _kept_because(
    ptx: str, copies: dict[str, list[Instruction]], edited: EditedSource, compiler: Compiler
) -> LineBarrier | None:
    """Why a barrier stays; None if all of its copies can go together."""
    shorter = without(ptx, *(each for group in copies.values() for each in group))
    for kernel, group in copies.items():
        launch = compiler.launch(kernel)
        if kernel not in edited.before:
            edited.before[kernel] = launch.judge(ptx, kernel)
        before = edited.before[kernel]
        if before.verdict != "proven":
            return LineBarrier(None, (), f"{kernel} is not proven")
        if not as_good(launch.judge(shorter, kernel), before):
            return LineBarrier(None, ())
        pair = global_pair(ptx, kernel, group, launch)
        if pair is not None:
            return LineBarrier(None, (), "it may put accesses to global memory in order", pair)
    return None


def _compile_again(text: str, edited: EditedSource, compiler: Compiler) -> None:
    """Judges what the compiler makes of the changed text; it stays as it was if that is not as good."""
    try:
        before = {each: compiler.judge(text, each) for each in edited.before}
        after = {each: compiler.judge(edited.text, each) for each in edited.before}
    except FencepostError as error:
        after = {}
        edited.notes.append(f"without them the file does not compile: {error.message}")
    if after and all(as_good(after[each], before[each]) for each in edited.before):
        edited.after = after
        return
    if after:
        edited.notes.append("compiled again without them, it is not proven: the file stays as it is")
    edited.text = text
    edited.kept, edited.removed = [*edited.kept, *edited.removed], []


# ---------------------------------------------------------------- insert


def insert_source(text: str, kernels: Sequence[str], compiler: Compiler) -> EditedSource:
    """Puts barriers where races are until no kernel has any; a kernel that cannot be mended whole stays as it is."""
    edited = EditedSource(text)
    edited.before = {each: compiler.judge(text, each) for each in kernels}
    edited.after = dict(edited.before)
    for kernel in kernels:
        if edited.after[kernel].verdict == "race":
            _mend(edited, kernel, compiler)
    return edited


def _mend(edited: EditedSource, kernel: str, compiler: Compiler) -> None:
    """Mends one kernel, if that can be done without harm to the others."""
    given = edited.after
    others = _barrier_counts(compiler.compile(edited.text), given)
    tried: dict[str, dict[str, KernelVerdict]] = {}

    def judge(text: str) -> KernelVerdict | None:
        try:
            ptx = compiler.compile(text)
        except FencepostError:
            return None  # no place for a statement
        if _barrier_counts(ptx, given) != others:
            return None  # a kernel that nobody asked about would get it as well
        tried[text] = {each: compiler.judge(text, each) for each in given}
        harmless = all(_no_worse(tried[text][each], given[each]) for each in given if each != kernel)
        return tried[text][kernel] if harmless else None

    statements = partial(_statements, edited.text)
    mended = mend(edited.text, given[kernel], Mender(statements, partial(_places, compiler.name), judge))
    if mended.verdict.verdict != "proven":
        edited.left += mended.verdict.findings
        return
    edited.after = tried[mended.text]
    edited.inserted = [*(_moved(each, mended) for each in edited.inserted), *(at for at, _ in mended.added)]
    edited.text = mended.text


def _moved(place: int, mended: Mended) -> int:
    """Where something is after barriers were put in before it."""
    for at, put in mended.added:
        place += len(put) if at <= place else 0
    return place


def _barrier_counts(ptx: str, asked: Collection[str]) -> dict[str, int]:
    """How many barriers the kernels have that nobody asked about."""
    module = parse(ptx)
    return {
        each.name: len(barriers(module, each.name)) + sum(map(_is_of_warp_or_cluster, each.body))
        for each in module.kernels
        if each.name not in asked
    }


def _is_of_warp_or_cluster(item: Instruction | Label) -> bool:
    return isinstance(item, Instruction) and item.parts[:2] in (("barrier", "cluster"), ("bar", "warp"))


def _statements(text: str, race: Finding) -> tuple[str, ...]:
    """The barriers that may mend a finding, in CUDA."""
    if not needs_cluster(race):
        return (WARP_SYNC, SYNC) if race.in_one_warp else (SYNC,)
    return (CLUSTER_SYNC if "cooperative_groups.h" in text else CLUSTER_ASSEMBLY,)


def _no_worse(after: KernelVerdict, before: KernelVerdict) -> bool:
    if before.verdict == "proven":
        return as_good(after, before)
    return after.verdict == "proven" or (
        after.verdict == before.verdict and count_of(after) <= count_of(before)
    )


def _places(name: str, text: str, race: Finding) -> tuple[list[int], list[int]]:
    """Where a barrier may mend a race: before the second access, and before the first for the next iteration."""
    second, first = (line_in(site, name) for site in (race.second, race.first))
    if second is None or first is None:
        return [], []
    if is_at_the_end(race):
        return end_of_function(text, second), []
    # A function may be called in a loop: then a barrier before both of its accesses is between them, too.
    called = bool(race.first.inlined_at or race.second.inlined_at)
    return (
        places_before(text, second, None if called else first),
        places_before(text, first, None if called else second),
    )
