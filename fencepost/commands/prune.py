"""`fencepost prune`: take out barriers that no hazard needs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fencepost.commands.arguments import (
    add_output_arguments,
    add_ptx_arguments,
    add_target_argument,
    refuse_cuda_options,
)
from fencepost.commands.files import ANY_FILE_HELP, kernels_of, put_kernels, read_source
from fencepost.commands.output import print_json, say
from fencepost.hosts.kernel_files import is_thread_level
from fencepost.option_fields import add_options, read_options
from fencepost.phases import begin_file, begin_phase

if TYPE_CHECKING:
    from fencepost.ir.ops import Operation
    from fencepost.ir.source import Span
    from fencepost.ir.trace import CapturedTrace
    from fencepost.passes.prune import Pruned


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.passes.prune import Prune

    parser.add_argument("file", metavar="FILE", help=ANY_FILE_HELP)
    add_target_argument(parser)
    add_options(parser, Prune)
    add_ptx_arguments(parser, pointers=True)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Prune every kernel of the file."""
    from fencepost.passes.prune import Prune
    from fencepost.report.findings import spans_of

    begin_file(options.file, 1, 1)
    source = read_source(options.file)
    if is_thread_level(options.file, source.text):
        from fencepost.commands.ptx_edits import run_prune

        return run_prune(options.file, source, options)
    refuse_cuda_options(options)
    kernels = kernels_of(options.file, source)
    found = []
    target = kernels.target(options.target)
    for kernel in kernels:
        _, spans = spans_of(kernel)
        others = [other for other in kernels if other is not kernel]
        shared = {function.name for other in others for function in other.functions()}
        prune = read_options(Prune, options, target=target, shared=shared, keep=kernels.keep)
        begin_phase(f"pruning @{kernel.name}")
        pruned = prune.apply(kernel)
        found.append((kernel, spans, pruned))
    put_kernels(options, kernels)
    if options.json:
        print_json([_as_json(*each) for each in found])
        return 0
    for each in found:
        for line in _as_text(*each):
            say(line)
    return 0


def _as_json(kernel: CapturedTrace, spans: dict[Operation, Span], pruned: Pruned) -> dict[str, Any]:
    from fencepost.report.findings import op_json

    return {
        "kernel": kernel.name,
        "removed": [op_json(op, spans) for op in pruned.removed],
        "weakened": [op_json(entry.op, spans) | {"before": entry.before} for entry in pruned.weakened],
        "kept": [op_json(op, spans) for op in pruned.kept],
        "limits": list(pruned.limits),
        "uncovered": pruned.uncovered,
        "text": str(kernel),
    }


def _as_text(kernel: CapturedTrace, spans: dict[Operation, Span], pruned: Pruned) -> Iterator[str]:
    from fencepost.ir.ops import MemoryCounterWait
    from fencepost.ir.printer import statement
    from fencepost.report.words import plural

    removed, kept = pruned.removed, pruned.kept
    lines = ", ".join(str(spans[op].line) for op in removed)
    where = f" (line {lines})" if len(removed) == 1 else f" (lines {lines})" if removed else ""
    waits = sum(isinstance(op, MemoryCounterWait) for op in (*removed, *kept))
    what = "barrier or wait" if waits else "barrier"
    many = "barriers and waits" if waits else "barriers"
    yield f"@{kernel.name}: {plural(len(removed), what, many)} removed{where}, {len(kept)} kept"
    if pruned.uncovered:
        yield (
            f"  {plural(pruned.uncovered, 'place')} where a barrier or wait is missing: `fencepost check` says which "
            "are races, `fencepost insert` covers them all"
        )
    for limit in pruned.limits:
        yield f"  not exact: {limit}"
    for entry in pruned.weakened:
        span = spans.get(entry.op) or entry.op.span
        yield f"  line {span.line if span else '?'}: `{entry.before}` became `{statement(entry.op)}`"
