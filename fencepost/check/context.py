"""Which loops have to be followed one iteration at a time, and for which waves.

A loop whose variable decides no byte and no branch looks the same in every iteration, so going round it
is going back to the same program point: its trip count need not be unrolled at all. The others are
followed with their variable.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.check.access import depends_on_wave, loop_variables
from fencepost.flow import Block, Flow, Loop
from fencepost.ir import ops
from fencepost.ir.expr import Compare, Condition, Var, Wave, decide, is_divergent, leaves

Env = tuple[tuple[str, int], ...]
"""The loops that are followed, outermost first, and the value of each one's variable."""


@dataclass(slots=True)
class Context:
    """What `check` knows about a kernel before it starts."""

    flow: Flow
    followed: set[int]
    """The loops that are followed iteration by iteration."""
    waves: list[int]
    """The waves to look at: all where they differ, else one that stands for any."""

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
        followed = {loop.index for loop in flow.loops if loop.op is not None and loop.op.var in names}
        return cls(flow, followed, list(range(flow.trace.waves)) if differs else [0])

    def others(self, wave: int) -> list[int]:
        """The waves to compare `wave` with."""
        if len(self.waves) > 1:
            return [other for other in self.waves if other != wave]
        return [1] if self.flow.trace.waves > 1 else []

    def successors(self, block: Block, env: Env) -> list[tuple[int, Env, int]]:
        """Where execution can go from `block`: the next block, the loop variables there, the loop gone round or -1."""
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
            if loop.index == around:
                if op.stop is not None and again >= op.stop:
                    return None
                env[op.var] = again
            elif loop.index not in inside:
                if op.stop is not None and again < op.stop:
                    return None
                del env[op.var]
        if _ruled_out(flow, block, target, env):
            return None
        for loop in flow.loops_around(target):
            if loop.index in self.followed and loop.op is not None and loop.op.var not in env:
                env[loop.op.var] = loop.op.start
        return self.ordered(env, target)

    def ordered(self, env: dict[str, int], block: int) -> Env:
        """`env` with the loops around `block` from the outside in."""
        names = [loop.op.var for loop in self.flow.loops_around(block) if loop.op and loop.op.var in env]
        return tuple((name, env[name]) for name in reversed(names))


def condition_of(op: ops.Operation) -> Condition | None:
    """The condition that an operation asks, if it does."""
    return op.condition if isinstance(op, ops.Conditional | ops.CondBranch) else None


def _ruled_out(flow: Flow, block: Block, target: int, env: dict[str, int]) -> bool:
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


def start_values(loop: Loop, most: int) -> tuple[list[int], bool]:
    """Iterations of a followed loop to start from: its first and its last ones; and whether that is all."""
    assert loop.op is not None
    op = loop.op
    if op.stop is None:
        return [op.start + op.step * k for k in range(most)], False
    values = list(range(op.start, op.stop, op.step))
    if len(values) <= most:
        return values, True
    return values[: most - most // 2] + values[len(values) - most // 2 :], False
