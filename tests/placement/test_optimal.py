"""The placement of least cost: equal to trying everything, never beaten by another strategy, and in time."""

from __future__ import annotations

import sys
import time
from itertools import combinations, product

import pytest

import fencepost as fp
from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import DRAIN, PLAIN, Placement, Sync
from fencepost.flow import Estimates, Position
from fencepost.kernels import KERNELS, bundled_kernel
from fencepost.placement import STRATEGIES, cost
from fencepost.placement.optimal import find_optimum
from fencepost.placement.wait_counts import choose, price
from tests.random_kernels import Shape, random_kernel
from tests.tiers import sweep

SMALL = Shape(size=7, depth=2, barriers=0.1, divergent=False)
COPIES = Shape(size=6, depth=2, barriers=0.1, divergent=False, asynchronous=True, waves=(1, 2), slots=True)
GROUPS = Shape(
    size=6, depth=2, barriers=0.1, divergent=False, asynchronous=True, waves=(1, 2), groups_of_copies=True
)
ANY = Shape(slots=True, handing=True, functions=True)
ANY_COPIES = Shape(slots=True, asynchronous=True)


def least_cost(program: Program) -> float | None:
    """By trying every set of positions; None if there are too many."""
    places = sorted(
        Position(block, gap)
        for block in program.instances_of
        for gap in range(len(program.flow.blocks[block].ops) + 1)
        if Position(block, gap) not in program.existing
    )
    if len(places) > 13:
        return None
    left = len(conflicts_left(program, program.existing | dict.fromkeys(places, PLAIN)))
    paid = [
        cost(program.flow, dict.fromkeys(chosen, PLAIN))
        for size in range(len(places) + 1)
        for chosen in combinations(places, size)
        if len(conflicts_left(program, program.existing | dict.fromkeys(chosen, PLAIN))) == left
    ]
    return min(paid)


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
def test_it_equals_brute_force(chunk: int) -> None:
    compared = 0
    for seed in range(chunk * 30, (chunk + 1) * 30):
        program = read_program(random_kernel(seed, SMALL), completion=False)
        expected = least_cost(program) if len(program.flow.blocks) > 1 else None
        if expected is None:
            continue
        found = find_optimum(program, 10.0)
        assert found.proven, f"seed {seed}: {found}"
        assert found.cost == pytest.approx(expected), f"seed {seed}"
        compared += 1
    assert compared > 10


def least_price(program: Program) -> float | None:
    """With copies: by trying every barrier, wait and barrier that waits everywhere; None if there are too many."""
    places = sorted(
        Position(block, gap)
        for block, phases in program.instances_of.items()
        for gap in {step.gap for phase in phases for step in program.steps[phase]}
        | {len(program.flow.blocks[block].ops)}
    )
    existing = [at for at, sync in program.existing.items() if sync.rendezvous]
    waits = [
        program.waiting(
            {name: count for name, count in zip(program.table.engines, counts, strict=True) if count >= 0}
        )
        for counts in product(range(-1, min(program.levels, 3)), repeat=len(program.table.engines))
    ]
    waits = [*(wait for wait in waits if wait.completes), DRAIN]
    new: list[Sync | None] = [
        None,
        PLAIN,
        *(wait._replace(rendezvous=meets) for wait in waits for meets in (True, False)),
    ]
    upgraded: list[Sync | None] = [None, *waits]
    options = [new] * len(places) + [upgraded] * len(existing)
    if len(new) ** len(places) * len(upgraded) ** len(existing) > 20_000:
        return None
    everywhere = [*places, *existing]
    left = len(conflicts_left(program, program.existing | dict.fromkeys(everywhere, DRAIN)))
    tried: list[tuple[float, int, Placement]] = []
    for chosen in product(*options):
        placement = dict(program.existing)
        for position, sync in zip(everywhere, chosen, strict=True):
            if sync is not None:
                before = placement.get(position)
                placement[position] = sync if before is None else sync.joined(before)
        tried.append((price(program, placement), len(tried), placement))
    least = next(
        paid
        for paid, _, placement in sorted(tried, key=lambda each: each[:2])
        if len(conflicts_left(program, placement)) == left
    )
    return least - price(program, program.existing)


