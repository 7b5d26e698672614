"""What has to hold on every accepted release of Triton: run here, and with older ones (`test_older_releases`)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from fencepost.audit.entries import entries_of
from fencepost.audit.judge import record_of
from fencepost.audit.local import judged_here
from fencepost.hosts.triton import Audit, installed, membar, uninstall
from fencepost.hosts.triton.audit import triton_barriers
from fencepost.hosts.triton.choose_barriers import fencepost_barriers
from fencepost.hosts.triton.generic import parse_live
from fencepost.hosts.triton.lowering import lowered
from fencepost.hosts.triton.membar_in_conversion import BARRIERS, without_dropped
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.parsing_worker import print_generic
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.shared_memory_effects import Does, row_of
from fencepost.hosts.triton.source_edits import edit_source
from fencepost.hosts.triton.text_edits import InsertBarrier, apply_edits
from fencepost.hosts.triton.translate import translate, translations
from fencepost.hosts.triton.write_back import edits_of, place_barriers, removable
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Source
from tests.hosts.triton.conftest import GPUS
from tests.hosts.triton.kernel_sources import HEADER, MATMUL_IN_STEPS
from tests.hosts.triton.modules import custom_form

KERNELS = (
    HEADER
    + MATMUL_IN_STEPS
    + """

@triton.jit
def counted(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)[:, None] * 64 + tl.arange(0, 64)[None, :]
    for k in range(0, n):
        best = tl.max(tl.load(a + k * n + place).to(tl.float32), axis=0)
        ticket = tl.atomic_add(c, 1.0)
        tl.store(c + tl.arange(0, 64), best + ticket)


@triton.jit
def handed_over(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(c + tl.arange(0, 64), tl.max(tl.load(a + place).to(tl.float32), axis=0))
    tl.debug_barrier()
    tl.store(c + n + tl.arange(0, 64), tl.load(c + 63 - tl.arange(0, 64)))
"""
)
TARGETS = ("sm_80", "gfx942")
LACK_GFX1250 = ("3.5", "3.4", "3.3")
"""Releases that compile no kernel of the corpus for it."""
FIRST_IS_OTHER = ("3.3",)
"""Releases whose first kernel for NVIDIA in a process has other code than if it were the second."""
BARRIER = re.compile(r"\bs_barrier(?:_wait)?\b|\bbar\.sync\b")

Compile = Callable[..., Any]
OLDER = pytest.mark.skipif(installed_release().membar_is_a_pass, reason="membar is a pass of its own")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compile]:
    """`build("matmul", "gfx942")`: compiled anew as far as assembly, or with `cached` as users have it."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "kernels_of_a_release.py").write_text(KERNELS)
    sys.path.insert(0, str(folder))
    kernels = import_module("kernels_of_a_release")
    triton = import_module("triton")
    print(f"with triton {triton.__version__}")
    source_of = import_module("triton.compiler").ASTSource
    target_of = import_module("triton.backends.compiler").GPUTarget
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(place,): [["tt.divisibility", 16]] for place in range(4)}

    def compile_kernel(kernel: str, gpu: str, cached: bool = False, warps: int = 4) -> Any:
        source = source_of(getattr(kernels, kernel), signature, constexprs={"BLOCK": 64}, attrs=aligned)
        options = {"num_warps": warps, "num_stages": 3, "enable_fp_fusion": True}
        anew = {"TRITON_ALWAYS_COMPILE": str(int(not cached))}
        with patch.dict(os.environ, anew):
            return triton.compile(source, target=target_of(*GPUS[gpu]), options=options)

    # Old releases have no knobs; new ones read it where none are set.
    with patch.dict(os.environ, {"TRITON_CACHE_DIR": str(folder / "cache")}):
        if installed_release().name in FIRST_IS_OTHER:
            compile_kernel("counted", "sm_80")
        yield compile_kernel
    sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("FENCEPOST_TRITON", raising=False)
    yield
    uninstall()


def assembly(compiled: Any) -> str:
    return str(compiled.asm.get("amdgcn") or compiled.asm["ptx"])


def test_the_release_is_named(build: Compile, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"with triton {import_module('triton').__version__}")


