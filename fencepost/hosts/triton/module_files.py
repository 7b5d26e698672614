"""Modules in files (`.ttgir`, `.ttir`, `.mlir`; custom or generic form) as trees.

Every operation of such a tree also knows its lines in the file: `Operation.span`, a place in
`Module.source`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.parsing_process import Parsed, parse_texts
from fencepost.hosts.triton.unparsable_layouts import repaired
from fencepost.hosts.triton.user_lines import place_operations
from fencepost.ir.source import FencepostError, Mark, Source, Span


def read_file(path: str | Path) -> Module:
    """The tree of the module in a file."""
    return read_files([path])[0]


def read_files(paths: Sequence[str | Path]) -> list[Module]:
    """The trees of several files, with one start of Triton for all of them."""
    return read_sources([_source(path) for path in paths])


def read_sources(sources: Sequence[Source]) -> list[Module]:
    """The trees of modules that are texts already."""
    return [module_of(parsed) for parsed in parse_texts(sources)]


def module_of(parsed: Parsed) -> Module:
    """The tree of a module that Triton has parsed."""
    name = parsed.source.name
    # Operations without a location got one in the file that Triton saw; users know it by another name.
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    text = repaired(parsed.generic.replace(f'"{parsed.path}"', quoted)).text
    module = read_module(text, name)
    module.source = parsed.source
    place_operations(module, parsed)
    return module


def _source(path: str | Path) -> Source:
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise FencepostError(f"cannot read {path}: {error.strerror}", code="FP112") from None
    try:
        # Some editors put a byte order mark in front; it says nothing, and Triton stumbles over it.
        return Source(str(path), raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        shown = Source(str(path), raw.decode("utf-8", "replace"))
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        mark = Mark(Span(line, column, line, column + 1))
        message = f"not UTF-8 text: byte 0x{raw[error.start]:02x}"
        raise FencepostError(message, [mark], code="FP112", source=shown) from None
