"""What fencepost says about a trace with the barriers that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fencepost.check import check
from fencepost.flow import build_flow
from fencepost.hosts.common.audits import HANGS, KernelAudit
from fencepost.hosts.wave.barrier_pass import config_for, read
from fencepost.hosts.wave.python_lines import name_origins, where
from fencepost.hosts.wave.translate import name_of
from fencepost.ir import ops
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.prune import prune_barriers
from fencepost.report.diagnostics import Diagnostic, from_error
from fencepost.report.findings import diagnostics

MEETINGS = (ops.SharedMemoryBarrier, ops.SharedMemoryBarrierSignal)
"""What counts as a barrier: of one in two halves the first."""
INTERNAL = "FP424"
"""The code of what should not have happened."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Audit(KernelAudit):
    """One kernel, with the barriers that its trace has."""

    unknown: tuple[str, ...] = ()
    """Operations that were taken to touch all of the memory that they are given, or all of shared memory."""
    not_judged: tuple[Diagnostic, ...] = ()
    """What could not be looked at, and why: that nothing was found there says nothing."""

    @property
    def ok(self) -> bool:
        """Whether everything was looked at, and nothing is wrong."""
        return not (self.races or self.not_judged or self.limits)

    def __str__(self) -> str:
        counts = "not judged" if self.not_judged and not self.races else self.counts
        notes = [f"not known, taken to change the memory it can reach: {name}" for name in self.unknown]
        notes += [f"not a proof: {limit}" for limit in self.limits]
        return "\n".join([f"{self.title}: {counts}", *self.lines(notes, self.not_judged)])


def audit(trace: Any, target: str = "", constraints: Sequence[Any] | None = None) -> Audit:
    """Look at a captured trace of Wave, and change nothing. What goes wrong on the way is part of the report."""
    failed: list[Diagnostic] = []
    shown = target or "gfx942"

    def tried(what: str, step: Callable[[], Result]) -> Result | None:
        try:
            return step()
        except Exception as error:  # nothing that an audit meets may be lost
            failed.append(_failure(what, error))
            return None

    translation = tried("the trace", lambda: read(trace, config_for(target), constraints))
    if translation is None:
        return Audit(name_of(trace), shown, 0, 0.0, (), (), not_judged=tuple(failed))
    kernel = translation.trace
    name_origins(kernel)
    existing = tried("how often barriers run", lambda: _frequencies(kernel)) or []
    report = tried("races", lambda: check(kernel))
    pruned = tried("which barriers are redundant", lambda: prune_barriers(kernel))
    return Audit(
        kernel.name,
        shown,
        len(existing),
        sum(existing),
        tuple(where(op.host) for op in pruned.removed) if pruned is not None else (),
        # What hangs comes first: races of waves that have lost step are often its consequence.
        tuple(sorted(diagnostics(kernel, report), key=lambda race: race.code not in HANGS)) if report else (),
        tuple(report.explored.limits) if report is not None and not report.explored.complete else (),
        tuple(sorted({node.name for node in translation.unknown})),
        tuple(failed),
    )


def _frequencies(kernel: CapturedTrace) -> list[float]:
    """How often each barrier runs."""
    flow = build_flow(kernel)
    return [block.frequency for block in flow.blocks for op in block.ops if isinstance(op, MEETINGS)]


def _failure(what: str, error: Exception) -> Diagnostic:
    """Why something could not be looked at."""
    if isinstance(error, FencepostError):
        found = from_error(error)
        return Diagnostic(found.code, f"{what}: {found.title}", found.marks, found.notes, found.source)
    return Diagnostic(INTERNAL, f"{what}: {error!r}", ())
