"""A campaign of random kernels, with a progress bar; a kernel that fails is shrunk and written to out/.

python -m tests.fuzz --kernels 100000 [--seed 0] [--jobs 2]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.campaign import EXACT, EXHAUSTIVE, SOUND, WAITS, Property
from tests.random_kernels import Shape, random_text, shrink

PLANS: tuple[tuple[str, float, Shape, tuple[Property, ...]], ...] = (
    ("any control flow", 0.3, Shape(), EXACT),
    ("large", 0.05, Shape(size=40), EXACT),
    ("rings, carried", 0.2, Shape(slots=True, handing=True), EXACT),
    ("functions, scratch", 0.1, Shape(functions=True, scratch=True), EXACT),
    ("waits", 0.1, Shape(slots=True, asynchronous=True, waits=False, divergent=False), WAITS),
    ("copies in flight", 0.1, Shape(slots=True, asynchronous=True), SOUND),
    (
        "everything", 0.05,
        Shape(slots=True, asynchronous=True, handing=True, functions=True, scratch=True, size=16), SOUND,
    ),
    ("two checkers", 0.1, Shape(size=9, depth=2, barriers=0.3), EXHAUSTIVE),
)  # fmt: skip
"""What is tried, on which part of the kernels, and what has to hold."""
BATCH = 50


def run_batch(plan: int, seeds: range) -> list[tuple[int, int, str, str]]:
    """The failures among some seeds: plan, seed, property, problem."""
    _, _, shape, properties = PLANS[plan]
    failures = []
    for seed in seeds:
        text = random_text(seed, shape)
        for holds in properties:
            try:
                problem = holds(text)
            except Exception as error:  # a crash is a failure like any other: it is shrunk and kept
                problem = f"{type(error).__name__}: {error}"
            if problem is not None:
                failures.append((plan, seed, holds.__name__, problem))
    return failures


def main() -> int:
    """Run the campaign; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="random kernels through insert, prune and check")
    parser.add_argument("--kernels", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=10_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    batches = []
    for plan, (_, share, _, _) in enumerate(PLANS):
        first = options.seed + plan * 100_000_000
        last = first + max(1, int(options.kernels * share))
        batches += [(plan, range(start, min(start + BATCH, last))) for start in range(first, last, BATCH)]
    start = time.perf_counter()
    failures = _run(batches, options.jobs)
    tried = Counter[str]()
    for plan, seeds in batches:
        tried[PLANS[plan][0]] += len(seeds)
    for name, count in tried.items():
        print(f"{name:<20}{count:>9} kernels")
    print(f"{'total':<20}{sum(tried.values()):>9} kernels in {time.perf_counter() - start:.0f} s")
    for plan, seed, name, problem in failures[:10]:
        path = _keep(plan, seed, name, problem)
        print(f"FAILED {name}: seed {seed}: {problem}\n  shrunk to {path}")
    print(f"{len(failures)} failed" if failures else "all held")
    return 1 if failures else 0


def _run(batches: list[tuple[int, range]], jobs: int) -> list[tuple[int, int, str, str]]:
    from rich.progress import track

    failures = []
    with ProcessPoolExecutor(jobs) as pool:
        running = pool.map(run_batch, *zip(*batches, strict=True))
        for found in track(running, "kernels", total=len(batches)):
            failures += found
    return failures


def _keep(plan: int, seed: int, name: str, problem: str) -> Path:
    """Shrink a failing kernel and write it down with what was wrong."""
    _, _, shape, properties = PLANS[plan]
    holds = next(prop for prop in properties if prop.__name__ == name)
    small = shrink(random_text(seed, shape), lambda text: holds(text) is not None)
    out = Path("out")
    out.mkdir(exist_ok=True)
    path = out / f"{name}_{seed}.fp"
    path.write_text(f"# {name}: {problem.splitlines()[0][:100]}\n{small}", encoding="utf-8")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
