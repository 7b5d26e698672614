"""Files and folders of the command line: a folder stands for all kernels below it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fencepost.hosts.kernel_files import OWN, TRITON
from fencepost.ir.source import FencepostError

SUFFIXES = (OWN, *TRITON)
"""How files with kernels are called."""
PATHS_HELP = "kernels (.fp), Triton modules (.ttgir, .ttir, .mlir), folders of these, or - for standard input"


def kernel_files(names: Iterable[str]) -> list[tuple[str, FencepostError | None]]:
    """The files that names stand for, in order, each once; for a folder without any, why there is nothing to read.

    A file that is named is taken whatever it is called. In a folder, those that are called like kernels are, sorted,
    and what is hidden (`.git`, `.venv`) is left out.
    """
    found: dict[str, FencepostError | None] = {}
    for name in names:
        if not Path(name).is_dir():
            found.setdefault(name, None)
            continue
        below = _below(name)
        if not below:
            message = f"there is no kernel below {name}: no file ends in {', '.join(SUFFIXES)}"
            found.setdefault(name, FencepostError(message, code="FP112"))
        for each in below:
            found.setdefault(each, None)
    return list(found.items())


def _below(folder: str) -> list[str]:
    found: list[str] = []
    for here, inside, files in os.walk(folder):
        inside[:] = [each for each in inside if not each.startswith(".")]
        found += [
            str(Path(here, each)) for each in files if each.endswith(SUFFIXES) and not each.startswith(".")
        ]
    return sorted(found)
