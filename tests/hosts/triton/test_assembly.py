"""Kernels for AMD down to their assembly: it is what was asked for, and every wait and barrier in it is missed."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fencepost.hosts.triton import installed, uninstall
from fencepost.hosts.triton.assembly.numbered_locations import number_of, numbered_operations, with_numbers
from fencepost.hosts.triton.assembly.verify import Verdict, refuse_wrong_assembly, verify_assembly
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.ir.source import FencepostError
from tests.hosts.triton.conftest import GPUS
from tests.hosts.triton.kernel_sources import HEADER, MATMUL
from tests.tiers import sweep

KERNELS = (
    HEADER
    + MATMUL
    + """

@triton.jit
def largest(a, b, c, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    place, best = tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32)
    for k in range(0, n):
        value, index = tl.max(tl.load(a + k * n + rows * BLOCK + columns).to(tl.float32), 0, return_indices=True)
        best += value + index
    tl.store(c + place, best)


@triton.jit
def sides(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK * 8)
    x = tl.load(a + place).to(tl.float32)
    if tl.sum(x, axis=0) > 0:
        x = tl.cumsum(x, axis=0)
    else:
        x = tl.flip(x)
    tl.store(c + place, x)


@triton.jit(noinline=True)
def total(a, BLOCK: tl.constexpr):
    return tl.sum(tl.load(a + tl.arange(0, BLOCK * 8)).to(tl.float32), axis=0)


@triton.jit
def calling(a, b, c, n, BLOCK: tl.constexpr):
    for k in range(0, n):
        tl.store(c + k, total(a + k, BLOCK))
