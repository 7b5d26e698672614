"""What a CUDA file requires of its kernels' launches, as GPUVerify's annotations say it: `__requires(n % 16 == 0)`.

Read are comparisons of integer parameters, sizes of the block and the grid, and constants, joined by `&&`, in
`__requires`, and in an `__assume` that every thread comes to first of all. What says more is named and left out.
An equation gives a parameter its value; everything else is a condition under which proofs and runs are made.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fencepost.hosts.ptx.cuda_source.c_as_python import as_python
from fencepost.hosts.ptx.cuda_source.host_code import without_comments
from fencepost.hosts.ptx.reading.kernel_names import function_name

Formula = Any
"""A formula of z3, which has no types."""
WIDE = 64
"""Bits in which conditions are computed."""
ANNOTATED = re.compile(r"\b__(?:global_)?(?:requires|assume)\s*\(")
_ANNOTATION = re.compile(r"\b__(?:global_)?(requires|assume)\s*\(")
_UNSIGNED = re.compile(r"\bunsigned\b|\bu(?:int|short|long|char)\w*\b|\bsize_t\b")
_INTEGER = re.compile(r"\b(?:unsigned|int|long|short|size_t|uint|ulong|u?int(?:32|64)_t)\b")
_CAST = re.compile(r"\(\s*(?:unsigned|int|size_t|unsigned\s+int|uint)\s*\)")
_COMPARES: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_COMPUTES: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Mod: lambda left, right: left - right * _quotient(left, right),
    ast.FloorDiv: lambda left, right: _quotient(left, right),
}


def _quotient(left: int, right: int) -> int:
    """As C divides, towards zero."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


class NotPlain(Exception):
    """A condition that is more than a comparison of numbers."""


@dataclass(frozen=True)
class Number:
    """A parameter that a condition is about: its name in PTX, its bits, and whether it has a sign."""

    key: str
    bits: int = 32
    signed: bool = True


@dataclass(frozen=True)
class Condition:
    """One thing that is required, and the parameters in it by their names in CUDA."""

    text: str
    tree: ast.expr = field(compare=False, hash=False)
    numbers: Mapping[str, Number] = field(compare=False, hash=False)

    def __str__(self) -> str:
        return self.text

    @property
    def keys(self) -> frozenset[str]:
        """The parameters, by their names in PTX."""
        return frozenset(each.key for each in self.numbers.values())

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it holds for parameters by their names in PTX."""
        known = {name: _read(values[each.key], each) for name, each in self.numbers.items()}
        try:
            return bool(_computed(self.tree, known))
        except (ZeroDivisionError, ValueError):
            return False

    def formula(self, z3: Any, given: Mapping[str, int]) -> Formula:
        """The condition for a solver; parameters are variables by their names in PTX."""
        return _formula(
            z3, self.tree, {name: _variable(z3, each, given) for name, each in self.numbers.items()}
        )


@dataclass(frozen=True)
class Preconditions:
    """What is required of a kernel's launches."""

    values: Mapping[str, int] = field(default_factory=dict)
    """Parameters that have one value, by their names in PTX."""
    conditions: tuple[Condition, ...] = ()
    equations: tuple[str, ...] = ()
    """What gives them their values, as it is written."""
    left_out: tuple[str, ...] = ()
    """What is not."""


@dataclass(frozen=True)
class Signature:
    """A kernel as conditions see it: its integer parameters, and names of constants such as `blockDim.x`."""

    parameters: Mapping[str, Number]
    constants: Mapping[str, int]


def preconditions(
    text: str, kernel: str, in_ptx: Sequence[str], constants: Mapping[str, int]
) -> Preconditions:
    """What a file requires of a kernel; `in_ptx` are its parameters as PTX names them."""
    seen = without_comments(text)
    head = re.search(rf"__global__[^;{{}}]*?\b{re.escape(function_name(kernel))}\s*\(", seen)
    if head is None:
        return Preconditions()
    end = _closing(seen, head.end())
    body = _body(seen, end)
    signature = Signature(_parameters(seen[head.end() : end], in_ptx, body), constants)
    values: dict[str, int] = {}
    conditions: list[Condition] = []
    equations, left_out = [], []
    for said in _said(body):
        for part in _parts(said):
            try:
                condition = _condition(part, signature)
            except NotPlain:
                left_out.append(part)
                continue
            equal = _equation(condition)
            if equal is not None and values.get(equal[0], equal[1]) == equal[1]:
                values[equal[0]] = equal[1]
                equations.append(part)
            elif condition.numbers:
                conditions.append(condition)
            elif not condition.holds({}):
                left_out.append(part)
    return Preconditions(values, tuple(conditions), tuple(equations), tuple(left_out))


