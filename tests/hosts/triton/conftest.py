"""Live Triton modules for the tests: small kernels, compiled for GPUs that need not be there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fencepost.hosts.triton import parsing_process, worker_process
from fencepost.hosts.triton.worker_process import Reply
from tests.hosts.triton.kernel_sources import HEADER, MATMUL
from tests.hosts.triton.started_once import Parser

KERNELS = (
    HEADER
    + MATMUL
    + """

@triton.jit
def batched(a, b, c, n, BLOCK: tl.constexpr):
    batch = tl.arange(0, 2)[:, None, None]
    rows = tl.arange(0, BLOCK)[None, :, None]
    columns = tl.arange(0, BLOCK)[None, None, :]
    place = batch * n * n + rows * n + columns
    total = tl.dot(tl.load(a + place), tl.load(b + place))
    tl.store(c + place, total)


@triton.jit
def total(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    if n > 0:
        tl.store(c, tl.sum(tl.load(a + place).to(tl.float32), axis=0))
"""
)

GPUS = {
    "gfx942": ("hip", "gfx942", 64),
    "gfx950": ("hip", "gfx950", 64),
    "gfx1250": ("hip", "gfx1250", 32),
    "sm_80": ("cuda", 80, 32),
    "sm_90": ("cuda", 90, 32),
}

Compile = Callable[..., Any]


@pytest.fixture(scope="session")
def parser_process() -> Iterator[Parser]:
    """Triton's parser, started once for all tests that do not ask how it is started."""
    parser = Parser(parsing_process.WORKER)
    yield parser
    parser.stop()


@pytest.fixture(autouse=True)
def started_once(parser_process: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules are parsed by a process that has loaded Triton already."""
    start, parser = vars(worker_process)["_run"], parsing_process.WORKER

    def run(script: Path, request: str, limit: float, folder: Path) -> Reply:
        if script != parser:
            return start(script, request, limit, folder)  # type: ignore[no-any-return]
        return Reply(*parser_process.run(request, limit))

    monkeypatch.setattr(worker_process, "_run", run)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """`compiled("matmul", "gfx942", num_warps=4, lowered=True)`: a live module, made once for each call."""
    folder = tmp_path_factory.mktemp("kernels")
    # A kernel is compiled from its source, so it has to stand in a file.
    (folder / "small_kernels.py").write_text(KERNELS)

    @cache
    def compile_kernel(
        kernel: str, gpu: str, num_warps: int = 4, block: int = 32, lowered: bool = False
    ) -> Any:
        return _compile(folder, kernel, gpu, num_warps, block, lowered)

    return compile_kernel


def _compile(folder: Path, kernel: str, gpu: str, num_warps: int, block: int, lowered: bool) -> Any:
    sys.path.insert(0, str(folder))
    try:
        function = getattr(import_module("small_kernels"), kernel)
    finally:
        sys.path.remove(str(folder))
    compiler = import_module("triton.compiler.compiler")
    target = import_module("triton.backends.compiler").GPUTarget(*GPUS[gpu])
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = compiler.ASTSource(function, signature, constexprs={"BLOCK": block})
    backend = compiler.make_backend(target)
    options = backend.parse_options({"num_warps": num_warps, "num_stages": 3, "enable_fp_fusion": True})
    context = new_context()
    codegen, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source.make_ir(target, options, codegen, modules, context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, {})
    module.context = context
    if lowered:
        _lower(module, context, gpu)
    return module


def _lower(module: Any, context: Any, gpu: str) -> None:
    """What the compiler does up to membar: control flow as blocks, addresses for shared memory."""
    native = import_module("triton._C.libtriton")
    passes = native.ir.pass_manager(context)
    native.passes.convert.add_scf_to_cf(passes)
    if gpu.startswith("gfx"):
        native.amd.passes.ttgpuir.add_allocate_shared_memory(passes, gpu)
    else:
        native.nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(passes, int(gpu[3:]), 80)
    passes.run(module, "lowered")


def new_context() -> Any:
    """A context with all dialects."""
    native = import_module("triton._C.libtriton")
    context = native.ir.context()
    for part in (native.ir, native.amd, native.nvidia):
        part.load_dialects(context)
    return context
