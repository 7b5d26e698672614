"""Numbers of a module as index expressions: bits, widths and signs."""

from __future__ import annotations

import pytest

from tests.hosts.triton.modules import (
    NUMBERS,
    lines,
)


def slot_of(*steps: str) -> str:
    """What is written to in a loop over %i: the slot %s, after some steps."""
    body = f"""
{NUMBERS}
%true = arith.constant true
%m = ttg.local_alloc : () -> <RING>
scf.for %i = %zero to %n step %one : i32 {{
  {chr(10).join(steps)}
  %v = ttg.memdesc_index %m[%s] : <RING> -> <TILE>
  ttg.local_store %x, %v : <TENSOR> -> <TILE>
}}
tt.return
"""
    (line,) = lines(body)
    return line


BIT = "%bit = arith.trunci %i : i32 to i1"

UNSIGNED = "%s = arith.extui %bit : i1 to i32"


def test_a_number_that_is_cut_down_to_a_bit_is_odd_or_even() -> None:
    assert slot_of(BIT, UNSIGNED) == "write %m5[%body1.0 % 2 * 8192..%body1.0 % 2 * 8192 + 8192]"
    turned = "%bit = arith.xori %odd, %true : i1"
    assert "(%body1.0 % 2 ^ 1) * 8192.." in slot_of(BIT.replace("%bit", "%odd"), turned, UNSIGNED)


def test_a_bit_that_is_widened_with_its_sign_is_none_or_minus_one() -> None:
    assert "(0 - %body1.0 % 2) * 8192.." in slot_of(BIT, UNSIGNED.replace("extui", "extsi"))


@pytest.mark.parametrize(
    "made",
    [
        "arith.addi %one_bit, %true : i1",
        "arith.subi %one_bit, %true : i1",
        "arith.cmpi slt, %one_bit, %true : i1",
    ],
)
def test_sums_and_comparisons_of_bits_are_not_known(made: str) -> None:
    assert slot_of(BIT.replace("%bit", "%one_bit"), f"%bit = {made}", UNSIGNED) == "write %m5"


def test_a_number_below_zero_does_not_stay_what_it_is_without_its_sign() -> None:
    wide = ("%w = arith.extui %n2 : i32 to i64", "%s = arith.trunci %w : i64 to i32")
    assert slot_of("%n2 = arith.addi %i, %one : i32", *wide).startswith(
        "write %m5[(%body1.0 + 1) % 3 * 8192.."
    )
    less = slot_of("%n2 = arith.subi %i, %two : i32", *wide)
    assert less.startswith("write %m5[select(%body1.0 - 2 >= 0, %body1.0 - 2, ?) % 3 * 8192..")


def test_a_number_of_few_bits_is_not_known() -> None:
    assert slot_of("%low = arith.trunci %i : i32 to i8", "%s = arith.extui %low : i8 to i32") == "write %m5"
