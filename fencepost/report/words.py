"""Hazards, findings and assumptions in a user's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fencepost.flow import Assumed
from fencepost.ir import ops
from fencepost.ir.ops import Operation
from fencepost.ir.source import Span

if TYPE_CHECKING:
    from fencepost.analysis.hazards import Hazard


NAMES = {"RAW": "read-after-write", "WAR": "write-after-read", "WAW": "write-after-write"}


def place(op: ops.MemoryOperation) -> str:
    """What an access touches; what a host's operation does is better read in its own line."""
    if op.host is not None:
        return ", ".join(dict.fromkeys(f"%{view.buffer.name}" for view in op.views))
    return ", ".join(str(view) for view in op.views)


def access(op: ops.MemoryOperation) -> str:
    """An access as a noun: `read of %a[0]`, `copy into %a[0]`."""
    return f"{op.noun} {'into' if isinstance(op, ops.AsyncCopy) else 'of'} {place(op)}"


def consequence(hazard: Hazard, spans: dict[ops.Operation, Span] | None = None) -> str:
    """What can happen without a barrier, as a sentence without its beginning."""
    producer, consumer = hazard.producer, hazard.consumer
    one, other = hazard.waves
    first = f"wave {one}'s {access(producer)}{line_of(producer, spans)}"
    second = f"wave {other}'s {access(consumer)}{line_of(consumer, spans)}"
    if hazard.is_loop:
        loop = hazard.loops[0].op
        ahead = max(1, hazard.distance)
        second += f" in iteration {loop.var}+{ahead}" if loop else " the next time round"
    if hazard.kind == "RAW":
        text = f"{second} can miss {first}"
    elif hazard.kind == "WAR":
        text = f"{second} can overwrite what {first} has yet to read"
    else:
        text = f"{second} can be overwritten by {first}, which should come before it"
    if hazard.behind > 0:
        by = "one rendezvous" if hazard.behind == 1 else f"{hazard.behind} rendezvous"
        text += f": wave {one} runs {by} behind"
    return text


def line_of(op: ops.Operation, spans: dict[ops.Operation, Span] | None) -> str:
    """Where an operation stands, in brackets; nothing if that is not known."""
    span = (spans or {}).get(op) or op.span
    return f" (line {span.line})" if span else ""


def plural(count: int, one: str, many: str = "") -> str:
    """`1 barrier`, `2 barriers`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def enumerated(items: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last


def hanging_words(stuck: Sequence[tuple[int, int]]) -> str:
    """Which waves wait for ever on which lines: `waves 0 to 3 wait on line 5 for ever`."""
    by_line: dict[int, list[int]] = {}
    for wave, line in stuck:
        by_line.setdefault(line, []).append(wave)
    found = []
    for line, waves in by_line.items():
        in_a_row = waves == list(range(waves[0], waves[0] + len(waves))) and len(waves) > 2
        named = f"{waves[0]} to {waves[-1]}" if in_a_row else enumerated(map(str, waves))
        who = f"wave {named} waits" if len(waves) == 1 else f"waves {named} wait"
        found.append(f"{who} on line {line} for ever")
    return "; ".join(found)


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def nth_newest(number: int) -> str:
    """`newest`, `2nd newest`."""
    return "newest" if number == 1 else f"{ordinal(number)} newest"


RARE = 0.1
"""What runs less often than that in one run is counted by the runs that it takes."""


def times(value: float) -> str:
    """How often something runs."""
    if 0 < value < RARE:
        return f"about once in {1 / value:,.0f} runs"
    return "once" if value == 1 else "0 times" if value == 0 else f"about {number(value)} times"


def number(value: float) -> str:
    """A count that may be an estimate: no decimals where there are none to show."""
    if value >= 1e9:
        return f"{value:.0e}" if value < float("inf") else "countless"
    return str(int(value)) if value == int(value) else f"{value:.1f}"


MOST_LINES = 6


def assumed_json(assumed: Iterable[Assumed], spans: Mapping[Operation, Span]) -> list[dict[str, Any]]:
    """For programs."""
    return [{"line": _line(each, spans), "what": each.what, "number": each.number} for each in assumed]


def assumed_words(assumed: Iterable[Assumed]) -> str:
    """For people, in one line; lines are those of the text that the kernel was read from."""
    lines: dict[tuple[str, float], list[int | None]] = {}
    for each in assumed:
        lines.setdefault((each.what, each.number), []).append(_line(each, {}))
    parts = []
    for (what, number), found in lines.items():
        known = [str(line) for line in found if line is not None]
        where = ", ".join(known[:MOST_LINES]) + (" and more" if len(known) > MOST_LINES else "")
        where = f"line{'s' if len(known) > 1 else ''} {where}" if known else plural(len(found), "place")
        if what == "trip":
            parts.append(f"loops of unknown length run {number:g} times ({where})")
        else:
            parts.append(f"branches are taken {number:.0%} of the time ({where})")
    return "; ".join(parts) + "; `expect=` says otherwise"


def _line(each: Assumed, spans: Mapping[Operation, Span]) -> int | None:
    span = spans.get(each.op) or each.op.span
    return span.line if span is not None else None
