"""From a text to verdicts: reads the module, picks kernels, and judges each with a stack that is deep enough."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import TypeVar

from fencepost.hosts.ptx.judge import judge
from fencepost.hosts.ptx.launches.launch import MOST_BLOCKS, MOST_THREADS, Given, parameter_key
from fencepost.hosts.ptx.proof.prove import SECONDS
from fencepost.hosts.ptx.reading.module import Module, PtxError, Routine
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.hosts.ptx.verdicts import KernelVerdict

Result = TypeVar("Result")
STACK_BYTES = 512 * 1024 * 1024
RECURSION = 200_000
"""Expressions are followed by recursion, and unrolled loops make them deep."""


def check_text(
    text: str, given: Given, kernel: str | None, file: str, seconds: float = SECONDS
) -> list[KernelVerdict]:
    """Judges the kernels of a text, each within some seconds of processor time, runs of blocks not counted."""
    try:
        module = _parsed(text)
        chosen = _chosen(module, kernel)
        _check_launch(chosen, given)
    except PtxError as error:
        raise PtxError(f"{file}: {error}") from None
    return [with_deep_stack(partial(judge, module, routine, given, seconds)) for routine in chosen]


@lru_cache(maxsize=1)
def _parsed(text: str) -> Module:
    """The module of a text; a file with many kernels is asked about one after the other."""
    return parse(text)


def _chosen(module: Module, name: str | None) -> list[Routine]:
    kernels = module.kernels
    if not kernels:
        raise PtxError("there is no kernel (`.entry`) in this PTX")
    if name is None:
        return kernels
    found = [each for each in kernels if each.name == name]
    if not found:
        names = ", ".join(each.name for each in kernels)
        raise PtxError(f"there is no kernel `{name}`; there is {names}")
    return found


def _check_launch(kernels: list[Routine], given: Given) -> None:
    for sizes, what, most in (
        (given.block, "a block has 1 to {} threads", MOST_THREADS),
        (given.cluster, "a cluster has 1 to {} blocks", MOST_BLOCKS),
    ):
        if sizes is not None and (min(sizes) < 1 or prod(sizes) > most):
            raise PtxError(f"{what.format(most)}, not {'x'.join(map(str, sizes))}")
    for name in given.params:
        if not any(parameter_key(routine, name) for routine in kernels):
            raise PtxError(f"no kernel has a parameter `{name}`")


def with_deep_stack(task: Callable[[], Result]) -> Result:
    """Runs a task in a thread whose stack allows deep recursion."""
    found: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(task())
        except BaseException as error:
            failed.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(max(limit, RECURSION))
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    if failed:
        raise failed[0]
    return found[0]
