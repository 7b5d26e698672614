"""What Python would swallow: conditions that it decides itself, numbers that are none, regions that nobody opens.

A builder's mistakes are refused where they are made. None may leave a kernel that differs from what was written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import fencepost as fp
from fencepost.ir.buffers import Buffer
from fencepost.ir.expr import Expr, Unknown, Var

Attempt = Callable[[Any, Any, Any], object]
"""Given a builder in a loop of 8, a buffer of 4 slots of 64 bytes, and the loop's variable."""

OPEN: list[object] = []
"""Loops that stay open: one that is dropped is closed."""


def in_a_loop() -> tuple[fp.Kernel, Buffer, Expr]:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", slots=4, bytes=64)
    OPEN.append(loop := k.loop("i", trip=8))
    return k, a, loop.__enter__()


def refused(attempt: Attempt) -> str:
    """What the builder says; nothing is left in the kernel."""
    k, a, i = in_a_loop()
    before = str(k)
    with pytest.raises(fp.FencepostError) as caught:
        attempt(k, a, i)
    assert isinstance(caught.value, TypeError), "Python's own word for it"
    k._unopened.clear()
    assert str(k) == before
    return str(caught.value)


def test_a_comparison_in_a_string_is_no_name() -> None:
    k, _, _ = in_a_loop()
    with (
        pytest.raises(fp.FencepostError, match=r"'wave < 4' is no condition.*`k.cond\(fp.wave < 4\)`"),
        k.cond("wave < 4"),
    ):
        pass


def test_a_chain_of_comparisons_does_not_lose_its_first_part() -> None:
    """The barrier would be met by all waves in iterations below 8, and the race in iteration 0 be called clean."""
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    with k.loop("i", trip=8) as i:
        k.write(a)
        with pytest.raises(fp.FencepostError, match=r"one conditional in another"), k.cond(0 < i < 8):
            k.barrier()
        with k.cond(i > 0), k.cond(i < 8):
            k.barrier()
        k.read(a)
    assert str(k).count("if ") == 2
    assert not fp.check(k).ok


@pytest.mark.parametrize(
    "attempt",
    [
        lambda k, a, i: k.cond(i > 0 and i < 8),
        lambda k, a, i: k.cond(i < 2 or i > 4),
        lambda k, a, i: k.cond(not i < 8),
        lambda k, a, i: k.cond((i > 0) & (i < 8)),
        lambda k, a, i: k.cond((i < 0) | (i > 8)),
        lambda k, a, i: k.cond(~(i < 8)),
        lambda k, a, i: k.barrier() if i < 8 else None,
        lambda k, a, i: [k.barrier() for _ in "x" if i > 2],
        lambda k, a, i: any([i < 2, i > 4]),
        lambda k, a, i: min(i, 3),
        lambda k, a, i: sorted([fp.wave, i]),
        lambda k, a, i: k.cond_br(0 < i < 8, "x", "y"),
    ],
)
def test_python_cannot_decide_a_condition(attempt: Attempt) -> None:
    assert "k.cond(" in (said := refused(attempt)) or "orelse()" in said


@pytest.mark.parametrize(
    "attempt",
    [
        lambda k, a, i: k.write(a) if fp.wave == 0 else None,
        lambda k, a, i: k.write(a) if i != 0 else None,
        lambda k, a, i: k.write(a) if i % 2 == 0 else None,
        lambda k, a, i: k.write(a) if i in (1, 2) else None,
        lambda k, a, i: k.write(a) if i in range(3) else None,
        lambda k, a, i: k.write(a) if i == 1.0 else None,
        lambda k, a, i: k.cond(i == 0),
    ],
)
def test_an_expression_is_not_equal_to_a_number_or_different_from_it(attempt: Attempt) -> None:
    assert ".equals(" in refused(attempt)