"""
)
BARRIER = re.compile(r"\ts_barrier\w*")
WAIT = re.compile(r"\ts_wait(?:cnt|_dscnt|_loadcnt|_asynccnt|_kmcnt|_loadcnt_dscnt)\b")


@dataclass(frozen=True)
class Compiled:
    """A kernel: the numbered module that was lowered, its assembly, and what was said about it."""

    module: Module
    assembly: str
    verdict: Verdict
    plain: str
    """The assembly without numbers."""

    def without(self, line: int) -> Verdict:
        """The verdict on the assembly without a line."""
        lines = self.assembly.splitlines()
        return verify_assembly(self.module, "\n".join([*lines[: line - 1], "", *lines[line:]]))

    def lines(self, pattern: re.Pattern[str]) -> list[int]:
        """The lines that a pattern begins."""
        return [number for number, line in enumerate(self.assembly.splitlines(), 1) if pattern.match(line)]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], Compiled]]:
    """`compiled("matmul", "gfx942")`: each once."""
    folder = tmp_path_factory.mktemp("assembly")
    (folder / "kernels_for_amd.py").write_text(KERNELS)
    sys.path.insert(0, str(folder))
    kernels = import_module("kernels_for_amd")
    made: dict[tuple[str, str], Compiled] = {}

    def compile_once(kernel: str, gpu: str) -> Compiled:
        if (kernel, gpu) not in made:
            plain = compile_kernel(getattr(kernels, kernel), gpu)
            with installed("replace", assembly=True) as installation:
                compile_kernel(getattr(kernels, kernel), gpu)
            assert installation is not None and installation.watched is not None
            watched = installation.watched
            assert watched.module is not None
            made[kernel, gpu] = Compiled(watched.module, watched.assembly, installation.verdicts[-1], plain)
        return made[kernel, gpu]

    yield compile_once
    sys.path.remove(str(folder))
    uninstall()


def compile_kernel(kernel: Any, gpu: str, **options: Any) -> str:
    """The assembly of a kernel, with whatever is installed."""
    triton, knobs = import_module("triton"), import_module("triton.knobs")
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(place,): [["tt.divisibility", 16]] for place in range(4)}
    source = import_module("triton.compiler").ASTSource(
        kernel, signature, constexprs={"BLOCK": 64}, attrs=aligned
    )
    target = import_module("triton.backends.compiler").GPUTarget(*GPUS[gpu])
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        given = {"num_warps": 4, "num_stages": 2, "enable_fp_fusion": True, **options}
        return str(triton.compile(source, target=target, options=given).asm["amdgcn"])


def code(assembly: str) -> list[str]:
    """The instructions, without what only describes them."""
    body = assembly.partition(".section\t.rodata")[0]
    lines = (re.sub(r";.*", "", line).rstrip() for line in body.splitlines())
    return [line for line in lines if line.startswith("\t") and not line.startswith("\t.")]


BUILDS = sweep(
    [
        ("matmul", "gfx942"),
        ("matmul", "gfx1250"),
        ("largest", "gfx942"),
        ("sides", "gfx950"),
        ("calling", "gfx1250"),
        ("matmul", "gfx950"),
        ("largest", "gfx1250"),
        ("sides", "gfx1250"),
        ("calling", "gfx942"),
    ],
    first=5,
)


@pytest.mark.parametrize(("kernel", "gpu"), BUILDS)
def test_the_assembly_is_what_was_asked_for(compiled: Callable[..., Compiled], kernel: str, gpu: str) -> None:
    verdict = compiled(kernel, gpu).verdict
    assert not verdict.findings
    assert not verdict.not_compared
    assert (verdict.barriers > 0, verdict.waits > 0) == (True, True)
    assert str(verdict).endswith("in the assembly, as they were asked for")


@pytest.mark.parametrize(("kernel", "gpu"), BUILDS)
def test_every_barrier_is_missed(compiled: Callable[..., Compiled], kernel: str, gpu: str) -> None:
    made = compiled(kernel, gpu)
    lines = made.lines(BARRIER)
    assert lines
    for line in lines:
        assert made.without(line).findings, f"line {line}"


@pytest.mark.parametrize(("kernel", "gpu"), BUILDS)
def test_waits_are_missed(compiled: Callable[..., Compiled], kernel: str, gpu: str) -> None:
    made = compiled(kernel, gpu)
    lines = made.lines(WAIT)
    missed = [line for line in lines if made.without(line).findings]
    # The others wait where another wait has waited already.
    assert len(missed) > len(lines) * 0.6


def test_numbers_do_not_change_the_code(compiled: Callable[..., Compiled]) -> None:
    made = compiled("calling", "gfx1250")
    # As many barriers run either way, and so they are those of Triton.
    assert code(made.assembly) == code(made.plain)


def test_a_weaker_wait_for_copies_is_reported(compiled: Callable[..., Compiled]) -> None:
    made = compiled("matmul", "gfx1250")
    weaker = re.sub(r"s_wait_asynccnt 0x0", "s_wait_asynccnt 0x1", made.assembly)
    found = verify_assembly(made.module, weaker).findings
    assert any("copies of ttg.async_copy_global_to_local" in finding.message for finding in found)


def test_a_missing_barrier_is_named_with_the_line_of_the_kernel(compiled: Callable[..., Compiled]) -> None:
    made = compiled("largest", "gfx942")
    verdict = made.without(made.lines(BARRIER)[0])
    with pytest.raises(FencepostError, match=r"the assembly is not what was asked for") as error:
        refuse_wrong_assembly(verdict)
    assert error.value.code == "FP441"
    assert "kernels_for_amd.py:" in str(error.value) or "standard.py:" in str(error.value)


def test_operations_are_numbered_by_columns_and_keep_file_line_and_calls(
    compiled: Callable[..., Compiled],
) -> None:
    module = compiled("largest", "gfx942").module
    again = read_module(with_numbers(module))
    ours, theirs = numbered_operations(module), numbered_operations(again)
    assert [number_of(op) for op in theirs] == list(range(1, len(theirs) + 1))
    assert [op.origin for op in ours] == [op.origin for op in theirs]
    assert any("called from" in op.origin for op in theirs)


def test_what_is_wrong_is_a_warning_now_and_from_the_cache(
    compiled: Callable[..., Compiled], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    knobs = import_module("triton.knobs")
    backend = import_module("triton.backends.amd.compiler").HIPBackend
    assemble = backend.make_amdgcn

    def broken(source: Any, metadata: Any, options: Any) -> str:
        return re.sub(r"\ts_barrier\n", "\n", assemble(source, metadata, options), count=1)

    monkeypatch.setattr(backend, "make_amdgcn", staticmethod(broken))
    kernel = import_module("kernels_for_amd").largest
    with knobs.cache.scope(), installed("replace", assembly=True):
        knobs.cache.dir = str(tmp_path)
        for said in ("@largest (gfx942): the assembly is not", "from Triton's cache: @largest"):
            with pytest.warns(RuntimeWarning, match=re.escape(said)):
                compile_cached(kernel, "gfx942")


def compile_cached(kernel: Any, gpu: str) -> None:
    """Compile, or take from the cache."""
    triton = import_module("triton")
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = import_module("triton.compiler").ASTSource(kernel, signature, constexprs={"BLOCK": 64})
    target = import_module("triton.backends.compiler").GPUTarget(*GPUS[gpu])
    triton.compile(source, target=target, options={"num_warps": 4, "enable_fp_fusion": True})


def test_assembly_that_cannot_be_read_is_said_to_be_not_compared(compiled: Callable[..., Compiled]) -> None:
    made = compiled("matmul", "gfx942")
    with pytest.raises(FencepostError, match="not the assembly of an AMD kernel"):
        verify_assembly(made.module, "")
    other = made.assembly.replace("matmul", "other")
    assert verify_assembly(made.module, other).not_compared == "the module has no function other"


def test_triton_alone_can_be_watched_too(compiled: Callable[..., Compiled]) -> None:
    compiled("matmul", "gfx942")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with installed("audit", assembly=True, show=lambda found: None) as installation:
            compile_kernel(import_module("kernels_for_amd").matmul, "gfx942", num_warps=8)
    assert installation is not None
    assert not installation.verdicts[-1].findings
