"""The membar analysis: its rules one by one, whole kernels, functions, and `eager` as the fast form of the same."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from fencepost.analysis.build_program import read_program
from fencepost.analysis.conflicts import Filter
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.transfer import DRAIN, PLAIN
from fencepost.check import Report, check
from fencepost.flow import Position, build_flow
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.insert import insert_barriers
from fencepost.placement import STRATEGIES
from fencepost.reference.membar.analysis import (
    Between,
    BlockInfo,
    filter_async_write_dependencies,
    is_synced_via_wait,
    membar,
    summarize,
)
from tests.random_kernels import Shape, random_text

NOTHING, BARRIER, WAIT_AND_BARRIER = Between
BYTES = Buffer("a", 1024)
A = (BYTES.whole(),)
MAKE: dict[str, Callable[[], ops.MemoryOperation]] = {
    "read": lambda: ops.Read(A),
    "write": lambda: ops.Write(A),
    "atomic": lambda: ops.AtomicOp(A),
    "swap": lambda: ops.AtomicOp(A, update="exchange"),
    "async write": lambda: ops.GatherToLDS(A),
    "async write of another engine": lambda: ops.TensorLoadToLDS(A),
    "async read": lambda: ops.AsyncMMA(A),
}


def state(earlier: str) -> BlockInfo:
    """What is pending after an operation; "committed": and after a wait for it."""
    info = BlockInfo()
    info.issue(MAKE[earlier.removesuffix(", committed")]())
    if earlier.endswith(", committed"):
        info.drain()
    return info


# ---------------------------------------------------------------- the rules


HAZARDS = [
    ("write", "read", BARRIER),
    ("read", "write", BARRIER),
    ("write", "write", BARRIER),
    ("atomic", "read", BARRIER),
    ("atomic", "write", BARRIER),
    ("read", "atomic", BARRIER),
    ("write", "atomic", BARRIER),
    ("atomic", "atomic", NOTHING),
    ("atomic", "swap", BARRIER),
    ("swap", "swap", BARRIER),
    ("read", "read", NOTHING),
    ("async write", "read", WAIT_AND_BARRIER),
    ("async write, committed", "read", BARRIER),
    ("read", "async write", BARRIER),
    ("write", "async write", BARRIER),
    ("atomic", "async write", BARRIER),
    ("async write", "atomic", WAIT_AND_BARRIER),
    ("async write", "async write", NOTHING),
    ("async write, committed", "async write", NOTHING),
    ("async write", "async write of another engine", WAIT_AND_BARRIER),
    ("async write", "write", WAIT_AND_BARRIER),
    ("async write, committed", "write", BARRIER),
    ("async read", "read", NOTHING),
    ("async read", "async read", NOTHING),
    ("async read", "write", WAIT_AND_BARRIER),
    ("async read", "async write", WAIT_AND_BARRIER),
    ("async read, committed", "write", BARRIER),
    ("async read, committed", "read", NOTHING),
    ("write", "async read", BARRIER),
    ("async write", "async read", WAIT_AND_BARRIER),
    ("async write, committed", "async read", BARRIER),
]
"""What must lie between an earlier and a later access."""


@pytest.mark.parametrize(("earlier", "later", "between"), HAZARDS)
def test_what_must_lie_between(earlier: str, later: str, between: Between) -> None:
    need = state(earlier).needs(MAKE[later]())
    assert need.between is between
    assert len(need.conflicts) == (between is not NOTHING)


@pytest.mark.parametrize(("earlier", "later", "between"), HAZARDS)
def test_what_must_lie_between_is_enough_and_less_is_not(earlier: str, later: str, between: Between) -> None:
    """The same pairs as kernels, judged by `check`, which knows nothing of `BlockInfo`."""
    words = {name: f"{make().mnemonic} %a" for name, make in MAKE.items()} | {
        "swap": "atomic %a update=exchange"
    }
    drain = "wait_count load=0 tensor=0 mma=0"
    first = [words[earlier.removesuffix(", committed")], *([drain] if earlier.endswith("committed") else [])]
    enough: dict[Between, list[str]] = {
        NOTHING: [],
        BARRIER: ["barrier"],
        WAIT_AND_BARRIER: [drain, "barrier"],
    }
    for tried, lines in enough.items():
        kernel = "\n".join([*first, *lines, words[later]])
        report = check(parse(f"kernel @pair waves=2 {{\nshared %a : 1024\n{kernel}\n}}"))
        assert report.ok == (tried >= between), kernel


@pytest.mark.parametrize(
    ("current", "prior", "barrier", "instead"),
    [
        ("read", "write", True, BARRIER),
        ("read", "async write", False, WAIT_AND_BARRIER),
        ("write", "read", True, BARRIER),
        ("write", "write", True, BARRIER),
        ("write", "async write", False, WAIT_AND_BARRIER),
        ("async write", "read", True, BARRIER),
        ("async write", "write", True, BARRIER),
        ("async write", "async write", False, NOTHING),
    ],
)
def test_rules_of_the_proposal(current: str, prior: str, barrier: bool, instead: Between) -> None:
    """Its "no barrier" means that a barrier alone cannot help: then it is a wait that is missing, or nothing."""
    need = state(prior).needs(MAKE[current]())
    assert (need.between is BARRIER) == barrier
    assert need.between is instead


def test_an_async_copy_is_in_flight() -> None:
    info = state("async write")
    assert (len(info.sync_writes), len(info.sync_reads), len(info.in_flight)) == (0, 0, 1)


@pytest.mark.parametrize(
    ("earlier", "containers"),
    [("async write", (1, 0, 0)), ("async read", (0, 1, 0)), ("atomic", (1, 1, 0)), ("read", (0, 1, 0))],
)
def test_a_wait_promotes(earlier: str, containers: tuple[int, int, int]) -> None:
    info = state(earlier)
    info.drain()
    assert (len(info.sync_writes), len(info.sync_reads), len(info.in_flight)) == containers


def test_a_barrier_clears_what_is_committed_and_leaves_what_is_in_flight() -> None:
    info = state("atomic")
    info.issue(MAKE["async write"]())
    info.barrier()
    assert (info.sync_writes, info.sync_reads, len(info.in_flight)) == ({}, {}, 1)
    assert info.needs(MAKE["read"]()).between is WAIT_AND_BARRIER


@pytest.mark.parametrize("most", range(5))
def test_a_wait_leaves_the_most_recent(most: int) -> None:
    info = BlockInfo()
    copies = [ops.TensorLoadToLDS(A) for _ in range(4)]
    for copy in copies:
        info.issue(copy)
        info.issue(ops.GatherToLDS(A))  # of another counter: not counted
    info.wait("tensor", most)
    done = 4 - min(most, 4)
    assert [access.op for access in info.sync_writes] == copies[:done]
    assert [access.op for access in info.in_flight if access.op in copies] == copies[done:]
    assert len(info.in_flight) == 8 - done


def test_in_flight_is_in_issue_order_also_where_a_copy_is_issued_again() -> None:
    info = BlockInfo()
    one, other = ops.GatherToLDS(A), ops.GatherToLDS(A)
    for copy in (one, other, one):
        info.issue(copy)
    assert [(access.op, later) for access, later in info.in_flight.items()] == [(other, 1), (one, 0)]


def test_what_is_not_in_shared_memory_counts_as_well() -> None:
    info = state("async write")
    info.count("load")
    info.wait("load", 1)
    assert not info.in_flight


def test_a_group_that_is_open_is_waited_for_by_draining_only() -> None:
    info = BlockInfo()
    info.issue(ops.GatherToLDS(A), in_group=True)
    info.wait("load", 0)
    assert info.in_flight
    info.count("load")
    info.wait("load", 1)
    assert info.in_flight
    info.wait("load", 0)
    assert not info.in_flight
    info.issue(ops.GatherToLDS(A), in_group=True)
    info.drain()
    assert not info.in_flight


def test_where_paths_meet_what_is_pending_on_either_is() -> None:
    copy, other = ops.GatherToLDS(A), ops.GatherToLDS(A)
    here, there = state("read"), state("write")
    here.issue(copy)
    here.issue(other)
    there.issue(copy)
    assert here.join(there)
    assert not here.join(there)
    assert (len(here.sync_writes), len(here.sync_reads), len(here.in_flight)) == (1, 1, 2)
    here.wait("load", 1)  # on the other path nothing came after the copy
    assert len(here.in_flight) == 2


def test_the_state_of_one_path_is_not_that_of_another() -> None:
    here = state("write")
    there = here.copy()
    there.barrier()
    assert here.sync_writes and not there.sync_writes


PLACED = Buffer("p", 64, offset=0)
BEHIND = Buffer("q", 64, offset=64)
RING = Buffer("r", 64, 3)


@pytest.mark.parametrize(
    ("written", "read", "frame", "meet"),
    [
        (BYTES.bytes(0, 64), BYTES.bytes(64, 128), 0, False),
        (BYTES.bytes(0, 65), BYTES.bytes(64, 128), 0, True),
        (RING[0], RING[1], 0, False),
        (RING[0], RING[0], 0, True),
        (RING[0], RING.whole(), 0, True),
        (PLACED.whole(), BEHIND.whole(), 0, False),
        (PLACED.whole(), PLACED.whole(), 64, False),
        (BEHIND.whole(), PLACED.whole(), 64, True),
        (PLACED.whole(), BYTES.whole(), 0, False),
        (BYTES.whole(), BYTES.whole(), 64, True),
    ],
)
def test_footprints(written: View, read: View, frame: int, meet: bool) -> None:
    info = BlockInfo()
    info.issue(ops.Write((written,)))
    assert bool(info.needs(ops.Read((read,)), frame).between) == meet


# ---------------------------------------------------------------- the filter


WAIT = ops.MemoryCounterWait({"load": 0})
SYNCED = ops.Read(A, uses=(WAIT,))


@pytest.mark.parametrize(
    ("earlier", "later", "ignored"),
    [
        (MAKE["async write"](), MAKE["async write"](), True),
        (MAKE["async write"](), MAKE["async write of another engine"](), True),
        (MAKE["async write"](), SYNCED, True),
        (SYNCED, MAKE["async write"](), True),
        (MAKE["async write"](), MAKE["read"](), False),
        (MAKE["async write"](), MAKE["write"](), False),
        (MAKE["write"](), MAKE["async write"](), False),
        (MAKE["async write"](), ops.Write(A, uses=(WAIT,)), False),
        (MAKE["write"](), SYNCED, False),
        (MAKE["write"](), MAKE["read"](), False),
        (MAKE["async write"](), ops.TensorStoreFromLDS(A), False),
    ],
)
def test_the_filter(earlier: ops.MemoryOperation, later: ops.MemoryOperation, ignored: bool) -> None:
    assert filter_async_write_dependencies(earlier, later) == ignored


@pytest.mark.parametrize(
    ("init", "next_", "synced"),
    [("%w0", "%w1", True), ("%w0", "%w", True), ("%t", "%w1", False), ("%w0", "%u", False)],
)
def test_reads_that_are_synced_via_a_wait_that_a_loop_carries(init: str, next_: str, synced: bool) -> None:
    kernel = parse(
        f"""kernel @k waves=2 {{
          shared %a : 64
          %t = gather_to_lds %a
          %w0 = wait_count load=0
          loop %i in 0..4 carry %w = {init} {{
            read %a, %w
            %u = gather_to_lds %a
            %w1 = wait_count after %u load=0
            next {next_}
          }}
        }}"""
    )
    (read,) = [op for op in kernel.preorder_walk() if isinstance(op, ops.Read)]
    assert is_synced_via_wait(read) == synced


TRIPLE = """kernel @warp_pipelined waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  %w0 = wait_count tensor=2
  barrier
  loop %i in 0..64 carry %w = %w0 {
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3], %w
    %y = read %b[%i % 3], %w
    %w1 = wait_count tensor=2
    barrier
    mma %x, %y
    next %w1
  }
}"""
"""Triple-buffered, two stages, with the barrier that membar puts behind every wait of its own accord."""
BARE = TRIPLE.replace("    barrier\n", "")
"""The same without that barrier."""
SINGLE = """kernel @single waves=4 {
  shared %a : 1024
  gather_to_lds %a
  %w0 = wait_count load=0
  barrier
  loop %i in 0..8 carry %w = %w0 {
    %x = read %a, %w
    gather_to_lds %a
    %w1 = wait_count load=0
    barrier
    mma %x
    next %w1
  }
}"""
"""One buffer: each iteration refills what it has just read."""


def test_both_solutions_leave_the_triple_buffered_kernel_alone() -> None:
    """The filter does not look at slots, and the model of what is in flight needs them: unknown is conflict."""
    assert check(parse(TRIPLE)).ok
    assert not membar(parse(TRIPLE), filter_async_write_dependencies)
    for slots in (True, False):
        kernel = parse(TRIPLE)
        assert not insert_barriers(
            kernel, strategy="eager", ignore=filter_async_write_dependencies, slots=slots
        ).barriers
    assert not insert_barriers(parse(TRIPLE), strategy="eager").barriers
    assert {need.between for need in membar(parse(TRIPLE)).values()} == {WAIT_AND_BARRIER}


def test_without_the_barrier_behind_the_wait_only_the_model_finds_what_is_missing() -> None:
    """The read of a slot and its refill are a pair that the filter always ignores, so it adds nothing."""
    kernel = parse(BARE)
    assert len(insert_barriers(kernel, strategy="eager").barriers) == 1
    assert check(kernel).ok
    kernel = parse(BARE)
    assert not insert_barriers(kernel, strategy="eager", ignore=filter_async_write_dependencies).barriers
    assert check(kernel).races


def test_the_filter_has_no_direction() -> None:
    """A read whose data was waited for, then an async refill of the same buffer: a real hazard (triton 11719)."""
    filtered = parse(SINGLE)
    assert not membar(filtered, filter_async_write_dependencies)
    assert not insert_barriers(filtered, strategy="eager", ignore=filter_async_write_dependencies).barriers
    (race,) = check(filtered).races
    assert (race.first.op.mnemonic, race.second.op.mnemonic) == ("read", "gather_to_lds")
    kernel = parse(SINGLE)
    assert [(before(kernel, at), need.between) for at, need in membar(kernel).items()] == [
        ("gather_to_lds", BARRIER)
    ]
    assert with_membar(SINGLE).ok


# ---------------------------------------------------------------- whole kernels


def before(kernel: CapturedTrace, position: Position) -> str:
    """What stands behind a position."""
    block = build_flow(kernel).blocks[position.block]
    op = [*block.ops, block.anchor][position.gap]
    return (op.owner or op).mnemonic if op is not None else "end"


def choices(text: str) -> list[tuple[str, Between]]:
    """What membar puts in: each barrier with what stands behind it."""
    kernel = parse(text)
    return [(before(kernel, at), need.between) for at, need in sorted(membar(kernel).items())]


def with_membar(text: str) -> Report:
    """What `check` says once the barriers are in."""
    kernel = parse(text)
    flow = build_flow(kernel)
    for position, need in membar(kernel).items():
        flow.insert(position, ops.SharedMemoryBarrier(need.between is WAIT_AND_BARRIER))
    return check(kernel)


CALL = "kernel @k waves=4 {{\n{}\n}}\n"
FIRST_WRITES = "func @f {\n shared %s : 64 at 0\n write %s\n}\n"


def test_what_a_caller_has_pending_meets_what_a_function_does_first() -> None:
    """triton 11389."""
    text = FIRST_WRITES + CALL.format("shared %s : 64 at 0\nread %s\ncall @f")
    assert choices(text) == [("call", BARRIER)]
    summary = summarize(parse(text))["f"]
    assert [access.op.mnemonic for access in summary.first] == ["write"]
    assert [access.op.mnemonic for access in summary.last.sync_writes] == ["write"]
    assert not summary.clears
    assert with_membar(text).ok


@pytest.mark.parametrize(("frame", "expected"), [(1024, ["read"]), (0, ["call"])])
def test_the_frame_of_a_call_counts(frame: int, expected: list[str]) -> None:
    """triton 9327: scratch at offset 0 of a function stands where the call's frame begins."""
    text = FIRST_WRITES + CALL.format(
        f"shared %big : 1024 at 0\nshared %tail : 64 at 1024\nwrite %big\ncall @f at {frame}\nread %tail"
    )
    assert [op for op, _ in choices(text)] == expected
    assert with_membar(text).ok


