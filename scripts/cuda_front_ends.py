"""Makes an environment with the Python packages that compile CUDA and that `fencepost.hosts.ptx.install` looks at.

    python scripts/cuda_front_ends.py

It is in `.venv/cuda-front-ends`; fencepost and what it needs come from `.venv`, which this is run with. About 1.3 GB.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".venv" / "cuda-front-ends"
MADE = "made"
"""The file that says which packages are there, written last."""
PACKAGES = (
    "numba-cuda==0.30.4",
    "numba==0.68.1",
    "cuda-python==13.2.0",
    # cuda-python looks for all of CUDA in one folder: with NVVM here, it does not see the NVRTC of `.venv`.
    "nvidia-nvvm==13.4.92",
    "nvidia-cuda-nvrtc==13.4.92",
    "cupy-cuda13x==14.2.0",
    "nvidia-cutlass-dsl==4.8.1",
)
"""The releases that were tried together."""


def is_made() -> bool:
    """Whether it is there, with the packages that are named now."""
    made = FOLDER / MADE
    return made.is_file() and made.read_text(encoding="utf-8").split() == list(PACKAGES)


def make() -> None:
    """Make it anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER, symlinks=True)
    folder = sysconfig.get_path("purelib", vars={"base": str(FOLDER), "platbase": str(FOLDER)})
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--target", folder, *PACKAGES], check=True)
    # Behind its own packages.
    others = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (Path(folder) / "others.pth").write_text(others, encoding="utf-8")
    (FOLDER / MADE).write_text("\n".join(PACKAGES), encoding="utf-8")


if __name__ == "__main__":
    if not is_made():
        make()
