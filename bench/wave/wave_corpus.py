"""The corpus: kernel × target × schedule, all of which Wave compiles without a GPU.

    python bench/wave/wave_corpus.py --list

prints one line per entry.
"""

from __future__ import annotations

import argparse

from wave_attention_entries import ATTENTION
from wave_gemm_entries import GEMMS
from wave_model import Entry
from wave_small_entries import SMALL

__all__ = ["CORPUS", "Entry", "add_selection", "named", "selected"]

CORPUS = {entry.name: entry for entry in (*GEMMS, *ATTENTION, *SMALL)}


def named(only: list[str]) -> list[Entry]:
    """The entries whose name contains one of the given texts; all of them where none is given."""
    return [each for name, each in CORPUS.items() if not only or any(text in name for text in only)]


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Options that say which entries are meant."""
    parser.add_argument("--only", nargs="+", default=[], help="entries whose name contains one of these")
    parser.add_argument(
        "--fast", action="store_true", help="only the entries that compile within two seconds"
    )


def selected(options: argparse.Namespace) -> list[Entry]:
    """The entries that these options mean."""
    return [each for each in named(options.only) if each.fast or not options.fast]


def describe(entry: Entry) -> str:
    """One line of the listing."""
    options = " ".join(f"{name}={value}" for name, value in entry.options.items())
    marks = (
        ["fast"] * entry.fast + ["ping-pong"] * entry.ping_pong + [f"race {entry.race}"] * bool(entry.race)
    )
    return f"{entry.name:52} {', '.join(marks):20} {options:32} {entry.note}".rstrip()


def main(argv: list[str] | None = None) -> int:
    """Print the corpus."""
    parser = argparse.ArgumentParser(description="The Wave kernels that fencepost is tried on.")
    parser.add_argument("--list", action="store_true", help="one line per entry")
    options = parser.parse_args(argv)
    if not options.list:
        parser.print_usage()
        return 2
    for entry in CORPUS.values():
        print(describe(entry))
    print(f"{len(CORPUS)} combinations of {len({entry.kernel for entry in CORPUS.values()})} kernels")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
