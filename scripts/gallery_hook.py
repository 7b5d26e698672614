"""The kernels of docs/gallery.md, each with its picture and its page of `fencepost view`: a hook of mkdocs.

A line of docs/gallery.md such as

    Kernel: `fencepost/kernels/gemm.fp`, after `insert -t gfx942`.

names a file of the repository. When the site is built, the page and the picture are made from it, and the line gets
the picture and the links. Nothing of that is kept in the repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import fencepost as fp
from fencepost.ir.printer import print_file
from fencepost.view.html_page import html_page
from fencepost.view.kernel_page import page_of
from fencepost.view.svg_picture import svg_picture

ROOT = Path(__file__).parent.parent
GALLERY = "gallery.md"
EXPECT = "# EXPECT:"
"""What kernels of tests/corpus say about their findings."""
LINE = re.compile(r"^Kernel: `([\w/-]+\.fp)`(?:, after `insert -t (\w+)`)?\.$", flags=re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A kernel of the gallery."""

    path: str
    """Its file, from the root of the repository."""
    target: str
    """It is shown with the barriers of `insert` for this target; empty: as it stands."""

    @property
    def name(self) -> str:
        """What its files on the site are called."""
        return f"gallery/{Path(self.path).stem}" + (f"-{self.target}" if self.target else "")

    def text(self) -> str:
        """The kernel that is shown, without what is there for the tests."""
        written = (ROOT / self.path).read_text(encoding="utf-8")
        text = "".join(line for line in written.splitlines(keepends=True) if not line.startswith(EXPECT))
        if not self.target:
            return text
        trace = fp.parse(text)
        fp.insert_barriers(trace, self.target)
        return print_file([trace])


def shown(markdown: str) -> list[Shown]:
    """The kernels that the page names."""
    return [Shown(path, target) for path, target in LINE.findall(markdown)]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Make the pages and pictures."""
    markdown = (Path(config.docs_dir) / GALLERY).read_text(encoding="utf-8")
    for each in shown(markdown):
        if not (ROOT / each.path).is_file():
            raise PluginError(f"docs/{GALLERY} names {each.path}, and there is no such file")
        text = each.text()
        # Parsed again where barriers were put in: lines are those of the text that is shown.
        page = page_of([fp.parse(text, Path(each.path).name)], each.target)
        made = {".html": html_page(page), ".svg": svg_picture(page, page.kernels[0]), ".fp": text}
        for ending, content in made.items():
            # A kernel that stands in docs/ is a file of the site already.
            if files.get_file_from_path(each.name + ending) is None:
                files.append(File.generated(config, each.name + ending, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the pictures and links into the page."""
    del config, files
    if page.file.src_uri != GALLERY:
        return markdown

    def linked(match: re.Match[str]) -> str:
        each = Shown(match[1], match[2] or "")
        after = f", after `insert -t {each.target}`" if each.target else ""
        title = Path(each.path).stem.replace("_", " ")
        return (
            f"[![{title}]({each.name}.svg){{ loading=lazy .gallery }}]({each.name}.html)\n\n"
            f"[The page]({each.name}.html) · [the kernel]({each.name}.fp) · `{each.path}`{after}"
        )

    return LINE.sub(linked, markdown)
