"""The environments that an access has to be followed from: every combination of values that its block can run with.

Without names that are forwarded, these are the iterations of the loops around it. With them, the
combinations that occur are found by walking through the kernel once.
"""

from __future__ import annotations

from collections import deque
from itertools import product

from fencepost.check.environments import Env, Frame
from fencepost.check.iteration_folds import carries
from fencepost.check.loop_context import UNROLLED, Context
from fencepost.check.report import Explored
from fencepost.flow import Block, Loop
from fencepost.ir import ops
from fencepost.ir.expr import decide, is_divergent
from fencepost.ir.trace import Graph

STARTS = {0: 1, 1: 256, 2: 24, 3: 8}
"""By how many loops around an access are followed: iterations of each that it is started from."""
MOST_STARTS = 4096
"""Combinations of values that an access is started from."""
MOST_STATES = 40_000
"""States that the walk through a kernel visits."""
MOST_VALUES = 512
"""Combinations that a loop may carry before it is taken to carry ever new ones."""

Reached = dict[int, dict[Env, None]]
"""For each block the environments that it runs with, in the order in which they were found."""
Carried = dict[int, set[Frame]]
"""For the headers of loops that could carry ever new values: what they have begun iterations with."""


class Starts:
    """Where the accesses of a kernel are followed from."""

    def __init__(self, context: Context, explored: Explored) -> None:
        self.context = context
        self.explored = explored
        self.reached = self.walk() if context.hands_on else None

    def of(self, block: Block) -> list[Env]:
        """The environments to start from in a block."""
        if self.reached is None:
            return self.iterations(block)
        here = self.reached.get(block.index, {})
        found = [env for env in here if not self.repeated(block, env, here)]
        if len(found) > MOST_STARTS:
            self.explored.cut(f"only {MOST_STARTS} combinations of what loops carry")
        return found[:MOST_STARTS]

    # ------------------------------------------------------------ iterations alone

    def iterations(self, block: Block) -> list[Env]:
        """Every combination of iterations of the followed loops around a block that its conditions allow."""
        context = self.context
        around = [loop for loop in context.flow.loops_around(block.index) if loop.index in context.followed]
        around.reverse()
        choices = []
        for loop in around:
            values, everything = start_values(context, loop, STARTS[min(len(around), 3)])
            if not everything:
                self.explored.cut(f"only the first and last iterations of %{loop.op.var if loop.op else ''}")
            choices.append(values)
        depths = [len(context.flow.blocks[loop.header].calls) for loop in around]
        found: list[Env] = []
        for number, iteration in enumerate(product(*choices)):
            if number >= MOST_STARTS:
                self.explored.cut(f"only {MOST_STARTS} combinations of iterations")
                break
            frames: list[list[tuple[str, int]]] = [[] for _ in range(len(block.calls) + 1)]
            for loop, depth, value in zip(around, depths, iteration, strict=True):
                frames[depth].append((loop.op.var if loop.op else "", value))
            env = tuple(map(tuple, frames))
            if runs_in(block, env):
                found.append(env)
        return found

    # ------------------------------------------------------------ names that are forwarded

    def walk(self) -> Reached:
        """Every state that can be reached."""
        while True:
            carried: Carried = {
                loop.header: set() for loop in self.context.flow.loops if _may_grow(self.context, loop)
            }
            reached, complete = self.explore(carried)
            if complete:
                return reached
            header = max(carried, key=lambda header: len(carried[header]), default=-1)
            if header < 0 or len(carried[header]) <= UNROLLED:
                self.explored.cut(f"only {MOST_STATES} states of what loops carry")
                return reached
            self.context.follow_in_full(self.context.flow.blocks[header].loop)

    def explore(self, carried: Carried) -> tuple[Reached, bool]:
        """The states that can be reached, and whether these are all; notes what loops carry on the way."""
        blocks = self.context.flow.blocks
        starts = self.context.environments.starts()
        reached: Reached = {0: dict.fromkeys(starts)}
        own = {header: _own_names(self.context, header) for header in carried}
        todo = deque((0, start) for start in starts)
        states = 0
        while todo:
            index, env = todo.popleft()
            states += 1
            if index in carried:
                carried[index].add(tuple(item for item in env[-1] if item[0] in own[index]))
            if states > MOST_STATES or (index in carried and len(carried[index]) > MOST_VALUES):
                return reached, False
            for target, following, _ in self.context.successors(blocks[index], env):
                here = reached.setdefault(target, {})
                if following not in here:
                    here[following] = None
                    todo.append((target, following))
        return reached, True

    def repeated(self, block: Block, env: Env, others: dict[Env, None]) -> bool:
        """Whether iterations that a fold stands for are among the others with everything else the same."""
        later = list(map(dict, env))
        for loop in self.context.flow.loops_around(block.index):
            fold = self.context.folded.get(loop.index)
            if fold is not None and loop.op is not None:
                frame = later[len(self.context.flow.blocks[loop.header].calls)]
                value = frame[loop.op.var]
                if value >= fold.settled:
                    frame[loop.op.var] = fold.start + (value - fold.start) % fold.length
        moved = tuple(tuple(frame.items()) for frame in later)
        return moved != env and moved in others


def _own_names(context: Context, header: int) -> set[str]:
    """The names that the loop with this header carries."""
    loop = context.flow.loops[context.flow.blocks[header].loop].op
    return {name.name for name in loop.carried} if loop is not None else set()


def _may_grow(context: Context, loop: Loop) -> bool:
    """Whether nothing bounds the values that a loop carries: neither its length nor its being cut short."""
    if loop.op is None or not carries(loop.op, context.names(context.flow.blocks[loop.header])):
        return False
    return loop.index not in context.followed or loop.index in context.folded


def start_values(context: Context, loop: Loop, most: int) -> tuple[list[int], bool]:
    """Iterations of a followed loop to start from, and whether these stand for all of them."""
    assert loop.op is not None
    op = loop.op
    fold = context.folded.get(loop.index)
    if fold is not None:
        first = range(op.start, fold.settled, op.step)
        return [*first, *range(fold.start, fold.start + fold.length, op.step)], True
    if op.stop is None:
        return [op.start + op.step * k for k in range(most)], False
    values = range(op.start, op.stop, op.step)
    if len(values) <= most:
        return list(values), True
    return [*values[: most - most // 2], *values[len(values) - most // 2 :]], False


def runs_in(block: Block, env: Env) -> bool:
    """Whether uniform conditions, those around the calls that led here included, let a block run."""
    inner: Graph | None = block.graph
    for depth in range(len(block.calls), -1, -1):
        values = dict(env[depth])
        while inner is not None and inner.owner is not None:
            owner = inner.owner
            if isinstance(owner, ops.Conditional) and not is_divergent(owner.condition):
                holds = decide(owner.condition, values)
                if holds is not None and inner is not (owner.then if holds else owner.orelse):
                    return False
            inner = owner.graph
        if depth:
            inner = block.calls[depth - 1].graph
    return True
