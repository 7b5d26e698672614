"""`fencepost view` on CUDA and PTX: the file's own lines, findings, barriers, hazard windows, and the file mended."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.commands.test_schemas import entries
from tests.conftest import CommandLine
from tests.hosts.ptx.exact.test_mbarrier_reports import LINES, RING, call
from tests.hosts.ptx.runs.test_race_order import PIPELINE
from tests.tiers import FULL
from tests.view.browser import browser, installed

TILES = """\
__global__ void tiles(const float *in, float *out, int n) {
    __shared__ float tile[128];
    float sum = 0.0f;
    for (int k = 0; k < n; k += 128) {
        tile[threadIdx.x] = in[k + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < 128; i += 4) sum += tile[i] * tile[127 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
"""
TWO = """\
__global__ void left(int *x) { x[threadIdx.x] = 1; }
__global__ void right(int *x) { x[threadIdx.x] = 2; }
"""
BLOCK = ("--block", "128")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"tiles": TILES, "pipeline": PIPELINE, "two": TWO}.items():
        Path(f"{name}.cu").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_page_of_a_race_has_its_lines_and_the_file_mended(fencepost: CommandLine) -> None:
    (page,) = entries("view", fencepost("view", "tiles.cu", *BLOCK, "--json").out)
    racy, mended = page["kernels"]
    assert (racy["title"], racy["ok"], racy["launch"]) == ("tiles", False, "blocks of 128 threads")
    (finding,) = racy["findings"]
    assert sorted(mark["line"] for mark in finding["marks"]) == [5, 7]
    windows = {
        (each["kind"], each["producer"], each["consumer"], each["covered"]) for each in racy["windows"]
    }
    assert windows == {("WAR", 7, 5, ""), ("RAW", 5, 7, "the barrier on line 6")}
    assert len(racy["windows"]) == 2, "one for each pair of lines, of however many threads"
    assert {each["buffer"] for each in racy["windows"]} == {"tile"}
    assert next(each["loop"] for each in racy["windows"] if each["kind"] == "WAR") == [4, 8]
    (barrier,) = racy["barriers"]
    assert (barrier["line"], barrier["text"], barrier["needed"]) == (6, "__syncthreads();", True)
    assert (mended["title"], mended["ok"], mended["added"]) == ("tiles, mended", True, [5])
    assert (racy["other"], mended["other"]) == (1, 0)
    assert page["texts"][1]["lines"][4] == "        __syncthreads();"


@FULL
def test_the_wait_that_is_too_weak_is_marked_as_wrong(fencepost: CommandLine) -> None:
    (page,) = entries("view", fencepost("view", "pipeline.cu", *BLOCK, "-D", "LEFT=2", "--json").out)
    (kernel,) = page["kernels"]
    assert [(each["line"], bool(each["wrong"])) for each in kernel["barriers"]] == [(11, True), (12, False)]


def test_ptx_is_shown_by_its_own_lines(fencepost: CommandLine) -> None:
    ptx = compile_cuda(Source("tiles.cu", TILES)).ptx
    Path("tiles.ptx").write_text(ptx, encoding="utf-8")
    (page,) = entries("view", fencepost("view", "tiles.ptx", *BLOCK, "--json").out)
    lines = page["texts"][0]["lines"]
    assert lines == ptx.rstrip("\n").split("\n")
    marked = {lines[mark["line"] - 1].split()[0] for mark in page["kernels"][0]["findings"][0]["marks"]}
    assert marked == {"ld.shared.f32", "st.shared.f32"}


def test_a_picture_shows_one_kernel(fencepost: CommandLine) -> None:
    assert fencepost("view", "tiles.cu", *BLOCK, "-o", "tiles.svg").out == "tiles.svg\n"
    text = "".join(ElementTree.parse("tiles.svg").getroot().itertext())
    assert "blocks of 128 threads" in text and "__syncthreads();" in text
    ran = fencepost("view", "two.cu", *BLOCK, "-o", "two.svg")
    assert ran.code == 2 and "left, right" in ran.err
    assert fencepost("view", "two.cu", *BLOCK, "--kernel", "left", "-o", "two.svg").code == 0


def test_what_there_is_not_is_refused(fencepost: CommandLine) -> None:
    ran = fencepost("view", "tiles.cu", "-o", "trace.json")
    assert ran.code == 2 and "no trace of kernels in CUDA and PTX" in ran.err
    Path("k.fp").write_text("kernel @k waves=2 {\n}\n", encoding="utf-8")
    ran = fencepost("view", "k.fp", *BLOCK)
    assert ran.code == 2 and "--block is an option for CUDA and PTX" in ran.err
    assert fencepost("view", "k.fp", "--kernel", "k").code == 0


@pytest.mark.skipif(installed() is None, reason="no browser")
def test_the_page_opens_and_shows_it_mended(folder: Path, fencepost: CommandLine) -> None:
    assert fencepost("view", "tiles.cu", *BLOCK).out == "tiles.html\n"
    with browser(folder) as window:
        window.open(folder / "tiles.html")
        assert "blocks of 128 threads" in window.text("#kernel-facts")
        assert "in the next iteration" in window.text("#findings")
        assert window.text("#switches") == "● line 6 needed __syncthreads();"
        assert not window.find("#run-panel").is_displayed()
        signs = [each.text for each in window.all(".row.found .margin")]
        assert signs == ["⚡", "⚡"], "the lines that race, at first sight"
        window.find("#other").click()
        assert "no race" in window.text("#verdict")
        assert "line 5" in window.text("#switches") and "line 7" in window.text("#switches")
        window.press("b", " ", "ARROW_RIGHT")
        assert window.messages() == []


SEVERAL = """\
__global__ void several(const float *in, float *out) {
    __shared__ float a[128], b[128];
    int t = threadIdx.x;
    a[t] = in[t];
    float other = a[127 - t];
    __syncthreads();
    b[t] = other;
    out[t] = b[127 - t];
}
"""


DIVERGES = """\
__global__ void diverges(const float *in, float *out) {
    __shared__ float a[128];
    int t = threadIdx.x;
    a[t] = in[t];
    __syncthreads();
    if (t < 64) {
        out[t] = a[127 - t];
        __syncthreads();
    }
    __syncthreads();
    out[t + 128] = a[t ^ 1];
}
"""


def test_a_barrier_that_some_threads_do_not_reach_is_wrong(fencepost: CommandLine) -> None:
    """So are those where the others wait; without the first one, all is well."""
    Path("diverges.cu").write_text(DIVERGES, encoding="utf-8")
    (page,) = entries("view", fencepost("view", "diverges.cu", *BLOCK, "--json").out)
    barriers = {each["line"]: each for each in page["kernels"][0]["barriers"]}
    met = "not all threads of the block meet at it"
    assert {line: each["wrong"] for line, each in barriers.items()} == {5: "", 8: met, 10: met}
    assert barriers[5]["needed"]
    said = fencepost("explain", "diverges.cu", *BLOCK).out
    assert "diverges.cu:8: stays\n  the kernel is proven without this: take it out, or let all" in said


@pytest.mark.skipif(installed() is None, reason="no browser")
def test_each_of_several_findings_can_be_chosen(folder: Path, fencepost: CommandLine) -> None:
    Path("several.cu").write_text(SEVERAL, encoding="utf-8")
    fencepost("view", "several.cu", *BLOCK)
    with browser(folder) as window:
        window.open(folder / "several.html")
        shown = []
        for button in window.all("#findings .choose"):
            button.click()
            shown.append([row.get_attribute("data-line") for row in window.all(".row.found")])
            assert window.text("#details-title") in (f"Line {line}" for line in shown[-1])
            assert {row.get_attribute("data-line") for row in window.all(".row.elsewhere, .row.found")} == {
                *("4", "5", "7", "8")
            }
        assert shown == [["4", "5"], ["7", "8"]]
        assert window.messages() == []


@FULL
@pytest.mark.skipif(installed() is None, reason="no browser")
def test_a_wait_for_the_wrong_phase_is_what_the_page_opens_with(folder: Path, fencepost: CommandLine) -> None:
    """Both the consumer and the producer wait with parity 1 at first; the consumer should not."""
    Path("ring.cu").write_text(RING, encoding="utf-8")
    fencepost("view", *call(CONSUMER="((i/2+1)&1)")[1:])
    with browser(folder) as window:
        window.open(folder / "ring.html")
        assert window.text("#details-title") == f"Line {LINES['consumer']}"
        assert "waits for the wrong phase" in window.text("#details")
        assert f"✗ line {LINES['consumer']} wrong" in window.text("#switches")
        signs = [each.text for each in window.all(".row.found .margin")]
        assert signs == ["✗"], "the wait, and not the one that is meant to pass"
        assert "`" not in window.text("#findings"), "what is code looks like code"
