"""In which iteration of its loop each of two accesses happens that race: the run that showed them, once more.

Runs do not count iterations, since most show nothing. A run is the same each time, so that the one that showed a race
is repeated up to it with counters. Iterations are those of the source only if the compiler has left the loop as it
is. Of one that is peeled, or unrolled with a rest, accesses are outside of the loop as well; of one that is unrolled,
some are in it several times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import Flow, Loop
from fencepost.hosts.ptx.reading.module import Instruction, Module, Routine
from fencepost.hosts.ptx.runs.observed_races import Conflict
from fencepost.hosts.ptx.runs.simulate import Simulation
from fencepost.hosts.ptx.runs.simulation_setup import Setup, Threads
from fencepost.hosts.ptx.verdicts import InLoop

IN_LATER, IN_NEXT = "in a later iteration", "in the next iteration"
"""What messages say of an access that races with one of an earlier iteration."""
Iterations = dict[tuple[int, int], dict[int, InLoop]]
"""By the time of an access in a run and its thread: the loops around it by their headers, outermost first, and how
often each has begun."""


@dataclass(frozen=True)
class _Written:
    """What copies of one access or barrier of the source have in common."""

    line: int
    file: str | None
    inlined_at: tuple[int, ...]
    opcode: str


def iterations_of(
    module: Module, routine: Routine, flow: Flow, setup: Setup, conflicts: Sequence[Conflict]
) -> Iterations:
    """Where the accesses of some conflicts are in their loops, as far as the loops are those of the source."""
    wanted = {
        (time, thread): (place, loops)
        for each in conflicts
        for place, thread, time in zip(each.places, each.threads, each.times, strict=True)
        if (loops := _loops_of(flow, place.block))
    }
    if not wanted:
        return {}
    replay = _Replay(module, routine, flow, setup)
    replay.watch(wanted)
    replay.run()
    return replay.found


def told_apart_by(
    first: dict[int, InLoop], second: dict[int, InLoop], later: bool
) -> tuple[InLoop | None, InLoop | None]:
    """The loop that tells two accesses apart: the outermost that they are in different iterations of, or else the
    innermost around both. `later`: one is in another iteration than the other, of whichever loop."""
    both = [(first[header], second[header]) for header in first if header in second]
    apart = [pair for pair in both if pair[0].iteration != pair[1].iteration]
    if apart:
        return apart[0]
    if both:
        return (None, None) if later else both[-1]
    return next(reversed(first.values()), None), next(reversed(second.values()), None)


@lru_cache(maxsize=256)
def _loops_of(flow: Flow, block: int) -> tuple[Loop, ...]:
    """The loops around a block that the compiler has left as they are, and whose line is known."""
    return tuple(
        each for each in flow.loops_around(block) if _line_of(flow, each) and _is_as_written(flow, each)
    )


def _line_of(flow: Flow, loop: Loop) -> int | None:
    """The line of the condition at a loop's end, which is that of the loop."""
    ends = {
        flow.blocks[latch].instructions[-1].site for latch in loop.latches if flow.blocks[latch].instructions
    }
    lines = {site.source_line for site in ends if not site.inlined_at}
    return lines.pop() if len(lines) == 1 and len(ends) == len(loop.latches) == 1 else None


def _is_as_written(flow: Flow, loop: Loop) -> bool:
    """Whether the accesses and barriers of a loop are nowhere else."""
    everywhere, inside = _copies(flow), _written_in(flow, loop)
    return all(everywhere[each] == number for each, number in inside.items())


@lru_cache(maxsize=256)
def _repeated(flow: Flow, loop: Loop) -> tuple[int, ...]:
    """The lines whose accesses are all in a loop several times: `s[t] += s[t + k]` loads twice, and stores once."""
    least: dict[int, int] = {}
    for each, number in _written_in(flow, loop).items():
        least[each.line] = min(number, least.get(each.line, number))
    return tuple(sorted(line for line, number in least.items() if number > 1))


def _written_in(flow: Flow, loop: Loop) -> Counter[_Written]:
    return Counter(each for block in sorted(loop.blocks) for each in _written(flow, block))


@lru_cache(maxsize=8)
def _copies(flow: Flow) -> Counter[_Written]:
    """How often each access and each barrier of the source is in the kernel."""
    return Counter(each for number in flow.order for each in _written(flow, number))


def _written(flow: Flow, block: int) -> Iterator[_Written]:
    """The accesses and barriers of a block, by what their copies have in common."""
    for each in flow.blocks[block].instructions:
        found, site = effect(each), each.site
        if (found.accesses or found.barrier is not None) and site.source_line:
            yield _Written(site.source_line, site.source_file, site.inlined_at, each.opcode)


class _Replay(Simulation):
    """A run that counts the iterations of some loops, until it has come to all the accesses that are asked for."""

    def watch(self, wanted: dict[tuple[int, int], tuple[Place, tuple[Loop, ...]]]) -> None:
        """Which accesses, by their time and thread, with the loops to count."""
        self.wanted = wanted
        self.by_time: dict[int, list[tuple[int, int]]] = {}
        for key in wanted:
            self.by_time.setdefault(key[0], []).append(key)
        self.found: Iterations = {}
        loops = {loop.header: loop for _, around in wanted.values() for loop in around}
        self.counted = {header: np.zeros(self.count, dtype=np.int64) for header in loops}
        self.inside = {
            header: np.isin(np.arange(len(self.flow.blocks)), list(loop.blocks))
            for header, loop in loops.items()
        }
        self.before = self.blocks.copy()

    def count_iterations(self, who: Threads) -> None:
        """Also counts from where a loop is entered."""
        super().count_iterations(who)
        for header, times in self.counted.items():
            here = who[self.blocks[who] == header]
            times[here] = np.where(self.inside[header][self.before[here]], times[here] + 1, 1)
        self.before[who] = self.blocks[who]

    def execute(self, instruction: Instruction, here: Place, who: Threads) -> None:
        """Notes the iterations of the accesses that are asked for."""
        begin = self.time
        super().execute(instruction, here, who)
        if self.time == begin:
            return
        for key in [key for time in range(begin + 1, self.time + 1) for key in self.by_time.get(time, ())]:
            place, loops = self.wanted[key]
            if place == here:
                self.found[key] = {loop.header: self._in_loop(loop, key[1]) for loop in loops}
        if len(self.found) == len(self.wanted):
            self.end = 0.0  # The rest was seen before.

    def _in_loop(self, loop: Loop, thread: int) -> InLoop:
        iteration = int(self.counted[loop.header][thread])
        return InLoop(_line_of(self.flow, loop) or 0, iteration, _repeated(self.flow, loop))
