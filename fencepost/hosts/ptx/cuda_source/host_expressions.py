"""Numbers that host code computes from constants: what launches write for the sizes of a block.

An expression of C++ is read as one of Python, with `?:`, `&&`, `||`, `!` and casts written as Python has them. What
is not known, or is more than integers, has no value.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

_MOST_BITS = 32
_SIZES = {"char": 1, "bool": 1, "short": 2, "half": 2, "__half": 2, "int": 4, "unsigned": 4, "float": 4}
_SIZES |= {"unsigned int": 4, "double": 8, "float2": 8, "float4": 16, "int4": 16, "double2": 16}
_CAST = re.compile(r"\(\s*(?:const\s+)?(?:unsigned int|unsigned|int|size_t|uint|uint32_t)\s*\)")
_STATIC_CAST = re.compile(r"\bstatic_cast\s*<[\w\s:]+>")
_SIZE_OF = re.compile(r"\bsizeof\s*\(\s*([\w\s]+?)\s*\)")
_LIMIT = re.compile(r"\b(?:std::|thrust::)?(min|max)\s*(?:<[\w\s]+>)?\s*\(|\b(MIN|MAX)\s*\(")
_INNERMOST = re.compile(r"\(([^()]*)\)")
_PIECE = re.compile(r"&&|\|\||[?:,]")
"""What separates expressions that are grouped by themselves."""
_COMPARES, _BINDS_OTHERWISE = re.compile(r"[<>]|[=!]="), re.compile(r"[&|^]|!(?!=)")
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIGN: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def number(text: str, constants: Mapping[str, int]) -> int | None:
    """The value of an expression of constants; None if it has none."""
    try:
        return _value(ast.parse(_plain(text), mode="eval").body, constants)
    except (SyntaxError, ValueError, ZeroDivisionError, KeyError, RecursionError):
        return None


def _plain(text: str) -> str:
    plain = _STATIC_CAST.sub("", _CAST.sub("", text))
    plain = _SIZE_OF.sub(lambda each: str(_SIZES.get(each[1], "unknown")), plain)
    plain = _LIMIT.sub(lambda each: f"{(each[1] or each[2]).lower()}(", plain)
    return _chosen(as_python(plain)).strip()


def as_python(text: str) -> str:
    """Operators and numbers of C as Python writes them. Raises `ValueError` where Python groups them differently."""
    _refuse_other_grouping(text)
    plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text).replace("/", "//")
    return re.sub(r"!(?!=)", " not ", plain).replace("&&", " and ").replace("||", " or ")


def _refuse_other_grouping(text: str) -> None:
    """C compares before `&`, `^` and `|`, and after `!`; Python the other way round: `a & 1 == 0`, `!a == b`."""
    flat = text
    while (inner := _INNERMOST.search(flat)) is not None:
        _refuse_in(inner[1])
        flat = f"{flat[: inner.start()]}x{flat[inner.end() :]}"
    _refuse_in(flat)


def _refuse_in(text: str) -> None:
    """The same of a text without parentheses."""
    for piece in _PIECE.split(text):
        bare = piece.replace("<<", "").replace(">>", "")
        if _COMPARES.search(bare) and _BINDS_OTHERWISE.search(bare):
            raise ValueError("grouped differently")


def _chosen(text: str) -> str:
    """`a ? b : c` as Python has it, also inside of parentheses."""
    groups: list[str] = []
    flat, at = "", 0
    while at < len(text):
        if text[at] != "(":
            flat += text[at]
            at += 1
            continue
        end = _closing(text, at)
        groups.append(f"({','.join(_chosen(each) for each in _pieces(text[at + 1 : end]))})")
        flat += f"\0{len(groups) - 1}\0"
        at = end + 1
    return re.sub(r"\0(\d+)\0", lambda each: groups[int(each[1])], _without_question_marks(flat))


def _without_question_marks(text: str) -> str:
    """The same for a text without parentheses."""
    at = text.find("?")
    if at < 0:
        return text
    depth = 0
    for place in range(at, len(text)):
        depth += {"?": 1, ":": -1}.get(text[place], 0)
        if text[place] == ":" and depth == 0:
            sides = (_without_question_marks(each) for each in (text[at + 1 : place], text[place + 1 :]))
            return f"({next(sides)}) if ({text[:at]}) else ({next(sides)})"
    raise ValueError("no expression")


def _closing(text: str, begin: int) -> int:
    """Where the parenthesis closes that opens at `begin`."""
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    raise ValueError("no expression")


def _pieces(text: str) -> list[str]:
    """What commas separate that are in no parentheses."""
    pieces, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]


def _value(node: ast.expr, constants: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return int(node.value)
    if isinstance(node, ast.Name):
        return constants[node.id]
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, constants) else node.orelse, constants)
    given = [_value(each, constants) for each in _operands(node)]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _computed(node.op, *given)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARE and len(node.ops) == 1:
        return int(COMPARE[type(node.ops[0])](*given))
    if isinstance(node, ast.BoolOp):
        return int(all(given) if isinstance(node.op, ast.And) else any(given))
    if isinstance(node, ast.UnaryOp):
        return int(_SIGN[type(node.op)](*given))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
        return min(given) if node.func.id == "min" else max(given)
    raise ValueError("not a constant")


def _operands(node: ast.expr) -> list[ast.expr]:
    """What an operation computes with."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    return node.args if isinstance(node, ast.Call) else []


def _computed(what: ast.operator, left: int, right: int) -> int:
    large = max(abs(left), abs(right)) >= 1 << _MOST_BITS
    shifts = isinstance(what, ast.LShift | ast.RShift)
    negative = min(left, right) < 0 and isinstance(what, ast.FloorDiv | ast.Mod)
    if large or negative or (shifts and not 0 <= right < _MOST_BITS):
        raise ValueError("not computed")
    return int(_BINARY[type(what)](left, right))
