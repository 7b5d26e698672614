"""Numbers that launches are written with, as C++ computes them."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.cuda_source.host_expressions import number
from fencepost.hosts.ptx.launches.launch_sites import constants_of, launched_blocks

KNOWN = {"N": 256, "A": 6}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(N + 31) / 32 * 32", 256),
        ("A & 2 == 2", 0),
        ("A | 1 < 3", 7),
        ("!A == 0", 1),
        ("!A + 5", 5),
        ("1 < 2 < 3", 1),
        ("~31 & 100", 96),
        ("N > 128 ? 64 : unknown", 64),
        ("N ? A ? 1 : 2 : 3", 1),
        ("std::min<int>(N, sizeof(float) * 8)", 32),
        ("MAX(MAX(1, (unsigned int) N), 0x10u)", 256),
        ("static_cast<int>(N) >> 1", 128),
        ("-1", -1),
    ],
)
def test_precedence_is_that_of_cpp(text: str, value: int) -> None:
    assert number(text, KNOWN) == value


@pytest.mark.parametrize(
    "text",
    [
        "A - 7 > 0",
        "65536 * 65536",
        "N % 0",
        "1 << 40",
        "-N / 2",
        "010",
        "2.5",
        "f(3)",
        "a::N",
        "N.x",
        "",
        "3 4",
        "(N",
    ],
)
def test_what_may_be_something_else_has_no_value(text: str) -> None:
    """Without a sign, `A - 7` is large."""
    assert number(text, KNOWN) is None


def test_a_macro_is_replaced_by_its_text() -> None:
    text = "#define SIDE 16 + 16\n#define SIZE (SIDE)\n#define TWICE SIDE * 2\n"
    found = constants_of(text, "")
    assert (found["SIDE"], found["SIZE"], found["TWICE"]) == (32, 32, 48)
    assert number("SIDE * 2", found) == 48 and number("2 * SIZE", found) == 64
    launch = "__global__ void k(int *a) {}\nint main() { k<<<1, SIDE * 2>>>(0); }\n"
    assert launched_blocks(text + launch) == {"k": (48, 1, 1)}


def test_what_is_no_integer_is_not_divided_as_one() -> None:
    text = "const float S = 10;\nconst int N = S / 4 * 4;\nconst int M = 10;\n"
    assert constants_of(text, text) == {"M": 10}
