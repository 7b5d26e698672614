"""Assembly against the kernel that was asked for: the same barriers, and nothing outstanding that must be complete.

What holds of the kernel is proven by `check`; here it is shown that it holds of the assembly:

* two accesses that a barrier keeps apart in the kernel are kept apart in the assembly: whatever is *together* there
  is together in the kernel (instructions of a stretch without a barrier may change places);
* rendezvous follow each other as in the kernel, and none is missing;
* where a wave arrives at a rendezvous, or accesses shared memory, nothing is outstanding that is complete in the
  kernel;
* no register is named while a load that writes it may be outstanding;
* signals and waits of split barriers take turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fencepost.hosts.amdgcn.meetings import Meetings, meetings
from fencepost.hosts.amdgcn.outstanding import Outstanding, outstanding
from fencepost.hosts.amdgcn.registers import named
from fencepost.hosts.amdgcn.steps import COPIES, COPY_IN, END, READ, START, UPDATE, WRITE, Access, Step, Steps
from fencepost.hosts.triton.assembly.expected import Expected

MISSING, OTHER, ORDER = "missing barrier", "barrier not asked for", "barriers in another order"
APART, HALF, USED = "no barrier between", "half of a split barrier", "used before it is loaded"
INCOMPLETE, RETURNED = "may be outstanding", "outstanding at a return"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that the assembly lacks."""

    kind: str
    line: int
    """Where in the assembly; 0 if nowhere in particular."""
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def compare(made: Steps, asked: Expected) -> list[Finding]:
    """What the assembly lacks of what was asked for."""
    named_steps, met = with_operations(made, asked)
    return [*barrier_findings(met, asked), *wait_findings(outstanding(named_steps), met, asked)]


def barrier_findings(met: Meetings, asked: Expected) -> list[Finding]:
    """What is wrong with barriers. A single wave meets nobody."""
    return [*_barriers(met, asked), *_not_kept_apart(met, asked)] if asked.waves > 1 else []


def wait_findings(pending: Outstanding, met: Meetings, asked: Expected) -> list[Finding]:
    """What may be outstanding and must not be."""
    return [
        *early_uses(pending),
        *_outstanding_at_meetings(pending, met, asked),
        *_copies_at_accesses(pending, asked),
    ]


def with_operations(made: Steps, asked: Expected) -> tuple[Steps, Meetings]:
    """The assembly with what is known of the operations that it was made from.

    What a call does in the kernel stands in the place of the call (the callee is compared by itself), values that go
    through memory side by side are distinguished, and reads do not name an operation that they cannot be of.
    """
    blocks = [[each for step in block for each in _known(step, asked)] for block in made.blocks]
    made = Steps(made.name, blocks, made.successors)
    met = meetings(made)
    wrong = _wrongly_named(made, met, asked)
    if not wrong:
        return made, met
    made = _without_names(made, wrong)
    return made, meetings(made)


def _known(step: Step, asked: Expected) -> list[Step]:
    if step.calls:
        return [step, *asked.calls.get(step.number, ())]
    if step.access is not None and asked.side_by_side(step.number):
        return [replace(step, access=step.access._replace(part=step.offset))]
    return [step]


def _wrongly_named(made: Steps, met: Meetings, asked: Expected) -> set[int]:
    """Lines of reads that cannot be of the operation that they name: what it reads back is behind its own barrier.

    An instruction without a place of its own has that of the one before it in the file.
    """
    return {
        step.line
        for block in made.blocks
        for step in block
        if step.access is not None
        and step.access.does == READ
        and step.number in asked.exchanges
        and step.number not in met.last.get(step.line, frozenset((step.number,)))
    }


def _without_names(made: Steps, lines: set[int]) -> Steps:
    """The same, with these accesses taken to be of an operation that is not known."""
    blocks = [
        [replace(step, access=Access(0, READ)) if step.line in lines else step for step in block]
        for block in made.blocks
    ]
    return Steps(made.name, blocks, made.successors)


