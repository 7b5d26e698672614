"""The kernels of a file, whatever it is written in, and the file again with what was done to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.ir.printer import print_file
from fencepost.ir.source import Source
from fencepost.ir.trace import CapturedTrace
from fencepost.phases import begin_phase

if TYPE_CHECKING:
    from fencepost.emit.write import Inserted
    from fencepost.hosts.triton.mlir.tree import Module
    from fencepost.hosts.triton.translate import Translation
    from fencepost.ir.ops import SyncOperation
    from fencepost.passes.insert import Insert

TRITON = (".ttgir", ".ttir", ".mlir")
"""How files with Triton modules are called."""
OWN = ".fp"
NO_KERNEL = "FP102"
"""What a file without a kernel is refused with."""
CUDA = ".cu"
PTX = ".ptx"
"""How files are called whose kernels `check` judges thread by thread."""
# The first line that is neither empty nor a comment in either form (`#` also begins the names of MLIR's attributes).
_MODULE = re.compile(
    r'(?:\s*(?:#|//)[^\n]*\n)*\s*(?:!\w+\s*=|module\b|tt\.func\b|"(?:builtin\.module|tt\.func)")'
)


# What a PTX text begins with, and what only CUDA has.
_VERSION = re.compile(r"(?:\s*//[^\n]*\n|\s*/\*.*?\*/)*\s*\.version\s+\d", re.DOTALL)
_GLOBAL = re.compile(r"^[^\n#]*\b__global__\b", re.MULTILINE)


def is_host_code(text: str) -> bool:
    """Whether a CUDA file without a kernel looks like one that is not meant to have any: it launches none either."""
    return "__global__" not in text and "<<<" not in text


def is_endless(path: str | Path) -> bool:
    """Whether what is called like a file is none: a pipe that nobody may ever write to, a device, a socket."""
    path = Path(path)
    return path.exists() and not path.is_file()


@dataclass(slots=True)
class Kernels:
    """The kernels of one file."""

    traces: list[CapturedTrace]
    translations: list[Translation] = field(default_factory=list)
    """For a Triton module: how each kernel came about."""
    judged: str = ""
    """For a Triton module from before membar that was asked for as it gets compiled: what was judged, in words,"""
    lowered: bool = False
    """and whether Triton had to lower it for that."""

    def __iter__(self) -> Iterator[CapturedTrace]:
        return iter(self.traces)

    def to_check(self) -> list[CapturedTrace]:
        """What `check` looks at: all waves together, where parts of a kernel have waves of their own."""
        if not self.translations:
            return self.traces
        from fencepost.hosts.triton.joint_kernel import judged

        return judged(self.translations)

    def judged_json(self) -> dict[str, Any]:
        """What was judged, for programs; nothing to say for kernels in text form."""
        words = {"judged": self.judged} if self.judged else {}
        return {"lowered": self.lowered, **words} if self.translations else {}

    def apply(self, insert: Insert) -> Iterator[Inserted]:
        """Put barriers and waits into each kernel, none for what its comments allow.

        Into a module, they are put only between two of its operations.
        """
        if not self.translations:
            for trace in self.traces:
                yield _for_one(insert, trace).apply(trace)
            return
        from fencepost.hosts.triton.write_back import place_barriers
        from fencepost.report.heeded_comments import heeding_comments

        for each in self.translations:
            yield place_barriers(each, heeding_comments(insert, each.trace))

    def text(self, done: Sequence[Inserted] = ()) -> str:
        """The file as it is now; `done` says which waits of a module were made stronger."""
        if not self.translations:
            return print_file(self.traces)
        from fencepost.hosts.triton.source_edits import edit_source
        from fencepost.hosts.triton.write_back import edits_of, stronger_waits

        module = self.translations[0].module
        edits = [edit for each in self.translations for edit in edits_of(each)]
        return edit_source(module, [*edits, *(edit for each in done for edit in stronger_waits(each))])

    def target(self, asked: str | None) -> str:
        """The target that was asked for, or else the one that the file names."""
        if asked is not None or not self.translations:
            return asked or ""
        from fencepost.hosts.triton.write_back import known_target

        # Modules for different GPUs in one file: each has its own.
        named = {known_target(each) for each in self.translations}
        return named.pop() if len(named) == 1 else ""

    @property
    def keep(self) -> Callable[[SyncOperation], bool] | None:
        """Barriers and waits that cannot be taken out; None if all can."""
        if not self.translations:
            return None
        from fencepost.hosts.triton.mlir.tree import Operation
        from fencepost.hosts.triton.write_back import removable

        return lambda op: not (isinstance(op.host, Operation) and removable(op.host))


def _for_one(insert: Insert, trace: CapturedTrace) -> Insert:
    """`insert` for a kernel in text form; what reads comments is not even loaded where there are none."""
    from fencepost.report.allow_comments import MARK

    if not trace.may_mention(MARK):
        return insert
    from fencepost.report.heeded_comments import heeding_comments

    return heeding_comments(insert, trace)


def read_triton(source: Source, *, compiled: bool = False) -> Kernels:
    """The kernels of a Triton module, functions that they call included.

    With `compiled`, one that membar has not seen is taken as it gets compiled: lowered by Triton, membar included.
    """
    from fencepost.hosts.triton.clusters import refuse_clusters
    from fencepost.hosts.triton.module_files import read_sources

    begin_phase("parsing with Triton")
    (module,) = read_sources([source])
    refuse_clusters(module)
    # What cannot be followed is named as it stands in the file, also if nothing is left of it in the end.
    found = _followed(module)
    if not compiled:
        return Kernels([each.trace for each in found], found)
    after, judged = _as_compiled(module)
    if after is not module:
        found = _followed(after)
    return Kernels([each.trace for each in found], found, judged, after is not module)


def _followed(module: Module) -> list[Translation]:
    """The kernels of a module; one that uses what cannot be followed is refused."""
    from fencepost.hosts.triton.translate import translations
    from fencepost.hosts.triton.write_back import refuse_beyond

    found = translations(module)
    for each in found:
        refuse_beyond(each)
    return found


def _as_compiled(module: Module) -> tuple[Module, str]:
    """A module behind membar if it is from before that, and what it is then, in words."""
    from fencepost.hosts.triton.lowering import is_before_membar, lowered
    from fencepost.hosts.triton.write_back import removable
    from fencepost.ir.source import FencepostError
    from fencepost.report.words import plural

    assert module.source is not None
    if not is_before_membar(module):
        return module, ""
    begin_phase("lowering with Triton")
    try:
        after = lowered(module.source)
    except FencepostError as error:
        return module, f"judged as it stands, before membar: {error.message}"
    there, now = (sum(removable(op) for op in each.walk()) for each in (module, after))
    barriers = plural(now - there, "barrier")
    return after, f"judged as Triton compiles it: lowered, with {barriers} by membar (--as-is: as it stands)"


def is_triton(name: str, text: str) -> bool:
    """Whether a file holds a Triton module: by its name, or else (`-`, `/dev/fd/63`) by its text."""
    suffix = Path(name).suffix
    return suffix in TRITON or (suffix != OWN and _MODULE.match(text) is not None)


def is_ptx(name: str, text: str) -> bool:
    """Whether a file holds PTX: by its name, or else by its first words."""
    suffix = Path(name).suffix
    return suffix == PTX or (suffix not in (OWN, CUDA, *TRITON) and _VERSION.match(text) is not None)


def is_cuda(name: str, text: str) -> bool:
    """Whether a file holds CUDA: by its name, or else by a kernel."""
    suffix = Path(name).suffix
    return suffix == CUDA or (suffix not in (OWN, PTX, *TRITON) and _GLOBAL.search(text) is not None)


def is_thread_level(name: str, text: str) -> bool:
    """Whether a file is judged thread by thread: CUDA and PTX."""
    return is_ptx(name, text) or is_cuda(name, text)
