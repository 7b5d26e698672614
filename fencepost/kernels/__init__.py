"""The bundled kernels, as text."""

from __future__ import annotations

from importlib.resources import files

from fencepost.ir.parser import parse
from fencepost.ir.trace import CapturedTrace

BUNDLED = ("gemm", "gemm_prefetch", "attention", "reduction")
"""Those that `fencepost demo` tells about."""
KERNELS = (*BUNDLED, "gemm_modulo", "attention_prefetch", "attention_modulo")
"""Those and more of their kind."""
TO_SCHEDULE = ("gemm_pingpong", "gemm_async")
"""Those that `fencepost schedule` is shown with, an operation for every instruction."""


def bundled_kernel(name: str) -> CapturedTrace:
    """A bundled kernel, fresh each time."""
    return parse((files("fencepost.kernels") / f"{name}.fp").read_text(encoding="utf-8"), f"{name}.fp")
