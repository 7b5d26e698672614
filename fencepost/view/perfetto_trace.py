"""An estimated run of a kernel as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open.

The format is the JSON of Chrome's Trace Event Format. One microsecond of the trace is one estimated cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fencepost.ir import ops
from fencepost.ir.printer import statement
from fencepost.ir.source import Span
from fencepost.ir.trace import CapturedTrace
from fencepost.report.findings import spans_of
from fencepost.timing import Timing, time_kernel
from fencepost.timing.result import CAVEAT

UNITS_FROM = 1000
"""Threads of a trace from here on are hardware units; those before are waves."""


def perfetto_trace(traces: Iterable[CapturedTrace], target: str) -> dict[str, Any]:
    """All kernels, one process each: what each wave does and waits for, and what its units are busy with."""
    events: list[dict[str, Any]] = []
    for number, trace in enumerate(traces, 1):
        _, spans = spans_of(trace)
        events += _kernel(number, time_kernel(trace, target), spans)
    return {"displayTimeUnit": "ns", "otherData": {"cycles": CAVEAT}, "traceEvents": events}


def _kernel(process: int, timing: Timing, spans: dict[ops.Operation, Span]) -> Iterator[dict[str, Any]]:
    yield _named("process_name", process, 0, f"@{timing.kernel} on {timing.target}")
    units = sorted({event.unit for event in timing.events})
    for wave in range(timing.waves):
        yield _named("thread_name", process, wave + 1, f"wave {wave}")
        for place, unit in enumerate(units):
            yield _named("thread_name", process, _row(wave, place), f"wave {wave} · {unit}")
    for event in timing.events:
        row = _row(event.wave, units.index(event.unit))
        yield _slice(process, row, event.start, event.end, event.op, spans) | {"cat": event.unit}
    for stall in timing.stalls:
        slice_ = _slice(process, stall.wave + 1, stall.start, stall.end, stall.op, spans)
        yield slice_ | {"cat": "stall", "name": f"waits: {slice_['name']}"}
    for passing in timing.passings:
        yield {
            "name": _words(passing.op),
            "cat": "synchronization",
            "ph": "i",
            "s": "t",
            "ts": passing.time,
            "pid": process,
            "tid": passing.wave + 1,
            "args": _where(passing.op, spans),
        }


def _row(wave: int, unit: int) -> int:
    return UNITS_FROM * (wave + 1) + unit


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _slice(
    process: int, thread: int, start: int, end: int, op: ops.Operation, spans: dict[ops.Operation, Span]
) -> dict[str, Any]:
    return {
        "name": _words(op),
        "ph": "X",
        "ts": start,
        "dur": max(end - start, 0),
        "pid": process,
        "tid": thread,
        "args": _where(op, spans),
    }


def _words(op: ops.Operation) -> str:
    return statement(op.owner or op).removesuffix(" {")


def _where(op: ops.Operation, spans: dict[ops.Operation, Span]) -> dict[str, Any]:
    span = spans.get(op.owner or op)
    return {"line": span.line} if span else {}
