"""`fencepost explain`: for every barrier, what it alone covers; for a code, what it means."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fencepost.commands.arguments import add_as_is_argument, add_ptx_arguments, add_target_argument
from fencepost.commands.files import kernels_of, read_source
from fencepost.commands.output import error_json, print_error, print_json, print_styled
from fencepost.commands.paths import CHECKED, CHECKED_HELP, is_there, kernel_files
from fencepost.hosts.kernel_files import is_thread_level
from fencepost.ir.source import FencepostError
from fencepost.option_fields import add_options, read_options
from fencepost.phases import begin_file, begin_phase

if TYPE_CHECKING:
    from fencepost.ir.ops import Operation
    from fencepost.ir.source import Source, Span
    from fencepost.ir.trace import CapturedTrace
    from fencepost.passes.explain import Explained, Explanation

SHOWN = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.passes.explain import Explain

    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "files", metavar="FILE | CODE", nargs="*", default=[], help=f"{CHECKED_HELP}; or codes, as FP207"
    )
    what.add_argument("--codes", action="store_true", help="list all codes")
    add_target_argument(parser)
    add_options(parser, Explain)
    add_ptx_arguments(parser, pointers=True)
    add_as_is_argument(parser)
    parser.add_argument(
        "-a", "--all", action="store_true", help=f"all reasons of a barrier, not just {SHOWN}"
    )


def run(options: argparse.Namespace) -> int:
    """Explain codes, or the barriers of every kernel of every file; 2 if a file could not be read."""
    from fencepost.codes.lookup import looks_like_a_code

    if options.codes:
        return _list_codes(options)
    if all(looks_like_a_code(name) and not is_there(name) for name in options.files):
        return _explain_codes(options)
    found: list[dict[str, Any]] = []
    codes = [0]
    files = kernel_files(options.files, CHECKED)
    for number, (name, missing) in enumerate(files, 1):
        begin_file(name, number, len(files))
        try:
            if missing is not None:
                raise missing
            found += _explain(name, options)
        except FencepostError as error:
            print_error(error)
            found.append({"file": name, "ok": False, "error": error_json(error)})
            codes.append(error.exit_code)
    if options.json:
        print_json(found)
    elif len(files) > 1:
        sys.stdout.write(f"{_summary(len(files), found)}\n")
    return max(codes)


def _explain(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Explain the kernels of one file; what programs are told about it."""
    from fencepost.passes.explain import Explain

    found: list[dict[str, Any]] = []
    source = read_source(name)
    if is_thread_level(name, source.text):
        return _explain_ptx(name, source, options)
    kernels = kernels_of(name, source, compiled=not options.as_is)
    target = kernels.target(options.target)
    for kernel in kernels:
        begin_phase(f"explaining @{kernel.name}")
        explained = read_options(Explain, options, target=target).apply(kernel)
        if options.json:
            told = _as_json(kernel, explained, target)
            found.append({"file": name, "kernel": kernel.name, **kernels.judged_json(), **told})
            continue
        redundant = sum(bool(entry.redundant) for entry in explained.barriers)
        found.append({"barriers": len(explained.barriers), "redundant": redundant})
        for line in _as_text(kernel, explained, target, None if options.all else SHOWN):
            sys.stdout.write(f"{line}\n")
        _warn_of_uncovered(kernel, explained)
    if kernels.judged and not options.json:
        sys.stdout.write(f"{name}: {kernels.judged}\n")
    return found


