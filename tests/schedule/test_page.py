"""docs/ping-pong.md names tests and files that exist, and every refusal."""

from __future__ import annotations

import re
from pathlib import Path

import fencepost.schedule.loop_refusals as refusals

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "ping-pong.md").read_text(encoding="utf-8")
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for path in [
        *(ROOT / "fencepost" / "schedule").glob("*.py"),
        ROOT / "fencepost" / "commands" / "schedule.py",
    ]
)
TESTS = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))


def test_what_the_page_names_exists() -> None:
    known = set(re.findall(r"^def (test_\w+)", TESTS, flags=re.MULTILINE))
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert len(named) > 30
    assert [name for name in named if name not in known] == []
    files = re.findall(r"`(\w+\.py)`", PAGE)
    assert files
    assert [name for name in files if not (ROOT / "fencepost" / "schedule" / name).is_file()] == []


def test_every_refusal_is_on_the_page_and_has_a_test() -> None:
    codes = set(re.findall(r'"(FP5\d\d)"', SOURCES))
    assert codes == set(re.findall(r"^\| `(FP5\d\d)` \|", PAGE, flags=re.MULTILINE))
    assert [code for code in sorted(codes) if f'"{code}"' not in TESTS and f"[{code}]" not in TESTS] == []
    assert set(re.findall(r"FP5\d\d", refusals.__doc__ or "")) == codes - {"FP514"}
