"""What `check` found, and how much it looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from fencepost.check.concrete_access import Bytes
from fencepost.ir.ops import WORKGROUP, Call, MemoryOperation, Operation
from fencepost.ir.trace import CapturedTrace

Iteration = tuple[tuple[str, int | str], ...]
"""Names and their values, where they were followed: loop variables, and what loops and conditionals forward."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One access as it happened: which operation, which wave, which iteration, which bytes."""

    op: MemoryOperation
    wave: int
    iteration: Iteration
    bytes: Bytes
    verb: str
    by_engine: bool = False
    block: int = 0
    """The block that it stands in, by its number in the flow."""
    calls: tuple[Call, ...] = ()
    """For an operation of a function: the calls that led to it, outermost first."""


@dataclass(frozen=True, slots=True)
class Fix:
    """What would order the two accesses, as far as the path between them says; `group_by_fix` tries it, and more."""

    what: str
    before: Operation | None = None
    """Where it would have to stand; None if nothing can."""
    ops: tuple[Operation, ...] = ()
    """What would have to stand there."""


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses to a common byte that nothing orders, or that are ordered the wrong way round."""

    kind: str
    """`race` or `wrong order`."""
    hazard: str
    """RAW, WAR or WAW."""
    first: Touch
    second: Touch
    rounds: tuple[int, ...]
    """The loops around both accesses that go round between them, by their number in the flow."""
    why: str
    path: tuple[Operation, ...]
    """What is executed between the two, both included."""
    waited: bool = False
    """The first access was complete in its own wave."""
    signalled: bool = False
    """A split barrier was signalled after the first access, but not waited for before the second."""
    unfenced: Operation | None = None
    """A barrier between them that lacks the fence which would order them."""
    weak: Operation | None = None
    """A wait between them that may leave the first one outstanding."""
    fix: Fix | None = None

    @property
    def distance(self) -> int:
        """How many iterations of a loop around both lie between them."""
        return len(self.rounds)


UNFILLED = "unfilled"
"""The kind of a finding about a read that comes before its bytes are written for the first time."""


@dataclass(frozen=True, slots=True)
class Deadlock:
    """A wave that waits for something that never happens, or a split barrier or mbarrier out of step."""

    kind: str
    """`stuck`, `wait without signal`, `signalled twice`, `left signalled`; for mbarriers `early arrival`,
    `missed phase`, `lifetime`, `unfilled`."""
    message: str
    ops: tuple[tuple[Operation, str], ...]
    """The operations concerned, each with what to say about it."""
    path: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class OutOfRange:
    """An access whose slot or bytes lie outside its buffer."""

    op: MemoryOperation
    iteration: Iteration
    message: str
    calls: tuple[Call, ...] = ()


def barrier_name(bar_id: int) -> str:
    """What a barrier is called in messages."""
    return "the workgroup's barrier" if bar_id == WORKGROUP else f"barrier {bar_id}"


@dataclass(slots=True)
class Explored:
    """How much was looked at. Only `complete` means that nothing was left out."""

    method: str
    complete: bool = True
    accesses: int = 0
    steps: int = 0
    paths: int = 0
    limits: list[str] = field(default_factory=list)
    not_followed: tuple[str, ...] = ()
    """Parameters with too many values to try: what is found may need values that they do not have together."""
    unjudged: tuple[str, ...] = ()
    """What the kernel was made from has to get right and the kernel does not say."""
    work: int = 0
    """What was done, in units of about a microsecond: how often something was looked at or compared. No clock, so
    that the same kernel always gets the same verdict."""
    most_work: int = 4_000_000

    def out_of_work(self) -> bool:
        """Whether so much was done that the rest is left out; the report then says so."""
        if self.work <= self.most_work:
            return False
        self.cut(f"stopped after {self.most_work} comparisons")
        return True

    def cut(self, what: str) -> None:
        """Something was left out."""
        self.complete = False
        if what not in self.limits:
            self.limits.append(what)

    def __str__(self) -> str:
        looked = (
            f"followed {_count(self.accesses, 'access', 'accesses')} along every path ({self.steps} steps)"
        )
        if self.method == "simulate":
            looked = f"simulated {_count(self.paths, 'path')}"
        elif self.method == "apart":
            looked = f"simulated {_count(self.paths, 'path')} and {looked}"
        others = f"; not judged: {', '.join(self.unjudged)}" if self.unjudged else ""
        if self.not_followed:
            names = ", ".join(f"%{name}" for name in self.not_followed)
            others += (
                f"; too many values to follow: {names}, which may not be able to have those that this takes"
            )
        if not self.complete:
            return f"{looked}; not a proof: {'; '.join(self.limits)}{others}"
        return f"{looked}{others or '; nothing was left out'}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


@dataclass(slots=True)
class Report:
    """The verdict on one kernel."""

    races: list[Race]
    deadlocks: list[Deadlock]
    out_of_range: list[OutOfRange]
    explored: Explored
    kernel: CapturedTrace | None = field(default=None, repr=False)
    """What was judged,"""
    judge: Callable[[CapturedTrace], Report] | None = field(default=None, repr=False, compare=False)
    """and how: the same question about the same kernel with a change, to see whether that helps."""
    silenced: int = 0
    """Findings that comments in the kernel allow; they were taken out of the lists."""
    unasked: int = field(default=0, compare=False)
    """Reads of bytes before anybody has written to them, which `check` was not asked about."""
    printer: ClassVar[Callable[[Report], str] | None] = None
    """Who writes a report out in words; the package says, for `check` itself knows nothing of that."""

    def __reduce__(self) -> tuple[object, ...]:
        # To another process a verdict goes without its kernel: that is a chain of operations, and may be long.
        found = (self.races, self.deadlocks, self.out_of_range, self.explored)
        return Report, (*found, None, None, self.silenced)

    def __str__(self) -> str:
        return Report.printer(self) if Report.printer is not None else repr(self)

    @property
    def ok(self) -> bool:
        """Whether nothing was found. Whether everything was looked at is another question: `explored.complete`."""
        return not (self.races or self.deadlocks or self.out_of_range)

    @property
    def proven(self) -> bool:
        """Whether nothing was found, silenced or left out: that there is nothing to find."""
        return self.ok and self.explored.complete and not self.silenced
