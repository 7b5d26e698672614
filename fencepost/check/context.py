"""Which loops have to be followed one iteration at a time, and for which waves.

A loop whose variable decides no byte and no branch looks the same in every iteration, so going round it
is going back to the same program point: its trip count need not be unrolled at all. The others are
followed with their variable; where everything that depends on it repeats with a period, iterations a period
apart are the same, and following one period is following all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import lcm

from fencepost.check.access import depends_on_wave, loop_variables
from fencepost.flow import Block, Flow, Loop
from fencepost.ir import ops
from fencepost.ir.expr import (
    Binary,
    Compare,
    Condition,
    Const,
    Expr,
    Select,
    Var,
    Wave,
    decide,
    is_divergent,
    leaves,
)

UNROLLED = 24
"""Iterations that a loop of unknown length is followed for, if nothing in it repeats."""

Env = tuple[tuple[str, int], ...]
"""The loops that are followed, outermost first, and the value of each one's variable."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Iterations that stand for all later ones: from `start` on, `length` further is the same again.

    Iterations before `start` are followed one by one, so that whoever enters the loop goes round often enough
    for every counter to have reached what it can reach.
    """

    start: int
    length: int


@dataclass(slots=True)
class Context:
    """What `check` knows about a kernel before it starts."""

    flow: Flow
    followed: set[int]
    """The loops that are followed iteration by iteration."""
    waves: list[int]
    """The waves to look at: all where they differ, else one that stands for any."""
    folded: dict[int, Fold]
    """Followed loops whose iterations repeat."""
    cut: set[int] = field(default_factory=set)
    """Followed loops of unknown length that had to be cut short."""

    @classmethod
    def of(cls, flow: Flow) -> Context:
        """Read the kernel."""
        names: set[str] = set()
        differs = False
        for op in flow.trace.preorder_walk():
            names |= loop_variables(op)
            differs = differs or depends_on_wave(op)
            condition = condition_of(op)
            if condition is not None:
                found = leaves(condition)
                names |= {leaf.name for leaf in found if isinstance(leaf, Var)}
                differs = differs or any(isinstance(leaf, Wave) for leaf in found)
        patience = _patience(flow)
        followed = {
            loop.index
            for loop in flow.loops
            # Where operations complete one by one, how often a loop goes round matters by itself.
            if loop.op is not None and (loop.op.var in names or (patience and loop.trip is not None))
        }
        folded = {}
        for index in followed:
            fold = _fold(flow.loops[index], patience)
            if fold is not None:
                folded[index] = fold
        return cls(flow, followed, list(range(flow.trace.waves)) if differs else [0], folded)

    def others(self, wave: int) -> list[int]:
        """The waves to compare `wave` with."""
        if len(self.waves) > 1:
            return [other for other in self.waves if other != wave]
        return [1] if self.flow.trace.waves > 1 else []

    def reachable_blocks(self) -> set[int]:
        """The blocks that can be reached when branches on constants go the way they do."""
        seen, todo = {0}, [0]
        while todo:
            block = self.flow.blocks[todo.pop()]
            for target in block.successors:
                if target not in seen and not ruled_out(self.flow, block, target, {}):
                    seen.add(target)
                    todo.append(target)
        return seen

    def successors(self, block: Block, env: Env) -> list[tuple[int, Env, int]]:
        """Where execution can go: the next block, the loop variables there, the loop that goes round or -1."""
        if len(self.followed) == 0 and not isinstance(block.anchor, ops.Conditional | ops.CondBranch):
            return [(target, env, self.flow.crossed_loop(block.index, target)) for target in block.successors]
        found = []
        for target in block.successors:
            around = self.flow.crossed_loop(block.index, target)
            following = self._step(block, target, around, dict(env))
            if following is not None:
                found.append((target, following, around))
        return found

    def _step(self, block: Block, target: int, around: int, env: dict[str, int]) -> Env | None:
        """The loop variables after the edge, or None if their values rule it out."""
        flow = self.flow
        inside = {loop.index for loop in flow.loops_around(target)}
        for loop in flow.loops_around(block.index):
            if loop.index not in self.followed or loop.op is None:
                continue
            op = loop.op
            again = env[op.var] + op.step
            fold = self.folded.get(loop.index)
            if loop.index == around:
                if fold is not None:
                    if again >= fold.start + fold.length:
                        again -= fold.length
                elif op.stop is None and again >= op.start + op.step * UNROLLED:
                    self.cut.add(loop.index)
                    return None
                elif op.stop is not None and again >= op.stop:
                    return None
                env[op.var] = again
            elif loop.index not in inside:
                if op.stop is not None:
                    # The last iteration, or one that looks just like it.
                    ahead = range(op.start, op.stop, op.step)[-1] - env[op.var]
                    if fold is not None and env[op.var] >= fold.start:
                        ahead %= fold.length
                    if ahead:
                        return None
                del env[op.var]
        if ruled_out(flow, block, target, env):
            return None
        for loop in flow.loops_around(target):
            if loop.index in self.followed and loop.op is not None and loop.op.var not in env:
                env[loop.op.var] = loop.op.start
        return self.ordered(env, target)

    def ordered(self, env: dict[str, int], block: int) -> Env:
        """`env` with the loops around `block` from the outside in."""
        names = [loop.op.var for loop in self.flow.loops_around(block) if loop.op and loop.op.var in env]
        return tuple((name, env[name]) for name in reversed(names))


def runs_in(op: ops.Operation, env: Mapping[str, int]) -> bool:
    """Whether uniform conditions on loop variables let `op` run in this iteration."""
    graph = op.graph
    while graph is not None and graph.owner is not None:
        owner = graph.owner
        if isinstance(owner, ops.Conditional) and not is_divergent(owner.condition):
            holds = decide(owner.condition, env)
            if holds is not None and graph is not (owner.then if holds else owner.orelse):
                return False
        graph = owner.graph
    return True


def condition_of(op: ops.Operation) -> Condition | None:
    """The condition that an operation asks, if it does."""
    return op.condition if isinstance(op, ops.Conditional | ops.CondBranch) else None


def ruled_out(flow: Flow, block: Block, target: int, env: dict[str, int]) -> bool:
    """Whether a uniform branch on loop variables goes the other way."""
    branch = block.anchor
    if not isinstance(branch, ops.Conditional | ops.CondBranch) or not isinstance(branch.condition, Compare):
        return False
    if is_divergent(branch.condition) or len(block.successors) < 2:
        return False
    holds = decide(branch.condition, env)
    if holds is None:
        return False
    if isinstance(branch, ops.Conditional):
        taken = branch.then if holds else branch.orelse
        return flow.blocks[target].graph is not taken
    return flow.blocks[target].graph.name != (branch.then if holds else branch.orelse)


def start_values(context: Context, loop: Loop, most: int) -> tuple[list[int], bool]:
    """Iterations of a followed loop to start from, and whether these stand for all of them."""
    assert loop.op is not None
    op = loop.op
    fold = context.folded.get(loop.index)
    if fold is not None:
        return list(range(fold.start, fold.start + fold.length, op.step)), True
    if op.stop is None:
        return [op.start + op.step * k for k in range(most)], False
    values = range(op.start, op.stop, op.step)
    if len(values) <= most:
        return list(values), True
    return [*values[: most - most // 2], *values[len(values) - most // 2 :]], False


def _patience(flow: Flow) -> int:
    """After how many rounds no counter can change any more; 0 where nothing is counted."""
    counted = waited = 0
    for block in flow.blocks:
        for op in block.ops:
            counted += isinstance(op, ops.WorkgroupBarrier | ops.MemoryCounterWait | ops.AsyncCopy)
            if isinstance(op, ops.MemoryCounterWait):
                waited = max([waited, *op.counts.values()])
    return waited + 2 if counted else 0


def _fold(loop: Loop, patience: int) -> Fold | None:
    """How the iterations of a loop repeat; None if it is better followed in full."""
    if loop.op is None:
        return None
    period = loop_period(loop.op)
    if period is None:
        return None
    length = lcm(period, loop.op.step)
    rounds = length // loop.op.step
    if rounds > 64:
        return None
    if loop.trip is None:
        # It can be left at any time, so there is nothing to wait for.
        return Fold(loop.op.start, length)
    exact = max(16, 4 * rounds, patience + rounds)
    return Fold(loop.op.start + loop.op.step * exact, length) if loop.trip > exact + 2 * rounds else None


def loop_period(loop: ops.Iterate) -> int | None:
    """After what distance in its variable everything in a loop repeats; None if something does not."""
    period = 1
    for op in operations_in(loop):
        for part in decisive(op):
            repeats = period_of(part, loop.var)
            if repeats is None:
                return None
            period = lcm(period, repeats)
    return period


def operations_in(loop: ops.Iterate) -> Iterator[ops.Operation]:
    """Every operation inside a loop."""
    todo = [loop.body]
    while todo:
        for op in todo.pop():
            yield op
            todo.extend(ops.regions(op))


def decisive(op: ops.Operation) -> Iterator[Expr | Condition]:
    """The expressions that decide which bytes an operation touches or which way it branches."""
    condition = condition_of(op)
    if condition is not None:
        yield condition
    if isinstance(op, ops.MemoryOperation):
        for view in op.views:
            for part in (view.slot, view.lo, view.hi):
                if part is not None:
                    yield part


def period_of(expr: Expr | Condition, name: str) -> int | None:
    """The period of `expr` in one variable; None if it does not repeat."""
    growth = _growth(expr, name)
    return None if growth.grows else growth.period


@dataclass(frozen=True, slots=True)
class _Growth:
    """How an expression depends on a variable.

    If it grows, it is an integer polynomial divided by `divisor` (rounded down) and sums and products of such:
    moving the variable by `divisor * m` moves it by a multiple of m, so its remainder by m repeats.
    """

    grows: bool = False
    period: int = 1
    """Of whatever in it has been reduced to a remainder already; 0 if nothing can be said."""
    divisor: int = 1


IRREGULAR = _Growth(True, 0)


def _growth(expr: Expr | Condition, name: str) -> _Growth:
    if isinstance(expr, Var):
        return _Growth(expr.name == name)
    if isinstance(expr, Binary | Compare):
        left, right = _growth(expr.lhs, name), _growth(expr.rhs, name)
        grows, period = left.grows or right.grows, lcm(left.period, right.period)
        if not grows:
            return _Growth(False, period)
        divisor = lcm(left.divisor, right.divisor)
        if expr.op in ("+", "-", "*"):
            return _Growth(True, period, divisor)
        by = expr.rhs.value if isinstance(expr.rhs, Const) else 0
        if by > 0 and period > 0 and expr.op == "//":
            return _Growth(True, period, divisor * by)
        if by > 0 and period > 0 and expr.op == "%":
            return _Growth(False, lcm(period, divisor * by))
        return IRREGULAR
    if isinstance(expr, Select):
        parts = [_growth(part, name) for part in (expr.condition, expr.then, expr.orelse)]
        if any(part.grows for part in parts):
            return IRREGULAR
        return _Growth(False, lcm(*(part.period for part in parts)))
    return _Growth()
