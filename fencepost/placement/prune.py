"""Take away barriers until each one left is the only cover of some hazard.

A barrier is redundant if nothing that is pending in front of it conflicts with anything that can be reached
behind it before the next barrier. The most expensive ones are tried first. When one goes, what was pending in
front of it becomes pending in front of the barriers that follow: only these are updated, so the whole costs
little more than one walk over the kernel.
"""

from __future__ import annotations

from bisect import bisect_left

from fencepost.analysis.pending import State, by_block, states_before
from fencepost.analysis.program import ASYNC, Placement, Program, moved
from fencepost.flow import Position


def prune(program: Program, placement: Placement) -> Placement:
    """The barriers of `placement` that are needed, given that those not in `placement` stay."""
    pruning = Pruning(program, placement)
    flow = program.flow
    order = sorted(placement, key=lambda position: (-flow.frequency(position), position))
    kept = dict(placement)
    for position in order:
        if position.block not in pruning.reachable or pruning.remove_if_redundant(position):
            del kept[position]
    return kept


class Pruning:
    """The barriers that are left, and what is pending in front of each."""

    def __init__(self, program: Program, placement: Placement) -> None:
        self.program = program
        self.reachable = set(program.flow.order)
        self.strength = dict(placement)
        self.before: dict[Position, State] = states_before(program, placement)
        # In each block the barriers form a chain, so that taking one out is cheap.
        self.first: dict[int, Position] = {}
        self.after: dict[Position, Position | None] = {}
        self.previous: dict[Position, Position | None] = {}
        for block, gaps in by_block(placement).items():
            chain = [Position(block, gap) for gap in sorted(gaps)]
            self.first[block] = chain[0]
            for one, other in zip(chain, [*chain[1:], None], strict=True):
                self.after[one] = other
                if other is not None:
                    self.previous[other] = one
            self.previous[chain[0]] = None

    def remove_if_redundant(self, position: Position) -> bool:
        """Take the barrier at `position` out unless a hazard needs it."""
        pending, flying = self.before[position]
        if self.strength[position] != ASYNC:
            # Copies in flight pass a plain barrier anyway.
            flying = 0
        reached = self.reach(position, (pending, flying))
        if reached is None:
            return False
        for other, (more, more_flying) in reached.items():
            known, known_flying = self.before[other]
            self.before[other] = (known | more, known_flying | more_flying)
        self.unlink(position)
        return True

    def reach(self, position: Position, state: State) -> dict[Position, State] | None:
        """Where `state` gets to from `position` on: the barriers it meets. None if it meets a conflict first."""
        reached: dict[Position, State] = {}
        seen: dict[int, State] = {}
        todo = [(position.block, position.gap, self.after[position], state)]
        while todo:
            block, gap, barrier, here = todo.pop()
            out = self.through(block, gap, barrier, here, reached, position)
            if out is None:
                return None
            pending, flying = out
            if not (pending or flying):
                continue
            for target, moves, _, flying_moves in self.program.edges[block]:
                after, after_flying = moved(pending, moves), moved(flying, flying_moves)
                known, known_flying = seen.get(target, (0, 0))
                if after & ~known or after_flying & ~known_flying:
                    seen[target] = (known | after, known_flying | after_flying)
                    todo.append((target, 0, self.first.get(target), seen[target]))
        return reached

    def through(
        self,
        block: int,
        gap: int,
        barrier: Position | None,
        state: State,
        reached: dict[Position, State],
        gone: Position,
    ) -> State | None:
        """The state at the end of a block; None on a conflict. The barrier at `gone` is not there."""
        pending, flying = state
        steps = self.program.steps[block]
        for number in range(bisect_left(steps, gap, key=lambda step: step.gap), len(steps)):
            step = steps[number]
            here = step.gap
            while barrier is not None and barrier.gap <= here:
                if barrier != gone:
                    pending, flying = self.pass_barrier(barrier, (pending, flying), reached)
                barrier = self.after[barrier]
            if not (pending or flying):
                return (0, 0)
            if pending & step.conflicts or flying & step.flying:
                return None
            if flying or step.clears:
                pending, flying = self.program.followed(step, pending, flying)
        while barrier is not None:
            if barrier != gone:
                pending, flying = self.pass_barrier(barrier, (pending, flying), reached)
            barrier = self.after[barrier]
        return pending, flying

    def pass_barrier(self, barrier: Position, state: State, reached: dict[Position, State]) -> State:
        """What comes through a barrier; what came up to it is noted."""
        known, known_flying = reached.get(barrier, (0, 0))
        reached[barrier] = (known | state[0], known_flying | state[1])
        return (0, 0) if self.strength[barrier] == ASYNC else (0, state[1])

    def unlink(self, position: Position) -> None:
        """Take a barrier out of its chain."""
        before, after = self.previous.pop(position), self.after.pop(position)
        del self.strength[position], self.before[position]
        if before is not None:
            self.after[before] = after
        elif after is not None:
            self.first[position.block] = after
        else:
            del self.first[position.block]
        if after is not None:
            self.previous[after] = before
