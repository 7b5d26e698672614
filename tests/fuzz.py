"""A campaign of random kernels, with a progress bar; a kernel that fails is shrunk and written to out/.

python -m tests.fuzz --kernels 100000 [--seed 0] [--jobs 2] [--everything] [--only NAME ...]

That nothing is missing is asked of every kernel; of whatever else has to hold, one thing of each, in turn, and of the
strategies one, so that a campaign can be large. `--everything` asks everything of every kernel.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path

from fencepost.ir import parser
from tests.campaign import (
    AGREEING,
    ENDS,
    ENDS_OF_COPIES,
    EXACT,
    EXHAUSTIVE,
    MBARRIERS,
    SKEW,
    SKEW_EXACT,
    SOUND,
    WAITS,
    Property,
    asked,
)
from tests.random_kernels import Shape, random_text
from tests.random_mbarriers import random_kernel as random_mbarriers
from tests.shifted_kernels import ShiftedKernel
from tests.shrink import shrink


def skewed(seed: int, copies: bool, by_wave: bool) -> str:
    """A kernel with one half of its waves a barrier behind."""
    source = random.Random(seed)
    return ShiftedKernel(source, copies, by_wave, source.choice([0.1, 0.3, 0.5, 0.7])).text()


def mbarriers(seed: int) -> str:
    """A tiny kernel with mbarriers, its loops of zero to three trips."""
    return random_mbarriers(seed, rounds=seed % 4)


def of(**shape: object) -> Callable[[int], str]:
    """Kernels of a shape."""
    return partial(random_text, shape=Shape(**shape))  # type: ignore[arg-type]


PLANS: tuple[tuple[str, float, Callable[[int], str], tuple[Property, ...]], ...] = (
    ("any control flow", 0.25, of(), EXACT),
    ("large", 0.03, of(size=40), EXACT),
    ("rings, carried", 0.15, of(slots=True, handing=True), EXACT),
    ("functions, scratch", 0.08, of(functions=True, scratch=True), EXACT),
    ("block arguments", 0.05, of(arguments=True, slots=True, size=16, waves=(2, 4)), EXACT),
    ("waits", 0.06, of(slots=True, asynchronous=True, waits=False, divergent=False), WAITS),
    ("copies in flight", 0.06, of(slots=True, asynchronous=True), SOUND),
    (
        "everything", 0.03,
        of(slots=True, asynchronous=True, handing=True, functions=True, scratch=True, size=16), SOUND,
    ),
    ("two checkers", 0.1, of(size=9, depth=2, barriers=0.3), EXHAUSTIVE),
    ("skewed", 0.04, partial(skewed, copies=False, by_wave=False), SKEW_EXACT),
    ("skewed, by wave", 0.02, partial(skewed, copies=False, by_wave=True), SKEW_EXACT),
    ("skewed, copies", 0.02, partial(skewed, copies=True, by_wave=False), SKEW_EXACT),
    ("skewed, both", 0.01, partial(skewed, copies=True, by_wave=True), SKEW),
    ("mbarriers", 0.1, mbarriers, MBARRIERS),
    ("uses of reads", 0.04, of(uses=True, divergent=False, handing=True), AGREEING),
    ("parameters", 0.04, of(parameters=True, slots=True), EXACT),
    ("ends of loops", 0.04, of(parameters=True, ends=True, slots=True, divergent=False), ENDS),
    (
        "ends of loops, copies", 0.04,
        of(parameters=True, ends=True, slots=True, asynchronous=True, groups_of_copies=True), ENDS_OF_COPIES,
    ),
    ("unknown slots", 0.02, of(unknown=True, slots=True, handing=True), EXACT),
    ("several places", 0.05, of(several=True, slots=True), EXACT),
    ("several places, copies", 0.03, of(several=True, slots=True, asynchronous=True), SOUND),
    (
        "copies of one wave", 0.04,
        of(uses=True, slots=True, asynchronous=True, parameters=True, unknown=True), SOUND,
    ),
    ("named alike", 0.04, of(named_alike=True, functions=True, slots=True, handing=True), EXACT),
    (
        "named alike, copies", 0.03,
        of(named_alike=True, functions=True, slots=True, asynchronous=True, parameters=True), SOUND,
    ),
    ("arithmetic", 0.05, of(arithmetic=True, slots=True, functions=True, named_alike=True), SOUND),
    (
        "arithmetic, copies", 0.03,
        of(arithmetic=True, differing=True, slots=True, asynchronous=True, functions=True), SOUND,
    ),
)  # fmt: skip
"""What is tried, on which part of the kernels, and what has to hold."""
BATCH = 50


def remember_syntax() -> None:
    """Let kernels that are parsed again keep their statements: two thirds of a campaign's time would be parsing."""
    parse_statements = vars(parser)["read_statements"]
    if not hasattr(parse_statements, "cache_info"):
        vars(parser)["read_statements"] = lru_cache(64)(parse_statements)


