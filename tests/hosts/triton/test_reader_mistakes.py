"""Text that is not a module in generic form is refused, at the place where it stops being one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.hosts.triton.mlir import read_module
from fencepost.ir.source import FencepostError
from tests.hosts.triton.test_edits import TEXT


@pytest.mark.parametrize(
    "text,place,message",
    [
        ('"builtin.module"() ({\n  tt.return\n}) : () -> ()', "2:3", "generic form"),
        (
            '"builtin.module"() ({\n  "a"(%x) : (i32) -> ()\n}) : () -> ()',
            "2:7",
            "%x is used and never defined",
        ),
        ('"builtin.module"() ({\n  "a"() : (i32) -> ()\n}) : () -> ()', "2:9", "0 operands with 1 types"),
        ('"builtin.module"() ({\n  %a:2 = "a"() : () -> i32\n}) : () -> ()', "2:3", "2 names for 1 results"),
        ('"builtin.module"() ({\n  "a"() : () -> i32\n}) : () -> ()', "2:3", "1 results without a name"),
        ('"builtin.module"() ({\n  "a"()[^b] : () -> ()\n}) : () -> ()', "2:9", "no block ^b"),
        ('"builtin.module"() ({\n^a:\n^a:\n}) : () -> ()', "3:1", "second block ^a"),
        ('"builtin.module"() ({\n^a(%x i32):\n}) : () -> ()', "2:4", "block argument"),
        ('"builtin.module"() ({\n  "a"() {b = {1 : () -> ()\n}) : () -> ()', "2:9", "never closed"),
        ('"builtin.module"() ({\n  "a"() {= 1} : () -> ()\n}) : () -> ()', "2:10", "name = value"),
        ('"builtin.module"() ({\n  "a"() -> ()\n}) : () -> ()', "2:9", "types of the operation"),
        ('"builtin.module"() ({\n  "a"() : () -> ()\n', "1:1", "never closed"),
        ('"tt.func"() ({\n}) : () -> ()', "1:1", "builtin.module"),
        ("", "1:1", "builtin.module"),
        ("}", "1:1", "generic form"),
    ],
)
def test_mistakes_are_located(text: str, place: str, message: str) -> None:
    with pytest.raises(FencepostError, match=message.replace("^", r"\^")) as error:
        read_module(text, "some.mlir")
    assert error.value.code == "FP401"
    assert str(error.value).startswith(f"some.mlir:{place}: ")


@given(st.data())
def test_damaged_text_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    text = TEXT
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 12, len(text))))
        text = text[:start] + data.draw(st.text('"(){}[]<>%^#:,=@!-/\\ a0\n', max_size=4)) + text[end:]
    try:
        module = read_module(text)
    except FencepostError as error:
        assert error.code == "FP401"
        assert error.marks[0].span is not None
    else:
        for operation in module.walk():
            # Read only now, and never a mistake.
            assert isinstance(dict(operation.attributes), dict)
            assert str(operation.location)
            assert text[operation.start : operation.extent.end].count(f'"{operation.name}"')
