"""Copies in flight: a `cp.async` writes some time until its thread has waited for its commit group, barriers
or not."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator

from fencepost.hosts.ptx.proof.intervals import Iteration, Place, Reached
from fencepost.hosts.ptx.reading.effects import commits_copies, effect, waits_for_copies
from fencepost.hosts.ptx.reading.flow import Flow, NotJudged
from fencepost.hosts.ptx.reading.module import Instruction

MOST_GROUPS = 9
MOST_TRIPS = 9
MOST_STATES = 20_000
Trips = tuple[tuple[int, int], ...]
"""For loops, by header, how often the back edge was taken since the copy was issued, or since the loop was
entered."""
State = tuple[int, int, Trips, int]
"""Block, position, trips, and commit groups closed since the copy was issued."""


class CopiesInFlight:
    """Finds the barriers that each copy is still in flight at."""

    def __init__(self, flow: Flow, barriers: Collection[Place]) -> None:
        self.flow = flow
        self.barriers = frozenset(barriers)

    def in_flight(self) -> dict[Place, list[Reached]]:
        """For each barrier, the copies that may be in flight there, in iterations relative to it."""
        found: dict[Place, list[Reached]] = {}
        for number in self.flow.order:
            for index, instruction in enumerate(self.flow.blocks[number].instructions):
                for access in effect(instruction).accesses:
                    if access.kind != "copy":
                        continue
                    for barrier, trips in self._barriers_passed(Place(number, index)):
                        entry = self._relative(Place(number, index), barrier, dict(trips))
                        each = Reached(Place(number, index), access, entry[0], entry[1])
                        if each not in found.setdefault(barrier, []):
                            found[barrier].append(each)
        return found

    def _barriers_passed(self, copy: Place) -> Iterator[tuple[Place, Trips]]:
        start: State = (copy.block, copy.index + 1, (), 0)
        todo, seen = [start], {start}
        while todo:
            if len(seen) > MOST_STATES:
                raise NotJudged("copies that may stay in flight for long", self._instruction(copy))
            block, index, trips, groups = todo.pop()
            end = yield from self._block(block, index, trips, groups)
            if end is None:
                continue
            for following in self.flow.successors[block]:
                state: State = (following, 0, self._crossed(block, following, dict(trips)), end)
                if state not in seen:
                    seen.add(state)
                    todo.append(state)

    def _block(
        self, block: int, index: int, trips: Trips, groups: int
    ) -> Generator[tuple[Place, Trips], None, int | None]:
        """Goes through a block; gives the number of groups at its end, or None if the copy is complete."""
        instructions = self.flow.blocks[block].instructions
        for at in range(index, len(instructions)):
            instruction = instructions[at]
            if commits_copies(instruction):
                groups = min(groups + 1, MOST_GROUPS)
            left = waits_for_copies(instruction)
            if left is not None and ("wait_all" in instruction.parts or groups > left):
                return None
            if Place(block, at) in self.barriers:
                yield Place(block, at), trips
        return groups

    def _crossed(self, source: int, target: int, trips: dict[int, int]) -> Trips:
        loop = self.flow.loop_of.get(target)
        if loop is not None:
            if source in loop:
                trips[target] = min(trips.get(target, 0) + 1, MOST_TRIPS)
                for inner in list(trips):
                    if inner != target and inner in loop:
                        del trips[inner]
            else:
                trips[target] = 0
        return tuple(sorted(trips.items()))

    def _relative(
        self, copy: Place, barrier: Place, trips: dict[int, int]
    ) -> tuple[tuple[tuple[int, Iteration], ...], tuple[tuple[int, int], ...]]:
        """The iterations of the copy as seen from the barrier, and in which iterations the barrier must be."""
        iterations: dict[int, Iteration] = {}
        known: dict[int, int] = {}
        around_copy = {loop.header for loop in self.flow.loops_around(copy.block)}
        for loop in self.flow.loops_around(barrier.block):
            taken = trips.get(loop.header, 0)
            if loop.header in around_copy and taken < MOST_TRIPS:
                iterations[loop.header] = Iteration("start", -taken)
            elif loop.header in around_copy:
                iterations[loop.header] = Iteration("any")
            elif taken < MOST_TRIPS:
                known[loop.header] = taken
        for header in around_copy - iterations.keys():
            iterations[header] = Iteration("any")
        return tuple(sorted(iterations.items())), tuple(sorted(known.items()))

    def _instruction(self, place: Place) -> Instruction:
        return self.flow.blocks[place.block].instructions[place.index]
