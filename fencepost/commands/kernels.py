"""The kernels of a file, whatever it is written in, and the file again with what was done to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.ir.printer import print_file
from fencepost.ir.source import Source
from fencepost.ir.trace import CapturedTrace

if TYPE_CHECKING:
    from fencepost.hosts.triton.translate import Translation
    from fencepost.ir.ops import SyncOperation

TRITON = (".ttgir", ".ttir", ".mlir")
"""How files with Triton modules are called."""
OWN = ".fp"
# The first line that is neither empty nor a comment in either form (`#` also begins the names of MLIR's attributes).
_MODULE = re.compile(
    r'(?:\s*(?:#|//)[^\n]*\n)*\s*(?:!\w+\s*=|module\b|tt\.func\b|"(?:builtin\.module|tt\.func)")'
)


@dataclass(slots=True)
class Kernels:
    """The kernels of one file."""

    traces: list[CapturedTrace]
    translations: list[Translation] = field(default_factory=list)
    """For a Triton module: how each kernel came about."""

    def __iter__(self) -> Iterator[CapturedTrace]:
        return iter(self.traces)

    def to_check(self) -> list[CapturedTrace]:
        """What `check` looks at: all waves together, where parts of a kernel have waves of their own."""
        if not self.translations:
            return self.traces
        from fencepost.hosts.triton.judging import judged

        return judged(self.translations)

    def text(self) -> str:
        """The file as it is now."""
        if not self.translations:
            return print_file(self.traces)
        from fencepost.hosts.triton.results import edits_of
        from fencepost.hosts.triton.source_edits import edit_source

        module = self.translations[0].module
        return edit_source(module, [edit for each in self.translations for edit in edits_of(each)])

    def target(self, asked: str | None) -> str:
        """The target that was asked for, or else the one that the file names."""
        if asked is not None or not self.translations:
            return asked or ""
        from fencepost.hosts.triton.results import known_target

        # Modules for different GPUs in one file: each has its own.
        named = {known_target(each) for each in self.translations}
        return named.pop() if len(named) == 1 else ""

    @property
    def keep(self) -> Callable[[SyncOperation], bool] | None:
        """Barriers and waits that cannot be taken out; None if all can."""
        if not self.translations:
            return None
        from fencepost.hosts.triton.mlir.tree import Operation
        from fencepost.hosts.triton.results import removable

        return lambda op: not (isinstance(op.host, Operation) and removable(op.host))


def read_triton(source: Source) -> Kernels:
    """The kernels of a Triton module, functions that they call included."""
    from fencepost.hosts.triton.files import read_sources
    from fencepost.hosts.triton.results import refuse_beyond
    from fencepost.hosts.triton.translate import translations

    (module,) = read_sources([source])
    found = translations(module)
    for each in found:
        refuse_beyond(each)
    return Kernels([each.trace for each in found], found)


def is_triton(name: str, text: str) -> bool:
    """Whether a file holds a Triton module: by its name, or else (`-`, `/dev/fd/63`) by its text."""
    suffix = Path(name).suffix
    return suffix in TRITON or (suffix != OWN and _MODULE.match(text) is not None)
