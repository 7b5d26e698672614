"""Clusters of workgroups (`num_ctas` > 1), not followed yet: such kernels are left to Triton, with a warning.

The workgroups of a cluster reach each other's shared memory. Triton's own pass puts more than barriers in for them:
barriers of the whole cluster, and the fence that makes the initialization of mbarriers visible to the others. Kernels
here have one workgroup, so a verdict about such a module would mean nothing, and barriers placed for it would not do.
"""

from __future__ import annotations

from fencepost.hosts.triton.mlir.tree import Module
from fencepost.ir.source import FencepostError, Mark

NUMBER = "ttg.num-ctas"


def cluster_of(module: Module) -> str:
    """The cluster that a module is compiled for, in words; empty if its workgroups are alone."""
    number = module.operation.integer(NUMBER)
    if number is None:
        return f"a cluster of unknown size ({NUMBER})" if NUMBER in module.operation.attributes else ""
    return f"clusters of {number} workgroups (num_ctas = {number})" if number > 1 else ""


def refuse_clusters(module: Module) -> None:
    """Refuse a module that is compiled for clusters."""
    cluster = cluster_of(module)
    if cluster:
        functions = module.functions()
        name = functions[0].string("sym_name") if functions else None
        raise FencepostError(
            f"not judged: @{name or 'kernel'} is compiled for {cluster}, which cannot be followed yet",
            [Mark(functions[0].span)] if functions else [],
            code="FP408",
            source=module.source,
            notes=[("note", "workgroups of a cluster reach each other's shared memory")],
        )
