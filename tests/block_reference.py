"""Races between labelled blocks, from the execution model alone: every state that a kernel can be in, one by one.

A state says which block runs next, for which waves, and what every number is for every wave. From there the kernel is
stepped as it stands; nothing is folded, reduced or left out. Along the way goes what has been accessed since the last
barrier. It knows nothing of flows and is slow, and it is for blocks that hold plain accesses and barriers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.ir import ops
from fencepost.ir.buffers import View
from fencepost.ir.expr import decide, evaluate, is_divergent
from fencepost.ir.trace import CapturedTrace, Graph
from fencepost.ir.verify import verify_trace

END = -1
"""Where waves are that have returned."""

Numbers = tuple[tuple[str, int], ...]


class Frame(NamedTuple):
    """Some waves in front of a block, up to where the others join them."""

    block: int
    waves: tuple[int, ...]
    join: int


class State(NamedTuple):
    """Where waves are, the ones that run now last; and for each wave the numbers that it has been handed."""

    frames: tuple[Frame, ...]
    numbers: tuple[Numbers, ...]


class Access(NamedTuple):
    """What one wave touches at one operation."""

    line: int
    wave: int
    reads: bool
    writes: bool
    atomic: bool
    space: str
    lo: int
    hi: int

    def races(self, later: Access) -> bool:
        if self.wave == later.wave or not (self.writes or later.writes) or (self.atomic and later.atomic):
            return False
        return self.space == later.space and self.lo < later.hi and later.lo < self.hi


@dataclass
class Found:
    """The pairs of lines that race, and whether all states were looked at."""

    races: set[tuple[int, int]] = field(default_factory=set)
    complete: bool = True
    states: int = 0


class Machine:
    """A kernel that is stepped."""

    def __init__(self, trace: CapturedTrace) -> None:
        verify_trace(trace)
        self.trace = trace
        self.number = {graph.name: number for number, graph in enumerate(trace.blocks) if number}
        self.targets = [self._targets(graph) for graph in trace.blocks]
        self.joins: dict[int, int] = {}

    def start(self) -> State:
        waves = tuple(range(self.trace.waves))
        return State((Frame(0, waves, END),), ((),) * self.trace.waves)

    def _targets(self, graph: Graph) -> list[int]:
        end = graph.last
        if isinstance(end, ops.Branch):
            return [self.number[end.target]]
        if isinstance(end, ops.CondBranch):
            return [self.number[end.then], self.number[end.orelse]]
        return [END]

    # ------------------------------------------------------------ one step

    def run(self, state: State) -> Iterator[ops.Operation]:
        """The operations that are run from a state on, up to the end of the block."""
        yield from self.trace.blocks[state.frames[-1].block]

    def after(self, state: State) -> list[State]:
        """Where the kernel can be when the block has ended."""
        *rest, frame = state.frames
        end = self.trace.blocks[frame.block].last
        numbers = list(state.numbers)
        targets = self.targets[frame.block]
        if isinstance(end, ops.Branch):
            for wave in frame.waves:
                old = dict(numbers[wave])
                new = dict(old)
                for name, arg in zip(end.names, end.args, strict=True):
                    value = evaluate(arg, old, wave)
                    new.pop(name.name, None)
                    if value is not None:
                        new[name.name] = value
                numbers[wave] = tuple(sorted(new.items()))
        elif isinstance(end, ops.CondBranch) and is_divergent(end.condition):
            return self.divided(state, rest, frame, end)
        elif isinstance(end, ops.CondBranch):
            decided = {decide(end.condition, dict(numbers[wave])) for wave in frame.waves}
            assert len(decided) == 1, "a condition that waves disagree about"
            holds = decided.pop()
            if holds is not None:
                targets = targets[:1] if holds else targets[1:]
        states = (
            self.settled([*rest, frame._replace(block=target)], tuple(numbers))
            for target in dict.fromkeys(targets)
        )
        return [found for found in states if found is not None]

    def divided(self, state: State, rest: list[Frame], frame: Frame, end: ops.CondBranch) -> list[State]:
        """Both sides, one after the other, each for its own waves; whoever cannot tell goes either way."""
        ways = [
            {True: (True,), False: (False,), None: (True, False)}[self.holds(end, state, w)]
            for w in frame.waves
        ]
        join = self.join(frame.block)
        found = []
        choices: list[list[bool]] = [[]]
        for way in ways:
            choices = [[*choice, side] for choice in choices for side in way]
        for choice in choices:
            sides = [
                tuple(w for w, c in zip(frame.waves, choice, strict=True) if c is side)
                for side in (True, False)
            ]
            then, orelse = self.targets[frame.block]
            frames = [*rest, frame._replace(block=join)]
            frames += [Frame(orelse, sides[1], join)] if sides[1] else []
            frames += [Frame(then, sides[0], join)] if sides[0] else []
            settled = self.settled(frames, state.numbers)
            if settled is not None:
                found.append(settled)
        return found

    def holds(self, end: ops.CondBranch, state: State, wave: int) -> bool | None:
        return decide(end.condition, dict(state.numbers[wave]), wave)

    def settled(self, frames: list[Frame], numbers: tuple[Numbers, ...]) -> State | None:
        """The state, once whoever has come to the join waits there; None at the end of the kernel."""
        while frames and frames[-1].block in (frames[-1].join, END):
            frames = frames[:-1]
        return State(tuple(frames), numbers) if frames else None

    def join(self, block: int) -> int:
        """Where the sides of a divergent branch come together: the first block that no way to the end misses."""
        if block not in self.joins:
            certain = [
                other
                for other in range(len(self.targets))
                if other != block and not self.reaches(block, END, other)
            ]
            nearest = [
                other
                for other in certain
                if not any(self.reaches(block, further, other) for further in certain if further != other)
            ]
            self.joins[block] = nearest[0] if nearest else END
        return self.joins[block]

    def reaches(self, start: int, goal: int, without: int) -> bool:
        seen, todo = {start, without}, [start]
        while todo:
            for target in self.targets[todo.pop()]:
                if target == goal:
                    return True
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        return False


# ---------------------------------------------------------------- races


def find_races(trace: CapturedTrace, most: int = 4000) -> Found:
    """Every pair of accesses that nothing orders, over all states of a kernel; at most so many are looked at."""
    machine, found = Machine(trace), Found()
    pending: dict[State, set[Access]] = {machine.start(): set()}
    todo = list(pending)
    while todo:
        state = todo.pop()
        since = set(pending[state])
        frame = state.frames[-1]
        for op in machine.run(state):
            if isinstance(op, ops.SharedMemoryBarrier):
                assert len(frame.waves) == trace.waves, "a barrier that some waves do not meet"
                since.clear()
            elif isinstance(op, ops.Read | ops.Write | ops.AtomicOp):
                now = [
                    access for wave in frame.waves for access in accesses(op, wave, dict(state.numbers[wave]))
                ]
                found.races |= {
                    (earlier.line, later.line) for earlier in since for later in now if earlier.races(later)
                }
                since.update(now)
            else:
                assert isinstance(op, ops.Branch | ops.CondBranch | ops.Return), op.mnemonic
        for target in machine.after(state):
            if target not in pending and len(pending) >= most:
                found.complete = False
            elif target not in pending or not since <= pending[target]:
                pending.setdefault(target, set()).update(since)
                todo.append(target)
    found.states = len(pending)
    return found


def accesses(op: ops.Read | ops.Write | ops.AtomicOp, wave: int, numbers: dict[str, int]) -> Iterator[Access]:
    reads, writes = not isinstance(op, ops.Write), not isinstance(op, ops.Read)
    assert op.span is not None
    for view in op.views:
        space, lo, hi = touched(view, numbers, wave)
        yield Access(op.span.line, wave, reads, writes, isinstance(op, ops.AtomicOp), space, lo, hi)


def touched(view: View, numbers: dict[str, int], wave: int) -> tuple[str, int, int]:
    """The bytes of a view; all that it could be, where a number is not known."""
    buffer = view.buffer
    space, base = (buffer.name, 0) if buffer.offset is None else ("", buffer.offset)
    lo, hi = 0, buffer.size
    if view.slot is not None:
        slot = evaluate(view.slot, numbers, wave)
        if slot is None:
            return space, base, base + buffer.size
        lo, hi = slot * buffer.slot_bytes, (slot + 1) * buffer.slot_bytes
    if view.lo is not None and view.hi is not None:
        first, last = evaluate(view.lo, numbers, wave), evaluate(view.hi, numbers, wave)
        if first is not None and last is not None:
            lo, hi = lo + first, lo + last
    return space, base + lo, base + hi
