"""Kernels whose waves are skewed: what `insert` puts in, what `check` proves, and that the two agree.

One half of the waves is delayed by a conditional barrier in front of a loop and catches up behind it. Between the
halves a pair of accesses needs two barriers (late → early), or none but a fence in time (early → late); within a half
it needs one.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.check import Explored, Report, check
from fencepost.check import _follow as follow
from fencepost.check.loop_context import Context
from fencepost.flow import build_flow
from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.ir.printer import statement
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.explain import explain_barriers
from fencepost.passes.insert import insert_barriers
from fencepost.passes.prune import prune_barriers
from fencepost.placement import STRATEGIES
from tests.shifted_kernels import ShiftedKernel
from tests.tiers import sweep

pytestmark = pytest.mark.usefixtures("parsed_once")

WHOLE = [name for name in STRATEGIES if name != "intersect"]
"""The strategies that do not split barriers."""


def shifted(body: str, waves: int = 8, before: str = "", after: str = "", trip: str = "?") -> str:
    """A loop around which the upper half of the waves is delayed."""
    half = waves // 2
    return f"""kernel @k waves={waves} {{
  shared %a : {waves} x 64
  shared %b : 64
  {before}
  if wave >= {half} {{
    workgroup_barrier
  }}
  loop %i in 0..{trip} {{
    {body}
  }}
  if wave < {half} {{
    workgroup_barrier
  }}
  {after}
}}
"""


def lines(trace: CapturedTrace) -> list[str]:
    """The loop's body as text."""
    (loop,) = (op for op in trace.preorder_walk() if isinstance(op, ops.Iterate))
    return [statement(op) for op in loop.body]


def loop_after(body: str, strategy: str = "auto", waves: int = 8) -> list[str]:
    """What the loop is after `insert`; `check` has to prove the result."""
    trace = parse(shifted("\n".join(body.split("; ")), waves))
    insert_barriers(trace, "gfx950", strategy)
    proven(str(trace))
    return lines(trace)


def proven(text: str) -> Report:
    """`check` finds nothing, and has left nothing out."""
    report = check(parse(text))
    assert report.ok, (text, report.races, report.deadlocks)
    assert report.explored.complete, (text, str(report.explored))
    return report


def body(text: str) -> list[str]:
    return text.split("; ")


# ---------------------------------------------------------------- how many barriers


def test_two_barriers_from_the_late_half_to_the_early_one() -> None:
    """And there is work for both halves between them."""
    expected = "barrier; barrier; %x = read %b; barrier; mma %x; barrier; write %b"
    assert loop_after("%x = read %b; mma %x; write %b") == body(expected)


def test_one_barrier_within_a_half() -> None:
    """Each half has its own slots, so that only waves of one half meet."""
    within = "write %a[wave]; read %a[wave // 4 * 4 + (wave + 1) % 4]"
    expected = "barrier; write %a[wave]; barrier; read %a[wave // 4 * 4 + (wave + 1) % 4]"
    assert loop_after(within) == body(expected)


def test_no_barrier_from_the_early_half_to_the_late_one() -> None:
    """Only the lower half writes what only the upper half reads: the fence of the barrier behind it is enough."""
    text = shifted("if wave < 4 {\nwrite %b\n}\nif wave >= 4 {\nread %b\n}\nbarrier\nbarrier")
    trace = parse(text)
    insert_barriers(trace, "gfx950")
    assert str(trace) == str(parse(text))
    proven(text)


def test_the_fence_has_to_come_in_time() -> None:
    """Without a fence at the early half's next rendezvous, the late half reads too early: there it is put in."""
    text = shifted(
        "if wave < 4 {\nwrite %b\n}\nif wave >= 4 {\nread %b\n}\n"
        "workgroup_barrier\nworkgroup_barrier\nbarrier"
    )
    assert not check(parse(text)).ok
    trace = parse(text)
    result = insert_barriers(trace, "gfx950")
    assert [statement(op) for op in parse(str(trace)).preorder_walk() if isinstance(op, ops.SyncOperation)] == [
        "workgroup_barrier", "barrier", "workgroup_barrier", "barrier", "workgroup_barrier",
    ]  # fmt: skip
    assert not result.barriers and len(result.fenced) == 1
    proven(str(trace))


def test_a_fence_in_front_of_the_barrier_that_ends_the_shift() -> None:
    """The early half's next rendezvous can be the one at which it is delayed itself."""
    exchange = "if wave < 4 {\nwrite %b\n}\nif wave >= 4 {\nread %b\n}\n"
    trace = parse(shifted("barrier", trip="1").replace("  if wave < 4", f"  {exchange}  if wave < 4"))
    insert_barriers(trace, "gfx950")
    assert "wait_count lds=0" in str(trace)
    proven(str(trace))


