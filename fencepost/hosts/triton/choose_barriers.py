"""Which barriers `replace` puts in: fencepost's where fewer of them run than of membar's, else membar's own.

Where as many run either way, where they stand decides, and the compiler behind membar was tuned with membar's places:
with others, kernels lost up to 7 %. Where fewer run, fencepost's places are as quick as membar's without what nothing
needs, or quicker; but one that stands between loads and the stores of what they bring is worth what it costs, and
counts as if it were there (see `loads_before_stores`). docs/triton-h200.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fencepost.hosts.common.audits import barrier_runs, barriers_and_runs
from fencepost.hosts.triton.loads_before_stores import lost
from fencepost.hosts.triton.membar_marks import synced_marks
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.text_edits import Edit
from fencepost.hosts.triton.translate import translations
from fencepost.hosts.triton.verification import kernels_of, verdict
from fencepost.hosts.triton.write_back import refuse_beyond, synchronized


@dataclass(frozen=True, slots=True)
class Candidate:
    """Edits of a module, and how often its barriers run then, estimated."""

    edits: list[Edit]
    executed: float
    repairs: bool
    """Whether waits were made stronger: as Triton compiles the kernel, it is wrong."""


def fewer_or_membars(before: Module, after: Callable[[], Module]) -> list[Edit] | None:
    """fencepost's barriers if fewer of them run, or if membar forgets one; None: membar's."""
    theirs = runs_of_membars(after())
    if not theirs and is_right(after()):
        return None
    ours = fencepost_candidate(before)
    executed = sum(theirs.values()) * (1 - 1e-9)
    if ours.repairs or (
        ours.executed < executed
        and ours.executed + sum(theirs.get(barrier, 0.0) for barrier in lost(before, ours.edits, after()))
        < executed
    ):
        return ours.edits
    return None if is_right(after()) else ours.edits


def fencepost_barriers(before: Module, after: Callable[[], Module]) -> list[Edit]:
    """fencepost's barriers, waits that are strong enough, and the marks that membar would leave for the lowering."""
    del after
    return fencepost_candidate(before).edits


def fencepost_candidate(before: Module) -> Candidate:
    """fencepost's barriers."""
    edits: list[Edit] = []
    executed, repairs = 0.0, False
    for translation in translations(before, local=True):
        done, stronger = synchronized(translation)
        edits += done
        executed += sum(barrier_runs(translation.trace))
        repairs |= stronger
    return Candidate(edits + synced_marks(before), executed, repairs)


def runs_of_membars(after: Module) -> dict[Operation | None, float]:
    """How often each barrier of a module behind membar runs."""
    found: dict[Operation | None, float] = {}
    for translation in kernels_of(after):
        refuse_beyond(translation)
        for barrier, runs in barriers_and_runs(translation.trace):
            host = barrier.host if isinstance(barrier.host, Operation) else None
            found[host] = found.get(host, 0.0) + runs
    return found


def is_right(after: Module) -> bool:
    """Whether `check` finds nothing with membar's barriers."""
    found, _ = verdict(after, thorough=False)
    return not found
