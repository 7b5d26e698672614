"""How many iterations of each loop a simulated path runs.

A loop whose trip count is known runs in full, or is cut short if it is long. Where index expressions repeat with a
period, what is left keeps the remainder, so that the last simulated iteration touches the slots that the real last
one would. A loop of unknown length runs every number of times from none to a few.
"""

from __future__ import annotations

from math import lcm

from fencepost.check.iteration_folds import loop_period, orbit_of
from fencepost.check.loop_context import Context
from fencepost.check.parameter_values import Given
from fencepost.check.report import Explored
from fencepost.flow import Loop

LONG = 256
"""A loop with a known trip count up to this runs in full."""
MOST_OF_UNKNOWN = 3
"""The largest trip count tried for a loop of unknown length, if nothing in it repeats later."""
MOST_OF_BLOCKS = 8
"""The same for a loop of labelled blocks that forward numbers."""


def trip_count(loop: Loop, given: Given) -> int | None:
    """How often a loop runs, if that is known with the values that the kernel is given."""
    if loop.op is not None and loop.op.upto:
        return len(range(loop.op.start, given[loop.op.upto], loop.op.step))
    return loop.trip if loop.op is not None else None


def most_iterations(loop: Loop, given: Given, period: int, context: Context, explored: Explored) -> int:
    """How many iterations of a loop are simulated at most."""
    trip = trip_count(loop, given)
    if trip is None:
        most = max(MOST_OF_UNKNOWN, min(period + 1, 12))
        if loop.op is None and context.names(context.flow.blocks[loop.header]).handed:
            # Numbers that blocks forward: slots repeat, after how many iterations is not worked out.
            most = max(most, MOST_OF_BLOCKS)
        return most
    if trip <= LONG:
        return trip
    explored.cut("long loops are cut short")
    return shortened(trip, period)


def shortened(trip: int, period: int) -> int:
    """How many iterations of a long loop are simulated: it ends where it would."""
    return LONG - (LONG - trip) % period


def common_period(context: Context) -> int:
    """After how many iterations the loops that repeat do so, all of them together."""
    periods = []
    for loop in context.flow.loops:
        if loop.op is not None:
            names = context.names(context.flow.blocks[loop.header])
            period = loop_period(loop.op, names)
            if period is not None:
                orbit = orbit_of(loop.op, names, period)
                periods += [period, orbit[1] if orbit is not None else 1]
    return min(lcm(*periods), 24)
