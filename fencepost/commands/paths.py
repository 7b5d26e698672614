"""Files and folders of the command line: a folder stands for all kernels below it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fencepost.hosts.kernel_files import CUDA, OWN, PTX, TRITON
from fencepost.ir.source import FencepostError

SUFFIXES = (OWN, *TRITON)
"""How files with kernels are called."""
CHECKED = (*SUFFIXES, CUDA, PTX)
"""How those are called that `check` takes."""
CHECKED_HELP = (
    "kernels (.fp), Triton modules (.ttgir, .ttir, .mlir), CUDA (.cu), PTX (.ptx), folders of these, or - for "
    "standard input"
)
PATHS_HELP = "kernels (.fp), Triton modules (.ttgir, .ttir, .mlir), folders of these, or - for standard input"


def kernel_files(
    names: Iterable[str], suffixes: tuple[str, ...] = SUFFIXES
) -> list[tuple[str, FencepostError | None]]:
    """The files that names stand for, in order, each once; for a folder without any, why there is nothing to read.

    A file that is named is taken whatever it is called. In a folder, those that are called like kernels are, sorted,
    and what is hidden (`.git`, `.venv`) is left out.
    """
    found: dict[str, FencepostError | None] = {}
    for name in names:
        if not Path(name).is_dir():
            found.setdefault(name, None)
            continue
        below = _below(name, suffixes)
        if not below:
            message = f"there is no kernel below {name}: no file ends in {', '.join(suffixes)}"
            found.setdefault(name, FencepostError(message, code="FP112"))
        for each in below:
            found.setdefault(each, None)
    return list(found.items())


def _below(folder: str, suffixes: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for here, inside, files in os.walk(folder):
        inside[:] = [each for each in inside if not each.startswith(".")]
        found += [
            str(Path(here, each)) for each in files if each.endswith(suffixes) and not each.startswith(".")
        ]
    return sorted(found)
