"""Copies of one engine keep their order only as far as the waves share the work: each makes the same bytes."""

from __future__ import annotations

import pytest

import fencepost as fp

GIVEN = "if wave < 2 gives %s {\n give 0\n} else {\n give 1\n}\n"
BUFFERS = "if wave < 2 gives %p, %q {\n give %a, %b\n} else {\n give %b, %a\n}\n"


def kernel_of(statements: str) -> str:
    return f"""\
kernel @k waves=4 {{
shared %a : 4 x 1024
shared %b : 4 x 1024
param %n
{statements}}}
"""


@pytest.mark.parametrize(
    "statements",
    [
        "gather_to_lds %a[(wave + ?) % 4]\ngather_to_lds %a[(wave + ? + 1) % 4]\n",
        "gather_to_lds %a[(wave + %n * %n) % 4]\ngather_to_lds %a[(wave + %n * %n + 1) % 4]\n",
        "gather_to_lds %a[(wave + ?) % 4][0..64]\ngather_to_lds %a[(wave + ? + 1) % 4][0..64]\n",
        f"{GIVEN}gather_to_lds %a[%s]\ngather_to_lds %a[1 - %s]\n",
        f"{BUFFERS}gather_to_lds %p\ngather_to_lds %q\n",
        "loop %i in 0..2 carry %x = wave {\n gather_to_lds %a[%x]\n next (%x + 1) % 4\n}\n",
        "loop %i in 0..9 {\n gather_to_lds %a[(wave + ?) % 4][%i * 64..%i * 64 + 128]\n}\n",
    ],
)
def test_bytes_that_differ_and_are_not_known_have_no_order(statements: str) -> None:
    kernel = fp.parse(kernel_of(statements))
    assert fp.check(kernel).races
    assert fp.insert_barriers(kernel).barriers
    assert fp.check(kernel).ok


@pytest.mark.parametrize(
    "statements",
    [
        "gather_to_lds %a[?]\ngather_to_lds %a[?]\n",
        "gather_to_lds %a[%n * %n % 4]\ngather_to_lds %a[%n % 4]\n",
        "loop %i in 0..? carry %x = ? {\n gather_to_lds %a[%x]\n next (%x + 1) % 4\n}\n",
    ],
)
def test_what_is_the_same_for_all_waves_keeps_its_order(statements: str) -> None:
    kernel = fp.parse(kernel_of(statements))
    assert fp.check(kernel).ok
    assert not fp.insert_barriers(kernel).barriers