def test_expressions_compare_as_data() -> None:
    assert Var("i") + 1 == Var("i") + 1 != Var("i") + 2
    assert Var("i") != Unknown() and Unknown() == Unknown()
    assert len({Var("i"), Var("i"), fp.wave, fp.lane}) == 3
    assert Var("i") != "i" and (Var("i") == None) is False  # noqa: E711


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda k, a, i: k.barrier() if i else None, "cannot tell whether it is zero"),
        (lambda k, a, i: list(a), "for s in range(4): a[s]"),
        (lambda k, a, i: 0 in a, "holds bytes"),
        (lambda k, a, i: list(i), "one number"),
        (lambda k, a, i: k.read(a[0:2]), "a.bytes(lo, hi)"),
        (lambda k, a, i: k.read(a[i, 0]), "whole number"),
        (lambda k, a, i: k.read(a[1.0]), "whole number, not 1.0 (float)"),
        (lambda k, a, i: k.read(a[True]), "whole number, not True (bool)"),
        (lambda k, a, i: k.read(a[None]), "whole number"),
        (lambda k, a, i: k.read(a[i < 2]), "is a condition"),
        (lambda k, a, i: k.read(a[i / 2]), "`//` divides whole numbers"),
        (lambda k, a, i: k.read(a[(i + 0.5) % 4]), "whole number"),
        (lambda k, a, i: k.read(a.bytes(0, 4.0)), "whole number"),
        (lambda k, a, i: k.shared("b", bytes=64.0), "size of a slot is a whole number"),
        (lambda k, a, i: k.shared("b", bytes="64"), "whole number"),
        (lambda k, a, i: k.shared("b", bytes=64, slots=1.5), "number of slots"),
        (lambda k, a, i: k.shared("b", bytes=64, offset=0.5), "address"),
        (lambda k, a, i: k.shared(5, bytes=64), "a name is a string"),
        (lambda k, a, i: fp.Kernel("x", waves=2.0), "number of waves"),  # type: ignore[arg-type]
        (lambda k, a, i: fp.Kernel("x", waves=True), "number of waves"),
        (lambda k, a, i: k.loop("j", trip=2.5).__enter__(), "trip count"),
        (lambda k, a, i: k.loop("j", trip=True).__enter__(), "trip count"),
        (lambda k, a, i: k.loop("j", trip=4, start=0.5).__enter__(), "start"),
        (lambda k, a, i: k.loop("j", trip=4, step=0.5).__enter__(), "step"),
        (lambda k, a, i: k.loop("j", carry=["x"]), "carry={'x': 0}"),
        (lambda k, a, i: k.cond("c", gives="xy"), "a list of names"),
        (lambda k, a, i: k.wait_count(load=0.5), "count of 'load'"),
        (lambda k, a, i: k.barrier(load=True), "count of 'load'"),
        (lambda k, a, i: k.barrier(wait_async_ops="no"), "True or False"),
        (lambda k, a, i: k.barrier(waves=(0, 2)), "barrier_of(first, end)"),
        (lambda k, a, i: k.signal(1.5), "barrier's id"),
        (lambda k, a, i: k.set_wave_prio("high"), "priority"),
        (lambda k, a, i: k.mbarrier_init(a[0], count=1.5), "'count'"),
        (lambda k, a, i: k.mbarrier_wait(a[0], phase=0.5), "whole number"),
        (lambda k, a, i: k.br("x", 0.5), "whole number"),
        (lambda k, a, i: k.read("a"), "no buffer"),
        (lambda k, a, i: k.read([a]), "no buffer"),
        (lambda k, a, i: k.write(a[0], 1), "no buffer and no part of one"),
        (lambda k, a, i: k.gather_to_lds(a[0], a[1]), "a value is wanted"),
        (lambda k, a, i: k.mma(a), "a value is wanted"),
        (lambda k, a, i: k.mma(None), "a value is wanted"),
        (lambda k, a, i: k.call("f"), "no function"),
        (lambda k, a, i: k.put("barrier"), "no operation"),
        (lambda k, a, i: fp.check(str(k)), "fp.parse(text)"),  # type: ignore[arg-type]
        (lambda k, a, i: fp.check(fp.parse_all(str(k))), "one kernel at a time"),  # type: ignore[arg-type]
        (lambda k, a, i: fp.check(fp.FunctionBuilder("f")), "the kernel that calls it"),  # type: ignore[arg-type]
        (lambda k, a, i: fp.insert_barriers(None), "no trace of a kernel"),  # type: ignore[arg-type]
        (lambda k, a, i: fp.parse(k), "is a string"),
    ],
)
def test_what_means_nothing_is_refused_by_name(attempt: Attempt, words: str) -> None:
    assert words in refused(attempt)


@pytest.mark.parametrize("option", ["budget", "paths"])
def test_a_check_of_nothing_is_no_check(option: str) -> None:
    k, _, _ = in_a_loop()
    with pytest.raises(fp.FencepostError, match=f"'{option}' is a number from 1"):
        fp.check(k, **{option: 0})


