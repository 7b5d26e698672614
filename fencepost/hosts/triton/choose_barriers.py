"""Which barriers `replace` puts in: fencepost's where fewer of them run than of membar's, else membar's own.

Where as many run either way, where they stand decides, and the compiler behind membar was tuned with membar's places:
with others, kernels lost up to 7 %. Where fewer run, fencepost's places are as quick as membar's without what nothing
needs, or quicker; but one that stands between loads and the stores of what they bring is worth what it costs, and
counts as if it were there (see `loads_before_stores`). docs/triton-h200.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fencepost.analysis.build_program import read_program, with_fixed_waits
from fencepost.analysis.pending import conflicts_left
from fencepost.hosts.common.audits import barrier_runs, barriers_and_runs
from fencepost.hosts.triton.loads_before_stores import lost
from fencepost.hosts.triton.membar_marks import synced_marks
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.text_edits import Edit
from fencepost.hosts.triton.translate import translations
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
    ours = fencepost_candidate(before)
    if ours.repairs:
        return ours.edits
    theirs = runs_of_membars(after())
    if theirs is None:
        return ours.edits
    missed = sum(theirs.get(barrier, 0.0) for barrier in lost(before, ours.edits, after()))
    return ours.edits if ours.executed + missed < sum(theirs.values()) * (1 - 1e-9) else None


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


def runs_of_membars(after: Module) -> dict[Operation | None, float] | None:
    """How often each barrier of a module behind membar runs; None if one is missing."""
    found: dict[Operation | None, float] = {}
    for translation in translations(after):
        refuse_beyond(translation)
        # As `place_barriers` asks: waits are as they are.
        program = with_fixed_waits(read_program(translation.trace, completion=False))
        if conflicts_left(program, program.existing):
            return None
        for barrier, runs in barriers_and_runs(translation.trace):
            host = barrier.host if isinstance(barrier.host, Operation) else None
            found[host] = found.get(host, 0.0) + runs
    return found