def due(properties: tuple[Property, ...], seed: int, every: bool) -> tuple[Property, ...]:
    """What is asked of a kernel. The first property is that nothing is missing; the others have their turns."""
    first, *others = properties
    if every or not others:
        return properties
    # Strategies have their turns by the seed, too: all of them should meet all properties.
    return first, others[seed // 7 % len(others)]


def run_batch(plan: int, seeds: range, every: bool) -> list[tuple[int, int, str, str]]:
    """The failures among some seeds: plan, seed, property, problem."""
    remember_syntax()
    _, _, make, properties = PLANS[plan]
    failures = []
    for seed in seeds:
        text = make(seed)
        for holds in due(properties, seed, every):
            try:
                problem = asked(holds, seed, every)(text)
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
    parser.add_argument("--everything", action="store_true", help="ask everything of every kernel")
    names = [name for name, *_ in PLANS]
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="NAME", help="; ".join(names)
    )
    options = parser.parse_args()
    batches = []
    for plan, (name, share, _, _) in enumerate(PLANS):
        if name not in options.only:
            continue
        first = options.seed + plan * 100_000_000
        last = first + max(1, int(options.kernels * share))
        batches += [(plan, range(start, min(start + BATCH, last))) for start in range(first, last, BATCH)]
    start = time.perf_counter()
    failures = _run(batches, options.jobs, options.everything)
    tried = Counter[str]()
    for plan, seeds in batches:
        tried[PLANS[plan][0]] += len(seeds)
    for name, count in tried.items():
        print(f"{name:<20}{count:>9} kernels")
    print(f"{'total':<20}{sum(tried.values()):>9} kernels in {time.perf_counter() - start:.0f} s")
    for plan, seed, name, problem in failures[:10]:
        path = _keep(plan, seed, name, problem, options.everything)
        print(f"FAILED {name}: seed {seed}: {problem}\n  shrunk to {path}")
    print(f"{len(failures)} failed" if failures else "all held")
    return 1 if failures else 0


def _run(batches: list[tuple[int, range]], jobs: int, every: bool) -> list[tuple[int, int, str, str]]:
    from rich.progress import track

    failures = []
    with ProcessPoolExecutor(jobs) as pool:
        running = pool.map(partial(run_batch, every=every), *zip(*batches, strict=True))
        for found in track(running, "kernels", total=len(batches)):
            for _, seed, name, problem in found:
                print(f"failed {name}: seed {seed}: {problem.splitlines()[0]}", flush=True)
            failures += found
    return failures


def _keep(plan: int, seed: int, name: str, problem: str, every: bool) -> Path:
    """Shrink a failing kernel and write it down with what was wrong."""
    _, _, make, properties = PLANS[plan]
    holds = asked(next(prop for prop in properties if prop.__name__ == name), seed, every)
    small = shrink(make(seed), lambda text: holds(text) is not None)
    out = Path("out")
    out.mkdir(exist_ok=True)
    path = out / f"{name}_{seed}.fp"
    path.write_text(f"# {name}: {problem.splitlines()[0][:100]}\n{small}", encoding="utf-8")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
