"""Which mbarrier expects other bytes than are copied: the run once more, with the number put right.

How many bytes come in a phase, a run shows in which bytes are not counted: a phase ends when nothing else can go on.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from fencepost.hosts.ptx.exact.clocks import Threads
from fencepost.hosts.ptx.exact.mbarriers import Mbarrier, Mbarriers, Operation
from fencepost.hosts.ptx.exact.problems import Problem
from fencepost.hosts.ptx.exact.run import Run
from fencepost.hosts.ptx.exact.wrong_counts import PutRight, cause_first
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.report.words import plural


@dataclass
class Told:
    """Of one phase, who says how many bytes are expected, and who brings some."""

    arrivals: list[tuple[Place, int]] = field(default_factory=list)
    expects: list[tuple[Place, int, int]] = field(default_factory=list)
    """The place, the thread, and its bytes."""
    copies: list[tuple[Place, int, int]] = field(default_factory=list)

    @property
    def expected(self) -> int:
        """All bytes that are expected."""
        return sum(amount for _, _, amount in self.expects)

    @property
    def came(self) -> int:
        """All bytes that are copied."""
        return sum(amount for _, _, amount in self.copies)


class Uncounted(Mbarriers):
    """mbarriers whose phases end when nothing else can go on, if copies bring bytes to them."""

    def __init__(self, of: Mbarriers) -> None:
        super().__init__(of.clocks, of.written)
        self.lazy = True
        self.with_bytes = {address for address, _ in of.brought}
        self.told: dict[tuple[int, int], Told] = {}
        """By address and phase."""
        self.ending = False
        """Whether nothing else can go on."""

    def _now(self, found: Mbarrier) -> Told:
        return self.told.setdefault((found.address, found.completed), Told())

    def arrive(self, found: Mbarrier, operation: Operation) -> list[Threads]:
        """Notes who arrives."""
        self._now(found).arrivals += [(operation.place, thread) for thread in operation.threads.tolist()]
        return super().arrive(found, operation)

    def expect(self, found: Mbarrier, operation: Operation, arrives: bool) -> list[Threads]:
        """Notes who expects bytes."""
        amount, place = operation.amount, operation.place
        self._now(found).expects += [(place, thread, amount) for thread in operation.threads.tolist()]
        return super().expect(found, operation, arrives)

    def bring(self, found: Mbarrier, operation: Operation, tensor_map: object, to: int) -> list[Threads]:
        """Notes who brings bytes."""
        amount, place = operation.amount, operation.place
        self._now(found).copies += [(place, thread, amount) for thread in operation.threads.tolist()]
        return super().bring(found, operation, tensor_map, to)

    def complete(self, found: Mbarrier) -> list[Threads]:
        """Not yet, as long as others can go on."""
        if found.address in self.with_bytes and not self.ending:
            return []
        return super().complete(found)

    def complete_lazily(self) -> list[Threads]:
        """Ends one phase that all have arrived in, and that threads wait for."""
        for found in self.objects.values():
            if found.address in self.with_bytes and found.phase.pending <= 0 and found.waiting:
                self.ending = True
                woken = super().complete(found)
                self.ending = False
                return woken
        return []


class Resized(Mbarriers):
    """mbarriers of a run in which an operation expects other bytes than is written."""

    def __init__(self, of: Mbarriers, sizes: Mapping[Hashable, int], *, by_arrivals: bool) -> None:
        super().__init__(of.clocks, of.written)
        self.lazy = of.lazy
        self.sizes = sizes
        """By the operation of the source."""
        self.by_arrivals = by_arrivals
        """Whether it is an arrival that expects none."""

    def arrive(self, found: Mbarrier, operation: Operation) -> list[Threads]:
        """With the bytes that are right."""
        size = self.sizes.get(self.written(operation.place)) if self.by_arrivals else None
        found.phase.bytes += (size or 0) * operation.threads.size
        return super().arrive(found, operation)

    def expect(self, found: Mbarrier, operation: Operation, arrives: bool) -> list[Threads]:
        """With the bytes that are right."""
        amount = self.sizes.get(self.written(operation.place), operation.amount)
        return super().expect(found, replace(operation, amount=amount), arrives)


def wrong_bytes(run: Run, problems: list[Problem], put_right: PutRight) -> list[Problem] | None:
    """The problems, first an operation that expects other bytes than are copied; None if that is not the cause."""
    found = Uncounted(run.mbarriers)
    if run.mbarriers.lazy or not found.with_bytes or put_right(found) is None:
        return None
    written = found.written
    wrong = {key: each for key, each in found.told.items() if each.copies and each.expected != each.came}
    for (address, _), told in wrong.items():
        by_arrivals = not told.expects
        tellers = [(place, thread) for place, thread, _ in told.expects] or told.arrivals
        places = {written(place) for place, _ in tellers}
        size = told.came // max(len(tellers), 1)
        if len(places) != 1 or size * len(tellers) != told.came:
            continue
        if put_right(Resized(run.mbarriers, dict.fromkeys(places, size), by_arrivals=by_arrivals)):
            return cause_first(_problem(problems, address, told, tellers[-1], size), problems)
    return None


def _problem(
    problems: list[Problem], address: int, told: Told, teller: tuple[Place, int], size: int
) -> Problem:
    """An operation that expects other bytes than are copied."""
    (place, thread), (copy, issuer, _) = teller, told.copies[-1]
    ends = any(each.code != "FP002" for each in problems)
    then = "it completes too early" if ends and told.expected < told.came else "its phase never completes"
    copied = f"{told.came} {'is' if told.came == 1 else 'are'} copied in a phase"
    if told.expects:
        said = f"{{mbarrier}} expects {plural(told.expected, 'byte')}, and {copied}: {then}"
        fix = f"in {{where}}, expect {plural(size, 'byte')}"
    else:
        said = f"{{mbarrier}} expects no bytes, and {copied}: {then}"
        fix = f"in {{where}}, arrive and expect {plural(size, 'byte')} (mbarrier.arrive.expect_tx)"
    return Problem(
        "FP002" if any(each.code == "FP002" for each in problems) else "FP006",
        said,
        (place, copy),
        (thread, issuer),
        fix,
        mbarriers=(address,),
        causes=True,
        in_fix=(place,),
    )
