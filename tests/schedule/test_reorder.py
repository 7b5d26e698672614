"""`reorder_graph`: before, cluster, behind; nothing lost, and an order that breaks a dependency refused with it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest

from fencepost.analysis.access import regions_of
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.expr import Const, Expr, Var
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import Graph
from fencepost.schedule import reorder_graph
from fencepost.schedule.gemm import prefetch_gemm
from fencepost.schedule.iteration_dependencies import broken, dependencies
from fencepost.schedule.overlap import may_overlap
from tests.schedule.kernels import BODY, loop_of, small
from tests.tiers import sweep


def body_of(*lines: str, slots: int = 3) -> Graph:
    """The body of a loop, in a kernel with %a of some slots and %b of one."""
    text = ["kernel @k waves=4 {", f"  shared %a : {slots} x 64", "  shared %b : 64", "  loop %i in 0..8 {"]
    return loop_of(parse("\n".join([*text, *(f"    {line}" for line in lines), "  }", "}"]) + "\n")).body


def edges(graph: Graph) -> set[tuple[int, int]]:
    """Dependencies by the places of the operations, from 0."""
    place = {op: number for number, op in enumerate(graph)}
    return {(place[each.first], place[each.second]) for each in dependencies(graph)}


# ---------------------------------------------------------------- what has to keep its order


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("%x = read %b", "mma %x"), {(0, 1)}),
        # A use above the definition is the value of the iteration before.
        (("mma %x", "%x = read %b"), {(0, 1)}),
        (("read %b", "read %b"), set()),
        (("read %b", "write %b"), {(0, 1)}),
        (("write %b", "write %b"), {(0, 1)}),
        (("read %b", "write %a"), set()),
        (("read %b[0..32]", "write %b[32..64]"), set()),
        (("read %b[0..33]", "write %b[32..64]"), {(0, 1)}),
        (("read %a[%i % 3]", "write %a[(%i + 1) % 3]"), set()),
        (("read %a[%i % 3]", "write %a[(%i + 3) % 3]"), {(0, 1)}),
        (("read %a[%i % 3]", "gather_to_lds %a[(2 * %i + 1) % 3]"), {(0, 1)}),
        (("read %a[%i % 2]", "write %a[2]"), set()),
        # What is not known can be anything.
        (("read %a[?]", "write %a[2]"), {(0, 1)}),
        (("read %a[wave % 3]", "write %a[2]"), {(0, 1)}),
        (("read %a[%i * %i % 3]", "write %a[2]"), {(0, 1)}),
        (("global_read", "global_read"), set()),
        (("global_read", "global_write"), {(0, 1)}),
        (("global_write", "gather_to_lds %b"), {(0, 1)}),
        (("compute", "barrier", "compute"), set()),
        (("read %b", "workgroup_barrier", "read %b"), {(0, 1), (1, 2)}),
        (("global_read", "wait_count load=0"), {(0, 1)}),
        (("barrier", "barrier"), {(0, 1)}),
        (("read %b", "loop %j in 0..2 {", "  write %b", "}"), {(0, 1)}),
        (("read %a[0]", "loop %j in 0..2 {", "  write %b", "}"), set()),
        (("%x = compute", "if %c {", "  compute %x", "}"), {(0, 1)}),
        # Numbers and buffers that a conditional or loop gives to what stands behind it.
        (("if %c gives %s {", "  give 0", "} else {", "  give 1", "}", "read %a[%s]"), {(0, 1)}),
        (("if %c gives %p {", "  give %b", "} else {", "  give %b", "}", "read %p"), {(0, 1)}),
        (("if %c gives %s {", "  give 0", "} else {", "  give 1", "}", "if %s == 0 {", "  compute", "}"), {(0, 1)}),
        (("loop %j in 0..2 carry %s = 0 {", "  next (%s + 1) % 3", "}", "read %a[%s]", "read %b"), {(0, 1)}),
        (("exchange %b", "read %a"), {(0, 1)}),
        (("sched_barrier", "set_wave_prio 1", "read %b"), set()),
    ],
)  # fmt: skip
def test_what_keeps_its_order(lines: tuple[str, ...], expected: set[tuple[int, int]]) -> None:
    assert edges(body_of(*lines)) == expected


def test_buffers_that_share_bytes_keep_their_order() -> None:
    text = "kernel @k waves=4 {\n  shared %p : 64 at 0\n  shared %q : 64 at 32\n  loop %i in 0..8 {\n"
    body = loop_of(parse(f"{text}    read %p\n    write %q[0..16]\n    write %q[32..64]\n  }}\n}}\n")).body
    assert edges(body) == {(0, 1)}


@pytest.mark.parametrize("seed", sweep(range(20), first=4))
def test_slots_that_meet_in_some_iteration_are_never_told_apart(seed: int) -> None:
    rng = random.Random(seed)
    buffer = Buffer("a", 64, slots=6)
    told_apart = 0
    for _ in range(50):
        one, other = (_view(rng, buffer) for _ in range(2))
        meet = any(
            mine.overlaps(theirs)
            for i in range(80)
            for mine in regions_of(one, {"i": i})
            for theirs in regions_of(other, {"i": i})
        )
        assert may_overlap(one, other) is meet, f"{one} {other}"
        told_apart += not meet
    assert told_apart


def _view(rng: random.Random, buffer: Buffer) -> View:
    i = Var("i")
    slots: list[Expr] = [
        Const(rng.randrange(6)),
        (i + rng.randrange(-3, 9)) % rng.choice([2, 3, 4, 6]),
        (i * rng.randrange(1, 5) + rng.randrange(6)) % rng.choice([2, 3, 4]),
        (rng.randrange(2, 9) - i) % 3,
    ]
    view = View(buffer, rng.choice(slots))
    return rng.choice([view, view.bytes(0, 32), view.bytes(32, 64), view.bytes(16, 48)])


# ---------------------------------------------------------------- what comes out


def test_before_cluster_behind() -> None:
    body = body_of("%p = compute", "read %a[0]", "%q = compute", "read %a[1]", "write %b", "%r = compute")
    first, one, between, two, three, last = body
    reorder_graph(body, [[three], [two, ops.SchedulingBarrier(), one]])
    after = list(body)
    assert [op for op in after if op.span] == [first, three, two, one, between, last]
    assert isinstance(after[3], ops.SchedulingBarrier)


@pytest.mark.parametrize("case", ["twice", "of another loop", "nothing", "new"])
def test_clusters_that_are_not_the_same_operations(case: str) -> None:
    body, other = body_of("read %a", "read %b"), body_of("read %a")
    one, two = body
    before = list(body)
    (stranger,) = other
    clusters: dict[str, list[list[ops.Operation]]] = {
        "twice": [[one, two], [one]],
        "of another loop": [[one, stranger, two]],
        "nothing": [[ops.SchedulingBarrier()]],
        "new": [[one, ops.Write(), two]],
    }
    with pytest.raises(FencepostError) as caught:
        reorder_graph(body, clusters[case])
    assert caught.value.code == "FP509"
    assert list(body) == before


def test_a_refusal_names_the_edge() -> None:
    body = body_of("%x = read %b", "write %b, %x")
    read, write = body
    with pytest.raises(FencepostError) as caught:
        reorder_graph(body, [[write, read]])
    assert caught.value.code == "FP508"
    assert caught.value.message == "the order puts `write %b, %x` in front of `%x = read %b`"
    assert caught.value.notes == (("dependency", "`%x = read %b` → `write %b, %x`: it uses %x"),)
    assert [mark.span for mark in caught.value.marks] == [read.span, write.span]
    assert list(body) == [read, write]


# ---------------------------------------------------------------- random orders


def meaning(order: Iterable[ops.Operation], iterations: int = 3) -> list[object]:
    """What a loop body computes: every stored value as a term, from one wave that runs the iterations in turn."""
    values: dict[ops.Operation, object] = {}
    memory: dict[tuple[str, int], object] = {}
    seen: list[object] = []
    body = list(order)
    for iteration in range(iterations):
        for op in body:
            if not isinstance(op, ops.ValueOperation) or isinstance(op, ops.SyncOperation):
                continue
            used = tuple(values.get(value, ("before", value.name)) for value in op.uses)
            term: object = (
                op.mnemonic,
                str(op.span),
                iteration if isinstance(op, ops.GlobalRead) else 0,
                used,
            )
            if isinstance(op, ops.MemoryOperation):
                lo = 0 if op.view.lo is None else int(str(op.view.lo))
                hi = op.view.buffer.size if op.view.hi is None else int(str(op.view.hi))
                cells = [(op.view.buffer.name, byte // 64) for byte in range(lo, hi, 64)]
                if isinstance(op, ops.Write):
                    memory.update(dict.fromkeys(cells, term))
                term = (term, tuple(memory.get(cell) for cell in cells))
            values[op] = term
        seen.append(hash((tuple(sorted((str(k), hash(v)) for k, v in memory.items())),)))
    seen.append([hash(values[op]) for op in sorted(values, key=lambda op: str(op.span))])
    return seen


def shuffled(rng: random.Random, members: Sequence[ops.Operation], moves: int) -> list[ops.Operation]:
    """A few operations moved elsewhere."""
    order = list(members)
    for _ in range(moves):
        order.insert(rng.randrange(len(order)), order.pop(rng.randrange(len(order))))
    return order


@pytest.mark.parametrize("seed", sweep(range(8), first=2))
def test_random_orders_are_refused_with_an_edge_or_compute_the_same(seed: int) -> None:
    rng = random.Random(seed)
    refused = kept = 0
    for _ in range(60):
        body = loop_of(small(BODY)).body
        members = [op for op in body if not isinstance(op, ops.Next)]
        needed, before = dependencies(body), meaning(members)
        order = shuffled(rng, members, rng.choice([1, 1, 2, 4, 20]))
        edge = broken(needed, [*order, *(op for op in body if op not in members)])
        try:
            reorder_graph(body, [order])
        except FencepostError as error:
            refused += 1
            assert error.code == "FP508"
            assert edge is not None
            assert [mark.span for mark in error.marks] == [edge.first.span, edge.second.span]
            assert order.index(edge.first) > order.index(edge.second)
            assert members.index(edge.first) < members.index(edge.second)
            assert [op for op in body if op in set(members)] == members
        else:
            kept += 1
            assert edge is None
            assert [op for op in body if op in set(members)] == order
            assert meaning(order) == before
    assert refused and kept


@pytest.mark.parametrize("seed", sweep(range(4), first=1))
def test_an_order_that_computes_something_else_is_never_accepted(seed: int) -> None:
    rng = random.Random(seed)
    different = 0
    for _ in range(60):
        body = loop_of(small(BODY)).body
        members = [op for op in body if not isinstance(op, ops.Next)]
        order = shuffled(rng, members, 3)
        if meaning(order) != meaning(members):
            different += 1
            with pytest.raises(FencepostError, match="in front of"):
                reorder_graph(body, [order])
    assert different > 10


def test_an_operation_moved_above_what_it_depends_on_is_refused_in_the_default_kernel() -> None:
    body = loop_of(prefetch_gemm()).body
    members = list(body)[:-1]
    needed = [each for each in dependencies(body) if each.second in members]
    for each in random.Random(0).sample(needed, 40):
        order = [op for op in members if op is not each.second]
        order.insert(order.index(each.first), each.second)
        with pytest.raises(FencepostError) as caught:
            reorder_graph(body, [order])
        assert caught.value.code == "FP508"
        edge = broken(needed, order)
        assert edge is not None and edge.second is each.second
        assert list(body)[:-1] == members
