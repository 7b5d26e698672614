"""To the metal: the barriers of the assembly are those that fencepost asked for.

    python bench/wave/wave_metal.py [--only TEXT ...] [--fast] [--keep FOLDER]

Every entry is compiled with fencepost's barriers to MLIR and by iree-compile to assembly, its loops left as is.
Then the barriers of the assembly are compared with those of the trace, one by one in program order: kind (a whole
barrier on a target with halves is a signal and a wait), loops around it, and for those with a fence that no LDS
operation of the wave can still be under way there, nor a copy where the barrier waits for copies. A single wave
needs no barrier, and LLVM drops it.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from wave_capture import compile_with, fencepost_pass
from wave_corpus import add_selection, selected
from wave_isa import Barrier, assemble, barriers
from wave_model import TARGETS, Entry
from wave_synchronization import Standing, existing


@dataclass(frozen=True)
class Asked:
    """A barrier instruction that has to be there."""

    kind: str
    depth: int
    fence: bool
    copies: bool
    loads: int | None = None
    """How many loads a wait since the barrier before leaves under way."""


@dataclass(frozen=True)
class Compared:
    """One entry."""

    asked: tuple[Asked, ...]
    found: tuple[Barrier, ...]
    faults: tuple[str, ...]


def main() -> int:
    """Print the table; 1 if an assembly has other barriers than asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_selection(parser)
    parser.add_argument("--keep", type=Path, help="a folder for the modules and the assembly")
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    print(f"{'kernel / target / schedule':<52}{'asked':>8}{'found':>8}{'fences':>8}{'waits for copies':>18}")
    wrong = done = 0
    for entry in selected(options):
        done += 1
        try:
            found = compare(entry, options.keep)
        except Exception as error:  # one kernel that fails must not end the run: its row says so
            wrong += 1
            print(f"{entry.name:<52}  {type(error).__name__}: {str(error).splitlines()[0][:160]}", flush=True)
            continue
        wrong += bool(found.faults)
        print(row(entry, found), flush=True)
    print(f"{done - wrong} of {done} have exactly the barriers that were asked for")
    return int(wrong > 0)


def compare(entry: Entry, keep: Path | None = None) -> Compared:
    """Compile an entry down to assembly and compare."""
    build = entry.build()
    wanted: list[Standing] = []

    def noted(trace: Any, target: str) -> None:
        ours(trace, target)
        wanted.extend(existing(trace))

    with fencepost_pass() as ours:
        mlir = compile_with(entry, noted, build)
    assembly = assemble(mlir, entry.target)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        name = entry.name.replace("/", "_")
        (keep / f"{name}.mlir").write_text(mlir)
        (keep / f"{name}.s").write_text(assembly)
    target = TARGETS[entry.target]
    # A single wave meets nobody: LLVM leaves nothing of its barriers but the fence.
    alone = prod(build.options.kernel_launch_info.blocks) <= target.lanes
    asked = () if alone else tuple(instructions(wanted, split=target.split))
    found = tuple(barriers(assembly))
    return Compared(asked, found, tuple(differences(asked, found)))


def instructions(wanted: list[Standing], *, split: bool) -> Iterator[Asked]:
    """The instructions that barriers of a trace have to become."""
    loads: int | None = None
    for each in wanted:
        if each.kind == "count":
            if each.loads is not None:
                loads = each.loads if loads is None else min(loads, each.loads)
            continue
        fence = each.kind in ("barrier", "signal")
        if each.kind in ("barrier", "workgroup") and split:
            yield Asked("signal", each.depth, fence, each.copies, loads)
            yield Asked("wait", each.depth, False, False)
        elif each.kind == "workgroup":
            yield Asked("barrier", each.depth, False, False, loads)
        else:
            yield Asked(each.kind, each.depth, fence, each.copies, loads)
        loads = None


def differences(asked: tuple[Asked, ...], found: tuple[Barrier, ...]) -> Iterator[str]:
    """What is not as it was asked for."""
    if [(each.kind, each.depth) for each in asked] != [(each.kind, each.depth) for each in found]:
        yield f"asked for {shape(asked)}, found {shape(found)}"
        return
    for wanted, there in zip(asked, found, strict=True):
        if wanted.fence and there.pending.lds:
            yield f"line {there.line}: LDS operations may be under way"
        if wanted.copies and there.pending.copies:
            yield f"line {there.line}: copies may be under way"
        if wanted.loads is not None and there.loads > wanted.loads:
            yield f"line {there.line}: no wait that leaves {wanted.loads} loads under way"


def shape(sequence: tuple[Asked, ...] | tuple[Barrier, ...]) -> str:
    """Barriers in order: `b` whole, `s` and `w` halves, those of a loop in brackets."""
    text, depth = "", 0
    for each in sequence:
        text += "[" * (each.depth - depth) + "]" * (depth - each.depth) + each.kind[0]
        depth = each.depth
    return text + "]" * depth or "none"


def row(entry: Entry, found: Compared) -> str:
    """One line of the table."""
    fences = sum(each.fence for each in found.asked)
    copies = sum(each.copies for each in found.asked)
    line = f"{entry.name:<52}{len(found.asked):>8}{len(found.found):>8}{fences:>8}{copies:>18}"
    return "  ".join([line, *(f"← {fault}" for fault in found.faults)])


if __name__ == "__main__":
    raise SystemExit(main())