@pytest.mark.parametrize("shape", sweep([COPIES, GROUPS], first=1), ids=["copies", "groups"])
def test_with_copies_it_equals_brute_force(shape: Shape) -> None:
    """Positions and counts together: a barrier here that waits for two, or one there that waits for all."""
    compared = 0
    for seed in range(200):
        program = read_program(random_kernel(seed, shape), completion=False)
        expected = None if program.barrier_ids or not program.table.engines else least_price(program)
        if expected is None:
            continue
        found = find_optimum(program, 10.0)
        assert found.proven, f"seed {seed}: {found}"
        assert found.cost == pytest.approx(expected, abs=1e-5), f"seed {seed}"
        compared += 1
    assert compared > 15


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
def test_no_strategy_costs_less(chunk: int) -> None:
    for seed in range(chunk * 30, (chunk + 1) * 30):
        kernel = random_kernel(seed, ANY)
        program = read_program(kernel, completion=False)
        found = find_optimum(program, 10.0)
        assert found.proven, f"seed {seed}: {found}"
        for name, strategy in STRATEGIES.items():
            other = {at: c for at, c in strategy.choose(program).items() if at not in program.existing}
            assert found.cost <= cost(program.flow, other) * (1 + 1e-6), f"seed {seed}: {name}"


@pytest.mark.parametrize("name", STRATEGIES)
def test_with_copies_no_strategy_costs_less(name: str) -> None:
    """Waits weighed in, as `price` has it."""
    for seed in range(60):
        program = read_program(random_kernel(seed, ANY_COPIES), completion=False)
        found = find_optimum(program, 10.0)
        other = choose(program, STRATEGIES[name], {})
        paid = price(program, other) - price(program, program.existing)
        assert found.cost <= paid * (1 + 1e-6) + 1e-6, f"seed {seed}"


@pytest.mark.parametrize("chunk", sweep(range(4), first=1))
def test_the_result_is_clean(chunk: int) -> None:
    for seed in range(1000 + chunk * 25, 1000 + (chunk + 1) * 25):
        kernel = random_kernel(seed, Shape())
        try:
            fp.insert_barriers(kernel, strategy="optimal")
        except fp.FencepostError as error:
            assert error.code == "FP203"
            continue
        assert fp.check(kernel).ok, f"seed {seed}\n{kernel}"


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("target", ["gfx942", "gfx1201"])
def test_bundled_kernels_are_optimal_by_default(name: str, target: str) -> None:
    """And that is proven without the solver: a bound that other constraints pay is enough."""
    before = set(sys.modules)
    result = fp.insert_barriers(bundled_kernel(name), target)
    assert result.strategy == "optimal" and result.proof.startswith("optimal, proven")
    assert not {module for module in set(sys.modules) - before if module.startswith("scipy")}


def pipeline(
    slots: int, ahead: int, loads: int, *, counters: int = 1, commits: bool = False, late: bool = False
) -> str:
    """Copies into rings, some tiles ahead, and reads of a part of each; `late`: the copies stand behind the reads."""

    def copies(slot: str) -> list[str]:
        lines = [
            f"gather_to_lds %{name}[{slot}][{part * 64}..{part * 64 + 64}]"
            + (" counter=other" if counters == 2 and name == "b" else "")
            for name in "ab"
            for part in range(loads)
        ]
        return [*lines, "commit load"] if commits else lines

    reads = [
        f"read %{name}[%i % {slots}][{part * 64}..{part * 64 + 64}]" for name in "ab" for part in range(loads)
    ]
    body = copies(f"(%i + {ahead}) % {slots}")
    first = [line for slot in range(ahead) for line in copies(str(slot))]
    lines = [
        f"shared %a : {slots} x {loads * 64}",
        f"shared %b : {slots} x {loads * 64}",
        *first,
        "loop %i in 0..? {",
        *(reads + body if late else body + reads),
        "}",
    ]
    return "\n".join(["kernel @pipeline waves=8 {", *lines, "}", ""])


