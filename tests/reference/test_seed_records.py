"""The seeds' public names on fencepost's own traces: records, windows, positions, targets, emitters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fencepost as fp
from fencepost.analysis.access import access_type
from fencepost.analysis.transfer import DRAIN, PLAIN, Sync
from fencepost.emit import verify_barriers, verify_places
from fencepost.flow import Position, build_flow
from fencepost.ir import ops
from fencepost.ir.trace import Graph
from fencepost.passes.insert import insert_barriers
from fencepost.targets import target_named
from tests.random_kernels import STRAIGHT, Shape, random_kernel, random_text
from tests.tiers import sweep

ROOT = Path(__file__).parents[2]
FILECHECK = ROOT / "tests" / "filecheck"

READ, WRITE = fp.MemoryAccessType.READ, fp.MemoryAccessType.WRITE
READ_WRITE, NONE = fp.MemoryAccessType.READ_WRITE, fp.MemoryAccessType.NONE
FILL, READY = fp.BarrierType.FILL, fp.BarrierType.READY


def nodes_of(text: str) -> list[ops.Operation]:
    """The operations of a kernel with buffers %a and %b, in program order."""
    return list(kernel(text).preorder_walk())


def kernel(text: str, waves: int = 4) -> fp.CapturedTrace:
    """A kernel with buffers %a and %b; `;` separates its statements."""
    body = text.replace(";", "\n").replace("{", "{\n").replace("}", "\n}")
    return fp.parse(f"kernel @k waves={waves} {{\nshared %a : 64\nshared %b : 64\n{body}\n}}\n")


def places(requirement: fp.SyncRequirement) -> tuple[int, int]:
    return requirement.prod_location, requirement.cons_location


def raw(text: str, nested: bool = False) -> list[fp.SyncRequirement]:
    return fp.handle_hazard(nodes_of(text), is_nested=nested)


def war(text: str, nested: bool = False) -> list[fp.SyncRequirement]:
    return fp.handle_hazard(nodes_of(text), {READ, READ_WRITE}, {WRITE, READ_WRITE}, READY, is_nested=nested)


# ---------------------------------------------------------------- classification


def test_every_operation_has_an_access_type() -> None:
    text = "read %a; write %a; atomic %a; gather_to_lds %a; tensor_load_to_lds %a, %b; compute; barrier"
    types = [access_type(op) for op in nodes_of(text)]
    assert types == [READ, WRITE, READ_WRITE, WRITE, WRITE, NONE, NONE]


def test_async_copies_are_writes_of_an_engine() -> None:
    gather, tensor = nodes_of("gather_to_lds %a; tensor_load_to_lds %a")
    assert isinstance(gather, ops.AsyncCopy) and isinstance(tensor, ops.AsyncCopy)
    assert (gather.counter, tensor.counter) == ("load", "tensor")


def test_shared_memory_of_an_operation() -> None:
    k = fp.Kernel("k", waves=4)
    a, b = k.shared("a", bytes=64, slots=2), k.shared("b", bytes=64)
    assert fp.get_shared_memory_from_op(k.read(a[1])) is a
    assert fp.get_shared_memory_from_op(k.write(b.bytes(0, 8))) is b
    assert fp.get_shared_memory_from_op(k.atomic(a)) is a
    assert fp.get_shared_memory_from_op(k.tensor_load_to_lds(b, a)) is b
    assert fp.get_shared_memory_from_op(k.global_read()) is None
    assert fp.get_shared_memory_from_op(k.barrier()) is None


# ---------------------------------------------------------------- handle_hazard


def test_a_requirement_says_who_where_and_why() -> None:
    nodes = nodes_of("compute; write %a; compute; read %a; compute")
    (found,) = fp.handle_hazard(nodes)
    assert found.resource.name == "a"
    assert found.prod_region == (nodes[1],) and found.cons_region == (nodes[3],)
    assert places(found) == (1, 3)
    assert found.barrier_type is FILL
    assert not found.is_loop
    assert (found.graph_start, found.graph_end) == (nodes[0], nodes[-1])
    assert (found.start_location, found.end_location) == (0, 4)


def test_write_after_read_is_tagged_ready() -> None:
    (found,) = war("read %a; write %a")
    assert found.barrier_type is READY
    assert places(found) == (0, 1)


def test_an_episode_is_a_run_of_producers_and_a_run_of_consumers() -> None:
    nodes = nodes_of("write %a; write %a; read %a; read %a; write %a; read %a")
    first, second = fp.handle_hazard(nodes)
    assert first.prod_region == tuple(nodes[0:2]) and first.cons_region == tuple(nodes[2:4])
    assert places(first) == (1, 2)  # from the last producer to the first consumer
    assert second.prod_region == (nodes[4],) and second.cons_region == (nodes[5],)


def test_each_resource_has_episodes_of_its_own() -> None:
    found = raw("write %a; write %b; read %b; read %a")
    assert {entry.resource.name: places(entry) for entry in found} == {"a": (0, 3), "b": (1, 2)}


def test_an_atomic_is_a_consumer_first_and_a_producer_after() -> None:
    assert [places(entry) for entry in raw("write %a; atomic %a; read %a")] == [(0, 1), (1, 2)]
    assert [places(entry) for entry in war("read %a; atomic %a; write %a")] == [(0, 1), (1, 2)]


def test_what_touches_no_shared_memory_is_no_part_of_an_episode() -> None:
    assert raw("compute; global_read; barrier; compute") == []
    assert raw("write %a; compute") == []
    assert raw("read %a; compute; write %a") == []


def test_a_nested_sequence_meets_itself_in_the_next_iteration() -> None:
    nodes = nodes_of("read %a; compute; write %a")
    assert fp.handle_hazard(nodes) == []
    (carried,) = fp.handle_hazard(nodes, is_nested=True)
    assert carried.is_loop
    assert places(carried) == (2, 0)  # the producer stands behind its consumer
    assert (carried.start_location, carried.end_location) == (0, 2)


def test_hazards_within_an_iteration_are_not_repeated_by_the_second_round() -> None:
    within, carried = raw("write %a; read %a", nested=True), war("write %a; read %a", nested=True)
    assert [(places(entry), entry.is_loop) for entry in within] == [((0, 1), False)]
    assert [(places(entry), entry.is_loop) for entry in carried] == [((1, 0), True)]


@pytest.mark.parametrize(("buffers", "distance"), [("%x = %a, %y = %b", 1), ("%x = %a, %z = %b, %y = %c", 2)])
def test_buffers_that_rotate_meet_when_they_have_come_round(buffers: str, distance: int) -> None:
    """What is written under one name is read under another, one or two iterations later."""
    names = [each.split(" = ")[0] for each in buffers.split(", ")]
    rotated = ", ".join([*names[1:], names[0]])
    trace = fp.parse(
        "kernel @k waves=4 {\nshared %a : 64\nshared %b : 64\nshared %c : 64\n"
        f"loop %i in 0..8 carry {buffers} {{\nread %x\nwrite %y\nnext {rotated}\n}}\n}}\n"
    )
    (loop,) = trace.get_root_graph()
    assert isinstance(loop, ops.Iterate)
    read, write, _ = nodes = list(loop.body)
    a, *_, last = trace.buffers.values() if distance == 2 else list(trace.buffers.values())[:2]
    assert fp.get_shared_memory_from_op(read) is a and fp.get_shared_memory_from_op(write) is last
    assert fp.get_shared_memory_from_op(read, distance) is last
    assert fp.handle_hazard(nodes) == []
    (filled,) = fp.handle_hazard(nodes, is_nested=True)
    assert filled.is_loop and filled.resource is last and filled.prod_region == (write,)
    (ready,) = fp.handle_hazard(nodes, {READ}, {WRITE}, READY, is_nested=True)
    assert ready.is_loop and ready.resource is a and ready.prod_region == (read,)


def test_what_the_older_walk_asks() -> None:
    trace = kernel("write %a; loop %i in 0..4 { read %a }; if %c { read %a }; compute")
    root = trace.get_root_graph()
    write, loop, conditional, compute = root
    assert isinstance(loop, ops.Iterate) and isinstance(conditional, ops.Conditional)
    assert fp.is_shared_memory_op(write) is trace.buffers["a"] and fp.is_shared_memory_op(compute) is None
    assert [fp.is_reduction_subgraph(graph) for graph in (root, loop.body, conditional.then)] == [
        False,
        True,
        False,
    ]


# ---------------------------------------------------------------- get_barriers_analysis


def windows(text: str, waves: int = 4) -> list[tuple[tuple[int, int], fp.BarrierType, bool]]:
    found = fp.get_barriers_analysis(kernel(text, waves))
    return [(places(entry), entry.barrier_type, entry.is_loop) for entry in found]


def test_analysis_tags_and_places_windows() -> None:
    assert windows("write %a; read %a") == [((0, 1), FILL, False)]
    assert windows("read %a; write %a") == [((0, 1), READY, False)]
    assert windows("write %a; write %a") == [((0, 1), READY, False)]
    assert windows("atomic %a; atomic %a") == []
    assert windows("read %a; read %a") == []
    assert windows("write %a; read %b") == []


def test_analysis_leaves_out_what_a_barrier_covers() -> None:
    assert windows("write %a; barrier; read %a") == []
    assert windows("barrier; write %a; read %a; barrier") == [((1, 2), FILL, False)]
    assert windows("write %a; read %a", waves=1) == []


def test_locations_count_operations_in_pre_order() -> None:
    text = "compute; loop %i in 0..8 { read %a; write %a }; read %a"
    # 0 compute, 1 loop, 2 read, 3 write, 4 read
    assert windows(text) == [((3, 2), FILL, True), ((2, 3), READY, False), ((3, 4), FILL, False)]


def test_a_window_in_a_loop_knows_the_bounds_of_the_body() -> None:
    trace = kernel("compute; loop %i in 0..8 { read %a; compute; write %a; compute }")
    nodes = list(trace.preorder_walk())
    carried = next(entry for entry in fp.get_barriers_analysis(trace) if entry.is_loop)
    assert (carried.graph_start, carried.graph_end) == (nodes[2], nodes[5])
    assert (carried.start_location, carried.end_location) == (2, 5)
    assert carried.start_location <= carried.cons_location < carried.prod_location <= carried.end_location


def test_a_producer_in_a_loop_is_named_once() -> None:
    # Out of the loop right away, or after going round: two ways to the same pair.
    trace = kernel("loop %i in 0..8 { atomic %a }; read %a")
    (found,) = fp.get_barriers_analysis(trace)
    assert len(found.prod_region) == len(found.cons_region) == 1


def test_analysis_and_scan_agree_where_both_apply() -> None:
    text = "write %a; write %b; read %b; read %a; write %a"
    trace = kernel(text)
    nodes = list(trace.preorder_walk())
    scanned = fp.handle_hazard(nodes) + fp.handle_hazard(nodes, {READ}, {WRITE}, READY)
    found = fp.get_barriers_analysis(trace)
    assert {(places(entry), entry.barrier_type) for entry in found} == {
        (places(entry), entry.barrier_type) for entry in scanned
    }


# ---------------------------------------------------------------- minimize_placement_strategy


def chosen(text: str) -> list[int]:
    return fp.minimize_placement_strategy(fp.get_barriers_analysis(kernel(text)))


def with_barriers(trace: fp.CapturedTrace, positions: list[int]) -> fp.CapturedTrace:
    """`trace` with a barrier right before each of the operations at `positions`."""
    nodes = list(trace.preorder_walk())
    for node in (nodes[place] for place in positions):
        assert node.graph is not None
        node.graph.insert_before(node, ops.SharedMemoryBarrier())
    return trace


def test_a_barrier_goes_right_before_the_consumer() -> None:
    assert chosen("write %a; compute; read %a") == [2]


def test_windows_are_taken_by_their_ends_and_skipped_if_covered() -> None:
    # %a: 0 to 3, %b: 1 to 2. The one that ends first is served; its barrier lies in the other, too.
    assert chosen("write %a; write %b; read %b; read %a") == [2]
    # Here the second window opens behind the first barrier.
    assert chosen("write %a; read %a; write %b; read %b") == [1, 3]


def test_no_windows_no_barriers() -> None:
    assert fp.minimize_placement_strategy([]) == []


def test_the_order_of_the_requirements_does_not_matter() -> None:
    found = fp.get_barriers_analysis(kernel("write %a; write %b; read %b; read %a; write %a; read %a"))
    assert fp.minimize_placement_strategy(found[::-1]) == fp.minimize_placement_strategy(found)


def test_a_barrier_behind_the_producer_or_before_the_consumer_covers_a_carried_window() -> None:
    # 0 loop, 1 read b, 2 write b, 3 read a, 4 write a. Within the iteration both writes wait for their reads.
    # Write b → read b of the next iteration has the barrier before 4 behind its producer; write a → read a of
    # the next iteration has the one before 2 in front of its consumer. No third one is needed.
    text = "loop %i in 0..8 { read %b; write %b; read %a; write %a }"
    assert chosen(text) == [2, 4]
    assert fp.check(with_barriers(kernel(text), [2, 4])).ok
    assert not fp.check(with_barriers(kernel(text), [4])).ok


def test_a_barrier_right_before_the_producer_does_not_cover_a_carried_window() -> None:
    # 0 loop, 1 write, 2 read: the barrier before 2 serves write → read; read → write of the next
    # iteration opens behind it and needs one of its own.
    text = "loop %i in 0..8 { write %a; read %a }"
    assert chosen(text) == [1, 2]
    assert fp.check(with_barriers(kernel(text), [1, 2])).ok
    assert not fp.check(with_barriers(kernel(text), [2])).ok


@pytest.mark.parametrize("first", sweep(range(0, 2000, 250), first=1))
def test_requirements_and_strategy_agree_on_straight_lines(first: int) -> None:
    compared = 0
    for seed in range(first, first + 250):
        positions = fp.minimize_placement_strategy(fp.get_barriers_analysis(random_kernel(seed, STRAIGHT)))
        trace = random_kernel(seed, STRAIGHT)
        location = {op: number for number, op in enumerate(trace.preorder_walk())}
        before = [barrier.op.next for barrier in insert_barriers(trace, strategy="minimize").barriers]
        assert positions == [location[op] for op in before if op is not None], f"seed {seed}\n{trace}"
        compared += bool(positions)
    assert compared > 50


# ---------------------------------------------------------------- find_intersecting_interval_strategy


def pairs(text: str) -> list[tuple[int, int]]:
    found = fp.find_intersecting_interval_strategy(fp.get_barriers_analysis(kernel(text)))
    assert found.around == []
    return [(signal, wait) for signal, wait in found.pairs]


def window(producer: int, consumer: int, graph: tuple[int, int] | None = None) -> fp.SyncRequirement:
    """A window of a made-up sequence; one that crosses into the next iteration of `graph` if that is given."""
    start, end = graph or (-1, -1)
    resource = kernel("compute").buffers["a"]
    return fp.SyncRequirement(
        resource, (), (), producer, consumer, FILL, graph is not None, None, None, start, end
    )


def graph_of(op: ops.Operation) -> Graph:
    assert op.graph is not None
    return op.graph


def with_pairs(trace: fp.CapturedTrace, chosen: fp.SplitPlacement) -> fp.CapturedTrace:
    """`trace`, a straight line or one loop, with the signals and waits that were chosen for it."""
    nodes = list(trace.preorder_walk())
    for signal, wait in chosen.pairs:
        behind, before = graph_of(nodes[signal]), graph_of(nodes[wait - 1 if wait == len(nodes) else wait])
        if wait == len(nodes):  # at the end of the body
            before.append(ops.SharedMemoryBarrierWait())
        else:
            before.insert_before(nodes[wait], ops.SharedMemoryBarrierWait())
        behind.insert_after(nodes[signal], ops.SharedMemoryBarrierSignal())
    for start, _ in chosen.around:
        loop = graph_of(nodes[start]).owner
        assert loop is not None
        fp.add_signal_wait_to_subgraph(trace, loop)
    return trace


def test_a_signal_goes_behind_the_producer_and_a_wait_before_the_consumer() -> None:
    assert pairs("write %a; compute; compute; read %a") == [(0, 3)]
    assert pairs("compute; read %a; write %a") == [(1, 2)]
    assert pairs("read %a; read %b") == []


def test_windows_that_overlap_share_a_pair() -> None:
    # %a: 0 to 3, %b: 1 to 4. Behind the latest producer, before the earliest consumer.
    assert pairs("write %a; write %b; compute; read %a; read %b") == [(1, 3)]
    assert pairs("write %a; write %b; read %b; read %a") == [(1, 2)]


def test_windows_that_do_not_overlap_get_a_pair_each() -> None:
    assert pairs("write %a; read %a; write %b; read %b") == [(0, 1), (2, 3)]


def test_windows_are_taken_by_their_starts_and_then_their_ends() -> None:
    found = fp.find_intersecting_interval_strategy([window(4, 9), window(0, 6), window(0, 3), window(2, 5)])
    assert found.pairs == [(2, 3), (4, 9)]
    # A window that starts where the others end has nothing in common with them: its producer is their consumer.
    assert fp.find_intersecting_interval_strategy([window(0, 2), window(2, 4)]).pairs == [(0, 2), (2, 4)]
    assert fp.find_intersecting_interval_strategy([]) == ([], [])


def test_a_carried_window_that_has_a_wait_and_a_signal_gets_nothing() -> None:
    within = [window(1, 2), window(6, 7)]
    assert fp.find_intersecting_interval_strategy([*within, window(5, 3, (1, 8))]).pairs == [(1, 2), (6, 7)]


def test_a_carried_window_that_has_only_a_wait_gets_a_signal_and_a_wait_at_the_end() -> None:
    found = fp.find_intersecting_interval_strategy([window(1, 2), window(5, 3, (1, 8))])
    assert found == ([(1, 2), (5, 9)], [])
    # The signal behind the latest producer serves the others, too.
    found = fp.find_intersecting_interval_strategy([window(1, 2), window(5, 3, (1, 8)), window(6, 3, (1, 8))])
    assert found == ([(1, 2), (6, 9)], [])


def test_other_carried_windows_share_a_pair_that_the_loop_carries() -> None:
    found = fp.find_intersecting_interval_strategy([window(5, 2, (1, 8)), window(6, 3, (1, 8))])
    assert found == ([(6, 2)], [(1, 8)])
    assert fp.find_intersecting_interval_strategy([window(5, 2, (1, 8)), window(2, 5)]) == (
        [(2, 5), (5, 2)],
        [(1, 8)],
    )


def test_pairs_of_one_barrier_do_not_overlap() -> None:
    # Right behind its producer, the new signal would come before the wait of a pair that is there.
    found = fp.find_intersecting_interval_strategy([window(0, 1), window(4, 6), window(5, 2, (0, 8))])
    assert found == ([(0, 1), (4, 6), (6, 9)], [])
    found = fp.find_intersecting_interval_strategy([window(2, 6), window(5, 3, (0, 8))])
    assert found == ([(2, 6), (6, 2)], [(0, 8)])


def test_a_loop_that_carries_a_pair_is_clean() -> None:
    trace = kernel("loop %i in 0..8 { compute; read %a; compute; write %a; compute }")
    chosen_ = fp.find_intersecting_interval_strategy(fp.get_barriers_analysis(trace))
    # 0 loop, 1 compute, 2 read, 3 compute, 4 write, 5 compute.
    assert (chosen_.pairs, chosen_.around) == ([(2, 4), (4, 2)], [(1, 5)])
    assert fp.check(with_pairs(trace, chosen_)).ok


BODY = Shape(loops=False, conditionals=False, divergent=False, blocks=False, barriers=0, waves=(2, 4))


@pytest.mark.parametrize("looped", [False, True])
def test_pairs_of_random_sequences_are_clean(looped: bool) -> None:
    """In a loop's body, or without one; on straight lines they are as many as `minimize` has barriers."""
    carried = 0
    for seed in range(600):
        text = random_text(seed, BODY)
        if looped:
            text = re.sub(
                r"((?:  shared [^\n]*\n)+)(.*)", r"\1loop %i in 0..4 {\n\2}\n", text, flags=re.DOTALL
            )
        trace = fp.parse(text)
        found = fp.get_barriers_analysis(trace)
        chosen_ = fp.find_intersecting_interval_strategy(found)
        if not looped:
            assert len(chosen_.pairs) == len(fp.minimize_placement_strategy(found))
        carried += bool(chosen_.around)
        report = fp.check(with_pairs(trace, chosen_))
        assert report.ok, f"seed {seed}\n{trace}\n{chosen_}"
    assert carried > 100 or not looped


