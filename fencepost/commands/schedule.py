"""`fencepost schedule`: rearrange a loop so that two groups of waves take turns at the matrix unit."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from fencepost.commands.arguments import add_output_arguments
from fencepost.commands.files import put_kernels, read_kernels, write_text
from fencepost.commands.output import print_json, say
from fencepost.option_fields import add_options, read_options
from fencepost.phases import begin_file, begin_phase

if TYPE_CHECKING:
    from fencepost.ir.source import FencepostError
    from fencepost.ir.trace import CapturedTrace
    from fencepost.passes.schedule import Compared
    from fencepost.schedule import Constraints, Scheduled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    from fencepost.passes.schedule import Schedule

    parser.add_argument("file", metavar="FILE", help="a kernel in text form (.fp), or - for standard input")
    add_options(parser, Schedule)
    parser.add_argument(
        "--timeline", metavar="SVG", help="draw the units at work before and after, and write that there"
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Schedule every kernel of the file; nothing is written unless all of them work out."""
    from fencepost.ir.source import FencepostError
    from fencepost.passes.schedule import Schedule

    schedule = read_options(Schedule, options)
    begin_file(options.file, 1, 1)
    kernels = read_kernels(options.file)
    if kernels.translations:
        raise FencepostError("only kernels in text form can be scheduled", code="FP514")
    results = []
    for kernel in kernels:
        begin_phase(f"scheduling @{kernel.name}")
        results.append((kernel, schedule.constraints(kernel), *schedule.apply(kernel)))
    if options.timeline:
        _draw([(kernel, scheduled, compared) for kernel, _, scheduled, compared in results], options.timeline)
    put_kernels(options, kernels)
    if options.json:
        print_json([_as_json(*result) for result in results])
        return 0
    for kernel, constraints, scheduled, compared in results:
        for text in _words(kernel, constraints, scheduled, compared):
            say(text)
    return 0


def _draw(results: list[tuple[CapturedTrace, Scheduled, Compared | None]], path: str) -> None:
    from fencepost.ir.source import FencepostError
    from fencepost.timing.comparison import draw_comparison

    drawn = [(kernel, scheduled, compared) for kernel, scheduled, compared in results if compared is not None]
    if len(drawn) != 1:
        raise FencepostError(
            f"{len(drawn) or 'no'} scheduled kernels in this file; a timeline shows one", code="FP102"
        )
    ((kernel, scheduled, compared),) = drawn
    shown = scheduled.strategy if scheduled.strategy in compared.after else next(iter(compared.after))
    before, after = compared.before, compared.after[shown]
    titles = (
        f"@{kernel.name} as it came: matrix unit busy {before.utilisation:.0%}",
        f"@{kernel.name} with {shown}: matrix unit busy {after.utilisation:.0%}",
    )
    write_text(path, draw_comparison((before.timing, before.loop), (after.timing, after.loop), titles))


def _words(
    kernel: CapturedTrace, constraints: Constraints, scheduled: Scheduled, compared: Compared | None
) -> list[str]:
    from fencepost.ir import ops
    from fencepost.report.findings import verdict
    from fencepost.report.words import plural
    from fencepost.timing.result import CAVEAT

    lines = []
    if scheduled.loop is None:
        why = "the matrix unit would not be busier" if compared is not None else "no strategy fits"
        lines.append(f"@{kernel.name}: left as it is: {why}")
    else:
        barriers = ops.SharedMemoryBarrier | ops.WorkgroupBarrier
        inside = [
            op for op in scheduled.added if isinstance(op, barriers) and op.graph is scheduled.loop.body
        ]
        many = plural(len(inside), "barrier")
        lines.append(f"@{kernel.name}: {scheduled.strategy}, {many} an iteration")
        report = scheduled.report
        if report is not None:
            lines.append(f"  checked: {verdict(report)} ({report.explored})")
            if not report.ok:
                lines.append("  what the kernel lacks outside of the loop, `fencepost insert` adds")
    if compared is not None:
        target = constraints.hardware.target
        lines.append(f"  matrix unit on {target}: busy {compared.before.utilisation:.0%} before ({CAVEAT})")
        lines += [f"    {name}: {each.utilisation:.0%}" for name, each in compared.after.items()]
    refusals = dict(scheduled.refusals) | (compared.refusals if compared is not None else {})
    lines += [f"  {name} does not fit: {error.message} ({error.code})" for name, error in refusals.items()]
    return lines


def _as_json(
    kernel: CapturedTrace, constraints: Constraints, scheduled: Scheduled, compared: Compared | None
) -> dict[str, Any]:
    from fencepost.ir.printer import locate, statement
    from fencepost.report.findings import report_json
    from fencepost.timing.result import CAVEAT

    _, spans = locate(kernel)
    refusals = dict(scheduled.refusals) | (compared.refusals if compared is not None else {})
    estimate = None
    if compared is not None:
        estimate = {
            "estimate": CAVEAT,
            "before": _use(compared.before.timing.cycles, compared.before.utilisation),
            "after": {
                name: _use(each.timing.cycles, each.utilisation) for name, each in compared.after.items()
            },
        }
    return {
        "kernel": kernel.name,
        "target": constraints.hardware.target,
        "strategy": scheduled.strategy,
        "added": [
            {"line": spans[op].line, "operation": statement(op).removesuffix(" {"), "why": op.comment or None}
            for op in scheduled.added
        ],
        "refusals": {name: _error_json(error) for name, error in refusals.items()},
        "matrix_unit": estimate,
        "check": report_json(kernel, scheduled.report) if scheduled.report is not None else None,
        "text": str(kernel),
    }


def _use(cycles: int, utilisation: float) -> dict[str, Any]:
    return {"cycles": cycles, "utilisation": round(utilisation, 3)}


def _error_json(error: FencepostError) -> dict[str, Any]:
    lines = [mark.span.line for mark in error.marks if mark.span is not None]
    return {"code": error.code, "message": error.message, "lines": lines, "notes": dict(error.notes)}
