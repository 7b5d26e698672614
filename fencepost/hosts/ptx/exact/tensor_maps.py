"""Tensor maps that a kernel makes by itself: which box they have once they are copied to global memory."""

from __future__ import annotations

from math import prod

import numpy as np

from fencepost.hosts.ptx.exact.machine import Machine
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.reading.module import Immediate, Instruction
from fencepost.hosts.ptx.runs.simulation_setup import Threads

ELEMENTS = (1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4)
"""Bytes of an element, by its type."""


class TensorMaps:
    """The tensor maps in shared memory, by address: what `tensormap.replace` has put into them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.fields: dict[int, dict[str, int | None]] = {}

    def touch(self, instruction: Instruction, who: Threads, where: Bits) -> dict[object, int]:
        """`tensormap`; the boxes of the maps that it copies to global memory, 0 if they are not known."""
        found: dict[object, int] = {}
        for thread, address in zip(who, map(int, where), strict=True):
            one = np.array([thread])
            if "cp_fenceproxy" not in instruction.parts:
                self._replace(instruction, one, address)
            elif not self.machine.made_up.of(instruction.operands[0], one).any():
                found[int(self.machine.read(instruction.operands[0], one, 64).bits[0])] = self._box(address)
        return found

    def _replace(self, instruction: Instruction, who: Threads, address: int) -> None:
        _, *rest = instruction.operands
        names = [each for each in instruction.parts if each in ("elemtype", "rank")]
        if "box_dim" in instruction.parts and isinstance(rest[0], Immediate):
            names = [f"box {rest[0].value}"]
        for name in names:
            sure = not self.machine.made_up.of(rest[-1], who).any()
            value = int(self.machine.read(rest[-1], who, 32).bits[0]) if sure else None
            self.fields.setdefault(address, {})[name] = value

    def _box(self, address: int) -> int:
        fields = self.fields.get(address, {})
        rank, element = fields.get("rank"), fields.get("elemtype")
        if rank is None or element is None or element >= len(ELEMENTS):
            return 0
        # The field has the rank less one.
        sides = [fields.get(f"box {number}") for number in range(rank + 1)]
        known = [each for each in sides if each]
        return prod(known) * ELEMENTS[element] if len(known) == len(sides) else 0
