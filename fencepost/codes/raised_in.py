"""Which modules raise or report each code, read from their source: nobody has to keep a list."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
_CODE = re.compile(r"FP\d{3}|.*\[(FP\d{3})\].*", flags=re.DOTALL)
_TEXTS = "report/rule_texts.py"
"""Where findings are explained, not made."""


def modules_by_code() -> dict[str, list[str]]:
    """For each code, the modules that have it as a string (`code="FP205"`) or in one (`error[FP205]`)."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name, text = path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        if name != _TEXTS and "FP" in text:
            for code in _codes_in(ast.parse(text)):
                found.setdefault(code, []).append(name)
    return found


def _codes_in(module: ast.Module) -> set[str]:
    """The codes that a module names to give them to something."""
    named = (_CODE.fullmatch(text) for text in _strings(module))
    return {match[1] or match[0] for match in named if match is not None}


def _strings(node: ast.AST) -> Iterator[str]:
    """The strings in a piece of source; not those that stand alone, which are docstrings, or are compared with."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        alone = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if not (alone or isinstance(child, ast.Compare)):
            yield from _strings(child)
