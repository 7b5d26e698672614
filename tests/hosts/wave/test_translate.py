"""Traces of Wave as kernels: one small kernel each, and what it reads as."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType

from fencepost.hosts.wave import translate
from fencepost.hosts.wave.graph_regions import RegionWriter
from fencepost.hosts.wave.nodes import Kind
from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from tests.hosts.wave import kernels


def text_of(source: kernels.Source, **options: Any) -> str:
    found: list[str] = []

    def look(trace: Any, constraints: list[Any]) -> None:
        found.append(str(translate(trace, constraints, **options).trace))

    source.looked_at(look)
    return found[0]


def test_loop_with_packed_allocations() -> None:
    # Two tiles of 64 rows of 32 elements and 4 for padding; all reads of a tile are one.
    assert text_of(kernels.gemm()) == (
        "kernel @gemm waves=4 {\n"
        "  shared %b : 4608 at 0\n"
        "  shared %a : 4608 at 4608\n"
        "  loop %i0 in 0..8 {\n"
        "    write %a[0..4600]\n"
        "    write %b[0..4600]\n"
        "    read %b[0..4600]\n"
        "    read %a[0..4600]\n"
        "  }\n"
        "}\n"
    )


def test_allocations_by_themselves_have_no_address() -> None:
    text = text_of(kernels.gemm(minimize_shared_allocs=False))
    assert "shared %b : 4608\n" in text and " at " not in text


def test_writes_of_one_tile_are_one_act() -> None:
    text = text_of(kernels.gemm(block=(128, 128, 32)), timed=True)
    assert text.count("group=act1") == 2 and text.count("group=act2") == 2


def test_matrix_operations_are_read_where_time_matters() -> None:
    plain, timed = text_of(kernels.gemm()), text_of(kernels.gemm(), timed=True)
    assert "mma" not in plain and "global_read" not in plain
    assert timed.count(" mma") == 8 and timed.count("global_read") == 2 and timed.count("global_write") == 16


def test_copies_of_a_loops_writes_are_acts_of_their_own() -> None:
    text = text_of(kernels.gemm(schedule=SchedulingType.MODULO, block=(128, 128, 32)), timed=True)
    groups = {line.split("group=")[1] for line in text.splitlines() if "group=" in line}
    # Two tiles, once in front of the loop and once in it.
    assert len(groups) == 4


def test_buffers_rotate_through_a_loop() -> None:
    text = text_of(kernels.gemm(schedule=SchedulingType.PREFETCH, multi_buffer_count=2))
    assert "loop %i0 in 0..7 carry " in text
    (end,) = (line.split("next ")[1].split(", ") for line in text.splitlines() if "next" in line)
    (names,) = (line.split("carry ")[1] for line in text.splitlines() if "carry" in line)
    carried = [each.split(" = ")[0] for each in names.rstrip(" {").split(", ")]
    # Each pair swaps: in the next iteration, a name stands for what the other one stood for.
    assert len(carried) == 4 and end == [carried[1], carried[0], carried[3], carried[2]]
    assert all(f"read {name}" in text.split("next")[1] for name in (carried[0], carried[2]))


def test_copies_to_shared_memory_reach_as_far_as_a_wave_does() -> None:
    text = text_of(kernels.gemm("gfx950", block=(64, 64, 64), use_global_to_shared=True))
    # A wave copies 64 times 16 bytes from where its first lane begins; the tile is as long as its eight pieces.
    assert text.count("gather_to_lds %a\n") == text.count("gather_to_lds %b\n") == 1
    assert "write" not in text


def test_an_engine_copies_tiles() -> None:
    text = text_of(kernels.gemm("gfx1250", block=(64, 64, 64), use_global_to_shared=True))
    assert "tensor_load_to_lds %a" in text


@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_conditional_that_all_waves_decide_alike(target: str) -> None:
    text = text_of(kernels.read_in_a_branch(target))
    assert "    if %c1 {\n      read %memory" in text


def test_without_constraints_nothing_is_known_of_threads() -> None:
    found: list[str] = []
    kernels.gemm().looked_at(lambda trace, _: found.append(str(translate(trace).trace)))
    assert "kernel @gemm waves=2 {" in found[0]
    assert "write %a\n" in found[0] and "read %b\n" in found[0]


def test_a_value_has_arrived_where_an_instruction_needs_it() -> None:
    """A slice or a cast may become nothing: what was read can be under way behind it, and is not behind a product."""
    graph = torch.fx.Graph()
    tile = graph.placeholder("tile")
    part = graph.call_function(len, (tile,))
    product = graph.call_function(len, (part,))
    kernel = Kernel("k", waves=2)
    nothing: Any = None
    writer = RegionWriter(kernel, nothing, {}, nothing, nothing, {}, followed=True)
    read = writer.values[tile] = kernel.read(kernel.shared("a", bytes=64))
    writer.other(part, Kind.OTHER)
    assert kernel.last is read
    writer.other(product, Kind.MMA)
    assert isinstance(kernel.last, ops.MMA)
    assert kernel.last.uses == (read,)