def test_frames_of_nested_calls_add_up() -> None:
    text = (
        FIRST_WRITES
        + "func @g {\n call @f at 64\n}\n"
        + CALL.format("shared %s : 64 at 192\ncall @g at 128\nread %s")
    )
    assert choices(text) == [("read", BARRIER)]
    summary = summarize(parse(text))["g"]
    assert [access.frame for access in summary.first] == [64]
    assert [access.frame for access in summary.at(128).first] == [192]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("exchange %s", []),
        ("read %s\nexchange %s", ["exchange"]),
        ("exchange %s\nread %s", []),
        ("exchange %s\nwrite %s", ["write"]),
        ("exchange %s\nexchange %s", ["exchange"]),
        ("loop %i in 0..8 {\nexchange %s\n}", ["exchange"]),
    ],
)
def test_the_barrier_inside_an_exchange_stands_between_its_parts(body: str, expected: list[str]) -> None:
    """triton 11022: taken as standing in front of both, it would order the read before the next write."""
    text = CALL.format(f"shared %s : 64\n{body}")
    assert [op for op, _ in choices(text)] == expected
    assert with_membar(text).ok


def test_the_summary_of_a_function_with_a_barrier_inside() -> None:
    text = "func @f {\n shared %s : 64 at 0\n exchange %s\n}\n" + CALL.format("call @f\ncall @f")
    summary = summarize(parse(text))["f"]
    assert summary.clears
    assert [access.op.mnemonic for access in summary.first] == ["write"]
    assert [access.op.mnemonic for access in summary.last.sync_reads] == ["read"]
    assert not summary.last.sync_writes
    assert choices(text) == [("call", BARRIER)]


