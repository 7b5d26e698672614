"""The corpus: every kernel with every way it is compiled, by name.

    python bench/triton/corpus.py --list

prints one line per entry.
"""

from __future__ import annotations

import argparse

from gluon_entries import GLUON
from model import (
    ALL,
    AMD,
    NVIDIA,
    TARGETS,
    Argument,
    Array,
    Entry,
    Mistake,
    Scalar,
    Target,
    TensorMap,
    decode,
)
from triton_entries import TRITON

__all__ = [
    "ALL", "AMD", "CORPUS", "NVIDIA", "TARGETS",
    "Argument", "Array", "Entry", "Mistake", "Scalar", "Target", "TensorMap", "decode",
]  # fmt: skip

CORPUS = {entry.name: entry for entry in (*TRITON, *GLUON)}


def describe(entry: Entry) -> str:
    """One line of the listing."""
    targets = "all" if entry.targets == ALL else ",".join(entry.targets)
    options = " ".join(f"{name}={value}" for name, value in entry.options.items())
    line = f"{entry.name:34} {entry.language:7} {targets:28} {options:28} {entry.nbytes:>11,} B"
    if entry.mistake is not None:
        line += f"  {entry.mistake.report}: {entry.mistake.marker} (line {entry.mistake_line()})"
    return line


def main(argv: list[str] | None = None) -> int:
    """Print the corpus."""
    parser = argparse.ArgumentParser(description="The Triton and Gluon kernels that fencepost is tried on.")
    parser.add_argument("--list", action="store_true", help="one line per entry")
    options = parser.parse_args(argv)
    if not options.list:
        parser.print_usage()
        return 2
    for entry in CORPUS.values():
        print(describe(entry))
    print(f"{len(CORPUS)} entries, {sum(len(entry.targets) for entry in CORPUS.values())} with targets")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
