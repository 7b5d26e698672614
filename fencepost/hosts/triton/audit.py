"""What fencepost says about a kernel as Triton would ship it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fencepost.check import check
from fencepost.hosts.common.audits import KernelAudit, barrier_runs
from fencepost.hosts.triton.clusters import cluster_of
from fencepost.hosts.triton.joint_kernel import trace_to_check
from fencepost.hosts.triton.membar_marks import OLDER_SYNCED, SYNCED
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.text_edits import Edit, InsertBarrier, SetAttribute
from fencepost.hosts.triton.translate import Translation, target_of, translations
from fencepost.hosts.triton.write_back import removable
from fencepost.ir import ops
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.prune import prune_barriers
from fencepost.report.diagnostics import Diagnostic
from fencepost.report.findings import diagnostics
from fencepost.report.python_lines import python_lines

MARKS = {SYNCED: False, OLDER_SYNCED: False, "warpGroupLocal": True}
"""All its marks, and whether each belongs to the kind of operation."""
OTHERS = {"ttg.global_scratch_memory_offset"}
"""What other passes note on operations where membar is not a pass of its own: where global memory lies."""
NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Audit(KernelAudit):
    """One function of a module, with the barriers that Triton gives it."""

    beyond: tuple[str, ...] = ()
    """What is not judged, operations or clusters: then nothing is said about races."""
    cached: bool = False
    """Whether the kernel comes from Triton's cache: this is what was found when it was compiled."""
    not_pruned: str = ""
    """Why redundant barriers were not looked for, if so: waves that lose step, for instance."""

    def __str__(self) -> str:
        head = self.title + (", from Triton's cache" if self.cached else "")
        if self.beyond:
            return f"{head}: not judged, it uses {', '.join(self.beyond)}"
        notes = [f"not a proof: {limit}" for limit in self.limits]
        if self.not_pruned:
            notes.append(f"redundant barriers were not looked for: {self.not_pruned}")
        return "\n".join([f"{head}: {self.counts}", *self.lines(notes)])


def audit(after: Module) -> Audit:
    """The kernel of a module that Triton has put its barriers into; functions that it calls are part of it."""
    cluster = cluster_of(after)
    if cluster:
        return _not_judged(after, cluster)
    every = translations(after)
    not_judged = sorted({what for each in every for what in each.not_judged})
    if not_judged:
        return _not_judged(after, *not_judged)
    found = [_audit(each, every) for each in every]
    # The function that is launched is the public one.
    public = (place for place, each in enumerate(every) if each.function.string("sym_visibility") == "public")
    kernel = found.pop(next(public, 0))
    for one in found:
        kernel = Audit(
            kernel.kernel,
            kernel.target,
            kernel.barriers + one.barriers,
            kernel.executed + one.executed,
            kernel.redundant + one.redundant,
            kernel.races + one.races,
            tuple(dict.fromkeys(kernel.limits + one.limits)),
            kernel.beyond + one.beyond,
            not_pruned=kernel.not_pruned or one.not_pruned,
        )
    return kernel


def _not_judged(module: Module, *why: str) -> Audit:
    """A module of which nothing can be said but how many barriers it has."""
    functions = module.functions()
    public = (each for each in functions if each.string("sym_visibility") == "public")
    function = next(public, functions[0] if functions else module.operation)
    barriers = sum(removable(op) for op in module.walk())
    name = function.string("sym_name") or "kernel"
    return Audit(name, target_of(module), barriers, 0.0, (), (), beyond=why)


def _audit(translation: Translation, every: list[Translation]) -> Audit:
    trace = translation.trace
    existing = barrier_runs(trace)
    executed = sum(existing)
    together = trace_to_check(translation, every)
    # The kernel of all waves together may use what none of its parts does.
    beyond = tuple(translation.not_judged)
    if beyond:
        return Audit(trace.name, translation.target, len(existing), executed, (), (), beyond=beyond)
    report = check(together) if translation.part is None else None
    races: tuple[Diagnostic, ...] = ()
    if report is not None and not report.ok:
        # By the user's own lines, where they can be read; else by those of the translated kernel.
        with python_lines(together):
            races = tuple(diagnostics(together, report))
    limits = tuple(report.explored.limits) if report is not None else ()
    redundant, not_pruned = _redundant(trace)
    return Audit(
        trace.name,
        translation.target,
        len(existing),
        executed,
        redundant,
        races,
        limits,
        beyond,
        not_pruned=not_pruned,
    )


def _redundant(trace: CapturedTrace) -> tuple[tuple[str, ...], str]:
    """The barriers that nothing needs, or why these are not known: what is wrong is told all the same."""
    try:
        pruned = prune_barriers(trace, keep=_is_kept)
    except FencepostError as error:
        return (), str(error).partition("\n")[0]
    return tuple(where(op.host) for op in pruned.removed if isinstance(op.host, Operation)), ""


def _is_kept(op: ops.SyncOperation) -> bool:
    return not (isinstance(op.host, Operation) and removable(op.host))


def where(op: Operation) -> str:
    """Where an operation comes from: a line of the user's source, as far as the module says."""
    place = op.location.place()
    return f"{place.file}:{place.line}" if place is not None else "an unknown place"


def triton_barriers(before: Module, after: Callable[[], Module]) -> list[Edit]:
    """Just what membar does to a module, as `decide` of an installation."""
    return stock_edits(before, after())


def stock_edits(before: Module, after: Module) -> list[Edit]:
    """Just what membar did to a module: barriers, each with its location, and marks; FP410 if it did more."""
    return edits_between(list(before.walk()), after.walk())


def edits_between(
    ours: list[Operation], theirs: Iterable[Operation], converted: Mapping[str, str] = NO_NAMES
) -> list[Edit]:
    """What was put between operations, and the marks on them; FP410 if it is more than barriers.

    `converted` has other names that operations may have by now; such an operation is not compared any further.
    """
    found: list[Edit] = []
    place, barrier = 0, installed_release().barrier_name
    for op in theirs:
        here = ours[place] if place < len(ours) else None
        if here is not None and op.name in (here.name, converted.get(here.name)):
            if here.name not in converted:
                found += _marks(here, op)
            place += 1
        elif here is not None and op.name == barrier and not op.results:
            # It has the location of what it stands in front of, or of what it stands behind.
            near = (other for other in (here, ours[place - 1]) if other.location == op.location)
            found.append(InsertBarrier(here, at=next(near, None)))
        else:
            raise FencepostError(f"membar has changed more than barriers: {op.name}", code="FP410")
    if place < len(ours):
        raise FencepostError(f"membar has taken something out: {ours[place].name}", code="FP410")
    return found


def _marks(here: Operation, op: Operation) -> list[Edit]:
    """The marks that an operation has got; FP410 if anything else of it is not what it was."""
    changed = sorted(_changed(here, op) - MARKS.keys() - OTHERS)
    if changed:
        raise FencepostError(
            f"membar has changed more than barriers: {', '.join(changed)} of {op.name}", code="FP410"
        )
    return [
        SetAttribute(here, name, _spelled(op, name), inherent=inherent)
        for name, inherent in MARKS.items()
        if name in op.attributes and name not in here.attributes
    ]


def _changed(before: Operation, after: Operation) -> set[str]:
    """The attributes of an operation that are not what they were."""
    names = before.attributes.keys() | after.attributes.keys()
    return {name for name in names if before.attributes.get(name) != after.attributes.get(name)}


def _spelled(op: Operation, name: str) -> str:
    if MARKS[name]:
        return "unit"
    return "true" if op.flag(name) else "false"
