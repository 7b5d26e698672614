"""Accesses through two proxies (NVIDIA): plain ones, and those of the copy engine and of the matrix unit.

An order between accesses of the two needs a fence between proxies (`ttng.fence_async_shared`) besides the barrier.
Kernels here have no such fence: whether one is missing is not judged, and every verdict on such a kernel says so.
"""

from __future__ import annotations

from fencepost.hosts.triton.mlir.tree import Module, Operation

FENCES = "fences between proxies"
ENGINES, MATRIX_UNIT = "ttng.async_tma_", "ttng.warp_group_dot"


def uses_async_proxy(module: Module, function: Operation) -> bool:
    """Whether an engine or the matrix unit reaches shared memory by itself."""
    using = {name for name in module.kinds if name.startswith(ENGINES) or name == MATRIX_UNIT}
    if not using:
        return False
    return any(
        op.name != MATRIX_UNIT or any("memdesc" in value.type for value in op.operands)
        for op in function.walk()
        if op.name in using
    )
