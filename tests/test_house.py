"""Functions that can be read at once: short, few parameters, few branches, or the reason beside it; short files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import fencepost

PACKAGE = Path(fencepost.__file__).parent
MOST_LINES = 60
MOST_LINES_OF_A_FILE = 650
MOST_LINES_OF_TESTS = 900
MOST_PARAMETERS = 6
MOST_BRANCHES = 20
LONG = "long because "
MANY = "many parameters because "
BRANCHY = "many branches "
"""How a comment begins that says why, on the line of `def` or the one above."""


@cache
def functions() -> tuple[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, str], ...]:
    """Every function of the package: where it stands, and the comment beside it."""
    return tuple(read_functions())


def read_functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """The same, one after the other."""
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


@pytest.mark.parametrize(
    ("folder", "most"), [("fencepost", MOST_LINES_OF_A_FILE), ("tests", MOST_LINES_OF_TESTS)]
)
def test_files_are_short(folder: str, most: int) -> None:
    paths = (PACKAGE.parent / folder).rglob("*.py")
    sizes = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert not {path: size for path, size in sizes.items() if size > most}


def cyclomatic(node: ast.AST) -> int:
    """Paths through a function, as radon counts them: functions inside of it count for themselves."""
    found = 1 if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(child, ast.BoolOp):
            found += len(child.values) - 1
        elif isinstance(child, ast.comprehension):
            found += 1 + len(child.ifs)
        else:
            found += isinstance(child, DECISIONS)
        found += cyclomatic(child)
    return found


DECISIONS = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)


def test_functions_have_few_branches() -> None:
    branchy = [
        f"{where}: {cyclomatic(node)}"
        for where, node, said in functions()
        if cyclomatic(node) > MOST_BRANCHES and not (BRANCHY in said and " because " in said)
    ]
    assert not branchy


def test_branches_are_counted() -> None:
    (function,) = ast.parse(
        "def f(a):\n  for x in a:\n    if x and a or [y for y in a if y]:\n      return 1"
    ).body
    assert cyclomatic(function) == 1 + 1 + 1 + 2 + 2
