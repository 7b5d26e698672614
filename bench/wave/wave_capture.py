"""Compiling an entry with a barrier pass of one's own in the place of Wave's.

Wave calls its passes through attributes of one module; whoever replaces `add_shared_memory_barriers` there gets the
trace right before barriers are put in. The name `wave_lang.kernel.wave.wave` means a decorator to `import … as`, so
the module is asked for by its name.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from wave_lang.kernel.wave.compile import wave_compile
from wave_model import Build, Entry

from fencepost.hosts.wave import installed

PIPELINE: Any = importlib.import_module("wave_lang.kernel.wave.wave")
stock_pass: Callable[..., None] = PIPELINE.add_shared_memory_barriers
BarrierPass = Callable[[Any, str], None]


@contextlib.contextmanager
def barrier_pass(replacement: BarrierPass) -> Iterator[None]:
    """Puts a function into the place of Wave's pass."""
    before = PIPELINE.add_shared_memory_barriers
    PIPELINE.add_shared_memory_barriers = lambda trace, target="": replacement(trace, target)
    try:
        yield
    finally:
        PIPELINE.add_shared_memory_barriers = before


@contextlib.contextmanager
def fencepost_pass() -> Iterator[BarrierPass]:
    """Installs fencepost as a user would, and gives its pass. That it leaves a kernel to Wave is an error here."""
    with installed("replace"), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fencepost left this kernel")
        yield PIPELINE.add_shared_memory_barriers


def compile_entry(entry: Entry, build: Build | None = None) -> str:
    """The MLIR of an entry. Wave prints the whole trace when a pass fails; the exception says enough."""
    build = build or entry.build()
    with contextlib.redirect_stdout(io.StringIO()):
        return str(wave_compile(build.options, build.kernel, build.schedule).asm)


def compile_with(entry: Entry, replacement: BarrierPass, build: Build | None = None) -> str:
    """The MLIR of an entry with another barrier pass."""
    with barrier_pass(replacement):
        return compile_entry(entry, build)
