"""Hazard windows: which accesses must not overtake each other, and what sees to it that they do not."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.analysis.build_program import read_program
from fencepost.analysis.hazards import Effort, Hazard, hazards
from fencepost.ir import ops
from fencepost.ir.source import Span
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.explain import Explanation
from fencepost.passes.mbarrier_order import OrderedByMbarriers
from fencepost.report.heeded_comments import allowed_pairs
from fencepost.report.words import consequence
from fencepost.view.page_data import Window

MOST_WINDOWS = 3_000
MOST_STEPS = 600_000
"""How far windows are looked for."""

Spans = dict[ops.Operation, Span]
Key = tuple[ops.Operation, ops.Operation, str, bool]


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a kernel, in the order of their lines."""

    found: tuple[Window, ...]
    more: bool
    """Whether there are more than these."""


def windows_of(trace: CapturedTrace, explained: Explanation, spans: Spans) -> Windows:
    """Every pair of accesses that needs to be ordered, with what orders it."""
    effort = Effort(MOST_STEPS, MOST_WINDOWS)
    pairs: dict[Key, Hazard] = {}
    # Without any barrier, each access meets the next one that conflicts; a barrier may be there for a later one.
    program = explained.program or read_program(trace)
    for hazard in hazards(program, {}, effort):
        pairs.setdefault(_key(hazard), hazard)
    covering: dict[Key, list[int]] = {}
    for entry in explained.barriers:
        for hazard in entry.hazards:
            pairs.setdefault(_key(hazard), hazard)
            covering.setdefault(_key(hazard), []).append(_line(entry.op, spans))
    uncovered = {_key(hazard) for hazard in explained.uncovered}
    for hazard in explained.uncovered:
        pairs.setdefault(_key(hazard), hazard)
    mbarriers = OrderedByMbarriers(trace, program.flow.has(ops.MbarrierWait))
    is_allowed = allowed_pairs(trace) if uncovered else None
    found = []
    for key, hazard in pairs.items():
        lines = tuple(sorted(set(covering.get(key, []))))
        by = ""
        if key not in uncovered:
            by = _covered_by(hazard, lines, mbarriers)
        elif is_allowed is not None and is_allowed(hazard.producer, hazard.consumer):
            by = "a comment that allows it"
        found += _windows(hazard, by, lines, spans)
    found.sort(key=lambda window: (window.producer, window.consumer))
    return Windows(tuple(found[:MOST_WINDOWS]), effort.ended or len(found) > MOST_WINDOWS)


def _covered_by(hazard: Hazard, lines: tuple[int, ...], mbarriers: OrderedByMbarriers) -> str:
    if lines:
        return f"the barrier or wait on line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
    if mbarriers.orders(hazard.producer, hazard.consumer):
        return "mbarriers"
    return "several barriers or waits, each of them enough"


def _windows(hazard: Hazard, by: str, lines: tuple[int, ...], spans: Spans) -> list[Window]:
    """A hazard, once for each buffer that both accesses touch."""
    producer, consumer = hazard.producer, hazard.consumer
    mine, theirs = ({view.buffer.name for view in op.views} for op in (producer, consumer))
    # Where two buffers share bytes, the hazard is shown with the one that is touched first.
    names = sorted(mine & theirs) or sorted(mine)[:1]
    loop = None
    if hazard.loops and hazard.loops[0].op is not None:
        span = spans.get(hazard.loops[0].op)
        loop = (span.line, _last_line(hazard.loops[0].op, spans)) if span else None
    return [
        Window(
            f"%{name}",
            hazard.kind,
            _line(producer, spans),
            _line(consumer, spans),
            loop,
            max(1, hazard.distance) if hazard.is_loop else 0,
            isinstance(producer, ops.AsyncOperation),
            by,
            lines,
            consequence(hazard, spans),
        )
        for name in names
    ]


def _last_line(loop: ops.Iterate, spans: Spans) -> int:
    """The last line inside of a loop."""
    last = spans[loop].line
    todo = [loop.body]
    while todo:
        for op in todo.pop():
            last = max(last, spans[op].line if op in spans else 0)
            todo += ops.regions(op)
    return last


def _key(hazard: Hazard) -> Key:
    return hazard.producer, hazard.consumer, hazard.kind, hazard.is_loop


def _line(op: ops.Operation, spans: Spans) -> int:
    span = spans.get(op.owner or op)
    return span.line if span else 0
