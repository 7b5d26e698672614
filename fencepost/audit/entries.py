"""What there is to audit: kernels in text form, Triton modules, the kernels of a Triton cache, CUDA and PTX."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fencepost.hosts.kernel_files import CUDA, OWN, PTX, TRITON, is_endless
from fencepost.ir.source import FencepostError
from fencepost.version import __version__

CACHED = ".ttgir"
"""What of a kernel in Triton's cache is judged: `.ttir` beside it is the same kernel, earlier."""
EARLIER = ".ttir"
AUDITED = (OWN, *TRITON, CUDA, PTX)
"""How files with kernels are called."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, and what Triton's cache says about it, if it is from one."""

    path: str
    metadata: str = ""
    """The JSON file beside it."""
    text: str | None = None
    """What it holds, if that is no file: standard input."""


@dataclass(frozen=True, slots=True)
class Work:
    """An entry that was read: everything that it takes to judge it, also on another machine."""

    path: str
    text: str
    metadata: dict[str, Any]
    digest: str
    """Of all of that and of this version: what was judged is not judged again."""

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


class Unreadable(Exception):
    """An entry that cannot be read, and why."""


def entries_of(names: Iterable[str]) -> list[Entry]:
    """The entries below some paths, each once, sorted within a path; what is no file or folder is refused."""
    found: dict[str, Entry] = {}
    for name in names:
        path = Path(name)
        try:
            path.stat()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise FencepostError(f"cannot read {name}: {error.strerror}", code="FP112") from None
        if path.is_dir():
            below = list(_below(path))
            if not below:
                suffixes = ", ".join(AUDITED)
                raise FencepostError(
                    f"there is no kernel below {name}: no file ends in {suffixes}", code="FP112"
                )
        elif path.is_file():
            below = [_entry(path)]
        else:
            raise FencepostError(f"cannot read {name}: there is no such file or folder", code="FP112")
        for entry in below:
            found.setdefault(os.path.realpath(entry.path), entry)
    return list(found.values())


def _below(folder: Path) -> Iterator[Entry]:
    for here, inside, files in os.walk(folder):
        inside[:] = sorted(each for each in inside if not each.startswith("."))
        there = set(files)
        for name in sorted(files):
            path = Path(here, name)
            if name.startswith(".") or path.suffix not in AUDITED or is_endless(path):
                continue
            if path.suffix == PTX and f"{path.stem}{CACHED}" in there:
                continue  # the same kernel, later: Triton's cache has both
            if path.suffix == EARLIER and f"{path.stem}{CACHED}" in there:
                continue
            yield _entry(path)


def _entry(path: Path) -> Entry:
    metadata = path.with_suffix(".json")
    cached = path.suffix == CACHED and metadata.is_file()
    return Entry(str(path), str(metadata) if cached else "")


def read(entry: Entry) -> Work:
    """The text and what the cache says about it."""
    try:
        text = Path(entry.path).read_bytes().decode("utf-8-sig") if entry.text is None else entry.text
        noted = Path(entry.metadata).read_bytes() if entry.metadata else b"{}"
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8 text") from None
    try:
        metadata = json.loads(noted)
    except ValueError as error:
        raise Unreadable(f"{Path(entry.metadata).name} is not JSON: {error}") from None
    if not isinstance(metadata, dict):
        raise Unreadable(f"{Path(entry.metadata).name} is not what Triton's cache has beside a kernel")
    digest = hashlib.sha256()
    for part in (__version__.encode(), Path(entry.path).suffix.encode(), text.encode(), noted):
        digest.update(len(part).to_bytes(8, "little") + part)
    return Work(entry.path, text, metadata, digest.hexdigest())
