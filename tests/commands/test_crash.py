"""A mistake in fencepost itself is not taken for something that was found in a kernel."""

from __future__ import annotations

import subprocess
import sys

import pytest

CRASHES = """
import sys
import fencepost.commands.schema as schema
def crash(options):
    raise AssertionError("of ours")
schema.run = crash
sys.argv = ["fencepost", "schema", "check"]
from fencepost.cli import main
sys.exit(main())
"""


def test_a_crash_has_an_exit_code_of_its_own() -> None:
    ran = subprocess.run([sys.executable, "-c", CRASHES], capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 3
    assert "AssertionError: of ours" in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("error: this is a mistake in fencepost")


def test_in_another_program_it_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from fencepost.cli import main
    from fencepost.commands import schema

    def crash(_: object) -> int:
        raise AssertionError("of ours")

    monkeypatch.setattr(schema, "run", crash)
    with pytest.raises(AssertionError, match="of ours"):
        main(["schema", "check"])
