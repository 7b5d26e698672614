"""Compilations that end early: what nobody looks at need not be made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from fencepost.hosts.triton.stages_hook import hook_there, put_in_hook, take_out_hook

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

    before = hook_there()
    functions = put_in_hook(last)
    try:
        yield
    finally:
        take_out_hook(last, before, functions)


def _nothing(stage: str, source: Any, metadata: Any) -> str | bytes:
    """What stands for a stage that was left out."""
    metadata.setdefault("name", "left_out")
    return b"" if stage in BINARIES else ""
