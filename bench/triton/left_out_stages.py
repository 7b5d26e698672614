"""Compilations that end early: what nobody looks at need not be made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

ASSEMBLY = ("ptx", "amdgcn")
BINARIES = ("cubin", "hsaco")


@contextmanager
def without(*stages: str) -> Iterator[None]:
    """Within it, compilation ends before these stages."""

    def last(*arguments: Any) -> tuple[str, str] | None:
        if not arguments:
            return "", ""
        for stage in stages:
            if stage in arguments[1]:
                arguments[1][stage] = partial(_nothing, stage)
        return None

    runtime = import_module("triton.knobs").runtime
    with runtime.scope():
        runtime.add_stages_inspection_hook = last
        yield


def _nothing(stage: str, source: Any, metadata: Any) -> str | bytes:
    """What stands for a stage that was left out."""
    metadata.setdefault("name", "left_out")
    return b"" if stage in BINARIES else ""
