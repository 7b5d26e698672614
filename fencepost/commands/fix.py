"""`fencepost fix`: what `check` finds, mended, and shown as a diff first."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from fencepost.commands.arguments import (
    add_as_is_argument,
    add_ptx_arguments,
    add_target_argument,
    refuse_unknown_target,
)
from fencepost.commands.files import BOM, STDIN, begins_with_bom, kernels_of, read_source, write_back
from fencepost.commands.output import error_json, print_error, print_json, print_styled, say
from fencepost.commands.paths import CHECKED, CHECKED_HELP, kernel_files
from fencepost.hosts.kernel_files import is_thread_level
from fencepost.ir.source import FencepostError
from fencepost.option_fields import add_options, read_options
from fencepost.phases import begin_file

if TYPE_CHECKING:
    from fencepost.commands.ptx_edits import Changed
    from fencepost.hosts.kernel_files import Kernels
    from fencepost.passes.fix import FixedKernel, FixedText
    from fencepost.passes.insert import Insert


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.passes.insert import Insert

    parser.add_argument("files", metavar="FILE", nargs="+", help=CHECKED_HELP)
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--diff", action="store_true", help="show what would change, and write nothing (default)"
    )
    where.add_argument(
        "-w", "--write", action="store_true", help="write the mended kernels back into FILE as well"
    )
    add_target_argument(parser)
    add_options(parser, Insert)
    add_ptx_arguments(parser)
    add_as_is_argument(parser)


LEFT = "left as it is, for barriers and stronger waits do not mend it, and no wait is put into a module"


@dataclass(slots=True)
class _Outcome:
    """What became of one file."""

    file: str
    fixed: FixedText | None = None
    error: FencepostError | None = None
    """Why it could not be read or mended."""
    notes: list[str] = field(default_factory=list)
    ptx: Changed | None = None
    """What became of a CUDA or PTX file."""

    @property
    def texts(self) -> tuple[str, str]:
        """The file before and after."""
        if self.ptx is not None:
            return self.ptx.file.source.text, self.ptx.text
        return (self.fixed.before, self.fixed.after) if self.fixed is not None else ("", "")

    @property
    def changed(self) -> bool:
        return self.texts[0] != self.texts[1]

    @property
    def code(self) -> int:
        if self.error is not None:
            return self.error.exit_code
        if self.ptx is not None:
            return 1 if any(each.failed for each in self.ptx.kernels) else 0
        assert self.fixed is not None
        return 1 if any(kernel.left for kernel in self.fixed.kernels) else 0


def run(options: argparse.Namespace) -> int:
    """Mend every file; 1 if something is left that cannot be mended, 2 if a file could not be judged."""
    from fencepost.placement import strategy_named

    # A mistyped name is no reason why a kernel cannot be mended.
    strategy_named(options.strategy)
    refuse_unknown_target(options.target or "")
    files = kernel_files(options.files, CHECKED)
    if options.write and any(name == STDIN for name, _ in files):
        raise FencepostError("-w needs a file to write back to, not standard input", code="FP112")
    outcomes = []
    for number, (name, missing) in enumerate(files, 1):
        begin_file(name, number, len(files))
        outcome = _Outcome(name, error=missing) if missing is not None else _fixed(name, options)
        outcomes.append(outcome)
        if options.write and outcome.changed:
            write_back(name, outcome.texts[1])
        if outcome.error is not None:
            print_error(outcome.error)
        if not options.json:
            _print(outcome, options)
    if options.json:
        print_json([_as_json(outcome, options) for outcome in outcomes])
    elif len(files) > 1:
        say(_summary(outcomes, options))
    return max(outcome.code for outcome in outcomes)


def _fixed(name: str, options: argparse.Namespace) -> _Outcome:
    from fencepost.passes.fix import fix_text
    from fencepost.passes.insert import Insert
    from fencepost.report.heeded_comments import check_heeding_comments, insert_heeding_comments
    from fencepost.targets import target_named

    try:
        read = read_source(name)
        if is_thread_level(name, read.text):
            from fencepost.commands.ptx_edits import inserted
            from fencepost.commands.ptx_files import read_ptx_file

            return _Outcome(name, ptx=inserted(read_ptx_file(name, read, options)))
        target_named(options.target or "")
        kernels = kernels_of(name, read, compiled=not options.as_is)
        insert = read_options(Insert, options, target=kernels.target(options.target))
        if kernels.translations:
            return _fixed_module(name, kernels, insert)
        source = kernels.traces[0].source
        assert source is not None
        put_in = insert_heeding_comments(insert)
        fixed = fix_text(source.text, source.name, insert=put_in, judge=check_heeding_comments)
        return _Outcome(name, fixed)
    except FencepostError as error:
        return _Outcome(name, error=error)


def _fixed_module(name: str, kernels: Kernels, insert: Insert) -> _Outcome:
    """A Triton module: barriers are put in and waits made stronger; what comes out is read and checked once more."""
    from fencepost.hosts.kernel_files import read_triton
    from fencepost.ir.source import Source
    from fencepost.passes.fix import FixedKernel, FixedText
    from fencepost.report.heeded_comments import check_heeding_comments as check

    before = [check(kernel) for kernel in kernels.to_check()]
    source = kernels.translations[0].module.source
    assert source is not None
    text, after, notes = source.text, before, []
    if kernels.lowered and not all(report.ok for report in before):
        notes = [
            "found behind Triton's own lowering, which this file comes before: nothing in it can be mended"
        ]
    elif not all(report.ok for report in before):
        try:
            now = kernels.text([*kernels.apply(replace(insert, stronger_waits=True))])
        except FencepostError as error:
            notes, now = [f"{LEFT}: {error.message} ({error.code})"], text
        if now != text:
            again = [check(kernel) for kernel in read_triton(Source(source.name, now)).to_check()]
            if all(report.ok for report in again):
                text, after = now, again
            else:
                notes = [LEFT]
    fixed = [
        FixedKernel(old.kernel.name, old, new)
        for old, new in zip(before, after, strict=True)
        if old.kernel is not None
    ]
    return _Outcome(name, FixedText(source.text, text, tuple(fixed)), notes=notes)


def _print(outcome: _Outcome, options: argparse.Namespace) -> None:
    """The diff on standard output, which `patch` understands; what was done and what is left beside it."""
    from fencepost.report.diagnostics import render
    from fencepost.report.findings import grouped

    fixed = outcome.fixed
    if outcome.error is not None:
        return
    sys.stdout.write("".join(_diff(outcome)))
    sys.stdout.flush()
    if outcome.ptx is not None:
        from fencepost.commands.ptx_edits import say_fixed

        say_fixed(outcome.ptx, written=options.write)
    if fixed is None:
        return
    for kernel in fixed.kernels:
        if kernel.left and kernel.after.kernel is not None:
            shown, _ = grouped(kernel.after.kernel, kernel.after)
            for diagnostic in shown:
                print_styled(render(diagnostic), to_stderr=True)
        say(f"{outcome.file}: @{kernel.name}: {_words(kernel, options)}")
    for note in outcome.notes:
        say(f"{outcome.file}: {note}")


def _summary(outcomes: list[_Outcome], options: argparse.Namespace) -> str:
    """All files in one line."""
    from fencepost.report.words import plural

    kernels = [kernel for outcome in outcomes if outcome.fixed for kernel in outcome.fixed.kernels]
    mended, left = sum(kernel.mended for kernel in kernels), sum(kernel.left for kernel in kernels)
    threads = [kernel for outcome in outcomes if outcome.ptx for kernel in outcome.ptx.kernels]
    mended, left = (
        mended + sum(kernel.mended for kernel in threads),
        left + sum(kernel.unmended for kernel in threads),
    )
    undecided = sum(kernel.after.verdict == "undecided" for kernel in threads)
    failed = sum(outcome.error is not None for outcome in outcomes)
    parts = (
        [f"{plural(mended, 'finding')} {'mended' if options.write else 'would be mended'}"] if mended else []
    )
    parts += [f"{plural(left, 'finding')} cannot be mended"] if left else []
    parts += [f"{plural(undecided, 'kernel')} not decided"] if undecided else []
    parts += [f"{plural(failed, 'file')} could not be judged"] if failed else []
    return f"{plural(len(outcomes), 'file')}: {'; '.join(parts) or 'nothing to mend'}"


def _words(kernel: FixedKernel, options: argparse.Namespace) -> str:
    from fencepost.report.words import plural

    parts = []
    if kernel.mended:
        done = "mended" if options.write else "would be mended (-w writes it)"
        parts.append(f"{plural(kernel.mended, 'finding')} {done}")
    if kernel.left:
        parts.append(f"{plural(kernel.left, 'finding')} cannot be mended")
    allowed = kernel.after.silenced
    more = f"; {plural(allowed, 'finding')} left, as a comment allows" if allowed else ""
    return f"{', '.join(parts) or 'nothing to mend'}{more}"


def _diff(outcome: _Outcome) -> Iterator[str]:
    mark = BOM if outcome.file != STDIN and begins_with_bom(outcome.file) else ""
    # Not splitlines(): a form feed in a comment ends no line for `patch`.
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", mark + text) for text in outcome.texts)
    for line in unified_diff(before, after, f"a/{outcome.file}", f"b/{outcome.file}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _as_json(outcome: _Outcome, options: argparse.Namespace) -> dict[str, Any]:
    from fencepost.report.findings import report_json

    if outcome.error is not None:
        return {"file": outcome.file, "ok": False, "error": error_json(outcome.error)}
    told = {
        "file": outcome.file,
        "ok": outcome.code == 0,
        "changed": outcome.changed,
        "written": bool(outcome.changed and options.write),
        "diff": "".join(_diff(outcome)),
        "notes": outcome.notes,
    }
    if outcome.ptx is not None:
        from fencepost.commands.ptx_edits import fixed_json

        return told | {"kernels": [fixed_json(outcome.ptx, each) for each in outcome.ptx.kernels]}
    assert outcome.fixed is not None
    return told | {
        "kernels": [
            {
                "kernel": kernel.name,
                "mended": kernel.mended,
                "left": kernel.left,
                "check": report_json(kernel.after.kernel, kernel.after) if kernel.after.kernel else None,
            }
            for kernel in outcome.fixed.kernels
        ],
    }
