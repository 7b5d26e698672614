"""Barriers and waits of a kernel as operations of Wave."""

from __future__ import annotations

from typing import Any

import pytest
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.ops.wave_ops import get_custom

import fencepost
from fencepost.hosts import wave as host
from fencepost.hosts.wave.write_back import Remove, edits_of, written
from fencepost.ir import ops
from fencepost.ir.source import FencepostError
from tests.hosts.wave import kernels


def sync(text: str) -> list[ops.Operation]:
    """The operations of a kernel without memory."""
    return list(fencepost.parse(f"kernel @k waves=4 {{\n{text}\n}}\n").get_root_graph())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("barrier", [("SharedMemoryBarrier", (False,))]),
        ("barrier load=0", [("SharedMemoryBarrier", (True,))]),
        ("signal\nwait", [("SharedMemoryBarrierSignal", (-1, False)), ("SharedMemoryBarrierWait", (-1,))]),
        ("wait_count tensor=0\nsignal", [("SharedMemoryBarrierSignal", (-1, True))]),
        (
            "barrier tensor=0",
            [("SharedMemoryBarrierSignal", (-1, True)), ("SharedMemoryBarrierWait", (-1,))],
        ),
        ("wait_count load=0 lds=2", [("MemoryCounterWait", (0, None, 2))]),
    ],
)
def test_operations(text: str, wanted: list[Any]) -> None:
    assert list(written(sync(text))) == wanted


@pytest.mark.parametrize("text", ["wait_count tensor=0", "wait_count mma=0", "workgroup_barrier"])
def test_what_wave_has_nothing_for(text: str) -> None:
    with pytest.raises(FencepostError) as error:
        list(written(sync(text)))
    assert error.value.code == "FP423"


def test_a_barrier_of_the_user_stays_and_counts() -> None:
    def body(memory: Any, a: Any, b: Any) -> None:
        tkw.write(tkw.read(a), memory)
        tkw.shared_memory_barrier()
        tkw.write(tkw.read(memory, mapping=kernels.mapped(kernels.other, kernels.same)), b)

    with host.installed() as made:
        text = kernels.rows(body, "gfx942").compiled()
    assert made is not None and len(made.inserted[0].barriers) == 1
    assert text.count("amdgpu.lds_barrier") == 2


@pytest.mark.parametrize("keeps_its_node", [True, False])
def test_a_barrier_without_a_fence_that_gets_one_is_another_operation(keeps_its_node: bool) -> None:
    def body(memory: Any, a: Any, b: Any) -> None:
        tkw.write(tkw.read(a), memory)
        tkw.workgroup_barrier()
        tkw.write(tkw.read(memory), b)

    found: list[Any] = []

    def look(trace: Any, constraints: list[Any]) -> None:
        translation = host.translate(trace, constraints)
        every = translation.trace.preorder_walk()
        (plain,) = (op for op in every if isinstance(op, ops.WorkgroupBarrier))
        fenced = ops.SharedMemoryBarrier(host=plain.host if keeps_its_node else None)
        assert plain.graph is not None
        plain.graph.insert_before(plain, fenced)
        plain.graph.remove(plain)
        found.extend(edits_of(translation))

    kernels.rows(body, "gfx942").looked_at(look)
    put, gone = found
    assert put.operations == (("SharedMemoryBarrier", (False,)),)
    assert gone == Remove(gone.node) and type(get_custom(gone.node)).__name__ == "WorkgroupBarrier"


def test_new_operations_stand_in_the_region_of_their_consumer_with_its_location() -> None:
    seen: list[tuple[str, bool, bool]] = []

    def look(trace: Any, constraints: list[Any]) -> None:
        host.add_shared_memory_barriers(trace, "gfx942", constraints)
        for name, graph in trace.region_graph.subgraphs.items():
            for node in graph.nodes:
                if type(get_custom(node)).__name__ == "SharedMemoryBarrier":
                    where = node.location is not None and node.location == node.next.location
                    seen.append((name, where, node.next.op != "output"))

    kernels.gemm().looked_at(look)
    # Two in the loop, each right in front of an access.
    assert [(where, consumer) for _, where, consumer in seen] == [(True, True)] * 2
    assert len({name for name, _, _ in seen}) == 1
