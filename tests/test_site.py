"""The docs as a site: built without a warning, every page in the menu, every kernel of the gallery with its page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import fencepost as fp
from scripts.gallery_hook import LINE, Shown, shown

ROOT = Path(__file__).parent.parent
GALLERY = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """With the reference and the gallery; one test, because building takes a while."""
    built = subprocess.run(
        # Not --quiet: then warnings are not counted, and do not fail the build.
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    said = [line for line in built.stderr.splitlines() if line and not line.startswith("INFO")]
    assert (built.returncode, built.stdout.strip(), said) == (0, "", [])
    reference = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert "Put in the barriers and waits that a kernel lacks" in reference
    every_link_of_the_gallery_leads_to_a_file(tmp_path)
    for each in shown(GALLERY):
        the_page_of_a_kernel_contains_it(tmp_path, each)


def every_link_of_the_gallery_leads_to_a_file(site: Path) -> None:
    page = (site / "gallery.html").read_text(encoding="utf-8")
    links = set(re.findall(r'(?:href|src)="(gallery/[^"]+)"', page))
    assert links == {f"{each.name}.{kind}" for each in shown(GALLERY) for kind in ("html", "svg", "fp")}
    for link in links:
        assert (site / link).is_file(), link
    assert "Kernel: <code>" not in page


def the_page_of_a_kernel_contains_it(site: Path, each: Shown) -> None:
    kernel = (site / f"{each.name}.fp").read_text(encoding="utf-8")
    name = re.findall(r"^kernel @(\w+)", kernel, flags=re.MULTILINE)
    assert len(name) == 1 and kernel == each.text()
    page = (site / f"{each.name}.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    assert json.loads(data)["texts"][0]["lines"] == kernel.splitlines(), each.name
    picture = ElementTree.parse(site / f"{each.name}.svg").getroot()
    assert f"@{name[0]}" in "".join(picture.itertext())


def test_every_page_is_in_the_menu() -> None:
    menu = re.findall(
        r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert sorted(menu) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def test_the_gallery_names_a_kernel_in_every_section() -> None:
    sections = re.findall(r"^### .*?(?=^##|\Z)", GALLERY, flags=re.MULTILINE | re.DOTALL)
    assert 8 <= len(sections) <= 12
    assert [len(LINE.findall(section)) for section in sections] == [1] * len(sections)
    assert GALLERY.count("\nKernel: ") == len(sections), "a line that the hook does not know"
    names = [each.name for each in shown(GALLERY)]
    assert sorted(set(names)) == sorted(names)


def test_kernels_of_the_gallery_are_what_its_headings_say() -> None:
    """In order: nothing is found. Out of order: something is, and the page shows it."""
    good, bad = GALLERY.split("\n## Out of order\n")
    assert [fp.check(fp.parse(each.text())).ok for each in shown(good)] == [True] * len(shown(good))
    assert [fp.check(fp.parse(each.text())).ok for each in shown(bad)] == [False] * len(shown(bad))
