"""Small kernels of Wave, and a way to compile them without a GPU.

Compiling changes a kernel of Wave, so each is made anew. Wave evaluates the annotations of a kernel: this file keeps
them as they are written.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

# A kernel out of the cache never meets the barrier pass; Wave asks for this when it is imported.
os.environ["WAVE_CACHE_ON"] = "0"

import wave_lang.kernel.lang as tkl
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_0
from wave_lang.kernel.wave.compile import WaveCompileOptions, wave_compile
from wave_lang.kernel.wave.constraints import MMAType
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType
from wave_lang.kernel.wave.templates.gemm import get_gemm_kernel
from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params

PIPELINE: Any = import_module("wave_lang.kernel.wave.wave")

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BLOCK_M, BLOCK_N, BLOCK_K = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K
ADDRESS_SPACE = tkl.sym.ADDRESS_SPACE
LANES = {"gfx942": 64, "gfx950": 64, "gfx1201": 32, "gfx1250": 32}
MATRIX = {
    "gfx942": MMAType.F32_16x16x16_F16,
    "gfx950": MMAType.F32_16x16x32_F16,
    "gfx1201": MMAType.RDNA4_WAVE32_F32_16x16x16_F16,
    "gfx1250": MMAType.GFX1250_F32_16x16x32_F16,
}
WAVES = 4


@dataclass(frozen=True)
class Source:
    """A kernel, not compiled yet, and what its symbols are."""

    kernel: Any
    sizes: Mapping[Any, Any]
    target: str
    schedule: SchedulingType = SchedulingType.NONE
    options: dict[str, Any] = field(default_factory=dict)

    def compiled(self) -> str:
        """The kernel as MLIR."""
        options = WaveCompileOptions(
            subs=dict(self.sizes),
            canonicalize=True,
            schedule=self.schedule,
            target=self.target,
            compile_to_mlir=True,
            **self.options,
        )
        return str(wave_compile(options, self.kernel).asm)

    def looked_at(self, look: Callable[[Any, list[Any]], None]) -> None:
        """Calls a function with the trace as Wave's pass would get it, and with the kernel's constraints."""
        before = PIPELINE.add_shared_memory_barriers

        def instead(trace: Any, target: str = "") -> None:
            look(trace, self.kernel.constraints)
            before(trace, target)

        PIPELINE.add_shared_memory_barriers = instead
        try:
            self.compiled()
        finally:
            PIPELINE.add_shared_memory_barriers = before


def gemm(
    target: str = "gfx942",
    schedule: SchedulingType = SchedulingType.NONE,
    block: tuple[int, int, int] = (64, 64, 32),
    **options: Any,
) -> Source:
    """Both operands through shared memory, four waves."""
    kernel, sizes, _ = get_gemm_kernel(
        (256, 256, 256), False, MATRIX[target], threads_per_wave=LANES[target], block_shape=block
    )
    return Source(kernel, sizes, target, schedule, options)


def rows(body: Callable[..., None], target: str, *, buffers: int = 2, **options: Any) -> Source:
    """A kernel along K in which each of four waves owns one row of shared memory, an element for each lane.

    `body` is called in the loop with the memory and with buffers of global memory.
    """
    constraints = [
        tkw.HardwareConstraint(threads_per_wave=LANES[target], vector_shapes={M: 1, K: LANES[target]}),
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.TilingConstraint(K, BLOCK_K),
        tkw.WaveConstraint(M, 1),
    ]

    @tkw.wave(constraints)
    def two(
        a: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
        b: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
    ) -> Any:
        whole(a, b)

    @tkw.wave(constraints)
    def four(
        a: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
        b: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
        c: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
        d: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
    ) -> Any:
        whole(a, b, c, d)

    def whole(*given: Any) -> None:
        memory = tkw.allocate((M, K), (BLOCK_M, BLOCK_K), tkl.i32, SHARED_ADDRESS_SPACE)

        @tkw.iterate(K, init_args=[])
        def along() -> None:
            body(memory, *given)

    lanes = LANES[target]
    sizes = {M: WAVES * 4, K: lanes * 8, BLOCK_M: WAVES, BLOCK_K: lanes, **get_default_scheduling_params()}
    return Source(two if buffers == 2 else four, sizes, target, SchedulingType.NONE, options)


def columns(read_at: Callable[[Any], Any], target: str = "gfx942") -> Source:
    """A kernel along K in which each thread writes an element of shared memory, and reads one."""
    constraints = [
        tkw.HardwareConstraint(threads_per_wave=LANES[target], vector_shapes={N: LANES[target], K: 1}),
        tkw.WorkgroupConstraint(N, BLOCK_N, 0),
        tkw.TilingConstraint(K, 1),
        tkw.WaveConstraint(N, BLOCK_N / WAVES),
    ]
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    mapping = tkw.IndexMapping(num_iterators=2, inputs={K: i, N: read_at(j)}, outputs={K: i, N: j})

    @tkw.wave(constraints)
    def through(
        a: tkl.Memory[K, N, GLOBAL_ADDRESS_SPACE, tkl.i32],
        b: tkl.Memory[K, N, GLOBAL_ADDRESS_SPACE, tkl.i32],
    ) -> Any:
        memory = tkw.allocate((K, N), (1, BLOCK_N), tkl.i32, SHARED_ADDRESS_SPACE)

        @tkw.iterate(K, init_args=[])
        def along() -> None:
            tkw.write(tkw.read(a), memory)
            tkw.write(tkw.read(memory, mapping=mapping), b)

    threads = LANES[target] * WAVES
    sizes = {N: threads * 4, K: 16, BLOCK_N: threads, **get_default_scheduling_params()}
    return Source(through, sizes, target)


def mapped(row_read: Callable[[Any], Any], row_written: Callable[[Any], Any]) -> Any:
    """An access whose row is a function of the wave's own."""
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    return tkw.IndexMapping(num_iterators=2, inputs={M: row_read(i), K: j}, outputs={M: row_written(i), K: j})


