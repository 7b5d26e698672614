"""What was asked for: the facts of a kernel that its assembly has to have as well.

Instructions say which operation they were made from (`numbered_locations`). Where LLVM has merged two, or has taken a
load apart, one may name nothing, or whoever uses the value: then it is one of several *candidates*.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fencepost.hosts.amdgcn.meetings import Meetings, meetings
from fencepost.hosts.amdgcn.outstanding import Outstanding, outstanding
from fencepost.hosts.amdgcn.steps import COPIES, READ, UPDATE, WRITE, Access, Meets, Step, Steps
from fencepost.hosts.triton.assembly.kernel_steps import kernel_steps
from fencepost.hosts.triton.assembly.numbered_locations import number_of, numbered_operations
from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.hosts.triton.translate import Translation

IN_ROUNDS = ("tt.reduce", "ttg.convert_layout", "tt.histogram")
"""Operations that may need several rounds through their memory: write, barrier, read; barrier, write, barrier, read.
A histogram clears its bins, and updates them behind another barrier."""
SIDE_BY_SIDE = "tt.reduce"
"""Of several values, each goes through memory of its own: their rounds have no barrier in between."""


@dataclass(slots=True)
class Expected:
    """A kernel, followed."""

    waves: int
    steps: Steps
    operations: dict[int, Operation]
    """Those of the module, by number."""
    meetings: Meetings
    outstanding: Outstanding
    calls: dict[int, list[Step]] = field(default_factory=dict)
    """What calls do, by their numbers."""
    exchanges: frozenset[int] = frozenset()
    """Operations that write, meet and read back: their numbers."""
    twice: frozenset[int] = frozenset()
    """Operations with more than one barrier inside (an atomic that releases and acquires)."""
    _candidates: dict[Access, tuple[Access, ...]] = field(default_factory=dict)

    def candidates(self, access: Access) -> tuple[Access, ...]:
        """The accesses of the kernel that one of the assembly may be."""
        if access not in self._candidates:
            self._candidates[access] = self._found(access)
        return self._candidates[access]

    def _found(self, access: Access) -> tuple[Access, ...]:
        same = [Access(access.number, does) for does in _alike(access.does)]
        known = [each for each in same if each in self.outstanding.accesses]
        if known:
            return tuple(known)
        every = [each for each in self.outstanding.accesses if each.does in _alike(access.does)]
        feeding = self._feeding(access.number) if access.does == READ else set()
        near = [each for each in every if each.number in feeding]
        return tuple(near or every)

    def _feeding(self, number: int) -> set[int]:
        """The reads of shared memory that the operands of an operation come from."""
        reads = {each.number for each in self.outstanding.accesses if each.does == READ}
        found: set[int] = set()
        todo = [self.operations[number]] if number in self.operations else []
        seen: set[Operation] = set()
        while todo:
            op = todo.pop()
            if op in seen:
                continue
            seen.add(op)
            if number_of(op) in reads:
                found.add(number_of(op))
            else:
                todo += [each for value in op.operands if (each := value.defining_operation) is not None]
        return found

    def together(self, first: Access, second: Access) -> bool:
        """Whether execution can go from one to the other without a rendezvous."""
        return self._in(first, second, self.meetings.together)

    def forward(self, first: Access, second: Access) -> bool:
        """The same without going round a loop."""
        return self._in(first, second, self.meetings.forward)

    def _in(self, first: Access, second: Access, pairs: dict[tuple[Access, Access], int]) -> bool:
        return any((one, two) in pairs for one in self.candidates(first) for two in self.candidates(second))

    def in_one_operation(self, first: Access, second: Access) -> bool:
        """Whether two accesses belong to one operation, which is many instructions, and need no barrier there."""
        if first.number != second.number or first.number not in self.operations:
            return False
        if first.does == second.does or {first.does, second.does} <= {WRITE, *COPIES}:
            return True
        return self.side_by_side(first.number) and first.does == READ and first.part != second.part

    def side_by_side(self, number: int) -> bool:
        """Whether an operation exchanges several values, each through memory of its own."""
        op = self.operations.get(number)
        return op is not None and op.name == SIDE_BY_SIDE and len(op.operands) > 1

    def repeats(self, number: int) -> bool:
        """Whether the barrier inside of an operation may come several times."""
        return number in self.operations and self.operations[number].name in IN_ROUNDS

    def operation(self, number: int) -> str:
        """An operation, for a message."""
        if number not in self.operations:
            return "an operation that is not known"
        op = self.operations[number]
        return f"{op.name} ({op.origin})" if op.origin else op.name

    def barrier(self, number: int) -> str:
        """A barrier, for a message."""
        name = self.operations[number].name if number in self.operations else ""
        inside = "" if "barrier" in name else "inside of "
        return f"the barrier {inside}{self.operation(number)}"

    def access(self, access: Access) -> str:
        """An access, for a message."""
        return f"the {access.does} of {self.operation(access.number)}"


def asked_for(translation: Translation) -> Expected:
    """The facts of a kernel whose operations are numbered."""
    steps = kernel_steps(translation)
    operations = {number_of(op): op for op in numbered_operations(translation.module)}
    called: dict[int, list[Step]] = defaultdict(list)
    for block in steps.blocks:
        for step in block:
            if step.number in operations and operations[step.number].name == "tt.call":
                # It is complete when the callee returns.
                called[step.number].append(replace(step, issues=()))
    met = meetings(steps)
    return Expected(
        waves=translation.trace.waves,
        steps=steps,
        operations=operations,
        meetings=met,
        outstanding=outstanding(steps),
        calls=dict(called),
        exchanges=_exchanges(steps, met),
        twice=frozenset(_twice(steps)),
    )


def _twice(steps: Steps) -> Iterator[int]:
    for block in steps.blocks:
        inside = Counter(step.number for step in block if step.meets is not Meets.NOT)
        yield from (number for number, count in inside.items() if count > 1)


def _exchanges(steps: Steps, met: Meetings) -> frozenset[int]:
    """Operations whose reads have a barrier of their own in front, and nothing else."""
    reads = [
        step
        for block in steps.blocks
        for step in block
        if step.access is not None and step.access.does == READ
    ]
    return frozenset(step.number for step in reads if met.last.get(step.line) == frozenset((step.number,)))


def _alike(does: str) -> tuple[str, ...]:
    """What the wave itself may write with is one to a kernel."""
    return (does, WRITE, UPDATE) if does in (WRITE, UPDATE) else (does,)
