"""What each wave runs: one path through the kernel, chosen where the kernel leaves a choice.

Loops run as often as they say, but at most so many times; those of unknown length run just as often.
A uniform condition that cannot be decided is taken to hold, and so is a divergent one, by all waves. Every such
choice is noted, for a reader of the estimate to judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.flow import Block, Flow, Guard, Loop
from fencepost.ir import ops
from fencepost.ir.expr import Condition, Expr, decide, evaluate, is_divergent
from fencepost.ir.loop_carried import names_of

MOST_OPERATIONS = 100_000
"""A path ends where its waves have this many operations to run, or has run this many blocks."""
LARGEST = 2**64
"""Numbers beyond this are taken as unknown: a product that a loop carries grows without end."""

LOOPS_A_STEP = 8
"""Blocks in deep nests count for more: for each of so many loops around them."""


@dataclass(slots=True)
class Path:
    """The operations of every wave, in order, and what was taken for granted on the way."""

    programs: list[list[ops.Operation]]
    """Beside what a wave executes there are `loop`, `next` and `give` where they forward results of operations."""
    assumptions: list[str] = field(default_factory=list)
    complete: bool = True
    """Whether it leads to the end of the kernel."""


def follow(flow: Flow, iterations: int) -> Path:
    """The path of all waves through a kernel."""
    walk = _Walk(flow, iterations)
    block, blocks = flow.blocks[0], 0
    while True:
        # What follows a block is looked for in all loops around it.
        blocks += 1 + walk.depth(block) // LOOPS_A_STEP
        if walk.operations > MOST_OPERATIONS or blocks > MOST_OPERATIONS:
            walk.path.complete = False
            walk.assume(f"the kernel is followed for {MOST_OPERATIONS:,} operations only")
            break
        walk.take(block)
        target = walk.choose(block)
        if target is None:
            break
        walk.move(block, flow.blocks[target])
        block = flow.blocks[target]
    return walk.path


def values_forwarded(op: ops.Operation) -> list[tuple[ops.Carried, ops.ValueOperation]]:
    """The names that hold results of operations from `op` on."""
    return [(name, value) for name, value in _handed(op) if isinstance(value, ops.ValueOperation)]


def _handed(op: ops.Operation | None) -> list[tuple[ops.Carried, ops.Forwarded]]:
    if isinstance(op, ops.Iterate):
        return [(name, name.init) for name in op.carried if name.init is not None]
    if isinstance(op, ops.Next | ops.Give) and op.graph is not None:
        owner = op.graph.owner
        assert isinstance(owner, ops.Iterate | ops.Conditional)
        return list(zip(names_of(owner), op.values, strict=True))
    return []


def _uniform_branch(op: ops.Operation | None) -> ops.Conditional | ops.CondBranch | None:
    """The operation, if it is a branch that all waves take the same way."""
    if isinstance(op, ops.Conditional | ops.CondBranch) and not is_divergent(op.condition):
        return op
    return None


class _Walk:
    """Where a path under construction stands: loops, the values of names, who takes part."""

    def __init__(self, flow: Flow, iterations: int) -> None:
        self.flow = flow
        self.iterations = iterations
        self.path = Path([[] for _ in range(flow.trace.waves)])
        self.operations = 0
        self.rounds: dict[int, int] = {}
        """How often the header of each loop has been reached since the loop was entered."""
        self.frames: list[dict[str, int]] = [{}]
        """The numbers of the kernel, and of each function that is being run."""
        self.sides: dict[Guard, frozenset[int]] = {}
        """The waves on each side of the divergent conditionals around the current block."""
        self.around: dict[int, frozenset[int]] = {}
        self.ways_out: dict[int, dict[int, int]] = {}

    def assume(self, text: str) -> None:
        """Note a choice, once."""
        if text not in self.path.assumptions:
            self.path.assumptions.append(text)

    # ------------------------------------------------------------ who runs what

    def take(self, block: Block) -> None:
        """Give the operations of a block to the waves that run it."""
        # A side is entered from its branch, so a guard that is new is asked with the names that hold right there.
        self.sides = {
            guard: self.sides[guard] if guard in self.sides else self._side(guard) for guard in block.guards
        }
        everyone = frozenset(range(len(self.path.programs)))
        waves = sorted(everyone.intersection(*self.sides.values()))
        run = list(block.ops)
        if block.anchor is not None and values_forwarded(block.anchor):
            run.append(block.anchor)
        for wave in waves:
            self.path.programs[wave] += run
        self.operations += len(run) * len(waves)

    def _side(self, guard: Guard) -> frozenset[int]:
        side = []
        for wave in range(len(self.path.programs)):
            holds = decide(guard.condition, self.frames[-1], wave)
            if holds is None:
                self._take_to_hold(guard.branch, guard.condition)
                holds = True
            if holds == guard.holds:
                side.append(wave)
        return frozenset(side)

    def _take_to_hold(self, op: ops.Operation, condition: Condition) -> None:
        self.assume(f"{_line(op)}`{condition}` is not known and taken to hold")

    # ------------------------------------------------------------ where to go next

    def choose(self, block: Block) -> int | None:
        """The block that follows; None at the end of the kernel."""
        targets = block.successors
        if len(targets) < 2:
            return targets[0] if targets else None
        branch = _uniform_branch(block.anchor)
        if branch is not None:
            holds = decide(branch.condition, self.frames[-1])
            if holds is not None:
                return targets[0 if holds else -1]
        loops = list(self.flow.loops_around(block.index))
        for loop in reversed(loops):
            if self.rounds[loop.index] > self._limit(loop):
                # It has run often enough and runs another iteration all the same: out by the shortest path.
                return min(targets, key=lambda target: self._way_out(loop, target))
        for loop in loops:
            staying = [target for target in targets if loop.index in self._loops_around(target)]
            if staying and len(staying) < len(targets):
                leaving = [target for target in targets if target not in staying]
                targets = staying if self._goes_on(loop, block) else leaving
        if branch is not None and len(targets) > 1:
            self._take_to_hold(branch, branch.condition)
        return targets[0]

    def _limit(self, loop: Loop) -> int:
        return self.iterations if loop.trip is None else min(loop.trip, self.iterations)

    def _goes_on(self, loop: Loop, block: Block) -> bool:
        """Whether to stay in a loop at a place where it can be left."""
        rounds, limit = self.rounds[loop.index], self._limit(loop)
        # A loop that is left from its head has not run the round that begins there.
        at_head = block.graph is self.flow.blocks[loop.header].graph and block.index not in loop.latches
        return rounds < limit or (rounds == limit and at_head)

    def depth(self, block: Block) -> int:
        """How many loops there are around a block."""
        return len(self._loops_around(block.index))

    def _loops_around(self, block: int) -> frozenset[int]:
        found = self.around.get(block)
        if found is None:
            found = frozenset(loop.index for loop in self.flow.loops_around(block))
            self.around[block] = found
        return found

    def _way_out(self, loop: Loop, block: int) -> int:
        """How many blocks of a loop lie between `block` and the first one outside."""
        ways = self.ways_out.get(loop.index)
        if ways is None:
            outside = [b.index for b in self.flow.blocks if loop.index not in self._loops_around(b.index)]
            ways = dict.fromkeys(outside, 0)
            todo = outside
            for reached in todo:
                for source in self.flow.blocks[reached].predecessors:
                    if source not in ways:
                        ways[source] = ways[reached] + 1
                        todo.append(source)
            self.ways_out[loop.index] = ways
        return ways.get(block, len(self.flow.blocks))

    # ------------------------------------------------------------ what changes on the way

    def move(self, block: Block, target: Block) -> None:
        """Go from the end of one block to the start of another."""
        self._forward(block.anchor)
        if len(target.calls) > len(block.calls):
            self.frames.append({})
        elif len(target.calls) < len(block.calls):
            self.frames.pop()
        numbers = self.frames[-1]
        before, behind = self._loops_around(block.index), self._loops_around(target.index)
        for index in before - behind:
            del self.rounds[index]
        crossed = self.flow.crossed_loop(block.index, target.index)
        if crossed >= 0:
            self.rounds[crossed] += 1
            op = self.flow.loops[crossed].op
            if op is not None:
                numbers[op.var] += op.step
        for index in sorted(behind - before):
            self._enter(self.flow.loops[index], numbers)

    def _enter(self, loop: Loop, numbers: dict[str, int]) -> None:
        self.rounds[loop.index] = 1
        head = self.flow.blocks[loop.header].graph
        where = _line(loop.op) if loop.op is not None else f"^{head.name}: "
        times = f"{self.iterations} time{'s' if self.iterations > 1 else ''}"
        if loop.trip is None:
            self.assume(f"{where}the loop is taken to run {times}")
        elif loop.trip > self.iterations:
            self.assume(f"{where}the loop runs {loop.trip} times and is followed {times}")
        if loop.op is not None:
            numbers[loop.op.var] = loop.op.start

    def _forward(self, op: ops.Operation | None) -> None:
        """Give names the numbers that they have from here on, all at the same time."""
        numbers = self.frames[-1]
        owner = op.graph.owner if isinstance(op, ops.Give) and op.graph is not None else None
        # What the sides of a divergent conditional give differs from wave to wave; no condition may ask for it.
        differs = isinstance(owner, ops.Conditional) and is_divergent(owner.condition)
        given: dict[str, int | None] = {}
        for name, value in _handed(op):
            if isinstance(value, Expr):
                number = None if differs else evaluate(value, numbers)
                given[name.name] = None if number is None or abs(number) > LARGEST else number
        for called, number in given.items():
            if number is None:
                numbers.pop(called, None)
            else:
                numbers[called] = number


def _line(op: ops.Operation) -> str:
    return f"line {op.span.line}: " if op.span else ""
