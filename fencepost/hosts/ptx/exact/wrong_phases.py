"""Which wait has the wrong parity, where mbarriers are out of step: the run once more, with one wait put right.

A wait with the wrong parity passes at once, and whatever it should have kept back then looks wrong: producers that
may miss a phase, arrivals too early, races. One run does not tell the cause among them. So each wait is put right in
turn, as that of a consumer (its n-th wait for an mbarrier is for the n-th phase) and as that of a producer (for the
phase before, since the slot is free at first). If the run shows nothing more with exactly one of these, that wait is
the cause, and the parity that it needs is known. Where no wait alone is, all of them are put right together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from fencepost.hosts.ptx.exact.clocks import Clock, Threads
from fencepost.hosts.ptx.exact.mbarriers import Mbarrier, Mbarriers
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.verdicts import COUNTED, OTHER_PARITY
from fencepost.report.words import plural

MOST_WAITS = 6
MOST_TOGETHER = 3
"""So many waits are put right together: two runs for one, four for two, eight for three."""
CONSUMER, PRODUCER = 1, 0
"""How many phases of an mbarrier are complete after the first wait for it."""
ROLES = (CONSUMER, PRODUCER)


@dataclass(frozen=True)
class Passed:
    """A wait of one thread, as it is written and as it has to be."""

    place: Place
    thread: int
    address: int
    visit: int
    """How often the thread has come to this wait, this time included."""
    before: int
    """How often it had waited for this mbarrier before."""
    parity: int
    needed: int
    role: int

    @property
    def is_wrong(self) -> bool:
        """Whether it is written with the other parity."""
        return self.parity != self.needed


class Corrected(Mbarriers):
    """mbarriers of a run in which some waits of the source have the right parity, whatever is written."""

    def __init__(self, of: Mbarriers, roles: Mapping[Hashable, int]) -> None:
        super().__init__(of.clocks, of.written)
        self.lazy = of.lazy
        self.roles = roles
        """Which waits, and what they are then."""
        self.passed: list[Passed] = []

    def targets(self, found: Mbarrier, who: Threads, parity: int, place: Place) -> Clock:
        """For a wait that is put right: one phase after the other."""
        wait = self.written(place)
        role = self.roles.get(wait)
        if role is None:
            return super().targets(found, who, parity, place)
        before = np.array([found.passes[thread] for thread in map(int, who)], dtype=np.int32)
        for thread, times in zip(map(int, who), map(int, before), strict=True):
            visit, needed = self.visits[wait, thread] + 1, (times + role + 1) % 2
            self.passed.append(Passed(place, thread, found.address, visit, times, parity, needed, role))
        targets: Clock = before + np.int32(found.start + role)
        return targets

    def wrong(self) -> list[Passed]:
        """Of each wait that is written with another parity: the first time that it matters."""
        found: dict[Hashable, Passed] = {}
        for each in self.passed:
            if each.is_wrong:
                found.setdefault(self.written(each.place), each)
        return list(found.values())


def wrong_waits(
    run: Run, problems: list[Problem], put_right: Callable[[Mbarriers], bool | None]
) -> list[Problem] | None:
    """The problems, that of the wait first whose parity explains all of them; None if there is no such wait.

    `put_right` says whether the run shows nothing with other mbarriers; None if there is no time to try."""
    waits = _waits(run, problems)
    alone = [{wait: role} for wait in waits for role in ROLES]
    together = [dict(zip(waits, roles, strict=True)) for roles in product(ROLES, repeat=len(waits))]
    for ways in (alone, together if 1 < len(waits) <= MOST_TOGETHER else []):
        causes = []
        for roles in ways:
            corrected = Corrected(run.mbarriers, roles)
            is_clean = put_right(corrected)
            if is_clean is None:
                return None
            causes += [corrected] if is_clean and corrected.wrong() else []
        if len(causes) == 1:
            return _told_first(problems, causes[0])
        if causes:
            break
    return None


def _waits(run: Run, problems: list[Problem]) -> list[Hashable]:
    """The waits of the run, those first that the problems are about."""
    mbarriers = run.mbarriers
    named = [mbarriers.written(place) for each in problems for place in reversed(each.places)]
    waited = mbarriers.waits | {mbarriers.written(place) for _, _, place in mbarriers.stuck()}
    every = [*(each for each in named if each in waited), *sorted(waited, key=str)]
    return list(dict.fromkeys(every))[:MOST_WAITS]


def _told_first(problems: list[Problem], corrected: Corrected) -> list[Problem]:
    """The problems, with the wrong wait, or the first of several, as the cause of all others."""
    wrong, *others = corrected.wrong()
    other = others[0] if others else wrong
    said, fix = f"thread {{1}} {_said(wrong)}", f"in {{where}}, {_fix(wrong, corrected)}"
    if others:
        said += ". Thread {0} waits for the wrong phase of {other} as well"
        fix += f"; in {{also}}, {_fix(other, corrected)}"
    deadlock = next((each for each in problems if each.code == "FP002"), None)
    if deadlock is not None and not others:
        told = replace(deadlock, fix=fix, in_fix=(wrong.place,))
        return [told if each is deadlock else each for each in problems]
    cause = Problem(
        "FP006",
        said,
        (other.place, wrong.place),
        (other.thread, wrong.thread),
        fix,
        mbarriers=(wrong.address, other.address) if others else (wrong.address,),
        causes=True,
        in_fix=(wrong.place, other.place),
        visits=(other.visit, wrong.visit),
    )
    return [cause, *(replace(each, causes=False) for each in problems)]


def _said(wrong: Passed) -> str:
    """What is wrong with the wait, in words."""
    parity = wrong.parity
    if wrong.needed == 0 and wrong.before == 0:
        return (
            f"waits for parity {parity} of {{mbarrier}}, whose first phase has parity 0: the wait returns at once, "
            "and does not wait for that phase"
        )
    if wrong.before < 2 and parity == 1:
        return (
            f"waits for parity {parity} of {{mbarrier}} again, before its first phase is complete: the wait returns "
            f"at once, as it did before. The phase to wait for has parity {wrong.needed}"
        )
    return (
        f"waits for the wrong phase of {{mbarrier}}: the phase with parity {parity} is complete already, and the "
        f"wait returns at once. The phase to wait for has parity {wrong.needed}"
    )


def _fix(wrong: Passed, corrected: Corrected) -> str:
    """Which parity the wait needs, by the number of the iteration, where that decides."""
    first = 1 - wrong.role
    here = corrected.written(wrong.place)
    mine = [
        each
        for each in corrected.passed
        if each.thread == wrong.thread and corrected.written(each.place) == here
    ]
    addresses = list(dict.fromkeys(each.address for each in mine))
    slots, steps = len(addresses), {b - a for a, b in pairwise(addresses)}
    free = " (the slot is free)" if wrong.role == PRODUCER else ""
    if len(steps) > 1 or any((each.visit - 1) // slots != each.before for each in mine):
        each = f"wait for each mbarrier for parity {first} the first time{free}, {1 - first} the second time"
        return f"{each}, and so on"
    ring = "" if slots == 1 else f" round the ring of {plural(slots, 'slot')}"
    turn = "k" if slots == 1 else f"k / {slots}"
    parity = f"({turn} + 1) & 1" if first else f"{turn if slots == 1 else f'({turn})'} & 1"
    wait = f"{OTHER_PARITY}: {first}" if all(each.is_wrong for each in mine) else f"wait for parity {first}"
    times = f"{wait} the first time{ring}{free}, {1 - first} the second time, and so on"
    return f"{times}: `{parity}`, {COUNTED}"
