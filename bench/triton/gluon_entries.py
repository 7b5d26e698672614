"""The Gluon kernels of the corpus: correct ones, and for each the variants with one mistake planted.

What the checker should say about a mistake stands with it. Sizes are such that every loop runs over its ring more
than once: a slot that is refilled too early, or a phase that never turns, only matters then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import references
from gluon import (
    async_arrive,
    async_ring,
    buffer_ring,
    persistent,
    shared_reduce,
    shared_transpose,
    specialized_copy,
    specialized_matmul,
    tdm_ring,
    tdm_specialized,
    tma_ring,
    tma_store,
    warp_pipeline,
    wgmma_single,
)
from model import ALL, NVIDIA, TARGETS, Argument, Array, Entry, Mistake, Reference, Scalar, TensorMap

GLUON: list[Entry] = []


class _Family:
    """Kernels with the same arguments: `correct` adds a right one, `wrong` a variant of the last right one."""

    def __init__(
        self, args: Mapping[str, Argument], grid: tuple[int, int, int], constexprs: Mapping[str, Any],
        reference: Reference, targets: tuple[str, ...], warps: int = 4, lanes: bool = False,
    ) -> None:  # fmt: skip
        self._fields: dict[str, Any] = {
            "args": args,
            "grid": grid,
            "constexprs": constexprs,
            "options": {"num_warps": warps},
            "targets": targets,
            "language": "gluon",
            "overrides": {name: {"LANES": TARGETS[name].warp_size} for name in targets} if lanes else {},
        }
        self._reference = reference
        self._last = ""

    def correct(self, kernel: Any, complete: bool = True, note: str = "") -> None:
        """A kernel that a checker must accept."""
        self._last = f"gluon_{kernel.fn.__name__}"
        right: dict[str, Any] = {"reference": self._reference, "complete": complete, "note": note}
        GLUON.append(Entry(self._last, kernel, **right, **self._fields))

    def wrong(self, kernel: Any, marker: str, says: str, repaired: bool = False, hang: bool = False) -> None:
        """The same with one mistake."""
        mistake = Mistake(marker, "hang" if hang else "race", says, repaired)
        GLUON.append(
            Entry(f"gluon_{kernel.fn.__name__}", kernel, mistake=mistake, correct=self._last, **self._fields)
        )


def _swizzled(shape: tuple[int, int], block: tuple[int, int], role: Any = "in") -> TensorMap:
    layout = "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)"
    return TensorMap(Array(shape, "fp16", role), block, layout)


_SIZE = 512
_product: dict[str, Argument] = {
    "a_ptr": Array((_SIZE, _SIZE), "fp16"), "b_ptr": Array((_SIZE, _SIZE), "fp16"),
    "c_ptr": Array((_SIZE, _SIZE), role="out"), "n": Scalar(_SIZE), "k": Scalar(_SIZE),
}  # fmt: skip
_blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "SLOTS": 3}
_scaled: dict[str, Argument] = {
    "x_ptr": Array((_SIZE, 64), "fp16"), "out_ptr": Array((_SIZE, 64), "fp16", "out"), "rows": Scalar(_SIZE),
}  # fmt: skip

# Any target: plain accesses and barriers.
_family = _Family(
    {"x_ptr": Array((256, 256)), "out_ptr": Array((256, 256), role="out"), "rows": Scalar(256), "cols": Scalar(256)},
    (4, 1, 1), {"BLOCK": 64, "WARPS": 4}, references.transpose, ALL, lanes=True,
)  # fmt: skip
_family.correct(shared_transpose.transpose)
_family.wrong(
    shared_transpose.transpose_read_early, "no barrier before the transposed read",
    "the read of `tile` can run before other waves have written it (RAW, same iteration)", repaired=True,
)  # fmt: skip
_family.wrong(
    shared_transpose.transpose_write_early, "no barrier before the tile is written again",
    "the write of `tile` can run while other waves still read it (WAR, next iteration)", repaired=True,
)  # fmt: skip
_family.correct(
    shared_transpose.transpose_ring, note="membar adds a barrier that the two slots make redundant"
)

_family = _Family(
    {"x_ptr": Array((8, 2048)), "out_ptr": Array((8,), role="out")},
    (8, 1, 1), {"BLOCK": 2048, "WARPS": 4}, references.tree_sum, ALL, lanes=True,
)  # fmt: skip
_family.correct(shared_reduce.tree_sum)
_family.wrong(
    shared_reduce.tree_sum_unfenced, "no barrier after the partial sums are written",
    "the next round reads the half of `partial` that other waves have just written (RAW)", repaired=True,
)  # fmt: skip

_family = _Family(
    {
        "x_ptr": Array((5000,), "i32", fill="index", bound=256),
        "out_ptr": Array((256,), "i32", "inout", "zeros"),
        "n": Scalar(5000),
    },
    (2, 1, 1), {"BLOCK": 512, "BINS": 256, "WARPS": 4}, references.count, ALL, lanes=True,
)  # fmt: skip
_family.correct(shared_reduce.count, note="on AMD membar adds a barrier between the atomics, which need none")
_family.wrong(
    shared_reduce.count_uncleared, "no barrier after the bins are cleared",
    "the atomics on `bins` can run before other waves have cleared them (WAW)", repaired=True,
)  # fmt: skip

# Ampere: asynchronous copies in counted groups.
_family = _Family(_product, (8, 8, 1), _blocks, references.matmul, NVIDIA)
_family.correct(async_ring.ring)
_family.wrong(
    async_ring.ring_weak_wait, "the wait leaves one group too many",
    "the slot is read while its copy is in flight: the wait retires nothing, 1 instead of 2 would do",
)  # fmt: skip
_family.wrong(
    async_ring.ring_slot_in_use, "the slot being read is refilled",
    "the copy started in this iteration writes the slot that this iteration reads; no barrier can help",
)  # fmt: skip
_family.wrong(
    async_ring.ring_no_barrier, "no barrier after the wait",
    "the slot is read before the copies of other warps are known to be complete (RAW), and refilled while other"
    " warps still read it (WAR)", repaired=True,
)  # fmt: skip
_family.wrong(
    async_ring.ring_copy_first, "the slot before is refilled ahead of the barrier",
    "the copy can write a slot that other warps still read from the iteration before (WAR)", repaired=True,
)  # fmt: skip
_family.wrong(
    async_ring.ring_late_commit, "the group is closed before its copies",
    "the slot is read while its copy is in flight: the copy belongs to the group that the wait leaves",
)  # fmt: skip

# Ampere: asynchronous copies that arrive on an mbarrier.
_family = _Family(_scaled, (1, 1, 1), {"ROWS": 64, "COLS": 64, "SLOTS": 2}, references.scaled, NVIDIA)
_family.correct(async_arrive.arriving)
_family.wrong(
    async_arrive.arriving_phase, "the phase of the slot before is waited for",
    "the slot is read while its copies are in flight: the wait is for a phase that is complete already",
)  # fmt: skip
_family.wrong(
    async_arrive.arriving_miscounted, "twice the arrivals are expected that come",
    "the first wait never ends: 128 arrivals come, 256 complete the phase", hang=True,
)  # fmt: skip
_family.wrong(
    async_arrive.arriving_slot_in_use, "no barrier before the slot is filled again",
    "the copy can write the slot while other warps still read it (WAR)", repaired=True,
)  # fmt: skip

# Hopper: the copy engine, mbarriers and asynchronous products.
_family = _Family(
    {
        "a_desc": _swizzled((_SIZE, _SIZE), (64, 64)),
        "b_desc": _swizzled((_SIZE, _SIZE), (64, 64)),
        "c_desc": _swizzled((_SIZE, _SIZE), (64, 64), "out"),
        "k": Scalar(_SIZE),
    },
    (8, 8, 1), {"SLOTS": 3}, references.matmul_descriptor, ("sm_90",),
)  # fmt: skip
_family.correct(tma_ring.tma_ring)
_family.wrong(
    tma_ring.tma_ring_phase, "the phase never turns",
    "from the second round on, the product reads a slot whose copies are in flight: the wait is for a phase that is"
    " complete already",
)  # fmt: skip
_family.wrong(
    tma_ring.tma_ring_slot_in_use, "the product before may still read its slot",
    "the copy writes a slot that the product of the iteration before can still be reading; a barrier cannot help",
)  # fmt: skip
_family.wrong(
    tma_ring.tma_ring_half, "only the bytes of a are expected",
    "the product reads b's slot while its copy is in flight: the phase is complete after half of the bytes",
)  # fmt: skip

_family = _Family(
    {
        "a_desc": _swizzled((_SIZE, _SIZE), (64, 64)),
        "b_desc": _swizzled((_SIZE, _SIZE), (64, 64)),
        "c_desc": _swizzled((_SIZE, _SIZE), (64, 64), "out"),
        **{name: Scalar(_SIZE) for name in ("m", "n", "k")},
    },
    (16, 1, 1), {"SLOTS": 4}, references.matmul_descriptor, ("sm_90",),
)  # fmt: skip
_family.correct(persistent.persistent)
_family.correct(persistent.persistent_overlapped)

_family = _Family(
    {"x_ptr": Array((_SIZE, 64), "fp16"), "out_desc": _swizzled((_SIZE, 64), (64, 64), "out"), "rows": Scalar(_SIZE)},
    (1, 1, 1), {"ROWS": 64, "COLS": 64}, references.scaled_to_descriptor, ("sm_90",),
)  # fmt: skip
_family.correct(tma_store.store_ring)
_family.wrong(
    tma_store.store_ring_weak_wait, "the copy out of this slot may still be reading",
    "the slot is written while the copy engine can still be reading it from two iterations ago",
)  # fmt: skip
_family.wrong(
    tma_store.store_ring_unannounced, "no barrier after the wait for the engine",
    "other warps can write the slot before the thread that waits for the engine knows it is free (WAR)",
    repaired=True,
)  # fmt: skip
_family.wrong(
    tma_store.store_ring_unwritten, "no barrier before the copy out",
    "the copy engine can read the slot before other warps have written it (RAW)", repaired=True,
)  # fmt: skip

_family = _Family(
    _product,
    (4, 8, 1),
    {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64},
    references.matmul,
    ("sm_90",),
    warps=8,
)
_family.correct(wgmma_single.single)
_family.wrong(
    wgmma_single.single_unfinished, "the wait leaves the product that reads the buffers",
    "the buffers are written while the product can still be reading them; the barrier does not wait for it",
)  # fmt: skip
_family.wrong(
    wgmma_single.single_unwritten, "no barrier before the product reads the buffers",
    "the product can read the buffers before other warps have written them (RAW)", repaired=True,
)  # fmt: skip
_family.correct(
    wgmma_single.single_implicit,
    note="the wait for the product lets all warps meet unless marked warpGroupLocal",
)

# Hopper: warps with different programs.
_family = _Family(
    {
        "a_desc": _swizzled((_SIZE, _SIZE), (64, 64)),
        "b_desc": _swizzled((_SIZE, _SIZE), (64, 64)),
        "c_ptr": Array((_SIZE, _SIZE), role="out"),
        "n": Scalar(_SIZE),
        "k": Scalar(_SIZE),
    },
    (8, 8, 1), {"SLOTS": 3}, references.matmul_from_descriptors, ("sm_90",),
)  # fmt: skip
_family.correct(specialized_matmul.specialized)
_family.wrong(
    specialized_matmul.specialized_early_load, "nobody waits until the slot is empty",
    "from the second round on, the copies write slots that the products can still be reading",
)  # fmt: skip
_family.wrong(
    specialized_matmul.specialized_no_arrive, "the slot is never given back",
    "the loading warp waits for `empty` in its second round, on which nobody arrives", hang=True,
)  # fmt: skip
_family.wrong(
    specialized_matmul.specialized_early_arrive, "the slot is given back before it is read",
    "the arrival on `empty` comes before the product: the next copy can write the slot that it reads",
)  # fmt: skip
_family.wrong(
    specialized_matmul.specialized_no_wait, "nobody waits until the slot is full",
    "the product reads slots whose copies are in flight or not even started",
)  # fmt: skip
_family.wrong(
    specialized_matmul.specialized_miscounted, "two arrivals are expected, one comes",
    "the loading warp waits for `empty` in its second round: one arrival comes, two complete the phase", hang=True,
)  # fmt: skip

_family = _Family(
    {
        "in_desc": _swizzled((_SIZE, 64), (64, 64)),
        "out_desc": _swizzled((_SIZE, 64), (64, 64), "out"),
        "rows": Scalar(_SIZE),
    },
    (1, 1, 1), {"SLOTS": 2}, references.copy_descriptor, ("sm_90",),
)  # fmt: skip
_family.correct(specialized_copy.pipeline)
_family.wrong(
    specialized_copy.pipeline_undrained, "nobody waits until the slot is drained",
    "from the second round on, the scaling warps write slots that the copy engine can still be reading",
)  # fmt: skip
_family.wrong(
    specialized_copy.pipeline_unread, "the slot is given back while the engine reads it",
    "the arrival on `drained` comes before the wait for the copy: the slot can be written while it is read",
)  # fmt: skip

# gfx950: loads straight into LDS, in groups.
_family = _Family(_product, (8, 8, 1), _blocks, references.matmul, ("gfx950",))
_family.correct(buffer_ring.buffer_ring)
_family.wrong(
    buffer_ring.buffer_ring_weak_wait, "the wait leaves the group of this slot",
    "the slot is read while its copies are in flight: the wait retires nothing, 1 instead of 2 would do",
)  # fmt: skip
_family.wrong(
    buffer_ring.buffer_ring_slot_in_use, "the slot of this iteration is refilled",
    "the copy started in this iteration writes the slot that this iteration reads; no barrier can help",
)  # fmt: skip
_family.wrong(
    buffer_ring.buffer_ring_barrier_first, "the wait stands after the barrier",
    "the slot is read before the copies of other waves are known to be complete (RAW): a barrier has to follow the"
    " wait", repaired=True,
)  # fmt: skip

# gfx950: half of the waves one stage behind.
_family = _Family(
    _product, (4, 4, 1), {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "SLOTS": 3}, references.matmul, ("gfx950",),
    warps=8,
)  # fmt: skip
_family.correct(
    warp_pipeline.pipelined, complete=False,
    note="the compiler leaves the barrier of the first border to membar, which adds it after the wait",
)  # fmt: skip
_family.wrong(
    warp_pipeline.pipelined_weak_wait, "too weak for the slot of the next stage",
    "the slot is read while its copies are in flight",
)  # fmt: skip
_family.wrong(
    warp_pipeline.pipelined_slot_in_use, "the late half has yet to read this slot",
    "the early half's copy writes the slot that the late half reads one rendezvous later",
)  # fmt: skip

# gfx1250: the tensor data mover.
_family = _Family({**_product, "m": Scalar(_SIZE)}, (8, 8, 1), _blocks, references.matmul, ("gfx1250",))
_family.correct(tdm_ring.tdm_ring)
_family.wrong(
    tdm_ring.tdm_ring_weak_wait, "the copy of b may be under way",
    "b's slot is read while its copy is in flight: the wait leaves 3 copies, 2 would do",
)  # fmt: skip
_family.wrong(
    tdm_ring.tdm_ring_slot_in_use, "the data mover refills the slot of this iteration",
    "the copy started in this iteration writes the slot that this iteration reads; no barrier can help",
)  # fmt: skip
_family.wrong(
    tdm_ring.tdm_ring_copy_first, "the data mover is started ahead of the barrier",
    "the copy can write a slot that other waves still read from the iteration before (WAR)", repaired=True,
)  # fmt: skip

_family = _Family(_scaled, (1, 1, 1), {"ROWS": 64, "COLS": 64, "SLOTS": 2}, references.scaled, ("gfx1250",))
_family.correct(tdm_specialized.tdm_specialized)
_family.wrong(
    tdm_specialized.tdm_specialized_early_load, "the data mover does not wait for an empty slot",
    "from the second round on, the copies write slots that can still be read",
)  # fmt: skip
_family.wrong(
    tdm_specialized.tdm_specialized_no_arrive, "the copy arrives nowhere",
    "the first wait for `full` never ends: nothing arrives on it", hang=True,
)  # fmt: skip
_family.wrong(
    tdm_specialized.tdm_specialized_early_arrive, "the slot is released ahead of its read",
    "the arrival on `empty` comes before the read: the next copy can write the slot meanwhile",
)  # fmt: skip
_family.wrong(
    tdm_specialized.tdm_specialized_miscounted, "256 arrivals are expected, 128 come",
    "the loading wave waits for `empty` in its second round: 128 arrivals come, 256 complete the phase", hang=True,
)  # fmt: skip
