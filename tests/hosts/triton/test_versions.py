"""Triton is needed only when a module is read, and then in a release that was tried."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.hosts.triton import versions
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.releases import RELEASES, release_of
from fencepost.hosts.triton.versions import require_triton
from fencepost.ir.source import FencepostError, Source


@pytest.mark.parametrize(
    "version",
    ["3.9.0", "3.9.1", "3.9.0+git1234", "3.9.0.post1", "3.8.0", "3.7.1", "3.6.0", "3.5.1", "3.4.0", "3.3.1"],
)
def test_accepted(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(versions, "installed_version", lambda: version)
    assert require_triton() == version


@pytest.mark.parametrize("version", ["3.2.0", "3.10.0", "3.90.0", "2.1"])
def test_refused_with_the_version_found(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(versions, "installed_version", lambda: version)
    with pytest.raises(FencepostError, match=f"triton {version} is installed") as error:
        require_triton()
    assert error.value.code == "FP405"


def test_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "installed_version", lambda: None)
    with pytest.raises(FencepostError, match="not installed") as error:
        read_sources([Source("a.ttgir", "module {}")])
    assert error.value.code == "FP404"
    assert error.value.notes == (("help", "pip install triton==3.9.0"),)


def test_importing_the_host_imports_no_triton() -> None:
    names = [path.stem for path in Path(versions.__file__).parent.glob("*.py")]
    code = "import sys, importlib\n"
    code += "".join(
        f"importlib.import_module('fencepost.hosts.triton.{n}')\n" for n in names if n != "__init__"
    )
    code += "assert 'triton' not in sys.modules and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_release_has_a_row_of_its_own() -> None:
    assert len({release.name for release in RELEASES}) == len(RELEASES)
    for release in RELEASES:
        assert release_of(release.package) is release
    assert release_of("3.10.0") is None