PIPELINES = {
    "2 slots": (pipeline(2, 1, 4), 255.5556),
    "3 slots": (pipeline(3, 2, 4), 155.5556),
    "3 slots, late": (pipeline(3, 2, 4, late=True), 155.5556),
    "4 slots": (pipeline(4, 3, 4), 129.4118),
    "4 slots, 2 ahead": (pipeline(4, 2, 4), 129.4118),
    "two counters": (pipeline(3, 2, 2, counters=2), 266.6667),
    "commit groups": (pipeline(3, 2, 2, commits=True), 350.0),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_of_copies_are_proven_without_the_solver(name: str) -> None:
    """Half a wait and half a meeting are no bound: a barrier that waits has to pay for both."""
    source, least = PIPELINES[name]
    found = find_optimum(read_program(fp.parse(source)), 60.0, solver=False)
    assert found.proven, str(found)
    assert found.cost == pytest.approx(least, abs=1e-3)


def test_a_gemm_with_copies_two_tiles_ahead_is_proven_without_the_solver() -> None:
    found = find_optimum(read_program(bundled_kernel("gemm_async")), 60.0, solver=False)
    assert found.proven and found.cost == pytest.approx(177.4286, abs=1e-3), str(found)


# ---------------------------------------------------------------- when there is no proof

BRANCHES = Shape(size=150, depth=4, barriers=0.02, divergent=False, waves=(4,))


def unproven_without_the_solver() -> Program:
    """A kernel whose optimum the direct search does not find."""
    for seed in range(200):
        program = read_program(random_kernel(seed, BRANCHES), completion=False)
        if not find_optimum(program, 10.0, solver=False).proven:
            return program
    raise AssertionError("every kernel was solved directly")


def test_without_scipy_the_best_known_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    program = unproven_without_the_solver()
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    found = find_optimum(program, 10.0)
    assert not found.proven and "scipy is not installed" in str(found)
    assert found.bound <= found.cost <= cost(program.flow, STRATEGIES["minimize"].choose(program))


def test_out_of_time_the_gap_is_told() -> None:
    found = find_optimum(unproven_without_the_solver(), 0.0)
    assert not found.proven and found.bound < found.cost and "time was up" in str(found)


def test_time_limits_are_kept() -> None:
    """Generously here, because the machine may be busy: `bench/quality.py` measures it."""
    program = unproven_without_the_solver()
    started = time.monotonic()
    find_optimum(program, 0.2)
    assert time.monotonic() - started < 2.0


# ---------------------------------------------------------------- where barriers go

LOOP = """
kernel @loop waves=4 {
  shared %a : 64
  loop %i in 0..8 {
    write %a
    if %c {
      read %a
    }
  }
}
"""


def test_a_barrier_in_the_branch_that_runs_less_often() -> None:
    """The read is on one side only: its barrier stands there, and the write's in front of it."""
    kernel = fp.parse(LOOP)
    done = fp.insert_barriers(kernel, strategy="optimal")
    found = find_optimum(read_program(fp.parse(LOOP)))
    assert found.proven and done.executed == found.cost


RARE = """
kernel @rare waves=4 {{
  shared %a : 64
  shared %b : 64
  write %a
  if %c {expect} {{
    write %b
    read %a
  }} else {{
    compute
  }}
  read %b
}}
"""


@pytest.mark.parametrize("expect", ["expect=0.1", "", "expect=0.9"])
def test_one_barrier_in_the_branch_for_two_windows(expect: str) -> None:
    """Between the write of %b and the read of %a: there it orders both, and runs as often as the branch is taken."""
    kernel = fp.parse(RARE.format(expect=expect))
    result = fp.insert_barriers(kernel, strategy="optimal")
    assert result.proof.startswith("optimal, proven")
    assert result.executed == pytest.approx(float(expect.removeprefix("expect=") or 0.5))
    assert fp.check(kernel).ok


TWICE = """
kernel @twice waves=4 {{
  shared %a : 64
  write %a
  if %c {expect} {{
    read %a
  }}
  if %d {expect} {{
    read %a
  }}
}}
"""


@pytest.mark.parametrize(("expect", "executed"), [("expect=0.1", 0.2), ("expect=0.9", 1.0)])
def test_rare_branches_hold_barriers_of_their_own(expect: str, executed: float) -> None:
    """Two branches that are rarely taken run fewer barriers than one in front of both."""
    result = fp.insert_barriers(fp.parse(TWICE.format(expect=expect)), strategy="optimal")
    assert result.executed == pytest.approx(executed)


def test_a_barrier_that_can_stand_outside_a_loop_does() -> None:
    kernel = fp.parse(
        "kernel @hoist waves=4 {\n  shared %a : 64\n  write %a\n  loop %i in 0..? {\n    read %a\n  }\n}\n"
    )
    result = fp.insert_barriers(kernel, strategy="optimal")
    assert str(kernel).index("barrier") < str(kernel).index("loop")
    assert result.executed == 1


def test_estimates_can_be_set_and_are_told() -> None:
    kernel = fp.parse(LOOP.replace("0..8", "0..?"))
    result = fp.insert_barriers(kernel, strategy="optimal", estimates=Estimates(trip=7, taken=0.5))
    assert {(assumed.what, assumed.number) for assumed in result.assumed} == {("trip", 7), ("taken", 0.5)}
    assert result.executed < 14


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
def test_the_search_stops_near_the_optimum_only_if_a_bound_shows_it(chunk: int) -> None:
    shown = 0
    for seed in range(chunk * 30, (chunk + 1) * 30):
        kernels = [random_kernel(seed, SMALL) for _ in range(2)]
        exact, quick = (
            fp.insert_barriers(trace, near=0.25, exact=exact)
            for trace, exact in zip(kernels, (True, False), strict=True)
        )
        assert quick.executed <= (exact.best or 0.0) * 1.25 + 1e-9
        assert fp.check(kernels[1]).ok
        shown += "the search stops within 25% of the bound" in quick.proof
    assert shown
