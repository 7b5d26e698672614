"""The bundled kernels, as text."""

from __future__ import annotations

from importlib.resources import files

from fencepost.ir.parser import parse
from fencepost.ir.trace import CapturedTrace

BUNDLED = ("gemm", "gemm_prefetch", "attention", "reduction")


def bundled_kernel(name: str) -> CapturedTrace:
    """A bundled kernel, fresh each time."""
    return parse((files("fencepost.kernels") / f"{name}.fp").read_text(encoding="utf-8"), f"{name}.fp")
