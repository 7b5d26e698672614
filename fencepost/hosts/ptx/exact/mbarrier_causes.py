"""What is wrong where mbarriers are out of step, or threads wait for them for ever.

Of one mistake, several things look wrong: producers that may miss a phase, arrivals too early, races. The run is made
once more with one wait, count or number of bytes put right: if it shows nothing any more, that is the cause.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from fencepost.hosts.ptx.exact.accesses import Found
from fencepost.hosts.ptx.exact.mbarriers import Mbarriers
from fencepost.hosts.ptx.exact.missing_arrivals import missing_arrivals
from fencepost.hosts.ptx.exact.problems import NotExact, Problem
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.exact.wrong_bytes import wrong_bytes
from fencepost.hosts.ptx.exact.wrong_counts import wrong_count
from fencepost.hosts.ptx.exact.wrong_phases import wrong_waits

SECONDS = 8.0
"""Processor time for all runs with something put right."""


def with_cause(run: Run, found: Found, again: Callable[[float], Run]) -> list[Problem]:
    """What a run has found, the cause of all of it first, if one is known.

    `again` makes the same run once more, which may take some seconds."""
    problems = found.problems
    if run.choices or not any(each.mbarriers for each in problems):
        return problems
    end = time.thread_time() + SECONDS

    def put_right(mbarriers: Mbarriers) -> bool | None:
        """Whether a run with these mbarriers shows nothing; None if it cannot be made."""
        corrected = again(end - time.thread_time())
        mbarriers.clocks = corrected.clocks
        corrected.mbarriers = mbarriers
        try:
            shown = corrected.execute_all()
        except NotExact:
            return None
        wrong = shown.problems or any(not each.proxy for each in shown.clashes)
        return not (wrong or shown.unwritten is not None or corrected.choices)

    return (
        wrong_waits(run, problems, put_right)
        or wrong_count(run, problems, put_right)
        or wrong_bytes(run, problems, put_right)
        or missing_arrivals(run, problems, put_right)
        or _without_a_wait(run.mbarriers, problems)
    )


def _without_a_wait(mbarriers: Mbarriers, problems: list[Problem]) -> list[Problem]:
    """The problems, with an mbarrier first that threads or copies arrive on and nobody waits for: nor for another
    one that the same operation arrives on."""
    for found in mbarriers.objects.values():
        last = mbarriers.written(found.last[0])
        alike = [each for each in mbarriers.objects.values() if mbarriers.written(each.last[0]) == last]
        if found.completed == found.start or any(each.passes or each.waiting for each in alike):
            continue
        place, thread = found.last
        cause = Problem(
            "FP006",
            "no thread waits for {mbarrier}, on which thread {1} arrives: nothing comes after its phases",
            (place, place),
            (thread, thread),
            "let the threads that use what it guards wait for it before they do: consumers for parity 0 the first "
            "time, a producer that fills a slot again for parity 1 the first time",
            mbarriers=(found.address,),
            causes=True,
        )
        return [cause, *(replace(each, causes=False) for each in problems)]
    return problems
