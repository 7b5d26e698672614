"""Copies of a thread that the thread itself does not wait for: `cp.async` writes some time, also for who issued it.

Every access that comes after a copy, with no wait between that completes it, must touch other bytes."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.hosts.ptx.proof.copies_in_flight import CopiesInFlight
from fencepost.hosts.ptx.proof.intervals import Interval, Iteration, Place, Reached
from fencepost.hosts.ptx.proof.race_questions import Outcome
from fencepost.hosts.ptx.proof.races import Races
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import ENTRY, Flow


def ask_about_own_copies(flow: Flow, races: Races, outcome: Outcome) -> None:
    """Adds the accesses that may touch what a copy of the same thread has not written yet."""
    accesses = dict(_accesses(flow))
    for place, copies in CopiesInFlight(flow, accesses.keys()).in_flight().items():
        interval = Interval((ENTRY, 0, ()), (accesses[place], *copies), {})
        races.own_copies(interval, outcome)


def _accesses(flow: Flow) -> Iterator[tuple[Place, Reached]]:
    """The accesses that are no copies, each in the iterations in which a thread comes to it."""
    for number in flow.order:
        around = {loop.header: Iteration("start") for loop in flow.loops_around(number)}
        for index, instruction in enumerate(flow.blocks[number].instructions):
            for access in effect(instruction).accesses:
                if access.kind != "copy":
                    place = Place(number, index)
                    yield place, Reached(place, access, tuple(sorted(around.items())))
