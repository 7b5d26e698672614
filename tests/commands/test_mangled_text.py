"""Texts that are cut, mangled, or too much of everything: an error, and never a traceback."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.ir.parser import parse
from tests.commands.called import (
    BRANCHING,
    COMMANDS,
    HANDING,
    RACY,
    assert_refused,
    assert_sane,
    fencepost,
    kernel,
    message_of,
    underlined,
)
from tests.random_kernels import Shape, random_text
from tests.tiers import sweep

# ---------------------------------------------------------------- mangled text

ARGUED = """\
# A ring of blocks.
kernel @argued waves=4 {
  shared %a : 3 x 64
  br ^head(2, 0)  # two counters
^head(%in, %out):
  cond_br %in < 3, ^body, ^end expect=0.95
^body:
  write %a[%in]
  read %a[%out][%in * 16..%in * 16 + 16]
  br ^head(select(%in + 1 == 3, 0, %in + 1), (%out + 1) % 3)
^end:
  return
}
"""
MBARRIERS = """\
# A ring that an engine fills.
kernel @objects waves=5 {
  shared %a : 2 x 64
  shared %full : 2 x 8
  param %n
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=2
  barrier
  if wave < 4 {
    loop %i in 0..%n expect=8 {
      mbarrier_wait %full[%i % 2] phase=%i // 2 % 2  # a comment
      read %a[%i % 2]
      barrier waves 0..4 load=0
    }
  } else {
    loop %j in 0..%n step 2 {
      mbarrier_expect %full[0] bytes=64
      tensor_load_to_lds %a[%j % 2] group=g counter=tma arrives %full[0] bytes=64
      mbarrier_arrive %full[1] count=2 counter=tma
      async_mma %a arrives %full[1] count=1
    }
  }
}
"""
WHOLE = [
    *(RACY, BRANCHING, HANDING, ARGUED, MBARRIERS),
    random_text(11, Shape(size=16, slots=True, asynchronous=True)),
]
NAMES = ["racy", "branching", "handing", "argued", "objects", "random"]
TOKEN = re.compile(r"[%@^]?[\w.]+|//|\.\.|[<>=!]=|\S|\n")


def mangled(text: str, rng: random.Random) -> str:
    """One token of `text` deleted, doubled, swapped with another or mistyped, or two lines swapped."""
    tokens = list(TOKEN.finditer(text))
    one, two = sorted(rng.sample(tokens, 2), key=lambda token: token.start())
    first, between, second = one[0], text[one.end() : two.start()], two[0]
    way = rng.randrange(5)
    if way == 0:
        return text[: one.start()] + text[one.end() :]
    if way == 1:
        return text[: one.end()] + " " + first + text[one.end() :]
    if way == 2:
        return text[: one.start()] + second + between + first + text[two.end() :]
    if way == 3:
        typed = rng.choice("abz019%@^[](){}.,=#-+*/?<> \n\t\"'é\u2028")
        place = rng.randrange(len(first))
        return text[: one.start() + place] + typed + text[one.start() + place + 1 :]
    lines = text.split("\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[here], lines[there] = lines[there], lines[here]
    return "\n".join(lines)


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_every_beginning_of_a_kernel(text: str, file: Path) -> None:
    for length in range(len(text)):
        part = text[:length]
        assert_sane(part)
        code = re.sub(r"#.*", "", part).rstrip()
        if code and not (code.endswith("}") and code.count("{") == code.count("}")):
            assert message_of(part), part
        if length % 9 == 0 and code.count("{") > code.count("}"):
            file.write_text(part)
            assert_refused(fencepost("check", str(file)), str(file))


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_every_end_of_a_kernel(text: str) -> None:
    for start in range(len(text)):
        assert_sane(text[start:])


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_every_line_left_out_or_moved(text: str) -> None:
    lines = text.splitlines(keepends=True)
    for one in range(len(lines)):
        assert_sane("".join(lines[:one] + lines[one + 1 :]))
        for two in range(len(lines)):
            assert_sane(
                "".join([*lines[:one], *lines[one + 1 : two], lines[one], *lines[max(one + 1, two) :]])
            )


@pytest.mark.parametrize("text", sweep(WHOLE, chosen=(ARGUED, MBARRIERS)), ids=NAMES)
def test_mangled_tokens(text: str, file: Path) -> None:
    rng = random.Random(1)
    for number in range(400):
        wrong = mangled(text, rng)
        for _ in range(rng.choice([0, 0, 1, 3])):
            wrong = mangled(wrong, rng)
        assert_sane(wrong)
        if number % 20 == 0:
            file.write_bytes(wrong.encode())
            for command in COMMANDS:
                ran = fencepost(command, str(file))
                assert ran.code in (0, 1, 2)
                assert "Traceback" not in ran.err
                assert file.read_bytes() == wrong.encode()


WORDS = st.sampled_from(
    [
        match[0]
        for match in TOKEN.finditer(BRANCHING + HANDING + ARGUED + MBARRIERS + " ( ) - // shared x != #")
    ]
)


@given(st.lists(WORDS, max_size=40).map(" ".join))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_words_in_any_order(text: str) -> None:
    assert_sane(text)
    assert_sane(f"kernel @k waves=4 {{\n  shared %a : 64\n  {text}\n}}\n")


@given(st.text(max_size=60))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_any_text(text: str) -> None:
    assert_sane(text)
    assert_sane(f"kernel @k waves=4 {{\n  {text}\n}}\n")


@given(st.binary(max_size=80))
@settings(
    derandomize=True,
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_bytes(file: Path, raw: bytes) -> None:
    file.write_bytes(raw)
    for ran in (fencepost("check", str(file)), fencepost("check", "-", stdin=raw)):
        assert_refused(ran, located=False)
        assert str(file) in ran.err or "<stdin>" in ran.err
    assert file.read_bytes() == raw


# ---------------------------------------------------------------- too much of everything


def nested(opening: str, depth: int, inside: str) -> str:
    start = "".join(opening.format(number) for number in range(depth))
    return f"kernel @k waves=4 {{\n  shared %a : 64\n{start}{inside}" + "}\n" * (depth + 1)


def test_ten_thousand_parentheses() -> None:
    deep = kernel("read %a[" + "(" * 10_000 + "1" + ")" * 10_000 + "]")
    assert str(parse(deep)) == kernel("read %a[1]")
    assert "FP101" in message_of(deep.replace(")", "", 1))
    assert "FP101" in message_of(deep.replace("(", "", 1))
    assert "FP101" in message_of(deep[:5_000])


@pytest.mark.parametrize(
    "index", ["1 - " * 10_000 + "1", "(1 - " * 10_000 + "1" + ")" * 10_000, "select(0 < 1, " * 5_000]
)
def test_expressions_too_deep_to_follow_are_refused(index: str) -> None:
    message = message_of(kernel(f"read %a[{index}]"))
    assert "nested more than 64 deep" in message or "FP101" in message
    assert underlined(message)
    assert_sane(kernel(f"if {index} == 0 {{", "}"))
    assert_sane(kernel("%x = compute", f"mma %x[{index}]"))


OPENINGS = ["loop %i{} in 0..2 {{\n", "if %c{} {{\n", "if %c{} {{\n}} else {{\n"]


@pytest.mark.parametrize(
    ("opening", "command"),
    sweep(
        [(opening, command) for opening in OPENINGS for command in COMMANDS],
        first=len(COMMANDS),
        chosen=[(opening, "check") for opening in OPENINGS],
    ),
)
def test_regions_two_thousand_deep(opening: str, command: str, file: Path) -> None:
    file.write_text(nested(opening, 2_000, "write %a\n"))
    ran = fencepost(command, str(file))
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


def test_deep_kernels_round_trip() -> None:
    trace = parse(nested("loop %i{} in 0..2 {{\n", 2_000, "read %a\n"))
    assert str(parse(str(trace))) == str(trace)


@pytest.mark.parametrize("command", COMMANDS)
def test_huge_numbers(command: str, file: Path) -> None:
    most = "9" * 18
    file.write_text(
        f"kernel @k waves=64 {{\n  shared %a : 3 x 64 at {most}\n  loop %i in -{most}..{most} step 7 {{\n"
        f"    write %a[%i % 3]\n    read %a[(%i * {most}) % 3]\n  }}\n  wait_count load={most}\n}}\n"
    )
    ran = fencepost(command, str(file))
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


def test_a_hundred_thousand_lines(file: Path) -> None:
    lines = ["# comment"] * 50_000 + [""] * 50_000
    assert str(parse(kernel(*lines, "read %a", "mma %z").replace("%z", ""))).count("# comment") == 50_000
    assert message_of(kernel(*lines, "reed %a")).startswith("error[FP101]")
