"""`fencepost.hosts.ptx.install`: packages that compile CUDA are looked at, whenever they are imported.

Small modules stand in for numba-cuda, CuPy and CuTe DSL here; the packages themselves are tried in an environment of
their own (`make full`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fencepost.hosts.ptx as host
from fencepost.ir.source import FencepostError
from scripts.cuda_front_ends import FOLDER, is_made
from tests.hosts.ptx.kernels import NEIGHBOUR, kernel

RIGHT, RACY = (kernel(NEIGHBOUR.format(barrier=each)) for each in ("bar.sync 0;", ""))
STAND_INS = {
    "numba/cuda/codegen.py": """
class CUDACodeLibrary:
    _lto, _cubin_cache = False, {}
    def __init__(self, text): self.text = text
    def get_asm_strs(self, cc=None): return [self.text]
    def get_cubin(self, cc=None): return b"cubin"
    def get_lto_ptx(self, cc=None): return self.text
""",
    "cupy/cuda/compiler.py": """
class _NVRTCProgram:
    def __init__(self, text): self.ptr = text
    def compile(self, options=(), log_stream=None): return b"cubin", None
""",
    "cupy_backends/cuda/libs/nvrtc.py": "def getPTX(text): return text.encode()\n",
    "cutlass/base_dsl/jit_executor.py": """
class JitCompiledFunction:
    def __init__(self, text): self.__ptx__ = text
""",
}


@pytest.fixture(autouse=True)
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in STAND_INS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield
    host.uninstall()
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("numba", "cupy", "cupy_backends", "cutlass"):
            del sys.modules[name]


def compile_with(package: str, text: str) -> object:
    if package == "numba":
        from numba.cuda.codegen import CUDACodeLibrary

        return CUDACodeLibrary(text).get_asm_strs()
    if package == "cupy":
        from cupy.cuda.compiler import _NVRTCProgram

        return _NVRTCProgram(text).compile()
    from cutlass.base_dsl.jit_executor import JitCompiledFunction

    return JitCompiledFunction(text)


@pytest.mark.parametrize("package", ["numba", "cupy", "cutlass"])
@pytest.mark.parametrize("imported_first", [True, False])
def test_what_a_package_compiles_is_judged(
    package: str, imported_first: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if imported_first:
        compile_with(package, "")
    found = host.install("audit", block=256)
    assert found is not None
    compile_with(package, RIGHT)
    compile_with(package, RACY)
    compile_with(package, RACY)
    assert [each.verdict.verdict for each in found.audits] == ["proven", "race"]
    assert [each.ok for each in found.audits] == [True, False]
    said = capsys.readouterr().err
    assert (
        said.startswith("fencepost: k (")
        and said.count("no race in shared memory, no divergent barrier") == 1
    )
    assert said.count("error[FP001]") == 1
    host.uninstall()
    compile_with(package, RIGHT + "\n")
    assert len(found.audits) == 2


def test_what_a_package_returns_is_not_touched() -> None:
    with host.installed("audit", show=lambda found: None):
        assert compile_with("numba", RIGHT) == [RIGHT]
        assert compile_with("cupy", RIGHT) == (b"cubin", None)


def test_linked_code_of_numba_is_judged_after_linking() -> None:
    with host.installed("audit", block=256, show=lambda found: None) as found:
        from numba.cuda.codegen import CUDACodeLibrary

        library = CUDACodeLibrary(RACY)
        library._lto = True
        assert library.get_cubin() == b"cubin"
        assert found is not None and [each.verdict.verdict for each in found.audits] == ["race"]


def test_a_text_that_cannot_be_read_is_a_warning() -> None:
    with host.installed("audit"), pytest.warns(RuntimeWarning, match="cannot judge what numba-cuda compiled"):
        compile_with("numba", ".version 8.0\n.entry k() { words }\n")


def test_cute_without_ptx_is_a_warning() -> None:
    with host.installed("audit"), pytest.warns(RuntimeWarning, match="before cutlass is imported"):
        compile_with("cutlass", "")


def test_a_release_with_other_names_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "numba/cuda/codegen.py").write_text("", encoding="utf-8")
    with host.installed("audit"), pytest.warns(RuntimeWarning, match="this release of numba-cuda is not one"):
        import numba.cuda.codegen  # noqa: F401


def test_variables_of_cute_are_set_and_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTE_DSL_KEEP_PTX", raising=False)
    monkeypatch.setenv("CUTE_DSL_DUMP_DIR", "mine")
    with host.installed("audit"):
        assert (os.environ["CUTE_DSL_KEEP_PTX"], os.environ["CUTE_DSL_DUMP_DIR"]) == ("1", "mine")
    assert "CUTE_DSL_KEEP_PTX" not in os.environ and os.environ["CUTE_DSL_DUMP_DIR"] == "mine"


def test_one_installation_at_a_time() -> None:
    with host.installed("audit", block=128) as outer, host.installed("audit", block=256) as inner:
        assert inner is not outer
        compile_with("numba", RIGHT)
    assert inner is not None and outer is not None
    assert (len(inner.audits), len(outer.audits)) == (1, 0)


@pytest.mark.parametrize("mode", ["replace", "audits"])
def test_a_mode_that_is_not_there(mode: str) -> None:
    with pytest.raises(FencepostError) as raised:
        host.install(mode)
    assert raised.value.code == "FP433"


def test_off() -> None:
    assert host.install("off") is None


@pytest.mark.full
@pytest.mark.parametrize("front_end", ["numba", "cupy", "cute"])
def test_the_packages_themselves(front_end: str) -> None:
    assert is_made(), "python scripts/cuda_front_ends.py makes the environment"
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [str(FOLDER / "bin" / "python"), "bench/ptx/front_ends/audit_all.py", "--only", front_end],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