@pytest.mark.skipif(installed_release().name in LACK_GFX1250, reason="it compiles nothing for gfx1250")
def test_layouts_that_triton_cannot_read_back(build: Compile) -> None:
    """The matrix layout of one warp: parsed as it is printed, it would end the process."""
    with installed("replace"):
        note = build("matmul", "gfx1250", warps=1).metadata.fencepost
    assert not note["left"] and note["judged"] == "proven"


@pytest.mark.parametrize("gpu", TARGETS)
@pytest.mark.parametrize("kernel", ["matmul", "counted"])
def test_every_mode(kernel: str, gpu: str, build: Compile, capfd: pytest.CaptureFixture[str]) -> None:
    """An audit changes nothing and finds nothing; membar's barriers handed back are membar's; ours are no more."""
    stock = assembly(build(kernel, gpu))
    found: list[Audit] = []
    with installed("audit", show=found.append):
        assert assembly(build(kernel, gpu)) == stock
    (audit,) = found
    assert (audit.kernel, audit.target, audit.races, audit.beyond) == (kernel, gpu, (), ())
    assert audit.barriers > 0
    with installed("replace", decide=triton_barriers):
        assert assembly(build(kernel, gpu)) == stock
    for decide in (fencepost_barriers, None):
        with installed("replace", **({"decide": decide} if decide else {})):
            made = build(kernel, gpu)
        assert (made.metadata.fencepost["left"], made.metadata.fencepost["judged"]) == ("", "proven")
        assert len(BARRIER.findall(assembly(made))) <= len(BARRIER.findall(stock))
    if kernel == "matmul" and (gpu == "sm_80" or not installed_release().membar_is_a_pass):
        # On gfx942, membar of 3.9 puts in as few.
        assert len(BARRIER.findall(assembly(made))) < len(BARRIER.findall(stock))
    # What goes wrong on purpose is not reported.
    assert "error" not in capfd.readouterr().err


