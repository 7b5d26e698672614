"""Slots, iterations and waves distinguished: how many barriers an iteration needs, with and without.

Each row is the body of a loop of unknown length, with the barriers that an iteration executes when slots are
distinguished, and when whatever depends on the loop is taken for the whole buffer.
"""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.analysis.build_program import read_program
from fencepost.flow.blocks import UNKNOWN_TRIP
from fencepost.passes.insert import insert_barriers
from tests.random_kernels import Shape, random_text

RING = "shared %a : {slots} x 64"


def per_iteration(buffers: str, header: str, body: str, slots: bool = True) -> float:
    """Barriers executed for each iteration of the loop."""
    text = "\n".join([
        "kernel @k waves=4 {",
        *(f"  {line.strip()}" for line in buffers.split(";")),
        f"  loop %i in 0..?{header} {{",
        *(f"    {line.strip()}" for line in body.split(";")),
        "  }",
        "}",
    ])  # fmt: skip
    kernel = fp.parse(text)
    done = insert_barriers(kernel, slots=slots)
    report = fp.check(kernel)
    assert report.ok, kernel
    return done.executed / UNKNOWN_TRIP


def ring(slots: int, ahead: int) -> tuple[str, str, str]:
    """Write `ahead` slots in front of the one that is read."""
    return f"shared %a : {slots} x 64", "", f"read %a[%i % {slots}]; write %a[(%i + {ahead}) % {slots}]"


