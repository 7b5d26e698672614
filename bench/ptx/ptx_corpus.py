"""The corpus: CUDA kernels with a header that says how they are launched and what has to be found in them.

    python bench/ptx/ptx_corpus.py --list

A file begins with what it does, in one sentence, and then one line for each of

    // block: 32x8                 threads of a block (always)
    // grid: 4x4                   blocks of the launch on a device (default 1)
    // args: f32[1024] i32=100     arguments of that launch, arrays and numbers, in order
    // shared: 1024                bytes of dynamic shared memory
    // target: sm_90               the least GPU that has the instructions (default sm_80)
    // expect: warning             of the file as it stands (default: proven)
    // race NAME: what is wrong    of the file with NAME defined: race, warning, divergence, deadlock (a wait that
                                   never ends), phase (a barrier or mbarrier out of step), fence (between proxies,
                                   or of tensor memory), lifetime (a block of the cluster that may not be there)
                                   or allocation (of tensor memory)

A line that takes part in what is found with NAME defined says `// @NAME`; `// @base` as the file stands.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"
BASE = "base"
"""The name of a file as it stands, with nothing defined."""
MISTAKES = ("race", "warning", "divergence", "deadlock", "phase", "fence", "lifetime", "allocation")
_FIELD = re.compile(r"// (?P<key>block|grid|args|shared|target|expect): (?P<value>.+)")
_VARIANT = re.compile(rf"// (?P<expectation>{'|'.join(MISTAKES)}) (?P<name>[A-Z_]+): (?P<why>.+)")
_MARK = re.compile(r"@(\w+)")


@dataclass(frozen=True)
class Variant:
    """A file with one macro defined, or none, and what has to be found in it."""

    name: str
    expectation: str
    why: str
    lines: frozenset[int]
    """The lines that take part."""

    @property
    def defines(self) -> tuple[str, ...]:
        """What the compiler is given."""
        return () if self.name == BASE else (self.name,)


@dataclass(frozen=True)
class Entry:
    """A file of the corpus."""

    path: Path
    summary: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    arguments: tuple[str, ...]
    shared: int
    target: str
    variants: tuple[Variant, ...]

    @property
    def name(self) -> str:
        """The kernel's name, and the file's."""
        return self.path.stem

    @property
    def text(self) -> str:
        """The file."""
        return self.path.read_text(encoding="utf-8")


def read_entry(path: Path) -> Entry:
    """A file of the corpus by its header."""
    lines = path.read_text(encoding="utf-8").splitlines()
    fields = {match["key"]: match["value"] for line in lines if (match := _FIELD.fullmatch(line))}
    marked: dict[str, set[int]] = {}
    for number, line in enumerate(lines, 1):
        for name in _MARK.findall(line.partition("//")[2]):
            marked.setdefault(name, set()).add(number)
    found = [match for line in lines if (match := _VARIANT.fullmatch(line))]
    stray = marked.keys() - {match["name"] for match in found} - {BASE}
    assert not stray, f"{path.name}: lines marked with {stray}, which no line of the header explains"
    base = Variant(BASE, fields.get("expect", "proven"), "", frozenset(marked.get(BASE, ())))
    variants = [
        Variant(match["name"], match["expectation"], match["why"], frozenset(marked[match["name"]]))
        for match in found
    ]
    return Entry(
        path,
        lines[0].removeprefix("// "),
        dimensions(fields["block"]),
        dimensions(fields.get("grid", "1")),
        tuple(fields.get("args", "").split()),
        int(fields.get("shared", "0")),
        fields.get("target", "sm_80"),
        (base, *variants),
    )


def dimensions(text: str) -> tuple[int, int, int]:
    """`32x8` as three numbers."""
    x, y, z = [*map(int, text.split("x")), 1, 1][:3]
    return x, y, z


def corpus(only: str = "") -> Iterator[Entry]:
    """The entries whose name contains `only`, by name."""
    for path in sorted(KERNELS.glob("*.cu")):
        if only in path.stem:
            yield read_entry(path)


def main(argv: list[str] | None = None) -> int:
    """Print the corpus."""
    parser = argparse.ArgumentParser(description="The CUDA kernels that fencepost is tried on.")
    parser.add_argument("--list", action="store_true", help="one line for each kernel and variant")
    parser.parse_args(argv)
    entries = list(corpus())
    for entry in entries:
        print(f"{entry.name:24} {'x'.join(map(str, entry.block)):10} {entry.summary}")
        for variant in entry.variants[1:]:
            print(f"    {variant.expectation:10} {variant.name:20} {variant.why}")
    print(f"{len(entries)} kernels, {sum(len(entry.variants) for entry in entries)} with their variants")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