# ---------------------------------------------------------------- pairs around regions


def test_a_pair_goes_around_a_region_that_uses_memory_if_the_target_splits_barriers() -> None:
    a, b = (kernel("compute").buffers[name] for name in "ab")
    first, second = nodes_of("write %a; read %a")
    should = fp.should_insert_split_barrier_for_nested_region_op
    gfx12, gfx9 = target_named("gfx1201"), target_named("gfx942")
    assert should(gfx12, {a: first}, {a: second})
    assert should(gfx12, {}, {b: second})
    assert not should(gfx9, {a: first}, {a: second})
    assert not should(gfx12, {a: first}, {a: first})
    assert not should(gfx12, {a: first}, {a: second}, checking_next_iter=True)


def test_a_signal_goes_in_front_of_a_region_and_a_wait_behind_it() -> None:
    for text in ("loop %i in 0..8 { read %b }", "if %c { read %b } else { compute }"):
        trace = kernel(f"write %a; {text}; read %a")
        (region,) = [op for op in trace.preorder_walk() if isinstance(op, ops.Iterate | ops.Conditional)]
        signal, wait = fp.add_signal_wait_to_subgraph(trace, region)
        assert signal.next is region and region.next is wait
        assert fp.check(trace).ok
    with pytest.raises(ValueError, match="no loop or conditional"):
        fp.add_signal_wait_to_subgraph(trace, signal)


