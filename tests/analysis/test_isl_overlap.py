"""Footprints as integer sets: what the solver says against counting it out."""

from __future__ import annotations

import random
from itertools import product

import pytest

from fencepost.analysis.access import Region
from fencepost.analysis.isl_overlap import ANY, LATER, SAME, Side, Solver
from fencepost.analysis.slot_periods import MOST_ROUNDS, rounds_of
from fencepost.analysis.symbolic_footprints import Footprint, Range, narrowed
from fencepost.ir.expr import Compare, Const, Expr, Select, Unknown, Var, Wave, evaluate
from tests.tiers import sweep

WITHIN = Region(1, -(10**6), 10**6)
WAVES = 2


def random_expr(rng: random.Random, names: list[str], depth: int = 2) -> Expr:
    """A quasi-affine expression."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([Const(rng.randrange(-2, 9)), Wave(), *(Var(name) for name in names)])
    one, other = random_expr(rng, names, depth - 1), random_expr(rng, names, depth - 1)
    number = Const(rng.choice([1, 2, 3, 4]))
    return rng.choice([
        one + other, one - other, one * number, number * one, one % number, one // number, one ^ number,
        Select(Compare(rng.choice(["<", "<=", "==", "!=", ">", ">="]), one, other), other, one),
    ])  # fmt: skip


def random_side(rng: random.Random, ranges: tuple[Range, ...]) -> Side:
    lo = random_expr(rng, [r.name for r in ranges])
    return Side(Footprint(1, lo, lo + rng.choice([1, 1, 2, 4]), WITHIN), ranges)


def random_ranges(rng: random.Random) -> tuple[Range, ...]:
    found = []
    for number in range(rng.choice([0, 1, 1, 2])):
        start, step = rng.randrange(3), rng.choice([1, 1, 2])
        found.append(Range(number, f"i{number}", start, start + step * rng.randint(1, 4), step))
    return tuple(found)


def points(side: Side, wave: int) -> list[tuple[tuple[int, ...], int, int]]:
    """Every iteration with the bytes that are touched in it."""
    found = []
    for values in product(*(range(r.start, r.stop or 0, r.step) for r in side.ranges)):
        env = {r.name: value for r, value in zip(side.ranges, values, strict=True)}
        lo, hi = evaluate(side.footprint.lo, env, wave), evaluate(side.footprint.hi, env, wave)
        assert lo is not None and hi is not None
        found.append((values, lo, hi))
    return found


def meet(one: Side, other: Side, relations: tuple[str, ...], same_wave: bool | None) -> bool:
    """The same by counting it out."""
    for first, second in product(range(WAVES), repeat=2):
        if same_wave is not None and (first == second) is not same_wave:
            continue
        for (mine, lo, hi), (theirs, begin, end) in product(points(one, first), points(other, second)):
            ordered = all(
                relation == ANY or (a == b if relation == SAME else a < b)
                for relation, a, b in zip(relations, mine, theirs, strict=False)
            )
            if ordered and lo < end and begin < hi:
                return True
    return False


@pytest.mark.parametrize("chunk", sweep(range(6), first=1))
def test_the_solver_is_exact(chunk: int) -> None:
    """Nothing is called disjoint that meets, and nothing meets that is disjoint."""
    met = 0
    for seed in range(chunk * 100, (chunk + 1) * 100):
        rng = random.Random(seed)
        ranges = random_ranges(rng)
        one, other = random_side(rng, ranges), random_side(rng, ranges)
        relations = tuple(rng.choice([SAME, LATER, ANY]) for _ in ranges)
        same_wave = rng.choice([None, True, False])
        expected = meet(one, other, relations, same_wave)
        met += expected
        assert Solver(WAVES).can_meet(one, other, relations, same_wave) is expected, seed
    assert 10 < met < 90


def test_the_interval_holds_every_byte() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        ranges = random_ranges(rng)
        side = random_side(rng, ranges)
        within = narrowed(side.footprint, {r.name: r for r in ranges}, WAVES).within
        for wave in range(WAVES):
            for _, lo, hi in points(side, wave):
                assert within.lo <= lo and hi <= within.hi, seed


def test_what_cannot_be_asked_can_meet() -> None:
    i, j = Var("i0"), Var("i1")
    ranges = (Range(0, "i0", 0, 4, 1), Range(1, "i1", 0, 4, 1))
    for lo in (i * j, i // j, i % j, i + Unknown(), Const(1) ^ i):
        side = Side(Footprint(1, lo, lo + 1, WITHIN), ranges)
        assert Solver(WAVES).can_meet(side, side, (LATER, ANY), None)


@pytest.mark.parametrize("large", [2**63 - 1, 2**63, 2**64, 2**100])
def test_numbers_longer_than_a_machine_word(large: int) -> None:
    i = Var("i0")
    ranges = (Range(0, "i0", 0, 999, 1),)

    def meets(lo: Expr, other: Expr) -> bool:
        sides = [Side(Footprint(1, at, at + 1, WITHIN), ranges) for at in (lo, other)]
        return Solver(WAVES).can_meet(sides[0], sides[1], (ANY,), None)

    even = i * 2
    for alike in (
        i % large,
        i + large - large,
        i + i // large,
        Select(Compare("<", i, Const(large)), i, even),
    ):
        assert not meets(even, alike * 2 + 1)
        assert meets(even, alike * 2)
    assert not meets(i, i + large)
    far = (Range(0, "i0", 0, None, large),)
    once = [Side(Footprint(1, i + n, i + n + 1, WITHIN), far) for n in (0, 1)]
    assert not Solver(WAVES).can_meet(once[0], once[1], (ANY,), None)


def test_a_question_that_takes_too_long_is_answered_with_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.analysis.isl_overlap.MOST_OPERATIONS", 1)
    i = Var("i0")
    side = Side(Footprint(1, i * 3 + 12345, i * 3 + 12346, WITHIN), (Range(0, "i0", 0, 999, 1),))
    solver = Solver(WAVES)
    assert solver.can_meet(side, side, (LATER,), None)
    assert solver.asked == solver.solved == 1


@pytest.mark.parametrize("chunk", sweep(range(4), first=1))
def test_iterations_that_stand_for_others_look_like_them(chunk: int) -> None:
    """Going round the followed iterations gives, step by step, the values of the loop itself."""
    for seed in range(chunk * 150, (chunk + 1) * 150):
        rng = random.Random(seed)
        start, step, trip = rng.randrange(-2, 3), rng.choice([1, 1, 2, 3]), rng.choice([1, 5, 40, 200, None])
        parts = [random_expr(rng, ["i"]) % rng.choice([2, 3, 4]) for _ in range(2)]
        rounds = rounds_of("i", start, step, trip, parts)
        if rounds is None:
            continue
        assert rounds.count <= MOST_ROUNDS
        here = {start} if trip != 0 else set()
        for k in range(trip if trip is not None else 60):
            actual = start + step * k
            alike = [
                value
                for value in here
                if all(evaluate(part, {"i": value}, 1) == evaluate(part, {"i": actual}, 1) for part in parts)
            ]
            assert alike, f"seed {seed}: nothing that is followed looks like iteration {k}"
            last = trip is not None and k == trip - 1
            assert not last or any(rounds.following(value)[1] for value in alike), f"seed {seed}: cannot end"
            here = {following for value in alike for following in rounds.following(value)[0]}
