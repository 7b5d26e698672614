"""Accesses through two proxies (NVIDIA): plain ones, and those of the copy engine and of the matrix unit.

An order between accesses of the two needs a fence between proxies (`ttng.fence_async_shared`) besides the barrier.
Kernels here have no such fence: whether one is missing is not judged, and every verdict on such a kernel says so.
"""

from __future__ import annotations

from fencepost.hosts.triton.mlir.tree import Operation

FENCES = "fences between proxies"


def uses_async_proxy(function: Operation) -> bool:
    """Whether an engine or the matrix unit reaches shared memory by itself."""
    return any(
        op.name.startswith("ttng.async_tma_")
        or (op.name == "ttng.warp_group_dot" and any("memdesc" in value.type for value in op.operands))
        for op in function.walk()
    )
