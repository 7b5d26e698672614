"""Small kernels of our own: rows handed from wave to wave, atomics, branches, reductions over all waves.

Several have a race that Wave's own pass leaves; their docstrings say which kind (`wave_model.RACES`).
Wave evaluates the annotations of a kernel, so this file keeps them as they are written.
"""
# mypy: disable-error-code="untyped-decorator"

from typing import Any

import wave_lang.kernel.lang as tkl
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE, WORKGROUP_0
from wave_lang.kernel.wave.utils.general_utils import get_default_scheduling_params
from wave_model import Source, Target
from wave_templates import Make

M, N, K = tkl.sym.M, tkl.sym.N, tkl.sym.K
BLOCK_M, BLOCK_N, BLOCK_K = tkl.sym.BLOCK_M, tkl.sym.BLOCK_N, tkl.sym.BLOCK_K


def sizes(m: int, n: int) -> dict[Any, Any]:
    """Values of the symbols of a kernel over M × N."""
    return {M: m, N: n, BLOCK_M: m, BLOCK_N: n, **get_default_scheduling_params()}


def rows_of(waves: int, target: Target) -> list[Any]:
    """Constraints of a kernel that walks along K: one row of M for each wave, one element for each lane.

    The bodies below are loops because Wave drops writes to an author's own allocation outside of one.
    """
    return [
        tkw.HardwareConstraint(threads_per_wave=target.lanes, vector_shapes={M: 1, K: target.lanes}),
        tkw.WorkgroupConstraint(M, BLOCK_M, 0),
        tkw.TilingConstraint(K, BLOCK_K),
        tkw.WaveConstraint(M, 1),
    ]


def row_sizes(waves: int, target: Target, trips: int = 8) -> dict[Any, Any]:
    """Values of their symbols."""
    return {
        M: waves * 4, K: target.lanes * trips, BLOCK_M: waves, BLOCK_K: target.lanes,
        **get_default_scheduling_params(),
    }  # fmt: skip


def mapped(source: Any, destination: Any) -> Any:
    """An access whose row is a function of the row that the wave owns."""
    i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
    return tkw.IndexMapping(
        num_iterators=2, inputs={M: source(i), K: j}, outputs={M: destination(i), K: j}
    )  # fmt: skip


def own(row: Any) -> Any:
    """The wave's own row."""
    return row


def flipped(waves: int) -> Any:
    """The row of the wave at the other end."""
    return lambda row: waves - 1 - row


def flip(waves: int = 4, barrier: bool = False) -> Make:
    """Rows through LDS to another wave, with the author's own barrier or without."""

    def make(target: Target) -> Source:
        other = mapped(flipped(waves), own)

        @tkw.wave(rows_of(waves, target))
        def flip(
            a: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
            c: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            staged = tkw.allocate((M, K), (BLOCK_M, BLOCK_K), tkl.f32, SHARED_ADDRESS_SPACE)

            @tkw.iterate(K, init_args=[])
            def along() -> None:
                tkw.write(tkw.read(a), staged)
                if barrier:
                    tkw.shared_memory_barrier()
                tkw.write(tkw.read(staged, mapping=other), c)

        return Source(flip, row_sizes(waves, target))

    return make


def atomics(waves: int = 4) -> Make:
    """Fills LDS, then every wave adds to it: race (c), a write and then an atomic."""

    def make(target: Target) -> Source:
        first, other = mapped(own, lambda row: row * 0), mapped(flipped(waves), own)

        @tkw.wave(rows_of(waves, target))
        def atomics(
            a: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
            c: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
            d: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.i32],
        ) -> Any:
            counts = tkw.allocate((M, K), (BLOCK_M, BLOCK_K), tkl.i32, SHARED_ADDRESS_SPACE)

            @tkw.iterate(K, init_args=[])
            def along() -> None:
                tkw.write(tkl.Register[M, K, tkl.i32](0), counts)
                # Every wave adds to the first row.
                tkw.atomic_add(tkw.read(a), counts, mapping=first)
                # Two reads, so that Wave puts a barrier at the back edge and only the atomic lacks one.
                tkw.write(tkw.read(counts), c)
                tkw.write(tkw.read(counts, mapping=other), d)

        return Source(atomics, row_sizes(waves, target))

    return make


