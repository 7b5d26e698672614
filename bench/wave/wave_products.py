"""Products of our own: one operand in LDS, two loops in a row, four-bit floats.

Wave evaluates the annotations of a kernel, so this file keeps them as they are written.
"""
# mypy: disable-error-code="untyped-decorator"

from typing import Any

import wave_lang.kernel.lang as tkl
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_lang.kernel.wave.constraints import ScaledMMAType
from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params
from wave_model import Source, Target
from wave_templates import Make

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BLOCK_M, BLOCK_N, BLOCK_K = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
SPACE_A, SPACE_B = tkl.sym.SPACE_A, tkl.sym.SPACE_B


def product(waves: tuple[int, int], target: Target, mma: Any = None) -> list[Any]:
    """Constraints of a product M × N × K."""
    return [
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.WorkgroupConstraint(N, BLOCK_N, 1),
        tkw.TilingConstraint(K, BLOCK_K),
        tkw.WaveConstraint(M, BLOCK_M / waves[0]),
        tkw.WaveConstraint(N, BLOCK_N / waves[1]),
        tkw.HardwareConstraint(threads_per_wave=target.lanes, mma_type=mma or target.mma),
    ]


def gemm_one_operand(tile: tuple[int, int, int], waves: tuple[int, int] = (2, 2)) -> Make:
    """A product with only A in LDS. With one read per iteration Wave leaves race (a)."""

    def make(target: Target) -> Source:
        @tkw.wave(product(waves, target))
        def gemm_one_operand(
            a: tkl.Memory[M, K, SPACE_A, tkl.f16],
            b: tkl.Memory[N, K, SPACE_B, tkl.f16],
            c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            zero = tkl.Register[M, N, tkl.f32](0.0)

            @tkw.iterate(K, init_args=[zero])
            def summed(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
                return tkw.mma(tkw.read(a), tkw.read(b), acc)

            tkw.write(summed, c)

        subs = {
            SPACE_A: SHARED_ADDRESS_SPACE, SPACE_B: GLOBAL_ADDRESS_SPACE, M: 256, N: 256, K: 256,
            BLOCK_M: tile[0], BLOCK_N: tile[1], BLOCK_K: tile[2], **get_default_scheduling_params(),
        }  # fmt: skip
        return Source(gemm_one_operand, subs)

    return make


def chained_gemm(tile: tuple[int, int, int] = (64, 64, 32), mma: Any = None) -> Make:
    """Two products of the same operands in one kernel, one loop after the other, on the same LDS."""

    def make(target: Target) -> Source:
        @tkw.wave(product((2, 2), target, mma))
        def chained_gemm(
            a: tkl.Memory[M, K, SPACE_A, tkl.f16],
            b: tkl.Memory[N, K, SPACE_A, tkl.f16],
            e: tkl.Memory[M, K, SPACE_A, tkl.f16],
            c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            zero = tkl.Register[M, N, tkl.f32](0.0)

            @tkw.iterate(K, init_args=[zero])
            def first(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
                return tkw.mma(tkw.read(a), tkw.read(b), acc)

            @tkw.iterate(K, init_args=[first])
            def second(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
                return tkw.mma(tkw.read(e), tkw.read(b), acc)

            tkw.write(second, c)

        subs = {
            SPACE_A: SHARED_ADDRESS_SPACE, M: 256, N: 256, K: 256,
            BLOCK_M: tile[0], BLOCK_N: tile[1], BLOCK_K: tile[2], **get_default_scheduling_params(),
        }  # fmt: skip
        return Source(chained_gemm, subs)

    return make


def gemm_mxfp4(
    tile: tuple[int, int, int] = (256, 128, 256), waves: tuple[int, int] = (4, 2),
    mma: Any = ScaledMMAType.F32_16x16x128_F8F6F4,
) -> Make:  # fmt: skip
    """Four-bit floats with a scale for every 32 of them; tile and waves of Wave's own reordering."""

    def make(target: Target) -> Source:
        @tkw.wave(product(waves, target, mma))
        def gemm_mxfp4(
            a: tkl.Memory[M, K / 2, SPACE_A, tkl.i8],
            a_scale: tkl.Memory[M, K / 32, SPACE_A, tkl.i8],
            b: tkl.Memory[N, K / 2, SPACE_A, tkl.i8],
            b_scale: tkl.Memory[N, K / 32, SPACE_A, tkl.i8],
            c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            zero = tkl.Register[M, N, tkl.f32](0.0)

            @tkw.iterate(K, init_args=[zero])
            def summed(acc: tkl.Register[M, N, tkl.f32]) -> tkl.Register[M, N, tkl.f32]:
                left = tkw.bitcast(tkw.read(a), tkl.f4e2m1fn)
                left_scale = tkw.bitcast(tkw.read(a_scale), tkl.f8e8m0fnu)
                right = tkw.bitcast(tkw.read(b), tkl.f4e2m1fn)
                right_scale = tkw.bitcast(tkw.read(b_scale), tkl.f8e8m0fnu)
                return tkw.scaled_mma(left, left_scale, right, right_scale, acc)

            tkw.write(summed, c)

        subs = {
            SPACE_A: SHARED_ADDRESS_SPACE, M: 1024, N: 1024, K: 2048,
            BLOCK_M: tile[0], BLOCK_N: tile[1], BLOCK_K: tile[2], **get_default_scheduling_params(),
        }  # fmt: skip
        return Source(gemm_mxfp4, subs)

    return make
