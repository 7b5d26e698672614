"""Kernels from the package's own templates, as functions of the target.

Sizes are chosen so that every loop runs several times. A template with its wave size written into it only fits
targets with 64 lanes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
import wave_lang.kernel.lang as tkl
from wave_lang.kernel.wave.constraints import MMAType, ScaledMMAType
from wave_lang.kernel.wave.templates.attention_common import AttentionShape
from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params
from wave_model import Source, Target

Make = Callable[[Target], Source]
Tile = tuple[int, int, int]


def template(module: str, function: str) -> Any:
    """A function of `wave_lang.kernel.wave.templates`."""
    return getattr(importlib.import_module(f"wave_lang.kernel.wave.templates.{module}"), function)


def source(made: tuple[Any, ...]) -> Source:
    """What a template returns: kernel, values, and perhaps symbols without a value."""
    kernel, subs, *rest = made
    dynamic = tuple(rest[0]) if rest else ()
    return Source(kernel, {**get_default_scheduling_params(), **subs}, dynamic)


def gemm(
    tile: Tile = (64, 64, 32), waves: tuple[int, int] = (2, 2), size: Tile = (512, 512, 512),
    mma: Any = None, dtype: torch.dtype = torch.float16, dynamic: bool = False,
) -> Make:  # fmt: skip
    """Both operands through LDS."""

    def make(target: Target) -> Source:
        made = template("gemm", "get_gemm_kernel")(
            size, dynamic, mma or target.mma, dtype=dtype, threads_per_wave=target.lanes, block_shape=tile,
            waves_per_block=waves,
        )  # fmt: skip
        return source(made)

    return make


def gemm_transposed(size: Tile = (512, 512, 512), mma: Any = None) -> Make:
    """Both operands stored the other way round, 64 × 64 × 32."""

    def make(target: Target) -> Source:
        function = template("gemm", "get_gemm_kernel_transpose_a_b")
        return source(function(size, False, mma or target.mma, threads_per_wave=target.lanes))

    return make


def gemm_reordered(tile: Tile = (128, 256, 64), mma: Any = MMAType.F32_16x16x16_F16) -> Make:
    """Eight waves, workgroups regrouped for the cache."""

    def make(target: Target) -> Source:
        return source(template("reordered_gemm", "get_reordered_matmul")(512, 512, 1024, *tile, 4, mma))

    return make


def gemm_mxfp4(mma: Any = ScaledMMAType.F32_16x16x128_F8F6F4) -> Make:
    """Four-bit floats with a broadcast scale, 32 × 32 × 256."""

    def make(target: Target) -> Source:
        return source(template("test_kernels", "get_broadcasted_scale_gemm_mxfp4")((1024, 1024, 2048), mma))

    return make


def gemm_manual() -> Make:
    """A schedule written by hand: two stages."""

    def make(target: Target) -> Source:
        function = template("test_kernels", "get_gemm_prefetch_kernel_and_schedule")
        kernel, schedule, options = function((512, 512, 512))
        return Source(kernel, {**get_default_scheduling_params(), **options.subs}, schedule=schedule)

    return make


def gemm_manual_ping_pong() -> Make:
    """A ping-pong schedule written by hand: 128 × 256 × 64 with eight waves."""

    def make(target: Target) -> Source:
        module = importlib.import_module("wave_lang.kernel.wave.schedules.gemm_two_pp_cluster")
        kernel, options = module.get_tagged_gemm((512, 512, 1024), compile_to_mlir=True)
        subs = {**get_default_scheduling_params(), **options.subs}
        return Source(kernel, subs, schedule=module.get_two_pp_cluster_schedule())

    return make


def moe_gemm(mma: Any = MMAType.F32_16x16x16_F16, dtype: Any = None) -> Make:
    """The product of a mixture of experts."""

    def make(target: Target) -> Source:
        return source(template("moe", "get_gemm_kernel")(512, 512, 512, mma, dtype or tkl.f16))

    return make


def silu_and_mul() -> Make:
    """Elementwise, one wave: no LDS at all."""

    def make(target: Target) -> Source:
        return source(template("moe", "get_silu_and_mul_kernel")(64, 1024, tkl.f16))

    return make


def convolution(layout: str = "nhwc_hwcf", stride: int = 1) -> Make:
    """Convolution as an implicit product."""

    def make(target: Target) -> Source:
        function = template("conv", "get_igemm_conv2d")
        return source(function(
            layout=layout, n=2, h=34, w=34, c=64, hf=3, wf=3, nf=64, stride=stride, input_dtype=tkl.f16,
            output_dtype=tkl.f32, block_m=64, block_n=64, block_k=32, ratio_m=2, ratio_n=2,
        ))  # fmt: skip

    return make


NARROW = (MMAType.F32_16x16x16_F16, MMAType.F32_16x16x16_F16)
WIDE = (MMAType.F32_32x32x8_F16, MMAType.F32_32x32x8_F16)
MIXED = (MMAType.F32_16x16x32_K8_F16, MMAType.F32_16x16x16_F16)


def attention_shape(heads: int = 8, **sizes: int) -> AttentionShape:
    """A small problem: 8 heads of 128 queries and 512 keys, heads of 64 in and 128 out."""
    defaults = {"query_seq_len": 128, "head_size_kv": 128, "head_size": 64, "kv_seq_len": 512}
    return AttentionShape(num_query_heads=heads, num_kv_heads=heads, **{**defaults, **sizes})


def vanilla_attention(mma: Any = NARROW, dynamic: bool = False, **variant: Any) -> Make:
    """Flash attention, heads first."""

    def make(target: Target) -> Source:
        function = template("vanilla_attention", "get_vanilla_attention_kernel")
        return source(function(attention_shape(), mma, dynamic, **variant))

    return make


def bshd_attention(mma: Any = NARROW, **variant: Any) -> Make:
    """Flash attention, sequence before heads."""

    def make(target: Target) -> Source:
        function = template("vanilla_attention", "get_bshd_attention_kernel")
        return source(function(attention_shape(), mma, False, **variant))

    return make


def bhsd_attention(mma: Any = NARROW, **variant: Any) -> Make:
    """Flash attention with batches of heads."""

    def make(target: Target) -> Source:
        shape = attention_shape(heads=8, batch_size=2, head_size=128)
        return source(
            template("vanilla_attention", "get_bhsd_attention_kernel")(shape, mma, False, **variant)
        )

    return make


def alibi_attention(mma: Any = NARROW) -> Make:
    """Attention with linear biases."""

    def make(target: Target) -> Source:
        function = template("alibi_attention", "get_alibi_attention_kernel")
        return source(function(attention_shape(), mma, False))

    return make


def t5_attention(mma: Any = NARROW) -> Make:
    """Attention with relative positions out of a table."""

    def make(target: Target) -> Source:
        function = template("t5_rpe_attention", "get_t5_rpe_attention_kernel")
        return source(function(attention_shape(), mma, False, 128))

    return make


def quantized_attention() -> Make:
    """Attention on 8-bit floats."""

    def make(target: Target) -> Source:
        function = template("quantized_attention", "get_brevitas_pertensor_fp8_attention_kernel")
        return source(function(attention_shape(), (MMAType.F32_16x16x32_F8, MMAType.F32_16x16x32_K4_F8)))

    return make


def gqa_attention(mma: Any = NARROW, **variant: Any) -> Make:
    """Attention where several query heads share a head of keys and values."""

    def make(target: Target) -> Source:
        shape = AttentionShape(
            num_seqs=1, num_query_heads=32, num_kv_heads=1, query_seq_len=512, kv_seq_len=512,
            head_size_kv=128, head_size=128,
        )  # fmt: skip
        return source(
            template("gqa_vanilla_attention", "get_gqa_bshd_attention_kernel")(shape, mma, **variant)
        )

    return make


def evoformer(mma: Any = MMAType.F32_16x16x16_F16) -> Make:
    """Attention of a structure predictor: gate and pair bias."""

    def make(target: Target) -> Source:
        function = template("evoformer", "get_evoformer_kernel")
        return source(
            function((1, 1), (256, 1), (256, 64), (4, 1), (32, 32), (256, 128), (32, 32), mma, tkl.f16)
        )

    return make


def decode_attention(phase: int) -> Make:
    """Decoding in two kernels: parts of the keys, then their combination."""

    def make(target: Target) -> Source:
        function = template("decode_attention", "get_decode_attention_kernels")
        made = function((8, 128, 128, 64, 256), MMAType.F32_16x16x16_F16)
        return source((made[phase], made[2 + phase]))

    return make


def gqa_decode_attention(phase: int) -> Make:
    """The same with shared heads."""

    def make(target: Target) -> Source:
        shape = AttentionShape(
            num_seqs=1, num_query_heads=32, num_kv_heads=1, query_seq_len=1, kv_seq_len=512,
            head_size_kv=128, head_size=128,
        )  # fmt: skip
        function = template("gqa_decode_attention", "get_gqa_decode_attention_kernels")
        made = function(shape, NARROW, 4, (1, 512, 1, 128), (1, 512, 1, 128))
        return source((made[phase], made[2 + phase]))

    return make


def paged_decode_attention(phase: int, heads: tuple[int, int] = (16, 1), mma: Any = NARROW) -> Make:
    """The same with keys and values in pages."""

    def make(target: Target) -> Source:
        shape = template("paged_decode_attention", "paged_decode_attention_shape")(*heads, 64, 64, 1, 2)
        made = template("paged_decode_attention", "get_paged_decode_attention_kernels")(shape, mma, 8)
        return source((made[phase], made[2 + phase], made[4 + phase]))

    return make


def prefill_attention(mma: Any = NARROW) -> Make:
    """Attention on sequences of different lengths."""

    def make(target: Target) -> Source:
        shape = AttentionShape(
            num_seqs=2, max_seq_len=256, total_seq_len=512, num_query_heads=16, num_kv_heads=1, head_size=64,
            head_size_kv=64,
        )  # fmt: skip
        q, k = (512, 16, 64), (512, 1, 64)
        return source(template("prefill_attention", "get_prefill_attention_kernel")(shape, mma, q, k, k, q))

    return make


def extend_attention(mma: Any = NARROW, waves: int = 4, rpe: bool = False, **variant: Any) -> Make:
    """Attention on a cached prefix and new tokens: two loops in a row."""

    def make(target: Target) -> Source:
        shape = AttentionShape(
            num_seqs=2, context_len=1024, num_query_heads=16, num_kv_heads=1, head_size=128, head_size_kv=128,
            block_size=64, max_seq_len=256,
        )  # fmt: skip
        q, k, cache = (512, 16, 128), (512, 1, 128), (1536, 1, 128)
        name = "extend_attention_rpe" if rpe else "extend_attention"
        function = template(name, f"get_{name}_kernel")
        return source(function(shape, mma, q, k, k, cache, cache, q, num_waves=waves, **variant))

    return make


def speculative_sampling() -> Make:
    """Sampling of speculative tokens: loops and conditionals, one wave."""

    def make(target: Target) -> Source:
        function = template("speculative_decoding", "get_speculative_sampling_kernel")
        return source(function(10, 6, 1.0, 1.0, 6, 64, 60))

    return make
