"""What nobody has written for the corpus: each kernel is clean as Triton compiles it, and `replace` proves what it
passes on, which runs no more barriers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from fencepost.hosts.triton import installation, installed
from fencepost.hosts.triton.audit import Audit
from fencepost.hosts.triton.choose_barriers import fencepost_candidate, fewer_or_membars
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.text_edits import Edit
from tests.hosts.triton.conftest import GPUS
from tests.tiers import sweep

HALF, FLOAT, INT = "*fp16", "*fp32", "*i32"
PRODUCT = {"a": HALF, "b": HALF}
KERNELS: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "pipelines_in_each_other": (
        {**PRODUCT, "bias": HALF, "c": FLOAT, "k": "i32", "tiles": "i32"},
        {"BLOCK": 64, "STEP": 32},
    ),
    "stream_k": (
        {**PRODUCT, "c": FLOAT, "locks": INT, "parts": FLOAT, "k": "i32", "n": "i32", "share": "i32"},
        {"BLOCK": 64, "STEP": 32},
    ),
    "radix_pass": ({"x": INT, "out": INT, "n": "i32"}, {"BLOCK": 256}),
    "calls_under_conditions": ({"x": FLOAT, "y": FLOAT, "out": FLOAT, "n": "i32"}, {"BLOCK": 256}),
    "scans_of_pairs": ({"x": FLOAT, "out": FLOAT, "n": "i32"}, {"ROWS": 32, "COLS": 32}),
    "flattened_tiles": (
        {**PRODUCT, "c": HALF, "m": "i32", "n": "i32", "k": "i32"},
        {"TILE": 128, "STEP": 64},
    ),
}
EACH = [(name, gpu) for name in KERNELS for gpu in ("sm_90", "gfx950", "gfx1250", "sm_80", "gfx942")]
CHOSEN = [
    *(("pipelines_in_each_other", "gfx950"), ("stream_k", "sm_90"), ("radix_pass", "gfx1250")),
    *(("calls_under_conditions", "sm_80"), ("scans_of_pairs", "gfx942"), ("flattened_tiles", "sm_90")),
]


class Enough(BaseException):
    """fencepost is done with the kernel, and the rest of the compilation is not needed."""


def compiled(name: str, gpu: str) -> None:
    kernels = import_module("tests.hosts.triton.unusual_kernels")
    types, constants = KERNELS[name]
    kernel = getattr(kernels, name)
    signature = types | dict.fromkeys(constants, "constexpr")
    aligned = {(place,): [["tt.divisibility", 16]] for place in range(len(types))}
    source = import_module("triton.compiler").ASTSource(kernel, signature, constants, aligned)
    target = import_module("triton.backends.compiler").GPUTarget(*GPUS[gpu])
    import_module("triton").compile(source, target=target, options={"num_warps": 4, "enable_fp_fusion": True})


@pytest.mark.parametrize(("name", "gpu"), sweep(EACH, chosen=CHOSEN))
def test_it_is_judged_and_runs_no_more_barriers(
    name: str, gpu: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(import_module("triton.knobs").cache, "dir", str(tmp_path))
    changed = installation.Installation.changed
    audits: list[Audit] = []
    notes: list[dict[str, Any]] = []
    executed: list[float] = []

    def decide(before: Module, after: Any) -> list[Edit] | None:
        edits = fewer_or_membars(before, after)
        if edits is not None:
            executed.append(fencepost_candidate(before).executed)
        return edits

    def watched(self: installation.Installation, stopped: Any, note: dict[str, Any]) -> Any:
        changed(self, stopped, note)
        notes.append(note)
        raise Enough

    monkeypatch.setattr(installation.Installation, "changed", watched)
    with installed("replace", decide=decide, thorough=True, show=audits.append), pytest.raises(Enough):
        compiled(name, gpu)
    (audit,) = audits
    assert not audit.races and not audit.beyond
    assert notes[0]["judged"] in (
        "proven",
        "barriers and waits are proven, all waves were simulated together",
    )
    assert all(runs <= audit.executed for runs in executed)
