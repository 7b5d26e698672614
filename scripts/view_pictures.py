"""The pictures that `fencepost view` made for README.md and docs/view.md.

    python scripts/view_pictures.py

Kernels are read from the pages, so that a picture shows what its page shows. tests/view/test_pictures.py compares.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import fencepost as fp
from fencepost.ir.printer import print_file
from fencepost.view.kernel_page import page_of
from fencepost.view.svg_picture import svg_picture

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class ViewPicture:
    """A picture of a kernel that a page shows, as it stands or with the barriers of `insert`."""

    name: str
    page: str
    kernel: str
    inserted: bool = False

    @property
    def path(self) -> Path:
        """Where it stands."""
        return ROOT / "docs" / f"{self.name}.svg"

    def draw(self) -> str:
        """The text of the SVG file."""
        text = (ROOT / self.page).read_text(encoding="utf-8")
        found = re.search(rf"^```fp\n(kernel @{self.kernel}\b.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert found is not None, f"{self.page} shows no kernel @{self.kernel}"
        kernel = fp.parse(found[1], f"{self.kernel}.fp")
        if self.inserted:
            fp.insert_barriers(kernel)
            # Parsed again: lines are those of the text that is shown.
            kernel = fp.parse(print_file([kernel]), f"{self.kernel}.fp")
        page = page_of([kernel], "", mended=False)
        return svg_picture(page, page.kernels[0])


PICTURES = (
    ViewPicture("race", "README.md", "gemm"),
    ViewPicture("mended", "README.md", "gemm", inserted=True),
    ViewPicture("view", "docs/view.md", "tile"),
)


def main() -> int:
    """Write all pictures."""
    for picture in PICTURES:
        picture.path.write_text(picture.draw(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
