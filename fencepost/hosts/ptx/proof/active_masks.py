"""What `activemask` tells: the lanes that are at it together, each with its own bit as one.

Which lanes these are is not known, and they may be others at each time. Two threads have come together, or they have
not: a solver tries both. If they have, both have one mask, and what one lane of it hands on by a shuffle among its
lanes is one value. If not, what was drawn for each of their groups was drawn by two atomics.
"""

from __future__ import annotations

from fencepost.hosts.ptx.expressions.expression_nodes import Expression
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.solver_questions import Formula, Questions
from fencepost.hosts.ptx.reading.flow import Flow
from fencepost.hosts.ptx.reading.instructions import result
from fencepost.hosts.ptx.reading.module import Instruction, Operand, Register
from fencepost.hosts.ptx.reading.ssa import Assigned

WHOLE_WARP = 31
"""The clamp of a shuffle in which all lanes of a warp are one segment."""
LOWEST = ("bfind.shiftamt.u32", "clz.b32")
"""What gives the lowest bit that is set, of the bits in the opposite order."""
REVERSE = Instruction(("brev", "b32"), (Register("%r", "b32"), Register("%r", "b32")), 0, "")


def is_active_mask(flow: Flow, value: Expression) -> bool:
    """Whether a leaf is what `activemask` gave a thread."""
    if value.operation != "leaf" or not isinstance(value.leaf.definition, Assigned):
        return False
    definition = value.leaf.definition
    instruction = flow.blocks[definition.block].instructions[definition.index]
    return instruction.name == "activemask" and instruction.guard is None


def came_together(questions: Questions, mask: Expression) -> Formula:
    """Whether the two threads of a question have got a mask together."""
    return questions.z3.Bool(f"together {mask.number}")


class GroupShuffles:
    """Shuffles among the lanes that an `activemask` before has shown."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.flow = questions.evaluator.flow

    def mask_of(self, place: Place) -> Expression | None:
        """The mask of a shuffle that hands on what the lowest of these lanes has; None if it is another one."""
        instruction = self.flow.blocks[place.block].instructions[place.index]
        if instruction.opcode != "shfl.sync.idx.b32" or instruction.guard is not None:
            return None
        source, clamp, mask = (self._operand(each, place) for each in instruction.operands[2:])
        if clamp.known != WHOLE_WARP or not is_active_mask(self.flow, mask):
            return None
        return mask if self._is_lowest(mask, source) and self._all_come(mask, place) else None

    def is_in_lowest(self, mask: Expression) -> Expression:
        """What holds in the lowest lane of a mask."""
        values = self.questions.forms.values
        lane = self.questions.forms.closed(self.questions.evaluator.special("laneid"))
        one = values.constant(1, 32)
        before = values.binary("sub", values.binary("shl", one, lane), one)
        among = values.binary("and", mask, before)
        return values.binary("eq", among, values.constant(0, 32))

    def _operand(self, operand: Operand, place: Place) -> Expression:
        found = self.questions.evaluator.operand(operand, place.block, place.index, 32)
        return self.questions.forms.closed(found)

    def _is_lowest(self, mask: Expression, source: Expression) -> bool:
        """Whether a number is that of the lowest lane: `__ffs(mask) - 1`."""
        if source.operation != "function" or source.payload not in LOWEST:
            return False
        return source.arguments[0] is result(self.questions.forms.values, REVERSE, [mask])

    def follows(self, mask: Expression, place: Place) -> bool:
        """Whether a thread that comes to an instruction has got a mask before, in the same iteration."""
        definition = mask.leaf.definition
        assert isinstance(definition, Assigned)
        if self.flow.loops_around(definition.block) != self.flow.loops_around(place.block):
            return False
        if definition.block == place.block:
            return definition.index < place.index
        return self.flow.dominates(definition.block, place.block)

    def _all_come(self, mask: Expression, place: Place) -> bool:
        """Whether every lane goes on from the mask to the shuffle, past no other one that some of them may miss."""
        definition, flow = mask.leaf.definition, self.flow
        assert isinstance(definition, Assigned)
        if not self.follows(mask, place) or not flow.postdominates(place.block, definition.block):
            return False
        between, todo = {place.block}, [place.block]
        while todo:
            for before in flow.predecessors[todo.pop()]:
                if before not in between and before != definition.block:
                    between.add(before)
                    todo.append(before)
        return not any(
            each.name == "shfl"
            for block in between - {place.block}
            for each in flow.blocks[block].instructions
            if not (flow.dominates(block, place.block) and flow.postdominates(block, definition.block))
        )
