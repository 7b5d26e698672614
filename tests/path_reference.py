"""Races by brute force: a kernel's text is run as it stands, once for every choice that it leaves open.

The queues of every counter are kept as the hardware does, and every access is compared with every later one. It knows
nothing of flows, states or folds. It is slow and short.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import Flag, decide, evaluate, is_divergent
from fencepost.ir.trace import CapturedTrace, Graph
from tests.block_reference import END, Machine

ROUNDS = 7
"""Most iterations of a loop of unknown length."""
PATHS = 400
VISITS = 60
"""Most labelled blocks that a run comes by."""

Space = tuple[Buffer | None, int]
Names = dict[str, int | None]


@dataclass(frozen=True)
class Instance:
    """Which run of a body, and which iteration of each loop around."""

    call: int
    loops: tuple[tuple[ops.Iterate, int], ...] = ()

    def same_act(self, other: Instance) -> bool:
        """Whether both are in one call, and in the same iteration of every loop around both."""
        theirs = dict(other.loops)
        return self.call == other.call and all(theirs.get(loop, n) == n for loop, n in self.loops)


@dataclass
class Access:
    """One access by one wave, or by its engine."""

    op: ops.MemoryOperation
    wave: int
    number: int
    """Its place in the sequence that all waves run."""
    bytes: set[Space]
    instance: Instance
    complete: int | None = None
    """The place in the sequence at which its wave knew it to be complete."""

    @property
    def engine(self) -> bool:
        return isinstance(self.op, ops.AsyncOperation)

    @property
    def reads(self) -> bool:
        return not isinstance(self.op, ops.Write | ops.AsyncCopy)

    @property
    def writes(self) -> bool:
        return not isinstance(self.op, ops.Read | ops.AsyncRead)


@dataclass
class Wave:
    """What one wave has outstanding."""

    queues: dict[str, list[Access | None]] = field(default_factory=dict)
    open: dict[str, list[Access]] = field(default_factory=dict)
    groups: dict[str, list[list[Access]]] = field(default_factory=dict)
    results: dict[ops.ValueOperation, Access | None] = field(default_factory=dict)


class Choices:
    """The decisions of one run; the ones that are not scripted are taken the first way."""

    def __init__(self, script: list[int]) -> None:
        self.script = script
        self.taken: list[tuple[int, int]] = []

    def of(self, ways: int) -> int:
        choice = self.script[len(self.taken)] if len(self.taken) < len(self.script) else 0
        self.taken.append((choice, ways))
        return choice


class Chances(Choices):
    """Decisions taken at random."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__([])
        self.random = rng

    def of(self, ways: int) -> int:
        return self.random.randrange(ways)


