"""The docs as a site: built without a warning, every page in the menu."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert (built.returncode, built.stdout.strip(), built.stderr.strip()) == (0, "", "")
    reference = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert "Put in the barriers and waits that a kernel lacks" in reference


def test_every_page_is_in_the_menu() -> None:
    menu = re.findall(
        r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert sorted(menu) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))