def test_two_waves_are_a_half_each() -> None:
    """No two waves of one half: what remains is two barriers from late to early, and back."""
    found = loop_after("read %b; write %b", waves=2)
    assert found == body("barrier; barrier; read %b; barrier; barrier; write %b")


def test_the_conditional_barriers_order_what_is_around_the_loop() -> None:
    """Every wave meets one barrier on its way, with its write complete: a fence is all that is missing."""
    trace = parse(shifted("barrier", before="write %b", after="read %b"))
    (fence,) = insert_barriers(trace, "gfx950").barriers
    assert statement(fence.op) == "wait_count lds=0"
    assert fence.op.next is not None and fence.op.next.mnemonic == "if"
    proven(str(trace))


def test_delayed_by_two() -> None:
    """Three barriers from late to early."""
    text = shifted("read %b\nwrite %b").replace(
        "    workgroup_barrier", "    workgroup_barrier\n    workgroup_barrier"
    )
    trace = parse(text)
    insert_barriers(trace, "gfx950")
    assert lines(trace).count("barrier") == 6
    proven(str(trace))


# ---------------------------------------------------------------- the ping-pong loop


TWO_CLUSTERS = """
    %x = read %b
    %g = global_read
    %y = read %b
    workgroup_barrier
    mma %x, %y
    barrier
    write %b, %g
    workgroup_barrier
    mma %x, %y
    barrier"""


@pytest.mark.parametrize("waves", [2, 4, 8, 16])
@pytest.mark.parametrize("trip", ["?", "0", "1", "2", "64"])
def test_two_clusters(waves: int, trip: str) -> None:
    """Both workgroup barriers get a fence; no barrier is added, and none is too many."""
    trace = parse(shifted(TWO_CLUSTERS, waves, before="barrier", trip=trip))
    result = insert_barriers(trace, "gfx950")
    if trip == "0":
        return
    assert not result.barriers
    proven(str(trace))
    if trip == "?":
        assert lines(trace) == body(
            "%x = read %b; %g = global_read; %y = read %b; barrier; mma %x, %y; barrier; write %b, %g; barrier; "
            "mma %x, %y; barrier"
        )


@pytest.mark.parametrize("waves", [2, 4, 8, 16])
def test_every_barrier_and_fence_of_the_ping_pong_loop_is_missed(waves: int) -> None:
    """Leaving out any barrier, conditional ones included, or the fence of any in the loop, is reported."""
    trace = parse(shifted(TWO_CLUSTERS, waves))
    insert_barriers(trace, "gfx950")
    text = str(trace)
    proven(text)
    count = sum(
        isinstance(op, ops.SharedMemoryBarrier | ops.WorkgroupBarrier) for op in trace.preorder_walk()
    )
    assert count == 6
    for number in range(count):
        assert not check(parse(changed(text, number, None))).ok
    weakened = [
        number
        for number in range(1, count - 1)
        if not check(parse(changed(text, number, "workgroup_barrier"))).ok
    ]
    # What follows the writes and reads needs its fence; the other two meet nobody who has anything unfinished.
    assert weakened == [1, 3]


def changed(text: str, number: int, into: str | None) -> str:
    """A kernel with one of its barriers left out or made another."""
    trace = parse(text)
    barriers = [
        op for op in trace.preorder_walk() if isinstance(op, ops.SharedMemoryBarrier | ops.WorkgroupBarrier)
    ]
    op = barriers[number]
    assert op.graph is not None
    if into is not None:
        op.graph.insert_before(op, ops.WorkgroupBarrier())
    op.graph.remove(op)
    return str(trace)


def test_the_raw_barrier_is_reported_with_the_shift() -> None:
    """Local reads, a workgroup barrier, the other half's local writes."""
    report = check(
        parse(
            shifted(TWO_CLUSTERS.replace("write %b, %g\n    workgroup_barrier", "write %b, %g\n    barrier"))
        )
    )
    assert {
        (race.kind, race.hazard, race.first.op.mnemonic, race.second.op.mnemonic) for race in report.races
    } == {("race", "WAR", "read", "write")}
    race = report.races[0]
    late, early = race.first.wave, race.second.wave
    assert late >= 4 > early
    assert race.why == (
        f"wave {late} runs one rendezvous behind wave {early}: it was delayed on line 6, as all waves with "
        f"`wave >= 4` are. The last barrier that wave {early} passes before line 16 is the one on line 15; there it "
        f"meets wave {late} on line 13, where wave {late}'s read on line 10 may still be unfinished: "
        "a workgroup barrier has no fence"
    )
    assert race.fix is not None
    assert (
        race.fix.what
        == "a fence at the workgroup barrier on line 13: `barrier` instead of `workgroup_barrier`"
    )
    assert report.explored.complete


