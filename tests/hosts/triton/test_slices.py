"""Parts of tiles: their bytes are those of Triton's own layouts, and parts that share none need no barrier."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any

import pytest

from fencepost.check import check
from fencepost.hosts.triton.mlir.types import MemDesc
from fencepost.hosts.triton.slices import Segments, segments
from fencepost.ir.expr import Const, evaluate
from tests.hosts.triton.conftest import new_context
from tests.hosts.triton.modules import inserted, module, statements, translated

SHAPE = (64, 128)
BITS = 16


def swizzled(vec: int, rows: int, phases: int, order: tuple[int, int]) -> str:
    parameters = f"vec = {vec}, perPhase = {rows}, maxPhase = {phases}, order = [{order[0]}, {order[1]}]"
    return f"#ttg.swizzled_shared<{{{parameters}}}>"


def nvmma(width: int, transposed: bool) -> str:
    return (
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {str(transposed).lower()}, "
        f"elementBitWidth = {BITS}}}>"
    )


LAYOUTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    f"swizzled {vec} {rows} {phases} {order}": (
        swizzled(vec, rows, phases, order),
        ("get_swizzled_shared_layout", vec, rows, phases, list(order), []),
    )
    for vec, rows, phases in [(1, 1, 1), (8, 1, 4), (4, 2, 8), (8, 2, 2)]
    for order in [(1, 0), (0, 1)]
} | {
    f"nvmma {width} {transposed}": (
        nvmma(width, transposed),
        ("get_nvmma_shared_layout", width, BITS, transposed, False, [], 2),
    )
    for width in (32, 64, 128)
    for transposed in (False, True)
}


@cache
def layouts() -> tuple[Any, Any]:
    """Triton's layouts: a context and a builder, which must not outlive it."""
    context = new_context()
    return context, import_module("triton._C.libtriton").gluon_ir.GluonOpBuilder(context)


def elements(made: tuple[Any, ...]) -> dict[int, tuple[int, int]]:
    """Which element a layout of Triton has at each offset."""
    builder = layouts()[1]
    name, *arguments = made
    bases = builder.to_linear_layout(getattr(builder, name)(*arguments), list(SHAPE)).offset_bases
    found = {0: (0, 0)}
    for bit, (row, column) in enumerate(bases):
        found |= {offset | 1 << bit: (one ^ row, other ^ column) for offset, (one, other) in found.items()}
    return found


def bytes_of(found: Segments) -> Iterator[int]:
    for place in range(found.count):
        begin = found.low + place * found.stride
        if found.swizzle is not None:
            moved = evaluate(found.swizzle.moved(Const(place)), {}, 0)
            assert moved is not None
            begin += moved * found.width
        yield from range(begin, begin + found.width)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_bytes_of_a_part_are_those_that_triton_gives_it(layout: str) -> None:
    encoding, made = LAYOUTS[layout]
    tile = MemDesc(SHAPE, "f16", BITS, encoding, "#ttg.shared_memory", True, SHAPE)
    where = elements(made)
    told = 0
    for height, width in product((8, 16, 32, 64), (8, 16, 32, 64, 128)):
        for top, left in product(range(0, SHAPE[0], height), range(0, SHAPE[1], width)):
            found = segments(tile, (top, left), (height, width))
            if found is None:
                continue
            told += 1
            inside = {
                offset * 2 + byte
                for offset, (row, column) in where.items()
                if top <= row < top + height and left <= column < left + width
                for byte in (0, 1)
            }
            assert set(bytes_of(found)) == inside, (top, left, height, width)
    assert told > 20


def part(layout: str, first: str, second: str, shape: str = "64x32", tile: str = "64x64") -> str:
    """One part of a tile is written, another one is read."""
    whole = f"!ttg.memdesc<{tile}xf16, {layout}, #smem, mutable>"
    view = f"!ttg.memdesc<{shape}xf16, {layout}, #smem, mutable, {tile}>"
    body = f"""
%m = ttg.local_alloc : () -> {whole}
%a = ttg.memdesc_subslice %m[{first}] : {whole} -> {view}
%b = ttg.memdesc_subslice %m[{second}] : {whole} -> {view}
ttg.local_store %part, %a : tensor<{shape}xf16, #b> -> {view}
%y = ttg.local_load %b : {view} -> tensor<{shape}xf16, #b>
tt.return
"""
    padded = "#p = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>\n"
    return padded + module(body, arguments=f"%part: tensor<{shape}xf16, #b>")


@pytest.mark.parametrize(
    ("layout", "first", "second", "races"),
    [
        ("#s", "0, 0", "0, 32", 0),
        ("#s", "0, 0", "0, 0", 1),
        ("#o", "0, 0", "0, 32", 0),
        ("#n", "0, 0", "0, 32", 0),
        ("#n", "0, 32", "0, 32", 1),
        ("#p", "0, 0", "0, 32", 0),
        ("#p", "0, 32", "0, 32", 1),
    ],
)
def test_columns_of_a_tile_that_differ_need_no_barrier(
    layout: str, first: str, second: str, races: int
) -> None:
    text = part(layout, first, second)
    assert len(check(translated(text).trace).races) == races
    assert inserted(text)[1] == races


def test_a_tile_of_more_rows_than_lanes() -> None:
    for second, races in (("0, 32", 0), ("0, 0", 1)):
        assert bool(check(translated(part("#s", "0, 0", second, "128x32", "128x64")).trace).races) == races


def test_parts_that_overlap_race() -> None:
    whole, view = (
        "!ttg.memdesc<64x64xf16, #s, #smem, mutable>",
        "!ttg.memdesc<64x32xf16, #s, #smem, mutable, 64x64>",
    )
    body = f"""
%m = ttg.local_alloc : () -> {whole}
%a = ttg.memdesc_subslice %m[0, 32] : {whole} -> {view}
ttg.local_store %part, %a : tensor<64x32xf16, #b> -> {view}
%y = ttg.local_load %m : {whole} -> <TENSOR>
tt.return
"""
    assert len(check(translated(module(body, arguments="%part: tensor<64x32xf16, #b>")).trace).races) == 1


def test_parts_that_are_only_read_are_whole_tiles() -> None:
    """Reads do not race with each other, and what is written is the whole."""
    whole, view = (
        "!ttg.memdesc<64x64xf16, #s, #smem, mutable>",
        "!ttg.memdesc<64x32xf16, #s, #smem, mutable, 64x64>",
    )
    body = f"""
%m = ttg.local_alloc : () -> {whole}
%a = ttg.memdesc_subslice %m[0, 32] : {whole} -> {view}
ttg.local_store %x, %m : <TENSOR> -> {whole}
%y = ttg.local_load %a : {view} -> tensor<64x32xf16, #b>
tt.return
"""
    assert statements(translated(module(body))) == ["write %m0", "read %m0"]
