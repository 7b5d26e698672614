"""Functions that can be read at once: short, with few parameters; the reason stands beside each that is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fencepost

PACKAGE = Path(fencepost.__file__).parent
MOST_LINES = 60
MOST_PARAMETERS = 6
LONG = "long because "
MANY = "many parameters because "
"""How a comment begins that says why, on the line of `def` or the one above."""


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """Every function of the package: where it stands, and the comment beside it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = ["", *text.splitlines()]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                said = " ".join(line.partition("# ")[2] for line in (lines[first - 1], lines[node.lineno]))
                yield f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}", node, said


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The names of a function's parameters, `self` left out."""
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [each.arg for each in every if each.arg not in ("self", "cls")]


def test_functions_are_short() -> None:
    long = [
        where
        for where, node, said in functions()
        if (node.end_lineno or 0) - node.lineno + 1 > MOST_LINES and LONG not in said
    ]
    assert not long


def test_functions_have_few_parameters() -> None:
    many = [
        where
        for where, node, said in functions()
        if len(parameters(node)) > MOST_PARAMETERS and MANY not in said
    ]
    assert not many
