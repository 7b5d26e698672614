"""What each operation of a Triton module does to shared memory: one table.

Operations that take part in no row are looked at by what they are given: without a view of shared memory, scratch
memory or a region they cannot touch it. Any other one that is not in the table is taken to touch all of it
(`Does.UNKNOWN`), and is named.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Does(Enum):
    """What an operation does with the views of shared memory that it is given."""

    ALLOCATES = "allocates, and writes if it is given a tensor"
    READS = "reads them"
    WRITES = "writes them"
    UPDATES = "updates them atomically"
    COPIES_IN = "has an engine write them; complete once its counter has been waited for"
    COPIES_OUT = "has an engine read them; complete once its counter has been waited for"
    MULTIPLIES = "has the matrix unit read them, at once or (isAsync) until its counter has been waited for"
    COMMITS = "ends a group of copies"
    WAITS = "waits for a counter"
    MEETS = "is a barrier of the workgroup"
    MEETS_BARE = "is a barrier of the workgroup without a fence"
    VIEWS = "makes another view of the same bytes"
    NOTHING = "does not touch the bytes"
    OBJECTS = "works on a barrier object in memory, or with one"
    HOLDS_BACK = "is a bare barrier for part of the waves: it shifts their phase"
    FIRST_USES = "has its first wave write and read memory of its own"
    PARTS = "has regions that waves of their own run; all meet when it begins and when it ends"
    UNKNOWN = "is not known: it is taken to touch everything"


class Row(NamedTuple):
    """An entry of the table."""

    does: Does
    counter: str = ""
    """For copies, waits and commits: the counter."""
    attribute: str = ""
    """For waits: the attribute with the number of operations, or groups, that may be outstanding."""


COPY, TENSOR, STORE, MMA = "copy", "tensor", "store", "mma"
"""Counters: copies by threads (cp.async, loads to LDS), TDM, TMA stores, the matrix unit."""

TABLE: dict[str, Row] = {
    # allocations and plain accesses
    "ttg.local_alloc": Row(Does.ALLOCATES),
    "ttg.local_dealloc": Row(Does.NOTHING),
    "ttg.local_load": Row(Does.READS),
    "ttg.local_store": Row(Does.WRITES),
    "ttg.local_gather": Row(Does.READS),
    "ttg.local_scatter": Row(Does.WRITES),
    "ttg.local_atomic_scatter_rmw": Row(Does.UPDATES),
    "amdg.local_load_packed_tranposed": Row(Does.READS),
    "amdg.local_load_packed_transposed": Row(Does.READS),
    # views
    "ttg.memdesc_index": Row(Does.VIEWS),
    "ttg.memdesc_subslice": Row(Does.VIEWS),
    "ttg.memdesc_trans": Row(Does.VIEWS),
    "ttg.memdesc_reshape": Row(Does.VIEWS),
    "ttg.memdesc_reinterpret": Row(Does.VIEWS),
    # copies
    "ttg.async_copy_global_to_local": Row(Does.COPIES_IN, COPY),
    "amdg.buffer_load_to_local": Row(Does.COPIES_IN, COPY),
    "ttg.async_commit_group": Row(Does.COMMITS, COPY),
    "ttg.async_wait": Row(Does.WAITS, COPY, "num"),
    "amdg.async_wait": Row(Does.WAITS, COPY, "num_inst"),
    "amdg.async_tdm_copy_global_to_local": Row(Does.COPIES_IN, TENSOR),
    "amdg.async_tdm_copy_local_to_global": Row(Does.COPIES_OUT, TENSOR),
    "amdg.async_tdm_fused_copy_global_to_local": Row(Does.COPIES_IN, TENSOR),
    "amdg.async_tdm_gather": Row(Does.COPIES_IN, TENSOR),
    "amdg.async_tdm_scatter": Row(Does.COPIES_OUT, TENSOR),
    "amdg.async_copy_local_to_global": Row(Does.COPIES_OUT, COPY),
    "amdg.async_tdm_wait": Row(Does.WAITS, TENSOR, "num"),
    "amdg.async_tdm_intrinsic_wait": Row(Does.WAITS, TENSOR, "count"),
    "ttng.async_tma_copy_local_to_global": Row(Does.COPIES_OUT, STORE),
    "ttng.async_tma_reduce": Row(Does.COPIES_OUT, STORE),
    "ttng.async_tma_scatter": Row(Does.COPIES_OUT, STORE),
    "ttng.async_tma_store_wait": Row(Does.WAITS, STORE, "pendings"),
    # the matrix unit of Hopper reads shared memory by itself
    "ttng.warp_group_dot": Row(Does.MULTIPLIES, MMA),
    "ttng.warp_group_dot_wait": Row(Does.WAITS, MMA, "pendings"),
    # barriers
    "ttg.barrier": Row(Does.MEETS),
    "gpu.barrier": Row(Does.MEETS),
    "rocdl.s.barrier": Row(Does.MEETS_BARE),
    "rocdl.barrier": Row(Does.MEETS),
    # one wave makes a descriptor, and looks at what others have made; then all meet
    "ttng.tensormap_create": Row(Does.FIRST_USES),
    "ttng.tensormap_fenceproxy_acquire": Row(Does.MEETS),
    # fences and hints order nothing between waves
    "ttng.fence_async_shared": Row(Does.NOTHING),
    "ttng.fence": Row(Does.NOTHING),
    "ttng.cluster_arrive": Row(Does.NOTHING),
    "ttng.cluster_wait": Row(Does.NOTHING),
    "rocdl.sched.barrier": Row(Does.NOTHING),
    "rocdl.sched.group.barrier": Row(Does.NOTHING),
    "rocdl.s.setprio": Row(Does.NOTHING),
    # barrier objects
    "ttng.init_barrier": Row(Does.OBJECTS),
    "ttng.inval_barrier": Row(Does.OBJECTS),
    "ttng.barrier_expect": Row(Does.OBJECTS),
    "ttng.wait_barrier": Row(Does.OBJECTS),
    "ttng.arrive_barrier": Row(Does.OBJECTS),
    "ttng.async_copy_mbarrier_arrive": Row(Does.OBJECTS),
    "ttng.async_tma_copy_global_to_local": Row(Does.OBJECTS),
    "ttng.async_tma_gather": Row(Does.OBJECTS),
    "amdg.init_barrier": Row(Does.OBJECTS),
    "amdg.wait_barrier": Row(Does.OBJECTS),
    "amdg.arrive_barrier": Row(Does.OBJECTS),
    "amdg.async_copy_mbarrier_arrive": Row(Does.OBJECTS),
    "ttng.async_shared_store": Row(Does.OBJECTS),
    "ttng.tc_gen5_mma": Row(Does.OBJECTS),
    "ttng.tc_gen5_mma_scaled": Row(Does.OBJECTS),
    "ttng.tc_gen5_commit": Row(Does.OBJECTS),
    "ttng.tmem_copy": Row(Does.OBJECTS),
    "ttng.clc_try_cancel": Row(Does.OBJECTS),
    "ttng.clc_try_cancel_sync": Row(Does.OBJECTS),
    "ttng.clc_load_result": Row(Does.OBJECTS),
    # parts of the waves
    "ttg.warp_specialize": Row(Does.PARTS),
    "ttg.warp_specialize.partitions": Row(Does.NOTHING),
    "ttg.warp_yield": Row(Does.NOTHING),
    "ttg.warp_return": Row(Does.NOTHING),
    "amdg.cond_barrier": Row(Does.HOLDS_BACK),
}
