"""The matrix unit's estimated utilisation without and with each ping-pong schedule that fits.

    python bench/pingpong.py [--targets gfx942 gfx950] [--waves 8 16]

These are estimates from rough latencies (`fencepost.timing`), not measurements. Before is the kernel as it comes,
with the barriers that `insert` puts in. Kernels whose buffers have no room in the target's shared memory are left
out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.schedule import compare
from fencepost.schedule import Constraints, Tile, constraints_for
from fencepost.schedule.gemm import async_gemm, prefetch_gemm
from fencepost.timing.result import CAVEAT

TARGETS = ("gfx942", "gfx950", "gfx1201")
TILES = (
    *(Tile(64, 64, 64), Tile(128, 128, 32), Tile(128, 128, 64), Tile(128, 256, 64), Tile(256, 256, 32)),
    Tile(256, 256, 64),
)
WAVES = (4, 8, 16)
SHARED_KIB = {"gfx942": 64, "gfx950": 160, "gfx1201": 64}
"""What a workgroup can have; others are taken to have as much as a kernel wants."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--targets", nargs="+", default=list(TARGETS))
    parser.add_argument("--waves", nargs="+", type=int, default=list(WAVES))
    options = parser.parse_args()
    print(f"busy part of the time of the matrix unit; {CAVEAT}")
    print(
        f"{'target':<9}{'tile':<13}{'waves':>5}  {'tiles come by':<17}{'KiB':>4}"
        f"{'before':>8}{'two-pp':>8}{'async':>7}{'four-pp':>9}  chosen"
    )
    for target in options.targets:
        for tile in TILES:
            for waves in options.waves:
                try:
                    constraints = constraints_for(tile, waves, target)
                except FencepostError:
                    # So many waves have no whole instructions each.
                    continue
                for by, trace in kernels(constraints):
                    print(row(constraints, tile, by, trace), flush=True)


def kernels(constraints: Constraints) -> Iterator[tuple[str, CapturedTrace]]:
    """The kernel with local writes, and the one with copies as far ahead as there is room; those that fit."""
    room = SHARED_KIB.get(constraints.hardware.target)
    through = prefetch_gemm(constraints)
    if room is None or kib(through) <= room:
        yield "registers", through
    for ahead in (2, 1):
        copied = async_gemm(constraints, ahead=ahead)
        if room is None or kib(copied) <= room:
            yield f"copies, {ahead} ahead", copied
            return


def kib(trace: CapturedTrace) -> int:
    """The shared memory of a kernel."""
    return sum(buffer.size for buffer in trace.buffers.values()) // 1024


def row(constraints: Constraints, tile: Tile, by: str, trace: CapturedTrace) -> str:
    """One line of the table."""
    compared = compare(trace, constraints)
    after = {name: f"{each.utilisation:.0%}" for name, each in compared.after.items()}
    hardware, name = constraints.hardware, str(tile).replace(" ", "")
    return (
        f"{hardware.target:<9}{name:<13}{hardware.waves:>5}  {by:<17}{kib(trace):>4}"
        f"{compared.before.utilisation:>8.0%}{after.get('two-pp', '–'):>8}{after.get('two-pp-async', '–'):>7}"
        f"{after.get('four-pp', '–'):>9}  {compared.best}"
    )


if __name__ == "__main__":
    main()
