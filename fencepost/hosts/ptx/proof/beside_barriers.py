"""The instructions on one side of a barrier, up to the next barriers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.flow import Flow


@dataclass
class Beside:
    """What is reached from a barrier, or reaches it, without passing another one."""

    places: dict[Place, None] = field(default_factory=dict)
    ends: set[Place] = field(default_factory=set)
    """The barriers at which it ends."""


def beside(flow: Flow, barrier: Place, barriers: Collection[Place], *, forward: bool) -> Beside:
    """One side of a barrier; `barriers` are those to stop at."""
    found = Beside()
    step = 1 if forward else -1
    todo = [Place(barrier.block, barrier.index + step)]
    seen: set[int] = set()
    while todo:
        start = todo.pop()
        for index in range(start.index, len(flow.blocks[start.block].instructions) if forward else -1, step):
            here = Place(start.block, index)
            if here in barriers:
                found.ends.add(here)
                break
            found.places[here] = None
        else:
            for block in flow.successors[start.block] if forward else flow.predecessors[start.block]:
                if block not in seen:
                    seen.add(block)
                    todo.append(Place(block, 0 if forward else len(flow.blocks[block].instructions) - 1))
    return found
