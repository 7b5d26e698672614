"""`fencepost schedule`."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import cast

import pytest

import fencepost as fp
from fencepost.hosts.kernel_files import Kernels
from fencepost.hosts.triton.translate import Translation
from fencepost.kernels import bundled_kernel
from fencepost.schedule import Constraints, constraints_for
from fencepost.schedule.gemm import async_gemm, prefetch_gemm
from tests.conftest import CommandLine
from tests.schedule.kernels import small

KERNELS = Path(fp.__file__).parent / "kernels"
PINGPONG, ASYNC = str(KERNELS / "gemm_pingpong.fp"), str(KERNELS / "gemm_async.fp")
SVG = "{http://www.w3.org/2000/svg}"


def test_the_bundled_kernels_are_the_ones_that_are_made_for_the_default_configuration() -> None:
    assert str(bundled_kernel("gemm_pingpong")) == str(prefetch_gemm(Constraints()))
    assert str(bundled_kernel("gemm_async")) == str(async_gemm(constraints_for(target="gfx950")))


def test_the_scheduled_kernel_is_printed_and_checks_clean(fencepost: CommandLine) -> None:
    ran = fencepost("schedule", PINGPONG, "--strategy", "two-pp", "--tile", "128x256x64")
    assert ran.code == 0
    assert fp.check(fp.parse(ran.out)).ok
    assert "@gemm_pingpong: two-pp, 4 barriers an iteration\n" in ran.err
    assert "busy 49% before" in ran.err and "two-pp: 80%" in ran.err


def test_auto_takes_what_pays_and_says_what_does_not_fit(fencepost: CommandLine) -> None:
    ran = fencepost("schedule", ASYNC, "-t", "gfx950")
    assert ran.code == 0
    assert "two-pp-async, 2 barriers an iteration" in ran.err
    assert "two-pp does not fit: the tiles of the left operand come in by copies (FP502)" in ran.err


def test_auto_leaves_a_kernel_alone_that_would_not_gain(fencepost: CommandLine) -> None:
    ran = fencepost("schedule", "-", stdin=str(small()))
    assert ran.code == 0 and ran.out == str(small())
    assert "@small: left as it is: the matrix unit would not be busier" in ran.err
    nothing = fencepost("schedule", str(KERNELS / "reduction.fp"))
    assert nothing.code == 0 and "left as it is: no strategy fits" in nothing.err


def test_none_prints_the_kernel_as_it_is(fencepost: CommandLine) -> None:
    ran = fencepost("schedule", "-", "-s", "none", stdin=str(small()))
    assert ran.code == 0 and ran.out == str(small())


def test_a_refusal_shows_the_place_and_the_condition(fencepost: CommandLine) -> None:
    ran = fencepost("schedule", PINGPONG, "--strategy", "four-pp")
    assert ran.code == 1 and not ran.out
    assert "error[FP504]: a local write of the left operand reaches 2 quarters of the tile" in ran.err
    assert "= condition: each local write fills bytes of one quarter along the reduction" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--strategy", "three-pp"), "error[FP111]: unknown schedule 'three-pp'"),
        (("--target", "gfx1"), "error[FP110]: unknown target 'gfx1'"),
        (("--tile", "128x256"), "'128x256' is no tile such as 128x256x64"),
        (("--tile", "48x256x64"), "error[FP506]"),
    ],
)
def test_calls_that_make_no_sense(fencepost: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    ran = fencepost("schedule", PINGPONG, *arguments)
    assert ran.code in (1, 2)
    assert message in ran.err


def test_json(fencepost: CommandLine) -> None:
    ran = fencepost("schedule", PINGPONG, "--json")
    (found,) = json.loads(ran.out)
    assert found["strategy"] == "two-pp" and found["target"] == "gfx942"
    unit = found["matrix_unit"]
    assert unit["after"]["two-pp"]["utilisation"] > unit["before"]["utilisation"]
    assert found["refusals"]["four-pp"]["code"] == "FP504"
    (line,) = found["refusals"]["four-pp"]["lines"]
    text = Path(PINGPONG).read_text(encoding="utf-8").splitlines()[line - 1]
    assert text.strip() == "write %a[0..8192], %g6"
    lines = found["text"].splitlines()
    for added in found["added"]:
        assert lines[added["line"] - 1].strip().startswith(added["operation"])
    assert [added["operation"] for added in found["added"]].count("barrier") == 3
    assert found["check"]["races"] == []


def test_the_timeline_shows_the_two_waves_of_a_simd_before_and_after(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    path, out = tmp_path / "out.svg", tmp_path / "out.fp"
    ran = fencepost("schedule", PINGPONG, "-s", "two-pp", "--timeline", str(path), "-o", str(out))
    assert ran.code == 0
    assert fp.check(fp.parse(out.read_text(encoding="utf-8"))).ok
    picture = ET.parse(path).getroot()
    before, after = picture.findall(f"{SVG}svg")
    for part, busy in ((before, "busy 49%"), (after, "busy 80%")):
        texts = [text.text or "" for text in part.iter(f"{SVG}text")]
        assert any(busy in text for text in texts)
        assert [text for text in texts if text.startswith("wave ")] == ["wave 0", "wave 4"]
    assert float(after.get("y", "0")) >= float(before.get("height", "0"))
    assert float(picture.get("height", "0")) >= float(after.get("y", "0")) + float(after.get("height", "0"))
    for box in picture.iter(f"{SVG}rect"):
        x, width = float(box.get("x", "0")), float(box.get("width", "0"))
        assert x >= -0.01 and x + width <= 1200.01


def test_a_timeline_of_nothing(fencepost: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    ran = fencepost("schedule", str(KERNELS / "reduction.fp"), "--timeline", str(path))
    assert ran.code == 2 and "error[FP102]" in ran.err
    assert not path.exists()


def test_triton_modules_are_not_scheduled(fencepost: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(name: str) -> Kernels:
        return Kernels([small()], [cast(Translation, None)])

    monkeypatch.setattr("fencepost.commands.schedule.read_kernels", read)
    ran = fencepost("schedule", "module.ttgir")
    assert ran.code == 2
    assert "error[FP514]: only kernels in text form can be scheduled" in ran.err
