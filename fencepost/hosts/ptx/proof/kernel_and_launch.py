"""A kernel to judge, with what is known about its launch."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.hosts.ptx.launches.launch import Launch
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.module import Module, Operand, Routine, Special
from fencepost.hosts.ptx.verdicts import (
    Site,
)


@dataclass(frozen=True)
class KernelAndLaunch:
    """A kernel to judge: its module, its flow, and what is known about its launch."""

    module: Module
    routine: Routine
    flow: Flow
    launch: Launch

    def site(self, place: Place) -> Site:
        """Where an instruction stands."""
        return self.flow.blocks[place.block].instructions[place.index].site

    def position(self, place: Place) -> tuple[int, int]:
        """Which comes first; functions stand elsewhere in the text than where they are called."""
        return self.flow.position[place.block], place.index


def axes_of(routine: Routine) -> frozenset[str]:
    """The dimensions of the block that a kernel reads."""
    found = {"x"}
    for item in routine.body:
        for operand in getattr(item, "operands", ()):
            found |= _axes(operand)
    return frozenset(found)


def _axes(operand: Operand) -> set[str]:
    if isinstance(operand, Special) and operand.name.startswith(("tid.", "ntid.")):
        return {operand.name[-1]}
    return set()