class Run:
    """One run of a kernel by all its waves."""

    def __init__(self, trace: CapturedTrace, choices: Choices) -> None:
        self.trace = trace
        self.choices = choices
        self.grouped = {
            op.counter
            for body in (trace, *trace.functions())
            for op in body.preorder_walk()
            if isinstance(op, ops.CommitGroup)
        }
        self.waves = [Wave() for _ in range(trace.waves)]
        self.accesses: list[Access] = []
        self.shared: dict[tuple[int, int], set[Space]] = {}
        """For each operation as it is run, and each wave that takes part: the bytes."""
        self.meetings: list[tuple[int, int]] = []
        """Where all waves arrive at a rendezvous, and where they leave it."""
        self.signals: dict[int, int] = {}
        self.number = 0
        self.calls = 0
        self.visits = 0
        self.machine = Machine(trace)
        everyone = list(range(trace.waves))
        self.blocks(0, END, [{} for _ in everyone], everyone)

    # ------------------------------------------------------------ control flow

    def blocks(self, here: int, join: int, env: list[Names], waves: list[int]) -> None:
        """Labelled blocks, one after the other, up to where other waves join these."""
        while here not in (join, END) and self.visits < VISITS:
            self.visits += 1
            graph, targets = self.trace.blocks[here], self.machine.targets[here]
            self.region(graph, env, waves, 0, Instance(0))
            end = graph.last
            if isinstance(end, ops.Branch):
                self.hand(end.names, end.args, env, waves)
            if not isinstance(end, ops.CondBranch):
                here = targets[0]
                continue
            taking = self.taking(end, env, waves)
            meet = self.machine.join(here) if is_divergent(end.condition) else END
            if not is_divergent(end.condition):
                here = targets[0] if taking else targets[1]
                continue
            for target, side in zip(targets, (taking, [w for w in waves if w not in taking]), strict=True):
                if side:
                    self.blocks(target, meet, env, side)
            here = meet

    def region(
        self, graph: Graph, env: list[Names], waves: list[int], frame: int, instance: Instance
    ) -> None:
        for op in graph:
            if isinstance(op, ops.Iterate):
                self.loop(op, env, waves, frame, instance)
            elif isinstance(op, ops.Conditional):
                self.conditional(op, env, waves, frame, instance)
            elif isinstance(op, ops.Call):
                self.calls += 1
                inner: list[Names] = [{} for _ in env]
                self.region(op.function.blocks[0], inner, waves, frame + op.frame, Instance(self.calls))
            elif isinstance(op, ops.Exchange):
                for part in op.parts():
                    self.simple(part, env, waves, frame, instance)
            elif not isinstance(op, ops.Next | ops.Give | ops.Terminator):
                self.simple(op, env, waves, frame, instance)

    def loop(
        self, op: ops.Iterate, env: list[Names], waves: list[int], frame: int, instance: Instance
    ) -> None:
        self.hand(op.carried, tuple(name.init for name in op.carried), env, waves)
        trip = self.choices.of(ROUNDS + 1) if op.trip is None else op.trip
        for number in range(trip):
            for wave in waves:
                env[wave][op.var] = op.start + op.step * number
            inside = Instance(instance.call, (*instance.loops, (op, number)))
            self.region(op.body, env, waves, frame, inside)
            if isinstance(op.body.last, ops.Next):
                self.hand(op.carried, op.body.last.values, env, waves)

    def conditional(
        self,
        op: ops.Conditional,
        env: list[Names],
        waves: list[int],
        frame: int,
        instance: Instance,
    ) -> None:
        taking = self.taking(op, env, waves)
        for graph, side in ((op.then, taking), (op.orelse, [w for w in waves if w not in taking])):
            if side:
                self.region(graph, env, side, frame, instance)
                if isinstance(graph.last, ops.Give):
                    self.hand(op.gives, graph.last.values, env, side)

    def taking(self, op: ops.Conditional | ops.CondBranch, env: list[Names], waves: list[int]) -> list[int]:
        """The waves for which a condition holds; one that is not known is decided for all of them, or for each."""
        if is_divergent(op.condition):
            holds = [decide(op.condition, known(env[wave]), wave) for wave in waves]
            return [
                wave
                for wave, yes in zip(waves, holds, strict=True)
                if (bool(self.choices.of(2)) if yes is None else yes)
            ]
        decided = None if isinstance(op.condition, Flag) else decide(op.condition, known(env[waves[0]]))
        yes = bool(self.choices.of(2)) if decided is None else decided
        return waves if yes else []

    def hand(
        self,
        names: tuple[ops.Carried, ...],
        values: tuple[ops.Forwarded | None, ...],
        env: list[Names],
        waves: list[int],
    ) -> None:
        for wave in waves:
            old, results = known(env[wave]), dict(self.waves[wave].results)
            for name, value in zip(names, values, strict=True):
                if isinstance(value, ops.ValueOperation):
                    self.waves[wave].results[name] = results.get(value)
                elif isinstance(value, BufferArg):
                    env[wave][name.name] = old.get(value.name)
                elif isinstance(value, Buffer):
                    env[wave][name.name] = value.number
                elif value is not None:
                    env[wave][name.name] = evaluate(value, old, wave)

    # ------------------------------------------------------------ operations

    def simple(
        self,
        op: ops.Operation,
        env: list[Names],
        waves: list[int],
        frame: int,
        instance: Instance,
    ) -> None:
        self.number += 1
        for wave in waves:
            state = self.waves[wave]
            if isinstance(op, ops.MemoryCounterWait | ops.SharedMemoryBarrier):
                self.count_down(state, op)
            if isinstance(op, ops.SharedMemoryBarrier | ops.SharedMemoryBarrierSignal):
                self.finish(state.queues.pop("lds", []))
            if isinstance(op, ops.CommitGroup):
                state.groups.setdefault(op.counter, []).append(state.open.pop(op.counter, []))
            if isinstance(op, ops.ValueOperation) and not isinstance(op, ops.SyncOperation):
                self.issue(op, state, wave, env[wave], frame, instance)
        if isinstance(op, ops.SharedMemoryBarrier | ops.WorkgroupBarrier):
            self.meetings.append((self.number, self.number))
        elif isinstance(op, ops.SharedMemoryBarrierSignal):
            self.signals[op.bar_id] = self.number
        elif isinstance(op, ops.SharedMemoryBarrierWait) and op.bar_id in self.signals:
            self.meetings.append((self.signals.pop(op.bar_id), self.number))

    def finish(self, accesses: list[Access] | list[Access | None]) -> None:
        for access in accesses:
            if access is not None and access.complete is None:
                access.complete = self.number

    def count_down(self, state: Wave, op: ops.MemoryCounterWait | ops.SharedMemoryBarrier) -> None:
        if op.drains:
            for counter in [counter for counter in state.queues if counter != "lds"]:
                self.finish(state.queues.pop(counter))
            for groups in state.groups.values():
                for group in groups:
                    self.finish(group)
            for rest in state.open.values():
                self.finish(rest)
        for counter, allowed in op.counts.items():
            if counter in self.grouped and counter != "lds":
                groups = state.groups.get(counter, [])
                while len(groups) > allowed:
                    self.finish(groups.pop(0))
                continue
            queue = state.queues.get(counter, [])
            done = queue[: max(len(queue) - allowed, 0)]
            if counter == "lds" and allowed:
                # What was written can be relied on only when nothing is outstanding.
                self.finish([access for access in done if access is not None and not access.writes])
            else:
                self.finish(done)
                state.queues[counter] = queue[len(done) :]

    def issue(
        self,
        op: ops.ValueOperation,
        state: Wave,
        wave: int,
        names: Names,
        frame: int,
        instance: Instance,
    ) -> None:
        for value in op.uses:
            read = state.results.get(value)
            if read is not None:
                earlier = [a for a in self.accesses if a.wave == wave and a.number <= read.number]
                self.finish([a for a in earlier if not a.engine and not a.writes])
        if isinstance(op, ops.MemoryOperation):
            places = {place for view in op.views for place in touched(view, known(names), wave, frame)}
            access = Access(op, wave, self.number, places, instance)
            self.accesses.append(access)
            self.shared[self.number, wave] = places
            if isinstance(op, ops.AsyncOperation):
                if op.counter in self.grouped:
                    state.open.setdefault(op.counter, []).append(access)
                else:
                    state.queues.setdefault(op.counter, []).append(access)
            else:
                state.queues.setdefault("lds", []).append(access)
                if not isinstance(op, ops.Write):
                    result = op.owner or op
                    assert isinstance(result, ops.ValueOperation)
                    state.results[result] = access
        elif isinstance(op, ops.GlobalRead | ops.GlobalWrite) and op.counter not in self.grouped:
            state.queues.setdefault(op.counter, []).append(None)

    # ------------------------------------------------------------ races

    def races(self) -> Iterator[tuple[Access, Access]]:
        for place, first in enumerate(self.accesses):
            for second in self.accesses[place:]:
                if (
                    conflict(first, second)
                    and not self.in_order(first, second)
                    and not self.ordered(first, second)
                ):
                    yield first, second

    def in_order(self, first: Access, second: Access) -> bool:
        """Whether an engine keeps two copies in order: each wave issues its share of both, of the same bytes."""
        copies = isinstance(first.op, ops.AsyncCopy) and isinstance(second.op, ops.AsyncCopy)
        if not copies or counter_of(first.op) != counter_of(second.op):
            return False
        return first.wave == second.wave or all(
            self.shared.get((each.number, wave)) == each.bytes
            for each in (first, second)
            for wave in (first.wave, second.wave)
        )

    def ordered(self, first: Access, second: Access) -> bool:
        if first.complete is None or first.complete > second.number:
            return False
        if first.wave == second.wave:
            return True
        return any(first.complete <= arrive and leave < second.number for arrive, leave in self.meetings)


