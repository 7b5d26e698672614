"""`install` and `torch.compile`: inductor's worker processes install fencepost, too, and its caches hide nothing.

A stand-in for torch has the few names that are changed; the last tests have the real one compile without a GPU.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fencepost.hosts.triton import Audit, install, installed, uninstall
from fencepost.hosts.triton.choose_barriers import fewer_or_membars
from fencepost.hosts.triton.inductor import JOB, MODULE, AfterLoading
from fencepost.hosts.triton.inductor_worker import Job, WorkerResult, compile_with_fencepost
from fencepost.hosts.triton.kernel_warning import KernelWarning
from tests.tiers import FULL, sweep

ROOT = Path(__file__).parents[3]
BENCH = ROOT / "bench" / "triton"
AUDIT = Audit("softmax", "sm_90", 2, 2.0, (), ())


def inductors_own(kernel: str, environment: str, config: str) -> tuple[str, int]:
    """Stands in for what inductor has its workers do."""
    return f"{kernel} {environment} {config}", 5


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A stand-in for torch, with inductor loaded."""
    stand_in: Any = ModuleType("torch")
    stand_in._inductor = SimpleNamespace(
        config=SimpleNamespace(fx_graph_cache=True, fx_graph_remote_cache=None),
        async_compile=SimpleNamespace(**{JOB: inductors_own}),
    )
    stand_in.compiler = SimpleNamespace(config=SimpleNamespace(cache_key_tag=""))
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    monkeypatch.setitem(sys.modules, MODULE, stand_in._inductor.async_compile)
    yield stand_in
    uninstall()


def job_of(torch: Any) -> Any:
    return getattr(torch._inductor.async_compile, JOB)


# ---------------------------------------------------------------- workers


def test_workers_are_asked_to_install_what_is_installed_here(torch: Any) -> None:
    with installed("replace", thorough=True):
        sent = pickle.loads(pickle.dumps(job_of(torch)))
        assert sent.func is compile_with_fencepost
        assert sent.args == (Job("replace", fewer_or_membars, True, audited=False), inductors_own)
    assert job_of(torch) is inductors_own


def test_a_worker_gives_inductor_what_it_expects(torch: Any) -> None:
    with installed("audit", show=lambda audit: None):
        result = job_of(torch)("kernel", "environment", "config")
        assert pickle.loads(pickle.dumps(result)) == ("kernel environment config", 5)


def test_what_a_worker_found_is_told_where_it_was_asked_for() -> None:
    sent = pickle.dumps(WorkerResult("kernel", (AUDIT,), ("@softmax was left as it is",)))
    told: list[Audit] = []
    with installed("audit", show=told.append) as made:
        assert made is not None
        with pytest.warns(KernelWarning, match="@softmax was left as it is"):
            assert pickle.loads(sent) == "kernel"
        assert told == made.audits == [AUDIT]


def test_what_a_worker_found_is_dropped_once_nothing_is_installed() -> None:
    assert pickle.loads(pickle.dumps(WorkerResult("kernel", (AUDIT,), ("said",)))) == "kernel"


def compile_a_kernel(stages: dict[str, Any]) -> str:
    """What Triton does with an installation: hand it the stages, and call it when the kernel is there."""
    knobs = import_module("triton.knobs")
    backend = SimpleNamespace(target=SimpleNamespace(backend="cuda"))
    knobs.runtime.add_stages_inspection_hook(backend, stages)
    knobs.compilation.listener(src=None, metadata={"name": "softmax"}, cache_hit=False)
    return "compiled"


def test_a_warning_of_a_worker_comes_back_with_the_kernel() -> None:
    """Its own output goes nowhere."""
    result = compile_with_fencepost(Job("replace", fewer_or_membars, False, False), compile_a_kernel, {})
    assert result.compiled == "compiled"
    (said,) = result.warnings
    assert "@softmax was compiled without the stage that membar is part of" in said


def test_a_choice_of_barriers_that_cannot_be_sent_is_said(torch: Any) -> None:
    with pytest.warns(KernelWarning, match=r"cannot be sent.*TORCHINDUCTOR_COMPILE_THREADS=1"):
        install("replace", decide=lambda before, after: None)
    assert job_of(torch) is inductors_own


def test_a_release_of_torch_whose_workers_are_not_known_is_said(torch: Any) -> None:
    delattr(torch._inductor.async_compile, JOB)
    with pytest.warns(KernelWarning, match=f"no {re.escape(MODULE)}.{JOB}"):
        install("audit", show=lambda audit: None)


# ---------------------------------------------------------------- caches


def test_a_release_of_torch_without_such_keys_is_said(torch: Any) -> None:
    del torch.compiler.config.cache_key_tag
    with pytest.warns(KernelWarning, match="graphs from inductor's cache.*FORCE_DISABLE_CACHES=1"):
        install("replace")
    assert job_of(torch) is not inductors_own


