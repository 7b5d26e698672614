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
    not fail; it is named where something else does. `options` are the fields of `Check`.
    """
    __tracebackhide__ = True
    from fencepost.check import check
    from fencepost.ir.source import FencepostError
    from fencepost.report.diagnostics import from_error, render
    from fencepost.report.findings import printed
    from fencepost.report.silencing import Silencer, silenced_lines

    wrong = []
    try:
        for each in _kernels(kernel):
            report, silenced = Silencer().apply(each, check(each, **options))
            if not report.ok or (proof and not report.explored.complete):
                wrong.append("\n".join([printed(report), *silenced_lines(silenced)]))
    except FencepostError as error:
        raise AssertionError(f"this cannot be judged:\n{render(from_error(error)).plain}") from None
    if wrong:
        raise AssertionError("\n\n".join(["", *wrong]))


def _kernels(kernel: Checked) -> list[CapturedTrace]:
    """What is to be judged. A text is one that has several lines; a string of one line is the name of a file."""
    from fencepost.commands.files import read_kernels
    from fencepost.commands.paths import kernel_files
    from fencepost.ir.builder import trace_of
    from fencepost.ir.parser import parse_all

    if isinstance(kernel, str) and "\n" in kernel:
        return _some(parse_all(kernel))
    if not isinstance(kernel, str | PathLike):
        return [trace_of(kernel)]
    found: list[CapturedTrace] = []
    for name, missing in kernel_files([str(Path(kernel))]):
        if missing is not None:
            raise missing
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
