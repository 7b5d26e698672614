"""How far waves are apart, in rendezvous, at every place of a kernel whose barriers not all waves meet.

The k-th barrier of one wave meets the k-th of every other, so what matters about a place is how many more each wave
has met there than the others. The walk is over states (block, values of names, how far apart), not over paths:
however many iterations a loop runs, it comes back to states that it had, or the waves drift apart for ever. All
waves run to the end on every path exactly if they have met the same number of barriers wherever the kernel ends: a
wave that has met fewer than another leaves that one waiting, and if none has, the one that is furthest back can
always go on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from fencepost.check.environments import Env
from fencepost.check.loop_context import Context
from fencepost.check.report import Deadlock, Explored
from fencepost.flow import Block
from fencepost.ir import ops

FARTHEST = 16
"""Rendezvous that waves are followed apart."""
MOST_STATES = 40_000

Met = tuple[int, ...]
"""For each wave that is looked at: how many barriers more it has met than the one that has met fewest."""
BARRIERS = (ops.SharedMemoryBarrier, ops.WorkgroupBarrier)


@dataclass(slots=True)
class State:
    """A place that is reached, and how."""

    block: int
    env: Env
    met: Met
    came_from: State | None = None


VISITED = 16
"""What one state costs: see `Explored.work`."""


@dataclass(slots=True)
class WavesApart:
    """Every state of a kernel, with waves that stand for all."""

    context: Context
    explored: Explored
    waves: list[int]
    states: list[State] = field(default_factory=list)
    deadlocks: list[Deadlock] = field(default_factory=list)

    def run(self) -> None:
        """Find every state, and where the kernel can end with waves apart."""
        level = (0,) * len(self.waves)
        todo = deque(State(0, env, level) for env in self.context.environments.starts())
        seen = {(start.block, start.env, start.met) for start in todo}
        while todo:
            state = todo.popleft()
            self.states.append(state)
            self.explored.work += VISITED * (1 + len(state.env[-1]) // 2)
            if self.explored.out_of_work():
                return
            block = self.context.flow.blocks[state.block]
            met = state.met
            if block.guards and not self.decided(block, state.env):
                self.explored.cut("which waves take part is not known everywhere")
                return
            for op in block.ops:
                if isinstance(op, BARRIERS):
                    met = self.after(block, state.env, met)
            if max(met) > FARTHEST:
                self.explored.cut(f"waves that are more than {FARTHEST} barriers apart are not followed")
                continue
            successors = self.context.successors(block, state.env)
            if not block.successors and any(met):
                self.stuck(state, met)
            for target, env, _ in successors:
                key = (target, env, met)
                if key not in seen:
                    if len(seen) >= MOST_STATES:
                        self.explored.cut(f"only {MOST_STATES} states")
                        return
                    seen.add(key)
                    todo.append(State(target, env, met, state))

    def decided(self, block: Block, env: Env) -> bool:
        """Whether it is known which waves run a block."""
        return all(
            self.context.admits(block, env, wave) == self.context.demands(block, env, wave)
            for wave in self.waves
        )

    def after(self, block: Block, env: Env, met: Met) -> Met:
        """How far apart the waves are behind a barrier in a block."""
        if not block.guards:
            return met
        more = [
            count + self.context.demands(block, env, wave)
            for wave, count in zip(self.waves, met, strict=True)
        ]
        return tuple(count - min(more) for count in more)

    def stuck(self, state: State, met: Met) -> None:
        """The kernel ends with some waves waiting."""
        if self.deadlocks:
            return
        ahead, behind = met.index(max(met)), met.index(0)
        path: list[ops.Operation] = []
        here: State | None = state
        while here is not None:
            block = self.context.flow.blocks[here.block]
            if self.context.demands(block, here.env, self.waves[ahead]):
                path[:0] = block.ops
            here = here.came_from
        barriers = [op for op in path if isinstance(op, BARRIERS)]
        last = barriers[-max(met)]
        text = f"wave {self.waves[ahead]} waits at a barrier that wave {self.waves[behind]} never reaches"
        marks = ((last, f"wave {self.waves[ahead]} waits here for ever"),)
        self.deadlocks.append(Deadlock("stuck", text, marks, tuple(path[: path.index(last) + 1])))


def has_split_barriers(context: Context) -> bool:
    """Whether there are barriers that are signalled and waited for."""
    split = (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait)
    return any(isinstance(op, split) for block in context.flow.blocks for op in block.ops)
