"""fencepost in a process that compiles Triton kernels: audits change nothing, replaced barriers are never more."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fencepost.hosts.triton import (
    Audit,
    choose_barriers,
    install,
    installed,
    kernel_variants,
    membar,
    pipeline,
    uninstall,
    verification,
)
from fencepost.hosts.triton import kept_audits as records
from fencepost.hosts.triton.audit import triton_barriers
from fencepost.hosts.triton.text_edits import InsertBarrier
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.report.diagnostics import Diagnostic
from tests.hosts.triton.conftest import GPUS
from tests.hosts.triton.kernel_sources import HEADER, MATMUL_IN_STEPS
from tests.tiers import sweep

# The package has a function of that name: the module is looked up by its path.
host = import_module("fencepost.hosts.triton.installation")

KERNELS = (
    HEADER
    + MATMUL_IN_STEPS
    + """

@triton.jit
def peak(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)[:, None] * 64 + tl.arange(0, 64)[None, :]
    best = tl.zeros((64,), tl.float32)
    for k in range(0, n):
        best = tl.maximum(best, tl.max(tl.load(a + k * n + place).to(tl.float32), axis=0))
    tl.store(c + tl.arange(0, 64), best)


@triton.jit
def dot_in_branch(a, b, c, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, BLOCK, num_stages=3):
        x = tl.load(a + rows * n + k + columns)
        y = tl.load(b + (k + rows) * n + columns)
        if tl.load(c + k) > 0:
            total = tl.dot(x, y, total)
        else:
            total = tl.dot(x * 2, y, total)
    tl.store(c + rows * n + columns, total)


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    tl.store(c + place, tl.load(a + place).to(tl.float32) + tl.load(b + place).to(tl.float32))
"""
)
BARRIER = {"hip": r"\bs_barrier(?:_wait)?\b", "cuda": r"\bbar\.sync\b"}

Compile = Callable[..., Any]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The kernels of this file, in a module that Triton can read the source of."""
    folder = tmp_path_factory.mktemp("install")
    (folder / "kernels_to_install_for.py").write_text(KERNELS)
    sys.path.insert(0, str(folder))
    try:
        yield import_module("kernels_to_install_for")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def build(kernels: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compile]:
    """`build("matmul", "gfx942")`: compiled anew for each call, whatever is installed."""
    triton = import_module("triton")
    knobs = import_module("triton.knobs")
    compiler = import_module("triton.compiler")
    target_of = import_module("triton.backends.compiler").GPUTarget
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(place,): [["tt.divisibility", 16]] for place in range(4)}

    def compile_kernel(
        kernel: str, gpu: str, num_warps: int = 4, num_ctas: int = 1, cached: bool = False
    ) -> Any:
        source = compiler.ASTSource(
            getattr(kernels, kernel), signature, constexprs={"BLOCK": 64}, attrs=aligned
        )
        options = {"num_warps": num_warps, "num_stages": 3, "enable_fp_fusion": True, "num_ctas": num_ctas}
        knobs.compilation.always_compile = not cached
        return triton.compile(source, target=target_of(*GPUS[gpu]), options=options)

    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.dir = str(tmp_path_factory.mktemp("cache"))
        yield compile_kernel


@pytest.fixture(scope="module")
def stock(build: Compile) -> Compile:
    """Assembly as Triton alone makes it, once for each kernel."""
    made: dict[tuple[Any, ...], str] = {}

    def assembly_of(*arguments: Any) -> str:
        if arguments not in made:
            assert not host._installations.current, "with fencepost installed it would not be Triton's alone"
            made[arguments] = assembly(build(*arguments))
        return made[arguments]

    return assembly_of


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("FENCEPOST_TRITON", raising=False)
    yield
    uninstall()


def assembly(compiled: Any) -> str:
    return str(compiled.asm.get("amdgcn") or compiled.asm["ptx"])


def hook() -> Any:
    return import_module("triton.knobs").runtime.add_stages_inspection_hook