def _explain_ptx(name: str, source: Source, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The same for a CUDA or PTX file."""
    from fencepost.commands.ptx_explain import explain_json, explain_text, explained_kernels

    found: list[dict[str, Any]] = []
    for each in explained_kernels(name, source, options):
        if options.json:
            found.append(explain_json(each))
            continue
        redundant = sum(bool(barrier.redundant) for barrier in each.barriers)
        found.append({"barriers": len(each.barriers), "redundant": redundant})
        explain_text(each, None if options.all else SHOWN)
    return found


def _summary(files: int, found: list[dict[str, Any]]) -> str:
    """All files in one line."""
    from fencepost.report.words import plural

    read = [entry for entry in found if "error" not in entry]
    barriers = plural(sum(entry["barriers"] for entry in read), "barrier")
    redundant = sum(entry["redundant"] for entry in read)
    failed = len(found) - len(read)
    more = f"; {plural(failed, 'file')} could not be read" if failed else ""
    kernels = plural(len(read), "kernel")
    return f"{plural(files, 'file')}, {kernels}: {barriers}, {redundant} of them redundant{more}"


def _explain_codes(options: argparse.Namespace) -> int:
    from fencepost.codes.lookup import page_of
    from fencepost.codes.show import shown

    pages = [page_of(name) for name in options.files]
    if options.json:
        told = [page.as_json() for page in pages]
        _print_pages(told if len(told) > 1 else told[0])
        return 0
    for number, page in enumerate(pages):
        sys.stdout.write("\n" if number else "")
        print_styled(shown(page))
    return 0


def _print_pages(told: object) -> None:
    """Pages for programs: no entries about kernels, so not what the schema of this command describes."""
    json.dump(told, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def _list_codes(options: argparse.Namespace) -> int:
    from fencepost.codes.lookup import known_codes, page_of

    pages = [page_of(code) for code in known_codes()]
    if options.json:
        _print_pages([{"code": page.code, "title": page.title} for page in pages])
    else:
        sys.stdout.writelines(f"{page.code}  {page.title}\n" for page in pages)
    return 0


def _as_json(kernel: CapturedTrace, explained: Explanation, target: str) -> dict[str, Any]:
    from fencepost.report.findings import op_json, spans_of
    from fencepost.report.hazard_json import hazard_json
    from fencepost.report.slot_words import apart_sentence
    from fencepost.report.stalls import stall_json, stalls_of

    _, spans = spans_of(kernel)
    stalls = stalls_of(kernel, target)
    return {
        "barriers": [
            op_json(entry.op, spans)
            | {
                "redundant": entry.redundant or None,
                "note": entry.note or None,
                "stall": stall_json(stalls.get(entry.op)),
                "hazards": [hazard_json(hazard, spans) for hazard in entry.hazards],
            }
            for entry in explained.barriers
        ],
        "uncovered": [hazard_json(hazard, spans) for hazard in explained.uncovered],
        "apart": [
            {
                "first": op_json(pair.first, spans),
                "second": op_json(pair.second, spans),
                "loop": pair.loop.var,
                "distances": list(pair.distances),
                "barrier": op_json(pair.barrier, spans) if pair.barrier else None,
                "why": apart_sentence(pair, spans),
            }
            for pair in explained.apart
        ],
        "solver": {"questions": explained.questions, "solved": explained.solved},
        "limits": list(explained.limits),
    }


def _as_text(kernel: CapturedTrace, explained: Explanation, target: str, most: int | None) -> Iterator[str]:
    """Line by line; at most so many reasons of a barrier, and pairs of accesses to different slots."""
    from fencepost.report.findings import spans_of
    from fencepost.report.slot_words import apart_sentence
    from fencepost.report.stalls import stall_sentence, stalls_of

    source, spans = spans_of(kernel)
    stalls = stalls_of(kernel, target)
    if not explained.barriers:
        yield f"{source.name}: @{kernel.name} has no barriers"
    for entry in explained.barriers:
        yield from _entry(
            entry, f"{source.name}:{spans[entry.op]}", stall_sentence(stalls.get(entry.op)), spans, most
        )
    if explained.apart:
        yield "accesses to different slots:"
        for pair in explained.apart[:most]:
            yield f"  {apart_sentence(pair, spans)}"
        yield from _more(len(explained.apart), most)
    for limit in explained.limits:
        yield f"not exact: {limit}"


def _entry(
    entry: Explained, where: str, stall: str, spans: dict[Operation, Span], most: int | None
) -> Iterator[str]:
    from fencepost.ir.ops import SharedMemoryBarrierSignal
    from fencepost.report.words import NAMES, consequence

    if entry.redundant:
        yield f"{where}: redundant: {entry.redundant}"
        return
    if isinstance(entry.op, SharedMemoryBarrierSignal):
        yield f"{where}: {entry.note}{stall}"
        return
    yield f"{where}: needed{stall}"
    if entry.note:
        yield f"  {entry.note}"
    for hazard in entry.hazards[:most]:
        yield f"  {NAMES[hazard.kind]}: without this, {consequence(hazard, spans)}"
    yield from _more(len(entry.hazards), most)


def _more(count: int, most: int | None) -> Iterator[str]:
    if most is not None and count > most:
        yield f"  and {count - most} more (--all shows them)"


def _warn_of_uncovered(kernel: CapturedTrace, explained: Explanation) -> None:
    from fencepost.report.diagnostics import Diagnostic, render
    from fencepost.report.findings import spans_of
    from fencepost.report.heeded_comments import allowed_pairs
    from fencepost.report.words import plural

    is_allowed = allowed_pairs(kernel) if explained.uncovered else None
    left = [
        hazard
        for hazard in explained.uncovered
        if is_allowed is None or not is_allowed(hazard.producer, hazard.consumer)
    ]
    if len(left) < len(explained.uncovered):
        allowed = plural(len(explained.uncovered) - len(left), "hazard")
        sys.stdout.write(f"{allowed} that no barrier covers, as a comment allows\n")
    if left:
        source, _ = spans_of(kernel)
        count = "more than " * explained.more + plural(len(left), "hazard")
        text = f"{count} of @{kernel.name} that no barrier covers"
        note = (("help", "`fencepost check` tells which are real, `fencepost insert` covers them all"),)
        print_styled(render(Diagnostic("FP301", text, (), note, source, "warning")))
