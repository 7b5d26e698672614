"""Numbers with which two footprints meet, looked for by trying some: cheaper than asking isl, and no less certain.

Tried are the first iterations, the last ones, and some in between that depend on nothing but the attempt. Finding
nothing says nothing.
"""

from __future__ import annotations

import random
from typing import Protocol

from fencepost.ir.expr import LANE, Expr, evaluate, lanes_in

ATTEMPTS = 20
LATER, SAME = "later", "same"
"""See `isl_overlap`."""
UNBOUNDED = 1 << 20
"""Iterations of a loop of unknown length that are tried."""
NEAR = 8
"""Iterations that are tried more often than others: rings come round soon."""


class Shape(Protocol):
    """One access: its first byte and the one behind its last, and what the variables in these can be."""

    @property
    def lo(self) -> Expr:
        """The first byte."""

    @property
    def hi(self) -> Expr:
        """The one behind the last."""

    @property
    def ranges(self) -> tuple[tuple[str, int, int | None, int], ...]:
        """Name, start, stop and step of each loop, outermost first."""


def meet_somewhere(
    one: Shape, other: Shape, relations: tuple[str, ...], same_wave: bool | None, waves: int
) -> bool:
    """Whether some of the numbers that are tried let the two touch a common byte."""
    rng = random.Random(0)
    lanes = [max(1, lanes_in((shape.lo, shape.hi))) for shape in (one, other)]
    for attempt in range(ATTEMPTS):
        rounds = _rounds(one, other, relations, attempt, rng)
        if rounds is None:
            continue
        first = rng.randrange(waves)
        second = first if same_wave else rng.randrange(waves)
        if same_wave is False and first == second:
            if waves == 1:
                return False
            second = (first + 1) % waves
        mine = _bytes(one, rounds[0], first, rng.randrange(lanes[0]))
        theirs = _bytes(other, rounds[1], second, rng.randrange(lanes[1]))
        if mine is not None and theirs is not None and mine[0] < theirs[1] and theirs[0] < mine[1]:
            return True
    return False


def _rounds(
    one: Shape, other: Shape, relations: tuple[str, ...], attempt: int, rng: random.Random
) -> tuple[list[int], list[int]] | None:
    """The iterations of the loops around each of the two; None if there are none that fit."""
    mine, theirs = [], []
    for place, (_, start, stop, step) in enumerate(one.ranges):
        relation = relations[place] if place < len(relations) else ""
        count = UNBOUNDED if stop is None else len(range(start, stop, step))
        # The later one needs an iteration of its own.
        here = _round(count - (relation == LATER), attempt, rng)
        if here is None:
            return None
        mine.append(here)
        if relation == SAME:
            theirs.append(here)
        elif relation == LATER:
            theirs.append(here + 1 + (_round(count - here - 1, attempt, rng) or 0))
        elif relation:
            there = _round(count, attempt, rng)
            theirs.append(0 if there is None else there)
    for _, start, stop, step in other.ranges[len(theirs) :]:
        there = _round(UNBOUNDED if stop is None else len(range(start, stop, step)), attempt, rng)
        if there is None:
            return None
        theirs.append(there)
    return mine, theirs


def _round(count: int, attempt: int, rng: random.Random) -> int | None:
    """One of so many iterations."""
    if count <= 0:
        return None
    if attempt == 0:
        return 0
    if attempt == 1:
        return count - 1
    return rng.randrange(min(count, NEAR) if attempt % 4 else count)


def _bytes(shape: Shape, rounds: list[int], wave: int, lane: int) -> tuple[int, int] | None:
    """The bytes that are touched; None if that is not known, or there are none."""
    env = {LANE: lane}
    for (name, start, _, step), here in zip(shape.ranges, rounds, strict=True):
        env[name] = start + step * here
    lo, hi = evaluate(shape.lo, env, wave), evaluate(shape.hi, env, wave)
    return (lo, hi) if lo is not None and hi is not None and lo < hi else None