def barriers(text: str, gpu: str) -> int:
    return len(re.findall(BARRIER[GPUS[gpu][0]], text))


def in_loop(text: str, gpu: str) -> int:
    """Barriers in the longest stretch that a jump back encloses: the pipelined loop."""
    lines = text.split("\n")
    labels = {
        line.split(":")[0].strip(): number for number, line in enumerate(lines) if re.match(r"[.$\w]+:", line)
    }
    stretches = [
        lines[labels[word] : number]
        for number, line in enumerate(lines)
        if (jump := re.search(r"\b(?:bra|s_c?branch\w*)[.\w]*\s+([.$\w]+)", line))
        and (word := jump[1]) in labels
        and labels[word] < number
    ]
    assert stretches, text
    return max(barriers("\n".join(stretch), gpu) for stretch in stretches)


# ---------------------------------------------------------------- audit


@pytest.mark.parametrize("gpu", sweep(GPUS, chosen=("gfx1250", "sm_80")))
@pytest.mark.parametrize("kernel", ["matmul", "peak"])
def test_an_audit_changes_nothing(kernel: str, gpu: str, build: Compile, stock: Compile) -> None:
    found: list[Audit] = []
    with installed("audit", show=found.append):
        audited = assembly(build(kernel, gpu))
    assert audited == stock(kernel, gpu)
    (audit,) = found
    assert (audit.kernel, audit.target, audit.races, audit.beyond) == (kernel, gpu, (), ())


def test_an_audit_says_where_redundant_barriers_come_from(build: Compile) -> None:
    with installed("audit", show=lambda _: None) as made:
        build("matmul", "gfx1250")
    assert made is not None
    (audit,) = made.audits
    assert len(audit.redundant) >= 2
    assert all(re.search(r"kernels_to_install_for\.py:\d+$", place) for place in audit.redundant)
    assert "redundant" in str(audit)


def test_an_audit_is_printed_to_standard_error(build: Compile, capfd: pytest.CaptureFixture[str]) -> None:
    with installed("audit"):
        build("peak", "sm_80")
    assert "fencepost: @peak (sm_80): " in capfd.readouterr().err


def test_a_kernel_without_shared_memory_is_no_trouble(build: Compile, stock: Compile) -> None:
    for mode in ("audit", "replace"):
        with installed(mode, show=lambda _: None):
            made = assembly(build("add", "sm_80"))
        assert made == stock("add", "sm_80")


# ---------------------------------------------------------------- replace


@pytest.mark.parametrize("gpu", sweep(["gfx942", "gfx950", "sm_80", "sm_90"], chosen=("gfx950", "sm_90")))
@pytest.mark.parametrize("kernel", ["matmul", "peak"])
def test_tritons_own_barriers_give_tritons_own_assembly(
    kernel: str, gpu: str, build: Compile, stock: Compile
) -> None:
    with installed("replace", decide=triton_barriers):
        made = assembly(build(kernel, gpu))
    assert made == stock(kernel, gpu)


@pytest.mark.parametrize("gpu", sweep(GPUS, chosen=("gfx942", "gfx1250", "sm_90")))
@pytest.mark.parametrize(("kernel", "warps"), sweep([("matmul", 4), ("peak", 4), ("matmul", 8)], first=2))
def test_replaced_barriers_are_never_more(
    kernel: str, warps: int, gpu: str, build: Compile, stock: Compile
) -> None:
    with warnings.catch_warnings(), installed("replace"):
        warnings.simplefilter("error", RuntimeWarning)
        replaced = assembly(build(kernel, gpu, warps))
    assert barriers(replaced, gpu) <= barriers(stock(kernel, gpu, warps), gpu)


@pytest.mark.parametrize(("gpu", "before", "after"), [("gfx1250", 3, 1), ("sm_80", 3, 2)])
def test_barriers_of_a_pipelined_loop(
    gpu: str, before: int, after: int, build: Compile, stock: Compile
) -> None:
    with installed("replace"):
        replaced = assembly(build("matmul", gpu))
    assert (in_loop(stock("matmul", gpu), gpu), in_loop(replaced, gpu)) == (before, after)


