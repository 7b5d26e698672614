"""The five kinds of races that Wave's own pass leaves: seen by `audit`, and gone with fencepost's barriers."""

from __future__ import annotations

import pytest

from fencepost.hosts import wave as host
from fencepost.hosts.wave import Audit
from tests.hosts.wave import kernels
from tests.tiers import sweep


def judged(source: kernels.Source, mode: str) -> Audit:
    found: list[Audit] = []
    with host.installed(mode, show=found.append):
        source.compiled()
    return found[0]


@pytest.mark.parametrize("kind", kernels.RACES)
def test_gfx942(kind: str) -> None:
    assert len(judged(kernels.RACES[kind](), "audit").races) == 1
    assert not judged(kernels.RACES[kind](), "replace").races


@pytest.mark.parametrize("kind", sweep(["a", "c", "d", "e"], first=1))
def test_gfx1201(kind: str) -> None:
    assert len(judged(kernels.RACES[kind]("gfx1201"), "audit").races) == 1
    assert not judged(kernels.RACES[kind]("gfx1201"), "replace").races


def test_the_report_names_the_users_lines() -> None:
    audit = judged(kernels.write_then_write(), "audit")
    text = str(audit)
    assert text.startswith("fencepost: @four (gfx942): 2 barriers, 0 redundant, 1 race")
    assert "kernels.py:" in text
