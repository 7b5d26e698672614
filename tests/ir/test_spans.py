"""Spans: what a message underlines is exactly the statement."""

from __future__ import annotations

import pytest

from fencepost.ir.parser import parse, parse_all
from fencepost.ir.printer import locate, statement
from fencepost.ir.source import Span
from tests.ir.round_trip import (
    COMMENTED,
    CRAMPED,
    EVERYTHING,
    kernel,
)
from tests.random_kernels import random_text
from tests.tiers import sweep


def spanned(text: str, span: Span | None) -> str:
    assert span is not None
    assert span.line == span.end_line
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize("seed", sweep(range(0, 500, 5), first=20))
def test_spans_underline_exactly_the_statement(seed: int) -> None:
    text = random_text(seed, EVERYTHING)
    trace = parse(text)
    for op in trace.preorder_walk():
        assert spanned(text, op.span) == statement(op).removesuffix(" {")
    for buffer in trace.buffers.values():
        assert spanned(text, buffer.span) == str(buffer)


def test_spans_leave_out_comments_braces_and_spaces() -> None:
    trace = parse_all(COMMENTED)[0]
    for op in trace.preorder_walk():
        assert spanned(COMMENTED, op.span) == statement(op).removesuffix(" {")
    cramped = [spanned(CRAMPED, op.span) for op in parse(CRAMPED).preorder_walk()]
    assert cramped == ["loop%i in 0 .. 4 step 2", "%x=read%a[%i][0..8]", "mma%x"]


def test_spans_with_tabs_and_carriage_returns() -> None:
    text = kernel("loop %i in 0..2 {", "\t\tread  %a", "}").replace("\n", "\r\n")
    loop, read = parse(text).preorder_walk()
    assert spanned(text, loop.span) == "loop %i in 0..2"
    assert spanned(text, read.span) == "read  %a"


def test_printed_kernels_know_where_their_operations_stand() -> None:
    trace = parse_all(COMMENTED)[0]
    source, spans = locate(trace)
    assert source.text == str(trace)
    for op in trace.preorder_walk():
        assert spanned(source.text, spans[op]) == statement(op).removesuffix(" {")