def test_a_region_with_pairs_of_its_own_gets_none_around_it() -> None:
    trace = kernel("loop %i in 0..8 { signal; wait }")
    before = str(trace)
    (loop,) = [op for op in trace.preorder_walk() if isinstance(op, ops.Iterate)]
    with pytest.raises(fp.FencepostError, match="signalled twice"):
        fp.add_signal_wait_to_subgraph(trace, loop)
    assert str(trace) == before
    # One that begins with a wait and ends with a signal needs it.
    trace = kernel("loop %i in 0..8 { wait; compute; signal }")
    (loop,) = [op for op in trace.preorder_walk() if isinstance(op, ops.Iterate)]
    fp.add_signal_wait_to_subgraph(trace, loop)
    assert fp.check(trace).ok


# ---------------------------------------------------------------- targets, emission, end to end


def test_a_target_says_what_barriers_it_has() -> None:
    assert not fp.TARGETS["gfx942"].split_barriers and not fp.TARGETS["gfx950"].split_barriers
    assert fp.TARGETS["gfx1200"].split_barriers and fp.TARGETS["gfx1201"].split_barriers
    assert target_named("").name in fp.TARGETS
    assert all(isinstance(config, fp.TargetConfig) and config.barrier for config in fp.TARGETS.values())


def test_an_unknown_target_is_refused_with_the_known_ones() -> None:
    trace = kernel("write %a; read %a")
    with pytest.raises(fp.FencepostError, match="unknown target 'gfx1'") as error:
        fp.add_shared_memory_barriers(trace, target="gfx1")
    assert dict(error.value.notes)["known targets"].split(", ") == list(fp.TARGETS)
    assert "barrier" not in str(trace)


