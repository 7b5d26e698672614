"""A live Triton module in MLIR's generic form, and generic form back to a live module.

All this happens in the user's process, on modules that Triton itself has made: they are printed,
which is safe. Text from elsewhere is parsed in a process of its own, see `module_files`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from fencepost.hosts.triton.parsing_worker import print_generic
from fencepost.hosts.triton.type_aliases import with_types_once
from fencepost.hosts.triton.unparsable_layouts import repaired
from fencepost.hosts.triton.versions import require_triton
from fencepost.ir.source import FencepostError

DESCRIPTORS = Path("/proc/self/fd")
"""Where the open files of this process can be found by their numbers, on Linux."""


def generic_form(module: Any, context: Any = None) -> str:
    """The text of a live module, with locations, that Triton can parse again.

    `context` is the MLIR context that the module lives in. It may be left out where it is noted on the
    module (`module.context`), as it is in every stage of Triton's compiler.
    """
    require_triton()
    context = context if context is not None else getattr(module, "context", None)
    if context is None:
        raise FencepostError("the MLIR context of this module is not known", code="FP406",
                             notes=[("help", "pass it: generic_form(module, context)")])  # fmt: skip
    text = print_generic(module, context)
    if not text:
        raise FencepostError("Triton did not print this module in generic form", code="FP406")
    return repaired(text).text


def touches_shared(text: str) -> bool:
    """Whether a module can touch shared memory at all."""
    return "ttg.local_alloc" in text or "allocation.offset" in text


def parse_live(text: str, context: Any) -> Any:
    """A live module of this process from text that came out of `generic_form` and edits to it.

    Meant for text that we made ourselves: a mistake in other text may end the process (see `module_files`).
    """
    require_triton()
    ir = import_module("triton._C.libtriton").ir
    with text_file(with_types_once(text)) as path:
        try:
            module = ir.parse_mlir_module(path, context)
        except RuntimeError:
            raise FencepostError("Triton does not accept the changed module", code="FP402") from None
    # The compiler's stages look for the context there.
    module.context = context
    return module


@cache
def _files_in_memory() -> bool:
    """Whether a file can be made in memory and opened by its path."""
    return hasattr(os, "memfd_create") and DESCRIPTORS.is_dir()


@contextmanager
def text_file(text: str) -> Iterator[str]:
    """The path of a file with a text, for as long as it is needed: the bindings parse nothing else."""
    if not _files_in_memory():
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="fencepost-", suffix=".mlir") as file:
            file.write(text)
            file.flush()
            yield file.name
        return
    # In memory: to make a file on a disk takes as long as parsing a small module.
    memory = os.memfd_create("fencepost")
    try:
        rest = memoryview(text.encode())
        while rest:
            rest = rest[os.write(memory, rest) :]
        yield f"{DESCRIPTORS}/{memory}"
    finally:
        os.close(memory)
