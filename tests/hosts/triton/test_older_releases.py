"""The tests of a release, run with older ones: each in an environment of its own (`make releases`)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fencepost.hosts.triton.releases import NEWEST, RELEASES
from scripts.triton_environment import environment_of, is_made
from tests.tiers import sweep

ROOT = Path(__file__).parents[3]
SUITE = ("test_shared_memory_effects.py", "test_release.py")
OLDER = [release for release in RELEASES if release is not NEWEST]


LACK_LINKER = ("3.4", "3.3")
"""Releases that come without a linker for AMD's GPUs, which would not compile for them then."""


@pytest.mark.parametrize("name", sweep([release.name for release in OLDER], chosen=("3.6",)))
def test_an_older_release(name: str) -> None:
    (release,) = (release for release in OLDER if release.name == name)
    if not is_made(release):
        pytest.skip(
            f"no environment with triton {release.package}: python scripts/triton_environment.py {name}"
        )
    python = environment_of(release) / "bin" / "python"
    tests = [str(ROOT / "tests" / "hosts" / "triton" / each) for each in SUITE]
    done = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env={**os.environ, **linker(name), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert f"with triton {release.package}" in done.stdout


def linker(release: str) -> dict[str, str]:
    """What stands for the linker where there is none: nothing that is linked is looked at."""
    found = shutil.which("true")
    return {"TRITON_HIP_LLD_PATH": found} if release in LACK_LINKER and found else {}
