"""What each PTX instruction computes: one table, opcode → result, written in the operations of
`arithmetic.py`.

An opcode that is not in `INTEGER` nor known to `effects.py` has results that nobody knows; `effects.py` decides
whether the kernel can be judged at all with such an instruction in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from fencepost.hosts.ptx.reading.arithmetic import Arithmetic
from fencepost.hosts.ptx.reading.module import Instruction, width_of

TYPE = re.compile(
    r"pred|[bfsu](?:8|16|32|64|128)|f16x2|bf16x2|bf16|tf32|[su]16x2|e4m3x2|e5m2x2|f32x2|[bu]128"
)
INTEGER_TYPE = re.compile(r"pred|[bsu](?:8|16|32|64)")
Numbers = Arithmetic[Any]
Semantics = Callable[[Numbers, Instruction, Sequence[Any]], Any]


def types_of(instruction: Instruction) -> list[str]:
    """The types in an opcode, in order: `cvt.s64.s32` has two."""
    return [part for part in instruction.parts[1:] if TYPE.fullmatch(part)]


def operand_type(instruction: Instruction) -> str:
    """The type that the sources are read as."""
    found = types_of(instruction)
    return found[-1] if found else "b32"


def is_signed(instruction: Instruction) -> bool:
    """Whether the sources are signed numbers."""
    return operand_type(instruction).startswith("s")


def less(b: Numbers, left: Any, right: Any, signed: bool) -> Any:
    """Whether the first is less than the second."""
    return b.binary("slt" if signed else "ult", left, right)


def _binary(operation: str, signed_operation: str | None = None) -> Semantics:
    def compute(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
        chosen = signed_operation if signed_operation and is_signed(instruction) else operation
        return b.binary(chosen, args[0], args[1])

    return compute


def _product(b: Numbers, instruction: Instruction, left: Any, right: Any) -> Any:
    """`mul.lo`, `mul.hi` and `mul.wide`."""
    width = b.width(left)
    if "wide" in instruction.parts or "hi" in instruction.parts:
        if width == 64:
            return b.function(instruction.opcode, (left, right), 64)
        signed = is_signed(instruction)
        whole = b.binary("mul", b.extend(left, 2 * width, signed), b.extend(right, 2 * width, signed))
        return whole if "wide" in instruction.parts else b.extract(whole, width, width)
    return b.binary("mul", left, right)


def _mul(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    return _product(b, instruction, args[0], args[1])


def _mad(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    return b.binary("add", _product(b, instruction, args[0], args[1]), args[2])


def _mul24(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    if "hi" in instruction.parts:
        return b.function(instruction.opcode, args[:2], 32)
    signed = is_signed(instruction)
    left, right = (b.extend(b.extract(each, 0, 24), 32, signed) for each in args[:2])
    return b.binary("mul", left, right)


def _mad24(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    return b.binary("add", _mul24(b, instruction, args), args[2])


def _shift(left: bool) -> Semantics:
    def compute(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
        width = b.width(args[0])
        # The amount has 32 bits whatever the type; larger amounts than the width clamp to it.
        amount = args[1]
        if width > 32:
            amount = b.extend(amount, width, False)
        elif width < 32:
            clamp = b.constant(width, 32)
            amount = b.extract(b.choose(less(b, amount, clamp, False), amount, clamp), 0, width)
        if left:
            return b.binary("shl", args[0], amount)
        return b.binary("ashr" if is_signed(instruction) else "lshr", args[0], amount)

    return compute


def _extreme(largest: bool) -> Semantics:
    def compute(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
        smaller = less(b, args[0], args[1], is_signed(instruction))
        return b.choose(smaller, args[1], args[0]) if largest else b.choose(smaller, args[0], args[1])

    return compute


def _negate(b: Numbers, value: Any) -> Any:
    return b.binary("sub", b.constant(0, b.width(value)), value)


def _abs(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    negative = less(b, args[0], b.constant(0, b.width(args[0])), True)
    return b.choose(negative, _negate(b, args[0]), args[0])


def compare(b: Numbers, how: str, left: Any, right: Any, signed: bool) -> Any:
    """The bit that a PTX comparison such as `lt` or `hs` gives; integers only."""
    signed = signed and how not in ("lo", "ls", "hi", "hs")
    how = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(how, how)
    if how in ("eq", "ne"):
        same = b.binary("eq", left, right)
        return same if how == "eq" else b.invert(same)
    if how in ("gt", "le"):
        greater = less(b, right, left, signed)
        return greater if how == "gt" else b.invert(greater)
    smaller = less(b, left, right, signed)
    return smaller if how == "lt" else b.invert(smaller)


COMPARES = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"}


UNORDERED = {"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt", "nan": "num"}
"""Comparisons that hold if an operand is NaN, as the opposites of others."""


def _compared(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """What `setp` and `set` compare, before a predicate is combined with it."""
    how = instruction.parts[1]
    kind = operand_type(instruction)
    if INTEGER_TYPE.fullmatch(kind) and how in COMPARES:
        return compare(b, how, args[0], args[1], kind.startswith("s"))
    if how in UNORDERED:
        return b.invert(b.function(f"setp.{UNORDERED[how]}.{kind}", args[:2], 1))
    return b.function(f"setp.{how}.{kind}", args[:2], 1)


def _combined(b: Numbers, instruction: Instruction, found: Any, args: Sequence[Any]) -> Any:
    combine = next((part for part in instruction.parts[2:] if part in ("and", "or", "xor")), None)
    return found if combine is None else b.binary(combine, found, args[2])


def _setp(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    return _combined(b, instruction, _compared(b, instruction, args), args)


def second_result(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any | None:
    """The second destination of `setp p|q` and `lop3 d|p`; None for others, which nobody knows."""
    if instruction.name == "setp" and not operand_type(instruction).endswith("x2"):
        return _combined(b, instruction, b.invert(_compared(b, instruction, args)), args)
    if instruction.name == "lop3" and instruction.parts[1] in ("and", "or") and len(args) > 4:
        bits = _lop3(b, instruction, args)
        held = b.invert(b.binary("eq", bits, b.constant(0, b.width(bits))))
        return b.binary(instruction.parts[1], held, b.extract(args[4], 0, 1))
    return None


def _set(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    result = types_of(instruction)[0]
    if result not in ("u32", "s32", "b32", "f32"):
        return b.function(instruction.opcode, args, width_of(result))
    found = _setp(b, instruction, args)
    yes = 0x3F800000 if result == "f32" else (1 << width_of(result)) - 1
    return b.choose(found, b.constant(yes, width_of(result)), b.constant(0, width_of(result)))


def _selp(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    return b.choose(args[2], args[0], args[1])


def _cvt(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    to, source = types_of(instruction)[0], operand_type(instruction)
    if not (INTEGER_TYPE.fullmatch(to) and INTEGER_TYPE.fullmatch(source)) or "sat" in instruction.parts:
        return b.function(instruction.opcode, args, max(width_of(to), 16))
    low = b.extract(args[0], 0, width_of(source)) if b.width(args[0]) > width_of(source) else args[0]
    if width_of(to) <= width_of(source):
        return b.extract(low, 0, width_of(to))
    return b.extend(low, width_of(to), source.startswith("s"))


def _bfe(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    width = b.width(args[0])
    if is_signed(instruction):
        return _signed_field(b, instruction, args)
    start, length = (
        b.extend(b.extract(each, 0, 8), width, False) if b.width(each) == 32 else each for each in args[1:3]
    )
    ones = b.binary("sub", b.binary("shl", b.constant(1, width), length), b.constant(1, width))
    return b.binary("and", b.binary("lshr", args[0], start), ones)


def _signed_field(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """`bfe.s32`: the field shifted up to the sign and down again, if it is known where the field lies."""
    width = b.width(args[0])
    start, length = (getattr(each, "known", None) for each in args[1:3])
    if start is None or length is None or not length & 0xFF:
        return b.function(instruction.opcode, args, width)
    end = min((start & 0xFF) + (length & 0xFF), width)
    above = b.binary("shl", args[0], b.constant(width - end, width))
    return b.binary("ashr", above, b.constant(min(width - end + (start & 0xFF), width - 1), width))


def _bfi(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    width = b.width(args[1])
    start, length = (b.extend(b.extract(each, 0, 8), width, False) for each in args[2:4])
    one = b.constant(1, width)
    ones = b.binary("shl", b.binary("sub", b.binary("shl", one, length), one), start)
    kept = b.binary("and", args[1], b.invert(ones))
    return b.binary("or", kept, b.binary("and", b.binary("shl", args[0], start), ones))


def _bmsk(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """`bmsk`: ones from a bit on. `clamp` takes a start or a length of 32 and more as it is, `wrap` modulo 32."""
    start, length = args[0], args[1]
    if "wrap" in instruction.parts:
        start, length = (b.binary("and", each, b.constant(31, 32)) for each in (start, length))
    ones = b.constant((1 << 32) - 1, 32)
    below = b.invert(b.binary("shl", ones, length))
    return b.binary("shl", below, start)


def _shf(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """`shf.l` and `shf.r`: 64 bits, `args[1]` the upper half, shifted; one half of the result."""
    low, high = b.extend(args[0], 64, False), b.extend(args[1], 64, False)
    whole = b.binary("or", low, b.binary("shl", high, b.constant(32, 64)))
    limit = b.constant(31, 32)
    if "wrap" in instruction.parts:
        amount = b.binary("and", args[2], limit)
    else:
        most = b.constant(32, 32)
        amount = b.choose(less(b, args[2], most, False), args[2], most)
    amount = b.extend(amount, 64, False)
    if "l" in instruction.parts:
        return b.extract(b.binary("shl", whole, amount), 32, 32)
    return b.extract(b.binary("lshr", whole, amount), 0, 32)


def _lop3(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    table = getattr(args[3], "known", None)
    if table is None:
        return b.function(instruction.opcode, args, b.width(args[0]))
    result = b.constant(0, b.width(args[0]))
    for row in range(8):
        if table >> row & 1:
            bits = [args[at] if row >> (2 - at) & 1 else b.invert(args[at]) for at in range(3)]
            both = b.binary("and", b.binary("and", bits[0], bits[1]), bits[2])
            result = b.binary("or", result, both)
    return result


def _address_of(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """`cvta`: a generic address and the address in its window are the same number here."""
    width = width_of(operand_type(instruction))
    if b.width(args[0]) == width:
        return args[0]
    return b.extend(args[0], width, False) if b.width(args[0]) < width else b.extract(args[0], 0, width)


def _brev(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """The bits in the opposite order: neighbours change places, then pairs, and so on."""
    value, width = args[0], b.width(args[0])
    step = 1
    while step < width:
        low = sum(1 << at for at in range(width) if at // step % 2 == 0)
        amount, mask = b.constant(step, width), b.constant(low, width)
        up = b.binary("shl", b.binary("and", value, mask), amount)
        value = b.binary("or", up, b.binary("and", b.binary("lshr", value, amount), mask))
        step *= 2
    return value


def _popc(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """How many bits are set: counts of pairs, of fours, of eights, and so on."""
    value, width = args[0], b.width(args[0])
    step = 1
    while step < width:
        mask = b.constant(sum(1 << at for at in range(width) if at // step % 2 == 0), width)
        high = b.binary("and", b.binary("lshr", value, b.constant(step, width)), mask)
        value = b.binary("add", b.binary("and", value, mask), high)
        step *= 2
    return b.extract(value, 0, 32)


INTEGER: dict[str, Semantics] = {
    "mov": lambda b, instruction, args: args[0],
    "add": _binary("add"),
    "sub": _binary("sub"),
    "mul": _mul,
    "mad": _mad,
    "mul24": _mul24,
    "mad24": _mad24,
    "neg": lambda b, instruction, args: _negate(b, args[0]),
    "abs": _abs,
    "not": lambda b, instruction, args: b.invert(args[0]),
    "cnot": lambda b, instruction, args: b.extend(
        b.binary("eq", args[0], b.constant(0, b.width(args[0]))), b.width(args[0]), False
    ),
    "and": _binary("and"),
    "or": _binary("or"),
    "xor": _binary("xor"),
    "shl": _shift(True),
    "shr": _shift(False),
    "min": _extreme(False),
    "max": _extreme(True),
    "div": _binary("udiv", "sdiv"),
    "rem": _binary("urem", "srem"),
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "cvt": _cvt,
    "bfe": _bfe,
    "bfi": _bfi,
    "bmsk": _bmsk,
    "shf": _shf,
    "lop3": _lop3,
    "brev": _brev,
    "popc": _popc,
    "cvta": _address_of,
}
"""Instructions that compute one result from integers; the same names on floating-point types are functions."""
FUNCTIONS = frozenset(
    {
        *("fma", "sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin", "cos", "tanh", "copysign", "testp", "slct"),
        *("clz", "bfind", "prmt", "dp4a", "dp2a", "sad", "fns", "szext", "isspacep", "getctarank"),
    }
)
"""Instructions whose result depends on their operands alone, by a rule that is not followed."""
SHIFTS = ("shl", "shr")


def computes(instruction: Instruction) -> bool:
    """Whether the instruction does nothing but compute a result from its operands."""
    return instruction.name in INTEGER or instruction.name in FUNCTIONS


def is_integer(instruction: Instruction) -> bool:
    """Whether the result is followed exactly."""
    if instruction.name not in INTEGER or instruction.name in ("cvt", "setp", "set", "selp", "mov"):
        return instruction.name in INTEGER
    if any(part in ("cc", "sat", "relu") for part in instruction.parts):
        return False
    return INTEGER_TYPE.fullmatch(operand_type(instruction)) is not None


def result_width(instruction: Instruction) -> int:
    """The width of a result that is not followed."""
    found = types_of(instruction)
    if instruction.name in ("setp", "testp", "isspacep"):
        return 1
    if instruction.name in ("clz", "bfind"):
        return 32
    return width_of(found[0]) if found and width_of(found[0]) else 32


def result(b: Numbers, instruction: Instruction, args: Sequence[Any]) -> Any:
    """What a computing instruction gives, for operands that are given."""
    if is_integer(instruction):
        return INTEGER[instruction.name](b, instruction, args)
    return b.function(instruction.opcode, args, result_width(instruction))
