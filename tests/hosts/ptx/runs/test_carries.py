"""What runs of a block compute: numbers of several words, bits, votes of a warp, and what textures hold."""

from __future__ import annotations

import numpy as np
import pytest

from fencepost.hosts.ptx import check
from fencepost.hosts.ptx.expressions.carries import with_carry
from fencepost.hosts.ptx.expressions.lanes import Lane, compute
from fencepost.hosts.ptx.reading.module import Instruction
from fencepost.hosts.ptx.reading.parse import parse
from tests.hosts.ptx.kernels import kernel

WORDS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)


def instruction(text: str) -> Instruction:
    body = parse(kernel(text)).kernels[0].body
    return next(each for each in body if isinstance(each, Instruction) and each.text == text.rstrip(";"))


def lane(*values: int, width: int = 32) -> Lane:
    return Lane(np.array(values, dtype=np.uint64), width)


def wide(low: str, high: str, left: int, right: int) -> int:
    """A result of 64 bits, its words computed one after the other."""
    carry = np.zeros(1, dtype=np.uint64)
    halves = [(each & 0xFFFFFFFF, each >> 32) for each in (left, right)]
    first, carry = with_carry(instruction(low), [lane(halves[0][0]), lane(halves[1][0])], carry)
    second, _ = with_carry(instruction(high), [lane(halves[0][1]), lane(halves[1][1])], carry)
    return int(first[0]) | int(second[0]) << 32


@pytest.mark.parametrize("high", WORDS)
@pytest.mark.parametrize("low", WORDS)
def test_sums_and_differences_of_two_words(low: int, high: int) -> None:
    for other in (0, 1, 0xFFFFFFFF, 0x1_0000_0000, 0xFFFFFFFF_FFFFFFFF):
        one = low | high << 32
        added = wide("add.cc.u32 %r6, %r1, %r2;", "addc.u32 %r6, %r1, %r2;", one, other)
        assert added == (one + other) % (1 << 64)
        taken = wide("sub.cc.u32 %r6, %r1, %r2;", "subc.u32 %r6, %r1, %r2;", one, other)
        assert taken == (one - other) % (1 << 64)


@pytest.mark.parametrize("left", WORDS)
@pytest.mark.parametrize("right", WORDS)
def test_products_add_and_carry(left: int, right: int) -> None:
    low, high = (instruction(f"{name} %r6, %r1, %r2, %r3;") for name in ("mad.lo.cc.u32", "madc.hi.u32"))
    for more in (0, 1, 0xFFFFFFFF):
        carry = np.zeros(1, dtype=np.uint64)
        first, carry = with_carry(low, [lane(left), lane(right), lane(more)], carry)
        second, _ = with_carry(high, [lane(left), lane(right), lane(0)], carry)
        assert int(first[0]) | int(second[0]) << 32 == (left * right + more) % (1 << 64)


@pytest.mark.parametrize(
    ("opcode", "value", "expected"),
    [
        ("bfind.u32", 0, 0xFFFFFFFF),
        ("bfind.u32", 1, 0),
        ("bfind.u32", 0x80000000, 31),
        ("bfind.s32", 0xFFFFFFFF, 0xFFFFFFFF),
        ("bfind.s32", 0xFFFFFFFE, 0),
        ("bfind.shiftamt.u32", 1, 31),
    ],
)
def test_the_highest_bit(opcode: str, value: int, expected: int) -> None:
    found = compute(opcode, [lane(value)])
    assert found is not None
    assert int(found[0]) == expected


def test_the_sign_of_another_number() -> None:
    # copysign d, a, b: b with the sign of a.
    minus, two = 0xBF800000, 0x40000000
    found = compute("copysign.f32", [lane(minus), lane(two)])
    assert found is not None
    assert int(found[0]) == 0xC0000000


RACE_IF = """
    st.shared.u32 [%r5], %r1;
    {condition}
    @!%p1 bra $end;
    xor.b32 %r6, %r3, 256;
    add.s32 %r7, %r4, %r6;
    ld.shared.u32 %r8, [%r7];
$end:
"""


@pytest.mark.parametrize(
    "condition",
    [
        # 2^32 - 1 + tid carries in all threads but the first.
        "add.cc.u32 %r9, %r1, -1; addc.u32 %r9, 0, 0; setp.eq.u32 %p1, %r9, 1;",
        "setp.eq.u32 %p2, %r3, 0; vote.sync.any.pred %p1, %p2, -1; not.pred %p1, %p1;",
        "setp.ge.u32 %p2, %r1, 0; vote.sync.all.pred %p1, %p2, -1;",
        "bfind.u32 %r9, %r1; setp.gt.s32 %p1, %r9, 3;",
    ],
)
def test_runs_follow_them_into_a_race(condition: str) -> None:
    (found,) = check(kernel(RACE_IF.format(condition=condition)), block=128)
    assert found.verdict == "race"
