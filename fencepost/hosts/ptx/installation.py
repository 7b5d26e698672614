"""fencepost in a user's process: every kernel that numba-cuda, CuPy or CuTe DSL compiles is judged from its PTX.

    import fencepost.hosts.ptx as host

    host.install("audit", block=256)
    host.uninstall()

    with host.installed("audit"):
        ...

A package is looked at once it is imported, before or after this. Nothing is changed: what each compiles runs as it
would. Kernels that come from a package's cache are not compiled, and not judged. Without a mode, the environment
variable FENCEPOST_PTX says which, `audit` if it is not set; `off` switches everything off.
"""

from __future__ import annotations

import os
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

from fencepost.hosts.common.after_import import AfterImport
from fencepost.hosts.common.audits import print_audit
from fencepost.hosts.common.installations import Installations
from fencepost.hosts.common.modes import REPLACE, mode_of
from fencepost.hosts.ptx.audit import Audit
from fencepost.hosts.ptx.front_ends import CUTE_FOLDER, CUTE_VARIABLES, HOOKS, Replacements
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.ir.source import FencepostError, Source

VARIABLE = "FENCEPOST_PTX"
Block = int | tuple[int, int, int]


@dataclass
class Installation:
    """What is installed, and what has been found so far."""

    mode: str
    show: Callable[[Audit], None] | None
    block: Block | None = None
    """The threads of a block, where PTX does not say; None for any number."""
    audits: list[Audit] = field(default_factory=list)
    replaced: Replacements = field(default_factory=Replacements)
    waiting: AfterImport | None = None
    variables: list[str] = field(default_factory=list)
    """Environment variables that were set."""
    folder: Any = None
    """Where CuTe DSL writes its files."""
    seen: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, front_end: str, text: str) -> None:
        """Judge the kernels of a text; each text once."""
        with self.lock:
            if text in self.seen:
                return
            self.seen.add(text)
        try:
            found = self.judged(front_end, text)
        except Exception as error:  # whatever it is, the user's kernel has to run
            self.warn(f"fencepost cannot judge what {front_end} compiled: {error}")
            return
        for each in found:
            self.audits.append(each)
            if self.show is not None:
                self.show(each)

    def judged(self, front_end: str, text: str) -> list[Audit]:
        """What is said of each kernel of a text; a text may have none."""
        from fencepost.hosts.ptx import check
        from fencepost.hosts.ptx.reading.kernel_names import kernels_in

        source = Source(f"<{front_end}>", text)
        found = []
        for kernel in kernels_in(text):
            (verdict,) = check(text, block=self.block, kernel=kernel, file=source.name)
            found.append(Audit(front_end, JudgedPtx(source.name, verdict, source)))
        return found

    def hook(self, name: str, module: ModuleType) -> None:
        """Look at a package that is imported now."""
        front_end, hook = HOOKS[name]
        try:
            hook(module, self.replaced, self.tell, self.warn)
        except AttributeError as error:
            self.warn(f"this release of {front_end} is not one that fencepost knows: {error}")

    def keep_ptx_of_cute(self) -> None:
        """Have CuTe DSL keep PTX; files that it writes for that go to a folder of their own."""
        self.folder = tempfile.TemporaryDirectory(prefix="fencepost-")
        for name, value in (CUTE_VARIABLES | {CUTE_FOLDER: self.folder.name}).items():
            if name not in os.environ:
                self.variables.append(name)
                os.environ[name] = value

    @staticmethod
    def warn(text: str) -> None:
        """Say what did not happen that the user asked for."""
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def install(
    mode: str | None = None, *, block: Block | None = None, show: Callable[[Audit], None] | None = None
) -> Installation | None:
    """Judge every kernel that numba-cuda, CuPy or CuTe DSL compiles from now on.

    `block` are the threads of a block where PTX does not say. `show` is called with what was found about each
    kernel; by default it is printed to standard error.
    """
    mode = mode_of(mode, "ptx", VARIABLE, "FP433")
    if mode is None:
        return None
    if mode == REPLACE:
        raise FencepostError(
            "what is compiled to PTX is audited, not changed",
            code="FP433",
            notes=[("help", "`fencepost prune` and `fencepost insert` change PTX and CUDA files")],
        )
    uninstall()
    made = Installation(mode, show or print_audit, block)
    made.keep_ptx_of_cute()
    made.waiting = AfterImport({name: partial(made.hook, name) for name in HOOKS})
    made.waiting.install()
    _installations.put(made)
    return made


def uninstall() -> None:
    """Let the packages alone again."""
    _installations.clear()


def installed(mode: str | None = None, **options: Any) -> AbstractContextManager[Installation | None]:
    """`install` for the body of a `with` statement."""
    return _installations.nested(
        lambda: install(mode, **options),
        lambda outer: install(outer.mode, block=outer.block, show=outer.show),
    )


def _take_out(made: Installation) -> None:
    if made.waiting is not None:
        made.waiting.uninstall()
    made.replaced.undo()
    for name in made.variables:
        os.environ.pop(name, None)
    if made.folder is not None:
        made.folder.cleanup()


_installations = Installations(_take_out)
