"""Races in global memory that some launch has, as runs show them: of a block's threads, and of two blocks.

Only for files that state what launches keep to, as verification suites do: everything else, numbers and data, may
then be anything, and what a run makes up is such an input. Parameters point to memory of their own. A kernel with
fences or with volatile, acquiring or releasing accesses may put its threads in order by itself, and is left alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod

from fencepost.hosts.ptx.launches.preconditions import satisfying
from fencepost.hosts.ptx.proof.global_memory import ORDERING
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.runs.certain_global_races import ORIGIN, Block, GlobalRace
from fencepost.hosts.ptx.runs.global_accesses import Watch, meetings
from fencepost.hosts.ptx.runs.simulated_memory import FEW, MANY
from fencepost.hosts.ptx.runs.simulation_setup import NotSimulated, Setup

SECONDS, SECONDS_PER_RUN = 4.0, 1.0
FENCES = frozenset({"membar", "fence", "griddepcontrol", "mbarrier"})
MOST_RACES = 10


def races_of_some_launch(case: KernelAndLaunch) -> tuple[list[GlobalRace], Mapping[str, int]]:
    """Races that a run shows, and the parameters that it made up; none, if no run shows any."""
    if case.launch.block is None or case.launch.cluster is not None or may_order_by_itself(case.flow):
        return [], {}
    end = time.thread_time() + SECONDS
    for setup in _setups(case, case.launch.block):
        if time.thread_time() > end:
            break
        try:
            found, chosen = _races(case, setup)
        except NotSimulated:
            break
        if found:
            return found[:MOST_RACES], chosen
    return [], {}


def may_order_by_itself(flow: Flow) -> bool:
    """Whether anything but barriers can put threads or blocks in order: fences, or accesses that order."""
    return any(
        each.name in FENCES or (each.name in ("ld", "st", "atom", "red") and ORDERING & set(each.parts))
        for number in flow.order
        for each in flow.blocks[number].instructions
    )


def _setups(case: KernelAndLaunch, block: Block) -> Iterator[Setup]:
    """Launches to try: numbers that are as large as the block, small, and as large as the grid; data of few and of
    many different numbers."""
    launch, count = case.launch, prod(block)
    whole = count * prod(launch.grid or (1, 1, 1))
    for number, seed, spread in (
        (count, 1, FEW),
        (1, 2, FEW),
        (whole, 3, FEW),
        (3, 4, MANY),
        (count // 2, 5, FEW),
        (2 * count, 6, MANY),
    ):
        required = satisfying(launch.required, launch.parameters, _all(number))
        if required is not None:
            parameters = {**required, **launch.parameters}
            yield Setup(block, parameters, number, seed, seconds=SECONDS_PER_RUN, spread=spread)


def _all(number: int) -> Callable[[str], int]:
    """The same number for every parameter."""
    return lambda _: number


def _races(case: KernelAndLaunch, setup: Setup) -> tuple[list[GlobalRace], Mapping[str, int]]:
    """The races of one launch: of the first block's threads, or else of two blocks."""
    first = _run(case, setup, ORIGIN)
    chosen = {**setup.parameters, **first.seen.chosen}
    found = [
        GlobalRace(each.places, each.threads, first.base(each.address))
        for each in first.found
        if each.severity == "error"
    ]
    if found or not first.seen.finished:
        return found, chosen
    return list(_of_neighbours(case, setup, first)), chosen


def _run(case: KernelAndLaunch, setup: Setup, number: Block, after: Watch | None = None) -> Watch:
    """One block; what the one before it has left in memory is there."""
    places = {f"ctaid.{axis}": at for axis, at in zip("xyz", number, strict=True)}
    watch = Watch(case, replace(setup, parameters={**setup.parameters, **places}))
    if after is not None:
        watch.memory.stored = dict(after.memory.stored)
    watch.run()
    watch.close()
    return watch


def _of_neighbours(case: KernelAndLaunch, setup: Setup, first: Watch) -> Iterator[GlobalRace]:
    """Races of the first block and of another one, along each axis of the grid."""
    grid = case.launch.grid or ORIGIN
    seen: set[object] = set()
    for axis in range(3):
        for at in sorted({1, grid[axis] - 1} - {0, -1}) if grid[axis] > 1 else ():
            number = (at * (axis == 0), at * (axis == 1), at * (axis == 2))
            other = _run(case, setup, number, after=first)
            for one, two in meetings(first.events, other.events):
                places = (one.place, two.place)
                if frozenset(places) not in seen:
                    seen.add(frozenset(places))
                    base = first.base(max(one.address, two.address))
                    yield GlobalRace(places, (one.thread, two.thread), base, blocks=(ORIGIN, number))