def same(row: Any) -> Any:
    """The wave's own row."""
    return row


def other(row: Any) -> Any:
    """The row of the wave at the other end."""
    return WAVES - 1 - row


def scattered(
    body: Callable[..., None],
    *,
    tiles: int = 4,
    schedule: SchedulingType = SchedulingType.NONE,
    **options: Any,
) -> Source:
    """A kernel along K in which each of four waves has several rows, so that Wave expands each operation.

    `body` is called in the loop with the memory, a value, places within a row, and a buffer of global memory.
    """
    target = "gfx942"
    lanes = LANES[target]
    constraints = [
        tkw.HardwareConstraint(threads_per_wave=lanes, vector_shapes={M: 1, K: lanes}),
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.TilingConstraint(K, BLOCK_K),
        tkw.WaveConstraint(M, tiles),
    ]

    @tkw.wave(constraints)
    def scattering(
        a: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
        b: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
        places: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
    ) -> Any:
        memory = tkw.allocate((M, K), (BLOCK_M, BLOCK_K), tkl.i32, SHARED_ADDRESS_SPACE)

        @tkw.iterate(K, init_args=[])
        def along() -> None:
            # Values of a computation: what is only copied to shared memory, Wave copies in another shape.
            value, place = tkw.read(a, elements_per_thread=1), tkw.read(places, elements_per_thread=1)
            body(memory, value + value, place + place, b)

    sizes = {
        M: WAVES * tiles * 2,
        K: lanes * 8,
        BLOCK_M: WAVES * tiles,
        BLOCK_K: lanes,
        **get_default_scheduling_params(),
    }
    return Source(scattering, sizes, target, schedule, {"minimize_shared_allocs": False, **options})


def dynamic(*, rows: bool = False) -> Any:
    """A write whose column, or whose row and column, are values."""
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    column, row = tkw.IndexMapping.dynamic_val(0), tkw.IndexMapping.dynamic_val(1)
    return tkw.IndexMapping(
        num_iterators=2,
        inputs={M: i, K: j},
        outputs={M: row if rows else i, K: column},
        dynamic_val_mappings=({M: i, K: j},) * (2 if rows else 1),
    )


# ---------------------------------------------------------------- what Wave's own pass leaves


def barrier_before_the_writer(target: str = "gfx942") -> Source:
    """(a) One read in an iteration: the barrier in front of it is taken to cover the way back to the write."""

    def body(memory: Any, a: Any, b: Any) -> None:
        tkw.write(tkw.read(a), memory)
        tkw.write(tkw.read(memory, mapping=mapped(other, same)), b)

    return rows(body, target)


def shared_bytes(target: str = "gfx942") -> Source:
    """(b) Keys and values of attention on the same bytes, which are not compared."""
    from wave_lang.kernel.wave.templates.attention_common import AttentionShape
    from wave_lang.kernel.wave.templates.vanilla_attention import get_vanilla_attention_kernel

    shape = AttentionShape(
        num_query_heads=2, num_kv_heads=2, query_seq_len=64, kv_seq_len=128, head_size=64, head_size_kv=64
    )
    kernel, sizes, _ = get_vanilla_attention_kernel(shape, [MATRIX[target]] * 2, False)
    return Source(kernel, sizes, target, options={"reorder_allocs": False})


def write_then_atomic(target: str = "gfx942") -> Source:
    """(c) Every wave clears its row, then all add to the first one."""

    def body(memory: Any, a: Any, b: Any, c: Any, d: Any) -> None:
        tkw.write(tkl.Register[M, K, tkl.i32](0), memory)
        tkw.atomic_add(tkw.read(a), memory, mapping=mapped(same, lambda row: row * 0))
        tkw.write(tkw.read(memory), c)
        tkw.write(tkw.read(memory, mapping=mapped(other, same)), d)

    return rows(body, target, buffers=4, minimize_shared_allocs=False)


def read_in_a_branch(target: str = "gfx942") -> Source:
    """(d) A read in a branch and one behind it: the barrier in the branch is taken to cover both."""

    def body(memory: Any, a: Any, b: Any, c: Any, d: Any) -> None:
        tkw.write(tkw.read(a), memory)

        @tkw.conditional(WORKGROUP_0 > 0)
        def taken() -> None:
            tkw.write(tkw.read(memory, mapping=mapped(other, same)), b)

        tkw.write(tkw.read(memory, mapping=mapped(other, same)), c)

    return rows(body, target, buffers=4)


def write_then_write(target: str = "gfx942") -> Source:
    """(e) Each row is written by its wave, then by another one."""

    def body(memory: Any, a: Any, b: Any, c: Any, d: Any) -> None:
        tkw.write(tkw.read(a), memory)
        tkw.write(tkw.read(b), memory, mapping=mapped(same, other))
        tkw.write(tkw.read(memory), c)
        tkw.write(tkw.read(memory, mapping=mapped(other, same)), d)

    return rows(body, target, buffers=4)


RACES = {
    "a": barrier_before_the_writer,
    "b": shared_bytes,
    "c": write_then_atomic,
    "d": read_in_a_branch,
    "e": write_then_write,
}
