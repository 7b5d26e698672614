"""Places that threads look up in tables with initial values."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from tests.hosts.ptx.kernels import kernel

LOOKED_UP = """
    and.b32 %r6, %r1, {mask};
    mul.wide.u32 %rd2, %r6, {size};
    mov.u64 %rd1, table;
    add.s64 %rd3, %rd1, %rd2;
    ld.{space}.{kind} %r7, [%rd3{more}];
    shr.u32 %r8, %r1, {shift};
    add.s32 %r9, %r8, %r7;
    shl.b32 %r10, %r9, 2;
    add.s32 %r11, %r4, %r10;
    st.shared.u32 [%r11], %r1;
"""
"""Each thread stores at `table[t & mask] + (t >> shift)`."""
WORDS = {"mask": "3", "size": "4", "space": "const", "kind": "u32", "more": "", "shift": "2"}


def judged(declared: str, body: str) -> KernelVerdict:
    text = kernel(body).replace(".visible .entry", f"{declared}\n.visible .entry")
    (found,) = check(text, block=256)
    return found


def words(entries: Sequence[int], space: str = "const") -> str:
    return f".{space} .align 4 .u32 table[{len(entries)}] = {{{', '.join(map(str, entries))}}};"


BYTES = ".const .align 4 .b8 table[16] = {0, 0, 0, 0, 64, 0, 0, 0, 128, 0, 0, 0, 192};"
CASES = {
    "rows": (words([0, 64, 128, 192]), {}, "proven"),
    "bytes, the zeros at the end left out": (BYTES, {}, "proven"),
    "rows that overlap": (words([0, 64, 120, 192]), {}, "race"),
    "no initial values": (".const .align 4 .u32 table[4];", {}, "undecided"),
    "global memory that nobody stores to": (
        words([0, 64, 128, 192], "global"),
        {"space": "global.nc"},
        "proven",
    ),
    "global memory": (words([0, 64, 128, 192], "global"), {"space": "global"}, "undecided"),
    "the other half": (words([7, 7, 7, 7, 0, 64, 128, 192]), {"more": "+16"}, "proven"),
    "the half that is alike": (words([7, 7, 7, 7, 0, 64, 128, 192]), {}, "race"),
    "a symbol among the values": (".const .align 4 .u32 table[4] = {0, table, 128, 192};", {}, "undecided"),
    "bytes": (
        ".const .align 1 .b8 table[8] = {3, 1, 0, 2, 7, 5, 6, 4};",
        {"mask": "7", "size": "1", "kind": "u8", "shift": "3"},
        "race",
    ),
    "bytes with a sign": (
        ".const .align 1 .b8 table[4] = {0, 64, 0x80, 0xC0};",
        {"size": "1", "kind": "u8"},
        "proven",
    ),
}


@pytest.mark.parametrize(("declared", "changes", "expected"), CASES.values(), ids=CASES)
def test_rows_that_a_table_names(declared: str, changes: dict[str, str], expected: str) -> None:
    found = judged(declared, LOOKED_UP.format(**WORDS | changes))
    assert found.verdict == expected
    assert ("with the initial values of table" in found.holds_for) == (expected != "undecided")


@pytest.mark.parametrize("seed", range(6))
def test_random_tables(seed: int) -> None:
    rng = random.Random(seed)
    entries = [64 * each for each in range(4)]
    entries[rng.randrange(4)] += rng.choice([0, 1, -1, 64, -64]) if seed else 0
    entries = [max(0, min(each, 192)) for each in rng.sample(entries, 4)]
    places = [entries[t & 3] + (t >> 2) for t in range(256)]
    found = judged(words(entries), LOOKED_UP.format(**WORDS))
    assert found.verdict == ("proven" if len(set(places)) == 256 else "race")


def test_a_table_of_places_in_a_table() -> None:
    body = LOOKED_UP.format(**WORDS).replace(
        "mul.wide.u32 %rd2, %r6, 4;",
        "mul.wide.u32 %rd4, %r6, 4; mov.u64 %rd5, order; add.s64 %rd6, %rd5, %rd4; "
        "ld.const.u32 %r12, [%rd6]; mul.wide.u32 %rd2, %r12, 4;",
    )
    order = ".const .align 4 .u32 order[4] = {{{}}};"
    for entries, expected in (("3, 1, 0, 2", "proven"), ("3, 1, 1, 2", "race")):
        found = judged(f"{order.format(entries)}\n{words([0, 64, 128, 192])}", body)
        assert found.verdict == expected
        assert "with the initial values of order, table" in found.holds_for


def test_a_table_that_decides_nothing_is_not_mentioned() -> None:
    body = LOOKED_UP.format(**WORDS).replace("add.s32 %r9, %r8, %r7;", "mov.u32 %r9, %r1;")
    found = judged(words([0, 64, 128, 192]), body)
    assert (found.verdict, found.holds_for) == (
        "proven",
        "blocks of 256 threads; every value of the parameters",
    )
