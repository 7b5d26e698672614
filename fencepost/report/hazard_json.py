"""Hazards as JSON."""

from __future__ import annotations

from typing import Any

from fencepost.analysis.hazards import Hazard
from fencepost.ir import ops
from fencepost.ir.source import Span
from fencepost.report.findings import op_json
from fencepost.report.words import consequence


def hazard_json(hazard: Hazard, spans: dict[ops.Operation, Span]) -> dict[str, Any]:
    """A hazard for programs; lines are those of the text that goes with it."""
    return {
        "hazard": hazard.kind,
        "producer": op_json(hazard.producer, spans),
        "consumer": op_json(hazard.consumer, spans),
        "loops": [loop.op.var if loop.op else None for loop in hazard.loops],
        "in_flight": hazard.in_flight,
        "without": consequence(hazard, spans),
    }
