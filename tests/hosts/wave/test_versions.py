"""Wave is needed only by its host, and then in a release that was tried."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fencepost.hosts.wave import versions
from fencepost.ir.source import FencepostError


@pytest.mark.parametrize("version", ["3.9.0", "3.9.1", "3.9.1+git1234"])
def test_accepted(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(versions, "installed_version", lambda: version)
    assert versions.require_wave() == version


@pytest.mark.parametrize("version", ["3.8.1", "3.10.0", "3.90.0", "4.0"])
def test_refused_with_the_version_found(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(versions, "installed_version", lambda: version)
    with pytest.raises(FencepostError, match=f"wave-lang {version} is installed") as error:
        versions.require_wave()
    assert error.value.code == "FP421"


WITHOUT_WAVE = """
import importlib.metadata as metadata
real = metadata.version
def version(name):
    if name == "wave-lang":
        raise metadata.PackageNotFoundError(name)
    return real(name)
metadata.version = version
try:
    import fencepost.hosts.wave
except ImportError as error:
    print(error.code, error)
"""


def test_importing_the_host_without_wave_says_what_to_install() -> None:
    found = subprocess.run([sys.executable, "-c", WITHOUT_WAVE], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("FP420 ")
    assert "pip install torch==2.13.0 wave-lang==3.9.1" in found.stdout


def test_importing_fencepost_imports_neither_torch_nor_wave() -> None:
    code = "import sys, fencepost; print(sorted({'torch', 'sympy', 'wave_lang'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