IN_EACH_WAVE = """
#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @turn(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #a}>>
    %e = tt.expand_dims %r {axis = 0 : i32}
      : tensor<64xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x64xi32, #a>
    %x = tt.broadcast %e : tensor<1x64xi32, #a> -> tensor<64x64xi32, #a>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>, #a>
    %at = tt.addptr %q, %x : tensor<64x64x!tt.ptr<i32>, #a>, tensor<64x64xi32, #a>
    %v = tt.load %at : tensor<64x64x!tt.ptr<i32>, #a>
    %m = ttg.local_alloc %v : (tensor<64x64xi32, #a>) -> !ttg.memdesc<64x64xi32, #s, #smem>
    %i = ttg.convert_layout %v : tensor<64x64xi32, #a> -> tensor<64x64xi32, #b>
    %y = ttg.local_load %m : !ttg.memdesc<64x64xi32, #s, #smem> -> tensor<64x64xi32, #b>
    %pb = tt.splat %p : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>, #b>
    %to = tt.addptr %pb, %i : tensor<64x64x!tt.ptr<i32>, #b>, tensor<64x64xi32, #b>
    tt.store %to, %y : tensor<64x64x!tt.ptr<i32>, #b>
    tt.return
  }
}
"""


def test_a_change_of_layout_within_waves_stands_for_no_barrier(build: Compile, tmp_path: Path) -> None:
    """Stored, then turned round in each wave (`bar.warp.sync`), then read by all: the barrier in between stays."""
    triton = import_module("triton")
    target = import_module("triton.backends.compiler").GPUTarget(*GPUS["sm_80"])
    path = tmp_path / "turn.ttgir"
    path.write_text(IN_EACH_WAVE)
    with installed("replace"):
        made = assembly(triton.compile(str(path), target=target, options={"enable_fp_fusion": True}))
    assert "bar.warp.sync" in made
    assert barriers(made, "sm_80") == 1


# ---------------------------------------------------------------- clusters


@pytest.mark.parametrize("kernel", ["matmul", "peak"])
def test_a_kernel_for_clusters_is_left_to_triton(kernel: str, build: Compile, stock: Compile) -> None:
    """membar puts in more than barriers for them: barriers of the cluster, and fences for peers."""
    said = "left this kernel as Triton compiles it: not judged: .* clusters of 2 workgroups"
    with installed("replace"), pytest.warns(RuntimeWarning, match=said):
        replaced = assembly(build(kernel, "sm_90", 4, 2))
    assert replaced == stock(kernel, "sm_90", 4, 2)
    assert "barrier.cluster.arrive" in replaced


@pytest.mark.parametrize("kernel", ["matmul", "peak"])
def test_an_audit_does_not_judge_kernels_for_clusters(kernel: str, build: Compile) -> None:
    with installed("audit", show=lambda _: None) as made:
        build(kernel, "sm_90", 4, 2)
    assert made is not None
    (audit,) = made.audits
    assert (audit.beyond, audit.races) == (("clusters of 2 workgroups (num_ctas = 2)",), ())
    assert f"@{kernel} (sm_90): not judged" in str(audit)


def test_what_membar_does_besides_barriers_is_noticed(build: Compile) -> None:
    """With clusters it puts other operations in: they are not taken for nothing."""
    seen: list[str] = []

    def decide(before: Any, after: Any) -> Any:
        with pytest.raises(FencepostError, match="membar has changed more than barriers") as error:
            triton_barriers(before, after)
        seen.append(error.value.code)
        raise error.value

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(host, "refuse_clusters", lambda _: None)
        with installed("replace", decide=decide), pytest.warns(RuntimeWarning, match="more than barriers"):
            build("peak", "sm_90", 4, 2)
    assert seen == ["FP410"]


# ---------------------------------------------------------------- what is passed on is judged


