"""`assert_race_free`: what it takes, what a failure shows, and that pytest is not needed to import it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import fencepost as fp
from fencepost.pytest_plugin import assert_race_free

CLEAN = "kernel @clean waves=4 {\n  shared %a : 64\n  write %a\n  barrier\n  read %a\n}\n"
RACY = "kernel @racy waves=4 {\n  shared %a : 64\n  write %a\n  read %a\n}\n"
ROOT = Path(__file__).parent.parent


def message(kernel: object, **options: object) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_race_free(kernel, **options)  # type: ignore[arg-type]
    return str(failed.value)


def test_kernels_texts_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "clean.fp").write_text(CLEAN)
    for clean in (CLEAN, fp.parse(CLEAN), tmp_path / "clean.fp", str(tmp_path / "clean.fp"), tmp_path):
        assert_race_free(clean)
    (tmp_path / "racy.fp").write_text(RACY)
    for racy in (RACY, fp.parse(RACY), tmp_path / "racy.fp", str(tmp_path / "racy.fp"), tmp_path):
        assert "error[FP001]: wave 1 can read %a before wave 0 has written it" in message(racy)


def test_the_first_line_says_which_kernel_and_what_is_wrong(tmp_path: Path) -> None:
    """It is all that the summary of a run shows."""
    assert message(RACY).splitlines()[0] == "@racy: 1 race"
    (tmp_path / "both.fp").write_text(RACY + CLEAN + RACY.replace("@racy", "@too"))
    assert message(tmp_path).splitlines()[0] == "@racy: 1 race; @too: 1 race"


def test_a_kernel_that_was_built_in_python() -> None:
    kernel = fp.Kernel("built", waves=4)
    tile = kernel.shared("a", bytes=64)
    kernel.write(tile)
    kernel.read(tile)
    assert "@built: 1 race" in message(kernel)


def test_every_kernel_of_a_text_is_judged() -> None:
    assert "@racy: 1 race" in message(CLEAN + RACY)


def test_what_is_not_proven_fails_unless_that_is_enough() -> None:
    long = CLEAN.replace("  write", "  loop %i in 0..9 {\n  write").replace(
        "read %a\n", "read %a\n  barrier\n  }\n"
    )
    ringed = long.replace(": 64", ": 8 x 64").replace("%a\n", "%a[%i % 8]\n")
    assert_race_free(ringed)
    assert "not a proof" in message(ringed, budget=1)
    assert_race_free(ringed, budget=1, proof=False)


def test_what_a_comment_allows_does_not_fail_and_is_named_where_something_else_does(tmp_path: Path) -> None:
    allowed = RACY.replace("read %a", "read %a  # fencepost: allow FP001: the tile is constant")
    assert_race_free(allowed)
    assert_race_free(fp.parse(allowed))
    (tmp_path / "k.fp").write_text(allowed)
    assert_race_free(tmp_path / "k.fp")
    more = allowed.replace("64\n", "64\n  shared %b : 64\n").replace("}", "  write %b\n  read %b\n}")
    text = message(more)
    assert text.count("error[FP001]") == 1 and "%b before wave 0" in text
    assert "@racy: 1 race, 1 silenced" in text
    assert "silenced FP001 (1 finding): the tile is constant" in text
    assert "error[FP001]" in message(RACY.replace("read %a", "read %a  # fencepost: allow FP001"))


def test_what_cannot_be_judged_fails(tmp_path: Path) -> None:
    assert "cannot read" in message(tmp_path / "missing.fp")
    assert "there is no kernel below" in message(tmp_path)
    assert "error[FP101]" in message("kernel {\n")
    assert "there is no kernel in this text" in message("\n")


def test_pytest_shows_the_diagnostic_and_gives_the_fixture(tmp_path: Path) -> None:
    test = f"RACY = {RACY!r}\n\ndef test_racy(assert_race_free):\n    assert_race_free(RACY)\n"
    (tmp_path / "test_it.py").write_text(test)
    # By its module, whether or not an installation has announced it.
    command = [sys.executable, "-m", "pytest", "-p", "fencepost.pytest_plugin", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [*command, "test_it.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "error[FP001]: wave 1 can read %a before wave 0 has written it" in ran.stdout
    assert "fix: a barrier before line 4" in ran.stdout
    assert "pytest_plugin.py" not in ran.stdout, "the failure is shown where the test calls it"


def test_pytest_finds_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (module,) = project["project"]["entry-points"]["pytest11"].values()
    assert vars(import_module(module))["assert_race_free"] is assert_race_free


def test_pytest_is_not_needed() -> None:
    code = (
        "import sys; sys.modules['pytest'] = None\n"
        "from fencepost.pytest_plugin import assert_race_free\n"
        f"assert_race_free({CLEAN!r})\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
