"""Kernels as tests: `assert_race_free(kernel)` fails with the diagnostics of `check` as its message.

    from fencepost.pytest_plugin import assert_race_free

    def test_gemm() -> None:
        assert_race_free(Path("kernels/gemm.fp"))

pytest finds this module itself where fencepost is installed, so that tests can take `assert_race_free` as a fixture
instead of importing it. The function works without pytest as well.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost.ir.builder import Kernel
    from fencepost.ir.source import Source
    from fencepost.ir.trace import CapturedTrace

    Checked = CapturedTrace | Kernel | str | PathLike[str]

try:
    import pytest
except ImportError:  # then nobody asks for the fixture
    pytest = None  # type: ignore[assignment]


def assert_race_free(kernel: Checked, *, proof: bool = True, **options: Any) -> None:
    """Fail unless `check` finds nothing in a kernel: one built in Python, a text, or a file of any kind.

    A file may hold several kernels, and a folder several files. Without `proof`, it is enough that nothing was found
    where not everything was looked at. What a comment in the kernel allows (`# fencepost: allow FP001: reason`) does
    not fail; it is named where something else does. `options` are the fields of `Check`; for CUDA and PTX, `block`
    (256 or (32, 8)), `params`, `defines`, `includes` and `target`.
    """
    __tracebackhide__ = True
    from fencepost.check import check
    from fencepost.ir.source import FencepostError
    from fencepost.report.allow_comments import silenced_lines
    from fencepost.report.diagnostics import from_error, render
    from fencepost.report.findings import printed, verdict
    from fencepost.report.silencing import Silencer

    wrong: list[tuple[str, str]] = []
    asked = {name: options.pop(name) for name in LAUNCH if name in options}
    try:
        wrong += _wrong_threads(kernel, asked, proof)
        for each in _kernels(kernel):
            report, silenced = Silencer().apply(each, check(each, **options))
            if not report.ok or (proof and not report.explored.complete):
                text = "\n".join([printed(report), *silenced_lines(silenced)])
                wrong.append((f"@{each.name}: {verdict(report)}", text))
    except FencepostError as error:
        raise AssertionError(f"this cannot be judged:\n{render(from_error(error)).plain}") from None
    if wrong:
        # The first line is what pytest shows of it in its summary.
        first = "; ".join(heading for heading, _ in wrong)
        raise AssertionError("\n\n".join([first, *(text for _, text in wrong)]))


LAUNCH = ("block", "cluster", "params", "defines", "includes", "target")
"""What is said about CUDA and PTX."""


def _wrong_threads(kernel: Checked, asked: dict[str, Any], proof: bool) -> list[tuple[str, str]]:
    """What is wrong with the CUDA and PTX that is to be judged: in a few words, and as `check` prints it."""
    from fencepost.hosts.ptx.files import UserOptions, judgements, read_file
    from fencepost.hosts.ptx.report.shown_findings import conclusion, finding_diagnostics, reason_lines
    from fencepost.ir.source import FencepostError
    from fencepost.report.diagnostics import render

    for name in ("block", "cluster"):
        if (given := asked.get(name)) is not None:
            sizes = (given,) if isinstance(given, int) else tuple(given)
            asked = {**asked, name: (*sizes, 1, 1)[:3]}
    wrong = []
    for source in _thread_sources(kernel):
        for each in judgements(read_file(source.name, source, UserOptions(**asked))):
            if isinstance(each, FencepostError):
                raise each
            if each.errors or (proof and not each.proven):
                shown = [render(diagnostic).plain for diagnostic in finding_diagnostics(each)]
                lines = [f"{each.file}: {each.name}: {conclusion(each)}", *reason_lines(each)]
                heading = f"{each.name}: {conclusion(each).partition(' (')[0]}"
                wrong.append((heading, "\n".join([*shown, *lines])))
    return wrong


def _thread_sources(kernel: Checked) -> list[Source]:
    """The texts among what is to be judged that are CUDA or PTX."""
    from fencepost.commands.files import read_source
    from fencepost.commands.paths import CHECKED, kernel_files
    from fencepost.hosts.kernel_files import is_thread_level
    from fencepost.ir.source import Source

    if isinstance(kernel, str) and "\n" in kernel:
        return [Source("<text>", kernel)] if is_thread_level("", kernel) else []
    if not isinstance(kernel, str | PathLike):
        return []
    files = [name for name, missing in kernel_files([str(Path(kernel))], CHECKED) if missing is None]
    sources = [read_source(name) for name in files if Path(name).suffix in CHECKED[-2:]]
    return [source for source in sources if is_thread_level(source.name, source.text)]


def _kernels(kernel: Checked) -> list[CapturedTrace]:
    """What is to be judged. A text is one that has several lines; a string of one line is the name of a file."""
    from fencepost.commands.files import read_kernels
    from fencepost.commands.paths import CHECKED, kernel_files
    from fencepost.ir.parser import parse_all
    from fencepost.ir.trace import trace_of

    if isinstance(kernel, str) and "\n" in kernel:
        return [] if _thread_sources(kernel) else _some(parse_all(kernel))
    if not isinstance(kernel, str | PathLike):
        return [trace_of(kernel)]
    found: list[CapturedTrace] = []
    for name, missing in kernel_files([str(Path(kernel))], CHECKED):
        if missing is not None:
            raise missing
        if Path(name).suffix in CHECKED[-2:]:
            continue
        found += read_kernels(name, compiled=True).to_check()
    return found


def _some(kernels: list[CapturedTrace]) -> list[CapturedTrace]:
    """Kernels, of which there is at least one: that nothing is wrong with none of them would prove nothing."""
    from fencepost.ir.source import FencepostError

    if not kernels:
        raise FencepostError("there is no kernel in this text", code="FP102")
    return kernels


if pytest is not None:

    @pytest.fixture(name="assert_race_free")
    def _assert_race_free() -> Callable[..., None]:
        """The function of that name, for tests that do not want to import it."""
        return assert_race_free
