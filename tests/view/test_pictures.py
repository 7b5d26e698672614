"""Pages and pictures as files: whatever a kernel's text is, they hold it and stay well-formed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import fencepost
from fencepost.ir.parser import parse
from fencepost.view.html_page import html_page
from fencepost.view.kernel_page import page_of
from fencepost.view.svg_picture import svg_picture
from scripts.view_pictures import PICTURES, ViewPicture
from tests.view.kernels import COPY, HANGS, RACY, RING, SKEWED, SPLIT, TILE, large, page

WRONG_PHASE = Path(__file__).parents[2] / "docs" / "gallery" / "wrong_phase.fp"
ODD = "# </script><script>alert(1)</script> {{ data }} \u2028 & 行 \x01\n" + RACY


def data_of(html: str) -> dict[str, object]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    read: dict[str, object] = json.loads(found)
    return read


def in_notebook(value: object) -> str:
    """What a notebook shows for the value of a cell."""
    html = getattr(value, "_repr_html_")()  # noqa: B009
    assert isinstance(html, str)
    return html


def test_no_text_of_a_kernel_ends_the_data_early() -> None:
    html = html_page(page_of([parse(ODD, "odd.fp")]))
    assert html.count("<script") == 2
    texts = data_of(html)["texts"]
    assert isinstance(texts, list) and texts[0]["lines"][0].startswith("# </script>")


def test_the_page_has_a_title_and_all_of_its_parts() -> None:
    html = html_page(page(TILE))
    assert "<title>kernel.fp · fencepost</title>" in html
    assert "{{" not in html.replace(json.dumps(TILE), "").split('id="data"')[0]


@pytest.mark.parametrize("text", [TILE, RACY, RING, COPY, SPLIT, HANGS, SKEWED, ODD, large(600)])
def test_pictures_are_well_formed(text: str) -> None:
    made = page_of([parse(text)], mended=False)
    svg = svg_picture(made, made.kernels[0])
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"].startswith(f"@{made.kernels[0].name}: ")
    assert len(svg) < 300_000


def test_the_picture_of_a_race_says_what_happens() -> None:
    svg = svg_picture(page(RACY), page(RACY).kernels[0])
    assert "⚡ RAW: wave 1 reads %a (line 6) before wave 0" in svg
    assert "dashed: nothing covers it" in svg


def test_the_picture_of_a_clean_kernel_shows_what_a_barrier_is_there_for() -> None:
    svg = svg_picture(page(TILE), page(TILE).kernels[0])
    assert "Waves over time, without line 7" in svg and "line-through" in svg


def test_the_picture_of_a_wrong_kernel_shows_what_goes_wrong_in_it() -> None:
    """Not what would go wrong without one of its barriers."""
    made = page_of([parse(WRONG_PHASE.read_text(encoding="utf-8"))], mended=False)
    assert any(scenario.switched_off for scenario in made.kernels[0].scenarios)
    svg = svg_picture(made, made.kernels[0])
    assert ">Waves over time</text>" in svg and "⚡ RAW: wave 0 reads %a" in svg
    assert ">✗</text>" in svg, "the wait for the wrong phase is marked"


def test_kernels_reports_and_results_show_themselves_in_a_notebook() -> None:
    kernel = fencepost.parse(RACY)
    report = fencepost.check(kernel)
    for value in (kernel, report):
        html = in_notebook(value)
        assert "<svg" in html and "<script" not in html
    assert "error[FP001]" in in_notebook(report)
    done = fencepost.insert_barriers(kernel)
    html = in_notebook(done)
    assert "2 barriers and waits inserted by" in html and "without it, " in html and "<svg" in html
    assert "<li>line 5: without it, " in html and "(line 6) in iteration" in html
    assert html.count(">barrier  # ") == 2 and "without line 0" not in html, "the kernel as it is now"
    assert in_notebook(kernel).count(">barrier  # ") == 2
    assert "0 barriers and waits" in in_notebook(fencepost.insert_barriers(kernel))


def test_a_kernel_under_construction_shows_itself() -> None:
    kernel = fencepost.Kernel("built", waves=2)
    kernel.write(kernel.shared("a", bytes=64))
    assert "@built" in in_notebook(kernel)


def test_a_large_kernel_shows_its_text_in_a_notebook() -> None:
    assert in_notebook(fencepost.parse(large(600))).startswith("<pre")


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_pictures_of_the_docs_are_those_that_would_be_drawn_now(picture: ViewPicture) -> None:
    """`python scripts/view_pictures.py` draws them."""
    assert picture.path.read_text(encoding="utf-8") == picture.draw()
