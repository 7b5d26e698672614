"""mbarriers in shared memory: arrivals, bytes, phases and waits, and whether each counts for one phase only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from fencepost.hosts.ptx.exact.clocks import Clock, Clocks, Known, Threads
from fencepost.hosts.ptx.exact.problems import NotExact, Problem
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.report.words import plural

SIZE = 8
"""Bytes of an mbarrier."""


@dataclass
class Phase:
    """What has happened in the current phase."""

    pending: int
    count: int
    """Arrivals that it counts, and how many of them have not come."""
    bytes: int = 0
    """Bytes that are expected and have not come; below zero if they came first."""
    known: Known | None = None
    """What the arrivals have released."""
    before: Clock | None = None
    """What is certain to be done before the phase completes: also what the issuers of copies knew."""
    announced: list[tuple[int, int, Place]] = field(default_factory=list)
    """Threads that expect bytes without arriving, with their clocks."""

    @property
    def lacks(self) -> str:
        """How far it is, and why not complete."""
        if self.pending > 0:
            return f"has {self.count - self.pending} of {plural(self.count, 'arrival')}"
        return (
            f"lacks {self.bytes} bytes"
            if self.bytes > 0
            else f"gets {-self.bytes} bytes that it does not expect"
        )


@dataclass(frozen=True)
class Wait:
    """Threads that wait at one instruction."""

    place: Place
    threads: Threads
    relaxed: bool = False
    of_block: bool = False
    """Whether it sees what arrivals of its own block pass on, and no others."""


@dataclass(frozen=True)
class PastWait:
    """A wait that a thread has passed."""

    thread: int
    clock: int
    place: Place
    visit: int
    """How often the thread had come to this wait, this time included."""


@dataclass
class Mbarrier:
    """One mbarrier object."""

    address: int
    count: int
    column: int
    """Its phases, and what bulk copies bring to them."""
    plain: int
    """The same for stores through the generic proxy that bring bytes (`st.async`)."""
    made: Place
    phase: Phase
    last: tuple[Place, int]
    """The last operation, and a thread that did it."""
    completed: int = 0
    start: int = 0
    """The phases that were complete when it was made."""
    released: dict[int, Known] = field(default_factory=dict)
    """What a wait for so many completed phases gives."""
    waited: dict[int, list[PastWait]] = field(default_factory=dict)
    """Who has waited for so many completed phases."""
    waiting: list[tuple[int, Wait]] = field(default_factory=list)
    """Threads that wait, and for how many completed phases."""
    from_afar: bool = False
    """Whether threads of another block have arrived."""
    passes: Counter[int] = field(default_factory=Counter)
    """How often each thread has passed a wait for it."""
    again: set[Place] = field(default_factory=set)
    """Waits that a thread came to when it knew their phase to be complete."""
    overwritten: tuple[Place, int] | None = None
    """Where something else was stored over it, and by whom."""

    @property
    def now(self) -> str:
        """How far it is."""
        which = "whose first phase" if self.completed == self.start else "which"
        return f"{which} {self.phase.lacks}"

    @property
    def columns(self) -> Threads:
        """What is known of the copies once a phase is complete."""
        return np.array([self.column, self.plain])


@dataclass(frozen=True)
class Operation:
    """Something that threads do with one mbarrier."""

    place: Place
    threads: Threads
    amount: int = 1
    relaxed: bool = False
    from_afar: bool = False
    """Whether some of the threads are of another block."""
    visit: int = 0
    """How often the first of them had come there; 0 for what is going on now."""


class Mbarriers:
    """All mbarriers of a cluster, by address."""

    def __init__(self, clocks: Clocks, written: Callable[[Place], Hashable]) -> None:
        self.clocks = clocks
        self.written = written
        """What an instruction was made of: the same for the copies that a compiler makes of one wait."""
        self.objects: dict[int, Mbarrier] = {}
        self.problems: list[Problem] = []
        self.lazy = False
        """Whether bytes are not counted: a phase that expects some completes when nothing else can go on."""
        self.brought: dict[tuple[int, int], list[tuple[object, int, int]]] = {}
        """By address and phase, the copies: their tensor map, where they went, and their size (0: not known)."""
        self.expected: dict[tuple[int, int], int] = {}
        self.ended: dict[int, int] = {}
        """Phases of objects that were invalidated, by address."""
        self.visits: Counter[tuple[Hashable, int]] = Counter()
        """How often each thread has come to each operation of the source; of waits, those that it has passed."""
        self.waits: set[Hashable] = set()
        """The waits of the source that some thread has passed."""

    def overwrite(self, starts: Bits, size: int, place: Place, who: Threads) -> None:
        """Something else is stored: an mbarrier that lay there is none any more, although nobody has ended it."""
        if not starts.size:
            return
        first, last = int(starts.min()), int(starts.max()) + size
        for address, found in self.objects.items():
            if address < last and first < address + SIZE:
                at = starts.astype(np.int64)
                hit = np.flatnonzero((at < address + SIZE) & (at + size > address))
                if hit.size and found.overwritten is None:
                    found.overwritten = (place, int(who[hit[0]]))

    def come(self, place: Place, who: Threads) -> None:
        """Counts how often threads come to an operation other than a wait."""
        written = self.written(place)
        for thread in who.tolist():
            self.visits[written, thread] += 1

    def used(self, address: int, place: Place, who: Threads) -> Mbarrier | None:
        """The mbarrier that threads use at an address; None if there is none."""
        found = self.objects.get(address)
        if found is not None and found.overwritten is not None:
            there, thread = found.overwritten
            text = "thread {1} uses {mbarrier}, which thread {0} has stored something else over"
            fix = (
                "give it memory of its own, or invalidate it before (mbarrier.inval) and initialize it again"
            )
            threads = (thread, int(who[0]))
            self.problems.append(
                Problem("FP006", text, (there, place), threads, fix, mbarriers=(address,), causes=True)
            )
            found.overwritten = None
        return found

    def init(self, operation: Operation, address: int) -> None:
        """Makes an mbarrier."""
        thread = int(operation.threads[0])
        if operation.threads.size > 1:
            text = "initializes {mbarrier}, as other threads do at once"
            self._told(operation, address, text, "let one thread initialize it")
        old = self.objects.get(address)
        if old is not None:
            self._problem(
                old,
                operation,
                "initializes {mbarrier}, which is in use",
                "invalidate it before (mbarrier.inval)",
            )
        column = self.clocks.column(("mbarrier", address), thread, False)
        plain = self.clocks.column(("mbarrier stores", address), thread, True)
        if old is not None:
            self.ended[address] = old.completed
        # An object that is made again goes on counting, from an even number: its column must not go back.
        completed = self.ended[address] + 2 & ~1 if address in self.ended else 0
        for each in (column, plain):
            self.clocks.learn(operation.threads, each, completed)
        made = Mbarrier(
            address,
            operation.amount,
            column,
            plain,
            operation.place,
            Phase(operation.amount, operation.amount),
            (operation.place, thread),
        )
        made.completed = made.start = completed
        made.released[completed] = self.clocks.nothing()
        self.objects[address] = made

    def inval(self, operation: Operation, address: int) -> None:
        """Ends an mbarrier."""
        found = self.objects.pop(address, None)
        if found is not None:
            self.ended[address] = found.completed
        if found is not None and found.waiting:
            self._problem(found, operation, "invalidates {mbarrier}, which threads wait for", "wait first")

    def in_step(self, found: Mbarrier, operation: Operation, does: str = "arrive on") -> None:
        """Whether what threads do counts for the current phase in every schedule."""
        late = operation.threads[self.clocks.order[operation.threads, found.column] < found.completed]
        if late.size:
            text = f"may {does} {{mbarrier}} one phase too early: nothing tells it that the phase before is complete"
            counted = f"as many arrivals as the mbarrier counts ({found.count})"
            self._problem(
                found,
                Operation(operation.place, late),
                text,
                f"wait for the phase before, or give each phase {counted}",
            )

    def arrive(self, found: Mbarrier, operation: Operation) -> list[Threads]:
        """Threads arrive, each so many times; those that can go on because of it."""
        total = operation.amount * operation.threads.size
        if total > found.phase.pending and operation.threads.size > 1:
            return [
                who
                for thread in operation.threads
                for who in self.arrive(found, replace(operation, threads=np.array([thread])))
            ]
        self.in_step(found, operation)
        self._not_too_many(found, operation, total)
        self._before(found, operation.threads)
        found.from_afar |= operation.from_afar
        known = self.clocks.release(operation.threads, operation.relaxed, operation.place)
        found.phase.known = known if found.phase.known is None else self.clocks.join(found.phase.known, known)
        return self._count(found, operation, total)

    def _not_too_many(self, found: Mbarrier, operation: Operation, arrivals: int) -> None:
        """Whether a phase lacks as many arrivals as come at once."""
        if arrivals > found.phase.pending:
            lacks = plural(found.phase.pending, "arrival")
            text = f"arrives {plural(arrivals, 'time')} in a phase of {{mbarrier}} that lacks {lacks}"
            self._problem(found, operation, text, "arrive as often as the mbarrier counts")

    def copies_arrive(
        self, found: Mbarrier, operation: Operation, known: Callable[[slice], Known], counted: bool
    ) -> list[Threads]:
        """The arrival of each thread's `cp.async`, or of a commit: it releases what is `known` of a part of them, and
        nothing else."""
        if counted and operation.threads.size > max(found.phase.pending, 1):
            # Some of them complete the phase: those behind them do not count for it.
            parts = [slice(at, at + 1) for at in range(operation.threads.size)]
            return [
                who
                for part in parts
                for who in self.copies_arrive(
                    found,
                    replace(operation, threads=operation.threads[part]),
                    lambda _, part=part: known(part),  # type: ignore[misc]
                    counted,
                )
            ]
        self.in_step(found, operation)
        self._not_too_many(found, operation, operation.threads.size if counted else 0)
        released = known(slice(None))
        before = found.phase.known
        found.phase.known = released if before is None else self.clocks.join(before, released)
        if not counted:
            self._announce(found, operation)
            self.clocks.tick(operation.threads)
            return []
        self._before(found, operation.threads)
        self.clocks.tick(operation.threads)
        return self._count(found, operation, operation.threads.size)

    def _announce(self, found: Mbarrier, operation: Operation) -> None:
        clocks = self.clocks.own(operation.threads)
        found.phase.announced += [
            (int(t), int(c), operation.place) for t, c in zip(operation.threads, clocks, strict=True)
        ]

    def expect(self, found: Mbarrier, operation: Operation, arrives: bool) -> list[Threads]:
        """Threads announce bytes."""
        self.in_step(found, operation)
        total = operation.amount * operation.threads.size
        key = (found.address, found.completed)
        self.expected[key] = self.expected.get(key, 0) + total
        found.phase.bytes += total
        found.last = (operation.place, int(operation.threads[0]))
        if not arrives:
            self._announce(found, operation)
            return []
        return self.arrive(found, replace(operation, amount=1))

    def bring(self, found: Mbarrier, operation: Operation, tensor_map: object, to: int) -> list[Threads]:
        """A copy of each thread brings its bytes (the amount)."""
        total = operation.amount * operation.threads.size
        if operation.threads.size > 1 and found.phase.pending <= 0 and total > found.phase.bytes:
            # Some of them complete the phase.
            one_by_one = (replace(operation, threads=np.array([each])) for each in operation.threads)
            return [who for one in one_by_one for who in self.bring(found, one, tensor_map, to)]
        self.in_step(found, operation, "bring bytes to")
        self._before(found, operation.threads)
        self.clocks.tick(operation.threads)
        self.brought.setdefault((found.address, found.completed), []).append((tensor_map, to, total))
        found.phase.bytes -= total
        return self._count(found, operation, 0)

    def _before(self, found: Mbarrier, who: Threads) -> None:
        found.phase.before = self.clocks.later(found.phase.before, self.clocks.order[who].max(axis=0))

    def _count(self, found: Mbarrier, operation: Operation, arrivals: int) -> list[Threads]:
        phase = found.phase
        phase.pending -= arrivals
        found.last = (operation.place, int(operation.threads[0]))
        if phase.pending > 0 or phase.bytes != 0:
            return []
        return self.complete(found)

    def complete(self, found: Mbarrier) -> list[Threads]:
        """The current phase is complete."""
        phase = found.phase
        self._nobody_missed(found)
        self._announced_in_time(found)
        found.completed += 1
        known = found.released[found.completed - 1]
        if phase.known is not None:
            known = self.clocks.join(known, phase.known)
        # What copies have brought is known by the phase, and seen by whoever waits for it.
        came = self.clocks.just(found.columns, np.full(found.columns.shape, found.completed, dtype=np.int32))
        found.released[found.completed] = self.clocks.with_order(self.clocks.join(known, came), phase.before)
        found.phase = Phase(found.count, found.count)
        woken = [wait.threads for target, wait in found.waiting if target == found.completed]
        for target, wait in found.waiting:
            if target == found.completed:
                self._pass(found, wait, target)
        found.waiting = [each for each in found.waiting if each[0] != found.completed]
        return woken

    def _known_before(self, found: Mbarrier, thread: int) -> int:
        before = found.phase.before
        return int(before[thread]) if before is not None else 0

    def _nobody_missed(self, found: Mbarrier) -> None:
        """Who has waited for the last phase must have done so before this one completes."""
        for past in found.waited.get(found.completed, ()):
            if self._known_before(found, past.thread) < past.clock:
                self._missed(found, past, found.completed)
                return

    def _missed(self, found: Mbarrier, past: PastWait, target: int) -> None:
        if past.place in found.again:
            self._waited_again(found, past, target)
            return
        if target == found.start:
            self._waited_for_nothing(found, past)
            return
        operation = Operation(past.place, np.array([past.thread]), visit=past.visit)
        text = (
            "can miss the phase of {mbarrier} that it waits for: the next phase may complete first, "
            "and the parity repeats"
        )
        self._problem(
            found,
            operation,
            text,
            "let the thread arrive (or be waited for) before the next phase can complete",
        )

    def _waited_again(self, found: Mbarrier, past: PastWait, target: int) -> None:
        """The wait has the parity of the phase before the one that it is meant for."""
        parity = (target - 1) % 2
        text = (
            f"waits for the wrong phase of {{mbarrier}}: the phase with parity {parity} is complete already, and the "
            f"wait returns at once. The phase to wait for has parity {1 - parity}"
        )
        fix = "flip the parity each time {mbarrier} has completed a phase (in a ring: once each time round)"
        problem = Problem(
            "FP006",
            f"thread {{1}} {text}",
            (past.place, past.place),
            (past.thread, past.thread),
            fix,
            mbarriers=(found.address,),
            causes=True,
            visits=(past.visit, past.visit),
        )
        # Whatever else is found may follow from it.
        self.problems.insert(sum(each.causes for each in self.problems), problem)

    def _waited_for_nothing(self, found: Mbarrier, past: PastWait) -> None:
        """The wait has the parity that passes before the first phase is complete."""
        thread, place = past.thread, past.place
        before = "whose first phase has parity 0: the wait returns at once"
        text = f"thread {{1}} waits for parity 1 of {{mbarrier}}, {before}, and does not wait for that phase"
        places, threads, visits = (found.made, place), (thread, thread), (0, past.visit)
        mbarriers: tuple[int, ...] = (found.address,)
        also = self._also_passed(place)
        if also is not None:
            # Of a producer and a consumer one has to wait; which one, only their author knows.
            so_does = "so does that of thread {1} for {mbarrier}"
            text = f"thread {{0}} waits for parity 1 of {{other}}, {before}; {so_does}"
            places, threads = (also[1].place, place), (also[1].thread, thread)
            visits, mbarriers = (also[1].visit, past.visit), (found.address, also[0])
        fix = (
            "wait for parity 0, which is that of the first phase; parity 1 is right only for a wait that is meant "
            "to pass at first (a producer's, for an empty slot)"
        )
        if past.visit > 1:
            # An earlier iteration waited for another slot, so the parity changes too often rather than begins wrong.
            fix = f"{fix}. In a ring the parity flips once each time round, and not from slot to slot"
        # A producer's first wait is meant to pass, and may only look wrong because of what came before.
        causes = not self.problems
        problem = Problem("FP006", text, places, threads, fix, mbarriers=mbarriers, causes=causes)
        self.problems.append(replace(problem, visits=visits))

    def _also_passed(self, place: Place) -> tuple[int, PastWait] | None:
        """An mbarrier whose first phase was not waited for elsewhere either, with the wait."""
        for other in self.objects.values():
            for past in other.waited.get(other.start, ()):
                if self.written(past.place) != self.written(place):
                    return other.address, past
        return None

    def _announced_in_time(self, found: Mbarrier) -> None:
        for thread, clock, place in found.phase.announced:
            if self._known_before(found, thread) < clock:
                text = (
                    "expects bytes for a phase of {mbarrier} that may be complete by then: "
                    "no arrival comes after it"
                )
                self._problem(
                    found,
                    Operation(place, np.array([thread])),
                    text,
                    "expect before the arrival, or arrive.expect_tx",
                )
                return

    # ---- waits

    def targets(self, found: Mbarrier, who: Threads, parity: int, _: Place) -> Clock:
        """How many phases are complete after a wait for a parity: the first that fits what a thread knows."""
        known = self.clocks.order[who, found.column]
        found_: Clock = np.where((known & 1) == ((parity + 1) & 1), known, known + 1)
        return found_

    def wait(self, found: Mbarrier, wait: Wait, target: int) -> bool:
        """Threads wait for so many completed phases; whether they can go on."""
        who, place = wait.threads, wait.place
        # The parity of the phase before the first is that of a slot which is free to begin with.
        if target > found.start and (self.clocks.order[who, found.column] >= target).all():
            found.again.add(place)
        if found.completed > target:
            first = int(who[0])
            self._missed(found, PastWait(first, 0, place, self.next_visit(place, first)), target)
            self._pass(found, wait, target)
            return True
        if found.completed == target:
            self._pass(found, wait, target)
            return True
        found.waiting.append((target, wait))
        return False

    def _pass(self, found: Mbarrier, wait: Wait, target: int) -> None:
        if wait.of_block and found.from_afar:
            raise NotExact("a wait of scope `.cta` for an mbarrier that other blocks arrive on", wait.place)
        # A thread that does not know that the object was made anew may wait for a phase of the one before.
        known = found.released.get(target, self.clocks.nothing())
        self.clocks.acquire(wait.threads, known, wait.relaxed)
        clocks = self.clocks.own(wait.threads)
        passed, written = found.waited.setdefault(target, []), self.written(wait.place)
        self.waits.add(written)
        for thread, clock in zip(wait.threads.tolist(), clocks.tolist(), strict=True):
            found.passes[thread] += 1
            self.visits[written, thread] += 1
            passed.append(PastWait(thread, clock, wait.place, self.visits[written, thread]))

    # ---- when nothing goes on

    def stuck(self) -> Iterator[tuple[Mbarrier, Threads, Place]]:
        """Threads that wait for a phase that nothing completes."""
        for found in self.objects.values():
            for _, wait in found.waiting:
                yield found, wait.threads, wait.place

    def never_complete(self) -> Iterator[Problem]:
        """What is wrong when threads wait for phases that nothing completes."""
        stuck = list(self.stuck())
        for found, who, place in stuck:
            others = [each for each in stuck if each[0] is not found and each[2] != place]
            if not others:
                text = f"thread {{1}} waits for a phase of {{mbarrier}} that never completes: it {found.phase.lacks}"
                fix = "let each phase have the arrivals and bytes that it counts"
                at, thread = found.last
                threads = thread, int(who[0])
                visits = self.visits[self.written(at), thread], self.next_visit(place, threads[1])
                yield Problem(
                    "FP002", text, (at, place), threads, fix, mbarriers=(found.address,), visits=visits
                )
                continue
            other, they, there = others[0]
            text = (
                f"thread {{0}} waits for {{other}}, {other.now}, and thread {{1}} waits for "
                f"{{mbarrier}}, {found.now}: neither phase ever completes"
            )
            threads = int(they[0]), int(who[0])
            yield Problem(
                "FP002",
                text,
                (there, place),
                threads,
                _fix_of_deadlock(found, other),
                mbarriers=(found.address, other.address),
                visits=(self.next_visit(there, threads[0]), self.next_visit(place, threads[1])),
            )
            return

    def next_visit(self, wait: Place, thread: int) -> int:
        """How often a thread has come to a wait that it has not passed yet."""
        return self.visits[self.written(wait), thread] + 1

    def complete_lazily(self) -> list[Threads]:
        """Completes one phase that lacks nothing but bytes."""
        for found in self.objects.values():
            if found.phase.pending <= 0 and found.phase.bytes != 0:
                return self.complete(found)
        return []

    def _problem(self, found: Mbarrier, operation: Operation, text: str, fix: str) -> None:
        self._told(operation, found.address, text, fix, found.last)

    def _told(
        self,
        operation: Operation,
        address: int,
        text: str,
        fix: str,
        last: tuple[Place, int] | None = None,
    ) -> None:
        thread = int(operation.threads[0])
        place, before = last or (operation.place, int(operation.threads[-1]))
        if len(self.problems) < 50:
            places, threads = (place, operation.place), (before, thread)
            own = operation.visit or self.visits[self.written(operation.place), thread]
            visits = self.visits[self.written(place), before] if last else own, own
            text = f"thread {{1}} {text}"
            self.problems.append(
                Problem("FP006", text, places, threads, fix, mbarriers=(address,), visits=visits)
            )


def _fix_of_deadlock(found: Mbarrier, other: Mbarrier) -> str:
    """What ends that threads wait for two mbarriers, neither of which ever completes."""
    for name, each in (("mbarrier", found), ("other", other)):
        came = each.phase.count - each.phase.pending
        if 0 < came < each.phase.count:
            counted = f"{came} of the {plural(each.phase.count, 'arrival')} that it counts come"
            return f"let more threads arrive on {{{name}}}, or initialize it for fewer: {counted}"
    if found.completed == found.start or other.completed == other.start:
        free = "where a slot is free to begin with, the first wait for it has parity 1"
        return f"let one of the waits pass at first: {free}"
    return "let threads arrive on {mbarrier} after each wait for {other}, and the other way round"