def test_the_emitter_puts_one_operation_before_each_consumer() -> None:
    trace = kernel("write %a; read %a; gather_to_lds %b; read %b")
    nodes = list(trace.preorder_walk())
    flow = build_flow(trace)
    placement = {Position(0, 1): PLAIN, Position(0, 3): DRAIN}
    emitted = fp.LegacyBarrierEmitter(target_named("gfx942")).emit(flow, placement, {Position(0, 1): "why"})
    plain, draining = emitted[Position(0, 1)], emitted[Position(0, 3)]
    assert isinstance(plain, ops.SharedMemoryBarrier) and isinstance(draining, ops.SharedMemoryBarrier)
    assert plain.next is nodes[1] and not plain.wait_async_ops and plain.comment == "why"
    assert draining.next is nodes[3] and draining.wait_async_ops
    assert list(trace.preorder_walk()) == [nodes[0], plain, nodes[1], nodes[2], draining, nodes[3]]


def test_the_split_emitter_puts_a_wait_first_and_a_signal_last() -> None:
    trace = kernel("write %a; compute; read %a; gather_to_lds %b; compute; read %b")
    flow = build_flow(trace)
    half = Sync(0, False)
    counted = Sync(1, False, (("load", 0),), signal=1)
    placement = {
        Position(0, 1): half._replace(signal=1),
        Position(0, 2): half._replace(wait=1, signal=1),
        Position(0, 3): half._replace(wait=1),
        Position(0, 4): counted,
        Position(0, 5): half._replace(wait=1),
    }
    fp.BasicSplitBarrierEmitter(target_named("gfx1201")).emit(flow, placement, {})
    shown = " ".join(op.mnemonic for op in trace.preorder_walk())
    assert shown == (
        "write signal compute wait signal read wait gather_to_lds wait_count signal compute wait read"
    )
    verify_barriers(trace)


