"""Kinds of waves: those that pass the same divergent conditions, where no bytes depend on the wave.

Exchanging two waves of one kind changes nothing about a kernel. So what holds between one of a kind and all others
holds for every one of it: one of each kind is followed, and compared with two of each, for the other one may be of
its own kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fencepost.flow import Flow, Guard
from fencepost.ir.expr import decide


class Side(NamedTuple):
    """Whether a wave can take part in a block, and whether it is certain to."""

    admits: bool
    demands: bool


def side_of(guards: Iterable[Guard], wave: int) -> Side:
    """On which side of conditions without names a wave is."""
    decided = [(decide(guard.condition, {}, wave), guard.holds) for guard in guards]
    return Side(
        all(found in (None, holds) for found, holds in decided),
        all(found == holds for found, holds in decided),
    )


def kinds_of_waves(flow: Flow, *, alike: bool) -> list[list[int]]:
    """The waves of a kernel by kind; each is its own unless waves are `alike` and their conditions are known."""
    waves = range(flow.trace.waves)
    if not alike:
        return [[wave] for wave in waves]
    conditions = dict.fromkeys(guard.condition for block in flow.blocks for guard in block.guards)
    kinds: dict[tuple[bool | None, ...], list[int]] = {}
    for wave in waves:
        kind = tuple(decide(condition, {}, wave) for condition in conditions)
        if None in kind:
            return [[wave] for wave in waves]
        kinds.setdefault(kind, []).append(wave)
    return list(kinds.values())


def first_of_each(kinds: Iterable[list[int]], most: int) -> list[int]:
    """So many waves of each kind."""
    return sorted(wave for alike in kinds for wave in alike[:most])
