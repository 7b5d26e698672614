"""Split barriers that expose least: equal to trying every signal, wait and barrier at every place."""

from __future__ import annotations

import time
from itertools import product

import pytest

import fencepost as fp
from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position
from fencepost.ir import ops
from fencepost.placement.optimal import find_optimum
from fencepost.placement.optimal.costs import Exposure
from fencepost.placement.optimal.split_program import DRIFT
from fencepost.placement.optimal.split_search import find_pairs
from fencepost.targets.table import pace_of
from tests.random_kernels import Shape, random_kernel
from tests.tiers import sweep

TARGET = "gfx1201"
SMALL = Shape(size=6, depth=2, barriers=0.0, divergent=False, waves=(2,), groups=False, atomics=False)
CHOICES = (
    None,
    Sync(),
    Sync(0, False, signal=1),
    Sync(0, False, wait=1),
    Sync(0, False, wait=1, signal=1),
)


def alternates(program: Program, placement: Placement) -> bool:
    """Whether on every path a signal is followed by its wait, and no whole barrier stands between them."""
    flow = program.flow
    seen = {(0, False)}
    todo = [(0, False)]
    while todo:
        number, signalled = todo.pop()
        block = flow.blocks[number]
        for gap in range(len(block.ops) + 1):
            sync = placement.get(Position(block.origin, gap))
            if sync is None:
                continue
            if sync.wait:
                if not signalled:
                    return False
                signalled = False
            if sync.rendezvous and signalled:
                return False
            if sync.signal:
                if signalled:
                    return False
                signalled = True
        if signalled and not block.successors:
            return False
        for target in block.successors:
            if (target, signalled) not in seen:
                seen.add((target, signalled))
                todo.append((target, signalled))
    return True


def exposed(program: Program, placement: Placement, exposure: Exposure) -> float:
    """The latency of all halves: what fences wait for, and what is missing to DRIFT cycles of work between halves."""
    flow = program.flow
    total = 0.0
    for position, sync in placement.items():
        times = flow.frequency(position)
        if sync.signal or sync.rendezvous:
            total += times * exposure.at(position)
        if sync.rendezvous:
            total += times * DRIFT
        if sync.wait:
            total += times * (DRIFT - min(DRIFT, least_work_before(program, placement, exposure, position)))
    return total


def least_work_before(program: Program, placement: Placement, exposure: Exposure, wait: Position) -> float:
    """The least work on any way from a signal to a wait: going backwards, cheapest ways first."""
    flow = program.flow
    todo: list[tuple[float, int, int]] = [
        (0.0, block.index, wait.gap) for block in flow.blocks if block.origin == wait.block
    ]
    best = float(DRIFT)
    seen: dict[int, float] = {}
    while todo:
        todo.sort(reverse=True)
        work, number, gap = todo.pop()
        block = flow.blocks[number]
        if work >= best:
            continue
        found = False
        while gap:
            gap -= 1
            work += sum(exposure.work(block.ops[gap]))
            sync = placement.get(Position(block.origin, gap))
            if sync is not None and sync.signal:
                best, found = min(best, work), True
                break
        if found:
            continue
        for source in block.predecessors:
            more = work
            for loop in exposure.loops_left(source, number):
                inside = {flow.blocks[other].origin for other in exposure.inside[loop.index]}
                if not any(sync.signal and at.block in inside for at, sync in placement.items()):
                    more += exposure.other_rounds(loop)
            if more < seen.get(source, float("inf")):
                seen[source] = more
                todo.append((more, source, len(flow.blocks[source].ops)))
                first = placement.get(Position(flow.blocks[source].origin, len(flow.blocks[source].ops)))
                if first is not None and first.signal:
                    todo.pop()
                    best = min(best, more)
    return best


def least_exposed(program: Program, executions: float, exposure: Exposure) -> float | None:
    places = [
        Position(origin, gap)
        for origin in program.instances_of
        for gap in range(len(program.flow.blocks[origin].ops) + 1)
    ]
    if len(places) > 6:
        return None
    best = None
    for chosen in product(CHOICES, repeat=len(places)):
        placement = {at: sync for at, sync in zip(places, chosen, strict=True) if sync is not None}
        run = sum(
            program.flow.frequency(at) * (sync.rendezvous + (bool(sync.signal) + bool(sync.wait)) / 2)
            for at, sync in placement.items()
        )
        if run > executions * (1 + 1e-9) or not alternates(program, placement):
            continue
        if conflicts_left(program, placement):
            continue
        paid = exposed(program, placement, exposure)
        best = paid if best is None else min(best, paid)
    return best


@pytest.mark.parametrize("chunk", sweep(range(6), first=1))
def test_it_equals_brute_force(chunk: int) -> None:
    compared = 0
    pace = pace_of(TARGET)
    for seed in range(chunk * 75, (chunk + 1) * 75):
        program = read_program(random_kernel(seed, SMALL), completion=False, barrier_ids=[ops.WORKGROUP])
        exposure = Exposure(program.flow, pace.work, pace.fence)
        optimum = find_optimum(program, 10.0, exposure=exposure)
        if not optimum.cost:
            continue
        expected = least_exposed(program, optimum.cost, exposure)
        if expected is None:
            continue
        found = find_pairs(program, optimum.placement, exposure, time.monotonic() + 10)
        assert found is not None, f"seed {seed}"
        assert not conflicts_left(program, found.split), f"seed {seed}"
        assert found.exposed == pytest.approx(expected, abs=0.1), f"seed {seed}"
        compared += 1
    assert compared > 5


SHAPES = {
    "any": Shape(),
    "rings": Shape(slots=True, handing=True),
    "copies": Shape(slots=True, asynchronous=True),
    "functions": Shape(functions=True, scratch=True),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("target", ["gfx1201", "gfx1250"])
def test_pairs_are_clean_and_run_no_more(name: str, target: str) -> None:
    """gfx1250 has barriers with numbers, so that pairs may overlap there."""
    for seed in range(40):
        kernel, whole = random_kernel(seed, SHAPES[name]), random_kernel(seed, SHAPES[name])
        try:
            fp.insert_barriers(kernel, target, "optimal")
        except fp.FencepostError as error:
            assert error.code in ("FP203", "FP205")
            continue
        assert fp.check(kernel, named_barriers=16).ok, f"seed {seed}\n{kernel}"
        fp.insert_barriers(whole, "gfx942", "optimal")
        assert run(kernel) <= run(whole) * (1 + 1e-6), f"seed {seed}"


def run(kernel: fp.CapturedTrace) -> float:
    """How often barriers run, each half counted as half."""
    flow = read_program(kernel).flow
    total = 0.0
    for block in flow.blocks:
        for op in block.ops:
            if isinstance(op, ops.SharedMemoryBarrier) and op.owner is None:
                total += block.frequency
            elif isinstance(op, ops.SharedMemoryBarrierSignal | ops.SharedMemoryBarrierWait):
                total += block.frequency / 2
    return total