def test_verification_refuses_a_barrier_that_some_waves_never_meet() -> None:
    verify_barriers(kernel("if %c { barrier }"))
    with pytest.raises(fp.FencepostError, match="divergent conditional"):
        verify_barriers(kernel("if wave < 2 { barrier }"))


def test_structure_of_barriers_that_were_put_in() -> None:
    trace = kernel("write %a; if wave < 2 { read %a }; read %a")
    flow = build_flow(trace)
    inside = next(block for block in flow.blocks if block.guards and block.ops)
    made = ops.SharedMemoryBarrier()
    flow.insert(Position(inside.index, 0), made)
    with pytest.raises(fp.FencepostError, match="inside a divergent conditional"):
        verify_places(flow, {Position(inside.index, 0): (made,)})
    with pytest.raises(AssertionError, match="another region"):
        verify_places(flow, {Position(flow.order[0], 0): (made,)})


@pytest.mark.parametrize("target", ["", "gfx90a", "gfx942", "gfx950"])
def test_from_a_trace_to_a_clean_trace(target: str) -> None:
    trace = kernel("write %a; loop %i in 0..8 { read %a; gather_to_lds %b; read %b; write %a }")
    assert not fp.check(trace).ok
    fp.add_shared_memory_barriers(trace, target=target)
    assert fp.check(trace).ok
    assert fp.get_barriers_analysis(trace) == []


