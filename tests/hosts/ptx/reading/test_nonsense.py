"""Text that is no PTX, or PTX that was damaged: an error with its line and column, never a traceback."""

from __future__ import annotations

import random

import pytest

from fencepost.hosts.ptx import PtxError, check
from fencepost.hosts.ptx.reading.parse import parse
from tests.hosts.ptx.kernels import NEIGHBOUR, REDUCTION, kernel

TEXT = kernel(NEIGHBOUR.format(barrier="bar.sync 0;") + REDUCTION.format(barrier="bar.sync 0;"))
CHARACTERS = '{}[]();,.:@%$!|"/*\n\t\0\xff09aZ<>=-+'


def readable_or_refused(text: str) -> None:
    try:
        parse(text)
    except PtxError as error:
        assert str(error).startswith("line "), error


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("add.s32 %r6, %r1, 1", "`1 ret` is not an operand that can be read"),
        ("add.s32 %r6, [%r1, 1;", "the bracket of `[%r1, 1` is not closed"),
        ("add.s32 %r6, %r1, 1+;", "`1+` is not an operand that can be read"),
        ("@%q9 bra $L;", "the predicate of `@%q9 bra $L` is not a register"),
        ("@%p1;", "the predicate of `@%p1` is not a register"),
        ("ld.shared.u32 %r6, [];", "`[]` is not an address that can be read"),
        ("ld.shared.u32 %r6, [%r5+x];", "`[%r5+x]` is not an address that can be read"),
        ("add.s32 %r6, %r1;", "`add` has 3 operands, not 2"),
        ("setp.eq.s32 %p1, %r1;", "`setp` has 3 to 4 operands, not 2"),
        ("ld.shared.u32 %r6, %r5;", "`ld` has no address"),
        ("mov.u32 5, %r1;", "the first operand of `mov` is no register"),
        (".reg .u33 %x;", "registers of type `.u33` are not known"),
        ("?;", "`?` is not an instruction"),
        ("$L: $L: bar.sync 0;", "the label `$L` stands here for the second time"),
        (".branchtargets $L;", "`.branchtargets $L` has no label before it"),
        ("mov.u32 %r6, 099;", "`099` is not an operand that can be read"),
        ("setp.eq.s32 %p1, !%q, 0;", "`!%q` is not a predicate"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(body: str, said: str) -> None:
    text = kernel("        " + body)
    line = next(number for number, each in enumerate(text.split("\n"), 1) if each == "        " + body)
    with pytest.raises(PtxError) as caught:
        check(text, file="k.ptx")
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"k.ptx: line {line}, column ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no `.target`"),
        ("hello", "a statement does not end with `;`"),
        ("}", "`}` stands outside of a routine"),
        (".version 8.0\n.target sm_80\n", "there is no kernel (`.entry`) in this PTX"),
        (TEXT[: TEXT.index("ret;") + 4], "the body of k is not closed"),
        (TEXT + TEXT, "k is defined for the second time"),
        (TEXT.replace(".param .u32 k_param_1", "u32 k"), "`u32 k` is not a parameter that can be read"),
        (TEXT.replace("entry k", "entry "), "a routine has no name"),
    ],
    ids=["nothing", "a word", "a brace", "no kernel", "not closed", "twice", "parameter", "no name"],
)
def test_texts_that_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(PtxError) as caught:
        check(text)
    assert said in str(caught.value)


def test_every_beginning_of_a_text_is_read_or_refused() -> None:
    for end in range(0, len(TEXT), 7):
        readable_or_refused(TEXT[:end])


@pytest.mark.parametrize("seed", range(3))
def test_damaged_texts_are_read_or_refused(seed: int) -> None:
    chosen = random.Random(seed)
    for _ in range(150):
        text = TEXT
        for _ in range(chosen.randrange(1, 6)):
            at = chosen.randrange(len(text))
            text = text[:at] + chosen.choice(CHARACTERS) + text[at + chosen.randrange(3) :]
        readable_or_refused(text)


def test_random_bytes_are_refused() -> None:
    chosen = random.Random(1)
    for _ in range(100):
        text = bytes(chosen.randrange(256) for _ in range(200)).decode("latin-1")
        with pytest.raises(PtxError):
            parse(text)


@pytest.mark.parametrize(
    "body",
    [
        "{ .reg .pred P; again: mov.pred P, 1; @P bra done; bra again; done: }" * 2,
        '.pragma "nounroll"; .reg .v4 .f32 %v; mov.v4.f32 {%v.x, %v.y, %v.z, %v.w}, {%f1, %f2, %f3, %f4};',
        "mov.v4.u32 {%r6, %r7, %r8, %r9}, %tid; .reg .b128 %q; mov.b128 %q, {%rd1, %rd2};",
        "t: .branchtargets $a, $b; brx.idx %r1, t; $a: nanosleep.u32 1; $b: nanosleep.u32 2;",
        "mov.f32 %f1, 1.5; mov.f64 %rd1, -2.5e3; mov.f32 %f1, 0F3F800000; mov.u32 %r6, WARP_SZ; mov.u32 %r6, s+4;",
        ".const .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8}; ld.const.u32 %r6, [table+4];",
        "/* a comment { */ // another }\n mov.u32 %r6, %r1;",
    ],
    ids=["labels of scopes", "vectors", "wide", "tables", "constants", "initialized", "comments"],
)
def test_forms_that_compilers_and_people_write(body: str) -> None:
    (verdict,) = check(kernel(body + "\nst.shared.u32 [%r5], %r1;"), block=64)
    assert verdict.verdict == "proven"


def test_a_branch_goes_to_the_label_of_its_own_scope() -> None:
    """Both scopes have the same labels; a branch of the second one must not go back to the first."""
    wait = "{ .reg .pred P; setp.ne.u32 P, %r2, 0; @P bra done; nanosleep.u32 5; done: }\n"
    body = wait + "st.shared.u32 [%r5], %r1;\n bar.sync 0;\n" + wait + "ld.shared.u32 %r8, [%r4];"
    (verdict,) = check(kernel(body), block=64)
    assert verdict.verdict == "proven"


def test_ten_megabytes_are_read() -> None:
    text = kernel("add.s32 %r6, %r1, 1;\n" * 2 + "// " + "x" * 10_000_000 + "\n")
    (routine,) = parse(text).kernels
    assert len(routine.body) == 8


def test_debug_sections_and_aliases_are_passed_over() -> None:
    text = (
        kernel(NEIGHBOUR.format(barrier="bar.sync 0;"))
        + '.weak .func f()\n{\n ret;\n}\n.alias g, f;\n.section .debug_str\n{\ninfo:\n.b8 107\n}\n.file 1 "k.cu"\n'
    )
    (verdict,) = check(text, block=256)
    assert verdict.verdict == "proven"


def test_a_branch_through_a_table_that_is_not_there() -> None:
    (found,) = check(kernel("        brx.idx %r1, $TABLE;"), block=64)
    assert found.verdict == "undecided" and "a table that is not known" in found.reasons[0].message