@pytest.mark.parametrize("gpu", ["gfx942", "sm_80"])
@pytest.mark.parametrize("kept", [0, 1])
def test_barriers_that_are_not_enough_are_not_passed_on(
    kept: int, gpu: str, build: Compile, stock: Compile
) -> None:
    def too_few(before: Any, after: Any) -> Any:
        edits = triton_barriers(before, after)
        barriers = [edit for edit in edits if isinstance(edit, InsertBarrier)]
        return [edit for edit in edits if not isinstance(edit, InsertBarrier)] + barriers[:kept]

    said = r"`check` reports(.|\n)*with Triton's own barriers it is clean(.|\n)*error\[FP001\](.|\n)*= fix: "
    with installed("replace", decide=too_few), pytest.warns(RuntimeWarning, match=said):
        made = assembly(build("matmul", gpu))
    assert made == stock("matmul", gpu)


def test_a_tile_that_is_read_behind_the_copy_into_its_slot_is_a_race_of_tritons_own(
    build: Compile, stock: Compile
) -> None:
    """One side has the tile in registers, for which two slots are enough; the other reads it from memory."""
    with installed("audit", show=lambda _: None) as made:
        build("dot_in_branch", "sm_90")
    assert made is not None
    (race,) = made.audits[0].races
    assert "while its own copy into it is under way" in race.title
    said = r"a wait is missing or too weak \(.*kernels_to_install_for\.py:\d+; .*kernels_to_install_for\.py:\d+\)"
    with installed("replace"), pytest.warns(RuntimeWarning, match=said):
        left = build("dot_in_branch", "sm_90")
    assert assembly(left) == stock("dot_in_branch", "sm_90")
    # On sm_80 either side reads it at the loop's beginning.
    with installed("replace"):
        assert getattr(build("dot_in_branch", "sm_80").metadata, host.NOTED)["judged"] == "proven"