def test_a_second_run_adds_nothing() -> None:
    trace = kernel("write %a; loop %i in 0..8 { read %a; gather_to_lds %b; read %b; write %a }")
    fp.add_shared_memory_barriers(trace)
    once = str(trace)
    fp.add_shared_memory_barriers(trace)
    assert str(trace) == once


def test_a_trace_that_cannot_be_fixed_stays_as_it_was() -> None:
    trace = kernel("write %b; read %b; if wave < 2 { write %a; read %a }")
    before = str(trace)
    with pytest.raises(fp.FencepostError, match="no barrier can order"):
        fp.add_shared_memory_barriers(trace)
    assert str(trace) == before


# ---------------------------------------------------------------- the pages that name these tests


PAGES = ["seeds-basic-barriers.md", "seed-differences.md", "seeds-async.md", "defects.md"]
FOLDERS = "|".join(sorted(path.name for path in FILECHECK.iterdir()))


@pytest.mark.parametrize("page", PAGES)
def test_what_the_pages_name_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    files = re.findall(rf"`((?:{FOLDERS})/[\w/]+\.fp)`", text)
    assert files
    assert [name for name in files if not (FILECHECK / name).is_file()] == []
    modules = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    tests = {
        name for module in modules for name in re.findall(r"^def (test_\w+)", module, flags=re.MULTILINE)
    }
    assert [name for name in re.findall(r"`(test_\w+)`", text) if name not in tests] == []


