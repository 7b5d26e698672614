"""Reading kernels from files and writing results, so that a failed run never harms a file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from fencepost.ir.parser import parse_all
from fencepost.ir.source import FencepostError, Source
from fencepost.ir.trace import CapturedTrace

STDIN = "-"


def read_kernels(name: str) -> list[CapturedTrace]:
    """The kernels in a file, or on standard input if it is called `-`."""
    kernels = parse_all(_text(name), "<stdin>" if name == STDIN else name)
    if not kernels:
        raise FencepostError("there is no kernel in this file", code="FP102", source=Source(name, ""))
    return kernels


def _text(name: str) -> str:
    if Path(name).suffix in (".ttgir", ".mlir"):
        raise FencepostError(
            "Triton modules cannot be read yet", code="FP112", source=Source(name, ""),
            notes=[("help", "kernels in fencepost's own text form (.fp) can")],
        )  # fmt: skip
    try:
        raw = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise FencepostError(f"cannot read {name}: {error.strerror}", code="FP112") from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise FencepostError(f"{name}:{line}: not UTF-8 text", code="FP112") from None


def write_text(path: str, text: str) -> None:
    """Replace a file in one step: whoever looks sees the old text or the new one, never a part."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise FencepostError(f"cannot write {path}: {error.strerror}", code="FP112") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise FencepostError(f"cannot write {path}: {error.strerror}", code="FP112") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
