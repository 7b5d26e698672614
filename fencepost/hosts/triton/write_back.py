"""From a kernel back to its module: barriers that were put in or taken out, and waits made stronger, as edits.

How an edit becomes text: `text_edits`; in the user's own file: `source_edits`; how each release spells a barrier:
`releases`.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from fencepost.emit.write import Inserted
from fencepost.flow import Flow
from fencepost.hosts.triton.idle_waits import idle_waits
from fencepost.hosts.triton.mbarriers import FOR_ALL
from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.hosts.triton.releases import LOCAL_BARRIER, installed_release
from fencepost.hosts.triton.shared_memory_effects import TABLE
from fencepost.hosts.triton.text_edits import Edit, InsertBarrier, Remove, SetAttribute
from fencepost.hosts.triton.translate import Translation
from fencepost.hosts.triton.translate_operations import WARP_GROUP
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.passes.insert import Insert
from fencepost.placement import AUTO
from fencepost.placement.stronger_waits import StrongerWait

PUT_IN = (ops.SharedMemoryBarrier, ops.MemoryCounterWait)
"""What may be put in: a single wave meets nobody and gets a fence, for which Triton has nothing but a barrier."""
NEAR = 0.02
"""What barriers right before consumers may cost more: the lowering expects them in front of stores."""
BARE = frozenset({"rocdl.s.barrier"})
"""Barriers without a fence; `translate` makes workgroup barriers of them."""


def synchronized(translation: Translation, flow: Flow | None = None) -> tuple[list[Edit], bool]:
    """Put barriers into a kernel, and make waits stronger where those are not enough: what that is in the module.

    And whether a wait had to be made stronger. The `flow` of the kernel as it stands is built if it is not given.
    """
    inserted = place_barriers(translation, Insert(exact=False, stronger_waits=True), flow)
    stronger = stronger_waits(inserted)
    idle = idle_waits(stronger)
    if inserted.stronger:
        others = f"{len(idle)} before it, with nothing left to wait for, became 0. " if idle else ""
        warnings.warn(
            f"fencepost made a wait of @{translation.trace.name} stronger: as Triton compiles it, an engine may "
            f"still be at work on memory that is used again. {others}{'; '.join(map(_described, inserted.stronger))}",
            RuntimeWarning,
            stacklevel=2,
        )
    edits = [*edits_of(translation), *arrival_barriers(translation)]
    edits += [*local_waits(translation), *stronger, *idle]
    return edits, bool(inserted.stronger)


def place_barriers(
    translation: Translation, insert: Insert | None = None, flow: Flow | None = None
) -> Inserted:
    """Put the barriers into a translated kernel that it lacks, each between two operations of the module."""
    refuse_beyond(translation)
    asked = insert or Insert()
    insert = replace(
        asked,
        target=asked.target or known_target(translation),
        whole=True,
        waits=False,
        latencies=False,
        near=NEAR if asked.strategy == AUTO.name else 0.0,
        comments=False,
    )
    result = insert.apply(translation.trace, flow)
    _refuse_inside(translation)
    return result


def known_target(translation: Translation) -> str:
    """The target that the module names, if it is one that is known here; else the default."""
    from fencepost.targets.table import TARGETS

    return translation.target if translation.target in TARGETS else ""


def edits_of(translation: Translation) -> list[Edit]:
    """What has to be done to the module so that it has the barriers that the kernel has now."""
    found: list[Edit] = []
    existing: set[Operation] = set()
    for op in translation.trace.preorder_walk():
        if isinstance(op.host, Operation):
            existing.add(op.host)
            if isinstance(op, ops.SharedMemoryBarrier) and op.host.name in BARE:
                # It has got a fence, which its own operation does not have.
                found += [InsertBarrier(op.host), Remove(op.host)]
        elif isinstance(op, PUT_IN):
            found.append(InsertBarrier(behind(op)))
    for op_ in translation.own:
        if op_ not in existing and removable(op_):
            found.append(Remove(op_))
    return found


def stronger_waits(inserted: Inserted) -> list[SetAttribute]:
    """The counts of waits that were made stronger."""
    return [
        SetAttribute(wait.op.host, TABLE[wait.op.host.name].attribute, f"{wait.now} : i32", inherent=True)
        for wait in inserted.stronger
        if isinstance(wait.op.host, Operation)
    ]


def local_waits(translation: Translation) -> list[Edit]:
    """Marks on waits for matrix operations: barriers behind them are explicit now (see `translate`)."""
    if translation.trace.waves <= WARP_GROUP or not installed_release().group_waits_meet:
        return []
    return [
        SetAttribute(op, "warpGroupLocal", "unit", inherent=True)
        for op in translation.own
        if op.name == "ttng.warp_group_dot_wait" and not op.flag("warpGroupLocal")
    ]


def arrival_barriers(translation: Translation) -> list[Edit]:
    """Barriers in front of what one thread does to an mbarrier for all, where the lowering brings none along.

    Which barriers order the waves with an arrival is not for placement to find out: it takes mbarriers to be used as
    they should, and that includes these.
    """
    if translation.trace.waves == 1 or installed_release().arrivals_meet:
        return []
    return [InsertBarrier(op) for op in translation.own if op.name in FOR_ALL]


def removable(op: Operation) -> bool:
    """Whether a barrier is there for shared memory alone, and for the function that it stands in."""
    if not _is_local(op):
        return False
    around = op.parent
    while around is not None and not around.name.endswith(".func"):
        around = around.parent
    # Callers of a function may rely on its barriers.
    return around is None or around.string("sym_visibility") != "private"


def _is_local(op: Operation) -> bool:
    """Whether a barrier orders shared memory and nothing else, as those that membar puts in."""
    if op.name == "ttg.barrier":
        return op.integer("addrSpace") == 1
    return op.name == "ttg.local_barrier" or (op.name == "gpu.barrier" and op.flag(LOCAL_BARRIER))


def refuse_beyond(translation: Translation) -> None:
    """Refuse kernels that use what cannot be expressed yet."""
    names = translation.not_judged
    if names:
        raise FencepostError(
            f"not judged: @{translation.trace.name} uses {', '.join(names)}, which cannot be followed yet",
            [Mark(op.span) for op in translation.beyond[:2]],
            code="FP408",
            source=translation.module.source,
        )


def behind(op: ops.Operation) -> Operation:
    """The operation of the module that a barrier stands in front of."""
    here = op.next
    while here is not None:
        host = host_of(here)
        if host is not None:
            return host
        here = here.next
    raise AssertionError("a block without an end")


def host_of(op: ops.Operation) -> Operation | None:
    """The operation of the module that one stands for. What one wave does for all is inside a conditional of ours."""
    if isinstance(op.host, Operation):
        return op.host
    inside = (host_of(inner) for graph in ops.regions(op) for inner in graph)
    return next((host for host in inside if host is not None), None)


def _refuse_inside(translation: Translation) -> None:
    """Refuse a barrier between two accesses of one operation of the module: none can be written there.

    In front of what only counts (a copy that takes several instructions) it orders the same.
    """
    for op in translation.trace.preorder_walk():
        if not isinstance(op, PUT_IN) or op.host is not None:
            continue
        host, before = behind(op), op.prev
        while isinstance(before, ops.GlobalRead) and before.host is host:
            before = before.prev
        if before is not None and host_of(before) is host:
            raise FencepostError(
                f"a barrier would have to stand inside of {host.name}",
                [Mark(host.span)],
                code="FP410",
                source=translation.module.source,
            )


def _described(wait: StrongerWait) -> str:
    """A wait that became stronger, as the module writes it."""
    host = wait.op.host
    assert isinstance(host, Operation)
    place = host.location.place()
    where = f"{place.file}:{place.line}: " if place is not None else ""
    return f"{where}{host.name} {{{TABLE[host.name].attribute} = {wait.before}}} became {wait.now}"