@pytest.mark.parametrize(
    ("body", "clears"),
    [
        ("barrier", True),
        ("if %c {\nbarrier\n}", False),
        ("if %c {\nbarrier\n} else {\nbarrier\n}", True),
        ("loop %i in 0..? {\nbarrier\n}", False),
        ("loop %i in 0..2 {\nbarrier\n}", True),
        ("workgroup_barrier", False),
        ("wait_count load=0", False),
    ],
)
def test_whether_every_path_through_a_function_passes_a_barrier(body: str, clears: bool) -> None:
    text = f"func @f {{\n{body}\n}}\n" + CALL.format("shared %a : 64\nwrite %a\ncall @f\nread %a")
    assert summarize(parse(text))["f"].clears == clears
    assert choices(text) == ([] if clears else [("read", BARRIER)])
    assert with_membar(text).ok


@pytest.mark.parametrize(
    ("body", "behind", "expected"),
    [
        ("barrier", "", [("read", WAIT_AND_BARRIER)]),
        ("wait_count load=0", "", [("read", BARRIER)]),
        ("wait_count load=0\nbarrier", "", []),
        ("barrier load=0", "", []),
        ("barrier load=1", "", [("read", WAIT_AND_BARRIER)]),
        ("if %c {\nbarrier async\n}", "", [("read", WAIT_AND_BARRIER)]),
        ("global_read", "barrier load=1", []),
        ("if %c {\nglobal_read\n}", "barrier load=1", [("read", WAIT_AND_BARRIER)]),
        ("commit load", "barrier load=0", []),
        ("commit load\ncommit load", "barrier load=1", []),
        ("commit load\nglobal_read", "barrier load=1", [("read", WAIT_AND_BARRIER)]),
        ("barrier load=0\ncommit load", "", [("read", WAIT_AND_BARRIER)]),
        ("shared %s : 64 at 0\nbarrier\nread %s", "", [("call", WAIT_AND_BARRIER)]),
        ("shared %s : 64 at 0\nbarrier load=0\nread %s", "", []),
        ("shared %s : 64 at 0\nwait_count load=0\nread %s", "", [("call", WAIT_AND_BARRIER)]),
    ],
)
def test_a_copy_in_flight_through_a_call(body: str, behind: str, expected: list[tuple[str, Between]]) -> None:
    text = f"func @f {{\n{body}\n}}\n" + CALL.format(
        f"shared %a : 64 at 0\ngather_to_lds %a\ncall @f\n{behind}\nread %a"
    )
    assert choices(text) == expected
    assert with_membar(text).ok


