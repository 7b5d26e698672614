"""`fencepost view`: what is written, and what is refused."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from fencepost.codes.lookup import page_of
from fencepost.view import png_picture
from tests.conftest import CommandLine
from tests.view.kernels import COPY, RACY, RING, TILE, large

TTGIR = Path(__file__).parent.parent / "filecheck" / "ttgir" / "insert_loop.ttgir"


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a kernel that races, in the current directory."""
    monkeypatch.chdir(tmp_path)
    Path("k.fp").write_text(RACY, encoding="utf-8")
    return Path("k.fp")


def test_a_page_is_one_file_that_fetches_nothing(kernel: Path, fencepost: CommandLine) -> None:
    ran = fencepost("view", "k.fp", "-o", "page.html")
    assert (ran.code, ran.out, ran.err) == (0, "page.html\n", "")
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    for outside in ('src="', "http:", "https:", "@import", "url("):
        assert outside not in page.replace("http://www.w3.org/2000/svg", "")
    assert kernel.read_text(encoding="utf-8") == RACY


def test_the_page_is_named_after_the_kernel_if_nothing_is_said(kernel: Path, fencepost: CommandLine) -> None:
    assert fencepost("view", str(kernel)).out == "k.html\n"
    assert fencepost("view", "-", stdin=TILE).out == "kernel.html\n"
    assert Path("k.html").exists() and Path("kernel.html").exists()


def test_a_picture_is_svg_or_png(kernel: Path, fencepost: CommandLine) -> None:
    assert fencepost("view", "k.fp", "-o", "k.svg").code == 0
    root = ElementTree.fromstring(Path("k.svg").read_text(encoding="utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert fencepost("view", "k.fp", "-o", "k.png").code == 0
    assert Path("k.png").read_bytes().startswith(b"\x89PNG")


def test_a_trace_for_perfetto(kernel: Path, fencepost: CommandLine) -> None:
    assert fencepost("view", "k.fp", "-o", "trace.json").code == 0
    events = json.loads(Path("trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert {event["ph"] for event in events} >= {"M", "X"}
    writes = [event for event in events if event["name"] == "write %a, %g"]
    assert writes and all(event["args"]["line"] == 5 and event["dur"] > 0 for event in writes)


def test_the_data_for_programs(kernel: Path, fencepost: CommandLine) -> None:
    ran = fencepost("view", "k.fp", "--json")
    found = json.loads(ran.out)
    assert [each["ok"] for each in found["kernels"]] == [False, True]
    assert not Path("k.html").exists()


def test_a_triton_module(kernel: Path, fencepost: CommandLine) -> None:
    ran = fencepost("view", str(TTGIR), "--as-is", "-o", "t.html")
    assert ran.code == 0, ran.err
    assert "ttg.local_store" in Path("t.html").read_text(encoding="utf-8")


def test_one_kernel_of_several(kernel: Path, fencepost: CommandLine) -> None:
    Path("two.fp").write_text(TILE + COPY, encoding="utf-8")
    refused = fencepost("view", "two.fp", "-o", "two.svg")
    assert refused.code == 2 and "error[FP102]: two.svg shows one kernel" in refused.err
    assert "@tile, @copy" in refused.err and "--kernel NAME" in refused.err
    assert fencepost("view", "two.fp", "-k", "@copy", "-o", "two.svg").code == 0
    assert ">@copy<" in Path("two.svg").read_text(encoding="utf-8")
    assert fencepost("view", "two.fp", "-o", "two.html").code == 0
    unknown = fencepost("view", "two.fp", "-k", "nobody", "-o", "two.svg")
    assert unknown.code == 2 and "there is no kernel @nobody in this file" in unknown.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.fp"], "cannot read missing.fp"),
        (["k.fp", "-o", "k.pdf"], "view cannot tell what to write"),
        (["k.fp", "-o", "k"], "view cannot tell what to write"),
        (["k.fp", "-o", "nowhere/k.html"], "cannot write nowhere/k.html"),
        (["k.fp", "-t", "gfx0", "-o", "k.html"], "unknown target"),
        (["k.html"], "k.html is the kernel itself"),
        (["empty.fp"], "FP102"),
        (["bytes.fp"], "not UTF-8 text"),
    ],
)
def test_nonsense_is_an_error_and_writes_nothing(
    arguments: list[str], words: str, kernel: Path, fencepost: CommandLine
) -> None:
    Path("k.html").write_text(RACY, encoding="utf-8")
    Path("empty.fp").write_text("", encoding="utf-8")
    Path("bytes.fp").write_bytes(b"kernel @k \xff")
    before = {path: path.read_bytes() for path in Path.cwd().iterdir()}
    ran = fencepost("view", *arguments)
    assert ran.code == 2 and ran.out == ""
    assert words in ran.err
    assert {path: path.read_bytes() for path in Path.cwd().iterdir()} == before


def test_a_png_without_resvg_says_what_to_install(
    kernel: Path, fencepost: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = fencepost("view", "k.fp", "-o", "k.png")
    assert ran.code == 2 and 'pip install "fencepost[png]"' in ran.err
    with pytest.raises(Exception, match="resvg_py"):
        png_picture.png_picture("<svg/>")


def test_a_huge_kernel_is_shown(kernel: Path, fencepost: CommandLine) -> None:
    Path("large.fp").write_text(large(2000), encoding="utf-8")
    assert fencepost("view", "large.fp", "-o", "large.svg").code == 0
    ElementTree.fromstring(Path("large.svg").read_text(encoding="utf-8"))


def test_a_ring_of_mbarriers_is_shown(kernel: Path, fencepost: CommandLine) -> None:
    ran = fencepost("view", "-", "-o", "ring.svg", stdin=RING)
    assert ran.code == 0 and "line-through" in Path("ring.svg").read_text(encoding="utf-8")


def test_reads_of_unfilled_memory_are_shown_if_they_are_asked_for(
    kernel: Path, fencepost: CommandLine
) -> None:
    kernel.write_text(page_of("FP007").wrong.text, encoding="utf-8")

    def shown(*options: str) -> list[list[str]]:
        pages = json.loads(fencepost("view", "k.fp", "--json", *options).out)["kernels"]
        return [[finding["code"] for finding in page["findings"]] for page in pages]

    assert shown() == [[]]
    assert shown("--unfilled") == [["FP007"], []]
