"""Which GPU a CUDA file is compiled for, where the user names none: the oldest one that it compiles for.

Code that stands behind `#if __CUDA_ARCH__ >= 900` is not compiled for older ones, without a word from the compiler;
a verdict says that it was not judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from fencepost.hosts.ptx.compiler.nvrtc import DEFAULT_ARCHITECTURE
from fencepost.hosts.ptx.reading.statements import without_comments
from fencepost.ir.source import FencepostError

Result = TypeVar("Result")
NEWER = ("sm_90", "sm_100")
"""What is tried if a file does not compile for the usual one."""
_ASKED = re.compile(r"\b__CUDA_ARCH__\s*(>=?)\s*(\d{3,4})\b")


def oldest_that_compiles(compile_for: Callable[[str], Result]) -> tuple[str, Result]:
    """The usual architecture, or a newer one that a file needs; if none will do, what is wrong with the usual one."""
    try:
        return DEFAULT_ARCHITECTURE, compile_for(DEFAULT_ARCHITECTURE)
    except FencepostError as error:
        if error.code != "FP431" or not error.marks:
            raise
        for each in NEWER:
            try:
                return each, compile_for(each)
            except FencepostError:
                continue
        raise


def notes_about(text: str, architecture: str, *, chosen: bool) -> tuple[str, ...]:
    """What a verdict has to say about the architecture: that a newer one was needed, or that code is left out."""
    found = []
    if chosen and architecture != DEFAULT_ARCHITECTURE:
        found.append(f"compiled for {architecture}: it does not compile for {DEFAULT_ARCHITECTURE}")
    number = re.match(r"sm_(\d+)", architecture)
    asked = {int(each[2]) + (each[1] == ">"): each[0] for each in _ASKED.finditer(without_comments(text))}
    newer = [each for each in asked if number and each > 10 * int(number[1])]
    if newer:
        usual = next((each for each in NEWER if 10 * int(each[3:]) >= max(newer)), "")
        more = f"; --target {usual} has it" if usual else ""
        condition = " ".join(asked[max(newer)].split())
        found.append(
            f"what stands behind `{condition}` is not compiled for {architecture}, and not judged{more}"
        )
    return tuple(found)
