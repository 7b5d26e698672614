"""Types that are said once: the text is another, the module is the same."""

from __future__ import annotations

from fencepost.hosts.triton.generic import generic_form, parse_live
from fencepost.hosts.triton.type_aliases import with_types_once
from tests.hosts.triton.conftest import Compile

PADDED = "#shared = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [8, 8]}>\n"
PLAIN = "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
VIEW = "!ttg.memdesc<8x8xf16, #shared, #smem, mutable>"
OTHER = "!ttg.memdesc<3x8x8xf16, #shared, #smem, mutable>"
BODY = f'''"builtin.module"() ({{
  %0 = "test.make"() {{note = "{VIEW}"}} : () -> {OTHER}
  %1 = "test.view"(%0) : ({OTHER}) -> {VIEW}
  "test.use"(%1, %1) : ({VIEW}, {VIEW}) -> ()
}}) : () -> ()
'''


def test_a_view_with_padding_is_said_once_and_strings_are_left_alone() -> None:
    head, _, body = with_types_once(PADDED + BODY).partition('"builtin.module"')
    assert head == f"{PADDED}!fencepost_0 = {OTHER}\n!fencepost_1 = {VIEW}\n"
    assert body.count(VIEW) == body.count(f'note = "{VIEW}"') == 1
    assert '"test.use"(%1, %1) : (!fencepost_1, !fencepost_1) -> ()' in body


def test_text_without_costly_types_or_with_such_names_stays() -> None:
    for text in (PLAIN + BODY, BODY, PADDED + "!fencepost_0 = i32\n" + BODY, PADDED, ""):
        assert with_types_once(text) == text


def test_the_module_is_the_same(compiled: Compile) -> None:
    live = compiled("matmul", "gfx1250", lowered=True)
    text = generic_form(live)
    assert with_types_once(text) != text
    assert parse_live(text, live.context).str() == live.str()
