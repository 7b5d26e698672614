"""What a run of one block is given, and what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.expressions.evaluate import DYNAMIC
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.module import (
    Module,
    Routine,
)
from fencepost.hosts.ptx.runs.observed_races import (
    Conflict,
)
from fencepost.hosts.ptx.runs.simulated_memory import FEW, Placed, place

RUNNING, AT_COLLECTIVE, AT_BARRIER, DONE = 0, 1, 2, 3
"""What a thread does."""
Threads = NDArray[np.int64]
"""Threads by their numbers."""


@dataclass(frozen=True)
class Setup:
    """A launch to simulate: the block, parameters by name, the number of this block and what global memory
    holds."""

    block: tuple[int, int, int]
    parameters: Mapping[str, int] = field(default_factory=dict)
    number: int = 64
    """What integer parameters are that nothing is said about."""
    seed: int = 1
    blocks: int = 4
    seconds: float = 2.0
    layout: int | None = None
    """What integer parameters are that shared addresses depend on; like the others if nothing is said."""
    spread: int = FEW
    """How many different numbers global memory holds."""
    cluster: tuple[int, int, int] = (1, 1, 1)
    """How many blocks are run together, as a cluster."""
    data_dependent: bool = False
    """Whether an access whose address depends on data is taken to touch its whole variable."""
    test_waits_succeed: bool = False
    """Whether a wait that is tried once succeeds; otherwise it fails."""
    warp_synchronous: bool = False
    """Whether the threads of a warp run in step."""
    concrete: bool = False
    """Whether global memory holds numbers, made up; otherwise it may hold anything, and nothing depends on it."""
    changing: frozenset[tuple[int, int]] = frozenset()
    """Loads of what atomics change meanwhile, by block and position: each thread may get another value."""


@dataclass(frozen=True)
class MissedBarrier:
    """Threads of one block that wait at two barriers, or one that waits and one that went another way."""

    places: tuple[Place, Place]
    threads: tuple[int, int]
    parted: bool = False
    """Whether the first place is the branch at which they parted."""


@dataclass
class SimulationResult:
    """What a simulation showed."""

    conflicts: list[Conflict] = field(default_factory=list)
    missed: list[MissedBarrier] = field(default_factory=list)
    finished: bool = False
    outside: tuple[Place, int] | None = None
    """An access that was outside of every shared variable, and a thread that did it."""
    came: dict[Place, NDArray[np.bool_]] = field(default_factory=dict)
    """For each access that some thread came to, which ones did."""
    chosen: dict[str, int] = field(default_factory=dict)
    """Numbers that were made up for parameters which decide over branches or shared addresses."""
    unwritten: bool = False
    """Some load was of shared memory that nothing had been stored to."""

    def add(self, conflicts: Iterable[Conflict]) -> None:
        """Keeps one of each kind."""
        known = {each.kind for each in self.conflicts}
        for each in conflicts:
            if each.kind not in known:
                known.add(each.kind)
                self.conflicts.append(each)

    @property
    def places(self) -> set[Place]:
        """The accesses that some thread came to."""
        return set(self.came)

    @property
    def errors(self) -> int:
        """How many of the conflicts are more than warnings."""
        return sum(each.severity == "error" for each in self.conflicts)


class NotSimulated(Exception):
    """The run depends on something that is not computed here."""


def placed_variables(module: Module, routine: Routine) -> tuple[dict[str, str], list[Placed]]:
    """What shared variables go by, all dynamic ones by one name, and where these are put."""
    names: dict[str, str] = {}
    sizes: dict[str, int | None] = {}
    for each in (*module.variables, *routine.variables):
        if each.space == "shared":
            names[each.name] = DYNAMIC if each.size is None else each.name
            sizes[names[each.name]] = each.size
    return names, place(dict(sorted(sizes.items(), key=lambda item: item[1] is None)))
