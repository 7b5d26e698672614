"""What fencepost says about a trace with the barriers that it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.check import check
from fencepost.flow import build_flow
from fencepost.hosts.wave.nodes import Node
from fencepost.hosts.wave.passes import config_for, read
from fencepost.hosts.wave.translate import Translation
from fencepost.ir import ops
from fencepost.pruning import prune_barriers
from fencepost.report.diagnostics import Diagnostic, render
from fencepost.report.findings import diagnostics

MEETINGS = (ops.SharedMemoryBarrier, ops.SharedMemoryBarrierSignal)
"""What counts as a barrier: of one in two halves the first."""


@dataclass(frozen=True, slots=True)
class Audit:
    """One kernel, with the barriers that its trace has."""

    kernel: str
    target: str
    barriers: int
    executed: float
    """How often they run, estimated."""
    redundant: tuple[str, ...]
    """Those that nothing needs, by where they stand in the user's source."""
    races: tuple[Diagnostic, ...]
    unknown: tuple[str, ...] = ()
    """Operations that were taken to change all of the memory that they are given."""

    def __str__(self) -> str:
        lines = [
            f"fencepost: @{self.kernel} ({self.target}): {self.barriers} barriers, "
            f"{len(self.redundant)} redundant, {len(self.races)} races"
        ]
        lines += [f"  redundant: {place}" for place in self.redundant]
        lines += [f"  not known, taken to change the memory it is given: {name}" for name in self.unknown]
        return "\n".join([*lines, *(render(race).plain for race in self.races)])


def audit(trace: Any, target: str = "", constraints: Sequence[Any] | None = None) -> Audit:
    """Look at a captured trace of Wave, and change nothing."""
    translation = read(trace, config_for(target), constraints)
    name_origins(translation)
    kernel = translation.trace
    flow = build_flow(kernel)
    standing = [block.frequency for block in flow.blocks for op in block.ops if isinstance(op, MEETINGS)]
    races = tuple(diagnostics(kernel, check(kernel)))
    redundant = tuple(where(op.host) for op in prune_barriers(kernel).removed)
    unknown = tuple(sorted({node.name for node in translation.unknown}))
    return Audit(kernel.name, target or "gfx942", len(standing), sum(standing), redundant, races, unknown)


def name_origins(translation: Translation) -> None:
    """Say for each operation of a kernel where the user wrote it."""
    for op in translation.trace.preorder_walk():
        op.written = where(op.host)


def where(node: Node) -> str:
    """Where a node comes from: a line of the user's source, as far as the trace says."""
    location = getattr(node, "location", None)
    frames = getattr(location, "frames", None)
    frame = frames[0] if frames else location
    name, line = getattr(frame, "filename", None), getattr(frame, "line", None)
    if name is None:
        return ""
    return f"{Path(name).name}:{line[0] if isinstance(line, tuple) else line}"
