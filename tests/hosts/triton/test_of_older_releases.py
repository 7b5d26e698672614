"""What only older releases have, shown with the installed one: names, barriers that say less, no hook."""

from __future__ import annotations

import re
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from fencepost.hosts.triton.cache_keys import own_caches
from fencepost.hosts.triton.compiled_listener import listener_there, put_in_listener, take_out_listener
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.releases import release_of
from fencepost.hosts.triton.round_trip import refuse_not_read_back
from fencepost.hosts.triton.stages_hook import hook_there, put_in_hook, take_out_hook
from fencepost.hosts.triton.write_back import removable
from fencepost.ir.source import FencepostError
from tests.hosts.triton.modules import BYTES, module
from tests.hosts.triton.test_partitions import races


def as_in(monkeypatch: pytest.MonkeyPatch, release: str, *parts: str) -> None:
    """From here on, parts of the host take another release for the one that is installed."""
    row = release_of(release)
    assert row is not None
    for part in parts:
        monkeypatch.setattr(f"fencepost.hosts.triton.{part}.installed_release", lambda: row)


# ---------------------------------------------------------------- names

NAMED = """\
"builtin.module"() ({
  "amdgpu.cond_barrier"() : () -> ()
  "gpu.barrier"() : () -> ()
  "gpu.barrier"() {local} : () -> ()
  "tt.experimental_tensormap_fenceproxy_acquire"() : () -> ()
}) : () -> ()
"""