ROWS = {
    # Buffers, what the loop carries, its body; barriers an iteration with slots and without.
    # --- one slot: read and write always meet
    "single buffer": ("shared %a : 64", "", "read %a; write %a", 2, 2),
    # --- double buffering: the slot that is written is read in the next iteration
    "double, ahead 1": (*ring(2, 1), 1, 2),
    "double, ahead 0: the slot just read": (*ring(2, 0), 1, 2),
    "double, ahead 2 collides with 0": (*ring(2, 2), 1, 2),
    # --- triple buffering
    "triple, ahead 0": (*ring(3, 0), 1, 2),
    "triple, ahead 1": (*ring(3, 1), 1, 2),
    "triple, ahead 2": (*ring(3, 2), 1, 2),
    "triple, ahead 3 collides with 0": (*ring(3, 3), 1, 2),
    # --- quad buffering
    "quad, ahead 1": (*ring(4, 1), 1, 2),
    "quad, ahead 2": (*ring(4, 2), 1, 2),
    "quad, ahead 3": (*ring(4, 3), 1, 2),
    # --- a slot that is never read again until the ring comes round
    "only writes": ("shared %a : 4 x 64", "", "write %a[%i % 4]", 1, 1),
    "two halves that never meet": (
        "shared %a : 4 x 64", "", "write %a[%i % 2]; read %a[%i % 2 + 2]", 1, 2),
    # --- two counters running apart, as a pipeliner makes them
    "two counters": (
        "shared %a : 3 x 64",
        " carry %cons = 0, %prod = 2",
        "read %a[%cons]; write %a[%prod];"
        "next select(%cons + 1 < 3, %cons + 1, 0), select(%prod + 1 < 3, %prod + 1, 0)",
        1, 2),
    "two counters that collide": (
        "shared %a : 3 x 64",
        " carry %cons = 0, %prod = 0",
        "read %a[%cons]; write %a[%prod];"
        "next select(%cons + 1 < 3, %cons + 1, 0), select(%prod + 1 < 3, %prod + 1, 0)",
        1, 2),
    "counter modulo": (
        "shared %a : 3 x 64", " carry %x = 0", "read %a[%x]; write %a[(%x + 1) % 3]; next (%x + 1) % 3", 1, 2),
    "counter that runs back": (
        "shared %a : 3 x 64", " carry %x = 0", "read %a[%x]; write %a[(%x + 2) % 3]; next (%x + 2) % 3", 1, 2),
    # --- rings by exclusive or
    "xor of the iteration": ("shared %a : 2 x 64", "", "read %a[%i % 2]; write %a[%i % 2 ^ 1]", 1, 2),
    "xor carried": ("shared %a : 2 x 64", " carry %x = 0", "read %a[%x]; write %a[%x ^ 1]; next %x ^ 1", 1, 2),
    "xor with two": ("shared %a : 4 x 64", " carry %x = 0", "read %a[%x]; write %a[%x ^ 2]; next %x ^ 2", 1, 2),
    # --- buffers handed round
    "two buffers swapped": (
        "shared %a : 64; shared %b : 64", " carry %p = %a, %q = %b", "read %p; write %q; next %q, %p", 1, 2),
    "three buffers rotated": (
        "shared %a : 64; shared %b : 64; shared %c : 64",
        " carry %p = %a, %q = %b, %r = %c", "read %p; write %r; next %q, %r, %p", 1, 2),
    "rotated the wrong way": (
        "shared %a : 64; shared %b : 64; shared %c : 64",
        " carry %p = %a, %q = %b, %r = %c", "read %p; write %p; next %q, %r, %p", 1, 2),
    # --- conditions
    "guarded by the iteration": (
        "shared %a : 2 x 64", "", "if %i % 2 == 0 {; write %a[0]; read %a[1]; } else {; write %a[1]; read %a[0]; }",
        1, 1),
    "the slot selected": (
        "shared %a : 2 x 64", "", "read %a[select(%i % 2 == 0, 0, 1)]; write %a[select(%i % 2 == 0, 1, 0)]", 1, 2),
    # --- parts that move on with the loop
    "each iteration its own part": (
        "shared %a : 65536", "", "write %a[%i % 1024 * 64..%i % 1024 * 64 + 64]", 1, 1),
    "its own part, written and read": (
        "shared %a : 65536", "", "write %a[%i * 64..%i * 64 + 64]; read %a[%i * 64..%i * 64 + 64]", 1, 2),
    "the part of the iteration before": (
        "shared %a : 65536", "", "write %a[%i * 64 + 64..%i * 64 + 128]; read %a[%i * 64..%i * 64 + 64]", 1, 2),
    "parts that never meet": (
        "shared %a : 65536", "", "write %a[%i * 128..%i * 128 + 64]; read %a[%i * 128 + 64..%i * 128 + 128]", 0, 2),
    "unknown stride": (
        "shared %a : 65536", "", "write %a[%i * ?..%i * ? + 64]; read %a[%i * 64..%i * 64 + 64]", 2, 2),
    "a product of two numbers": (
        "shared %a : 65536", " carry %n = ?",
        "write %a[%i * %n..%i * %n + 64]; read %a[%i * 64..%i * 64 + 64]; next %n",
        2, 2),
    # --- the same wave on both sides
    "each wave its own part": (
        "shared %a : 256", "", "write %a[wave * 64..wave * 64 + 64]; read %a[wave * 64..wave * 64 + 64]", 0, 0),
    "each wave its neighbour's part": (
        "shared %a : 256", "",
        "write %a[wave * 64..wave * 64 + 64]; read %a[(wave + 1) % 4 * 64..(wave + 1) % 4 * 64 + 64]", 2, 2),
    "each wave its own part of a ring": (
        "shared %a : 3 x 256", "",
        "write %a[%i % 3][wave * 64..wave * 64 + 64]; read %a[%i % 3][wave * 64..wave * 64 + 64]", 0, 2),
    "each wave its own part, moving on": (
        "shared %a : 65536", "",
        "write %a[%i * 256 + wave * 64..%i * 256 + wave * 64 + 64];"
        "read %a[%i * 256 + wave * 64..%i * 256 + wave * 64 + 64]", 0, 2),
    "swizzled by lane, each wave its own rows": (
        "shared %a : 16384", "",
        "write %a[wave * 4096 + (lane ^ 7) * 16..wave * 4096 + (lane ^ 7) * 16 + 16];"
        "read %a[wave * 4096 + lane * 16..wave * 4096 + lane * 16 + 16]", 0, 0),
    "padded rows: the padding meets nothing": (
        "shared %a : 16384", "",
        "write %a[lane * 80..lane * 80 + 64]; read %a[lane * 80 + 64..lane * 80 + 80]", 1, 1),
    "padded rows, moving on": (
        "shared %a : 16777216", "",
        "write %a[%i * 5120 + lane * 80..%i * 5120 + lane * 80 + 64];"
        "read %a[%i * 5120 + lane * 80 + 64..%i * 5120 + lane * 80 + 80]", 0, 2),
    "swizzled by wave": (
        "shared %a : 4 x 64", "", "write %a[wave ^ 1]; read %a[wave ^ 1]", 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_barriers_in_an_iteration(name: str) -> None:
    buffers, header, body, expected, coarse = ROWS[name]
    assert per_iteration(buffers, header, body) == expected
    without = per_iteration(buffers, header, body, slots=False)
    assert without == coarse and expected <= without


def test_the_solver_is_asked_only_for_what_is_left() -> None:
    """Rings need no solver; a part that moves on needs one question for each pair and way of going round."""
    text = "kernel @k waves=4 {{ \n shared %a : 65536\n loop %i in 0..? {{\n write %a[{0}]\n read %a[{0}]\n }}\n}}\n"
    ring_ = read_program(fp.parse(text.replace("65536", "3 x 64").format("%i % 3")))
    assert ring_.table.solver.asked == 0
    moving = read_program(fp.parse(text.format("%i * 64..%i * 64 + 64")))
    assert 0 < moving.table.solver.asked <= 8
    again = read_program(fp.parse(text.format("%i * 64..%i * 64 + 64")))
    assert again.table.solver.asked > 0 and again.table.solver.solved == 0


def test_looking_closely_never_costs_more() -> None:
    """Random kernels: barriers executed with slots distinguished, against the whole buffer."""
    fewer = 0
    for seed in range(200):
        text = random_text(seed, Shape(slots=True, handing=True, divergent=False))
        one = insert_barriers(fp.parse(text)).executed
        other = insert_barriers(fp.parse(text), slots=False).executed
        assert one <= other * (1 + 1e-9), f"seed {seed}\n{text}"
        fewer += one < other
    assert fewer == 17
