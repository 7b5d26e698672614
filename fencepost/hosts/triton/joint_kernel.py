"""The kernels of a module as `check` looks at them: all waves together.

Barriers are placed in each partition by itself, and without looking at how often loops run. Whether mbarriers
order what they should depends on both. So where there are mbarriers or partitions, a kernel is made once more with
all of that in it, and with the barriers that the others have now.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.hosts.triton.mbarriers import uses_mbarriers
from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.hosts.triton.partitions import SPECIALIZE, specializations
from fencepost.hosts.triton.translate import Translation, translate
from fencepost.hosts.triton.warps import warps_of
from fencepost.hosts.triton.write_back import PUT_IN, behind, refuse_beyond, removable
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace


def judged(found: Sequence[Translation], *, local: bool = False) -> list[CapturedTrace]:
    """What to check of the translations of a module, one kernel for each function."""
    traces = [trace_to_check(each, found, local=local) for each in found if each.part is None]
    for each in found:
        refuse_beyond(each)
    return traces


def trace_to_check(
    translation: Translation, found: Sequence[Translation], *, local: bool = False
) -> CapturedTrace:
    """The kernel of one function; `found` has its partitions, among others.

    What cannot be expressed where partitions are looked at together is noted on the translation.
    """
    function = translation.function
    if not uses_mbarriers(function) and not specializations(translation.module, function):
        return translation.trace
    together = translate(translation.module, function, local=local, joint=True)
    translation.beyond += [op for op in together.beyond if op not in translation.beyond]
    joint = together.trace
    for part in found:
        if part.function is function:
            _put_barriers(joint, part)
    return joint


def _put_barriers(joint: CapturedTrace, part: Translation) -> None:
    """Put barriers in that were put into a part, and take those out that were taken out of it."""
    first: dict[Operation, ops.Operation] = {}
    for op in joint.preorder_walk():
        if isinstance(op.host, Operation) and op.host not in first:
            first[op.host] = _outermost(op)
    _take_out(part, first)
    default = (0, warps_of(part.module, part.function))
    inside = (
        {op for each in specializations(part.module, part.function) for op in each.walk()}
        if part.part is None
        else set()
    )
    for op in part.trace.preorder_walk():
        if not isinstance(op, PUT_IN) or op.host is not None:
            continue
        host = behind(op)
        waves = default if host in inside and host.name != SPECIALIZE else None
        if part.part is not None:
            waves = part.part.first, part.part.end
        before = first[host]
        assert before.graph is not None
        before.graph.insert_before(before, ops.SharedMemoryBarrier(waves=waves))


def _take_out(part: Translation, first: dict[Operation, ops.Operation]) -> None:
    """Take out barriers that were taken out of a part."""
    existing = {op.host for op in part.trace.preorder_walk() if isinstance(op.host, Operation)}
    for host in part.own:
        if removable(host) and host not in existing and host in first:
            gone = first[host]
            assert gone.graph is not None
            gone.graph.remove(gone)


def _outermost(op: ops.Operation) -> ops.Operation:
    """The operation of a block that an operation stands in."""
    while op.graph is not None and op.graph.owner is not None:
        op = op.graph.owner
    return op
