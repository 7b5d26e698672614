"""Comments of the text form stay where they belong; spaces, line ends and odd characters mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.ir import ops
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.printer import print_file
from tests.ir.round_trip import (
    COMMENTED,
    CRAMPED,
    assert_round_trip,
    kernel,
    only,
    structure,
)


def test_comments_stay_where_they_belong() -> None:
    trace = parse_all(COMMENTED)[0]
    loop, conditional, branch = trace.get_root_graph()
    assert isinstance(loop, ops.Iterate)
    assert isinstance(conditional, ops.Conditional)
    assert trace.buffers["a"].heading == ("behind the kernel", "above the buffer")
    assert trace.buffers["a"].comment == "behind the buffer"
    assert (loop.heading, loop.comment) == (("above the loop", ""), "behind the loop")
    (write,) = loop.body
    assert (write.heading, write.comment) == (("above the write",), "behind the write: → 日本 #2")
    assert loop.body.closing == ("end of the loop",)
    assert (conditional.heading, conditional.comment) == (("behind the loop's brace",), "behind the if")
    assert conditional.then.closing == ("end of then",)
    assert conditional.orelse.closing == ("behind the else", "nothing but this")
    assert branch.heading == ("behind the last brace of the if",)
    assert branch.comment == "behind the branch"
    entry, exit_ = trace.blocks
    assert entry.closing == ("end of the entry block",)
    (end,) = exit_
    assert end.heading == ("behind the label",)
    assert exit_.closing == ("end of the kernel", "behind the kernel's brace")


def test_no_comment_is_lost_and_their_order_is_kept() -> None:
    def comments(text: str) -> list[str]:
        return [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line]

    printed = print_file(parse_all(COMMENTED))
    assert comments(printed) == comments(COMMENTED)
    assert_round_trip(COMMENTED)


def test_comments_around_kernels_belong_to_the_file() -> None:
    first, second = parse_all(COMMENTED)
    assert first.heading == ("# A file begins.", "", "# Two paragraphs.")
    assert second.heading == ("# between the kernels",)
    assert second.closing == ("# A file ends.",)
    assert str(first).startswith("kernel @k")
    assert str(second).endswith("}\n")


PLAIN = kernel("loop %i in 0..4 step 2 {", "  %x = read %a[%i][0..8]  # → why", "}", "mma %x")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("  ", "\t"),
        PLAIN.replace(" ", "\t \t").replace("→\t \twhy", "→ why"),
        PLAIN.rstrip("\n"),
        PLAIN.replace("\n", "   \n"),
        PLAIN.replace("\n", "\n\n   \n\t\n"),
        "\n\n\r\n  " + PLAIN + "\n\n  ",
        CRAMPED,
    ],
    ids=[
        "crlf",
        "tabs",
        "wide",
        "no newline at the end",
        "trailing spaces",
        "empty lines",
        "around",
        "cramped",
    ],
)
def test_spacing_means_nothing(text: str) -> None:
    assert str(parse(text)) == PLAIN


def test_line_ends_of_other_systems_do_not_reach_comments() -> None:
    trace = parse(COMMENTED.partition("# between")[0].replace("\n", "\r\n"))
    assert "\r" not in str(trace)
    assert "\r" not in print_file([trace])


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_any_comment_survives(comment: str) -> None:
    text = kernel(f"read %a  # {comment}", f"# {comment}")
    printed = str(parse(text))
    assert str(parse(printed)) == printed
    assert structure(parse(printed)) == structure(parse(text))
    assert only(f"read %a  # {comment}").comment == comment.strip()
