"""The timing estimate: small kernels whose cycles can be counted by hand, and what holds for any kernel."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import fencepost
from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.ir.trace import CapturedTrace
from fencepost.kernels import KERNELS, bundled_kernel
from fencepost.targets import TARGETS, latencies_for
from fencepost.targets.table import PER_SIMD, UNITS, Latencies, Latency
from fencepost.timing import Timing, draw, time_kernel
from fencepost.timing.path import MOST_OPERATIONS
from fencepost.timing.result import FOREVER, MEMORY, OPERAND, UNIT, WAVES
from tests.random_kernels import STRAIGHT, Shape, random_text
from tests.shrink import without
from tests.tiers import sweep

WHY = "made up"
SMALL = Latencies(
    "small",
    1,
    {
        "read": Latency("lds", 4, 10, WHY),
        "write": Latency("lds", 4, 10, WHY),
        "global_read": Latency("vmem", 2, 100, WHY),
        "gather_to_lds": Latency("vmem", 2, 100, WHY),
        "tensor_load_to_lds": Latency("tensor", 50, 60, WHY, queued=True),
        "async_mma": Latency("mma", 20, 20, WHY, queued=True),
        "mma": Latency("mma", 8, 8, WHY),
        "compute": Latency("valu", 8, 8, WHY, stays=True),
    },
)
"""Round numbers, and barriers that take no time of their own."""


def kernel(*body: str, waves: int = 1, above: str = "") -> CapturedTrace:
    lines = ["shared %a : 2 x 1024", "shared %b : 1024", *body]
    return parse(f"{above}kernel @k waves={waves} {{\n" + "\n".join(lines) + "\n}\n")


def timed(*body: str, waves: int = 1, simds: int = 4, iterations: int = 8, above: str = "") -> Timing:
    trace = kernel(*body, waves=waves, above=above)
    return time_kernel(trace, latencies=SMALL, simds=simds, iterations=iterations)


def spans(timing: Timing, *units: str) -> list[tuple[int, int, int]]:
    return [(e.wave, e.start, e.end) for e in timing.events if not units or e.unit in units]


def stalls(timing: Timing, *reasons: str) -> list[tuple[int, int, int]]:
    return [(s.wave, s.start, s.end) for s in timing.stalls if not reasons or s.reason in reasons]


def stood(timing: Timing) -> list[tuple[int, int, int]]:
    """For each barrier or wait: how often it ran, and what it waited for."""
    return [(sync.executed, sync.memory, sync.waves) for sync in timing.syncs]


# ---------------------------------------------------------------- units and operands


def test_two_waves_share_one_unit() -> None:
    timing = timed("read %a", waves=2)
    assert spans(timing) == [(0, 0, 4), (1, 4, 8)]
    assert stalls(timing) == [(1, 0, 4)]
    assert timing.cycles == 14  # the second result is there
    assert timing.utilisation("lds") == 8 / 14


def test_each_simd_has_its_own_matrix_unit() -> None:
    assert spans(timed("mma", waves=2)) == [(0, 0, 8), (1, 0, 8)]
    assert spans(timed("mma", waves=2, simds=1)) == [(0, 0, 8), (1, 8, 16)]
    # Waves are dealt out in turn: 0 and 2 share a SIMD, 1 has its own.
    assert spans(timed("mma", waves=3, simds=2)) == [(0, 0, 8), (1, 0, 8), (2, 8, 16)]


def test_units_work_side_by_side() -> None:
    timing = timed("global_read", "read %a", "mma")
    assert spans(timing) == [(0, 0, 2), (0, 1, 5), (0, 2, 10)]
    assert timing.cycles == 100
    assert [(use.unit, use.count, use.busy) for use in timing.units] == [
        ("mma", 1, 8),
        ("lds", 1, 4),
        ("vmem", 1, 2),
    ]


def test_an_operation_waits_for_its_operands() -> None:
    timing = timed("%x = read %a", "%y = mma %x", "mma %y")
    assert spans(timing, "mma") == [(0, 10, 18), (0, 18, 26)]
    assert stalls(timing, OPERAND) == [(0, 1, 10), (0, 11, 18)]


def test_who_came_first_is_served_first() -> None:
    # Wave 1 wants shared memory at 0, wave 0 only when its arithmetic is done; then wave 0 goes before wave 2.
    timing = timed("if wave == 0 {", "compute", "}", "if wave == 2 {", "compute", "}", "read %a", waves=3)
    assert spans(timing, "lds") == [(1, 0, 4), (0, 8, 12), (2, 12, 16)]


def test_an_engine_has_a_queue_and_the_wave_goes_on() -> None:
    timing = timed("tensor_load_to_lds %a[0]", "tensor_load_to_lds %a[1]", "mma")
    assert spans(timing) == [(0, 0, 50), (0, 2, 10), (0, 50, 100)]
    assert not timing.stalls
    assert timing.cycles == 110


def test_a_value_from_the_iteration_before_and_one_that_the_loop_carries() -> None:
    carried = timed(
        "%r = read %a", "loop %i in 0..2 carry %x = %r {", "mma %x", "%s = read %a", "next %s", "}"
    )
    # The second round uses what the first one read at cycle 11.
    assert spans(carried, "mma") == [(0, 10, 18), (0, 21, 29)]
    earlier = timed("loop %i in 0..2 {", "mma %x", "%x = read %a", "}")
    assert spans(earlier, "mma") == [(0, 0, 8), (0, 11, 19)]


# ---------------------------------------------------------------- counters


def test_a_barrier_waits_for_the_waves_own_accesses_first() -> None:
    timing = timed("write %a", "barrier", waves=2)
    # Writes at 0 and 4, done at 10 and 14. Wave 0 is there at 1, wave 1 at 5.
    assert stalls(timing, MEMORY) == [(0, 1, 10), (1, 5, 14)]
    assert stalls(timing, WAVES) == [(0, 10, 14)]
    assert stood(timing) == [(2, 18, 4)]
    assert timing.syncs[0].mean == 11 and timing.syncs[0].per_wave == 11


def test_a_workgroup_barrier_waits_for_the_other_waves_only() -> None:
    timing = timed("write %a", "workgroup_barrier", waves=2)
    assert stood(timing) == [(2, 0, 4)]
    assert [(p.wave, p.time) for p in timing.passings] == [(0, 5), (1, 5)]


def test_what_a_barrier_takes_in_any_case_is_no_stall() -> None:
    slow = Latencies("slow", 1, dict(SMALL.operations) | {"barrier": Latency("", 0, 7, WHY)})
    timing = time_kernel(kernel("barrier", "read %a", waves=2), latencies=slow)
    assert stood(timing) == [(2, 0, 0)]
    assert spans(timing) == [(0, 7, 11), (1, 11, 15)]


def test_a_wait_count_leaves_the_latest_under_way() -> None:
    copies = ("gather_to_lds %a[0]", "gather_to_lds %a[1]")  # done at 100 and 102
    assert stood(timed(*copies, "wait_count load=0")) == [(1, 99, 0)]
    assert stood(timed(*copies, "wait_count load=1")) == [(1, 97, 0)]
    assert stood(timed(*copies, "wait_count load=2")) == [(1, 0, 0)]
    assert stood(timed(*copies, "wait_count tensor=0")) == [(1, 0, 0)]
    assert stood(timed("%t = gather_to_lds %a", "wait_count after %t")) == [(1, 99, 0)]
    assert stood(timed(*copies, "barrier load=1")) == [(1, 97, 0)]
    assert stood(timed(*copies, "barrier async")) == [(1, 99, 0)]
    assert stood(timed(*copies, "barrier")) == [(1, 0, 0)]


def test_a_counter_is_done_in_order() -> None:
    quick = "gather_to_lds %a[0] counter=tensor"  # done at 101 by itself, behind nothing
    timing = timed("global_read", "tensor_load_to_lds %a[1] counter=load", "wait_count load=0")
    # The tensor engine is done at 61, but the counter falls in order: not before the read at 100.
    assert stood(timing) == [(1, 98, 0)]
    assert stood(timed("tensor_load_to_lds %a[1]", quick, "wait_count tensor=1")) == [(1, 58, 0)]


def test_groups_of_copies_are_waited_for_group_by_group() -> None:
    copies = ("gather_to_lds %a[0]", "gather_to_lds %a[1]", "commit load", "gather_to_lds %b", "commit load")
    # Copies at 0, 2 and 4: done at 100, 102 and 104; the wait is reached at 6.
    assert stood(timed(*copies, "wait_count load=1")) == [(1, 96, 0)]
    assert stood(timed(*copies, "wait_count load=0")) == [(1, 98, 0)]
    open_group = ("commit load", "gather_to_lds %a")
    assert stood(timed(*open_group, "wait_count load=0")) == [(1, 0, 0)]
    assert stood(timed(*open_group, "barrier async")) == [(1, 99, 0)]


def test_a_copy_one_iteration_ahead_hides_its_latency() -> None:
    at_once = timed("loop %i in 0..8 {", "gather_to_lds %a", "wait_count load=0", *["compute"] * 15, "}")
    assert stood(at_once) == [(8, 8 * 99, 0)]
    ahead = timed(
        "gather_to_lds %a",
        "loop %i in 0..8 {",
        "gather_to_lds %a",
        "wait_count load=1",
        *["compute"] * 15,
        "}",
    )
    # Only the first wait comes too early: the first copy is done at 100, and the wait is reached at 3.
    assert stood(ahead) == [(8, 97, 0)]
    assert ahead.cycles < at_once.cycles


# ---------------------------------------------------------------- barriers


LATE = ("if wave == 1 {", "compute", "compute", "compute", "}")  # wave 1 comes 24 cycles late


def test_a_barrier_costs_the_early_wave_what_the_late_one_takes() -> None:
    assert stood(timed(*LATE, "barrier", waves=2)) == [(2, 0, 24)]


@pytest.mark.parametrize(("between", "left"), [(0, 23), (1, 15), (2, 7), (3, 0), (4, 0)])
def test_a_split_barrier_hides_as_much_as_stands_in_between(between: int, left: int) -> None:
    """The signal itself takes a cycle, each computation between signal and wait eight."""
    timing = timed(*LATE, "signal", *["compute"] * between, "wait", waves=2)
    assert stood(timing) == [(2, 0, 0), (2, 0, left)]


def test_a_signal_waits_for_the_waves_own_accesses() -> None:
    timing = timed("write %a", "signal", "wait", waves=1)
    assert stood(timing) == [(1, 9, 0), (1, 0, 0)]


def test_barriers_have_numbers_and_phases() -> None:
    timing = timed("loop %i in 0..3 {", *LATE, "signal 1", "signal 2", "wait 2", "wait 1", "}", waves=2)
    assert not timing.deadlock
    # Wave 0 is at `wait 2` at cycle 2, and wave 1 signals at 25. Wave 1 has yet to issue its waits then, so wave 0
    # begins the next rounds two cycles before it.
    assert stood(timing) == [(6, 0, 0), (6, 0, 0), (6, 0, 23 + 25 + 25), (6, 0, 0)]


def test_the_barrier_inside_an_exchange_counts_for_the_exchange() -> None:
    timing = timed("%x = exchange %a", "mma %x", waves=2)
    (sync,) = timing.syncs
    assert isinstance(sync.op, ops.Exchange)
    assert stood(timing) == [(2, 18, 4)]
    assert spans(timing, "lds") == [(0, 0, 4), (1, 4, 8), (0, 14, 18), (1, 18, 22)]
    assert spans(timing, "mma") == [(0, 24, 32), (1, 28, 36)]


PING_PONG = (
    "{shift}",
    "loop %i in 0..6 {",
    "%x = read %a",
    "%y = compute %x",
    "%z = compute %y",
    "%w = compute %z",
    "workgroup_barrier",
    *["mma %w"] * 4,
    "%v = mma %w",
    "compute %v",
    "workgroup_barrier",
    "}",
    "{back}",
)


def ping_pong(shifted: bool) -> Timing:
    shift = "if wave >= 2 {\nworkgroup_barrier\n}" if shifted else ""
    back = "if wave < 2 {\nworkgroup_barrier\n}" if shifted else ""
    return timed(*(line.format(shift=shift, back=back) if "{s" in line or "{b" in line else line
                   for line in PING_PONG), waves=4, simds=2)  # fmt: skip


def test_a_conditional_barrier_shifts_one_group_by_a_phase() -> None:
    together, apart = ping_pong(False), ping_pong(True)
    assert not together.deadlock and not apart.deadlock
    # Together both waves of a SIMD want the matrix unit at once; apart one computes while the other multiplies.
    assert any(stall.op.mnemonic == "mma" and stall.wave >= 2 for stall in together.stalls)
    groups = {0: set[int](), 1: set[int]()}
    for event in apart.events:
        if event.unit == "mma" and event.wave % 2 == 0:
            groups[event.wave // 2].update(range(event.start, event.end))
    assert not groups[0] & groups[1]
    assert min(groups[0]) < min(groups[1])
    assert apart.cycles < together.cycles
    assert apart.utilisation("mma") > together.utilisation("mma")


# ---------------------------------------------------------------- deadlocks


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (("if wave == 0 {", "barrier", "}"), "wave 0 would wait for ever at `barrier` (line 5)"),
        (("wait",), "waves 0, 1 would wait for ever at `wait` (line 4)"),
        (("signal", "signal", "wait"), "wave 0 signals a second time before it waits, at `signal` (line 5)"),
        (("signal", "barrier"), "wave 0 signals a second time before it waits, at `barrier` (line 5)"),
        (
            ("if wave == 1 {", "signal 3", "}", "wait 3"),
            "waves 0, 1 would wait for ever at `wait 3` (line 7)",
        ),
    ],
)
def test_a_deadlock_ends_the_run(body: tuple[str, ...], says: str) -> None:
    timing = timed(*body, waves=2)
    assert timing.deadlock == says
    assert timing.stuck
    assert timing.as_json()["deadlock"] == says
    assert "deadlock" in str(timing)


def test_standing_for_ever_is_no_stall_of_the_barrier() -> None:
    timing = timed("if wave == 0 {", "barrier", "}", "if wave == 1 {", "compute", "}", waves=2)
    assert stood(timing) == [(0, 0, 0)]
    assert stalls(timing, FOREVER) == [(0, 0, 8)]


# ---------------------------------------------------------------- which way the waves go


@pytest.mark.parametrize(
    ("loop", "rounds", "assumed"),
    [
        ("0..3", 3, []),
        ("0..0", 0, []),
        ("0..5", 4, ["line 4: the loop runs 5 times and is followed 4 times"]),
        ("0..?", 4, ["line 4: the loop is taken to run 4 times"]),
    ],
)
def test_loops_run_so_often(loop: str, rounds: int, assumed: list[str]) -> None:
    timing = timed(f"loop %i in {loop} {{", "mma", "}", iterations=4)
    assert len(timing.events) == rounds
    assert list(timing.assumptions) == assumed


def test_nested_loops_multiply() -> None:
    timing = timed("loop %i in 0..2 {", "loop %j in 0..? {", "mma", "}", "}", iterations=3)
    assert len(timing.events) == 6


def test_conditions_are_decided_where_they_can_be() -> None:
    timing = timed("loop %i in 0..4 {", "if %i % 2 == 0 {", "mma", "} else {", "read %a", "}", "}")
    assert [event.unit for event in timing.events] == ["mma", "lds", "mma", "lds"]
    carried = timed("loop %i in 0..4 carry %n = 1 {", "if %n < 8 {", "mma", "}", "next %n * 2", "}")
    assert len(carried.events) == 3
    assert not timing.assumptions and not carried.assumptions


def test_what_cannot_be_decided_is_taken_to_hold_and_said() -> None:
    timing = timed("if %c {", "mma", "} else {", "read %a", "}", "if wave < ? {", "mma", "}", waves=2)
    assert [(event.wave, event.unit) for event in timing.events] == [(0, "mma"), (1, "mma")] * 2
    assert list(timing.assumptions) == [
        "line 4: `%c` is not known and taken to hold",
        "line 9: `wave < ?` is not known and taken to hold",
    ]


def test_functions_have_names_of_their_own() -> None:
    function = "func @f {\nshared %s : 64\nloop %i in 0..3 {\nif wave == %i {\nread %s\n}\n}\n}\n"
    timing = timed("loop %i in 0..2 {", "if wave < 1 {", "call @f", "}", "}", waves=4, above=function)
    assert [event.wave for event in timing.events] == [0, 0]
    # The caller's condition is asked with the caller's names, also where no wave takes the side.
    timing = timed("loop %i in 0..2 {", "if wave < %i {", "call @f", "}", "}", waves=2, above=function)
    assert [event.wave for event in timing.events] == [0]
    assert not timing.assumptions


BLOCKS = {
    "left at its end": ("br ^head", "^head:", "mma", "cond_br %more, ^head, ^last", "^last:", "return"),
    "left at its head": (
        "br ^head", "^head:", "cond_br %more, ^body, ^last", "^body:", "mma", "br ^head", "^last:", "return",
    ),
    "left where the condition holds": (
        "br ^head", "^head:", "mma", "cond_br %done, ^last, ^head", "^last:", "return",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_loops_between_blocks_run_as_often_as_others(name: str) -> None:
    timing = timed(*BLOCKS[name], iterations=4)
    assert len(timing.events) == 4
    assert list(timing.assumptions) == ["^head: the loop is taken to run 4 times"]


def test_a_loop_whose_first_side_never_leads_out_is_left_all_the_same() -> None:
    body = (
        "br ^h",
        "^h:",
        "cond_br %a0, ^x, ^y",
        "^x:",
        "mma",
        "br ^h",
        "^y:",
        "cond_br %b0, ^h, ^z",
        "^z:",
        "return",
    )
    timing = timed(*body, iterations=4)
    assert timing.complete and 4 <= len(timing.events) <= 5


def test_a_kernel_that_never_ends_is_cut_off_and_says_so() -> None:
    timing = timed("br ^h", "^h:", "read %a", "cond_br 0 < 1, ^h, ^z", "^z:", "barrier", "return", waves=64)
    assert not timing.complete and not timing.deadlock
    assert any("operations only" in text for text in timing.assumptions)


# ---------------------------------------------------------------- targets


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_every_latency(target: str) -> None:
    table = latencies_for(target)
    assert table.target == target and table.issue >= 1 and table.simds >= 1
    assert set(PER_SIMD) < set(UNITS)
    for name, latency in table.operations.items():
        assert latency.source, name
        assert latency.unit in (*UNITS, "") and 0 <= latency.busy <= latency.result, name
        assert (latency.busy > 0) == bool(latency.unit), name
    timed_kinds = [
        op for op in _kinds(ops.Operation)
        if issubclass(op, ops.ValueOperation | ops.CommitGroup) and not issubclass(op, ops.Exchange)
        and op not in (ops.NullAsyncDep, ops.Carried) and op.__module__ == ops.__name__
    ]  # fmt: skip
    assert {op.mnemonic for op in timed_kinds if op.mnemonic} <= set(table.operations)


def _kinds(kind: type[ops.Operation]) -> list[type[ops.Operation]]:
    return [kind, *(found for sub in kind.__subclasses__() for found in _kinds(sub))]


def test_the_default_target_and_an_unknown_one() -> None:
    assert latencies_for("").target == "gfx942"
    with pytest.raises(fencepost.FencepostError, match="unknown target"):
        time_kernel(kernel("barrier"), "gfx1")


def test_senseless_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        timed("barrier", iterations=0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_bundled_kernels(name: str, target: str) -> None:
    trace = bundled_kernel(name)
    bare = time_kernel(trace, target)
    fencepost.add_shared_memory_barriers(trace, target)
    timing = time_kernel(trace, target)
    assert not timing.deadlock and timing.complete
    assert all(sync.executed for sync in timing.syncs)
    assert timing.cycles > bare.cycles


@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
@pytest.mark.parametrize("name", KERNELS)
def test_split_barriers_stall_no_longer_than_whole_ones(name: str, target: str) -> None:
    whole, split = bundled_kernel(name), bundled_kernel(name)
    fencepost.insert_barriers(whole, target, "minimize")
    fencepost.insert_barriers(split, target)
    before, after = time_kernel(whole, target), time_kernel(split, target)
    assert after.stall <= before.stall
    if name.endswith(("prefetch", "modulo")):
        assert after.stall < before.stall and after.cycles < before.cycles


# ---------------------------------------------------------------- results


def test_an_estimate_says_that_it_is_one() -> None:
    timing = timed("write %a", "barrier", waves=2)
    assert "not a measurement" in str(timing)
    assert "not a measurement" in timing.as_json()["estimate"]
    assert "not a measurement" in draw(timing)
    assert "not a measurement" in (Timing.__doc__ or "") and "not a measurement" in (
        time_kernel.__doc__ or ""
    )


def test_numbers_for_programs() -> None:
    found = timed("write %a", "barrier", waves=2).as_json(events=True)
    assert found["cycles"] == 14 and found["stall"] == 22
    assert found["syncs"] == [
        {"text": "barrier", "line": 5, "column": 1, "executed": 2, "memory": 18, "waves": 4, "mean": 11.0}
    ]
    assert found["units"] == [{"unit": "lds", "count": 1, "busy": 8, "utilisation": round(8 / 14, 3)}]
    assert found["events"][1] == {
        "wave": 1, "unit": "lds", "start": 4, "end": 8, "done": 14, "text": "write %a", "line": 4, "column": 1,
    }  # fmt: skip


def test_numbers_for_people() -> None:
    assert str(timed("write %a", "barrier", waves=2)).splitlines() == [
        "@k on small, 2 waves on 2 SIMDs: about 14 cycles (an estimate from rough latencies, not a measurement)",
        "  `barrier` (line 5): 2 times, 11 cycles each (18 in all for memory, 4 for other waves)",
        "  busy: lds 57%",
    ]


def test_the_page_shows_what_comes_out() -> None:
    page = (Path(__file__).parents[2] / "docs" / "timing.md").read_text(encoding="utf-8")
    examples = re.findall(r"```fp\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for text, shown in examples:
        assert f"{time_kernel(parse(text), 'gfx1250')}\n" == shown
    assert f"{MOST_OPERATIONS:,} operations" in page


def test_a_kernel_without_operations_takes_no_time() -> None:
    timing = timed()
    assert timing.cycles == 0 and timing.utilisation("lds") == 0
    ElementTree.fromstring(draw(timing))


# ---------------------------------------------------------------- the picture


def test_the_picture_has_a_lane_for_each_wave_and_a_legend() -> None:
    timing = timed(*LATE, "write %a", "signal", "mma", "wait", "barrier", waves=4)
    root = ElementTree.fromstring(draw(timing, title="a < b & c"))
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(f"{space}text")]
    assert texts[0] == "a < b & c" and root.attrib["aria-label"] == "a < b & c"
    assert [text for text in texts if text and text.startswith("wave ")] == [f"wave {n}" for n in range(4)]
    for entry in (
        "shared memory",
        "matrix arithmetic",
        "waits for other waves",
        "passes a barrier",
        "signals",
    ):
        assert entry in texts
    assert "tensor engine" not in texts
    titles = [title.text for title in root.iter(f"{space}title")]
    assert "wave 0: `write %a` (line 9), shared memory, cycles 0 to 4, complete at 10" in titles
    assert root.find(f"{space}desc") is not None


def test_the_picture_of_a_part_shows_that_part_only() -> None:
    timing = timed(*["compute"] * 10)
    part = draw(timing, start=30, end=50)
    assert "cycles 32 to 40" in part and "cycles 24 to 32" in part
    assert "cycles 0 to 8" not in part and "cycles 56 to 64" not in part


def test_the_picture_of_a_deadlock_says_so() -> None:
    assert "would wait for ever" in draw(timed("if wave == 0 {", "barrier", "}", waves=2))


# ---------------------------------------------------------------- any kernel


SHAPES = {
    "any control flow": Shape(),
    "large": Shape(size=40),
    "copies": Shape(slots=True, asynchronous=True),
    "groups of copies": Shape(asynchronous=True, groups_of_copies=True),
    "everything": Shape(slots=True, asynchronous=True, handing=True, functions=True, scratch=True, size=16),
}


@pytest.mark.parametrize("name", SHAPES)
def test_any_kernel(name: str) -> None:
    for seed in range(150):
        rng = random.Random(seed)
        text = random_text(seed, SHAPES[name])
        trace = parse(text if SHAPES[name].functions else _with_arithmetic(text, rng))
        target, simds = rng.choice(list(TARGETS)), rng.choice([1, 2, 4])
        timing = time_kernel(trace, target, simds=simds, iterations=3)
        assert not timing.deadlock and timing.complete, seed  # they have no barriers under divergence
        _holds_together(timing)
        assert _numbers(timing) == _numbers(time_kernel(trace, target, simds=simds, iterations=3)), seed


def _with_arithmetic(text: str, rng: random.Random) -> str:
    """Something is computed from what is read, there or elsewhere."""
    lines: list[str] = []
    reads = sum(line.strip().startswith("read") for line in text.splitlines())
    read = 0
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("read"):
            lines += [f"%v{read} = {bare}", f"{rng.choice(['mma', 'compute'])} %v{rng.randrange(reads)}"]
            read += 1
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _holds_together(timing: Timing) -> None:
    for use in timing.units:
        assert use.busy <= timing.cycles * use.count
    last: dict[tuple[str, int], int] = {}
    for event in timing.events:
        assert 0 <= event.start <= event.end <= event.done <= timing.cycles
        where = (event.unit, event.wave % timing.simds if event.unit in PER_SIMD else 0)
        assert event.start >= last.get(where, 0), "a unit does one thing at a time"
        last[where] = event.end
    still: dict[int, int] = {}
    for stall in timing.stalls:
        assert stall.start >= still.get(stall.wave, 0) and stall.cycles > 0
        assert stall.reason in (MEMORY, WAVES, OPERAND, UNIT)
        still[stall.wave] = stall.end
    assert timing.stall == sum(s.cycles for s in timing.stalls if s.reason in (MEMORY, WAVES))
    assert timing.stall <= timing.cycles * timing.waves


def _numbers(timing: Timing) -> list[object]:
    return [
        timing.cycles, stalls(timing), [(e.wave, e.unit, e.start, e.end, e.done) for e in timing.events],
        [(p.wave, p.time) for p in timing.passings], stood(timing), timing.assumptions,
    ]  # fmt: skip


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
def test_more_barriers_are_never_faster_on_a_straight_line(chunk: int) -> None:
    """Any number of waves on shared memory alone; with engines, one wave.

    Several waves on several units are left out: who is served first then depends on when each comes, and one of some
    hundred barriers happens to bring them into a better order.
    """
    alone = replace(STRAIGHT, barriers=0.3, asynchronous=True, waves=(1,))
    many = replace(STRAIGHT, barriers=0.3, waves=(1, 2, 4, 8))
    for shape in (alone, many):
        for seed in range(chunk * 25, (chunk + 1) * 25):
            text = random_text(seed, shape)
            trace = parse(text)
            cycles = time_kernel(trace).cycles
            for op in list(trace.preorder_walk()):
                if isinstance(op, ops.SyncOperation):
                    fewer = time_kernel(parse(without(trace, op))).cycles
                    assert fewer <= cycles, f"seed {seed}: {fewer} > {cycles} without line {op.span}\n{text}"


def test_the_package_starts_without_it() -> None:
    code = "import sys, fencepost.cli; print('fencepost.timing' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
