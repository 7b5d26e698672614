"""Where an operation stands in the text: found when somebody asks, since hardly anyone does.

An operation without regions that takes one line, as compilers print it, is read by one regular expression, and what
that has matched says where each part is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LINE = re.compile(
    r'\s*(?:(%[\w$.-]+(?::\d+)?) = )?"([^"\\\n]+)"\(((?:%[^()\n]*)?)\)(?:\[([^\]\n]*)\])? '
    r'(?:<\{([^{}"\n]*)\}> )?(?:\{([^{}"\n]*)\} )?'
    r": \(([^()\n/]*)\) -> (?:\(([^()\n/]*)\)|([^()\n/]*[\w>]))(?: loc\(([^()\n]*)\))?(?=\n)"
)
"""Results, name, operands, successors, properties, attributes, operand types, result types or the one that there is,
and the location."""
RESULTS, NAME, OPERANDS, LABELS, PROPERTIES, ATTRIBUTES, TAKEN, _, _, LOCATION = range(1, 11)


@dataclass(slots=True, eq=False)
class Extent:
    """Offsets into `Module.text`; -1 where the part is not there."""

    start: int = 0
    end: int = 0
    """Behind the last character that belongs to the operation, its location included."""
    head_end: int = 0
    """Behind the operands and successors: where properties stand or would stand."""
    properties_at: int = -1
    attributes_at: int = -1
    signature_at: int = -1
    """Where `: (types) -> (types)` begins."""
    location_text: str = ""
    """The inside of `loc(...)`."""


def extent_of(line: re.Match[str]) -> Extent:
    """Where the operation of a line stands."""
    start = line.start(RESULTS) if line[RESULTS] else line.start(NAME) - len('"')
    properties_at = line.start(PROPERTIES) - len("<{") if line[PROPERTIES] is not None else -1
    attributes_at = line.start(ATTRIBUTES) - len("{") if line[ATTRIBUTES] is not None else -1
    signature_at = line.start(TAKEN) - len(": (")
    head_end = next(at for at in (properties_at, attributes_at, signature_at) if at >= 0)
    return Extent(
        start, line.end(), head_end, properties_at, attributes_at, signature_at, line[LOCATION] or ""
    )


NOWHERE = Extent()
"""Of an operation that stands in no text."""
