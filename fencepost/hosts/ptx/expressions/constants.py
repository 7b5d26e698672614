"""Constants written into a kernel: branches that always go one way, numbers and masks of barriers.

Unoptimized code passes constants through variables and functions, and looks at them again: `__syncwarp(mask)`,
`switch (stages)`. Whoever walks over the control flow later should not see ways that no thread takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.module import (
    Immediate,
    Instruction,
    Label,
    Operand,
    Register,
    Routine,
    Symbol,
    width_of,
)

WITH_NUMBERS = ("bar", "barrier", "cp", "shfl", "vote", "match", "redux", "elect", "mbarrier")
"""Instructions that are judged by operands which may be constants."""
Changed = dict[int, tuple[Instruction, ...]]
"""What comes in the place of an instruction, by its identity."""


class Constants:
    """Finds what is constant in one routine."""

    def __init__(self, routine: Routine, evaluator: Evaluator, forms: ClosedForms) -> None:
        self.routine = routine
        self.evaluator = evaluator
        self.forms = forms
        self.flow = evaluator.flow

    def written(self) -> tuple[Routine, bool]:
        """The routine with its constants, and whether that changes its control flow."""
        found: Changed = {}
        branches = False
        for number in self.flow.order:
            block = self.flow.blocks[number]
            for index, instruction in enumerate(block.instructions):
                changed = self._changed(instruction, number, index)
                if changed is not None:
                    found[id(instruction)] = changed
                    branches |= instruction.guard is not None or instruction.name == "brx"
        items: list[Instruction | Label] = []
        for item in self.routine.body:
            items += found.get(id(item), (item,))
        return self.routine.with_body(tuple(items)), branches

    def _changed(self, instruction: Instruction, block: int, index: int) -> tuple[Instruction, ...] | None:
        """What comes in the place of an instruction; None if it stays."""
        if instruction.guard is not None:
            held = self.forms.closed(self.evaluator.guard_of(instruction, block, index)).known
            if held is not None:
                return (replace(instruction, guard=None, guard_negated=False),) if held else ()
        if instruction.name == "brx":
            return self._known_target(instruction, block, index)
        if instruction.name in WITH_NUMBERS:
            operands = tuple(self._operands(instruction, block, index))
            if operands != instruction.operands:
                return (replace(instruction, operands=operands),)
        return None

    def _known_target(
        self, instruction: Instruction, block: int, index: int
    ) -> tuple[Instruction, ...] | None:
        register, table = instruction.operands[:2]
        if not isinstance(register, Register) or not isinstance(table, Symbol):
            return None
        at = self.forms.closed(self.evaluator.operand(register, block, index, 32)).known
        targets = self.routine.branch_targets.get(table.name, ())
        if at is None or at >= len(targets):
            return None
        return (replace(instruction, parts=("bra",), operands=(Symbol(targets[at]),)),)

    def _operands(self, instruction: Instruction, block: int, index: int) -> Iterator[Operand]:
        assigned = destinations(instruction)
        for operand in instruction.operands:
            if isinstance(operand, Register) and operand not in assigned and width_of(operand.type) >= 32:
                known = self.forms.closed(
                    self.evaluator.operand(operand, block, index, width_of(operand.type))
                ).known
                yield operand if known is None else Immediate(known)
            else:
                yield operand
