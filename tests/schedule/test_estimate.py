"""What a schedule does for the matrix unit, and that it is left alone where it does nothing."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from fencepost.check import check
from fencepost.ir.parser import parse
from fencepost.passes.schedule import compare, estimate, schedule_if_it_pays
from fencepost.schedule import Constraints, Tile, constraints_for, schedule_reordering
from fencepost.schedule.gemm import async_gemm, prefetch_gemm
from fencepost.timing import draw_comparison
from fencepost.timing.comparison import window
from tests.schedule.kernels import small


def test_the_matrix_unit_is_busier_in_the_default_kernel() -> None:
    compared = compare(prefetch_gemm(), Constraints())
    assert compared.best == "two-pp"
    assert compared.after["two-pp"].utilisation > 1.3 * compared.before.utilisation
    assert {name: error.code for name, error in compared.refusals.items()} == {
        "two-pp-async": "FP502", "four-pp": "FP504",
    }  # fmt: skip
    assert not compared.after["two-pp"].timing.deadlock


def test_it_is_busier_with_copies_and_with_four_clusters_too() -> None:
    constraints = constraints_for(target="gfx950")
    compared = compare(async_gemm(constraints), constraints)
    assert compared.after["two-pp-async"].utilisation > compared.before.utilisation
    constraints = constraints_for(Tile(256, 256, 64))
    compared = compare(prefetch_gemm(constraints), constraints)
    assert compared.after["four-pp"].utilisation > compared.before.utilisation


def test_the_gain_comes_from_the_shift() -> None:
    shifted = prefetch_gemm()
    schedule_reordering(shifted)
    in_step = parse(re.sub(r"  if wave [<>].*\n.*\n  }\n", "", str(shifted)))
    assert check(in_step).ok and "if wave" not in str(in_step)
    assert estimate(shifted, "gfx942").utilisation > 1.3 * estimate(in_step, "gfx942").utilisation


def test_where_no_two_waves_share_a_simd_it_does_not_pay() -> None:
    constraints = constraints_for(waves=4)
    trace = prefetch_gemm(constraints)
    before = str(trace)
    result, compared = schedule_if_it_pays(trace, constraints)
    assert compared is not None
    assert compared.after["two-pp"].utilisation <= compared.before.utilisation
    assert result.strategy == "none"
    assert str(trace) == before


def test_a_kernel_without_enough_to_multiply_stays_as_it_is() -> None:
    trace = small()
    result, compared = schedule_if_it_pays(trace, constraints_for(None))
    assert compared is not None and compared.best == "none"
    assert result.strategy == "none" and not result.added
    assert str(trace) == str(small())


def test_a_kernel_that_nothing_fits_has_nothing_to_compare() -> None:
    result, compared = schedule_if_it_pays(small(waves=7), constraints_for(None, 7))
    assert compared is None
    assert {error.code for _, error in result.refusals} == {"FP505"}
    assert all(error.source is None for _, error in result.refusals)


# ---------------------------------------------------------------- the picture


@pytest.mark.parametrize("trip", [0, 1, 3, None])
def test_the_picture_shows_a_later_iteration_or_the_whole_of_a_short_run(trip: int | None) -> None:
    compared = compare(prefetch_gemm(trip=trip), Constraints(), ["two-pp"])
    pair = [(each.timing, each.loop) for each in (compared.before, compared.after["two-pp"])]
    for timing, loop in pair:
        start, end = window(timing, loop)
        assert 0 <= start < end <= timing.cycles
        assert (start > 0) is (trip is None)
    picture = ElementTree.fromstring(draw_comparison(pair[0], pair[1], ("a < b", "after")))
    names = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert names.count("a < b") == names.count("after") == 1
