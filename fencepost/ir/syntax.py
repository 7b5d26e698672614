"""Text to statements: the grammar, run by lark, with its errors turned into located messages.

What comes out is still only syntax; `parser` gives names their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fencepost.ir.expr import Binary, Compare, Const, Expr, Flag, Select, Unknown, Var, Wave
from fencepost.ir.source import FencepostError, Mark, Source, Span

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import Token


@dataclass(slots=True)
class Statement:
    """One statement: its rule in the grammar, and the pieces that the rule keeps."""

    rule: str
    line: int
    column: int
    end_line: int
    parts: list[Any]


@dataclass(slots=True)
class Operand:
    """`%name[...]`, a view or a value."""

    name: str
    subscripts: tuple[tuple[Expr, ...], ...]
    span: Span


def integer(token: Token) -> int:
    """The number that a token spells; anything no GPU has room for is refused."""
    if len(token) > 18:
        raise FencepostError("the number is too large", [Mark(_token_span(token))])
    return int(token)


def _token_span(token: Token) -> Span:
    return Span(token.line or 1, token.column or 1, token.end_line or 1, token.end_column or 1)


class _Actions:
    """What each rule becomes. lark calls these bottom-up while it parses."""

    def start(self, parts: list[Any]) -> list[Any]:
        return parts

    def statements(self, parts: list[Any]) -> list[Any]:
        return parts

    def operand(self, parts: list[Any]) -> Operand:
        name = parts[0]
        end = parts[-1][1] if len(parts) > 1 else name.end_column
        span = Span(name.line, name.column, name.line, end)
        return Operand(name[1:], tuple(subscript for subscript, _ in parts[1:]), span)

    def subscript(self, parts: list[Any]) -> tuple[tuple[Expr, ...], int]:
        *exprs, bracket = parts
        return tuple(exprs), bracket.end_column

    def attribute(self, parts: list[Any]) -> tuple[str, str, Span]:
        return str(parts[0]), str(parts[1]), _token_span(parts[0])

    def count(self, parts: list[Any]) -> tuple[str, int, Span]:
        return str(parts[0]), integer(parts[1]), _token_span(parts[0])

    def signed(self, parts: list[Any]) -> int:
        return -integer(parts[1]) if parts[0] is not None else integer(parts[1])

    def bound(self, parts: list[Any]) -> int | None:
        return parts[0] if isinstance(parts[0], int) else None

    def flag(self, parts: list[Any]) -> Flag:
        return Flag(parts[0][1:])

    def compare(self, parts: list[Any]) -> Compare:
        return Compare(str(parts[1]), parts[0], parts[2])

    def binary(self, parts: list[Any]) -> Expr:
        return Binary(str(parts[1]), parts[0], parts[2])

    def const(self, parts: list[Any]) -> Expr:
        return Const(parts[0])

    def variable(self, parts: list[Any]) -> Expr:
        return Var(parts[0][1:])

    def wave(self, parts: list[Any]) -> Expr:
        return Wave()

    def unknown(self, parts: list[Any]) -> Expr:
        return Unknown()

    def select(self, parts: list[Any]) -> Expr:
        return Select(parts[0], parts[1], parts[2])


STATEMENT_RULES = (
    "kernel labelled buffer memory value barrier workgroup_barrier signal wait wait_count "
    "loop conditional br cond_br return"
).split()


def _statement(rule: str) -> Callable[[Any, list[Any]], Statement]:
    def action(_: Any, parts: list[Any]) -> Statement:
        # The first token that is there: a statement may begin with an optional result.
        first = parts[0] if parts[0] is not None else parts[1]
        # Its extent is known to the line; where on the last line it ends, the parser works out if asked.
        last = parts[-1] if getattr(parts[-1], "type", "") == "CLOSE" else first
        return Statement(rule, first.line, first.column, last.line, parts)

    return action


@cache
def _lark() -> Lark:
    from lark import Lark, Transformer

    actions = _Actions()
    methods: dict[str, Any] = {rule: _statement(rule) for rule in STATEMENT_RULES}
    for rule in dir(actions):
        if not rule.startswith("_"):
            methods[rule] = lambda _, parts, action=getattr(actions, rule): action(parts)
    transformer: Any = type("Actions", (Transformer,), methods)()
    grammar = (files("fencepost.ir") / "kernel.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=True, transformer=transformer)


def read_statements(source: Source) -> list[Statement]:
    """The kernels of `source` as statements; raises FencepostError at the first place that does not parse."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

    try:
        # lark's type for a parse is a tree; with a transformer it is whatever `start` returned.
        parsed: Any = _lark().parse(source.text)
        return list(parsed)
    except UnexpectedCharacters as error:
        span = Span(error.line, error.column, error.line, error.column + 1)
        character = source.text[error.pos_in_stream] if error.pos_in_stream is not None else "?"
        raise FencepostError(f"unexpected character {character!r}", [Mark(span)], code="FP101") from None
    except UnexpectedEOF as error:
        raise _syntax_error("the text ends too early", _end(source), error.expected) from None
    except UnexpectedToken as error:
        token = error.token
        if token.type == "$END":
            raise _syntax_error("the text ends too early", _end(source), error.expected) from None
        span = _token_span(token)
        what = "end of line" if token.type == "_NL" else f"{str(token)!r}"
        if token.type == "_NL":
            span = Span(span.line, span.column, span.line, span.column + 1)
        raise _syntax_error(f"unexpected {what}", span, error.accepts or error.expected) from None


def _end(source: Source) -> Span:
    lines = source.text.split("\n")
    return Span(len(lines), len(lines[-1]) + 1, len(lines), len(lines[-1]) + 2)


READABLE = {
    "_NL": "the end of the line",
    "VALUE": "a name such as %a",
    "LABEL": "a block such as ^exit",
    "KERNEL": "a kernel name such as @gemm",
    "NAME": "a name",
    "INT": "a number",
    "MEMORY": "read, write, atomic, gather_to_lds or tensor_load_to_lds",
    "COMPUTE": "mma, compute, global_read or global_write",
    "COMPARE": "a comparison",
    "$END": "the end of the text",
}


def _syntax_error(message: str, span: Span, expected: Any) -> FencepostError:
    from lark.grammar import Terminal

    names: list[str] = []
    for name in sorted(
        str(item.name) if isinstance(item, Terminal) else str(item) for item in expected or ()
    ):
        if name in READABLE:
            names.append(READABLE[name])
        else:
            pattern = next((t.pattern.value for t in _lark().terminals if t.name == name), name)
            names.append(f"'{pattern}'")
    # A long list of everything that could stand here helps nobody.
    notes = [("expected", _or(names))] if 0 < len(names) <= 6 else []
    return FencepostError(message, [Mark(span)], code="FP101", notes=notes)


def _or(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