def test_a_function_waits_for_what_it_has_issued_itself() -> None:
    text = "func @f {\n shared %s : 64 at 0\n gather_to_lds %s\n}\n" + CALL.format(
        "shared %a : 64 at 0\ncall @f\nglobal_read\nbarrier load=1\nread %a\ncall @f\nread %a"
    )
    assert choices(text) == [("call", BARRIER), ("read", WAIT_AND_BARRIER)]
    assert with_membar(text).ok


def test_divergence_is_refused() -> None:
    with pytest.raises(FencepostError, match="divergent"):
        membar(parse(CALL.format("shared %a : 64\nif wave == 0 {\nwrite %a\n}")))


# ---------------------------------------------------------------- eager is the fast form


UNIFORM = Shape(divergent=False, groups=False, by_wave=False, waves=(2, 4))
IN_FLIGHT = Shape(
    size=16, slots=True, asynchronous=True, divergent=False, groups=False, by_wave=False, waves=(2, 4)
)
BODY = Shape(
    size=6,
    slots=True,
    asynchronous=True,
    blocks=False,
    divergent=False,
    groups=False,
    by_wave=False,
    waves=(4,),
)


def enriched(text: str, rng: random.Random) -> str:
    """A random kernel with engines that read, exchanges, groups and counted barriers as well."""
    others = ["commit load", "global_read", "barrier tensor=1", "wait_count mma=1"]
    lines = []
    for line in text.splitlines():
        if rng.random() < 0.5:
            line = re.sub(r"\bread\b", rng.choice(["async_mma", "tensor_store_from_lds", "exchange"]), line)
        elif rng.random() < 0.3:
            line = re.sub(r"\bwrite .*", rng.choice(others), line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def with_functions(seed: int) -> str:
    """A kernel that calls @f and @g, where @f calls @g."""
    rng = random.Random(seed)
    text, callees = "", list[str]()
    for number, head in enumerate(["func @g {", "func @f {", "kernel @k waves=4 {"]):
        lines = []
        for line in enriched(random_text(3 * seed + number, BODY), rng).splitlines()[1:]:
            if callees and "shared" not in line and "else" not in line and rng.random() < 0.25:
                lines.append(f"call @{rng.choice(callees)} at {rng.choice([0, 32, 64])}")
            lines.append(line)
        text += "\n".join([head, *lines]) + "\n"
        callees.append(head[6])
    return text


@pytest.mark.parametrize("ignore", [None, filter_async_write_dependencies])
@pytest.mark.parametrize("shape", [UNIFORM, IN_FLIGHT])
def test_eager_is_the_same_on_random_kernels(shape: Shape, ignore: Filter | None) -> None:
    """Without functions it is the same barriers at the same positions."""
    for seed in range(300):
        text = random_text(seed, shape)
        if shape is IN_FLIGHT:
            text = enriched(text, random.Random(seed))
        kernel = parse(text)
        program = read_program(kernel, slots=False, ignore=ignore, completion=False)
        chosen = STRATEGIES["eager"].choose(program)
        eager = {
            at: WAIT_AND_BARRIER if sync.drains else BARRIER
            for at, sync in chosen.items()
            if at not in program.existing
        }
        found = {at: need.between for at, need in membar(kernel, ignore).items()}
        assert found == eager, f"seed {seed}\n{text}"


def test_kernels_with_functions_are_covered() -> None:
    """With functions, barriers stand elsewhere than `eager` puts them; they still leave nothing uncovered."""
    for seed in range(200):
        text = with_functions(seed)
        kernel = parse(text)
        program = read_program(kernel, slots=False, completion=False)
        flow = program.flow
        put = {
            at: DRAIN if need.between is WAIT_AND_BARRIER else PLAIN for at, need in membar(kernel).items()
        }
        left = [at for at, *_ in conflicts_left(program, program.existing | put)]
        # In front of a call `eager` is asked about the function as it stands, without the barriers it will get.
        assert not [at for at in left if at.gap < len(flow.blocks[at.block].ops)], f"seed {seed}\n{text}"
        assert with_membar(text).ok, f"seed {seed}\n{text}"


@pytest.mark.parametrize(
    ("text", "membars", "eagers"),
    [
        # One place that calls: in front of the call, or before the access in the function.
        (
            "func @f {\n shared %s : 64 at 0\n shared %t : 64 at 64\n write %s\n write %t\n}\n"
            + CALL.format("shared %t : 64 at 64\nread %t\ncall @f"),
            ["call"],
            ["write"],
        ),
        # Several: a barrier that the function has anyway is enough, for both.
        (
            "func @f {\n shared %s : 64 at 0\n loop %i in 0..8 {\n write %s\n }\n}\n"
            + CALL.format("call @f\ncall @f"),
            ["write"],
            ["write"],
        ),
    ],
)
def test_where_membar_and_eager_differ(text: str, membars: list[str], eagers: list[str]) -> None:
    kernel = parse(text)
    program = read_program(kernel, slots=False, completion=False)
    assert [before(kernel, at) for at in sorted(membar(kernel))] == membars
    assert [before(kernel, at) for at in sorted(STRATEGIES["eager"].choose(program))] == eagers
