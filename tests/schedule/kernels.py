"""Small kernels for the schedule tests, and operation sequences in short."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from fencepost.ir import ops
from fencepost.ir.parser import parse
from fencepost.ir.printer import statement
from fencepost.ir.trace import CapturedTrace

BODY = (
    "%ga = global_read",
    "%gb = global_read",
    "%x0 = read %a[0..512]",
    "%y0 = read %b[0..512]",
    "%x1 = read %a[512..1024]",
    "%y1 = read %b[512..1024]",
    "%s0 = mma %x0, %y0, %sum",
    "%s1 = mma %x1, %y1, %s0",
    "write %a, %ga",
    "write %b, %gb",
)
"""One iteration: two steps along the reduction."""


def small(
    body: Iterable[str] = BODY,
    *,
    waves: int = 8,
    trip: str = "?",
    before: Iterable[str] = (),
    behind: Iterable[str] = ("read %a", "read %b"),
) -> CapturedTrace:
    """A matrix multiplication of a few operations."""
    lines = [
        f"kernel @small waves={waves} {{",
        "  shared %a : 1024",
        "  shared %b : 1024",
        "  write %a",
        "  write %b",
        "  %zero = compute",
        *(f"  {line}" for line in before),
        f"  loop %i in 0..{trip} carry %sum = %zero {{",
        *(f"    {line}" for line in body),
        "    next %s1",
        "  }",
        *(f"  {line}" for line in behind),
        "}",
    ]
    return parse("\n".join(lines) + "\n", "small.fp")


def loop_of(trace: CapturedTrace) -> ops.Iterate:
    """The first loop of a kernel."""
    return next(op for op in trace.preorder_walk() if isinstance(op, ops.Iterate))


def changed(body: Iterable[str], old: str, *new: str) -> list[str]:
    """The lines with one of them replaced."""
    lines = list(body)
    place = lines.index(old)
    return [*lines[:place], *new, *lines[place + 1 :]]


def in_short(graph: Iterable[ops.Operation]) -> list[str]:
    """Operations by kind and buffer, runs of the same counted."""
    runs = groupby(_kind(op) for op in graph)
    return [f"{len(list(run))} {kind}" if kind[0].islower() else kind for kind, run in runs]


def _kind(op: ops.Operation) -> str:
    if isinstance(op, ops.MemoryOperation):
        return f"{op.mnemonic} {op.view.buffer.name}"
    if isinstance(op, ops.ValueOperation) and not isinstance(op, ops.SyncOperation):
        return op.mnemonic
    return "| " + statement(op).removesuffix(" {")