def branch(waves: int = 4) -> Make:
    """LDS is read in a branch and again after it: race (d), for the branch may not be taken."""

    def make(target: Target) -> Source:
        other = mapped(flipped(waves), own)

        @tkw.wave(rows_of(waves, target))
        def branch(
            a: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
            b: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
            c: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            staged = tkw.allocate((M, K), (BLOCK_M, BLOCK_K), tkl.f32, SHARED_ADDRESS_SPACE)

            @tkw.iterate(K, init_args=[])
            def along() -> None:
                tkw.write(tkw.read(a), staged)

                @tkw.conditional(WORKGROUP_0 > 0)
                def taken() -> None:
                    tkw.write(tkw.read(staged, mapping=other), b)

                tkw.write(tkw.read(staged, mapping=other), c)

        return Source(branch, row_sizes(waves, target))

    return make


def overwrite(waves: int = 4) -> Make:
    """Two writes to the same rows by different waves: race (e)."""

    def make(target: Target) -> Source:
        there, other = mapped(own, flipped(waves)), mapped(flipped(waves), own)

        @tkw.wave(rows_of(waves, target))
        def overwrite(
            a: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
            b: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
            c: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
            d: tkl.Memory[M, K, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            staged = tkw.allocate((M, K), (BLOCK_M, BLOCK_K), tkl.f32, SHARED_ADDRESS_SPACE)

            @tkw.iterate(K, init_args=[])
            def along() -> None:
                tkw.write(tkw.read(a), staged)
                tkw.write(tkw.read(b), staged, mapping=there)
                # Two reads, so that Wave puts a barrier at the back edge and only the second write lacks one.
                tkw.write(tkw.read(staged), c)
                tkw.write(tkw.read(staged, mapping=other), d)

        return Source(overwrite, row_sizes(waves, target))

    return make


def scatter() -> Make:
    """Adds rows into LDS where an index says; one wave, as Wave asks for."""

    def make(target: Target) -> Source:
        i, j = tkw.IndexMapping.iterator(0), tkw.IndexMapping.iterator(1)
        straight = tkw.IndexMapping(num_iterators=2, inputs={M: i, N: j}, outputs={M: i, N: j})
        constraints = [
            tkw.HardwareConstraint(threads_per_wave=target.lanes, vector_shapes={M: target.lanes, N: 4}),
            tkw.WorkgroupConstraint(M, BLOCK_M, 0),
            tkw.WorkgroupConstraint(N, BLOCK_N, 1),
            tkw.WaveConstraint(M, BLOCK_M),
            tkw.WaveConstraint(N, BLOCK_N),
        ]

        @tkw.wave(constraints)
        def scatter(
            a: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
            index: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.i32],
            lds: tkl.Memory[M, N, SHARED_ADDRESS_SPACE, tkl.f32],
            c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            picked = tkw.read(index, elements_per_thread=4)
            tkw.scatter_add(
                tkw.read(a, elements_per_thread=4), picked, dim=0, memory=lds, mapping=straight,
                elements_per_thread=4,
            )  # fmt: skip
            result = tkw.read(lds, elements_per_thread=4, mapping=straight)
            tkw.write(result, c, elements_per_thread=4, mapping=straight)

        return Source(scatter, sizes(target.lanes, 4))

    return make


def across(waves: int, columns: int, target: Target) -> list[Any]:
    """Constraints of a kernel whose workgroup has a whole row, split over its waves."""
    return [
        tkw.HardwareConstraint(threads_per_wave=target.lanes, vector_shapes={M: 1, N: columns // waves}),
        tkw.WorkgroupConstraint(M, 1, 1),
        tkw.WorkgroupConstraint(N, columns, 0),
        tkw.WaveConstraint(M, 1),
        tkw.WaveConstraint(N, columns // waves),
    ]


def block_reduce(kind: str = "sum", waves: int = 4, columns: int = 1024) -> Make:
    """One number per row over all waves of a workgroup: a few bytes of LDS, written by one lane of each wave."""

    def make(target: Target) -> Source:
        reduce = {"sum": tkw.sum, "max": tkw.max, "min": tkw.min}[kind]

        @tkw.wave(across(waves, columns, target))
        def block_reduce(
            a: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
            c: tkl.Memory[M, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            tkw.write(reduce(tkw.read(a), dim=N, block=True), c)

        return Source(block_reduce, sizes(64, columns))

    return make


def block_softmax(waves: int = 4, columns: int = 1024) -> Make:
    """Two reductions in a row over all waves: two allocations."""

    def make(target: Target) -> Source:
        @tkw.wave(across(waves, columns, target))
        def block_softmax(
            a: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
            c: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f32],
        ) -> Any:
            value = tkw.read(a)
            high = tkw.max(value, dim=N, block=True)
            power = tkw.exp2(value - tkw.broadcast(high, [M, N]))
            total = tkw.sum(power, dim=N, block=True)
            tkw.write(power / tkw.broadcast(total, [M, N]), c)

        return Source(block_softmax, sizes(64, columns))

    return make
