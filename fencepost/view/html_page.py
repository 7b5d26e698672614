"""A page as one HTML file: template, style, script and data, with nothing to fetch from anywhere."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files

from fencepost.view.page_data import Page, as_json


def html_page(page: Page) -> str:
    """The whole file."""
    assets = files("fencepost.view") / "assets"
    parts = {
        "title": escape(f"{page.title} · fencepost"),
        "style": (assets / "page.css").read_text(encoding="utf-8"),
        "data": _inside_script(json.dumps(as_json(page), ensure_ascii=False, separators=(",", ":"))),
        "script": (assets / "page.js").read_text(encoding="utf-8"),
    }
    # One part after the other: what a part contains is never taken for a place of another.
    text = (assets / "page.html").read_text(encoding="utf-8")
    out = []
    for number, piece in enumerate(text.split("{{")):
        name, closing, rest = piece.partition("}}")
        out += [parts[name.strip()], rest] if number and closing else [piece]
    return "".join(out)


def _inside_script(text: str) -> str:
    """JSON that no kernel's text can end early: `</script>` in a comment stays text."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
