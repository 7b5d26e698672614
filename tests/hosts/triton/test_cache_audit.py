"""Kernels in Triton's cache, audited as they were compiled: the verdicts are those of the compilation itself."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fencepost.audit.entries import Entry, entries_of, read
from fencepost.audit.judge import record_of
from fencepost.audit.local import judged_here
from fencepost.audit.records import KernelRecord, Record
from fencepost.hosts.triton import installed, kept_audits
from fencepost.hosts.triton.lowering import lowered
from fencepost.ir.source import Source
from tests.hosts.triton.conftest import GPUS, KERNELS

BUILDS: list[tuple[str, str, dict[str, Any]]] = [
    ("matmul", "sm_80", {"num_stages": 3}),
    ("matmul", "sm_90", {"num_warps": 8, "num_stages": 4}),
    ("matmul", "gfx942", {"num_stages": 2}),
    ("total", "sm_90", {"num_warps": 8}),
    ("total", "gfx1250", {}),
    ("matmul", "sm_90", {"num_ctas": 2}),
    ("plain", "sm_80", {}),
]
PLAIN = """

@triton.jit
def plain(a, b, c, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    tl.store(c + place, tl.load(a + place).to(tl.float32))
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache that Triton has filled while an audit was installed."""
    folder, code = tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("kernels")
    (code / "kernels_of_a_cache.py").write_text(KERNELS + PLAIN)
    sys.path.insert(0, str(code))
    try:
        kernels = import_module("kernels_of_a_cache")
    finally:
        sys.path.remove(str(code))
    compile_, knobs = import_module("triton").compile, import_module("triton.knobs")
    source = import_module("triton.compiler").ASTSource
    target_of = import_module("triton.backends.compiler").GPUTarget
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    aligned = {(place,): [["tt.divisibility", 16]] for place in range(4)}
    with knobs.cache.scope(), installed("audit", show=lambda found: None):
        knobs.cache.dir = str(folder)
        for name, gpu, options in BUILDS:
            made = source(getattr(kernels, name), signature, constexprs={"BLOCK": 64}, attrs=aligned)
            compile_(made, target=target_of(*GPUS[gpu]), options={"enable_fp_fusion": True, **options})
    yield folder


@pytest.fixture(scope="module")
def audited(cache: Path) -> list[tuple[Entry, Record]]:
    """Every kernel of the cache, judged without the compilation."""
    entries = {entry.path: entry for entry in entries_of([str(cache)])}
    return [(entries[record.path], record) for record in judged_here(entries.values(), 1, 120)]


def said_then(entry: Entry) -> KernelRecord | None:
    """What was said when the kernel was compiled; nothing of one that touches no shared memory."""
    noted = json.loads(Path(entry.metadata).read_text())["fencepost"]["audits"]
    return record_of(kept_audits.read(noted[0])) if noted else None


def test_the_verdicts_are_those_of_the_compilation(audited: list[tuple[Entry, Record]]) -> None:
    assert len(audited) == len(BUILDS)
    for entry, record in audited:
        then, (now,) = said_then(entry), record.kernels
        if then is None:
            assert (now.name, record.verdict, now.barriers) == ("plain", "clean", 0)
        else:
            assert now == then, f"{entry.path}: {record}"


def test_what_is_found(audited: list[tuple[Entry, Record]]) -> None:
    found = sorted(
        (record.kernels[0].name, record.kernels[0].target, record.verdict) for _, record in audited
    )
    assert found == [
        ("matmul", "gfx942", "clean"),
        ("matmul", "sm_80", "clean"),
        ("matmul", "sm_90", "clean"),
        ("matmul", "sm_90", "not judged"),
        ("plain", "sm_80", "clean"),
        ("total", "gfx1250", "clean"),
        ("total", "sm_90", "clean"),
    ]
    (clusters,) = [record for _, record in audited if record.verdict == "not judged"]
    assert "clusters of 2 workgroups" in clusters.reason


def entry_of(cache: Path, name: str, tmp_path: Path) -> Path:
    """A copy of one kernel of the cache that is judged: the first of that name which has no clusters."""
    kernel = next(
        Path(entry.path)
        for entry in entries_of([str(cache)])
        if Path(entry.path).stem == name
        and json.loads(Path(entry.path).with_suffix(".json").read_text())["num_ctas"] == 1
    )
    shutil.copytree(kernel.parent, tmp_path / "KEY")
    return tmp_path / "KEY" / kernel.name


def judged(path: Path) -> Record:
    """What is said about one file."""
    (record,) = judged_here(entries_of([str(path)]), 1, 120)
    return record


def test_where_a_module_cannot_be_read_it_says_why(cache: Path, tmp_path: Path) -> None:
    path = entry_of(cache, "total", tmp_path)
    text = path.read_text()
    path.write_text(text.replace("tt.return", "tt.bogus", 1))
    reason = judged(path).reason
    assert reason.startswith("FP402: Triton cannot read this module: ") and "'tt.bogus'" in reason


def test_another_release_is_named(cache: Path, tmp_path: Path) -> None:
    path = entry_of(cache, "total", tmp_path)
    metadata = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(metadata | {"triton_version": "3.7.1"}))
    record = judged(path)
    assert record.verdict == "not judged"
    assert "triton 3.7.1 has compiled this; triton 3.9.0 is installed" in record.reason


def test_without_metadata_the_module_says_what_it_is_for(cache: Path, tmp_path: Path) -> None:
    path = entry_of(cache, "total", tmp_path)
    with_metadata = judged(path)
    path.with_suffix(".json").unlink()
    without = judged(path)
    assert without.kernels == with_metadata.kernels and without.digest != with_metadata.digest


def test_warps_of_partitions_are_noted_and_not_given_again(cache: Path, tmp_path: Path) -> None:
    """Where waves are specialized, Triton notes all of them: 4 and 8 more are 12, no number of warps to ask for."""
    path = entry_of(cache, "matmul", tmp_path)
    metadata = json.loads(path.with_suffix(".json").read_text())
    kernels = judged(path).kernels
    path.with_suffix(".json").write_text(json.dumps(metadata | {"num_warps": metadata["num_warps"] + 8}))
    assert judged(path).kernels == kernels


def test_a_module_that_makes_triton_fail_is_not_judged(cache: Path, tmp_path: Path) -> None:
    path = entry_of(cache, "total", tmp_path)
    text = path.read_text()
    for broken in (text[: len(text) // 2], text.replace("tt.reduce", "tt.redduce"), "module {}"):
        path.write_text(broken)
        assert judged(path).verdict == "not judged"


def test_a_module_from_before_layouts_is_not_judged(cache: Path, tmp_path: Path) -> None:
    earlier = entry_of(cache, "total", tmp_path).with_suffix(".ttir")
    record = judged(earlier)
    assert record.verdict == "not judged" and "how many warps" in record.reason


def test_a_race_that_triton_would_ship_is_found(cache: Path, tmp_path: Path) -> None:
    """Behind membar nothing is added: without one of its barriers, the module is judged as it stands."""
    path = entry_of(cache, "matmul", tmp_path)
    after = lowered(Source(path.name, path.read_text()))
    kept = tmp_path / "after.mlir"
    kept.write_text(after.text)
    assert judged(kept).verdict == "clean"
    lines = after.text.splitlines()
    barriers = [number for number, line in enumerate(lines) if '"ttg.barrier"' in line]
    assert barriers
    del lines[barriers[0]]
    kept.write_text("\n".join(lines))
    assert judged(kept).verdict == "races"


def test_the_digest_is_of_everything_that_decides(cache: Path, tmp_path: Path) -> None:
    path = entry_of(cache, "total", tmp_path)
    (entry,) = entries_of([str(path)])
    before = read(entry).digest
    metadata = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(metadata | {"num_warps": 2}))
    assert read(entry).digest != before
    assert read(replace(entry, metadata="")).digest != before
