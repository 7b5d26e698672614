"""Kernels made smaller: down to a few lines that still fail, or without one operation."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace, Graph


def shrink(text: str, fails: Callable[[str], bool]) -> str:
    """Take out lines and braces while `fails` still holds: a small kernel that shows the same failure."""
    changed = True
    while changed:
        changed = False
        lines = text.splitlines()
        for start, end in _pieces(lines):
            smaller = "\n".join(lines[:start] + lines[end:]) + "\n"
            if _still_fails(smaller, fails):
                text, changed = smaller, True
                break
        else:
            for number, line in enumerate(lines):
                if line.rstrip().endswith("{") and "kernel" not in line:
                    inner = _unwrapped(lines, number)
                    if inner is not None and _still_fails(inner, fails):
                        text, changed = inner, True
                        break
    return text


def _still_fails(text: str, fails: Callable[[str], bool]) -> bool:
    try:
        return fails(text)
    except Exception:
        return False  # what does not parse is no reproducer


def _pieces(lines: list[str]) -> list[tuple[int, int]]:
    """Whole regions first, then single lines."""
    pieces: list[tuple[int, int]] = []
    stack: list[int] = []
    for number, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith("}") and stack:
            start = stack.pop()
            if start and bare == "}":
                pieces.append((start, number + 1))
            elif bare.endswith("{"):
                stack.append(start)
        elif bare.endswith("{"):
            stack.append(number)
    pieces.sort(key=lambda piece: piece[0] - piece[1])
    return pieces + [(n, n + 1) for n, line in enumerate(lines) if not line.strip().endswith(("{", "}"))]


def _unwrapped(lines: list[str], start: int) -> str | None:
    """The text with the region that opens on line `start` replaced by what is inside it."""
    depth = 0
    for number in range(start, len(lines)):
        bare = lines[number].strip()
        depth += bare.endswith("{") - bare.startswith("}")
        if depth == 0:
            if any(line.strip() == "} else {" for line in lines[start:number]):
                return None
            return "\n".join(lines[:start] + lines[start + 1 : number] + lines[number + 1 :]) + "\n"
    return None


def without(trace: CapturedTrace, op: ops.Operation) -> str:
    """The kernel's text with one operation left out."""
    graph: Graph | None = op.graph
    assert graph is not None
    after = op.next
    graph.remove(op)
    text = str(trace)
    if after is None:
        graph.append(op)
    else:
        graph.insert_before(after, op)
    return text
