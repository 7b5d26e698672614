"""Which threads do not arrive on an mbarrier that others wait for in vain.

Threads that wait for one mbarrier again and again, and arrive on another one in between, have to do so each time.
Where all threads stand still, those that have passed a wait and not arrived since are what the others wait for.
"""

from __future__ import annotations

from collections import Counter

from fencepost.hosts.ptx.exact.clocks import Threads
from fencepost.hosts.ptx.exact.mbarriers import Mbarrier, Mbarriers, Operation, PastWait
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.exact.wrong_counts import PutRight, cause_first
from fencepost.hosts.ptx.proof.intervals import Place


class Following(Mbarriers):
    """mbarriers of a run that is as it was: what each thread had waited for when it arrived last."""

    def __init__(self, of: Mbarriers) -> None:
        super().__init__(of.clocks, of.written)
        self.lazy = of.lazy
        self.arrivals: dict[int, dict[int, Counter[int]]] = {}
        """By address and thread: how often it had passed a wait for each mbarrier."""
        self.places: dict[tuple[int, int], Place] = {}
        """By address and thread, the last arrival."""

    def _count(self, found: Mbarrier, operation: Operation, arrivals: int) -> list[Threads]:
        if arrivals:
            for thread in operation.threads.tolist():
                self.places[found.address, thread] = operation.place
                passes = {each.address: each.passes[thread] for each in self.objects.values()}
                self.arrivals.setdefault(found.address, {})[thread] = Counter(passes)
        return super()._count(found, operation, arrivals)


def missing_arrivals(run: Run, problems: list[Problem], put_right: PutRight) -> list[Problem] | None:
    """The problems, first that threads do not arrive; None if it is not clear whether that is the cause."""
    stuck = list(run.mbarriers.stuck())
    found = Following(run.mbarriers)
    if len({id(each) for each, _, _ in stuck}) < 2 or put_right(found) is None:
        return None
    causes: dict[int, Problem] = {}
    for lacking, who, place in stuck:
        for other in {each.address: each for each, _, _ in stuck if each is not lacking}.values():
            waiting = {int(t) for each, they, _ in stuck if each is other for t in they}
            missing = _missing(found, lacking, other, waiting)
            if lacking.phase.pending > 0 and missing:
                causes[lacking.address] = _problem(
                    run, found, (lacking, place, int(who[0])), (other, missing, sorted(waiting))
                )
    if len(causes) != 1:
        return None
    (cause,) = causes.values()
    return cause_first(cause, problems)


def _missing(found: Following, lacking: Mbarrier, other: Mbarrier, waiting: set[int]) -> list[int]:
    """The threads that have passed a wait for the other mbarrier, wait for it again, and have not arrived since."""
    arrivals = found.arrivals.get(lacking.address, {})
    if not waiting & arrivals.keys():
        return []
    since = {thread: arrivals.get(thread, Counter())[other.address] for thread in waiting}
    return sorted(thread for thread in waiting if other.passes[thread] > since[thread])


def _problem(
    run: Run,
    found: Following,
    waits: tuple[Mbarrier, Place, int],
    others: tuple[Mbarrier, list[int], list[int]],
) -> Problem:
    """Threads that wait for an mbarrier which others do not arrive on."""
    (lacking, place, waiter), (other, missing, like_them) = waits, others
    past = _last_wait(other, missing)
    many = len(missing) > 1
    who = f"{len(missing)} threads (thread {{0}} is one of them) do" if many else "thread {0} does"
    arrival = next(
        found.places[at] for at in ((lacking.address, each) for each in like_them) if at in found.places
    )
    return Problem(
        "FP002",
        f"thread {{1}} waits for {{mbarrier}} for ever, which {lacking.phase.lacks}: {who} not arrive on it after "
        f"waiting for {{other}}",
        (past.place, place),
        (past.thread, waiter),
        f"let {'them' if many else 'it'} arrive on {{mbarrier}} after each wait for {{other}}, as in {{where}}",
        mbarriers=(lacking.address, other.address),
        causes=True,
        in_fix=(arrival,),
        visits=(past.visit, run.mbarriers.next_visit(place, waiter)),
    )


def _last_wait(mbarrier: Mbarrier, threads: list[int]) -> PastWait:
    """The last wait for an mbarrier that one of some threads has passed."""
    return [each for all_ in mbarrier.waited.values() for each in all_ if each.thread == threads[0]][-1]
