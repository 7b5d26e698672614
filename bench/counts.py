"""How finding wait counts scales: control-flow graphs of 1k to 100k blocks, three shapes.

    python bench/counts.py [--sizes 1000 10000 100000]

Prints the time of `populate_barriers_counters` (building the kernel left out), per block, and its ratio to the 1k
kernel of the same shape in the same run.
"""

from __future__ import annotations

import argparse
import random
import time

from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from fencepost.ir.trace import CapturedTrace
from fencepost.reference.wave import populate_barriers_counters

SHAPES = ("diamonds", "one loop", "pipelines")


def diamonds(size: int, around: bool = False) -> CapturedTrace:
    """Copies, loads on some paths, and barriers a few blocks later; with `around`, all of it in one loop."""
    rng = random.Random(size)
    kernel = Kernel("counts", waves=8)
    buffers = [kernel.shared(f"a{n}", bytes=4096) for n in range(4)]
    waiting: list[ops.GatherToLDS] = []
    kernel.br("b0")
    for number in range(0, size, 3):
        kernel.block(f"b{number}")
        waiting.append(kernel.gather_to_lds(rng.choice(buffers)))
        kernel.cond_br(f"c{number}", f"b{number + 1}", f"b{number + 2}")
        kernel.block(f"b{number + 1}")
        for _ in range(rng.randrange(4)):
            kernel.global_read()
        kernel.br(f"b{number + 2}")
        kernel.block(f"b{number + 2}")
        if len(waiting) > 3:
            kernel.barrier(after=[waiting.pop(0)])
        kernel.br(f"b{number + 3}")
    kernel.block(f"b{(size + 2) // 3 * 3}")
    if around:
        kernel.cond_br("again", "b0", "end", trip=8)
        kernel.block("end")
    kernel.ret()
    return kernel.trace


def pipelines(size: int) -> CapturedTrace:
    """One loop after another, each with copies two iterations ahead."""
    kernel = Kernel("counts", waves=8)
    buffer = kernel.shared("a", slots=3, bytes=4096)
    none = kernel.null_async_dep()
    for number in range(size // 2):
        carry = {f"one{number}": none, f"two{number}": none}
        with kernel.loop(f"i{number}", carry=carry) as (i, now):
            copy = kernel.gather_to_lds(buffer[i % 3])
            kernel.global_read()
            kernel.barrier(after=[now.value(f"two{number}")])
            kernel.next(**{f"one{number}": copy, f"two{number}": now.value(f"one{number}")})
    return kernel.trace


def build(shape: str, size: int) -> CapturedTrace:
    """A kernel of about `size` blocks."""
    return pipelines(size) if shape == "pipelines" else diamonds(size, shape == "one loop")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="wait counts, by the size of the control-flow graph")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options = parser.parse_args()
    print(f"{'shape':<12}{'blocks':>10}{'seconds':>10}{'µs/block':>10}{'vs first':>10}")
    for shape in SHAPES:
        first = 0.0
        for size in options.sizes:
            kernel = build(shape, size)
            start = time.perf_counter()
            populate_barriers_counters(kernel)
            taken = time.perf_counter() - start
            first = first or taken / size
            print(
                f"{shape:<12}{size:>10,}{taken:>10.2f}{taken / size * 1e6:>10.1f}{taken / size / first:>10.2f}"
            )


if __name__ == "__main__":
    main()
