"""Paths through a kernel, one at a time: which blocks run, in order, with the iteration of every loop.

A path stands for one choice at every uniform branch and one trip count for every loop of unknown length. How many
iterations of a loop run at most, `trip_counts` says.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import lcm

from fencepost.check.loop_context import Context, ruled_out
from fencepost.check.loop_skips import Values, iterations_left, moved, period_of_loop
from fencepost.check.parameter_values import Given, values_given
from fencepost.check.report import Explored
from fencepost.check.trip_counts import LONG, common_period, most_iterations, shortened, trip_count
from fencepost.flow import Block
from fencepost.ir import ops

VISITED = 16
"""What one block of a path costs: see `Explored.work`."""
FEWEST = 4
"""Paths that are looked at for each combination of given numbers at least."""
SETTLED = 128
"""Iterations after which a loop of labelled blocks is looked at, whether it is a long one."""
MOST_BLOCKS = 20_000
"""Blocks of a path."""
MOST_WORK = 400_000
"""Blocks and operations on all paths together, each counted once for every wave."""


Frames = tuple[dict[str, int], ...]
"""The names of the kernel and of each function that is being run, and their values."""


Begun = dict[int, dict[tuple[tuple[str, int], ...], int]]
"""For loops past their bound: the values that they began iterations with, and how many choices came before."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One run of one block: all loop counters (by loop number), and the values of names."""

    block: int
    iteration: tuple[tuple[int, int], ...]
    frames: Frames

    @property
    def env(self) -> dict[str, int]:
        """The names that the block knows."""
        return self.frames[-1]


@dataclass(slots=True)
class _Place:
    """Where a path under construction stands."""

    block: int
    rounds: dict[int, int]
    frames: Frames


