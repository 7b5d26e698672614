"""What each operation of a Triton module does to shared memory: one table.

Every operation of Triton's own dialects is in it, by name: handled, harmless, or not judged. An operation that is not
in it, of whatever dialect, is not judged either: a kernel that has one gets no verdict, and the operation is named.
A test compares the table with the dialects of the installed Triton. What only older releases have is in `OLDER`.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import NamedTuple


class Does(Enum):
    """What an operation does with the views of shared memory that it is given."""

    # Each is there once: its identity will do, and is asked for with every operation.
    __hash__ = object.__hash__

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
    NOTHING = "touches no shared memory and orders nothing"
    MBARRIERS = "works on an mbarrier in memory, or with one"
    DELAYS = "is an unfenced barrier for part of the waves: it delays them"
    FIRST_USES = "has its first wave write and read memory of its own"
    PARTS = "has regions that waves of their own run; all meet when it begins and when it ends"
    EXCHANGES = "hands values from wave to wave, where it is given memory of its own for that"
    UPDATES_GLOBAL = "is an atomic on global memory: its order is kept by barriers of its own"
    CALLS = "runs a function"
    BRANCHES = "is control flow: `blocks` makes branches of it"
    NOT_JUDGED = "cannot be expressed in a kernel here, or is not known"


class Row(NamedTuple):
    """An entry of the table."""

    does: Does
    counter: str = ""
    """For copies, waits and commits: the counter."""
    attribute: str = ""
    """For waits: the attribute with the number of operations, or groups, that may be outstanding."""


COPY, TENSOR, STORE, MMA = "copy", "tensor", "store", "mma"
"""Counters: copies by threads (cp.async, loads to LDS), TDM, TMA stores, the matrix unit."""

DELAYS = "amdg.cond_barrier"
"""A barrier for part of the waves."""

PURE = ("arith", "math", "ub")
"""Dialects whose operations work on registers alone."""

HARMLESS = (
    # registers, and global memory
    *(
        "tt.addptr",
        "tt.approx_divf",
        "tt.assert",
        "tt.bitcast",
        "tt.broadcast",
        "tt.cat",
        "tt.clampf",
        "tt.dot",
    ),
    *("tt.dot_scaled", "tt.elementwise_inline_asm", "tt.expand_dims", "tt.extern_elementwise", "tt.fp_to_fp"),
    *("tt.get_num_programs", "tt.get_program_id", "tt.int_to_ptr", "tt.join", "tt.load", "tt.make_range"),
    *("tt.make_tensor_descriptor", "tt.map_elementwise", "tt.mulhiui", "tt.precise_divf", "tt.precise_sqrt"),
    *(
        "tt.print",
        "tt.ptr_to_int",
        "tt.reshape",
        "tt.splat",
        "tt.split",
        "tt.store",
        "tt.trans",
        "tt.unsplat",
    ),
    *("ttg.fp4_to_fp", "ttg.global_scratch_alloc", "ttg.inline_asm", "ttg.predicate_stage", "ttg.warp_id"),
    *("ttng.packed_arith", "ttng.reinterpret_tensor_descriptor"),
    *("ttng.clc_get_program_id", "ttng.clc_is_canceled"),
    *("amdg.buffer_load", "amdg.buffer_store", "amdg.masked_load", "amdg.masked_store", "amdg.tdm_prefetch"),
    *("amdg.concat", "amdg.extract_slice", "amdg.in_thread_transpose", "amdg.update_tensor_descriptor"),
    *(
        "amdg.scaled_downcast_fp4",
        "amdg.scaled_downcast_fp8",
        "amdg.scaled_upcast_fp4",
        "amdg.scaled_upcast_fp8",
    ),
    *("gluon.set_auto_layout", "nvg.cluster_id"),
    # kernels that follow each other
    *("tt.grid_dependency_launch_dependents", "tt.grid_dependency_wait"),
    # the ends of functions and regions
    *("tt.return", "tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return"),
    *("ttg.warp_specialize.partitions", "ttg.warp_yield", "ttg.warp_return"),
    # an allocation ends without touching its bytes
    "ttg.local_dealloc",
    # orders the proxies of one thread's accesses, and no waves: see `proxies`
    "ttng.fence_async_shared",
    # publishes mbarriers to the other workgroups of a cluster; kernels that have any are not judged at all
    "ttng.fence_mbarrier_init_release_cluster",
    # hints to the scheduler, and waits that only make a wave wait longer
    *("rocdl.sched.barrier", "rocdl.sched.group.barrier", "rocdl.s.setprio", "rocdl.s.nop", "rocdl.s.sleep"),
    *(
        "rocdl.iglp.opt",
        "rocdl.s.waitcnt",
        "rocdl.s.wait.asynccnt",
        "rocdl.s.wait.dscnt",
        "rocdl.s.wait.expcnt",
    ),
    *("rocdl.s.wait.loadcnt", "rocdl.s.wait.storecnt", "rocdl.s.wait.tensorcnt", "nvvm.nanosleep"),
    # who a thread is: a branch that depends on it is not judged, see `thread_branches`
    *(
        "rocdl.workitem.id.x",
        "rocdl.workitem.id.y",
        "rocdl.workitem.id.z",
        "rocdl.wave.id",
        "rocdl.readfirstlane",
    ),
    *("nvvm.read.ptx.sreg.tid.x", "nvvm.read.ptx.sreg.tid.y", "nvvm.read.ptx.sreg.tid.z"),
    *("nvvm.read.ptx.sreg.laneid", "nvvm.read.ptx.sreg.warpid", "gpu.thread_id", "gpu.lane_id"),
    *(
        "rocdl.workgroup.id.x",
        "rocdl.workgroup.id.y",
        "rocdl.workgroup.id.z",
        "gpu.block_id",
        "gpu.block_dim",
    ),
    *(
        "nvvm.read.ptx.sreg.ctaid.x",
        "nvvm.read.ptx.sreg.ctaid.y",
        "nvvm.read.ptx.sreg.ctaid.z",
        "gpu.grid_dim",
    ),
    # the sanitizer's notes about accesses to global memory, which it keeps there
    *(
        "tti.experimental_gsan_init",
        "tti.experimental_gsan_kernel_exit",
        "tti.experimental_gsan_tensor_access",
    ),
    *("tti.experimental_gsan_tensordesc_access", "tti.experimental_gsan_indexed_tensordesc_access"),
    *("tti.experimental_gsan_atomic_tensordesc_access", "tti.experimental_gsan_grid_dependency_wait"),
    # keeps the order of one thread's own accesses for the compiler; barriers beside it are operations of their own
    "llvm.fence",
    # what LLVM is told about values
    *("llvm.intr.assume", "llvm.mlir.constant", "llvm.mlir.undef", "llvm.mlir.poison", "llvm.mlir.zero"),
)
"""They touch no shared memory and order nothing. (`unfollowed_forms` has the exceptions.)"""

NOT_JUDGED = (
    # Blackwell's tensor memory, and what works on it
    *("ttng.tmem_alloc", "ttng.tmem_load", "ttng.tmem_store", "ttng.tmem_subslice", "ttng.tmem_wait"),
    *("ttng.tmem_copy", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled", "ttng.tc_gen5_commit"),
    *("ttng.clc_try_cancel", "ttng.clc_try_cancel_sync", "ttng.clc_load_result", "ttng.async_shared_store"),
    # barriers of a cluster
    *("ttng.cluster_barrier", "amdg.cluster_barrier_arrive", "amdg.cluster_barrier_wait"),
    # what passes make shared memory of later, and regions that passes take apart again
    *("tt.descriptor_load", "tt.descriptor_store", "tt.descriptor_gather", "tt.descriptor_scatter"),
    *("tt.descriptor_reduce", "ttg.mask", "ttg.mask.return"),
    *("nvws.aref.buffer", "nvws.aref.create", "nvws.aref.get.enter", "nvws.aref.get.exit", "nvws.aref.phi"),
    *("nvws.aref.put.enter", "nvws.aref.put.exit", "nvws.clc_try_cancel", "nvws.consumer_release"),
    *("nvws.consumer_wait", "nvws.create_token", "nvws.descriptor_gather", "nvws.descriptor_load"),
    *("nvws.producer_acquire", "nvws.producer_commit", "nvws.warp_group", "nvws.warp_group.return"),
    "nvws.warp_group.yield",
    # what the lowering behind membar makes
    *("nvg.ld_acquire", "nvg.tensor_memory_base", "nvg.warp_group_barrier_id", "nvg.wgmma"),
    *("nvg.wgmma_wait_group", "builtin.module", "builtin.unrealized_conversion_cast"),
    # instrumentation: sanitizers and profilers
    *("tti.dot_i8", "tti.experimental_assert_uniform", "tti.experimental_buffer_descriptors"),
    *("tti.experimental_cluster_cta_id", "tti.experimental_fpsan_embed", "tti.experimental_fpsan_unembed"),
    *("tti.experimental_gsan_cluster_barrier_init", "tti.experimental_gsan_cluster_barrier_sync"),
    *("tti.experimental_gsan_mbarrier_arrive", "tti.experimental_gsan_mbarrier_init"),
    *("tti.experimental_gsan_mbarrier_table_init", "tti.experimental_gsan_mbarrier_wait"),
    "tti.experimental_local_gather",
    *("tti.experimental_lock_acquire", "tti.experimental_lock_release", "tti.experimental_memdesc_to_i32"),
    "tti.experimental_memory_offset_to_i32",
    *("proton.allocate_event", "proton.event", "proton.record", "proton_gpu.circular_store"),
    *("proton_gpu.finalize", "proton_gpu.init_ctx", "proton_gpu.initialize", "proton_gpu.read_counter"),
    *("proton_gpu.restore_ctx", "proton_gpu.save_ctx", "proton_gpu.segment_alloc"),
)
"""Kernels here have no words for them: whoever uses one gets no verdict."""

TABLE: dict[str, Row] = {
    **dict.fromkeys(HARMLESS, Row(Does.NOTHING)),
    **dict.fromkeys(NOT_JUDGED, Row(Does.NOT_JUDGED)),
    # allocations and plain accesses
    "ttg.local_alloc": Row(Does.ALLOCATES),
    "ttg.local_load": Row(Does.READS),
    "ttg.local_store": Row(Does.WRITES),
    "ttg.local_gather": Row(Does.READS),
    "ttg.local_scatter": Row(Does.WRITES),
    "ttg.local_atomic_scatter_rmw": Row(Does.UPDATES),
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
    # mbarriers
    "ttng.init_barrier": Row(Does.MBARRIERS),
    "ttng.inval_barrier": Row(Does.MBARRIERS),
    "ttng.barrier_expect": Row(Does.MBARRIERS),
    "ttng.wait_barrier": Row(Does.MBARRIERS),
    "ttng.arrive_barrier": Row(Does.MBARRIERS),
    "ttng.async_copy_mbarrier_arrive": Row(Does.MBARRIERS),
    "ttng.async_tma_copy_global_to_local": Row(Does.MBARRIERS),
    "ttng.async_tma_gather": Row(Does.MBARRIERS),
    "amdg.init_barrier": Row(Does.MBARRIERS),
    "amdg.wait_barrier": Row(Does.MBARRIERS),
    "amdg.arrive_barrier": Row(Does.MBARRIERS),
    "amdg.async_copy_mbarrier_arrive": Row(Does.MBARRIERS),
    # parts of the waves
    "ttg.warp_specialize": Row(Does.PARTS),
    "amdg.cond_barrier": Row(Does.DELAYS),
    # values handed from wave to wave
    "tt.reduce": Row(Does.EXCHANGES),
    "tt.scan": Row(Does.EXCHANGES),
    "tt.histogram": Row(Does.EXCHANGES),
    "tt.gather": Row(Does.EXCHANGES),
    "ttg.convert_layout": Row(Does.EXCHANGES),
    # atomics on global memory
    "tt.atomic_rmw": Row(Does.UPDATES_GLOBAL),
    "tt.atomic_cas": Row(Does.UPDATES_GLOBAL),
    "tt.atomic_load": Row(Does.UPDATES_GLOBAL),
    "tt.atomic_store": Row(Does.UPDATES_GLOBAL),
    "tt.atomic_poll": Row(Does.UPDATES_GLOBAL),
    "amdg.buffer_atomic_rmw": Row(Does.UPDATES_GLOBAL),
    "amdg.buffer_atomic_cas": Row(Does.UPDATES_GLOBAL),
    "tti.experimental_gsan_atomic_rmw": Row(Does.UPDATES_GLOBAL),
    "tti.experimental_gsan_atomic_cas": Row(Does.UPDATES_GLOBAL),
    "tti.experimental_gsan_atomic_load": Row(Does.UPDATES_GLOBAL),
    "tti.experimental_gsan_atomic_store": Row(Does.UPDATES_GLOBAL),
    "tti.experimental_gsan_atomic_poll": Row(Does.UPDATES_GLOBAL),
    # functions and control flow
    "tt.func": Row(Does.CALLS),
    "tt.call": Row(Does.CALLS),
    **dict.fromkeys(
        (
            *(
                "cf.assert",
                "cf.br",
                "cf.cond_br",
                "cf.switch",
                "scf.condition",
                "scf.execute_region",
                "scf.for",
            ),
            *(
                "scf.forall",
                "scf.forall.in_parallel",
                "scf.if",
                "scf.index_switch",
                "scf.parallel",
                "scf.reduce",
            ),
            *("scf.reduce.return", "scf.while", "scf.yield"),
        ),
        Row(Does.BRANCHES),
    ),
}

OLDER: dict[str, Row] = {
    # barriers for shared memory
    "ttg.local_barrier": Row(Does.MEETS),
    # views, as far as they are not those of newer releases (`mlir.newest_operations`)
    "ttg.memdesc_subview": Row(Does.VIEWS),
    # accesses
    "amdg.local_load_packed_tranposed": Row(Does.READS),
    # registers, and hints to the scheduler
    **dict.fromkeys(
        (
            *("tt.advance", "tt.make_tensor_ptr", "amdg.instruction_sched_hint", "amdg.upcast_mxfp"),
            "ttng.tensor_desc_to_tma_ptr",
        ),
        Row(Does.NOTHING),
    ),
    # waits that only make a wave wait longer
    "amdg.memory_counter_wait": Row(Does.NOTHING),
    # barriers of a cluster, what the lowering makes, instrumentation
    **dict.fromkeys(
        (
            *("ttng.cluster_arrive", "ttng.cluster_wait", "nvg.warp_id", "proton_gpu.global_scratch_alloc"),
            *("tti.experimental_assert_in_thread", "tti.experimental_buffer_pointers"),
            *("tti.experimental_gsan_atomic_tensor_access", "tti.experimental_gsan_tensordesc_info"),
            "tti.experimental_memdesc_to_i64",
            *("tti.experimental_check_barrier_writes_cleared", "tti.experimental_check_outstanding_commits"),
            *("tti.experimental_check_read_barriers", "tti.experimental_check_write_state"),
            *("tti.experimental_clear_outstanding_commits", "tti.experimental_clear_read_barrier"),
            *("tti.experimental_clear_write_barrier", "tti.experimental_commit_accesses"),
            *("tti.experimental_commit_write_with_barrier", "tti.experimental_set_read_barrier"),
            *("tti.experimental_set_write_state", "tti.experimental_stage_access_for_commit"),
            # what passes make shared memory of later, barriers by name, and what is done with registers of warps
            *("tt.experimental_descriptor_gather", "tt.experimental_descriptor_load"),
            *("tt.experimental_descriptor_scatter", "tt.experimental_descriptor_store"),
            *(
                "ttng.bar_arrive",
                "ttng.bar_wait",
                "ttng.mbarrier_arrive",
                "ttng.reg_alloc",
                "ttng.reg_dealloc",
            ),
            *("ttng.consumer_release", "ttng.consumer_wait", "ttng.producer_acquire", "ttng.producer_commit"),
            *("ttng.create_token", "ttng.get_async_task_id", "ttng.get_canonical_warp_id"),
        ),
        Row(Does.NOT_JUDGED),
    ),
}
"""Operations that the newest release has no more, and older ones have. Where these differ in the name of a dialect
alone, it is that of the newest (`mlir.newest_operations`)."""


@cache
def row_of(name: str) -> Row:
    """What the table says of an operation; one that it has no word about is not judged."""
    if name.partition(".")[0] in PURE:
        return _PLAIN
    return TABLE.get(name) or OLDER.get(name) or _NOT_KNOWN


_PLAIN, _NOT_KNOWN = Row(Does.NOTHING), Row(Does.NOT_JUDGED)
