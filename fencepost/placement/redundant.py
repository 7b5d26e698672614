"""Take away barriers and waits until each one left is needed.

One is redundant if nothing that is pending (or, where it waits, in flight) in front of it conflicts with
anything that can be reached behind it before the next barrier. The most expensive ones are tried first. When
one goes, what was pending in front of it becomes pending in front of those that follow: only these are updated,
so the whole costs little more than one walk over the kernel.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection

from fencepost.analysis.pending import Spot, State, by_block, states_before
from fencepost.analysis.program import Program, moved
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position


def prune(program: Program, placement: Placement, keep: Collection[Position] = ()) -> Placement:
    """The barriers and waits of `placement` that are needed, given that those in `keep` stay."""
    pruning = Pruning(program, placement)
    flow = program.flow
    order = sorted(placement, key=lambda position: (-flow.frequency(position), position))
    kept = dict(placement)
    for position in order:
        if position not in keep and (
            position.block not in program.instances_of or pruning.remove_if_redundant(position)
        ):
            del kept[position]
    return kept


class Pruning:
    """The barriers that are left, and what is pending in front of each."""

    def __init__(self, program: Program, placement: Placement) -> None:
        self.program = program
        self.sync = dict(placement)
        self.before: dict[Spot, State] = states_before(program, placement)
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

    def spots(self, position: Position) -> list[Spot]:
        """Where a barrier stands, in each instance."""
        return [(instance, position.gap) for instance in self.program.instances_of.get(position.block, ())]

    def remove_if_redundant(self, position: Position) -> bool:
        """Take the barrier at `position` out unless a hazard needs it."""
        reached = self.reach_without(position)
        if reached is None:
            return False
        self.note(reached)
        self.unlink(position)
        return True

    def reach_without(self, position: Position) -> dict[Spot, State] | None:
        """Where what a barrier delays would get to without it; None if it would meet a conflict."""
        return self.reach(
            position, [self.held_back(self.sync[position], spot) for spot in self.spots(position)], position
        )

    def held_back(self, sync: Sync, spot: Spot) -> tuple[Spot, State]:
        """What comes up to a barrier and not through it."""
        pending, in_flight = self.before[spot]
        # What is in flight and not waited for passes anyway; without a rendezvous, so does what is pending, unless
        # groups of waves are skewed: then a fence alone matters, too.
        holds = sync.rendezvous or (self.program.transfer.counts_rendezvous and sync.fences)
        return spot, (pending if holds else 0, in_flight & sync.completes)

    def weaken(self, position: Position, weaker: Sync) -> bool:
        """Put a weaker barrier or wait in the place of one, if nothing needs more."""
        stronger = self.sync[position]
        starts = []
        for spot in self.spots(position):
            pending, in_flight = self.before[spot]
            through = self.program.after_sync(stronger, pending, in_flight)
            more = self.program.after_sync(weaker, pending, in_flight)
            starts.append((spot, (more[0] & ~through[0], more[1] & ~through[1])))
        # What gets through can come round to this very place again: it then meets what will stand here.
        self.sync[position] = weaker
        reached = self.reach(position, starts, None)
        if reached is None:
            self.sync[position] = stronger
            return False
        self.note(reached)
        return True

    def note(self, reached: dict[Spot, State]) -> None:
        """More comes up to these barriers than before."""
        for spot, (pending, in_flight) in reached.items():
            known, known_in_flight = self.before[spot]
            self.before[spot] = (known | pending, known_in_flight | in_flight)

    def reach(
        self, position: Position, starts: list[tuple[Spot, State]], gone: Position | None
    ) -> dict[Spot, State] | None:
        """Where states get to from `position` on: the barriers they meet. None if one meets a conflict first."""
        reached: dict[Spot, State] = {}
        seen: dict[int, State] = {}
        todo = [
            (instance, gap, self.after[position], state)
            for (instance, gap), state in starts
            if state[0] or state[1]
        ]
        while todo:
            instance, gap, barrier, here = todo.pop()
            out = self.through(instance, gap, barrier, here, reached, gone)
            if out is None:
                return None
            pending, in_flight = out
            if not (pending or in_flight):
                continue
            for target, moves, _, in_flight_moves in self.program.edges[instance]:
                after, after_in_flight = moved(pending, moves), moved(in_flight, in_flight_moves)
                known, known_in_flight = seen.get(target, (0, 0))
                if after & ~known or after_in_flight & ~known_in_flight:
                    seen[target] = (known | after, known_in_flight | after_in_flight)
                    todo.append((target, 0, self.first.get(self.program.places[target]), seen[target]))
        return reached

    def through(
        self,
        instance: int,
        gap: int,
        barrier: Position | None,
        state: State,
        reached: dict[Spot, State],
        gone: Position | None,
    ) -> State | None:
        """The state at the end of an instance; None on a conflict. The barrier at `gone` is not there."""
        pending, in_flight = state
        steps = self.program.steps[instance]
        for number in range(bisect_left(steps, gap, key=lambda step: step.gap), len(steps)):
            step = steps[number]
            here = step.gap
            while barrier is not None and barrier.gap <= here:
                if barrier != gone:
                    pending, in_flight = self.pass_barrier(instance, barrier, (pending, in_flight), reached)
                barrier = self.after[barrier]
            if not (pending or in_flight):
                return (0, 0)
            if pending & step.conflicts or in_flight & step.in_flight:
                return None
            if in_flight or step.clears or step.settles:
                pending, in_flight = self.program.after_step_without_adds(step, pending, in_flight)
        while barrier is not None:
            if barrier != gone:
                pending, in_flight = self.pass_barrier(instance, barrier, (pending, in_flight), reached)
            barrier = self.after[barrier]
        return pending, in_flight

    def pass_barrier(
        self, instance: int, barrier: Position, state: State, reached: dict[Spot, State]
    ) -> State:
        """What comes through a barrier; what came up to it is noted."""
        spot = (instance, barrier.gap)
        known, known_in_flight = reached.get(spot, (0, 0))
        reached[spot] = (known | state[0], known_in_flight | state[1])
        return self.program.after_sync(self.sync[barrier], *state)

    def unlink(self, position: Position) -> None:
        """Take a barrier out of its chain."""
        before, after = self.previous.pop(position), self.after.pop(position)
        del self.sync[position]
        for spot in self.spots(position):
            del self.before[spot]
        if before is not None:
            self.after[before] = after
        elif after is not None:
            self.first[position.block] = after
        else:
            del self.first[position.block]
        if after is not None:
            self.previous[after] = before
