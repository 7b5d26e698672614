"""Shared memory that no allocation of the trace stands for: what is not known is a conflict, or a refusal by name.

Wave evaluates the annotations of a kernel: this file keeps them as they are written.
"""

from collections.abc import Callable
from typing import Any

import pytest
import wave_lang.kernel.lang as tkl
import wave_lang.kernel.wave as tkw
from wave_lang.kernel.lang.global_symbols import GLOBAL_ADDRESS_SPACE, SHARED_ADDRESS_SPACE
from wave_lang.kernel.ops import wave_ops

import fencepost
from fencepost.hosts import wave as host
from fencepost.hosts.wave.nodes import Kind, kind_of
from fencepost.ir.source import FencepostError

M, N = tkl.sym.M, tkl.sym.N
ANY_SPACE = tkl.sym.ANY_SPACE


def barriers_of(trace: Any) -> list[str]:
    """The names of the nodes that barriers stand in front of."""
    return [node.next.name for node in trace.walk(lambda node: kind_of(node) is Kind.BARRIER)]


def with_barriers(trace: Any) -> list[str]:
    fencepost.add_shared_memory_barriers(trace)
    return barriers_of(trace)


class Mystery:
    """An operation of a release that nobody here has seen."""


def put(graph: Any, before: Any, *given: Any, cls: type = Mystery, **attributes: Any) -> Any:
    """A new node in front of another one."""
    with graph.inserting_before(before):
        node = graph.create_node("call_function", target=Mystery, args=given, name=cls.__name__.lower())
    node.tkw_op, node.tkw_op_name = cls, cls.__name__.lower()
    for name, value in attributes.items():
        setattr(node, name, value)
    return node


def named(trace: Any, name: str) -> Any:
    (node,) = trace.walk(lambda node: node.name == name)
    return node


# ---------------------------------------------------------------- arguments


def test_an_argument_in_shared_memory_is_memory() -> None:
    @tkw.wave_trace_only()
    def through(
        lds: tkl.Memory[M, N, SHARED_ADDRESS_SPACE, tkl.f16],
        other: tkl.Memory[M, N, SHARED_ADDRESS_SPACE, tkl.f16],
    ) -> None:
        tkw.write(tkw.read(other), lds)
        tkw.write(tkw.read(lds), other)

    assert with_barriers(through()) == ["read_1"]


def test_an_argument_that_may_be_in_shared_memory_is_memory() -> None:
    @tkw.wave_trace_only()
    def through(a: tkl.Memory[M, N, ANY_SPACE, tkl.f16]) -> None:
        tkw.write(tkw.read(a), a)

    assert with_barriers(through()) == ["write"]


def test_an_argument_in_global_memory_is_none() -> None:
    @tkw.wave_trace_only()
    def through(a: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f16]) -> None:
        tkw.write(tkw.read(a), a)

    assert with_barriers(through()) == []


def test_a_region_captures_an_argument() -> None:
    @tkw.wave_trace_only()
    def through(lds: tkl.Memory[M, N, SHARED_ADDRESS_SPACE, tkl.f16]) -> None:
        @tkw.iterate(M, init_args=[])
        def along() -> None:
            tkw.write(tkw.read(lds), lds)

    assert sorted(with_barriers(through())) == ["read", "write"]


# ---------------------------------------------------------------- memory of unknown origin


def allocated() -> Any:
    """Memory that is written, and read back."""

    @tkw.wave_trace_only()
    def through(
        a: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f16],
        b: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f16],
    ) -> None:
        memory = tkw.allocate((M, N), (32, 32), tkl.f16, SHARED_ADDRESS_SPACE)
        tkw.write(tkw.read(a), memory)
        tkw.write(tkw.read(memory), b)

    return through()


def behind_a_view(trace: Any, read: Any) -> None:
    read.update_arg(0, put(read.graph, read, named(trace, "allocate"), cls=wave_ops.Reshape))


def loop_variable_of_no_loop(trace: Any, read: Any) -> None:
    with read.graph.inserting_before(next(iter(read.graph.nodes))):
        lost = read.graph.placeholder("lost")
    lost.tkw_op, lost.tkw_op_name = wave_ops.IterArg, "iter_arg"
    read.update_arg(0, lost)


