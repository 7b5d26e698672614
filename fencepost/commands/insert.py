"""`fencepost insert`: add the barriers that a kernel lacks.

Its options are the fields of `passes.insert.Insert` and `placement.options.PlacementOptions`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from fencepost.commands.arguments import (
    add_output_arguments,
    add_ptx_arguments,
    add_target_argument,
    refuse_cuda_options,
)
from fencepost.commands.files import ANY_FILE_HELP, kernels_of, put_kernels, read_source
from fencepost.commands.output import print_json, say
from fencepost.hosts.kernel_files import Kernels, is_thread_level
from fencepost.option_fields import add_options, read_options
from fencepost.phases import begin_file

if TYPE_CHECKING:
    from fencepost.emit.write import Barrier, Inserted
    from fencepost.ir.ops import Operation
    from fencepost.ir.source import Span
    from fencepost.ir.trace import CapturedTrace
    from fencepost.report.silencing import Silenced


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.passes.insert import Insert

    parser.add_argument("file", metavar="FILE", help=ANY_FILE_HELP)
    add_target_argument(parser)
    add_options(parser, Insert)
    add_ptx_arguments(parser)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Insert into every kernel of the file; nothing is written unless all of them work out."""
    from fencepost.passes.insert import Insert

    begin_file(options.file, 1, 1)
    source = read_source(options.file)
    if is_thread_level(options.file, source.text):
        from fencepost.commands.ptx_edits import run_insert

        return run_insert(options.file, source, options)
    refuse_cuda_options(options)
    kernels = kernels_of(options.file, source)
    insert = read_options(Insert, options, target=kernels.target(options.target))
    results = [*kernels.apply(insert)]
    if _mbarriers_fail(kernels):
        return 1
    allowed = [_still_silenced(kernel) for kernel in kernels]
    put_kernels(options, kernels)
    found = list(zip(kernels, results, allowed, strict=True))
    if options.json:
        print_json([_as_json(*each) for each in found])
        return 0
    for each in found:
        for line in _as_text(*each):
            say(line)
    return 0


def _still_silenced(kernel: CapturedTrace) -> Silenced:
    """The findings that comments allow. `check` is not even loaded for most kernels, here and for mbarriers below."""
    from fencepost.report.allow_comments import MARK

    if not kernel.may_mention(MARK):
        return {}
    from fencepost.report.heeded_comments import still_silenced

    return still_silenced(kernel)


def _as_json(kernel: CapturedTrace, result: Inserted, allowed: Silenced) -> dict[str, Any]:
    from fencepost.ir.printer import locate
    from fencepost.report.allow_comments import silenced_json
    from fencepost.report.stalls import estimate_json
    from fencepost.report.words import assumed_json

    _, spans = locate(kernel)
    return {
        "kernel": kernel.name,
        "target": result.target,
        "instruction": result.instruction,
        "strategy": result.strategy,
        "executed": result.executed,
        "proof": result.proof or None,
        "limits": list(result.limits),
        "assumed": assumed_json(result.assumed, spans),
        "barriers": [_barrier_json(barrier, spans) for barrier in result.barriers],
        "upgraded": [_barrier_json(barrier, spans) for barrier in result.upgraded],
        "fenced": [_barrier_json(barrier, spans) for barrier in result.fenced],
        "estimate": estimate_json(kernel, result.target),
        "solver": {"questions": result.questions, "solved": result.solved},
        **({"silenced": silenced_json(allowed)} if allowed else {}),
        "text": str(kernel),
    }


def _as_text(kernel: CapturedTrace, result: Inserted, allowed: Silenced) -> Iterator[str]:
    from fencepost.ir.ops import MemoryCounterWait
    from fencepost.report.words import assumed_words, plural, times

    many = plural(len(result.barriers), "barrier")
    if any(isinstance(barrier.op, MemoryCounterWait) for barrier in result.barriers):
        many = plural(len(result.barriers), "barrier or wait", "barriers and waits")
    yield f"@{kernel.name}: {many} inserted by {result.strategy}, executed {times(result.executed)}"
    if result.proof:
        yield f"  {result.proof}"
    for limit in result.limits:
        yield f"  not exact: {limit}"
    if result.barriers and result.assumed:
        yield f"  assumed: {assumed_words(result.assumed)}"
    waits = [each for each in result.upgraded if isinstance(each.op, MemoryCounterWait)]
    barriers = [each for each in result.upgraded if each not in waits]
    for changed, name, what in ((barriers, "barrier", "for async operations"), (waits, "wait", "for more")):
        if changed:
            verb = "now waits" if len(changed) == 1 else "now wait"
            many = plural(len(changed), name)
            yield f"  {many} of the kernel {verb} {what} (line {_lines(kernel, changed)})"
    if result.fenced:
        many = plural(len(result.fenced), "workgroup barrier")
        has = "now has a fence" if len(result.fenced) == 1 else "now have a fence"
        yield f"  {many} of the kernel {has} (line {_lines(kernel, result.fenced)})"
    for comment, findings in allowed.items():
        left = plural(len(findings), "finding")
        yield f"  no barrier for {left} that a comment allows ({comment.code}): {comment.reason}"


def _lines(kernel: CapturedTrace, barriers: Iterable[Barrier]) -> str:
    from fencepost.ir.printer import locate

    _, spans = locate(kernel)
    return ", ".join(str(spans[barrier.op].line) for barrier in barriers)


def _mbarriers_fail(kernels: Kernels) -> bool:
    """Whether mbarriers are used in a way that no barrier can repair; what is wrong is printed then."""
    from fencepost.ir.ops import MbarrierOperation

    concerned = [
        kernel
        for kernel in kernels.to_check()
        if any(isinstance(op, MbarrierOperation) for op in kernel.preorder_walk())
    ]
    if not concerned:
        return False
    from fencepost.report.diagnostics import render
    from fencepost.report.findings import MOST_SHOWN, grouped, not_shown
    from fencepost.report.heeded_comments import check_heeding_comments

    failed = False
    for kernel in concerned:
        shown, left = grouped(kernel, check_heeding_comments(kernel), MOST_SHOWN)
        for diagnostic in shown:
            failed = True
            say(render(diagnostic).plain)
        if left:
            say(not_shown(left))
    if failed:
        say("barriers cannot repair how mbarriers are used: nothing was written")
    return failed


def _barrier_json(barrier: Barrier, spans: dict[Operation, Span]) -> dict[str, Any]:
    from fencepost.ir.printer import statement
    from fencepost.report.hazard_json import hazard_json

    return {
        "line": spans[barrier.op].line,
        "operation": statement(barrier.op),
        "others": [{"line": spans[other].line, "operation": statement(other)} for other in barrier.others],
        "executed": barrier.executed,
        "hazards": [hazard_json(hazard, spans) for hazard in barrier.hazards],
    }