def test_too_few_barriers_are_reported_with_the_shift() -> None:
    (race, *_) = check(parse(shifted("read %b\n    barrier\n    write %b\n    barrier\n    barrier"))).races
    assert "runs one rendezvous behind" in race.why
    assert race.why.endswith(f"before wave {race.first.wave}'s read on line 9")


COPIES = """
    %x = read %a[%i % 3]
    gather_to_lds %a[(%i + 2) % 3]
    workgroup_barrier
    mma %x
    wait_count load=1
    workgroup_barrier"""


@pytest.mark.parametrize("waves", [4, 8, 16])
def test_copies_that_the_late_half_waits_for_too_late(waves: int) -> None:
    """In step this is right. Apart, the early half reads before the late half has waited; `insert` mends it."""
    before = "gather_to_lds %a[0]\n  gather_to_lds %a[1]\n  wait_count load=0\n  barrier"
    text = shifted(COPIES, waves, before)
    report = check(parse(text))
    assert any(race.first.by_engine and "rendezvous behind" in race.why for race in report.races)
    trace = parse(text)
    insert_barriers(trace, "gfx950")
    proven(str(trace))


# ---------------------------------------------------------------- prune, explain, refusals


def test_prune_takes_out_what_the_shift_does_not_need() -> None:
    """Three barriers between the halves' accesses where two are enough."""
    trace = parse(shifted("%x = read %b\nbarrier\nmma %x\nbarrier\nbarrier\nwrite %b\nbarrier\nbarrier"))
    pruned = prune_barriers(trace, "gfx950")
    assert [op.mnemonic for op in pruned.removed] == ["barrier"]
    proven(str(trace))
    assert len(prune_barriers(parse(str(trace))).removed) == 0


def test_explain_says_who_is_delayed() -> None:
    trace = parse(shifted("%x = read %b\nbarrier\nmma %x\nbarrier\nwrite %b\nbarrier\ncompute\nbarrier"))
    explained = explain_barriers(trace)
    assert (
        explained.barriers[0].note
        == "waves 4 to 7 alone: from here on waves 4 to 7 run one rendezvous behind"
    )
    assert explained.barriers[-1].note == "waves 0 to 3 alone: all waves are in step again"
    assert all(entry.hazards and not entry.redundant for entry in explained.barriers[1:-1])
    assert not explained.uncovered


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("if wave < 2 {\n barrier\n}", "FP208"),
        ("if %c {\n if wave < 2 {\n barrier\n }\n}", "FP201"),
        ("loop %i in 0..? {\n if wave < 2 {\n barrier\n }\n}", "FP201"),
        ("if wave < 2 {\n barrier\n read %b\n} else {\n barrier\n write %b\n}", "FP201"),
        ("if wave < ? {\n barrier\n}", "FP201"),
        ("signal\nwait\nif wave < 2 {\n barrier\n} else {\n barrier\n}", "FP201"),
    ],
)
def test_what_is_refused(text: str, code: str) -> None:
    """Waves that are left apart, or how far apart depends on the way; and what is not followed yet."""
    with pytest.raises(FencepostError) as caught:
        insert_barriers(parse(f"kernel @k waves=4 {{\nshared %b : 64\n{text}\n}}\n"))
    assert caught.value.code == code
    assert caught.value.marks and caught.value.marks[0].span is not None


def test_split_barriers_are_refused() -> None:
    with pytest.raises(FencepostError, match="cannot be split"):
        insert_barriers(parse(shifted("read %b\nwrite %b")), "gfx1201", "intersect")


@pytest.mark.parametrize("target", ["gfx942", "gfx1201", "gfx1250", "sm_90"])
def test_targets_that_prefer_split_barriers_get_whole_ones(target: str) -> None:
    trace = parse(shifted("%x = read %b\nmma %x\nwrite %b"))
    insert_barriers(trace, target)
    assert lines(trace).count("barrier") == 4
    proven(str(trace))


# ---------------------------------------------------------------- what check proves


def test_a_race_beyond_the_simulated_iterations_is_found() -> None:
    """It takes 19 iterations to get there; the simulation ends earlier."""
    loop = "loop %i in 0..? carry %n = 0 {"
    body = "if %n == 17 {\nwrite %b\n}\nif %n == 18 {\nread %b\n}\nbarrier\nnext (%n + 1) % 20"
    text = shifted(body).replace("loop %i in 0..? {", loop)
    assert check(parse(text), method="simulate").ok
    report = check(parse(text))
    assert report.explored.complete
    (race,) = report.races
    assert race.why == (
        f"wave {race.first.wave} runs one rendezvous behind wave {race.second.wave}: 2 barriers have to lie between "
        "the two, with the first access complete before them"
    )


