"""Files and folders of the command line: a folder stands for all kernels below it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from fencepost.commands.output import say
from fencepost.hosts.kernel_files import CUDA, OWN, PTX, TRITON, is_endless
from fencepost.ir.source import FencepostError

SUFFIXES = (OWN, *TRITON)
"""How files with kernels are called."""
CHECKED = (*SUFFIXES, CUDA, PTX)
"""How those are called that `check` takes."""
CHECKED_HELP = (
    "kernels (.fp), Triton modules (.ttgir, .ttir, .mlir), CUDA (.cu), PTX (.ptx), folders of these, or - for "
    "standard input"
)
FOREIGN = {".cu": "CUDA C++", ".cuh": "CUDA C++", ".ptx": "PTX", ".hip": "HIP"}
"""How kernels in languages are called that not every command reads."""


def kernel_files(
    names: Iterable[str], suffixes: tuple[str, ...] = SUFFIXES
) -> list[tuple[str, FencepostError | None]]:
    """The files that names stand for, in order, each once; for a folder without any, why there is nothing to read.

    A file that is named is taken whatever it is called. In a folder, those that are called like kernels are, sorted,
    and what is hidden (`.git`, `.venv`) is left out.
    """
    found: dict[str, FencepostError | None] = {}
    for name in names:
        if not name:
            found.setdefault(name, FencepostError("the name of a file is empty", code="FP112"))
            continue
        if not is_folder(name):
            found.setdefault(name, None)
            continue
        below, foreign = _below(name, suffixes)
        if not below:
            message = f"there is no kernel below {name}: no file ends in {', '.join(suffixes)}"
            notes = [("note", foreign_words(foreign))] if foreign else []
            found.setdefault(name, FencepostError(message, code="FP112", notes=notes))
        elif foreign:
            say(f"{name}: {foreign_words(foreign)}")
        for each in below:
            found.setdefault(each, None)
    return list(found.items())


def is_folder(name: str) -> bool:
    """Whether there is a folder of that name; of one that cannot be looked up, whoever reads it says why not."""
    try:
        return Path(name).is_dir()
    except OSError:
        return False


def is_there(name: str) -> bool:
    """Whether there is a file or folder of that name, as far as that can be seen."""
    try:
        return Path(name).exists()
    except OSError:
        return False


def foreign_words(files: Iterable[str]) -> str:
    """That kernels of other languages are not read, and how many there are of each."""
    counts = Counter(FOREIGN[Path(file).suffix] for file in files)
    many = sum(counts.values())
    what = ", ".join(f"{count} of {language}" for language, count in sorted(counts.items()))
    return f"{many} file{'s' if many > 1 else ''} not read: {what}"


def _below(folder: str, suffixes: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The files with kernels below a folder, and those in languages that are not read."""
    found: list[str] = []
    foreign: list[str] = []
    for here, inside, files in os.walk(folder):
        inside[:] = [each for each in inside if not each.startswith(".")]
        seen = [str(Path(here, each)) for each in files if not each.startswith(".")]
        found += [each for each in seen if each.endswith(suffixes) and not is_endless(each)]
        foreign += [each for each in seen if Path(each).suffix in FOREIGN and not each.endswith(suffixes)]
    return sorted(found), foreign
