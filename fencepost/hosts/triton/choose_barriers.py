"""Which barriers `replace` puts in: fencepost's where fewer of them run than of membar's, else membar's own.

Where as many run either way, where they stand decides, and the compiler behind membar was tuned with membar's places:
with others, kernels lost up to 7 %. Where fewer run, fencepost's places are as quick as membar's without what nothing
needs, or quicker; but one that stands between loads and the stores of what they bring is worth what it costs, and
counts as if it were there (see `loads_before_stores`). docs/triton-h200.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fencepost.hosts.common.audits import barriers_and_runs
from fencepost.hosts.triton.kernel_variants import stopped_at, variant_of
from fencepost.hosts.triton.loads_before_stores import lost, may_lose, stores_what_it_loads
from fencepost.hosts.triton.membar_at_least import TELLING, runs_at_least, surely_put_in
from fencepost.hosts.triton.membar_marks import synced_marks
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.text_edits import Edit, Remove, SetAttribute
from fencepost.hosts.triton.verification import kernels_of, verdict
from fencepost.hosts.triton.write_back import refuse_beyond, synchronized
from fencepost.ir.source import FencepostError


@dataclass(frozen=True, slots=True)
class Candidate:
    """Edits of a module, and how often its barriers run then, estimated."""

    edits: list[Edit]
    executed: float
    repairs: bool
    """Whether waits were made stronger: as Triton compiles the kernel, it is wrong."""


def fewer_or_membars(before: Module, after: Callable[[], Module]) -> list[Edit] | None:
    """fencepost's barriers if fewer of them run, or if membar forgets one; None: membar's."""
    ours = _found_first(before)
    if ours is not None and (ours.repairs or _is_surely_better(before, ours)):
        return ours.edits
    module = after()
    variant = variant_of(module)
    theirs = runs_of_membars(module)
    # fencepost would only add to what there is.
    adds_none = not theirs or (variant is not None and not variant.places)
    # Else no others run less often, or it takes a search to know.
    if (adds_none or (ours is None and variant is not None and variant.has_fewest)) and is_right(module):
        return None
    ours = ours or fencepost_candidate(before)
    executed = sum(theirs.values()) * (1 - 1e-9)
    if ours.repairs or (
        ours.executed < executed
        and ours.executed + sum(theirs.get(barrier, 0.0) for barrier in _lost(before, ours, module))
        < executed
    ):
        return ours.edits
    return None if is_right(module) else ours.edits


def _found_first(before: Module) -> Candidate | None:
    """fencepost's barriers, where it may be that nothing is left to ask then: membar, which takes up to half of a
    compilation, need not run.

    Where Triton goes on by itself with what membar makes anyway, it is asked first. So it is where it is certain
    that a barrier is needed, or could stand between loads and stores, and nothing is known of what membar does.
    """
    release = installed_release()
    if not release.membar_is_a_pass:
        return None
    known = release.membar_is_known and not before.kinds.isdisjoint(TELLING)
    if not known and _may_need_one(before):
        return None
    try:
        return fencepost_candidate(before)
    except FencepostError:
        # Membar's own barriers may be right all the same.
        return None


def _may_need_one(before: Module) -> bool:
    """Whether it is certain that a barrier is needed, or one could stand between loads and stores."""
    stopped = stopped_at(before)
    return not stopped.is_one_wave and (stores_what_it_loads(before) or stopped.lacks_one)


def _is_surely_better(before: Module, ours: Candidate) -> bool:
    """Whether fencepost puts in no barrier, or its barriers run less often than those that membar surely puts in.

    Any of membar's that could stand between loads and stores counts as if it did.
    """
    stopped = stopped_at(before)
    # The compiler drops a barrier of one wave: it keeps nothing apart.
    stores = [] if stopped.is_one_wave else may_lose(before, ours.edits)
    if not stores and all(isinstance(edit, SetAttribute) for edit in ours.edits):
        return True
    if not installed_release().membar_is_known:
        return False
    existing, sure = sum(stopped.barriers().values()), surely_put_in(stopped)
    least = existing + sum(runs_at_least(stopped, each) for each in sure)
    kept = least - sum(stopped.runs_of(each.store) for each in stores)
    if not any(isinstance(edit, Remove) for edit in ours.edits):
        # Those that stand elsewhere count in any case.
        elsewhere = [each for each in sure if not any(store.meets(*each) for store in stores)]
        kept = max(kept, existing + sum(runs_at_least(stopped, each) for each in elsewhere))
    return ours.executed < kept * (1 - 1e-9)


def _lost(before: Module, ours: Candidate, after: Module) -> list[Operation]:
    """Barriers of membar's between loads and stores where fencepost leaves none."""
    variant = variant_of(after)
    if variant is None:
        return lost(before, ours.edits, after)
    return lost(before, ours.edits, before, {op: barrier for barrier, op in variant.before.items()})


def fencepost_barriers(before: Module, after: Callable[[], Module]) -> list[Edit]:
    """fencepost's barriers, waits that are strong enough, and the marks that membar would leave for the lowering."""
    del after
    return fencepost_candidate(before).edits


def fencepost_candidate(before: Module) -> Candidate:
    """fencepost's barriers."""
    edits: list[Edit] = []
    repairs = False
    stopped = stopped_at(before)
    with stopped.borrowed() as kernels:
        for kernel in kernels:
            refuse_beyond(kernel)
            done, stronger = synchronized(kernel, stopped.flow(kernel))
            edits += done
            repairs |= stronger
        executed = sum(stopped.barriers().values())
    return Candidate(edits + synced_marks(before), executed, repairs)


def runs_of_membars(after: Module) -> dict[Operation | None, float]:
    """How often each barrier of a module behind membar runs."""
    variant = variant_of(after)
    if variant is not None:
        for kernel in variant.stopped.kernels:
            refuse_beyond(kernel)
        return variant.runs
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