@pytest.mark.parametrize("page", [*PAGES, "copies-in-flight.md", "split-barriers.md", "ping-pong.md"])
def test_the_pages_link_to_what_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
    for target in re.findall(r"\]\(([^)]*)\)", text):
        name, _, anchor = target.partition("#")
        assert not name or (ROOT / "docs" / name).is_file(), target
        assert name or anchor in anchors, target


def test_every_defect_is_on_its_page() -> None:
    """Each kernel is named, and each folder in one row."""
    text = (ROOT / "docs" / "defects.md").read_text(encoding="utf-8")
    files = [path.relative_to(FILECHECK).as_posix() for path in (FILECHECK / "defects").rglob("*.fp")]
    assert [name for name in files if text.count(f"`{name}`") != 1] == []


def test_every_difference_of_copies_in_flight_has_its_two_kernels_and_its_section() -> None:
    text = (ROOT / "docs" / "seeds-async.md").read_text(encoding="utf-8")
    named = {
        name
        for line in re.findall(r"^(`\w+`.*): seed", text, flags=re.MULTILINE)
        for name in line.split(", ")
    }
    folders = sorted((FILECHECK / "inflight" / "differences").iterdir())
    assert sorted(name.strip("`") for name in named) == [folder.name for folder in folders]
    for folder in folders:
        assert sorted(path.name for path in folder.iterdir()) == ["fencepost.fp", "seed.fp"]


def test_every_difference_has_its_two_kernels_and_its_section() -> None:
    text = (ROOT / "docs" / "seed-differences.md").read_text(encoding="utf-8")
    named = re.findall(r"^`(\w+)`: ", text, flags=re.MULTILINE)
    folders = [*(FILECHECK / "seed_differences").iterdir(), *(FILECHECK / "split" / "differences").iterdir()]
    assert sorted(named) == sorted(folder.name for folder in folders)
    for folder in folders:
        assert sorted(path.name for path in folder.iterdir()) == ["fencepost.fp", "seed.fp"]