def early_uses(made: Outstanding) -> Iterator[Finding]:
    """Registers that are used before what they are loaded with is there."""
    for use in made.early_uses:
        what = f"its load on line {use.load}" if use.load else "what the caller loads it with"
        yield Finding(USED, use.line, f"{named(use.registers)} is used here; {what} may be outstanding")
    for line, issued in made.returned:
        yield Finding(
            RETURNED, line, f"the caller goes on here; what line {issued} issues may be outstanding"
        )


def _barriers(made: Meetings, asked: Expected) -> Iterator[Finding]:
    """Barriers that are missing, not asked for, or in another order; and halves without the other one."""
    for line, said in made.unpaired.items():
        yield Finding(HALF, line, said)
    for number in asked.meetings.lines:
        if number not in made.lines:
            yield Finding(MISSING, 0, f"{asked.barrier(number)} is not there")
        elif number in asked.twice and (number, number) not in made.follows:
            yield Finding(MISSING, made.lines[number], f"{asked.barrier(number)} is there once, not twice")
    for number, line in made.lines.items():
        if number not in asked.meetings.lines:
            yield Finding(OTHER, line, f"nobody asked for a barrier at {asked.operation(number)}")
    for (before, number), line in made.follows.items():
        if (before, number) in asked.meetings.follows or (before == number and asked.repeats(number)):
            continue
        yield Finding(
            ORDER, line, f"{_meeting(number, asked)} follows {_meeting(before, asked)}: never asked for"
        )


def _meeting(number: int, asked: Expected) -> str:
    return {START: "the start", END: "the end"}.get(number) or asked.barrier(number)


def _not_kept_apart(made: Meetings, asked: Expected) -> Iterator[Finding]:
    """Accesses that a barrier kept apart in what was asked for, at least one of them a write."""
    for (first, second), line in made.together.items():
        if not {first.does, second.does} & {WRITE, UPDATE, COPY_IN}:
            continue
        here = (first, second)
        if asked.together(first, second) or (here in made.forward and asked.in_one_operation(first, second)):
            continue
        moved = here in made.straight and asked.forward(second, first)
        if moved and not made.has_two_instances(first, second):
            # Within a stretch without a barrier, LLVM may have changed the order of what does not overlap.
            continue
        yield Finding(APART, line, f"no barrier between {asked.access(first)} and {asked.access(second)}")


def _outstanding_at_meetings(made: Outstanding, met: Meetings, asked: Expected) -> Iterator[Finding]:
    """What is complete where the wave arrives at a rendezvous, and is not in the assembly."""
    for number, point in made.meetings.items():
        there = asked.outstanding.meetings.get(number)
        if there is None:
            continue
        line = met.lines.get(number, 0)
        # A wave may end before its last writes are complete.
        for access, issued in point.accesses.items() if number != END else ():
            if not any(each in there.accesses for each in asked.candidates(access)):
                what = f"{asked.access(access)} (line {issued})"
                yield Finding(INCOMPLETE, line, f"{what} may be outstanding at {_meeting(number, asked)}")
        for copy, count in point.copies.items():
            if count > there.copies.get(copy, 0):
                yield _copy(line, copy, count - there.copies.get(copy, 0), _meeting(number, asked), asked)


def _copies_at_accesses(made: Outstanding, asked: Expected) -> Iterator[Finding]:
    """Copies that are complete where shared memory is accessed, and are not in the assembly."""
    for access, point in made.accesses.items():
        every = [asked.outstanding.accesses[each].copies for each in asked.candidates(access)]
        if access.does in COPIES or not every:
            continue
        for copy, count in point.copies.items():
            # A copy that is asked for later in the same stretch may have been moved here.
            later = any(asked.forward(access, Access(copy, does)) for does in COPIES)
            more = count - max(there.get(copy, 0) for there in every) - later
            if more > 0:
                yield _copy(0, copy, more, asked.access(access), asked)


def _copy(line: int, copy: int, more: int, where: str, asked: Expected) -> Finding:
    name = asked.operation(copy)
    return Finding(INCOMPLETE, line, f"{more} more of the copies of {name} may be outstanding at {where}")
