"""Whole barriers against split ones, on the bundled kernels: how long waves stand at them.

    python bench/stalls.py [--targets gfx1201 gfx1250] [--iterations 8]

These are estimates from rough latencies (`fencepost.timing`), not measurements: they say which of two placements
stalls less, not by how many cycles a GPU would be faster. Whole are the barriers of the `minimize` strategy, split
those of `auto`. Stalls are cycles per wave in the whole run: at barriers, signals and waits, for other waves and for
the wave's own accesses to memory.
"""

from __future__ import annotations

import argparse

from fencepost.ir import ops
from fencepost.kernels import KERNELS, bundled_kernel
from fencepost.passes.insert import insert_barriers
from fencepost.timing import Timing, time_kernel
from fencepost.timing.run import ITERATIONS

TARGETS = ("gfx1201", "gfx1250")
FORMS = {"whole": "minimize", "split": "auto"}


KINDS = (ops.SharedMemoryBarrier, ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait)


def measure(name: str, target: str, strategy: str, iterations: int) -> tuple[list[int], Timing]:
    """How many whole barriers, signals and waits were put in, and the estimate."""
    trace = bundled_kernel(name)
    insert_barriers(trace, target, strategy)
    every = list(trace.preorder_walk())
    return [sum(isinstance(op, kind) for op in every) for kind in KINDS], time_kernel(
        trace, target, iterations=iterations
    )


def rows(name: str, target: str, iterations: int) -> list[str]:
    """The two forms of one kernel, a line each."""
    lines: list[str] = []
    first = 0.0
    for form, strategy in FORMS.items():
        made, timing = measure(name, target, strategy, iterations)
        waves = sum(sync.waves for sync in timing.syncs) / timing.waves
        memory = sum(sync.memory for sync in timing.syncs) / timing.waves
        stall = timing.stall_per_wave
        first = first if lines else stall
        ratio = f"{stall / first:.2f}" if first else "–"
        lines.append(
            f"{name:<20}{target:<9}{form:<7}{made[0]:>8}{made[1]:>8}{made[2]:>6}{timing.cycles:>9,}"
            f"{waves:>11,.0f}{memory:>12,.0f}{stall:>8,.0f}{ratio:>7}"
        )
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--targets", nargs="+", default=list(TARGETS))
    parser.add_argument("--iterations", type=int, default=ITERATIONS, help="how often loops are followed")
    options = parser.parse_args()
    print("estimates from rough latencies, not measurements; stall in cycles per wave")
    print(
        f"{'kernel':<20}{'target':<9}{'form':<7}{'barrier':>8}{'signal':>8}{'wait':>6}{'cycles':>9}"
        f"{'for waves':>11}{'for memory':>12}{'stall':>8}{'ratio':>7}"
    )
    for name in KERNELS:
        for target in options.targets:
            for line in rows(name, target, options.iterations):
                print(line, flush=True)


if __name__ == "__main__":
    main()
