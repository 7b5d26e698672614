"""Verdicts on random CUDA kernels beside what brute force says of them."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.checking import with_deep_stack
from fencepost.hosts.ptx.compiler.nvrtc import Compilation, compile_cuda
from fencepost.hosts.ptx.expressions.local_memory import followed
from fencepost.hosts.ptx.launches.launch import Given, launch_of
from fencepost.hosts.ptx.proof.prove import Prover
from fencepost.hosts.ptx.proof.scattered import with_scattered_stores
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.inline_calls import inlined
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.ir.source import Source
from tests.hosts.ptx.random_cuda.brute_force import Expected, expected
from tests.hosts.ptx.random_cuda.makers import random_kernel
from tests.hosts.ptx.random_cuda.statements import (
    RandomKernel,
)

PARAMETERS = (0, 1, 2, 3, 5, 8, 33)
"""Values of `n` that a proof for every value is tried with."""
BLOCKS = (0, 1, 3)
"""Numbers of blocks, of a kernel that reads its own."""
SECONDS_FOR_A_PROOF = 5.0


@dataclass(frozen=True)
class How:
    """How a kernel is judged."""

    optimized: bool = True
    wrapping: bool = False
    """With arithmetic that wraps around, bits, fields, vectors and lanes."""
    signed: bool = False
    """With indexes that have negative parts as well."""
    runs: bool = True
    """Without runs that look for races, what a proof gets wrong is not hidden by them."""


def judged(kernel: RandomKernel, n: int | None, how: How = How()) -> tuple[KernelVerdict, list[Expected]]:
    """The verdict, and the truth: for `n`, or else for all of `PARAMETERS`."""
    ptx = compile_cuda(Source("random.cu", kernel.text), Compilation(optimized=how.optimized)).ptx
    params = {} if n is None else {"1": n}
    if how.runs:
        (verdict,) = check(ptx, block=(*kernel.block, 1), params=params)
    else:
        verdict = with_deep_stack(lambda: proof_alone(ptx, (*kernel.block, 1), params))
    truths = [
        expected(kernel, each, number)
        for each in (PARAMETERS if n is None else (n,))
        if _is_meant(verdict, each)
        for number in (BLOCKS if kernel.reads_its_number else (0,))
    ]
    if verdict.verdict == "race" and not any(each.wrong for each in truths):
        # It may take other numbers than these: those that the race was seen with.
        for finding in verdict.findings:
            given = {name.rpartition("_")[2]: value for name, value in finding.values.items()}
            truths.append(expected(kernel, given.get("1", n or 0), given.get("ctaid.x", 0)))
    return verdict, truths


def _is_meant(verdict: KernelVerdict, n: int) -> bool:
    """Whether a verdict that may name a condition is about a value of the parameter."""
    least = re.search(r" >= (\d+)", verdict.holds_for)
    power = " is a power of two" not in verdict.holds_for or n & (n - 1) == 0 < n
    return power and (least is None or n >= int(least[1]))


def proof_alone(ptx: str, block: tuple[int, int, int], params: Mapping[str, int]) -> KernelVerdict:
    """What the proof says, without runs; places that threads work out together included."""
    module = parse(ptx)
    (routine,) = module.kernels
    launch = launch_of(routine, Given(block, params))
    routine = followed(module, inlined(module, routine), launch)
    prover = Prover(module, routine, Flow(routine), launch, SECONDS_FOR_A_PROOF)
    proof = with_scattered_stores(prover, prover.prove(), SECONDS_FOR_A_PROOF)
    return KernelVerdict(routine.name, "proven" if proof.complete else "undecided", (), (), "", 0, 0)


def verdict_on(text: str, block: int, *, runs: bool = True) -> str:
    """The verdict on a kernel in CUDA; without runs it is proven or undecided."""
    ptx = compile_cuda(Source("k.cu", text)).ptx
    if not runs:
        return proof_alone(ptx, (block, 1, 1), {}).verdict
    (found,) = check(ptx, block=block)
    return found.verdict


def agreed(text: str, expected: str, block: int, *, runs: bool) -> bool:
    """Whether the verdict is what is expected: where nothing is, by the proof alone unless `runs` are asked for."""
    return verdict_on(text, block, runs=runs or expected != "undecided") == expected


def disagreement(kernel: RandomKernel, n: int | None) -> str | None:
    """What fencepost says that brute force does not bear out; None if they agree."""
    return wrong(*judged(kernel, n))


def wrong(verdict: KernelVerdict, truths: list[Expected]) -> str | None:
    """What is wrong with a verdict."""
    is_wrong = any(each.wrong for each in truths)
    if verdict.verdict == "proven" and is_wrong:
        return "proven, but there is a race or a divergent barrier"
    if verdict.verdict == "race" and not is_wrong:
        return "a race is reported, but there is none"
    return None


def campaign(kernels: int, seed: int, say: Callable[[str], None], how: How = How()) -> int:
    """Judges many kernels; how many of them were wrong."""
    counts: dict[str, int] = defaultdict(int)
    failures = 0
    for number in range(seed, seed + kernels):
        kernel = random_kernel(number, how.wrapping, how.signed)
        n = random.Random(number).choice([None, None, *PARAMETERS])
        verdict, truths = judged(kernel, n, how)
        bad = any(each.wrong for each in truths)
        counts[f"{'racy' if bad else 'right'}, {verdict.verdict}"] += 1
        problem = wrong(verdict, truths)
        if problem is not None:
            failures += 1
            say(f"seed {number}, n = {n}: {problem}\n{kernel.block}\n{kernel.text}")
        if number % 50 == 49:
            say(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    say(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    return failures
