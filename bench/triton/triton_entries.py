"""The Triton kernels of the corpus with their options, shapes and references.

Shapes are small enough to run in a blink and large enough that every loop runs several times; where a kernel has a
mask, some size is no multiple of the block, so that the mask does something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import references
from kernels import attention, control, descriptor, matmul, normalize, rearrange, reduction, scaled, schedule
from model import Argument, Array, Entry, Reference, Scalar, TensorMap

TRITON: list[Entry] = []


def _add(
    name: str, kernel: Any, args: Mapping[str, Argument], grid: tuple[int, int, int], constexprs: Mapping[str, Any],
    reference: Reference | None = None, **rest: Any,
) -> None:  # fmt: skip
    """One entry; what is no field of it is an option of the compiler."""
    fields = {key: rest.pop(key) for key in ("targets", "overrides", "note", "tolerance") if key in rest}
    TRITON.append(Entry(name, kernel, args, grid, constexprs, options=rest, reference=reference, **fields))


def _out(*shape: int, dtype: str = "fp32") -> Array:
    return Array(shape, dtype, "out")


def _matmul(
    name: str, kernel: Any = matmul.matmul, dtype: str = "fp16", tile: tuple[int, int, int] = (128, 128, 32),
    size: tuple[int, int, int] = (512, 512, 480), out: str = "fp32", programs: int = 0, **rest: Any,
) -> None:  # fmt: skip
    """A product of row-major matrices, one program per tile or a fixed number of programs."""
    m, n, k = size
    transposed = kernel in (matmul.matmul_transposed_b, descriptor.matmul_device_descriptor)
    args: dict[str, Argument] = {
        "a_ptr": Array((m, k), dtype),
        "b_ptr": Array((n, k) if transposed else (k, n), dtype),
        "c_ptr": _out(m, n, dtype=out),
        "m": Scalar(m), "n": Scalar(n), "k": Scalar(k),
    }  # fmt: skip
    grid = (programs, 1, 1) if programs else (m // tile[0], n // tile[1], 1)
    blocks = {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "BLOCK_K": tile[2]}
    reference = references.matmul_transposed_b if transposed else references.matmul
    _add(name, kernel, args, grid, blocks, reference, **rest)


# Plain products: stages, warps, types.
_matmul("matmul_1stage", num_stages=1, num_warps=4)
_matmul("matmul_2stage", num_stages=2, num_warps=4)
_matmul("matmul_3stage", num_stages=3, num_warps=4, tile=(128, 64, 32))
_matmul("matmul_4stage", num_stages=4, num_warps=4, tile=(64, 64, 32))
_matmul("matmul_8warps", num_stages=3, num_warps=8)
_matmul("matmul_8warps_2stage", num_stages=2, num_warps=8, tile=(256, 256, 64), size=(512, 512, 512),
        targets=("gfx942", "gfx950"), note="large enough for AMD's ping-pong schedule")  # fmt: skip
_matmul("matmul_8warps_4stage", num_stages=4, num_warps=8, tile=(128, 256, 64), size=(512, 512, 512),
        targets=("sm_90",), note="two warp groups share one wgmma")  # fmt: skip
_matmul("matmul_8warps_square", num_stages=3, num_warps=8, tile=(256, 256, 32), size=(512, 512, 512),
        targets=("gfx950",), note="async copies under the ping-pong schedule")  # fmt: skip
_matmul("matmul_1warp", num_stages=2, num_warps=1, tile=(32, 32, 32), size=(128, 128, 240))
_matmul("matmul_1warp_1stage", num_stages=1, num_warps=1, tile=(16, 16, 16), size=(64, 64, 240))
_matmul("matmul_2warps_3stage", num_stages=3, num_warps=2, tile=(64, 64, 32), size=(128, 128, 480))
_matmul("matmul_bf16", dtype="bf16", num_stages=3, num_warps=4, tile=(64, 128, 32))
_matmul("matmul_fp8e5", dtype="fp8e5", num_stages=3, num_warps=4, tile=(128, 128, 64), size=(512, 512, 512))
_matmul("matmul_fp8e4", dtype="fp8e4nv", num_stages=3, num_warps=4, tile=(64, 128, 64), size=(512, 512, 512),
        targets=("gfx950", "gfx1201", "gfx1250", "sm_90"))  # fmt: skip
_matmul("matmul_fp32", dtype="fp32", num_stages=2, num_warps=4, tile=(64, 64, 32), tolerance=2e-2)
_matmul(
    "matmul_int8", dtype="i8", out="i32", num_stages=3, num_warps=4, tile=(64, 64, 64), size=(256, 256, 512)
)
_matmul("matmul_transposed_b", kernel=matmul.matmul_transposed_b, num_stages=3, num_warps=4)
_matmul("matmul_waves_per_eu", num_stages=2, num_warps=4, waves_per_eu=2, tile=(64, 64, 64),
        targets=("gfx942", "gfx950"))  # fmt: skip
_matmul("matmul_persistent", kernel=schedule.matmul_persistent, programs=6, num_stages=3, num_warps=4,
        tile=(128, 128, 32))  # fmt: skip
_matmul("matmul_flattened", kernel=schedule.matmul_flattened, programs=6, num_stages=3, num_warps=4,
        tile=(64, 64, 32))  # fmt: skip
_matmul("matmul_device_descriptor", kernel=descriptor.matmul_device_descriptor, programs=6, out="fp16",
        num_stages=3, num_warps=4, tile=(128, 128, 64), size=(512, 512, 512),
        note="on sm_90 the descriptors live in global scratch memory")  # fmt: skip

_square = (512, 512, 512)
_big = {"a_ptr": Array((512, 512), "fp16"), "b_ptr": Array((512, 512), "fp16")}
_mnk = {"m": Scalar(512), "n": Scalar(512), "k": Scalar(512)}
_split = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "SPLIT": 4}
_add("matmul_epilogue", matmul.matmul_epilogue,
     {**_big, "bias_ptr": Array((512,)), "c_ptr": _out(512, 512, dtype="fp16"), **_mnk},
     (4, 4, 1), {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32}, references.matmul_epilogue,
     num_stages=3, num_warps=8)  # fmt: skip
_add("matmul_batched", matmul.matmul_batched,
     {"a_ptr": Array((8, 32, 128), "fp16"), "b_ptr": Array((8, 128, 32), "fp16"), "c_ptr": _out(8, 32, 32),
      "m": Scalar(32), "n": Scalar(32), "k": Scalar(128)},
     (2, 1, 1), {"BLOCK_B": 4, "BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}, references.matmul,
     num_stages=2, num_warps=4)  # fmt: skip
_add("matmul_split_k", schedule.matmul_split_k,
     {**_big, "c_ptr": Array((512, 512), role="inout", fill="zeros"), **_mnk},
     (8, 8, 4), _split, references.matmul, num_stages=3, num_warps=4)  # fmt: skip
_add("matmul_split_k_lock", schedule.matmul_split_k_lock,
     {**_big, "c_ptr": Array((512, 512), role="inout", fill="zeros"),
      "lock_ptr": Array((64,), "i32", "inout", "zeros"), **_mnk},
     (8, 8, 4), _split, references.matmul, num_stages=2, num_warps=4)  # fmt: skip
_add("matmul_grouped", schedule.matmul_grouped,
     {"a_ptr": Array((400, 256), "fp16"), "b_ptr": Array((4, 256, 128), "fp16"), "c_ptr": _out(400, 128),
      "first_ptr": Array((5,), "i32", values=(0, 100, 100, 300, 400)), "groups": Scalar(4),
      "n": Scalar(128), "k": Scalar(256)},
     (2, 2, 1), {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, references.matmul_grouped,
     num_stages=3, num_warps=4)  # fmt: skip
_add("matmul_chained", schedule.matmul_chained,
     {"a_ptr": Array((256, 64), "fp16"), "b_ptr": Array((256, 64), "fp16"), "c_ptr": Array((256, 64), "fp16"),
      "d_ptr": _out(256, 64), "length": Scalar(256)},
     (4, 1, 1), {"BLOCK_M": 64, "BLOCK_N": 64, "HEAD": 64}, references.matmul_chained,
     num_stages=2, num_warps=4)  # fmt: skip
_add("matmul_skip", control.matmul_skip,
     {**_big, "use_ptr": Array((16,), "i32", fill="index", bound=2), "c_ptr": _out(512, 512), **_mnk},
     (4, 4, 1), {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32}, references.matmul_skip,
     num_stages=3, num_warps=4)  # fmt: skip
_add("matmul_scaled", scaled.matmul_scaled,
     {"a_ptr": Array((256, 256), "fp8e5"), "a_scale_ptr": Array((256, 8), "u8", fill="exponent"),
      "b_ptr": Array((256, 256), "fp8e5"), "b_scale_ptr": Array((256, 8), "u8", fill="exponent"),
      "c_ptr": _out(256, 256), "m": Scalar(256), "n": Scalar(256), "k": Scalar(256)},
     (4, 4, 1), {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 128}, references.matmul_scaled,
     num_stages=2, num_warps=4)  # fmt: skip


def _descriptor(name: str, kernel: Any, tile: tuple[int, int, int], **rest: Any) -> None:
    """A product of host-made descriptors over square matrices."""
    m, n, k = _square
    args: dict[str, Argument] = {
        "a_desc": TensorMap(Array((m, k), "fp16"), (tile[0], tile[2])),
        "b_desc": TensorMap(Array((k, n), "fp16"), (tile[2], tile[1])),
        "c_desc": TensorMap(_out(m, n, dtype="fp16"), (tile[0], tile[1])),
        "k": Scalar(k),
    }
    blocks = {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "BLOCK_K": tile[2]}
    _add(name, kernel, args, (m // tile[0], n // tile[1], 1), blocks, references.matmul_descriptor, **rest)


_descriptor(
    "matmul_host_descriptor", descriptor.matmul_host_descriptor, (128, 128, 64), num_stages=3, num_warps=4
)
_descriptor("matmul_host_descriptor_8warps", descriptor.matmul_host_descriptor, (128, 256, 64), num_stages=4,
            num_warps=8, targets=("sm_90", "gfx1250"))  # fmt: skip
_descriptor("matmul_host_descriptor_specialized", descriptor.matmul_host_descriptor_specialized, (64, 128, 64),
            num_stages=3, num_warps=4, targets=("sm_90",),
            note="with 128 rows Triton 3.9.0 fails: it halves the tile but not the descriptor")  # fmt: skip
_add("copy_descriptor", descriptor.copy_descriptor,
     {"in_desc": TensorMap(Array((512, 64), "fp16"), (64, 64)),
      "out_desc": TensorMap(_out(512, 64, dtype="fp16"), (64, 64)), "rows": Scalar(512)},
     (2, 1, 1), {"ROWS": 64, "COLS": 64}, references.copy_descriptor, num_warps=4)  # fmt: skip
_add("add_descriptor", descriptor.add_descriptor,
     {"in_desc": TensorMap(Array((256, 64)), (64, 64)),
      "out_desc": TensorMap(Array((64, 64), role="inout", fill="zeros"), (64, 64))},
     (4, 1, 1), {"ROWS": 64, "COLS": 64}, references.add_descriptor, num_warps=4,
     targets=("gfx942", "gfx950", "gfx1201", "sm_80", "sm_90"),
     note="Triton 3.9.0 does not lower a reduction through a descriptor on gfx1250")  # fmt: skip


# Attention.
def _attention(
    name: str, causal: bool, tile: tuple[int, int], head: int = 64, dtype: str = "fp16", **rest: Any
) -> None:
    heads, length = 4, 512
    shape = (heads, length, head)
    args: dict[str, Argument] = {
        "q_ptr": Array(shape, dtype), "k_ptr": Array(shape, dtype), "v_ptr": Array(shape, dtype),
        "out_ptr": _out(*shape, dtype=dtype), "lse_ptr": _out(heads, length),
        "length": Scalar(length), "scale": Scalar(0.125, "fp32"),
    }  # fmt: skip
    constexprs = {"BLOCK_M": tile[0], "BLOCK_N": tile[1], "HEAD": head, "CAUSAL": causal}
    reference = references.attention_causal if causal else references.attention
    _add(name, attention.attention, args, (length // tile[0], heads, 1), constexprs, reference, **rest)


_attention("attention", False, (64, 64), num_warps=4, num_stages=2)
_attention("attention_1stage", False, (64, 32), num_warps=4, num_stages=1)
_attention("attention_causal", True, (128, 64), num_warps=4, num_stages=3)
_attention("attention_8warps", False, (128, 64), head=128, num_warps=8, num_stages=2)
_attention("attention_1warp", False, (16, 16), head=32, num_warps=1, num_stages=2)

_gradient: dict[str, Argument] = {
    **{f"{name}_ptr": Array((4, 256, 64), "fp16") for name in ("q", "k", "v", "do")},
    # Above any score, so that the probabilities of a random input stay below one.
    "lse_ptr": Array((4, 256), fill="positive", bound=4), "delta_ptr": Array((4, 256)),
}  # fmt: skip
_add("attention_backward_kv", attention.attention_backward_kv,
     {**_gradient, "dk_ptr": _out(4, 256, 64), "dv_ptr": _out(4, 256, 64), "length": Scalar(256),
      "scale": Scalar(0.125, "fp32")},
     (4, 4, 1), {"BLOCK_M": 32, "BLOCK_N": 64, "HEAD": 64}, references.attention_backward_kv,
     num_warps=4, num_stages=2)  # fmt: skip
_add("attention_backward_q", attention.attention_backward_q,
     {**_gradient, "dq_ptr": _out(4, 256, 64), "length": Scalar(256), "scale": Scalar(0.125, "fp32")},
     (4, 4, 1), {"BLOCK_M": 64, "BLOCK_N": 32, "HEAD": 64}, references.attention_backward_q,
     num_warps=8, num_stages=2)  # fmt: skip

# Rows: softmax and layer norm.
for _name, _kernel, _block, _warps in (
    ("softmax_row", normalize.softmax_row, 4096, 8),
    ("softmax_row_1warp", normalize.softmax_row, 4096, 1),
    ("softmax_loop", normalize.softmax_loop, 1024, 4),
):
    _add(_name, _kernel,
         {"x_ptr": Array((32, 4000), "fp16"), "out_ptr": _out(32, 4000, dtype="fp16"), "n": Scalar(4000)},
         (32, 1, 1), {"BLOCK": _block}, references.softmax, num_warps=_warps)  # fmt: skip
_add("layer_norm", normalize.layer_norm,
     {"x_ptr": Array((32, 2000), "fp16"), "weight_ptr": Array((2000,)), "bias_ptr": Array((2000,)),
      "out_ptr": _out(32, 2000, dtype="fp16"), "mean_ptr": _out(32), "rstd_ptr": _out(32),
      "n": Scalar(2000), "eps": Scalar(1e-5, "fp32")},
     (32, 1, 1), {"BLOCK": 2048}, references.layer_norm, num_warps=4)  # fmt: skip
_add("layer_norm_backward", normalize.layer_norm_backward,
     {"dy_ptr": Array((60, 500), "fp16"), "x_ptr": Array((60, 500), "fp16"), "weight_ptr": Array((500,)),
      "mean_ptr": Array((60,)), "rstd_ptr": Array((60,), fill="positive", bound=1),
      "dx_ptr": _out(60, 500), "dweight_ptr": Array((500,), role="inout", fill="zeros"),
      "dbias_ptr": Array((500,), role="inout", fill="zeros"), "rows": Scalar(60), "n": Scalar(500)},
     (4, 1, 1), {"ROWS": 8, "BLOCK": 512}, references.layer_norm_backward, num_warps=4)  # fmt: skip

# Reductions.
_add("sum_rows", reduction.sum_rows, {"x_ptr": Array((128, 512)), "out_ptr": _out(128), "n": Scalar(512)},
     (4, 1, 1), {"ROWS": 32, "COLS": 512}, references.sum_rows, num_warps=4)  # fmt: skip
_add("sum_columns", reduction.sum_columns, {"x_ptr": Array((256, 128)), "out_ptr": _out(128), "n": Scalar(128)},
     (4, 1, 1), {"ROWS": 256, "COLS": 32}, references.sum_columns, num_warps=8)  # fmt: skip
_add("sum_both_axes", reduction.sum_both_axes,
     {"x_ptr": Array((64, 128)), "row_ptr": _out(64), "col_ptr": _out(128), "all_ptr": _out(1)},
     (1, 1, 1), {"ROWS": 64, "COLS": 128}, references.sum_both_axes, num_warps=4)  # fmt: skip
_add("argmax_rows", reduction.argmax_rows,
     {"x_ptr": Array((32, 1000)), "value_ptr": _out(32), "index_ptr": _out(32, dtype="i32"), "n": Scalar(1000)},
     (32, 1, 1), {"COLS": 1024}, references.argmax_rows, num_warps=4)  # fmt: skip
_add("moments", reduction.moments,
     {"x_ptr": Array((32, 1000)), "mean_ptr": _out(32), "var_ptr": _out(32), "n": Scalar(1000)},
     (32, 1, 1), {"COLS": 1024}, references.moments, num_warps=4)  # fmt: skip
_add("sum_loop", reduction.sum_loop, {"x_ptr": Array((10000,)), "out_ptr": _out(2), "n": Scalar(10000)},
     (1, 1, 1), {"BLOCK": 1024}, references.sum_loop, num_warps=4)  # fmt: skip

# Moving data around.
_rc = {"rows": Scalar(256), "cols": Scalar(256)}
for _name, _kernel, _grid in (
    ("transpose_pointers", rearrange.transpose_pointers, (4, 4, 1)),
    ("transpose_trans", rearrange.transpose_trans, (4, 4, 1)),
    ("transpose_loop", rearrange.transpose_loop, (4, 1, 1)),
):
    _add(_name, _kernel, {"x_ptr": Array((256, 256), "fp16"), "out_ptr": _out(256, 256, dtype="fp16"), **_rc},
         _grid, {"BLOCK": 64}, references.transpose, num_warps=4)  # fmt: skip
_add("permute_reshape", rearrange.permute_reshape, {"x_ptr": Array((8, 16, 32)), "out_ptr": _out(32, 128)},
     (1, 1, 1), {"A": 8, "B": 16, "C": 32}, references.permute_reshape, num_warps=4)  # fmt: skip
_add("cumsum_rows", rearrange.cumsum_rows, {"x_ptr": Array((32, 256)), "out_ptr": _out(32, 256), "n": Scalar(256)},
     (4, 1, 1), {"ROWS": 8, "COLS": 256}, references.cumsum_rows, num_warps=4)  # fmt: skip
_add("cumsum_columns_reversed", rearrange.cumsum_columns_reversed,
     {"x_ptr": Array((128, 64)), "out_ptr": _out(128, 64), "n": Scalar(64)},
     (4, 1, 1), {"ROWS": 128, "COLS": 16}, references.cumsum_columns_reversed, num_warps=4)  # fmt: skip
_add("recurrence", rearrange.recurrence,
     {"decay_ptr": Array((4, 1000), fill="positive", bound=1), "x_ptr": Array((4, 1000)),
      "out_ptr": _out(4, 1000), "n": Scalar(1000)},
     (4, 1, 1), {"BLOCK": 256}, references.recurrence, num_warps=4)  # fmt: skip
_add("sort_rows", rearrange.sort_rows, {"x_ptr": Array((8, 512)), "out_ptr": _out(8, 512), "n": Scalar(512)},
     (8, 1, 1), {"COLS": 512}, references.sort_rows, num_warps=4)  # fmt: skip
_add("top_k", rearrange.top_k, {"x_ptr": Array((8, 512)), "out_ptr": _out(8, 16), "n": Scalar(512)},
     (8, 1, 1), {"COLS": 512, "K": 16}, references.top_k, num_warps=4)  # fmt: skip
_add("histogram", rearrange.histogram,
     {"x_ptr": Array((5000,), "i32", fill="index", bound=64), "out_ptr": Array((64,), "i32", "inout", "zeros"),
      "n": Scalar(5000)},
     (2, 1, 1), {"BLOCK": 512, "BINS": 64}, references.histogram, num_warps=4)  # fmt: skip
_add("gather_rows", rearrange.gather_rows,
     {"table_ptr": Array((64, 32)), "index_ptr": Array((128, 32), "i32", fill="index", bound=64),
      "out_ptr": _out(128, 32)},
     (1, 1, 1), {"ROWS": 64, "COLS": 32, "OUT": 128}, references.gather_rows, num_warps=4)  # fmt: skip
_add("flip_join", rearrange.flip_join, {"x_ptr": Array((1024,)), "out_ptr": _out(2048), "n": Scalar(1024)},
     (4, 1, 1), {"BLOCK": 256}, references.flip_join, num_warps=4)  # fmt: skip

# Calls, branches, loops that end when the data says so, atomics.
_add("call", control.call,
     {"x_ptr": Array((8, 512)), "y_ptr": Array((8, 512)), "out_ptr": _out(8), "n": Scalar(512)},
     (8, 1, 1), {"BLOCK": 512}, references.call, num_warps=4)  # fmt: skip
_add("call_in_loop", control.call_in_loop,
     {"x_ptr": Array((2048,)), "out_ptr": _out(2048), "n": Scalar(2048)},
     (1, 1, 1), {"BLOCK": 512}, references.call_in_loop, num_warps=4)  # fmt: skip
_add("call_nested", control.call_nested, {"x_ptr": Array((8, 512)), "out_ptr": _out(8, 512), "n": Scalar(512)},
     (8, 1, 1), {"BLOCK": 512}, references.call_nested, num_warps=4)  # fmt: skip
_add("converge", control.converge,
     {"x_ptr": Array((8, 256)), "out_ptr": _out(8, 256), "steps_ptr": _out(8, dtype="i32"), "n": Scalar(256),
      "limit": Scalar(1.0, "fp32")},
     (8, 1, 1), {"BLOCK": 256}, references.converge, num_warps=4)  # fmt: skip
_add("branch", control.branch, {"x_ptr": Array((16, 256)), "out_ptr": _out(16, 256), "n": Scalar(256)},
     (16, 1, 1), {"BLOCK": 256}, references.branch, num_warps=4)  # fmt: skip
_add("branch_in_loop", control.branch_in_loop,
     {"x_ptr": Array((4096,)), "flags_ptr": Array((16,), "i32", fill="index", bound=3),
      "out_ptr": Array((2,), role="inout", fill="zeros"), "n": Scalar(4096)},
     (1, 1, 1), {"BLOCK": 256}, references.branch_in_loop, num_warps=4)  # fmt: skip
_add("tickets", control.tickets,
     {"x_ptr": Array((16, 512)), "partial_ptr": Array((16,), role="inout", fill="zeros"),
      "count_ptr": Array((1,), "i32", "inout", "zeros"), "out_ptr": _out(1)},
     (16, 1, 1), {"BLOCK": 512, "PROGRAMS": 16}, references.tickets, num_warps=4)  # fmt: skip
_add("atomic_chain", control.atomic_chain,
     {"x_ptr": Array((1024,), "i32", fill="index", bound=1000),
      "slots_ptr": Array((257,), "i32", "inout", "zeros"), "out_ptr": _out(1024, dtype="i32"), "n": Scalar(1024)},
     (1, 1, 1), {"BLOCK": 256}, references.atomic_chain, num_warps=4)  # fmt: skip