def test_split_barriers_apart_are_simulated_and_that_is_said() -> None:
    report = check(parse(shifted("signal\nwait")))
    assert not report.explored.complete
    assert "split barriers of skewed waves are only simulated" in str(report.explored)


def test_waves_that_drift_apart_for_ever_are_a_deadlock() -> None:
    report = check(parse("kernel @k waves=4 {\nloop %i in 0..? {\n if wave < 2 {\n barrier\n }\n}\n}\n"))
    assert report.deadlocks


# ---------------------------------------------------------------- campaigns


KINDS = [(False, False), (True, False), (False, True), (True, True)]


def random_shifted(
    seed: int, copies: bool, by_wave: bool, barriers: tuple[float, ...] = (0.3, 0.5, 0.7)
) -> str:
    source = random.Random(seed)
    return ShiftedKernel(source, copies, by_wave, source.choice(barriers)).text()


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
@pytest.mark.parametrize(("copies", "by_wave"), KINDS)
def test_the_proof_agrees_with_the_simulation(chunk: int, copies: bool, by_wave: bool) -> None:
    """Following accesses over states finds a race exactly where running waves along paths does."""
    for seed in range(15 * chunk, 15 * (chunk + 1)):
        text = random_shifted(seed, copies, by_wave)
        trace = parse(text)
        simulated = check(trace, method="simulate")
        followed = follow(Context.of(build_flow(trace)), Explored("simulate"), 500_000)
        assert followed.explored.complete, text
        assert bool(simulated.races) == bool(followed.races), text


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
@pytest.mark.parametrize(("copies", "by_wave"), KINDS)
def test_the_analysis_agrees_with_check(chunk: int, copies: bool, by_wave: bool) -> None:
    """Nothing is missing exactly if `check` finds nothing. Copies by wave may be asked to be waited for too early."""
    for seed in range(15 * chunk, 15 * (chunk + 1)):
        text = random_shifted(seed, copies, by_wave)
        trace = parse(text)
        program = read_program(trace)
        missing, clean = bool(conflicts_left(program, program.existing)), check(trace).ok
        assert missing or clean, text
        if not (copies and by_wave):
            assert missing != clean, text


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
@pytest.mark.parametrize(("copies", "by_wave"), KINDS)
def test_insertion_is_clean_and_nothing_is_idle(chunk: int, copies: bool, by_wave: bool) -> None:
    """Whatever the strategy, `check` proves the result. Without copies, all that `auto` puts in is needed."""
    for seed in range(4 * chunk, 4 * (chunk + 1)):
        text = random_shifted(seed, copies, by_wave, (0.1, 0.3, 0.5))
        for strategy in ["auto", *WHOLE]:
            trace = parse(text)
            result = insert_barriers(trace, "gfx950", strategy)
            proven(str(trace))
            if strategy != "auto" or copies:
                continue
            places = list(trace.preorder_walk())
            for barrier in (*result.barriers, *result.fenced):
                fewer = parse(str(trace))
                op = list(fewer.preorder_walk())[places.index(barrier.op)]
                assert op.graph is not None
                if barrier in result.fenced:
                    op.graph.insert_before(op, ops.WorkgroupBarrier())
                op.graph.remove(op)
                assert not check(fewer).ok, (str(trace), str(fewer))


def test_no_placement_of_tiny_kernels_runs_less_often() -> None:
    """Every way of putting up to two barriers into each gap of a loop, judged by `check`."""
    source = random.Random(7)
    accesses = ["read %b", "write %b", "atomic %b", "write %a", "read %a", "workgroup_barrier", "barrier"]
    for _ in range(25):
        statements = [source.choice(accesses) for _ in range(source.randint(2, 3))]
        trace = parse(shifted("\n".join(statements), 4))
        result = insert_barriers(trace, "gfx950", "optimal")
        proven(str(trace))
        assert result.proof.startswith("optimal, proven")
        paid = len(result.barriers) + 0.1 * len(result.fenced)
        raw = [number for number, line in enumerate(statements) if line == "workgroup_barrier"]
        for heights in product(range(3), repeat=len(statements) + 1):
            for fences in product([False, True], repeat=len(raw)):
                if sum(heights) + 0.1 * sum(fences) >= paid - 1e-6:
                    continue
                made: list[str] = []
                for number, line in enumerate([*statements, ""]):
                    made += ["barrier"] * heights[number]
                    made.append("barrier" if number in raw and fences[raw.index(number)] else line)
                assert not check(parse(shifted("\n".join(made), 4))).ok, (statements, made, str(trace))