# ---------------------------------------------------------------- regions that nobody opens


@pytest.mark.parametrize(
    "opened",
    [lambda k, i: k.cond(i < 4), lambda k, i: k.loop("j", trip=4)],
)
def test_a_region_is_opened_by_with(opened: Callable[[Any, Any], object]) -> None:
    """Called alone it would do nothing, and what was to stand in it would be run always, or once."""
    for goes_on in (
        lambda k, a: k.barrier(),
        lambda k, a: k.read(a),
        lambda k, a: k.shared("b", bytes=4),
        lambda k, a: k.trace,
        lambda k, a: fp.check(k),
    ):
        k, a, i = in_a_loop()
        opened(k, i)
        with pytest.raises(fp.FencepostError, match="`with` opens it"):
            goes_on(k, a)


def test_the_other_side_is_opened_by_with() -> None:
    k, a, i = in_a_loop()
    with k.cond(i < 4) as first:
        k.read(a)
    first.orelse()
    with pytest.raises(fp.FencepostError, match="`with` opens it"):
        k.write(a)


def test_a_region_is_opened_once() -> None:
    k, a, i = in_a_loop()
    half = k.cond(i < 4)
    with half:
        k.read(a)
    with pytest.raises(fp.FencepostError, match="a second time"), half:
        k.write(a)


def test_regions_can_be_made_before_they_are_opened() -> None:
    k = fp.Kernel("k", waves=4)
    outer, inner = k.loop("i", trip=2), k.loop("j", trip=2)
    with outer, inner:
        k.compute()
    assert "loop %i in 0..2 {\n    loop %j in 0..2 {\n      compute" in str(k)


def test_a_function_with_a_region_that_nobody_opens_is_not_called() -> None:
    k, f = fp.Kernel("k", waves=4), fp.FunctionBuilder("f")
    f.loop("j", trip=2)
    with pytest.raises(fp.FencepostError, match="`with` opens it"):
        k.call(f)


# ---------------------------------------------------------------- what is taken


class Three:
    """An integer of another library."""

    def __index__(self) -> int:
        return 3


def test_integers_of_other_libraries_are_integers() -> None:
    three: Any = Three()
    k = fp.Kernel("k", waves=three)
    a = k.shared("a", slots=three, bytes=three, offset=three)
    with k.loop("i", trip=three, start=three, step=three) as i:
        k.read(a[(i * three) % three].bytes(0, three))
        k.wait_count(load=three)
    text = str(k)
    assert "waves=3" in text and "3 x 3 at 3" in text and "in 3..12 step 3" in text
    assert "read %a[%i * 3 % 3][0..3]" in text and "load=3" in text
    assert str(fp.parse(text)) == text


def test_numbers_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    k, a, i = in_a_loop()
    k.read(a[numpy.int64(3)])
    k.read(a[numpy.int32(2) * i % 4])
    assert "read %a[3]" in str(k) and "read %a[2 * %i % 4]" in str(k)
    with pytest.raises(fp.FencepostError, match="one conditional in another"):
        k.cond(numpy.int64(0) < i < 3)
    with pytest.raises(fp.FencepostError, match=r"\.equals"):
        k.cond(numpy.int64(0) == i)


def test_a_part_of_a_part_is_counted_from_where_that_begins() -> None:
    k, a, i = in_a_loop()
    k.read(a[0].bytes(16, 48).bytes(8, 16))
    k.read(a[0].bytes(i * 4, i * 4 + 4).bytes(0, 2))
    assert "read %a[0][24..32]" in str(k) and "read %a[0][%i * 4..%i * 4 + 2]" in str(k)
    for lo, hi in ((0, 33), (-1, 8), (16, 8)):
        with pytest.raises(fp.FencepostError, match="is no part of"):
            a[0].bytes(16, 48).bytes(lo, hi)


def test_a_builder_stands_for_its_kernel() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    k.write(a)
    k.read(a)
    assert len(fp.check(k).races) == 1
    assert len(fp.get_barriers_analysis(k)) == 1
    assert len(fp.insert_barriers(k).barriers) == 1
    fp.add_shared_memory_barriers(k)
    assert len(fp.explain_barriers(k).barriers) == 1
    assert fp.prune_barriers(k).removed == []
    assert fp.check(k).ok and str(k) == str(k.trace)
    fp.populate_barriers_counters(k)
    fp.add_async_dependencies(k)
    assert fp.schedule_reordering(k).loop is None
