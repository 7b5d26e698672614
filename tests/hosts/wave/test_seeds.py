"""The names of the seeds on traces of Wave: they do what the seeds say, or say by name why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.ops.wave_ops import get_custom
from wave_lang.kernel.wave.scheduling.schedule_enums import SchedulingType

import fencepost
from fencepost import BarrierType, MemoryAccessType
from fencepost.hosts.wave.nodes import Kind, kind_of
from fencepost.ir.source import FencepostError
from tests.hosts.wave import kernels

READ, WRITE = MemoryAccessType.READ, MemoryAccessType.WRITE


def on_trace(source: kernels.Source, look: Callable[[Any], Any]) -> Any:
    """What a function says about the trace that Wave's barrier pass would get."""
    found: list[Any] = []
    source.looked_at(lambda trace, _: found.append(look(trace)))
    return found[0]


def rotating() -> kernels.Source:
    return kernels.gemm(schedule=SchedulingType.PREFETCH, multi_buffer_count=2)


def barriers(trace: Any) -> list[Any]:
    return list(trace.walk(lambda node: kind_of(node) is Kind.BARRIER))


def loop_of(trace: Any) -> Any:
    (loop,) = trace.walk(lambda node: kind_of(node) is Kind.ITERATE)
    return trace.get_subgraph(loop.args[2])


# ---------------------------------------------------------------- whole traces


def test_check() -> None:
    def look(trace: Any) -> tuple[bool, bool]:
        before = fencepost.check(trace).ok
        fencepost.add_shared_memory_barriers(trace, "gfx942")
        return before, fencepost.check(trace).ok

    assert on_trace(kernels.gemm(), look) == (False, True)


def test_a_race_names_the_users_memory_and_line() -> None:
    report = on_trace(kernels.gemm(), fencepost.check)
    assert {race.first.op.views[0].buffer.name for race in report.races} == {"a", "b"}
    assert all(race.first.op.origin for race in report.races)


@pytest.mark.parametrize("strategy", ["minimize", "eager", "walk", "optimal"])
def test_insert_with_a_strategy(strategy: str) -> None:
    def look(trace: Any) -> bool:
        found = fencepost.insert_barriers(trace, "gfx942", strategy)
        assert found.strategy == strategy and len(barriers(trace)) == len(found.barriers) > 0
        return fencepost.check(trace).ok

    assert on_trace(kernels.gemm(), look)


def test_prune_takes_barriers_out_of_the_trace() -> None:
    def body(memory: Any, a: Any, b: Any) -> None:
        tkw.write(tkw.read(a), memory)
        tkw.shared_memory_barrier()
        tkw.shared_memory_barrier()
        tkw.write(tkw.read(memory, mapping=kernels.mapped(kernels.other, kernels.same)), b)
        tkw.shared_memory_barrier()

    def look(trace: Any) -> tuple[int, int, int, bool]:
        before = len(barriers(trace))
        found = fencepost.prune_barriers(trace)
        return before, len(barriers(trace)), len(found.removed), fencepost.check(trace).ok

    assert on_trace(kernels.rows(body, "gfx942"), look) == (3, 2, 1, True)


def test_explain() -> None:
    def look(trace: Any) -> list[int]:
        fencepost.add_shared_memory_barriers(trace, "gfx942")
        found = fencepost.explain_barriers(trace, "gfx942")
        assert not found.uncovered
        return [len(each.hazards) for each in found.barriers]

    reasons = on_trace(kernels.gemm(), look)
    assert len(reasons) == 2 and all(reasons)


def test_analysis_has_nodes_and_their_locations() -> None:
    def look(trace: Any) -> None:
        nodes = list(trace.preorder_walk())
        found = fencepost.get_barriers_analysis(trace)
        tags = {(each.barrier_type, each.is_loop) for each in found}
        assert tags == {(BarrierType.FILL, False), (BarrierType.READY, True)}
        for each in found:
            producers, consumers = list(each.prod_region), list(each.cons_region)
            assert nodes[each.prod_location] is producers[-1] and nodes[each.cons_location] is consumers[0]
            assert kind_of(each.resource) is Kind.ALLOCATE
            assert nodes[each.start_location] is each.graph_start
            first, last = each.start_location, each.end_location
            assert first <= each.cons_location <= last
        # The strategies take them: one barrier behind the writes, one behind the reads.
        chosen = fencepost.minimize_placement_strategy(found)
        assert [kind_of(nodes[place]) for place in chosen] == [Kind.WRITE, Kind.READ]
        fencepost.add_shared_memory_barriers(trace, "gfx942")
        assert fencepost.get_barriers_analysis(trace) == []

    on_trace(kernels.gemm(), look)


# ---------------------------------------------------------------- nodes


def test_shared_memory_of_a_node() -> None:
    def look(trace: Any) -> None:
        for node in trace.preorder_walk():
            found = fencepost.get_shared_memory_from_op(node)
            assert found is fencepost.get_shared_memory_from_op(get_custom(node))
            assert found is fencepost.is_shared_memory_op(node)
            if kind_of(node) in (Kind.READ, Kind.WRITE):
                shared = "$SHARED" in str(get_custom(node).memory_type.address_space)
                assert (found is not None) == shared
                assert found is None or kind_of(found) is Kind.ALLOCATE
            else:
                assert found is None

    on_trace(kernels.gemm(), look)


def test_reduction_subgraph() -> None:
    def look(trace: Any) -> tuple[bool, bool]:
        root: Any = trace.get_root_graph()
        return fencepost.is_reduction_subgraph(root), fencepost.is_reduction_subgraph(loop_of(trace))

    assert on_trace(kernels.gemm(), look) == (False, True)


def test_windows_of_buffers_that_rotate() -> None:
    def look(trace: Any) -> tuple[list[bool], list[bool]]:
        nodes = [node for node in loop_of(trace).nodes if fencepost.is_shared_memory_op(node)]
        for node in nodes:
            first, second = (fencepost.get_shared_memory_from_op(node, depth) for depth in range(2))
            assert first is not second and first is fencepost.get_shared_memory_from_op(node, 2)
        assert fencepost.handle_hazard(nodes) == []  # within an iteration nothing meets
        filled = fencepost.handle_hazard(nodes, is_nested=True)
        ready = fencepost.handle_hazard(nodes, {READ}, {WRITE}, BarrierType.READY, is_nested=True)
        return [each.is_loop for each in filled], [each.is_loop for each in ready]

    # Two operands: what one iteration writes, the next one reads; what it reads, the next one writes.
    assert on_trace(rotating(), look) == ([True] * 2, [True] * 2)


# ---------------------------------------------------------------- what makes no sense there


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("populate_barriers_counters", "its barriers have no counters"),
        ("add_async_dependencies", "its barriers take no dependencies"),
    ],
)
def test_refused_by_name(name: str, why: str) -> None:
    def look(trace: Any) -> FencepostError:
        with pytest.raises(FencepostError, match=f"{name} on a trace of Wave: {why}") as error:
            getattr(fencepost, name)(trace)
        return error.value

    assert on_trace(kernels.gemm(), look).code == "FP426"


def test_refused_on_nodes_by_name() -> None:
    def look(trace: Any) -> None:
        graph: Any = loop_of(trace)
        with pytest.raises(FencepostError, match="reorder_graph on a trace of Wave"):
            fencepost.reorder_graph(graph, [])
        with pytest.raises(FencepostError, match="add_signal_wait_to_subgraph on a trace of Wave"):
            fencepost.add_signal_wait_to_subgraph(trace, graph.parent_op)

    on_trace(kernels.gemm(), look)