@pytest.mark.parametrize("tag", ["", "mine"])
def test_graphs_with_fencepost_have_keys_of_their_own_in_inductors_cache(torch: Any, tag: str) -> None:
    torch.compiler.config.cache_key_tag = tag
    seen = {tag}
    for mode in ("audit", "replace"):
        with installed(mode, show=lambda audit: None):
            assert torch.compiler.config.cache_key_tag.startswith(tag)
            seen.add(torch.compiler.config.cache_key_tag)
        assert torch.compiler.config.cache_key_tag == tag
    assert len(seen) == 3


def test_a_tag_that_somebody_has_set_since_stays(torch: Any) -> None:
    with installed("replace"):
        torch.compiler.config.cache_key_tag = "theirs"
    assert torch.compiler.config.cache_key_tag == "theirs"


@pytest.mark.parametrize(
    ("mode", "show", "used"), [("audit", print, False), ("replace", print, False), ("replace", None, True)]
)
def test_where_audits_are_wanted_no_graph_comes_from_inductors_cache(
    torch: Any, mode: str, show: Callable[[Audit], None] | None, used: bool
) -> None:
    config = torch._inductor.config
    with installed(mode, show=show):
        assert config.fx_graph_cache is used
        assert bool(config.fx_graph_remote_cache) is False
    assert config.fx_graph_cache is True


# ---------------------------------------------------------------- loaded later


def test_a_module_is_met_when_it_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "loaded_later.py").write_text("number = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    met: list[int] = []
    finder = AfterLoading("loaded_later", lambda module: met.append(module.number))
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    import_module("json.tool")
    assert finder in sys.meta_path and not met
    import_module("loaded_later")
    assert met == [3] and finder not in sys.meta_path
    monkeypatch.delitem(sys.modules, "loaded_later")


def test_nothing_waits_for_inductor_once_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    before = list(sys.meta_path)
    with installed("replace"):
        assert isinstance(sys.meta_path[0], AfterLoading)
    assert sys.meta_path == before


# ---------------------------------------------------------------- the real one, without a GPU


def run(cache: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, str(BENCH / script), *arguments], capture_output=True, text=True, env=environment
    )


@pytest.mark.parametrize("workers", sweep(("1", "2")))
def test_the_script_of_the_page_prints_what_the_page_says(workers: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "torch-compile.md").read_text(encoding="utf-8")
    (script, printed) = re.findall(
        r"^```python\n(.*?)^```\n.*?^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )[0]
    (tmp_path / "model.py").write_text(script)
    ran = run(tmp_path / "cache", "without_gpu.py", "--workers", workers, str(tmp_path / "model.py"))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == printed


HANDFUL = ("gelu", "softmax_rows", "add_transposed", "cumsum_1024", "mm_f16_0", "layer_norm_training")


@pytest.mark.parametrize("target", sweep(("gfx942", "sm_90"), first=1))
def test_generated_kernels_are_clean_and_get_no_more_barriers(target: str, tmp_path: Path) -> None:
    ran = run(tmp_path / "cache", "inductor_kernels.py", "--target", target, "--only", *HANDFUL)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"no shared memory +[1-9]", ran.stdout)
    assert re.search(r"clean +[4-9]", ran.stdout)
    assert re.search(r"more barriers run in +0\n", ran.stdout)


@FULL
def test_a_graph_from_inductors_cache_is_audited_and_replaced_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text(TWICE)
    ran = run(tmp_path / "cache", "without_gpu.py", str(tmp_path / "twice.py"))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        *(
            "stock: compiled 1",
            "stock: compiled 0",
            "audit: compiled 1, audits 1",
            "audit: compiled 1, audits 1",
        ),
        *("replace: compiled 1, audits 0", "replace: compiled 0, audits 0", "stock: compiled 0"),
    ]


TWICE = """
import torch
import triton

import fencepost.hosts.triton as host
from torch._inductor.utils import clear_caches

calls = []
compile_kernel = triton.compile
triton.compile = lambda *arguments, **options: (calls.append(1), compile_kernel(*arguments, **options))[1]


def compiled():
    torch._dynamo.reset()
    clear_caches()
    calls.clear()
    torch.compile(lambda x: torch.softmax(x, -1))(torch.empty(512, 1024, device="cuda"))
    return f"compiled {len(calls)}"


for _ in range(2):
    print(f"stock: {compiled()}")
for mode in ("audit", "audit", "replace", "replace"):
    with host.installed(mode, show=(lambda audit: None) if mode == "audit" else None) as made:
        print(f"{mode}: {compiled()}, audits {len(made.audits)}")
print(f"stock: {compiled()}")
"""
