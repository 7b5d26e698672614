"""Forms of operations that the table has and that are not followed.

An operation can be well known, and one of its attributes make another thing of it: a load for all workgroups of a
cluster, a barrier of some waves, assembly that the compiler must not touch. Such a form is not judged.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.hosts.triton.mlir.tree import Operation

WORKGROUP = "workgroup"


def is_always_followed(name: str) -> bool:
    """Whether operations of a name are in such a form, whatever they are given."""
    return name not in _REFUSED


def is_followed(op: Operation) -> bool:
    """Whether an operation is in a form that the table's row for it stands for."""
    refused = _REFUSED.get(op.name)
    return refused is None or not refused(op)


def _is_impure(op: Operation) -> bool:
    """Assembly and foreign functions that do more than compute their result: what that is, nobody says."""
    return not (op.flag("pure") or op.flag("isPure"))


def _is_for_others(op: Operation) -> bool:
    """What one workgroup does for others of its cluster, or in their memory."""
    return op.flag("multicast") or any(op.integer(name) for name in ("multicastCTA", "fromCTA"))


def _is_for_some(op: Operation) -> bool:
    """A barrier with a name, of other waves than the workgroup's, or with a fence that leaves its memory out."""
    scope, fenced = str(op.attributes.get("scope", WORKGROUP)), op.attributes.get("address_spaces")
    return (
        bool(op.operands) or WORKGROUP not in scope or (fenced is not None and WORKGROUP not in str(fenced))
    )


_REFUSED: dict[str, Callable[[Operation], bool]] = {
    "tt.elementwise_inline_asm": _is_impure,
    "tt.extern_elementwise": _is_impure,
    "ttg.inline_asm": _is_impure,
    "ttng.async_tma_copy_global_to_local": _is_for_others,
    "ttng.async_tma_gather": _is_for_others,
    "ttng.barrier_expect": _is_for_others,
    "ttng.arrive_barrier": _is_for_others,
    "ttng.wait_barrier": _is_for_others,
    "gpu.barrier": _is_for_some,
}
