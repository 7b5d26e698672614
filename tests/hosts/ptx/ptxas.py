"""ptxas of CUDA 13, which Triton's package brings for newer GPUs: whether it accepts a text."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path


def assert_assembles(text: str, folder: Path, architecture: str = "sm_80") -> None:
    """Fails with what ptxas says unless it makes a cubin of the text."""
    spec = find_spec("triton")
    assert spec is not None and spec.origin is not None
    ptxas = Path(spec.origin).parent / "backends" / "nvidia" / "bin" / "ptxas-blackwell"
    source = folder / "assembled.ptx"
    source.write_text(text, encoding="utf-8")
    command = [str(ptxas), f"-arch={architecture}", str(source), "-o", str(folder / "assembled.cubin")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