@pytest.mark.parametrize(("release", "name"), [("3.6", "amdgpu.cond_barrier"), ("3.5", "amdg.cond_barrier")])
def test_operations_of_amd_have_the_newest_name(
    release: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_in(monkeypatch, release, "mlir.newest_operations")
    tree = read_module(NAMED)
    assert [op.name for op in tree.body.operations] == [
        *(name, "gpu.barrier", "gpu.barrier"),
        "ttng.tensormap_fenceproxy_acquire",
    ]
    assert tree.text == NAMED


def test_a_barrier_that_the_user_wrote_may_be_there_for_global_memory() -> None:
    assert [removable(op) for op in read_module(NAMED).body.operations] == [False, False, True, False]


# ---------------------------------------------------------------- barriers of partitions

PARTED = """
ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4>}
default {
  ttg.warp_yield
}
partition0() num_warps(4) {
  %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
  %z = arith.constant dense<0.0> : <TENSOR>
  ttg.local_store %z, %m : <TENSOR> -> <TILE>
  gpu.barrier
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  ttg.warp_return
} : () -> ()
tt.return
"""


def test_a_barrier_inside_of_a_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of the partition where membar puts in such barriers; elsewhere nobody knows who meets there."""
    text = module(PARTED, shared=BYTES)
    with pytest.raises(FencepostError, match=r"uses gpu\.barrier"):
        races(text)
    as_in(monkeypatch, "3.5", "translate_operations")
    assert races(text) == 0
    assert races(text.replace("gpu.barrier", "")) == 1


# ---------------------------------------------------------------- views

VIEWED = """\
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = ORDER}>
"builtin.module"() ({
  %n = "test.number"() : () -> i32
  %m = "ttg.local_alloc"() : () -> !ttg.memdesc<FROM, #s, #ttg.shared_memory, mutable>
  %0 = "arith.constant"() <{value = 0 : i32}> : () -> i32
  %8 = "arith.constant"() <{value = 8 : i32}> : () -> i32
  %v = "ttg.memdesc_subview"(%m, AT) : (!ttg.memdesc<FROM, #s, #ttg.shared_memory, mutable>, TYPES) ->
    !ttg.memdesc<TO, #s, #ttg.shared_memory, mutable>
}) : () -> ()
"""
SLOT, PART, NEITHER = "ttg.memdesc_index", "ttg.memdesc_subslice", "ttg.memdesc_subview"


@pytest.mark.parametrize(
    ("source", "at", "result", "order", "expected"),
    [
        ("3x64x32xf16", "%n, %0, %0", "64x32xf16", "[1, 0]", SLOT),
        ("3x64x32xf16", "%8, %0, %0", "64x32xf16", "[2, 1, 0]", SLOT),
        # Mbarriers in a row.
        ("3xi64", "%n", "1xi64", "[0]", SLOT),
        ("64x32xf16", "%8, %0", "16x32xf16", "[1, 0]", PART),
        # It begins in the middle of a slot; a slot is spread over the memory; which part it is, is not known.
        ("3x64x32xf16", "%n, %8, %0", "64x32xf16", "[1, 0]", NEITHER),
        ("3x64x32xf16", "%n, %0, %n", "64x32xf16", "[1, 0]", NEITHER),
        ("3x64x32xf16", "%n, %0, %0", "64x32xf16", "[0, 1, 2]", NEITHER),
        ("64x32xf16", "%n, %0", "16x32xf16", "[1, 0]", NEITHER),
        ("3xi64", "%n", "2xi64", "[0]", NEITHER),
    ],
)
def test_views_that_begin_somewhere_in_each_dimension(
    source: str, at: str, result: str, order: str, expected: str
) -> None:
    types = ", ".join("i32" for _ in at.split(","))
    text = VIEWED.replace("FROM", source).replace("AT", at).replace("TO", result)
    *_, view = read_module(text.replace("TYPES", types).replace("ORDER", order)).body.operations
    assert view.name == expected
    assert view.integers("offsets") == ((8, 0) if expected == PART else None)
    # Where it is neither, all that it is cut from is meant.
    assert len(view.operands) == {SLOT: 2, PART: 1, NEITHER: 2 + at.count(",")}[expected]


SLOTS = "!ttg.memdesc<64x32xf16, #shared, #smem, mutable, 3x64x32>"
PARTS = "!ttg.memdesc<16x32xf16, #shared, #smem, mutable, 64x32>"


@pytest.mark.parametrize(("view", "refused"), [(SLOTS, False), (PARTS, True)])
def test_parts_of_tiles_that_are_not_read_back_are_left(
    view: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser of 3.3 forgets what a view is cut from: put back like this, a part would have other addresses."""

    def forgetting(text: str, _: object) -> str:
        return re.sub(r"mutable, [\dx]+>", "mutable>", text)

    text = f'"ttg.local_load"(%0) : ({view}) -> tensor<64x32xf16>\n'
    monkeypatch.setattr("fencepost.hosts.triton.round_trip.parse_live", forgetting)
    monkeypatch.setattr("fencepost.hosts.triton.round_trip.print_generic", lambda module, _: module)
    as_in(monkeypatch, "3.3", "round_trip")
    with pytest.raises(FencepostError, match="lose their place") if refused else nullcontext():
        refuse_not_read_back(text, None)
    as_in(monkeypatch, "3.4", "round_trip")
    refuse_not_read_back(text, None)


# ---------------------------------------------------------------- caches


def test_launched_kernels_are_kept_apart_from_those_with_another_key() -> None:
    class Function:
        def __init__(self) -> None:
            self.device_caches = {"device": "stock"}

        def create_binder(self) -> str:
            return "new"

    before = Function()
    taken = own_caches(Function, "key")
    made = Function()
    assert [each.device_caches["device"] for each in (before, made)] == ["new", "new"]
    before.device_caches["device"] = "ours"
    taken.take_out()
    assert [each.device_caches["device"] for each in (before, made)] == ["stock", "stock"]
    own_caches(Function, "key")
    assert before.device_caches["device"] == "ours"


def test_without_a_listener_compiled_kernels_tell_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    class CompiledKernel:
        def __init__(self, src: str, metadata_group: str, hash: str) -> None:
            self.metadata = Metadata(hash)

    as_in(monkeypatch, "3.3", "compiled_listener")
    compiler: Any = import_module("triton.compiler.compiler")
    monkeypatch.setattr(compiler, "CompiledKernel", CompiledKernel)
    told: list[tuple[str, bool]] = []
    assert listener_there() is None

    def listener(*, src: str, metadata: dict[str, str], cache_hit: bool) -> None:
        told.append((f"{src} {metadata['hash']}", cache_hit))

    replaced = put_in_listener(listener, {"new"})
    for name in ("new", "new", "old"):
        assert isinstance(compiler.CompiledKernel("source", "", name), CompiledKernel)
    take_out_listener(listener, None, replaced)
    assert told == [("source new", False), ("source new", True), ("source old", True)]
    assert compiler.CompiledKernel is CompiledKernel


class Metadata(NamedTuple):
    """What a kernel keeps."""

    hash: str


# ---------------------------------------------------------------- the stages of a compilation


def test_without_a_hook_backends_are_made_to_call_one(monkeypatch: pytest.MonkeyPatch) -> None:
    as_in(monkeypatch, "3.5", "stages_hook")
    backend = import_module("triton.backends").backends["nvidia"].compiler
    monkeypatch.setattr(backend, "add_stages", add_stages)
    seen: list[object] = []

    def hook(*arguments: object) -> None:
        seen.append(arguments)

    assert hook_there() is None
    functions = put_in_hook(hook)
    stages: dict[str, str] = {}
    backend.add_stages("it", stages, "options", "language")
    take_out_hook(hook, None, functions)
    assert seen == [("it", {"llir": "made"}, "options", "language")]
    assert backend.add_stages is add_stages


def add_stages(backend: object, stages: dict[str, str], *_: object) -> None:
    """Stands for what a backend has."""
    stages["llir"] = "made"


def test_what_somebody_else_has_put_there_since_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    as_in(monkeypatch, "3.5", "stages_hook")
    backend = import_module("triton.backends").backends["nvidia"].compiler
    monkeypatch.setattr(backend, "add_stages", add_stages)
    functions = put_in_hook(print)
    monkeypatch.setattr(backend, "add_stages", later := lambda *_: None)
    take_out_hook(print, None, functions)
    assert backend.add_stages is later
