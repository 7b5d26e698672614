"""Which accesses of a simulated block hang on what memory holds: there, the contents are made up.

That two threads store to one place because their data say so proves little. Real data may be a permutation, or a
condition that one thread alone meets. So such a pair of stores is no finding. A store to a place that data name and
a load of it is one: data that never let two threads meet would be a contract of the caller's that no one keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from fencepost.hosts.ptx.divergence import deciding
from fencepost.hosts.ptx.effects import destinations, effect
from fencepost.hosts.ptx.flow import Flow
from fencepost.hosts.ptx.instructions import computes
from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.module import Instruction, registers_in


@lru_cache(maxsize=8)
def registers_from_data(flow: Flow) -> frozenset[str]:
    """The registers whose values depend on what memory holds, or on other threads."""
    instructions = [each for number in flow.order for each in flow.blocks[number].instructions]
    found: set[str] = set()
    changed = True
    while changed:
        changed = False
        for each in instructions:
            targets = {name for target in destinations(each) for name in registers_in(target)}
            if not targets <= found and (_reads_data(each) or _sources(each) & found):
                found |= targets
                changed = True
    return frozenset(found)


def _reads_data(instruction: Instruction) -> bool:
    if computes(instruction) or "param" in instruction.parts or "const" in instruction.parts:
        return False
    return instruction.name not in ("bar", "barrier", "mapa")


def _sources(instruction: Instruction) -> set[str]:
    found = {name for operand in instruction.operands[1:] for name in registers_in(operand)}
    return found | ({instruction.guard.name} if instruction.guard is not None else set())


class MadeUp:
    """Answers for one kernel. `uniform` says whether all threads take a branch alike."""

    def __init__(self, flow: Flow, uniform: Callable[[int], bool]) -> None:
        self.flow = flow
        self.uniform = uniform
        self.data = registers_from_data(flow)
        self._stores: dict[Place, bool] = {}

    def explains(self, places: tuple[Place, Place]) -> bool:
        """Whether a conflict is between two stores that happen, or have their address, because of data."""
        return all(self._stores_by_data(place) for place in places)

    def _stores_by_data(self, place: Place) -> bool:
        if place not in self._stores:
            self._stores[place] = self._decide(place)
        return self._stores[place]

    def _decide(self, place: Place) -> bool:
        instruction = self.flow.blocks[place.block].instructions[place.index]
        accesses = [each for each in effect(instruction).accesses if each.kind == "write"]
        if not accesses:
            return False
        named = {name for each in accesses for name in registers_in(each.address)} & self.data
        if named:
            return not self._also_loaded(named)
        for branch in deciding(self.flow.control_dependences, place.block):
            guard = self.flow.blocks[branch].guard
            if guard is not None and guard.name in self.data and not self.uniform(branch):
                return True
        return False

    def _also_loaded(self, names: set[str]) -> bool:
        """Whether something is loaded through the same registers: an update in place, as of a histogram."""
        for number in self.flow.order:
            for instruction in self.flow.blocks[number].instructions:
                for access in effect(instruction).accesses:
                    if access.kind == "read" and names & set(registers_in(access.address)):
                        return True
        return False