class Paths:
    """Enumerates the paths of a kernel while there are few, and samples them when there are many."""

    def __init__(self, context: Context, explored: Explored, most: int, seed: int = 0) -> None:
        self.context = context
        self.flow = context.flow
        self.explored = explored
        self.most = most
        self.random = random.Random(seed)
        self.period = common_period(context)
        self.given: Given = {}
        """The numbers that the kernel is given, for the paths at hand."""
        self.bound: dict[int, int] = {}

    def _stop(self, loop: int) -> None:
        """A loop that could go on is left."""
        self.explored.cut(f"loops of unknown length run 0 to {self.bound[loop]} times")

    def __iter__(self) -> Iterator[list[Visit]]:
        """Every path if there are at most `most`, else that many of them, chosen at random."""
        every = values_given(self.flow.trace, self.explored)
        # Small numbers first: where there is more to do than time for it, long loops are what is left out.
        work = 0
        for self.given in sorted(every, key=lambda given: sum(given.values())):
            self._set_bounds()
            for path in self._paths(max(self.most // len(every), FEWEST)):
                yield path
                work += sum(1 + len(self.flow.blocks[visit.block].ops) for visit in path)
                if work * self.flow.trace.waves > MOST_WORK:
                    self.explored.cut(f"stopped after {work:,} blocks and operations on all paths")
                    return

    def _set_bounds(self) -> None:
        self.bound = {
            loop.index: most_iterations(loop, self.given, self.period, self.context, self.explored)
            for loop in self.flow.loops
        }

    def _paths(self, most: int) -> Iterator[list[Visit]]:
        """The paths with the numbers at hand."""
        script: list[tuple[int, int]] = []
        for _ in range(most):
            path, taken = self.walk([choice for choice, _ in script])
            yield path
            script = taken
            while script and script[-1][0] + 1 == script[-1][1]:
                script.pop()
            if not script:
                return
            script[-1] = (script[-1][0] + 1, script[-1][1])
        self.explored.cut(f"{2 * most} of many more paths, half of them at random")
        for _ in range(most):
            yield self.walk(None)[0]

    def walk(self, script: list[int] | None) -> tuple[list[Visit], list[tuple[int, int]]]:
        """One path: the scripted choices, then the first one each time; or, without a script, random ones."""
        place = self._start()
        path: list[Visit] = []
        taken: list[tuple[int, int]] = []
        history: dict[int, list[Values]] = {}
        begun: Begun = {}
        while True:
            self.explored.work += VISITED * (1 + len(place.rounds) // 2)
            if self.explored.out_of_work():
                return path, taken
            path.append(Visit(place.block, tuple(sorted(place.rounds.items())), place.frames))
            ways = self._ways(place)
            if not ways:
                return path, taken
            if len(path) > MOST_BLOCKS:
                self.explored.cut(f"a path of more than {MOST_BLOCKS:,} blocks")
                return path, taken
            choice = 0
            if len(ways) > 1:
                if script is None:
                    choice = self.random.randrange(len(ways))
                elif len(taken) < len(script):
                    choice = script[len(taken)]
                taken.append((choice, len(ways)))
            place = ways[choice]
            period = self.period
            place = self._skipped(place, history)
            if self.period != period:
                # All loops of a path are cut short by the same measure, so that those of one length stay so.
                self._set_bounds()
                place, path, taken, history, begun = self._start(), [], [], {}, {}
            if self._is_endless(place, begun, len(taken)):
                self.explored.cut("loops that never end with some values are cut short")
                return path, taken

    def _start(self) -> _Place:
        return _Place(0, {}, (dict(self.given),))

    def _skipped(self, place: _Place, history: dict[int, list[Values]]) -> _Place:
        """A place where an iteration begins, some iterations on if the loop is long: see `loop_skips`."""
        loop = self.flow.blocks[place.block].loop
        if loop < 0 or self.flow.loops[loop].header != place.block or self.flow.loops[loop].op is not None:
            return place
        rounds, values = place.rounds[loop], place.frames[-1]
        if rounds == 0:
            history[loop] = []
        # A loop with several entries may be entered in its midst.
        history.setdefault(loop, []).append(values)
        if rounds != SETTLED or len(history[loop]) <= SETTLED:
            return place
        found = period_of_loop(self.flow.trace, history[loop])
        if found is None:
            return place
        period, steps = found
        left = iterations_left(values, steps, period, lambda at, most: self._left(place, at, most))
        if left is None or rounds + left <= LONG:
            return place
        every = lcm(self.period, period)
        if every > LONG - SETTLED:
            return place
        self.period = every
        self.explored.cut("long loops are cut short")
        skipped = rounds + left - shortened(rounds + left, self.period)
        return replace(place, frames=(*place.frames[:-1], moved(values, steps, skipped // period)))

    def _is_endless(self, place: _Place, begun: Begun, choices: int) -> bool:
        """Whether a loop of labelled blocks begins an iteration as it began one before, with no choice in between."""
        loop = self.flow.blocks[place.block].loop
        if loop < 0 or self.flow.loops[loop].header != place.block or self.flow.loops[loop].op is not None:
            return False
        if place.rounds[loop] <= self.bound[loop]:
            # Up to its bound, a loop may go on where it could be left.
            begun.pop(loop, None)
            return False
        values = tuple(sorted(place.frames[-1].items()))
        earlier = begun.setdefault(loop, {})
        if earlier.get(values) == choices:
            return True
        earlier[values] = choices
        return False

    def _left(self, place: _Place, values: Values, most: int) -> int | None:
        """After how many iterations a loop is left that begins one with some numbers, if it is within so many."""
        loop = self.flow.blocks[place.block].loop
        here = replace(place, frames=(*place.frames[:-1], values))
        for number in range(1, most + 1):
            for _ in range(MOST_BLOCKS):
                ways = self._ways(here)
                if len(ways) != 1:
                    # Nobody knows.
                    return None
                here = ways[0]
                if loop not in here.rounds:
                    return number
                if here.block == place.block:
                    break
        return None

    def _ways(self, place: _Place) -> list[_Place]:
        """Where a path can go on; leaving a loop comes first, so that scripted paths end."""
        flow, block = self.flow, self.flow.blocks[place.block]
        ways: list[tuple[int, _Place]] = []
        over: dict[int, int] = {}
        """Ways that go round a loop of labelled blocks once too often, and which loop that is."""
        for target in block.successors:
            around = flow.crossed_loop(block.index, target)
            inside = {loop.index for loop in flow.loops_around(target)}
            rounds = {loop: count for loop, count in place.rounds.items() if loop in inside}
            if around >= 0:
                rounds[around] += 1
                if flow.loops[around].op is not None and rounds[around] >= self.bound[around]:
                    if trip_count(flow.loops[around], self.given) is None:
                        self._stop(around)
                    continue
            if self._leaves_too_early(place, inside) or self._is_ruled_out(place, target):
                continue
            if self._is_over(around, rounds):
                over[len(ways)] = around
            for loop in inside:
                rounds.setdefault(loop, 0)
            frames = self._frames(place, block, flow.blocks[target], rounds)
            ways.append((len(rounds), _Place(target, rounds, frames)))
        if over and (len(ways) > len(over) or not all(map(self._can_be_left, over.values()))):
            # Where numbers, or the shape of the kernel, leave no choice, the loop goes on.
            ways = [way for number, way in enumerate(ways) if number not in over]
            for loop in over.values():
                self._stop(loop)
        ways = self._out_of_spent(place, ways)
        # If only the way round is left, in a loop without exit, there is none: the path ends here.
        ways.sort(key=lambda way: way[0])
        return [way for _, way in ways]

    def _out_of_spent(self, place: _Place, ways: list[tuple[int, _Place]]) -> list[tuple[int, _Place]]:
        """Those that leave a loop of labelled blocks that has reached its bound, if there are any."""
        spent = {
            loop.index
            for loop in self.flow.loops_around(place.block)
            if loop.op is None and place.rounds[loop.index] >= self.bound[loop.index]
        }
        if not spent:
            return ways
        leaving = [way for way in ways if spent - way[1].rounds.keys()]
        if leaving and len(leaving) < len(ways):
            for loop in spent:
                self._stop(loop)
        return leaving or ways

    def _is_over(self, loop: int, rounds: dict[int, int]) -> bool:
        """Whether a loop of labelled blocks has run one iteration too many.

        It may ask at its beginning whether to go on: it gets there once more.
        """
        return loop >= 0 and self.flow.loops[loop].op is None and rounds[loop] > self.bound[loop]

    def _leaves_too_early(self, place: _Place, inside: set[int]) -> bool:
        """Whether a loop whose length is known would be left before its end; `inside` are those around the target."""
        return any(
            trip_count(loop, self.given) is not None and place.rounds[loop.index] + 1 < self.bound[loop.index]
            for loop in self.flow.loops_around(place.block)
            if loop.index not in inside
        )

    def _is_ruled_out(self, place: _Place, target: int) -> bool:
        """Whether numbers that are known lead elsewhere."""
        block = self.flow.blocks[place.block]
        if isinstance(block.anchor, ops.Iterate) and block.anchor.upto:
            # Its number tells whether it runs at all.
            entered = next(loop for loop in self.flow.loops if loop.op is block.anchor)
            if (target == entered.header) is not bool(self.bound[entered.index]):
                return True
        return ruled_out(block, target, place.frames[-1])

    def _can_be_left(self, loop: int) -> bool:
        """Whether a loop has a way out."""
        flow = self.flow
        inside = {
            block.index
            for block in flow.blocks
            if loop in {each.index for each in flow.loops_around(block.index)}
        }
        return any(target not in inside for index in inside for target in flow.blocks[index].successors)

    def _frames(self, place: _Place, block: Block, target: Block, rounds: dict[int, int]) -> Frames:
        """The values of names at `target`: what the block's end forwards, and the variables of loops."""
        frames = [*place.frames[:-1], self.context.environments.after(block, place.frames)]
        if len(target.calls) > len(block.calls):
            frames.append({})
        elif len(target.calls) < len(block.calls):
            frames.pop()
        names = self.context.names(target)
        given = self.given if len(frames) == 1 else {}
        values = {
            name: value
            for name, value in frames[-1].items()
            if name in given or (name in names.handed and self.context.environments.knows(target, name))
        }
        for loop in self.flow.loops_around(target.index):
            if loop.op is not None and self.flow.blocks[loop.header].calls == target.calls:
                values[loop.op.var] = loop.op.start + loop.op.step * rounds[loop.index]
        if len(values) > 1:
            values = dict(sorted(values.items(), key=lambda item: names.order.get(item[0], -1)))
        frames[-1] = values
        return tuple(frames)
