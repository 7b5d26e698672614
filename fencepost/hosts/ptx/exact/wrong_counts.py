"""Which mbarrier is initialized for other arrivals than come: the run once more, with the count put right.

How many arrivals come in a phase, a run shows in which the mbarrier never completes one: nobody gets further than
that. If a run in which it counts that many shows nothing any more, the count is the cause. Otherwise it may be right,
and arrivals are missing: counting fewer would only turn a deadlock into a race (`missing_arrivals`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fencepost.hosts.ptx.exact.clocks import Threads
from fencepost.hosts.ptx.exact.mbarriers import Mbarrier, Mbarriers, Operation
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.report.words import plural

MOST_RUNS = 24
NEVER = 1 << 20
"""More arrivals than an mbarrier can count."""

PutRight = Callable[[Mbarriers], bool | None]


@dataclass(frozen=True)
class Came:
    """The arrivals of a phase."""

    count: int
    arrived: Counter[tuple[Place, int]]
    """How often each thread has arrived, and where."""
    maker: int
    """The thread that has initialized the mbarrier."""


class Recounted(Mbarriers):
    """mbarriers of a run, some of which count other arrivals than is written."""

    def __init__(self, of: Mbarriers, counts: Mapping[int, int] | None = None) -> None:
        super().__init__(of.clocks, of.written)
        self.lazy = of.lazy
        self.counts = counts or {}
        """Arrivals, by the address of the mbarrier."""
        self.makers: dict[int, int] = {}
        self.arrived: dict[int, Counter[tuple[Place, int]]] = {}
        """By address, how often each thread has arrived in the current phase, and where."""

    def init(self, operation: Operation, address: int) -> None:
        """With the count that is right."""
        self.makers[address] = int(operation.threads[0])
        super().init(replace(operation, amount=self.counts.get(address, operation.amount)), address)

    def _count(self, found: Mbarrier, operation: Operation, arrivals: int) -> list[Threads]:
        if arrivals:
            came, each = self.arrived.setdefault(found.address, Counter()), arrivals // operation.threads.size
            came.update({(operation.place, thread): each for thread in operation.threads.tolist()})
        return super()._count(found, operation, arrivals)

    def came(self, address: int) -> Came:
        """The arrivals of the current phase."""
        arrived = self.arrived.get(address, Counter())
        return Came(arrived.total(), arrived, self.makers.get(address, 0))

    def complete(self, found: Mbarrier) -> list[Threads]:
        """Another phase begins."""
        self.arrived.pop(found.address, None)
        return super().complete(found)


def wrong_count(run: Run, problems: list[Problem], put_right: PutRight) -> list[Problem] | None:
    """The problems, first the mbarrier whose count explains all of them; None if there is no such one."""
    known = _arrivals(run.mbarriers, put_right)
    wrong = [
        each for each in run.mbarriers.objects.values() if each.count != known.get(each.address, each).count
    ]
    if len({run.mbarriers.written(each.made) for each in wrong}) != 1:
        return None
    if not put_right(Recounted(run.mbarriers, {address: each.count for address, each in known.items()})):
        return None
    named = [address for each in problems for address in each.mbarriers]
    first = min(wrong, key=lambda each: (each.address not in named, each.address))
    return cause_first(_count_problem(run, problems, first, known[first.address]), problems)


def _arrivals(of: Mbarriers, put_right: PutRight) -> dict[int, Came]:
    """By address, the arrivals that come in the first phase. None completes one at first; of those that threads wait
    for, the ones that most arrive on are let go then."""
    known: dict[int, Came] = {}
    for _ in range(MOST_RUNS):
        unknown = {address: NEVER for address in of.objects if address not in known}
        withheld = Recounted(of, {address: each.count for address, each in known.items()} | unknown)
        if not unknown or put_right(withheld) is None:
            break
        came = {address: withheld.came(address) for address in unknown}
        most = max(
            (came[each.address].count for each, _, _ in withheld.stuck() if each.address in came), default=0
        )
        if not most:
            break
        known |= {address: each for address, each in came.items() if each.count == most}
    return known


def _count_problem(run: Run, problems: list[Problem], wrong: Mbarrier, came: Came) -> Problem:
    """An mbarrier that is initialized for more or fewer arrivals than come."""
    number, arrived, maker = came.count, came.arrived, came.maker
    said = f"{{mbarrier}} is initialized for {plural(wrong.count, 'arrival')}, and "
    fix = f"in {{where}}, initialize it for {plural(number, 'arrival')}"
    stuck = next(((who, at) for found, who, at in run.mbarriers.stuck() if found is wrong), None)
    if number < wrong.count and stuck is not None:
        who, place = stuck
        said += f"{number} {'comes' if number == 1 else 'come'}: thread {{1}} waits for a phase that never completes"
        cause = Problem("FP002", said, (wrong.made, place), (maker, int(who[0])), fix)
        cause = replace(cause, visits=(0, run.mbarriers.next_visit(place, int(who[0]))))
    else:
        last, thread = list(arrived)[min(wrong.count, len(arrived) - 1)]
        said += f"{number} come in each phase: it completes before thread {{1}} has arrived"
        cause = Problem("FP006", said, (wrong.made, last), (maker, thread), f"{fix}{_too_often(arrived)}")
        if any(each.code == "FP002" for each in problems):
            cause = replace(cause, code="FP002")
    return replace(cause, mbarriers=(wrong.address,), causes=True, in_fix=(wrong.made,))


def _too_often(arrived: Counter[tuple[Place, int]]) -> str:
    """Which threads arrive more often than most, in words."""
    times: Counter[int] = Counter()
    for (_, thread), each in arrived.items():
        times[thread] += each
    usual = Counter(times.values()).most_common(1)[0][0]
    more = [thread for thread, each in times.items() if each > usual]
    if not more or 2 * len(more) > len(times):
        return ""
    once = "once" if usual == 1 else plural(usual, "time")
    whose = f"thread {more[0]}" if len(more) == 1 else plural(len(more), "thread")
    return f"; or let {whose} arrive {once}, as the others do: it does so {plural(times[more[0]], 'time')} in a phase"


def _first(cause: Problem, problems: list[Problem]) -> list[Problem]:
    """The cause, then what follows from it. That threads wait for ever is told by a cause that says so."""
    others = [each for each in problems if (each.code, cause.code) != ("FP002", "FP002")]
    return [cause, *(replace(each, causes=False) for each in others)]


def cause_first(cause: Problem, problems: list[Problem]) -> list[Problem]:
    """The cause, then what follows from it. That threads wait for ever is told by a cause that says so."""
    others = [each for each in problems if (each.code, cause.code) != ("FP002", "FP002")]
    return [cause, *(replace(each, causes=False) for each in others)]
