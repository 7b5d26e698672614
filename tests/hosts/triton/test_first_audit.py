"""The script that docs/triton.md begins with, run as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "triton.md"


def test_the_script_of_the_page_needs_no_gpu_and_prints_what_the_page_says(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(
        r"^`softmax\.py`:\n\n```python\n(.*?)^```\n\n```text\n\$ python softmax\.py\n(.*?)^```",
        text,
        re.MULTILINE | re.DOTALL,
    )
    assert found is not None
    (tmp_path / "softmax.py").write_text(found[1], encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "softmax.py"],
        cwd=tmp_path,
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache"), "TRITON_DEFAULT_FP_FUSION": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found[2] in ran.stderr
