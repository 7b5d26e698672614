"""How far each strategy is from the optimum: on random kernels, the bundled ones, and large ones.

    python bench/quality.py [--kernels 2000] [--target gfx942] [--seed 0] [--svg FILE] [--json FILE]

The cost of a result is what `optimal` makes least: how often the barriers run that were put in (a signal or a wait of
a split barrier is half of one), and what waiting for copies costs in barriers (`placement.strategy.wait_price`).
Stalls are estimates from rough latencies (`fencepost.timing`), not measurements. Times of random and bundled kernels
are CPU time of insertion, without parsing; those of large kernels are wall-clock time, because limits are. scipy is
imported before, since its first import takes up to a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import Any
from unittest.mock import patch

import scipy.optimize  # noqa: F401
from quality_plot import SAME, STRATEGIES, Case, Large, Outcome, draw, tell_bundled, tell_large, tell_random
from scale import SHAPES, Writer

import fencepost as fp
from fencepost.analysis.build_program import read_program
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement
from fencepost.gc_pause import collection_paused
from fencepost.ir import ops
from fencepost.kernels import KERNELS, bundled_kernel
from fencepost.placement import AUTO, Optimal
from fencepost.placement.driver import decide
from fencepost.placement.options import PlacementOptions
from fencepost.placement.strategy import Decision
from fencepost.placement.wait_counts import price
from fencepost.targets import target_named
from fencepost.timing import time_kernel

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.random_kernels import Shape, random_kernel

FAMILIES = {
    "plain": Shape(),
    "rings": Shape(slots=True, handing=True),
    "functions": Shape(functions=True, scratch=True),
    "copies": Shape(slots=True, asynchronous=True),
    "groups": Shape(slots=True, asynchronous=True, groups_of_copies=True),
}
SIZES = (12, 40)
LIMITS = (0.5, 1.0, 2.0, 4.0)
LATE = 1.2
"""A time limit that is exceeded by more than this is told."""


@dataclass
class Decided:
    """What was decided last, and how long that took: `decide`, listened to."""

    program: Program
    placement: Placement
    proof: str
    seconds: float

    def executed(self) -> float:
        """How often the barriers run that are not in the kernel; half of a split one is a half."""
        flow, existing = self.program.flow, self.program.existing
        return sum(
            flow.frequency(at) * (sync.rendezvous + (bool(sync.signal) + bool(sync.wait)) / 2)
            for at, sync in self.placement.items()
            if at not in existing or (sync.rendezvous and not existing[at].rendezvous)
        )

    def cost(self) -> float:
        """The same, and what waits cost."""
        meetings = sum(
            self.program.flow.frequency(at) * sync.rendezvous for at, sync in self.placement.items()
        )
        waits = price(self.program, self.placement) - meetings
        return self.executed() + waits


def insert(trace: fp.CapturedTrace, target: str, strategy: str) -> Decided:
    """Insert barriers, and say what was decided on the way."""
    heard: list[Decided] = []

    def listening(program: Program, *others: Any, **options: Any) -> Decision:
        started = time.perf_counter()
        found = decide(program, *others, **options)
        seconds = time.perf_counter() - started
        placement = found.placement if found.split is None else found.split
        heard.append(Decided(program, placement, found.proof, seconds))
        return found

    with patch("fencepost.passes.insert.decide", listening):
        fp.insert_barriers(trace, target, strategy)
    return heard[0]


def measure(name: str, make: Callable[[], fp.CapturedTrace], target: str) -> Case | None:
    """Every strategy on one kernel; None if it has accesses that no barrier can order."""
    case = Case(name, any(isinstance(op, ops.AsyncOperation) for op in make().preorder_walk()))
    refused = []
    for strategy in STRATEGIES:
        trace = make()
        started = time.process_time()
        try:
            made = insert(trace, target, strategy)
        except fp.FencepostError as error:
            refused.append(f"{strategy}: refused with {error.code}")
            continue
        except Exception as error:
            case.troubles.append(f"{strategy}: {type(error).__name__}: {error}")
            continue
        seconds = time.process_time() - started
        timing = time_kernel(trace, target)
        stall = None if timing.deadlock or not timing.complete else timing.stall_per_wave
        case.outcomes[strategy] = Outcome(made.cost(), made.executed(), stall, seconds * 1e3, made.proof)
        limit = {"optimal": Optimal().seconds, "auto": AUTO.seconds}.get(strategy, inf)
        if made.seconds > limit * LATE:
            late = f"took {made.seconds:.2f} s, {seconds:.2f} s of them on a core; the limit is {limit} s"
            case.troubles.append(f"{strategy}: {late}")
        if strategy == "optimal" and not fp.check(trace, named_barriers=16).ok:
            case.troubles.append("optimal: not clean")
    if len(refused) == len(STRATEGIES):
        return None
    case.troubles += refused
    for strategy, outcome in case.outcomes.items():
        best = case.outcomes.get("optimal", outcome)
        if outcome.cost * SAME < best.cost:
            case.troubles.append(f"{strategy} costs {outcome.cost:.6g}, optimal {best.cost:.6g}")
    return case


def random_cases(kernels: int, seed: int, target: str) -> Iterator[Case | None]:
    """The same number of each family and size; no seed twice, because families make much the same of one seed."""
    shapes = [
        (f"{name} {size}", replace(shape, size=size)) for name, shape in FAMILIES.items() for size in SIZES
    ]
    for number in range(kernels):
        name, shape = shapes[number % len(shapes)]
        which = seed + number
        yield measure(f"{name}, seed {which}", lambda: random_kernel(which, shape), target)  # noqa: B023


def measure_large(shape: str, size: int, limit: float, target: str) -> Large:
    """Analysis and decision apart: the limit is for the decision."""
    writer, config = Writer(size), target_named(target)
    getattr(writer, shape)()
    splits = config.prefers_split and config.split_barriers
    with collection_paused():
        started = time.perf_counter()
        program = read_program(writer.kernel.trace, barrier_ids=[ops.WORKGROUP] if splits else [])
        read, core = time.perf_counter(), time.process_time()
        found = decide(
            program,
            lambda: None,
            config,
            PlacementOptions(strategy="optimal", seconds=limit),
            splits=splits,
        )
        decided, core = time.perf_counter(), time.process_time() - core
        other = decide(program, lambda: None, config, PlacementOptions(strategy="minimize"))
    costs = [price(program, each.placement) for each in (found, other)]
    return Large(shape, size, limit, costs[0], costs[1], found.proof, read - started, decided - read, core)


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kernels", type=int, default=2000, help="how many random kernels")
    parser.add_argument("--target", default="gfx942", help="gfx1201 has split barriers")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--svg", type=Path, help="where to draw how the costs are distributed")
    parser.add_argument("--json", type=Path, help="where to write all numbers")
    options = parser.parse_args()
    target = options.target
    found = list(random_cases(options.kernels, options.seed, target))
    cases = [case for case in found if case is not None]
    groups = {
        "Without copies": [case for case in cases if not case.copies],
        "With copies": [case for case in cases if case.copies],
    }
    print(
        f"{len(found)} random kernels on {target}, {len(found) - len(cases)} of them refused (no barrier helps)\n"
    )
    for title, group in groups.items():
        tell_random(title, group)
    bundled = [measure(name, lambda: bundled_kernel(name), target) for name in KERNELS]  # noqa: B023
    whole = [case for case in bundled if case is not None]
    tell_bundled(whole)
    runs = [(shape, size, 2.0) for shape in SHAPES for size in (1_000, 10_000)]
    runs += [(shape, 10_000, limit) for shape in SHAPES for limit in LIMITS if limit != 2.0]
    large = [measure_large(*run, target) for run in runs]
    tell_large(large)
    troubles = [f"{case.name}: {trouble}" for case in [*cases, *whole] for trouble in case.troubles]
    print("\n".join(["Troubles:", *troubles]) if troubles else "No troubles.")
    if options.json:
        every = {"target": target, "cases": cases, "bundled": whole, "large": large}
        options.json.write_text(json.dumps(every, default=asdict, indent=1), encoding="utf-8")
    if options.svg:
        options.svg.write_text(draw(groups, target), encoding="utf-8")


if __name__ == "__main__":
    main()