def result_of_no_loop(trace: Any, read: Any) -> None:
    taken = put(read.graph, read)
    read.update_arg(0, put(read.graph, read, taken, 0, cls=wave_ops.GetResult))


@pytest.mark.parametrize("lose", [behind_a_view, loop_variable_of_no_loop, result_of_no_loop])
def test_memory_of_unknown_origin_may_be_any(lose: Callable[[Any, Any], None]) -> None:
    trace = allocated()
    assert with_barriers(allocated()) == ["read_1"]
    read = named(trace, "read_1")
    lose(trace, read)
    assert "anywhere" in str(host.translate(trace).trace)
    assert "read_1" in with_barriers(trace)


def test_a_view_of_global_memory_is_none() -> None:
    trace = allocated()
    read = named(trace, "read")
    read.update_arg(
        0, put(read.graph, read, named(trace, "a"), cls=wave_ops.Reshape, type=named(trace, "a").type)
    )
    assert with_barriers(trace) == ["read_1"]


def test_a_copy_out_of_shared_memory_reads_it() -> None:
    trace = allocated()
    read = named(trace, "read_1")
    space = named(trace, "b")
    index: dict[Any, Any] = {}
    copy = put(read.graph, read, named(trace, "allocate"), space, index, index, None, 1, None, None, None)
    copy.tkw_op = wave_ops.GatherToLDS
    assert copy in host.translate(trace).unknown


# ---------------------------------------------------------------- operations that are not known


def test_an_operation_that_is_not_known_may_change_all_memory() -> None:
    trace = allocated()
    read = named(trace, "read_1")
    mystery = put(read.graph, read)
    translation = host.translate(trace)
    assert translation.unknown == [mystery]
    assert with_barriers(trace) == ["mystery", "read_1"]


def test_in_a_region_it_is_given_what_the_region_captures() -> None:
    """A reshaped allocation: nothing says that whoever is given it only reads it."""

    @tkw.wave_trace_only()
    def through(a: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f16]) -> None:
        memory = tkw.allocate((M, N), (32, 32), tkl.f16, SHARED_ADDRESS_SPACE)

        @tkw.iterate(M, init_args=[])
        def along() -> None:
            tkw.write(tkw.read(a), memory)

    trace = through()
    write = named(trace, "write")
    inside = write.args[1]
    assert inside.op == "placeholder"
    made = put(write.graph, write, inside, cls=wave_ops.Reshape)
    assert host.translate(trace).unknown == [made]
    assert "write" in with_barriers(trace)


def test_where_there_is_no_shared_memory_it_needs_no_barrier() -> None:
    @tkw.wave_trace_only()
    def through(a: tkl.Memory[M, N, GLOBAL_ADDRESS_SPACE, tkl.f16]) -> None:
        tkw.write(tkw.read(a), a)

    trace = through()
    write = named(trace, "write")
    mystery = put(write.graph, write)
    assert host.translate(trace).unknown == [mystery]
    assert with_barriers(trace) == []


def test_a_region_of_an_operation_that_is_not_known_is_refused() -> None:
    trace = allocated()
    read = named(trace, "read_1")
    (name, *_) = trace.region_graph.subgraphs
    put(read.graph, read, name)
    with pytest.raises(FencepostError, match="a Mystery with a region of its own is not known") as error:
        host.translate(trace)
    assert error.value.code == "FP422"


def test_every_operation_of_wave_is_in_the_table() -> None:
    """What a new release adds has to be looked at: until then it counts as changing all of shared memory."""

    def classes(of: Any) -> set[str]:
        return {of.__name__}.union(*(classes(each) for each in of.__subclasses__()))

    def kind(name: str) -> Kind:
        class Looked:
            op, tkw_op = "call_function", getattr(wave_ops, name)

        return kind_of(Looked())

    unknown = {name for name in classes(wave_ops.CustomOp) if kind(name) is Kind.OTHER}
    # Bases of others, what Wave replaces before barriers are placed, and nodes that are not Wave's.
    assert unknown == {
        *("CustomOp", "BinaryOpBase", "NestedRegionOp", "Unknown"),
        *("Cumsum", "DebugLog", "Max", "Min", "ReduceOp", "ScanOp", "Sum", "TopkOp"),
    }