# ---- the text


def _closing(text: str, start: int) -> int:
    """Where the parenthesis closes that was opened before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def _body(text: str, start: int) -> str:
    begin = text.find("{", start)
    depth = 0
    for at in range(max(begin, 0), len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1 : at]
    return ""


def _said(body: str) -> Iterator[str]:
    """The conditions that hold for every launch: those that all threads come to before anything else can happen."""
    for match in _ANNOTATION.finditer(body):
        before = body[: match.start()]
        nested = before.count("{") != before.count("}")
        if match[1] == "assume" and (
            nested or re.search(r"\b(?:if|for|while|do|return|goto|switch)\b", before)
        ):
            continue
        yield " ".join(body[match.end() : _closing(body, match.end())].split())


def _parts(said: str) -> list[str]:
    """The sides of `&&` that is in no parentheses."""
    parts, depth, begin = [], 0, 0
    for at in range(len(said)):
        depth += {"(": 1, ")": -1}.get(said[at], 0)
        if said.startswith("&&", at) and depth == 0:
            parts.append(said[begin:at])
            begin = at + 2
    found = [each.strip() for each in [*parts, said[begin:]]]
    return [inner for each in found for inner in (_parts(each[1:-1]) if _is_wrapped(each) else [each])]


def _is_wrapped(text: str) -> bool:
    return text.startswith("(") and _closing(text, 1) == len(text) - 1


def _parameters(declared: str, in_ptx: Sequence[str], body: str) -> dict[str, Number]:
    """The integer parameters that the kernel does not change."""
    found = {}
    for text, key in zip(declared.split(","), in_ptx, strict=False):
        match = re.search(r"(\w+)\s*$", text)
        name = match[1] if match else ""
        if not name or "*" in text or "[" in text or not _INTEGER.search(text) or _is_changed(name, body):
            continue
        bits = 64 if re.search(r"\blong\b|\bsize_t\b|64_t\b|\bulong\b", text) else 32
        if "short" not in text and "char" not in text:
            found[name] = Number(key, bits, _UNSIGNED.search(text) is None)
    return found


def _is_changed(name: str, body: str) -> bool:
    """Whether a parameter is assigned, or its address is taken."""
    assigned = rf"\b{name}\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--)"
    return re.search(rf"{assigned}|[(,=]\s*&\s*{name}\b", body) is not None


# ---- conditions


def _condition(part: str, signature: Signature) -> Condition:
    try:
        tree = ast.parse(as_python(_CAST.sub("", part)).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise NotPlain from None
    tree = _Constants(signature.constants).visit(tree)
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    if not names <= signature.parameters.keys() or not isinstance(
        tree, ast.Compare | ast.BoolOp | ast.UnaryOp
    ):
        raise NotPlain
    numbers = {name: signature.parameters[name] for name in sorted(names)}
    _check(tree, any(not each.signed for each in numbers.values()))
    return Condition(part, tree, numbers)


class _Constants(ast.NodeTransformer):
    """Puts numbers in the place of names such as `N` and `blockDim.x`."""

    def __init__(self, constants: Mapping[str, int]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.constants[node.id]) if node.id in self.constants else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""
        return ast.Constant(self.constants[name]) if name in self.constants else node


def _check(tree: ast.expr, unsigned: bool) -> None:
    """Refuses what is not computed here, and differences of unsigned numbers, which wrap around."""
    for node in ast.walk(tree):
        computes = isinstance(node, ast.BinOp) and type(node.op) in _COMPUTES
        compares = isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARES
        whole = isinstance(node, ast.Constant) and isinstance(node.value, int)
        signs = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub)
        rest = isinstance(
            node,
            ast.Name | ast.BoolOp | ast.operator | ast.cmpop | ast.boolop | ast.unaryop | ast.expr_context,
        )
        if not (computes or compares or whole or signs or rest):
            raise NotPlain
        if unsigned and isinstance(node, ast.Sub | ast.USub):
            raise NotPlain


def _equation(condition: Condition) -> tuple[str, int] | None:
    """The parameter and its value, if that is what a condition says."""
    tree = condition.tree
    if not isinstance(tree, ast.Compare) or not isinstance(tree.ops[0], ast.Eq):
        return None
    for one, other in ((tree.left, tree.comparators[0]), (tree.comparators[0], tree.left)):
        if isinstance(one, ast.Name) and len(condition.numbers) == 1:
            try:
                return condition.numbers[one.id].key, int(_computed(other, {}))
            except (KeyError, ZeroDivisionError, ValueError):
                continue
    return None


def _computed(tree: ast.expr, known: Mapping[str, int]) -> int:
    if isinstance(tree, ast.Constant):
        return int(tree.value)  # type: ignore[arg-type]
    if isinstance(tree, ast.Name):
        return known[tree.id]
    if isinstance(tree, ast.BinOp):
        return int(_COMPUTES[type(tree.op)](_computed(tree.left, known), _computed(tree.right, known)))
    if isinstance(tree, ast.Compare):
        left, right = _computed(tree.left, known), _computed(tree.comparators[0], known)
        return int(_COMPARES[type(tree.ops[0])](left, right))
    if isinstance(tree, ast.BoolOp):
        sides = [bool(_computed(each, known)) for each in tree.values]
        return int(all(sides) if isinstance(tree.op, ast.And) else any(sides))
    assert isinstance(tree, ast.UnaryOp)
    inner = _computed(tree.operand, known)
    return int(not inner) if isinstance(tree.op, ast.Not) else -inner


def _read(value: int, number: Number) -> int:
    value &= (1 << number.bits) - 1
    return value - (1 << number.bits) if number.signed and value >> (number.bits - 1) else value


# ---- for a solver


def _variable(z3: Any, number: Number, given: Mapping[str, int]) -> Formula:
    if number.key in given:
        return z3.BitVecVal(_read(given[number.key], number), WIDE)
    variable = z3.BitVec(number.key, number.bits)
    if number.bits == WIDE:
        return variable
    extend = z3.SignExt if number.signed else z3.ZeroExt
    return extend(WIDE - number.bits, variable)


def _formula(z3: Any, tree: ast.expr, known: Mapping[str, Formula]) -> Formula:
    if isinstance(tree, ast.Compare | ast.BoolOp) or (
        isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
    ):
        return _truth(z3, tree, known)
    if isinstance(tree, ast.Constant):
        return z3.BitVecVal(int(tree.value), WIDE)  # type: ignore[arg-type]
    if isinstance(tree, ast.Name):
        return known[tree.id]
    if isinstance(tree, ast.UnaryOp):
        return -_formula(z3, tree.operand, known)
    assert isinstance(tree, ast.BinOp)
    left, right = _formula(z3, tree.left, known), _formula(z3, tree.right, known)
    if isinstance(tree.op, ast.Mod | ast.FloorDiv):
        return z3.SRem(left, right) if isinstance(tree.op, ast.Mod) else left / right
    return _COMPUTES[type(tree.op)](left, right)


def _truth(z3: Any, tree: ast.expr, known: Mapping[str, Formula]) -> Formula:
    if isinstance(tree, ast.BoolOp):
        sides = [_truth(z3, each, known) for each in tree.values]
        return z3.And(*sides) if isinstance(tree.op, ast.And) else z3.Or(*sides)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return z3.Not(_truth(z3, tree.operand, known))
    if isinstance(tree, ast.Compare):
        left, right = (_formula(z3, each, known) for each in (tree.left, tree.comparators[0]))
        return _COMPARES[type(tree.ops[0])](left, right)
    return _formula(z3, tree, known) != 0


def satisfying(
    conditions: Sequence[Condition], given: Mapping[str, int], wanted: Callable[[str], int]
) -> dict[str, int] | None:
    """Values for the parameters of some conditions that are not given: those that are wanted, if they will do, and
    small ones otherwise. None if there are none."""
    import z3

    names = sorted({key for each in conditions for key in each.keys} - given.keys())
    solver = z3.Solver()
    solver.set("timeout", 2000)
    solver.add(*[each.formula(z3, given) for each in conditions])
    if solver.check() != z3.sat:
        return None
    numbers = {number.key: number for each in conditions for number in each.numbers.values()}
    for name in names:
        variable = z3.BitVec(name, numbers[name].bits)
        for attempt in (variable == wanted(name), z3.And(variable > 0, variable <= 1 << 10)):
            solver.push()
            solver.add(attempt)
            if solver.check() == z3.sat:
                break
            solver.pop()
    solver.check()
    model = solver.model()
    return {
        name: model.eval(z3.BitVec(name, numbers[name].bits), model_completion=True).as_long()
        for name in names
    }
