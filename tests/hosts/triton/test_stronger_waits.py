"""Waits that are too weak: which one is made stronger, and by how much."""

from __future__ import annotations

import pytest

from fencepost.analysis.build_program import read_program
from fencepost.check import check
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.text_edits import apply_edits
from fencepost.hosts.triton.translate import Translation, translate
from fencepost.hosts.triton.write_back import synchronized
from fencepost.ir.source import FencepostError
from fencepost.placement.stronger_waits import strengthen
from tests.hosts.triton.modules import BYTES, module, statements, translated

COPY = """
%{name} = ttg.async_copy_global_to_local %p, %{slot} : <POINTERS> -> <TILE>
%{name}_done = ttg.async_commit_group tokens %{name}
"""
SLOTS = """
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <RING>
%v = ttg.memdesc_index %m[%zero] : <RING> -> <TILE>
%w = ttg.memdesc_index %m[%one] : <RING> -> <TILE>
"""


def copied(first: int | None, second: int | None) -> Translation:
    """Two copies, each followed by a wait and a read of what was copied."""
    waits = [
        f"%t{place} = ttg.async_wait {{num = {count} : i32}}" if count is not None else ""
        for place, count in enumerate((first, second))
    ]
    body = [
        SLOTS,
        COPY.format(name="a", slot="v"),
        COPY.format(name="b", slot="w"),
        waits[0],
        "%x1 = ttg.local_load %v : <TILE> -> <TENSOR>",
        waits[1],
        "%x2 = ttg.local_load %w : <TILE> -> <TENSOR>",
        "tt.return",
    ]
    return translated(module("\n".join(body), shared=3 * BYTES))


def counts(translation: Translation) -> list[str]:
    return [line for line in statements(translation) if line.startswith("wait_count")]


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        ((2, 0), (1, 0)),
        ((2, 2), (1, 0)),
        ((1, 1), (1, 0)),
        # The first wait is for the first copy: the second does not have to be as strong as it could be.
        ((0, 1), (0, 1)),
        ((1, 0), (1, 0)),
    ],
)
def test_counts_are_lowered_as_little_as_is_enough(given: tuple[int, int], needed: tuple[int, int]) -> None:
    kernel = copied(*given)
    found = strengthen(read_program(kernel.trace, completion=False))
    assert counts(kernel) == [f"wait_count copy={count}" for count in needed]
    lowered = [(old, new) for old, new in zip(given, needed, strict=True) if old != new]
    assert [(each.before, each.now) for each in found] == lowered


def test_a_wait_that_is_missing_is_not_put_in() -> None:
    kernel = copied(None, 2)
    assert strengthen(read_program(kernel.trace, completion=False)) == []
    assert counts(kernel) == ["wait_count copy=2"]
    with pytest.raises(FencepostError, match="wait is missing or too weak"):
        synchronized(kernel)


def test_the_module_with_stronger_waits_is_clean() -> None:
    kernel = copied(2, 2)
    with pytest.warns(RuntimeWarning, match=r"{num = 2} became 1; .*{num = 2} became 0"):
        edits, _ = synchronized(kernel)
    again = read_module(apply_edits(kernel.module, edits))
    assert check(translate(again, again.functions()[0]).trace).ok


def test_waits_that_are_strong_enough_stay_and_nobody_is_warned(recwarn: pytest.WarningsRecorder) -> None:
    kernel = copied(1, 0)
    synchronized(kernel)
    assert counts(kernel) == ["wait_count copy=1", "wait_count copy=0"]
    assert not recwarn.list
