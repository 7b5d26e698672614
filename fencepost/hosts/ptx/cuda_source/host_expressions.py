"""Numbers that host code computes from constants: what launches write for the sizes of a block.

An expression is read as C++ has it, with its precedence (`a & b == c` is `a & (b == c)`). What is not known, is more
than integers, or may have wrapped around has no value.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

_MOST = (1 << 31) - 1
"""Larger results may be negative, if they are signed."""
_SIZES = {"char": 1, "bool": 1, "short": 2, "half": 2, "__half": 2, "int": 4, "unsigned": 4, "float": 4}
_SIZES |= {"unsigned int": 4, "double": 8, "float2": 8, "float4": 16, "int4": 16, "double2": 16}
_CAST = re.compile(r"\(\s*(?:const\s+)?(?:unsigned int|unsigned|int|size_t|uint|uint32_t)\s*\)")
_STATIC_CAST = re.compile(r"\bstatic_cast\s*<[\w\s:]+>")
_SIZE_OF = re.compile(r"\bsizeof\s*\(\s*([\w\s]+?)\s*\)")
_LIMIT = re.compile(r"\b(?:std::|thrust::)?(min|max)\s*(?:<[\w\s]+>)?\s*\(|\b(MIN|MAX)\s*\(")
_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|0|[1-9]\d*)[uUlL]*(?![\w.])"
    r"|([A-Za-z_]\w*(?!\s*::))"
    r"|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&^|!~?:(),]))"
)
_BINARY: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: bool(a or b)},
    {"&&": lambda a, b: bool(a and b)},
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"<<": operator.lshift, ">>": operator.rshift},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.floordiv, "%": operator.mod},
)
"""What binds less comes first."""
_SIGN: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": operator.not_,
}


class Macro(int):
    """What a macro stands for by itself, and its text: that is what C++ reads in its place (`16 + 16`)."""

    text: str

    @staticmethod
    def of(value: int, text: str) -> Macro:
        """A macro with a value."""
        found = Macro(value)
        found.text = text
        return found


def number(text: str, constants: Mapping[str, int]) -> int | None:
    """The value of an expression of constants; None if it has none."""
    try:
        expression = _Expression(_tokens(text), constants)
        found = expression.choice()
    except (ValueError, RecursionError):
        return None
    return found if not expression.tokens else None


def _tokens(text: str) -> list[str]:
    """The tokens, in reverse."""
    plain = _SIZE_OF.sub(lambda each: str(_SIZES.get(each[1], "unknown")), text)
    plain = _STATIC_CAST.sub("", _CAST.sub("", plain)).strip()
    plain = _LIMIT.sub(lambda each: f"{(each[1] or each[2]).lower()}(", plain)
    found, at = [], 0
    while at < len(plain):
        match = _TOKEN.match(plain, at)
        if match is None:
            raise ValueError("no expression of integers")
        found.append(match[1] or match[2] or match[3])
        at = match.end()
    return found[::-1]


class _Expression:
    """An expression that is computed while it is read; None stands for what is not known."""

    def __init__(self, tokens: list[str], constants: Mapping[str, int]) -> None:
        self.tokens = tokens
        """Those that are left, the next one last."""
        self.constants = constants

    def choice(self) -> int | None:
        """`condition ? one : other`, or what has none."""
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        one = self.choice()
        self._expect(":")
        other = self.choice()
        if condition is None:
            return None
        return one if condition else other

    def _binary(self, level: int) -> int | None:
        if level == len(_BINARY):
            return self._unary()
        found = self._binary(level + 1)
        while self.tokens and self.tokens[-1] in _BINARY[level]:
            sign = self.tokens.pop()
            other = self._binary(level + 1)
            known = found is not None and other is not None
            found = _computed(sign, _BINARY[level][sign], found or 0, other or 0) if known else None
        return found

    def _unary(self) -> int | None:
        if not self.tokens:
            raise ValueError("no expression")
        token = self.tokens.pop()
        if token in _SIGN:
            found = self._unary()
            return None if found is None else int(_SIGN[token](found))
        if token == "(":
            found = self.choice()
            self._expect(")")
            return found
        if token in ("min", "max") and self._take("("):
            return self._limit(min if token == "min" else max)
        if token[0].isdigit():
            return int(token, 0)
        return self._named(token)

    def _named(self, token: str) -> int | None:
        if not token.isidentifier() or (self.tokens and self.tokens[-1] == "("):
            raise ValueError("no expression of integers")
        found = self.constants.get(token)
        if isinstance(found, Macro):
            self.tokens += _tokens(found.text)
            return self._unary()
        return found

    def _limit(self, of: Callable[[list[int]], int]) -> int | None:
        given = [self.choice()]
        while self._take(","):
            given.append(self.choice())
        self._expect(")")
        known = [each for each in given if each is not None]
        return of(known) if len(known) == len(given) else None

    def _take(self, token: str) -> bool:
        if not self.tokens or self.tokens[-1] != token:
            return False
        self.tokens.pop()
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise ValueError("no expression")


def _computed(sign: str, what: Callable[[int, int], int], left: int, right: int) -> int | None:
    """None for what C++ may compute otherwise: it has integers of limited size, without signs or with them."""
    if sign in ("/", "%", "<<", ">>") and min(left, right) < 0:
        return None
    if (sign in ("/", "%") and right == 0) or (sign in ("<<", ">>") and right >= 32):
        return None
    found = int(what(left, right))
    return None if abs(found) > _MOST or (sign == "-" and found < 0) else found