def test_a_changed_kernel_has_a_key_of_its_own(
    build: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    stock = build("counted", "sm_80", cached=True)
    found: list[Audit] = []
    with installed("replace", show=found.append):
        ours = build("counted", "sm_80", cached=True)
        again = build("counted", "sm_80", cached=True)
    after = build("counted", "sm_80", cached=True)
    assert ours.hash != stock.hash
    assert (again.hash, after.hash) == (ours.hash, stock.hash)
    assert not hasattr(after.metadata, "fencepost")
    # What was found is said again.
    assert [audit.cached for audit in found] == [False, True]


WRITTEN = """\
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%x: tensor<64x64xf16, #b>) {
    %o = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    ttg.local_store %x, %m : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    %y = ttg.local_load %m : !ttg.memdesc<64x64xf16, #s, #smem, mutable> -> tensor<64x64xf16, #b>
    ttg.local_store %y, %o : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    tt.return
  }
}
"""


def test_a_file_gets_its_barrier() -> None:
    (module,) = read_sources([Source("kernel.ttgir", WRITTEN)])
    made = translate(module, module.functions()[0])
    place_barriers(made)
    text = edit_source(module, edits_of(made))
    barrier = installed_release().written
    load = next(line for line in WRITTEN.split("\n") if "local_load" in line)
    assert text == WRITTEN.replace(load, f"    {barrier}\n{load}")
    # And the release takes it, without a location that was not there.
    assert custom_form(text, locations=False).count(f"    {barrier}\n") == 1
    assert "loc(" not in custom_form(text, locations=False)


def test_a_file_is_judged_as_it_is_compiled() -> None:
    module = lowered(Source("kernel.ttgir", WRITTEN))
    assert [removable(op) for op in module.walk() if row_of(op.name).does is Does.MEETS] == [True]


@pytest.mark.parametrize("gpu", TARGETS)
def test_a_kernel_in_the_cache_is_judged_as_it_was_compiled(gpu: str, build: Compile, tmp_path: Path) -> None:
    found: list[Audit] = []
    folder = patch.dict(os.environ, {"TRITON_CACHE_DIR": str(tmp_path)})
    with folder, installed("audit", show=found.append):
        build("matmul", gpu)
    (record,) = judged_here(entries_of([str(tmp_path)]), 1, 240)
    assert record.kernels == (record_of(found[0]),)


def watched(build: Compile, kernel: str, gpu: str, look: Callable[[membar.Membar], None]) -> None:
    """Look at a module that was stopped at membar."""
    made = membar.membar_at

    def at(*arguments: Any) -> Any:
        found = made(*arguments)
        look(found)
        return found

    host = import_module("fencepost.hosts.triton.installation")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(host, "membar_at", at)
        with installed("audit", show=lambda _: None) as there:
            build(kernel, gpu)
    assert there is not None and len(there.audits) == 1


@pytest.mark.parametrize("gpu", TARGETS)
def test_a_barrier_that_the_user_wrote_is_kept(gpu: str, build: Compile) -> None:
    """It is there for global memory, which is not looked at."""
    found: list[Audit] = []
    with installed("audit", show=found.append):
        stock = assembly(build("handed_over", gpu))
    assert [audit.redundant for audit in found] == [()]
    with installed("replace", decide=fencepost_barriers):
        made = build("handed_over", gpu)
    assert (made.metadata.fencepost["left"], made.metadata.fencepost["judged"]) == ("", "proven")
    assert len(BARRIER.findall(assembly(made))) == len(BARRIER.findall(stock)) >= 2


@OLDER
@pytest.mark.parametrize("gpu", TARGETS)
def test_operations_have_the_barriers_that_they_are_said_to_have(gpu: str, build: Compile) -> None:
    """What is counted on to be inside of an operation is there once it is lowered."""

    def look(found: membar.Membar) -> None:
        live = parse_live(found.after.text, found.context)
        found.stopped.membar(live)
        there = re.findall(r'"([\w.]+)"\(', print_generic(live, found.context))
        said = [
            op
            for each in translations(found.after)
            for op in each.trace.preorder_walk()
            if isinstance(op, ops.SharedMemoryBarrier)
        ]
        assert sum(name in BARRIERS for name in there) >= len(said) > 0

    watched(build, "counted", gpu, look)


@OLDER
@pytest.mark.parametrize("gpu", TARGETS)
def test_scratch_memory_has_the_size_that_the_release_gives_it(gpu: str, build: Compile) -> None:
    def look(found: membar.Membar) -> None:
        sizes = {op.name: size for op, size in found.before.scratch.items()}
        assert sizes["tt.reduce"] >= 4 * 64
        assert sizes["tt.atomic_rmw"] == 4

    watched(build, "counted", gpu, look)


@OLDER
@pytest.mark.parametrize("gpu", TARGETS)
def test_barriers_that_are_dropped_leave_nothing_behind(gpu: str, build: Compile) -> None:
    """Membar's barriers, and more that are dropped again, in front of every access: the code is membar's."""

    def look(found: membar.Membar) -> None:
        def converted(module: Module, dropped: list[InsertBarrier]) -> str:
            live = parse_live(apply_edits(module, list(dropped)), found.context)
            found.stopped.membar(live)
            text = without_dropped(print_generic(live, found.context), len(dropped))
            return print_generic(parse_live(text, found.context), found.context)

        after = found.after
        loads = [op for op in after.walk() if op.name in ("ttg.local_load", "tt.store")]
        assert loads
        more = [InsertBarrier(op, location='"fencepost-drop"') for op in loads]
        assert _operations(converted(after, more)) == _operations(converted(after, []))

    watched(build, "matmul", gpu, look)


def _operations(text: str) -> list[str]:
    return re.findall(r'"([\w.]+)"\(', text)


def test_what_is_not_a_barrier_is_not_dropped() -> None:
    module = '#loc1 = loc("fencepost-drop")\n{}\n'
    barrier = '  "nvvm.barrier0"() : () -> () loc(#loc1)'
    other = '  "llvm.store"(%1, %2) : (i32, !llvm.ptr) -> () loc(#loc1)'
    assert "barrier" not in without_dropped(module.format(barrier), 1)
    with pytest.raises(FencepostError, match=r"became llvm\.store"):
        without_dropped(module.format(other), 1)
    with pytest.raises(FencepostError, match="of 2 barriers, 1 were found"):
        without_dropped(module.format(barrier), 2)
