"""How quickly pages of `fencepost view` are made, open and react, measured in a real browser.

    python bench/view.py [--operations 5000]

Prints processor seconds to make the page, its size, and (by the browser's own clock) the milliseconds until it is
ready, for a step of the run, for a jump through the kernel and for a search; and how many elements the document has.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fencepost.ir.parser import parse  # noqa: E402
from fencepost.view.html_page import html_page  # noqa: E402
from fencepost.view.kernel_page import page_of  # noqa: E402
from tests.view.browser import Browser, browser, installed  # noqa: E402
from tests.view.kernels import large  # noqa: E402

REACTIONS = {
    "a step of the run": "document.getElementById('forward').click()",
    "a jump to the end": "document.getElementById('code').scrollTop = 1e9",
    "a search": "const s = document.getElementById('search'); s.value = '%x7'; s.dispatchEvent(new Event('input'))",
    "a barrier switched": "document.getElementById('switch-0').click()",
}
NEXT_FRAME = """
    const done = arguments[arguments.length - 1], start = performance.now();
    {action};
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
"""


def main() -> int:
    """Measure and print; 1 if there is no browser."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--operations", type=int, default=5_000)
    operations = options.parse_args().operations
    if not installed():
        sys.stderr.write("there is no browser: scripts/install_chromium.sh\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        page = page_of([parse(large(operations), "large.fp")])
        path = Path(folder) / "large.html"
        path.write_text(html_page(page), encoding="utf-8")
        made = time.process_time() - start
        size = path.stat().st_size
        print(f"{operations:,} operations: made in {made:.1f} s of processor time, {size / 1e6:.1f} MB")
        with browser(Path(folder)) as window:
            measure(window, path)
    return 0


def measure(window: Browser, path: Path) -> None:
    """Open the page and use it."""
    for attempt in ("first", "again"):
        window.open(path)
        ready = window.run("return document.documentElement.dataset.ready")
        print(f"  ready after {ready} ms ({attempt}), {window.run(COUNT)} elements")
    for name, action in REACTIONS.items():
        took = window.driver.execute_async_script(NEXT_FRAME.replace("{action}", action))
        print(f"  {name}: {took:.0f} ms to the next frame, {window.run(COUNT)} elements")


COUNT = "return document.querySelectorAll('*').length"

if __name__ == "__main__":
    sys.exit(main())