def test_a_kernel_that_is_wrong_either_way_is_tritons_and_said_to_be(
    build: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `check` reports of both may be a mistake of its own: nothing is changed then."""
    finding = Diagnostic("FP001", "a race", ())
    monkeypatch.setattr(verification, "verdict", lambda _, **options: ([finding], set()))
    with installed("replace"), pytest.warns(RuntimeWarning, match="with Triton's own barriers, too"):
        build("peak", "sm_80")


def test_what_is_not_proven_is_not_passed_on(
    build: Compile, stock: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "BUDGET", 1)
    with installed("replace"), pytest.warns(RuntimeWarning, match="could not be proven right: stopped after"):
        made = assembly(build("matmul", "sm_80"))
    assert made == stock("matmul", "sm_80")


def test_how_it_was_judged_is_noted(build: Compile) -> None:
    with installed("replace"):
        note = build("matmul", "gfx942").metadata.fencepost
    assert (note["left"], note["judged"]) == ("", "proven")
    with installed("audit", show=lambda _: None):
        assert build("matmul", "gfx942").metadata.fencepost["judged"] == ""


def test_a_thorough_verification_has_a_key_of_its_own() -> None:
    with installed("replace"):
        usual = hook()()
    with installed("replace", thorough=True):
        thorough = hook()()
        with installed("audit"):
            pass
        assert hook()() == thorough
    assert usual != thorough


# ---------------------------------------------------------------- nothing happens silently


@pytest.mark.parametrize("mode", ["audit", "replace"])
def test_a_pipeline_without_membar_is_named(
    mode: str, build: Compile, stock: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "membar_name", lambda: "add_membar_under_another_name")
    with installed(mode, show=None), pytest.warns(RuntimeWarning, match="no membar pass ran"):
        made = assembly(build("matmul", "sm_80"))
    assert made == stock("matmul", "sm_80")


def test_a_backend_that_is_built_otherwise_is_named(
    build: Compile, stock: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "missing_names", lambda _: "passes")
    with installed("replace"), pytest.warns(RuntimeWarning, match="its backend has no passes"):
        made = assembly(build("matmul", "sm_80"))
    assert made == stock("matmul", "sm_80")


def test_a_kernel_that_was_compiled_past_fencepost_is_named(
    build: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    knobs = import_module("triton.knobs")
    with installed("audit", show=lambda _: None):
        monkeypatch.setattr(knobs.runtime, "add_stages_inspection_hook", None)
        with pytest.warns(RuntimeWarning, match="@peak was compiled without the stage"):
            build("peak", "sm_80")


def test_an_audit_is_shown_again_when_the_kernel_comes_from_the_cache(build: Compile) -> None:
    for again in (False, True):
        with installed("audit", show=lambda _: None) as made:
            build("matmul", "gfx1250", cached=True)
        assert made is not None
        (audit,) = made.audits
        assert audit.cached is again
        assert len(audit.redundant) >= 2
        assert (", from Triton's cache" in str(audit)) is again


def test_an_audit_with_races_survives_the_cache() -> None:
    source = Source("@k", "write %a\nread %a\n")
    marks = (Mark(Span(1, 1, 1, 9), "here"), Mark(None))
    race = Diagnostic("FP001", "a race", marks, (("why", "no barrier"),), source)
    audit = Audit("k", "sm_80", 2, 101.0, ("k.py:7",), (race,))
    back = records.read(json.loads(json.dumps(records.written(audit))))
    assert back == replace(audit, cached=True)


def test_that_a_kernel_was_left_is_said_again_when_it_comes_from_the_cache(build: Compile) -> None:
    for where in ("left this kernel", "@peak, from Triton's cache, is as Triton compiles it"):
        with installed("replace"), pytest.warns(RuntimeWarning, match=f"{where}.*clusters"):
            build("peak", "sm_90", 4, 2, cached=True)


@pytest.mark.parametrize("note", [{}, {"audits": [{}], "left": ""}, {"audits": 7, "left": ""}])
def test_a_note_in_the_cache_that_cannot_be_read_is_no_trouble(note: dict[str, Any]) -> None:
    with installed("audit") as made:
        assert made is not None
        with pytest.warns(
            RuntimeWarning, match="@k comes from Triton's cache, and what was noted about it is lost"
        ):
            made.compiled(src=None, metadata={"name": "k", "fencepost": note}, cache_hit=True)


def test_a_listener_that_was_there_is_still_called(build: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []
    compilation = import_module("triton.knobs").compilation

    def other(**said: Any) -> None:
        calls.append(said["cache_hit"])

    monkeypatch.setattr(compilation, "listener", other)
    with installed("audit", show=lambda _: None):
        build("peak", "sm_80")
    assert calls == [False]
    assert compilation.listener is other


# ---------------------------------------------------------------- putting it in and taking it out


def test_uninstall_restores_what_was_there() -> None:
    before = hook()
    assert install("audit") is not None
    assert hook() != before
    uninstall()
    assert hook() == before
    uninstall()
    assert hook() == before


def test_installing_twice_is_installing_once() -> None:
    before = hook()
    install("audit")
    second = install("replace")
    assert second is not None
    assert second.before == before
    uninstall()
    assert hook() == before


def test_the_context_manager_takes_it_out_even_after_a_mistake() -> None:
    before = hook()
    with pytest.raises(ZeroDivisionError), installed("audit"):
        assert hook() != before
        _ = 1 / 0
    assert hook() == before


def test_a_hook_that_was_there_is_still_called(build: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def other(*arguments: Any) -> Any:
        calls.append(len(arguments))
        return None if arguments else ("other-key", "other-hash")

    monkeypatch.setattr(import_module("triton.knobs").runtime, "add_stages_inspection_hook", other)
    with installed("audit", show=lambda _: None) as made:
        build("peak", "sm_80")
        key, hashed = hook()()
    assert made is not None
    assert len(made.audits) == 1
    assert 0 in calls
    assert max(calls) > 0
    assert key.endswith("other-key")
    assert hashed.endswith("other-hash")
    assert hook() is other


def test_each_way_of_compiling_has_a_place_of_its_own_in_the_cache(build: Compile) -> None:
    hashes = {build("add", "sm_80", cached=True).hash}
    for mode, options in (
        ("audit", {}),
        ("replace", {}),
        ("replace", {"decide": triton_barriers}),
    ):
        with installed(mode, show=lambda _: None, **options):
            hashes.add(build("add", "sm_80", cached=True).hash)
    assert len(hashes) == 4


# ---------------------------------------------------------------- the environment variable


@pytest.mark.parametrize("mode", ["audit", "replace"])
def test_the_variable_chooses_the_mode(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_TRITON", mode)
    made = install()
    assert made is not None
    assert made.mode == mode


def test_what_is_said_in_the_program_counts_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_TRITON", "replace")
    made = install("audit")
    assert made is not None
    assert made.mode == "audit"


def test_off_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    before = hook()
    monkeypatch.setenv("FENCEPOST_TRITON", "off")
    assert install() is None
    assert hook() == before
    with installed() as made:
        assert made is None


@pytest.mark.parametrize("value", ["nonsense", "AUDIT", "1"])
def test_nonsense_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hook()
    monkeypatch.setenv("FENCEPOST_TRITON", value)
    with pytest.raises(FencepostError, match=f"unknown mode '{value}'") as error:
        install()
    assert error.value.code == "FP411"
    assert dict(error.value.notes)["known modes"] == "audit, replace, off"
    assert hook() == before


# ---------------------------------------------------------------- when things go wrong


def test_a_version_that_is_not_accepted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    before = hook()
    monkeypatch.setattr(import_module("triton"), "__version__", "4.0.0")
    with pytest.raises(FencepostError, match=r"triton 4\.0\.0 is installed") as error:
        install("replace")
    assert error.value.code == "FP405"
    assert hook() == before


@pytest.mark.parametrize(
    "broken", ["translations", "audit", "apply_edits", "parse_live", "read_module", "generic_form"]
)
@pytest.mark.parametrize("mode", ["audit", "replace"])
def test_a_mistake_of_ours_leaves_the_kernel_as_triton_makes_it(
    mode: str, broken: str, build: Compile, stock: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RecursionError("a mistake of ours")

    if mode == "audit" and broken in ("translations", "apply_edits", "parse_live"):
        broken = "audit"
    gpu = "gfx942" if broken in ("apply_edits", "read_module") else "sm_80"
    if mode == "replace" and broken == "audit":
        broken = "translations"
    inside = {"translations": kernel_variants, "audit": host, "generic_form": host}.get(broken, membar)
    monkeypatch.setattr(inside, broken, fail)
    show = None if mode == "replace" else lambda _: None
    left = "fencepost left this kernel as Triton compiles it"
    with installed(mode, show=show), pytest.warns(RuntimeWarning, match=left) as said:
        made = assembly(build("matmul", gpu))
    assert "a mistake of ours" in str(said[0].message)
    assert made == stock("matmul", gpu)


def test_a_mistake_after_membar_has_run_leaves_its_barriers(
    build: Compile, stock: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """membar runs once: what it made is passed on, whatever goes wrong from there on."""

    def fail(*_: Any, **__: Any) -> Any:
        raise RecursionError("a mistake of ours")

    monkeypatch.setattr(choose_barriers, "runs_of_membars", fail)
    with installed("replace") as made, pytest.warns(RuntimeWarning, match="a mistake of ours"):
        text = assembly(build("matmul", "gfx942"))
    assert made is not None and len(made.membar_seconds) == 1
    assert text == stock("matmul", "gfx942")


def test_an_error_of_triton_is_tritons(build: Compile, tmp_path: Path) -> None:
    """A kernel that does not compile fails as it does without fencepost, and says so in Triton's words."""
    triton = import_module("triton")
    target = import_module("triton.backends.compiler").GPUTarget(*GPUS["sm_80"])
    bad = tmp_path / "bad.ttgir"
    bad.write_text("module {\n  nonsense\n}\n")
    with warnings.catch_warnings(), installed("replace"):
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(RuntimeError):
            triton.compile(str(bad), target=target, options={"enable_fp_fusion": True})
