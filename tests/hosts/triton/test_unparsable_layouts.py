"""Text made fit for Triton's parser, and places traced back to the text as it was."""

from __future__ import annotations

import pytest

from fencepost.hosts.triton.strip_locations import without_locations
from fencepost.hosts.triton.unparsable_layouts import repaired

WMMA = "#mma = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = %s, instrShape = [16, 16, 32]}>\n"


@pytest.mark.parametrize(
    "layout,use,expected",
    [
        ("{}", "", "ctaLayout = {warp = []}"),
        ("{}", "tensor<16x16xf32, #mma>", "true, ctaLayout = {warp = []}"),
        ("{}", "tensor<2x16x16xf32, #mma>", "rank = 3, ctaLayout = {warp = []}"),
        ("{warp = [[1, 0, 0], [2, 0, 0]]}", "", "rank = 3, ctaLayout = {warp = [[1, 0, 0], [2, 0, 0]]}"),
        ("{warp = [[0, 1], [1, 0]]}", "", "true, ctaLayout = {warp = [[0, 1], [1, 0]]}"),
    ],
)
def test_matrix_layouts(layout: str, use: str, expected: str) -> None:
    text = WMMA % layout + use
    result = repaired(text)
    assert expected in result.text
    assert repaired(result.text).text == result.text
    # Every character of the original is found again from where it went.
    at = 0
    for offset, character in enumerate(result.text):
        origin = result.original_offset(offset)
        if origin >= at and text[origin] == character:
            at = origin + 1
    assert at == len(text)


def test_other_text_is_left_alone() -> None:
    text = '"tt.func"() {a = "#ttg.amd_wmma<{ctaLayout = {}}>"} : () -> ()'
    assert repaired(text).text is text


def test_locations_give_way_to_spaces() -> None:
    text = 'a loc("x (1)":1:2) b "loc(1)" // loc(2) "\n#loc3 = loc("y"(#loc))\nc: i32 loc(callsite(#a at #b)), d\n'
    blank = without_locations(text)
    assert len(blank) == len(text)
    lines = [line.split() for line in blank.split("\n")]
    assert lines == [["a", "b", '"loc(1)"', "//", "loc(2)", '"'], [], ["c:", "i32", ",", "d"], []]


def test_a_location_that_never_ends_is_left_alone() -> None:
    assert without_locations("a loc(b") == "a loc(b"
