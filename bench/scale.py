"""How insertion scales: kernels of 1k to 1M operations of four shapes, each in a process of its own.

    python bench/scale.py [--sizes 1000 10000 100000 1000000] [--strategy minimize] [--target gfx1201]

Prints time per operation (building the kernel left out), its ratio to the 10k kernel of the same shape in
the same run, and the peak memory of the process.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time

from fencepost.ir.builder import Kernel
from fencepost.passes.insert import insert_barriers

SHAPES = ("straight", "nested", "branchy", "blocks")


class Writer:
    """Adds random accesses until the kernel has the wanted size."""

    def __init__(self, size: int) -> None:
        self.rng = random.Random(size)
        self.kernel = Kernel("scale", waves=8)
        self.buffers = [self.kernel.shared(f"buffer{n}", slots=4, bytes=4096) for n in range(8)]
        self.left = size
        self.names = 0

    def accesses(self, most: int) -> None:
        """A tile's worth of reads, writes and arithmetic."""
        for _ in range(min(most, self.left)):
            self.left -= 1
            place = self.rng.choice(self.buffers)[self.rng.randrange(4)]
            roll = self.rng.random()
            if roll < 0.4:
                self.kernel.read(place)
            elif roll < 0.6:
                self.kernel.write(place)
            else:
                self.kernel.compute()

    def fresh(self, stem: str) -> str:
        """A name that is not taken."""
        self.names += 1
        return f"{stem}{self.names}"

    def straight(self) -> None:
        """No control flow at all."""
        self.accesses(self.left)

    def nested(self) -> None:
        """One nest of 32 loops after another, with accesses on every level."""
        while self.left > 0:
            self.nest(32)

    def nest(self, depth: int) -> None:
        """Loops inside each other."""
        self.accesses(3)
        if depth:
            with self.kernel.loop(self.fresh("i"), trip=self.rng.choice([2, 8, None])):
                self.nest(depth - 1)
            self.accesses(2)

    def branchy(self) -> None:
        """Conditionals within loops, three deep, with and without an other side."""
        while self.left > 0:
            with self.kernel.loop(self.fresh("i"), trip=self.rng.choice([4, None])):
                self.branch(3)

    def branch(self, depth: int) -> None:
        """A conditional and what is inside it."""
        self.accesses(3)
        with self.kernel.cond(self.fresh("c")) as other:
            self.accesses(3)
            if depth:
                self.branch(depth - 1)
        if self.rng.random() < 0.5:
            with other.orelse():
                self.accesses(3)

    def blocks(self) -> None:
        """Diamonds and loops between labelled blocks."""
        kernel = self.kernel
        kernel.br("start")
        here = "start"
        while self.left > 0:
            left, right, join, after = (self.fresh("b") for _ in range(4))
            kernel.block(here)
            self.accesses(3)
            kernel.cond_br(self.fresh("c"), left, right)
            for side in (left, right):
                kernel.block(side)
                self.accesses(3)
                kernel.br(join)
            kernel.block(join)
            self.accesses(3)
            kernel.cond_br(self.fresh("c"), here, after)
            here = after
        kernel.block(here)
        kernel.ret()


def measure(shape: str, size: int, strategy: str, target: str) -> dict[str, float]:
    """Build one kernel, insert, report."""
    writer = Writer(size)
    getattr(writer, shape)()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    result = insert_barriers(writer.kernel.trace, target, strategy)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "barriers": len(result.barriers),
        "kernel_mb": before / 1024,
        "peak_mb": peak / 1024,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--strategy", default="minimize")
    parser.add_argument("--target", default="", help="gfx1201 has split barriers, for `intersect`")
    parser.add_argument("--one", nargs=2, metavar=("SHAPE", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]), options.strategy, options.target)))
        return
    print(
        f"{'shape':<10}{'operations':>12}{'seconds':>10}{'µs/op':>8}{'vs 10k':>8}{'barriers':>10}{'peak MB':>9}"
    )
    for shape in options.shapes:
        reference = 0.0
        for size in options.sizes:
            chosen = ["--strategy", options.strategy, "--target", options.target]
            command = [sys.executable, __file__, *chosen, "--one", shape, str(size)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            each = found["seconds"] / size * 1e6
            reference = each if size == 10_000 else reference
            ratio = f"{each / reference:.2f}" if reference else "–"
            print(
                f"{shape:<10}{size:>12,}{found['seconds']:>10.2f}{each:>8.1f}{ratio:>8}"
                f"{int(found['barriers']):>10,}{found['peak_mb']:>9.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
