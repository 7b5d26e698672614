"""Text to statements: the grammar, run by lark, with its errors turned into located messages.

What comes out is still only syntax; `parser` gives names their meaning.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.ir.expr import Binary, Compare, Const, Expr, Flag, Lane, Select, Unknown, Var, Wave
from fencepost.ir.limits import MOST_DIGITS
from fencepost.ir.source import FencepostError, Mark, Source, Span, token_span
from fencepost.ir.syntax_errors import unexpected_character, unexpected_token

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


@dataclass(slots=True)
class Arrives:
    """`arrives %full[0] bytes=1024`: what an engine does to an mbarrier."""

    operand: Operand
    key: str
    value: int
    span: Span


def opening(source: Source, statement: Statement) -> Span:
    """The first line of a statement, without the brace that opens its body."""
    code = source.line(statement.line).partition("#")[0].rstrip()
    if code.endswith("{"):
        code = code[:-1].rstrip()
    return Span(statement.line, statement.column, statement.line, max(len(code), statement.column) + 1)


def integer(token: Token) -> int:
    """The number that a token spells; anything no GPU has room for is refused."""
    if len(token.lstrip("0")) > MOST_DIGITS:
        raise FencepostError("the number is too large", [Mark(token_span(token))])
    return int(token.lstrip("0") or "0")


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
        return str(parts[0]), str(parts[1]), token_span(parts[0])

    def count(self, parts: list[Any]) -> tuple[str, int, Span]:
        return str(parts[0]), integer(parts[1]), token_span(parts[0])

    def after(self, parts: list[Any]) -> list[Operand]:
        return parts

    def some(self, parts: list[Any]) -> tuple[Token, Token]:
        return parts[0], parts[1]

    def arrives(self, parts: list[Any]) -> Arrives:
        return Arrives(parts[0], *parts[1])

    def setting(self, parts: list[Any]) -> tuple[str, Expr | str, Span]:
        value = Const(integer(parts[1])) if parts[1].isdigit() else str(parts[1])
        return str(parts[0]), value, token_span(parts[0])

    def phase(self, parts: list[Any]) -> tuple[str, Expr, Span]:
        return str(parts[0]), parts[1], token_span(parts[0])

    def carry(self, parts: list[Any]) -> list[tuple[Token, Expr]]:
        return parts

    def binding(self, parts: list[Any]) -> tuple[Token, Expr]:
        return parts[0], parts[1]

    def params(self, parts: list[Any]) -> list[Token]:
        return parts

    def arguments(self, parts: list[Any]) -> list[Expr]:
        return parts

    def gives(self, parts: list[Any]) -> list[Token]:
        return parts

    def expected(self, parts: list[Any]) -> list[tuple[Token, Token]]:
        return list(zip(parts[::2], parts[1::2], strict=True))

    weighed = expected

    def signed(self, parts: list[Any]) -> int:
        return -integer(parts[1]) if parts[0] is not None else integer(parts[1])

    def bound(self, parts: list[Any]) -> Any:
        return parts[0]

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

    def lane(self, parts: list[Any]) -> Expr:
        return Lane(32 if parts[0].endswith("32") else 64)

    def unknown(self, parts: list[Any]) -> Expr:
        return Unknown()

    def select(self, parts: list[Any]) -> Expr:
        return Select(parts[0], parts[1], parts[2])


STATEMENT_RULES = (
    *("kernel", "labelled", "buffer", "given", "memory", "mbarrier", "value", "loop", "conditional"),
    *("br", "cond_br", "return"),
    *("barrier", "workgroup_barrier", "signal", "wait", "wait_count"),
    *("func", "commit", "call", "next", "give", "sched_barrier", "set_wave_prio"),
)


def _statement(rule: str) -> Callable[[Any, list[Any]], Statement]:
    def action(_: Any, parts: list[Any]) -> Statement:
        # The first token that is there: a statement may begin with an optional result.
        first = parts[0] if parts[0] is not None else parts[1]
        # Its extent is known to the line; where on the last line it ends, the parser works out if asked.
        last = parts[-1] if getattr(parts[-1], "type", "") == "CLOSE" else first
        return Statement(rule, first.line, first.column, last.line, parts)

    return action


def _piece(build: Callable[[list[Any]], Any]) -> Callable[[Any, list[Any]], Any]:
    return lambda _, parts: build(parts)


@cache
def _lark() -> Lark:
    from lark import Transformer

    actions = _Actions()
    methods: dict[str, Any] = {rule: _statement(rule) for rule in STATEMENT_RULES}
    for rule in dir(actions):
        if not rule.startswith("_"):
            methods[rule] = _piece(getattr(actions, rule))
    transformer: Any = type("Actions", (Transformer,), methods)()
    grammar = (files("fencepost.ir") / "kernel.lark").read_text(encoding="utf-8")
    return _parser_of(grammar, transformer)


def spelling(terminal: str) -> str:
    """How a fixed word or sign of the grammar is written."""
    pattern = next((known.pattern.value for known in _lark().terminals if known.name == terminal), terminal)
    return str(pattern).removesuffix(r"\b")


def read_statements(source: Source) -> list[Statement]:
    """The kernels of `source` as statements; raises FencepostError at the first place that does not parse."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        # lark's type for a parse is a tree; with a transformer it is whatever `start` returned.
        parsed: Any = _lark().parse(source.text)
        return list(parsed)
    except UnexpectedCharacters as error:
        raise unexpected_character(error, source) from None
    except UnexpectedToken as error:
        raise unexpected_token(error, source) from None


# ---------------------------------------------------------------- the tables of the parser, kept between runs
#
# To build them from the grammar takes longer than most kernels do. They lie in the user's own cache folder, under a
# name that says for which grammar, Python and lark they are. Without such a folder (or with one that cannot be
# written to) the tables are built each time.

CACHE = "XDG_CACHE_HOME"
LARK_OPTIONS: dict[str, Any] = {"parser": "lalr", "maybe_placeholders": True}


def _parser_of(grammar: str, transformer: Any) -> Lark:
    """A parser for a grammar."""
    from lark import Lark

    kept = _kept(grammar)
    if kept is not None and kept.exists():
        try:
            with kept.open("rb") as file:
                made: Any = Lark.__new__(Lark)
                # What `Lark.load` does, which takes no transformer.
                return made._load(file, transformer=transformer)  # type: ignore[no-any-return]
        except Exception:  # a file that is cut off, or not lark's, fails in whatever way pickles do
            kept.unlink(missing_ok=True)
    found = Lark(grammar, transformer=transformer, **LARK_OPTIONS)
    if kept is not None:
        # Others may be about to write the same: a file is there as a whole, or not at all.
        own = kept.with_suffix(f".{os.getpid()}")
        try:
            with own.open("wb") as file:
                found.save(file, exclude_options={"transformer"})
            own.replace(kept)
        except OSError:
            own.unlink(missing_ok=True)  # a full disk, say: nothing is kept then
    return found


def _kept(grammar: str) -> Path | None:
    """The file of a grammar's tables; None if there is no place for it."""
    import lark

    key = f"{grammar} {sorted(LARK_OPTIONS.items())} {lark.__version__} {sys.version_info[:2]}"
    folder = _folder()
    return None if folder is None else folder / f"grammar-{sha256(key.encode()).hexdigest()[:16]}.lark"


def _folder() -> Path | None:
    """A folder that is the user's own: what is read from it is run."""
    try:
        around = Path(os.environ.get(CACHE) or Path.home() / ".cache")
        folder = around / "fencepost"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    mine = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    return folder if mine and os.access(folder, os.W_OK) else None