def known(names: Names) -> dict[str, int]:
    return {name: value for name, value in names.items() if value is not None}


def commute(one: ops.Operation, other: ops.Operation) -> bool:
    """Whether two accesses are the same update, in an order that nobody can tell."""
    if not (isinstance(one, ops.AtomicOp) and isinstance(other, ops.AtomicOp)):
        return False
    return one.update == other.update and one.update != "exchange" and not (one.name or other.name)


def conflict(first: Access, second: Access) -> bool:
    if first.number == second.number or not (first.writes or second.writes):
        return False
    if first.wave == second.wave and not (first.engine or second.engine):
        return False
    if commute(first.op, second.op):
        return False
    if first.op.group and first.op.group == second.op.group and first.instance.same_act(second.instance):
        return False
    return bool(first.bytes & second.bytes)


def counter_of(op: ops.Operation) -> str:
    return op.counter if isinstance(op, ops.AsyncOperation) else "lds"


def touched(view: View, names: dict[str, int], wave: int, frame: int) -> Iterator[Space]:
    for buffer in view.buffers(names):
        space, base = (buffer, 0) if buffer.offset is None else (None, buffer.offset + frame)
        slot = None if view.slot is None else evaluate(view.slot, names, wave)
        # A slot that is not known is any of them.
        slots = range(buffer.slots) if slot is None else range(slot, slot + 1)
        size = buffer.slot_bytes
        if view.slot is None:
            slots, size = range(1), buffer.size
        lo, hi = 0, size
        if view.lo is not None and view.hi is not None:
            first, last = evaluate(view.lo, names, wave), evaluate(view.hi, names, wave)
            if first is not None and last is not None:
                lo, hi = first, last
        for each in slots:
            for byte in range(each * size + lo, each * size + hi):
                yield space, base + byte


Pair = tuple[int, int]


def reference(trace: CapturedTrace, paths: int = PATHS) -> tuple[set[Pair], bool]:
    """The pairs of lines that race in some run, and whether every run was looked at."""
    found: set[Pair] = set()
    script: list[int] = []
    for _ in range(paths):
        choices = Choices(script)
        for first, second in Run(trace, choices).races():
            assert first.op.span and second.op.span
            found.add((first.op.span.line, second.op.span.line))
        taken = choices.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return found, True
        script = [choice for choice, _ in taken]
        script[-1] += 1
    return found, False
