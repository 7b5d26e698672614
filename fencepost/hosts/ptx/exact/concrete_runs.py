"""Runs whose memory holds numbers, where it depends on data whether two accesses meet, or store the same.

What such a run shows is there for those data. Two stores that meet because their data say so are no finding all the
same: real data may be a permutation (`made_up_data`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fencepost.hosts.ptx.exact.accesses import Found
from fencepost.hosts.ptx.exact.address_origins import origins_of
from fencepost.hosts.ptx.exact.shadow import UnorderedAccesses
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import space_of
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Address
from fencepost.hosts.ptx.runs.made_up_data import DataDependence
from fencepost.hosts.ptx.runs.simulated_memory import FEW, MANY
from fencepost.hosts.ptx.runs.simulation_setup import Setup

MOST_SETUPS = 2
CONTENTS = ((1, FEW), (2, MANY))
"""Seeds, and how many different numbers memory holds: few are fit to be indices, many differ from each other."""


def concrete_setups(flow: Flow, setups: Sequence[Setup]) -> Iterator[Setup]:
    """Launches with numbers in memory; none for a kernel that may load what it has stored to global memory."""
    if not _loads_only_inputs(flow):
        return
    for setup in setups[:MOST_SETUPS]:
        for seed, spread in CONTENTS:
            yield replace(setup, concrete=True, data_dependent=True, seed=seed, spread=spread)


def _loads_only_inputs(flow: Flow) -> bool:
    """Whether the pointers that are loaded from are others than those that are stored to."""
    touched: dict[bool, set[str]] = {True: set(), False: set()}
    for number in flow.order:
        for instruction in flow.blocks[number].instructions:
            if instruction.name not in ("ld", "ldu", "st", "atom", "red", "cp"):
                continue
            if space_of(instruction) not in ("global", None) or "nc" in instruction.parts:
                continue
            for address in (each for each in instruction.operands if isinstance(each, Address)):
                origins = origins_of(flow, address)
                touched[instruction.name in ("ld", "ldu")] |= origins.parameters - origins.symbols
    return not touched[True] & touched[False]


def certain(found: Found, data: DataDependence, place_of: Callable[[int], Place]) -> Found:
    """What a run with numbers shows for certain: accesses that meet, and blocks that may not be there."""

    def counts(clash: UnorderedAccesses) -> bool:
        places = (place_of(clash.places[0]), place_of(clash.places[1]))
        return not (clash.data_dependent or clash.perhaps_equal or clash.proxy or data.explains(places))

    problems = [each for each in found.problems if each.code == "FP009"]
    return Found(list(filter(counts, found.clashes)), problems)
