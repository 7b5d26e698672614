"""How many warps run a function, and how many threads a warp has: what the module says, as Triton looks it up."""

from __future__ import annotations

from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.ir.source import FencepostError, Mark

WARPS = "ttg.num-warps"
THREADS = "ttg.threads-per-warp"
USUAL = 32
"""The threads of a warp where the module does not say."""


def warps_of(module: Module, function: Operation) -> int:
    """The warps that run a function, without those of its partitions; FP408 if nobody says how many."""
    for said in (function, module.operation):
        count = said.integer(WARPS)
        if count is not None and count > 0:
            return count
    name = function.string("sym_name") or "kernel"
    raise FencepostError(
        f"not judged: how many warps run @{name} is not said",
        [Mark(function.span)],
        code="FP408",
        source=module.source,
        notes=[("help", f'the module has no attribute `"{WARPS}"`: is it one of TritonGPU?')],
    )


def threads_of(module: Module) -> int:
    """The threads of a warp."""
    return module.operation.integer(THREADS) or USUAL
