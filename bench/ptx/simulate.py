"""One block of a kernel, run on the CPU thread by thread: which accesses meet in one interval between barriers.

    python bench/ptx/simulate.py [--only NAME]

A second opinion on the corpus that shares no code with the judge: PTX is executed with the arguments of the header,
and every access to shared memory is recorded. It shows that a planted race is still there behind the optimizer, and
that a right kernel has none with these inputs. All threads at the lowest line go first, so that they come together
again. Numbered barriers, mbarriers, bulk copies and tensor cores are not executed.
"""

from __future__ import annotations

import argparse

import numpy as np
from device_check import _argument as argument
from numpy.typing import NDArray
from ptx_corpus import Entry, Variant, corpus
from simulated_block import GLOBAL, Lanes, Machine, NotSimulatedError, read
from simulated_instructions import execute


def simulate(text: str, entry: Entry) -> Machine:
    """One block of a kernel with the arguments of its header."""
    program = read(text)
    parameters: dict[str, Lanes] = {}
    memory: dict[int, NDArray[np.uint8]] = {}
    count = entry.block[0] * entry.block[1] * entry.block[2]
    for number, each in enumerate(entry.arguments):
        found = argument(each, number, np)
        if found.ndim:
            place = (GLOBAL >> 32) + number
            # Blocks of a small grid may read a little past the end; zeros are there.
            memory[place] = np.concatenate([found.view(np.uint8), np.zeros(1 << 16, np.uint8)])
            bits = place << 32
        else:
            bits = int(found.view(np.dtype(f"u{found.itemsize}")))
        parameters[f"{entry.name}_param_{number}"] = np.full(count, bits, np.uint64)
    machine = Machine(program, entry.block, entry.grid, parameters, memory, execute)
    machine.run()
    return machine


def opinion(entry: Entry, variant: Variant, text: str) -> tuple[str, str]:
    """What a run shows of a variant: nothing, warning, error or divergence, and where."""
    try:
        machine = simulate(text, entry)
    except NotSimulatedError as error:
        return "not simulated", str(error)
    worst = next(
        (kind for kind in ("divergence", "error", "warning") if kind in machine.races.values()), "nothing"
    )
    pairs = [
        (sorted(machine.sites[first].written), sorted(machine.sites[second].written))
        for (first, second), kind in machine.races.items()
        if kind == worst and first
    ]
    outside = [pair for pair in pairs if not all(set(lines) & variant.lines for lines in pair)]
    return worst, f"{len(pairs)} pairs, {pairs[:3]}" + (f" not marked: {outside[:4]}" if outside else "")


def main(argv: list[str] | None = None) -> int:
    """Run the corpus and say where a run shows something else than the header."""
    from run import ptx_of

    parser = argparse.ArgumentParser(
        description="The corpus of CUDA kernels, one block of each run on the CPU."
    )
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    options = parser.parse_args(argv)
    wanted = {"proven": "nothing", "undecided": "nothing", "race": "error"}
    differing = 0
    for entry in corpus(options.only):
        for variant in entry.variants:
            said, where = opinion(entry, variant, ptx_of(entry, variant))
            expected = wanted.get(variant.expectation, variant.expectation)
            differs = said not in (expected, "not simulated")
            differing += differs
            mark = "DIFFERS" if differs else "not marked" if "not marked" in where else ""
            print(
                f"{entry.name:22} {variant.name:18} {variant.expectation:10} {said:14} {mark:10} {where[:160]}",
                flush=True,
            )
    print(f"{differing} differ from their headers")
    return 0 if not differing else 1


if __name__ == "__main__":
    raise SystemExit(main())
