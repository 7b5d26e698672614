"""Kernels that another file of the folder launches: `kernels.cu` beside `main.cu`.

A file of kernels says nothing of their blocks if it launches none of them. Other files of the folder that do are read
for it, as far as they do not make a kernel of the same name themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fencepost.hosts.ptx.cuda_source.cuda_sources import text_with_headers
from fencepost.hosts.ptx.cuda_source.host_code import declarations, function_name, without_comments
from fencepost.hosts.ptx.launches.address_taken import with_address_taken
from fencepost.hosts.ptx.launches.launch_macros import with_launches_of_macros

SUFFIXES = frozenset({".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".inl"})
MOST_FILES, MOST_BYTES = 64, 1 << 19


@dataclass(frozen=True)
class SiblingLaunches:
    """Files of the same folder that launch a kernel."""

    files: tuple[str, ...]
    text: str
    """Their texts, with those of their headers."""


def sibling_launches(name: str, text: str, includes: tuple[str, ...] = ()) -> dict[str, SiblingLaunches]:
    """For each kernel that a file makes and does not launch: the files beside it that launch it."""
    path = Path(name)
    # An editor asks again and again, and the other files change in between.
    files = _siblings(path) if path.is_file() else ()
    return _launches_beside(name, text, includes, tuple((each, each.stat().st_mtime_ns) for each in files))


@lru_cache(maxsize=8)
def _launches_beside(
    name: str, text: str, includes: tuple[str, ...], siblings: tuple[tuple[Path, int], ...]
) -> dict[str, SiblingLaunches]:
    """What other files launch of the kernels that this file makes and does not launch."""
    path = Path(name)
    made = set(kernels_made(without_comments(text)))
    idle = made - _launched(text, made)
    if not idle or not path.is_file():
        return {}
    found: dict[str, list[Path]] = {}
    others: dict[str, list[Path]] = {}
    for sibling, _ in siblings:
        written = sibling.read_text(encoding="utf-8", errors="replace")
        named = {each for each in idle if each in written}
        launched = _launched(written, named) if "<<<" in written else set()
        seen = without_comments(written) if named else ""
        own = set(kernels_made(seen))
        for kernel in launched - own:
            found.setdefault(kernel, []).append(sibling)
        for kernel in with_address_taken(seen, named - launched - own, written):
            others.setdefault(kernel, []).append(sibling)
    # Whoever has the address of a kernel may launch it otherwise: those files are read with the launches.
    return {kernel: _read([*files, *others.get(kernel, ())], includes) for kernel, files in found.items()}


def files_that_include(name: str) -> list[str]:
    """The files beside one that include it: it may be a part of them, and no file by itself."""
    path = Path(name)
    including = re.compile(rf"""^[ \t]*#[ \t]*include[ \t]*[<"]{re.escape(path.name)}[">]""", re.MULTILINE)
    every = _siblings(path) if path.is_file() else ()
    return [each.name for each in every if including.search(each.read_text("utf-8", errors="replace"))]


def kernels_made(seen: str) -> Iterator[str]:
    """The kernels that a text without comments has the bodies of."""
    for head, _, end in declarations(seen, 0, len(seen)):
        made = function_name(head) if "__global__" in head and seen[end - 1] == "}" else None
        if made is not None:
            yield made.rpartition("::")[2]


def _siblings(path: Path) -> Iterator[Path]:
    """The other files of the folder that may have host code."""
    every = sorted(each for each in path.parent.iterdir() if each.suffix in SUFFIXES)
    for each in every[:MOST_FILES]:
        if each.is_file() and not each.samefile(path) and each.stat().st_size <= MOST_BYTES:
            yield each


def _launched(text: str, kernels: set[str]) -> set[str]:
    """The kernels among some that a text launches."""
    seen = without_comments(with_launches_of_macros(text))
    named = re.findall(r"\b(\w+)\s*(?:<(?!<)[^;{}()]*?>\s*)?<<<", seen)
    return kernels & set(named)


def _read(files: list[Path], includes: tuple[str, ...]) -> SiblingLaunches:
    texts = [text_with_headers(each, includes) for each in files]
    return SiblingLaunches(tuple(each.name for each in files), "\n".join(texts))
