"""What registers hold, as expressions: follows definitions back to threads, parameters and loop iterations.

Joins become if-then-else over the conditions under which each side is reached; a register at the head of a loop
is a `carried` leaf, which `closed_forms.py` replaces by a formula in the iteration where it can.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.hosts.ptx.expressions.expression_builder import Values
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, Leaf, Scope, leaves, sum_parts
from fencepost.hosts.ptx.expressions.parameter_roles import roles_of
from fencepost.hosts.ptx.launches.launch import Launch
from fencepost.hosts.ptx.reading.effects import space_of
from fencepost.hosts.ptx.reading.flow import ENTRY, Flow
from fencepost.hosts.ptx.reading.instructions import (
    INTEGER,
    SHIFTS,
    computes,
    is_integer,
    operand_type,
    result,
    second_result,
    types_of,
)
from fencepost.hosts.ptx.reading.module import (
    Address,
    Group,
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Register,
    Routine,
    Special,
    Symbol,
    width_of,
)
from fencepost.hosts.ptx.reading.ssa import Assigned, Definition, Definitions, Phi, Undefined

DYNAMIC = "dynamic shared memory"
"""The name that every `extern __shared__` array goes by: they are the same bytes."""
UNIFORM_SPECIALS = ("ctaid", "nctaid", "ntid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
FULL_MASK = 0xFFFFFFFF
LONG_SPECIALS = ("clock64", "globaltimer", "gridid", "current_graph_exec")
CHANGING_SPECIALS = frozenset({"clock", "clock64", "globaltimer", *(f"pm{number}" for number in range(8))})
"""Counters that go on by themselves, without a suffix such as `_hi`."""
CHANGING_LOADS = frozenset({"volatile", "relaxed", "acquire"})
"""Loads of what other threads may be storing at the same time, unless they are of shared memory: the proof looks for
stores beside those, and keeps the ones apart that an atomic is beside (`unlike`)."""
UNIFORM_NAMES = frozenset(
    {"gridid", "smid", "nsmid", "nwarpid", "dynamic_smem_size", "total_smem_size", "cluster_ctarank"}
)

FUNCTIONS = 1 << 24
"""Where functions are taken to begin."""


class Evaluator:
    """Expressions for the registers of one kernel under one launch."""

    def __init__(self, module: Module, routine: Routine, flow: Flow, launch: Launch) -> None:
        self.routine = routine
        self.flow = flow
        self.launch = launch
        self.values = Values(launch.limits(), roles_of(flow).addresses)
        self.definitions = Definitions(flow)
        self.shared = {
            each.name: DYNAMIC if each.size is None else each.name
            for each in (*module.variables, *routine.variables)
            if each.space == "shared"
        }
        self.sizes = {each.name: each.size for each in (*module.variables, *routine.variables)}
        self.local_names = frozenset(each.name for each in routine.variables if each.space == "local")
        """Variables that every thread has its own of; their addresses are called `&name`."""
        self.parameters = {parameter.name for parameter in routine.parameters}
        own = {each.name for each in (*module.variables, *routine.variables)} | self.parameters
        names = [name for name in module.routines if name not in own]
        self.functions = {name: FUNCTIONS + 16 * at for at, name in enumerate(names)}
        """Made-up addresses of functions: what matters is that no two are alike."""
        self.loads: dict[Expression, Expression] = {}
        """For the result of a load that other threads see alike: its address."""
        self.unlike: set[tuple[int, int]] = set()
        """Loads, by block and position, that another thread's atomic may meet: threads may get different values."""
        self._known: dict[Definition, Expression] = {}
        self._local: dict[int, Expression] = {}
        self._guards: dict[int, Expression] = {}

    def true(self) -> Expression:
        """The condition that always holds."""
        return self.values.constant(1, 1)

    # ---- operands and definitions

    def operand(self, operand: Operand, block: int, index: int, width: int) -> Expression:
        """The value of an operand of the instruction at a place."""
        if isinstance(operand, Register):
            return self._fitted(self.definition(self.definitions.before(operand, block, index)), width)
        if isinstance(operand, Immediate):
            return self.values.constant(operand.value, width)
        if isinstance(operand, Negated):
            return self.values.invert(self.operand(operand.register, block, index, 1))
        if isinstance(operand, Special) and operand.name.partition("_")[0] in CHANGING_SPECIALS:
            # Read twice, it gives two values.
            leaf = Leaf("opaque", f"{operand.name} ({block}.{index})", block, "thread")
            return self._fitted(self.values.leaf(leaf, special_width(operand.name)), width)
        if isinstance(operand, Special):
            return self._fitted(self.special(operand.name), width)
        if isinstance(operand, Symbol):
            return self.symbol(operand.name, width)
        if isinstance(operand, Address):
            base = self.operand(operand.base, block, index, width)
            return self.values.binary("add", base, self.values.constant(operand.offset, width))
        parts = [self.operand(item, block, index, width // len(operand.items)) for item in operand.items]
        whole = self.values.constant(0, width)
        for at, part in enumerate(parts):
            shift = self.values.constant(at * width // len(parts), width)
            piece = self.values.binary("shl", self.values.extend(part, width, False), shift)
            whole = self.values.binary("or", whole, piece)
        return whole

    def _fitted(self, value: Expression, width: int) -> Expression:
        if value.width == width:
            return value
        if value.width > width:
            return self.values.extract(value, 0, width)
        return self.values.extend(value, width, False)

    def symbol(self, name: str, width: int) -> Expression:
        """The address of a variable, or a constant with a name."""
        if name == "WARP_SZ":
            return self.values.constant(32, width)
        if name in self.shared:
            return self.values.leaf(Leaf("base", self.shared[name]), width)
        if name in self.functions:
            return self.values.constant(self.functions[name], width)
        return self.values.leaf(Leaf("uniform", f"&{name}"), width)

    def special(self, name: str) -> Expression:
        """A special register."""
        family, _, axis = name.partition(".")
        values = self.values
        if family == "ntid" and self.launch.block is not None and axis in ("x", "y", "z"):
            return values.constant(self.launch.block["xyz".index(axis)], 32)
        if family == "ntid" and self.launch.largest["xyz".index(axis)] == 1:
            return values.constant(1, 32)
        if family == "tid":
            return values.leaf(Leaf("thread", name, scope="thread"), 32)
        if family in UNIFORM_SPECIALS or name in UNIFORM_NAMES:
            return values.leaf(Leaf("uniform", name), 32)
        if family == "laneid":
            return values.binary("and", self.linear_thread(), values.constant(31, 32))
        if family.startswith("lanemask"):
            return self._lane_mask(family)
        if family == "warpid":
            return values.leaf(Leaf("opaque", name, scope="warp"), 32)
        return values.leaf(Leaf("opaque", name, 0, scope="thread"), special_width(name))

    def _lane_mask(self, name: str) -> Expression:
        """The lanes before or behind a thread's own, with it or without."""
        values = self.values
        own = values.binary("shl", values.constant(1, 32), self.special("laneid"))
        before = values.binary("sub", own, values.constant(1, 32))
        up_to = values.binary("or", before, own)
        masks = {"lanemask_eq": own, "lanemask_lt": before, "lanemask_le": up_to}
        if name in masks:
            return masks[name]
        return values.invert(up_to if name == "lanemask_gt" else before)

    def linear_thread(self) -> Expression:
        """The number of the thread in its block: x first, then y, then z."""
        values = self.values
        x, y, z = (self.special(f"tid.{axis}") for axis in "xyz")
        rows = values.binary("mul", self.special("ntid.y"), z)
        return values.binary(
            "add", x, values.binary("mul", self.special("ntid.x"), values.binary("add", y, rows))
        )

    def definition(self, definition: Definition) -> Expression:
        """The value of a definition; leaves of loops are as yet `carried`."""
        found = self._known.get(definition)
        if found is None:
            if isinstance(definition, Assigned):
                found = self._assigned(definition)
            elif isinstance(definition, Undefined):
                width = width_of(definition.register.type)
                found = self.values.leaf(
                    Leaf("opaque", f"{definition.register.name} (undefined)", ENTRY, "thread"), width
                )
            elif definition.block in self.flow.loop_of:
                found = self.carried(definition)
            else:
                found = self.join(definition, self.flow.predecessors[definition.block])
            self._known[definition] = found
        return found

    def carried(self, phi: Phi) -> Expression:
        """The leaf of a register at the head of a loop."""
        name = f"{phi.register.name}@{phi.block}"
        return self.values.leaf(Leaf("carried", name, phi.block, "thread", phi), width_of(phi.register.type))

    def join(self, phi: Phi, predecessors: Sequence[int]) -> Expression:
        """If-then-else over where control comes from."""
        incoming = [self.definition(self.definitions.at_end(phi.register, each)) for each in predecessors]
        width = width_of(phi.register.type)
        value = self._fitted(incoming[-1], width)
        dominator = self.flow.idom[phi.block]
        for source, other in zip(predecessors[:-1], incoming[:-1], strict=True):
            other = self._fitted(other, width)
            if other is not value:
                taken = self.values.binary(
                    "and", self.relative(source, dominator), self.edge(source, phi.block)
                )
                value = self.values.choose(taken, other, value)
        return value

    def _assigned(self, definition: Assigned) -> Expression:
        instruction = self.flow.blocks[definition.block].instructions[definition.index]
        value = self._result(instruction, definition)
        if instruction.guard is not None:
            # A predicated assignment leaves the old value where the predicate does not hold.
            target = instruction.operands[0]
            target = target.items[definition.slot] if isinstance(target, Group) else target
            assert isinstance(target, Register)
            before = self.definition(self.definitions.before(target, definition.block, definition.index))
            held = self.guard_of(instruction, definition.block, definition.index)
            value = self.values.choose(held, value, self._fitted(before, value.width))
        return value

    def guard_of(self, instruction: Instruction, block: int, index: int) -> Expression:
        """The predicate of an instruction."""
        if instruction.guard is None:
            return self.true()
        held = self.operand(instruction.guard, block, index, 1)
        return self.values.invert(held) if instruction.guard_negated else held

    def _result(self, instruction: Instruction, definition: Assigned) -> Expression:
        target = instruction.operands[0]
        many = isinstance(target, Group)
        register = target.items[definition.slot] if isinstance(target, Group) else target
        width = width_of(register.type) if isinstance(register, Register) else 32
        if not computes(instruction):
            return self._unfollowed(instruction, definition, width)
        source = instruction.operands[1] if len(instruction.operands) > 1 else None
        if instruction.name == "mov" and isinstance(target, Group) and isinstance(source, Group):
            part = source.items[definition.slot] if definition.slot < len(source.items) else Immediate(0)
            return self.operand(part, definition.block, definition.index, width)
        if instruction.name == "mov" and many:
            whole = self.operand(
                instruction.operands[1], definition.block, definition.index, 0 or self._whole(target)
            )
            return self.values.extract(whole, definition.slot * width, width)
        arguments = [
            self.operand(each, definition.block, definition.index, operand_width(instruction, at, each))
            for at, each in enumerate(instruction.operands[1:])
        ]
        value = result(self.values, instruction, arguments)
        if many and definition.slot == 1:
            second = second_result(self.values, instruction, arguments)
            if second is None:
                return self._unfollowed(instruction, definition, width)
            value = second
        signed = instruction.name == "cvt" and types_of(instruction)[0].startswith("s")
        if value.width < width:
            return self.values.extend(value, width, signed)
        return self._fitted(value, width)

    @staticmethod
    def _whole(target: Operand) -> int:
        assert isinstance(target, Group)
        return sum(
            width_of(each.type) if isinstance(each, Register) else 32 for each in target.items[:1]
        ) * len(target.items)

    def _unfollowed(self, instruction: Instruction, definition: Assigned, width: int) -> Expression:
        """The result of a load, shuffle, atomic or unknown instruction."""
        values = self.values
        if instruction.name in ("ld", "ldu"):
            return self._loaded(instruction, definition, width)
        if instruction.name == "shfl" and definition.slot == 0:
            # CuTe passes on the address of shared memory this way: what is one value in all threads stays that.
            given = self.operand(instruction.operands[1], definition.block, definition.index, width)
            if all(leaf.leaf.kind in ("uniform", "base") for leaf in leaves(given)):
                return given
        scope: Scope = "thread"
        if instruction.name in ("bar", "barrier"):
            scope = "block"
        elif self._same_in_a_warp(instruction, definition):
            scope = "warp"
        leaf = Leaf("opaque", unfollowed_name(instruction, definition), definition.block, scope, definition)
        return values.leaf(leaf, width)

    def _same_in_a_warp(self, instruction: Instruction, definition: Assigned) -> bool:
        """Votes, reductions and shuffles from one lane, by all lanes of a warp together."""

        def known(operand: Operand) -> int | None:
            return self.operand(operand, definition.block, definition.index, 32).known

        if "sync" not in instruction.parts or known(instruction.operands[-1]) != FULL_MASK:
            return False
        if instruction.name == "shfl" and "idx" in instruction.parts and definition.slot == 0:
            # Shuffles among fewer than 32 lanes have one source for each part of the warp.
            parts = known(instruction.operands[3])
            return known(instruction.operands[2]) is not None and parts is not None and not parts >> 8 & 31
        return instruction.name in ("vote", "redux")

    def _loaded(self, instruction: Instruction, definition: Assigned, width: int) -> Expression:
        values = self.values
        address = next(each for each in instruction.operands if isinstance(each, Address))
        space = space_of(instruction)
        if space == "param" and isinstance(address.base, Symbol) and address.base.name in self.parameters:
            offset = address.offset + definition.slot * width_of(types_of(instruction)[-1]) // 8
            key = address.base.name if offset == 0 else f"{address.base.name}+{offset}"
            size = width_of(types_of(instruction)[-1])
            if key in self.launch.parameters:
                return values.constant(self.launch.parameters[key], width)
            leaf = values.leaf(Leaf("uniform", key), size)
            signed = operand_type(instruction).startswith("s")
            return values.extend(leaf, width, signed) if width > size else self._fitted(leaf, width)
        base = address.base
        wide = width_of(base.type) if isinstance(base, Register) else 64
        where = self.operand(address, definition.block, definition.index, wide)
        slot = values.constant(definition.slot, 32)
        if space in ("const", "param") or "nc" in instruction.parts:
            return values.function(instruction.opcode, (where, slot), width)
        name = unfollowed_name(instruction, definition)
        leaf = values.leaf(Leaf("opaque", name, definition.block, "thread", definition), width)
        private = space == "local" or (space is None and self.local_names)
        changing = bool(CHANGING_LOADS & set(instruction.parts)) and not _is_in_shared(space, where)
        if not (changing or private or (definition.block, definition.index) in self.unlike):
            self.loads[leaf] = where
        return leaf

    # ---- conditions

    def edge(self, source: int, target: int) -> Expression:
        """The condition under which a block goes on to another."""
        block = self.flow.blocks[source]
        if len(self.flow.successors[source]) < 2:
            return self.true()
        end = len(block.instructions)
        if block.index is not None:
            at = self.operand(block.index, source, end, 32)
            taken = self.values.constant(0, 1)
            for number, other in enumerate(block.successors):
                if other == target:
                    here = self.values.binary("eq", at, self.values.constant(number, 32))
                    taken = self.values.binary("or", taken, here)
            return taken
        assert block.guard is not None
        held = self.operand(block.guard, source, end, 1)
        return held if (block.successors[0] == target) != block.guard_negated else self.values.invert(held)

    def local(self, block: int) -> Expression:
        """The condition under which a block is reached from its immediate dominator, back edges not taken."""
        found = self._local.get(block)
        if found is None:
            dominator = self.flow.idom[block]
            if block == ENTRY or self.flow.postdominates(block, dominator):
                found = self.true()
            else:
                found = self.values.constant(0, 1)
                for source in self.flow.predecessors[block]:
                    if not self.flow.is_back_edge(source, block):
                        path = self.values.binary(
                            "and", self.relative(source, dominator), self.edge(source, block)
                        )
                        found = self.values.binary("or", found, path)
            self._local[block] = found
        return found

    def relative(self, block: int, dominator: int) -> Expression:
        """The condition under which a block is reached from one that dominates it."""
        found = self.true()
        while block != dominator:
            found = self.values.binary("and", found, self.local(block))
            block = self.flow.idom[block]
        return found

    def conditions(self, block: int) -> list[Expression]:
        """What holds for a thread that is at a block: one condition for each dominator that says something."""
        found = []
        while block != ENTRY:
            condition = self.local(block)
            if condition.known != 1:
                found.append(condition)
            block = self.flow.idom[block]
        return found


def _is_in_shared(space: str | None, address: Expression) -> bool:
    """Whether a load is one of shared memory: its space says so, or its address is counted from a shared variable."""
    if space is not None:
        return space == "shared"
    counted = [each for each, factor in sum_parts(address)[1].items() if factor == 1]
    plain = [each.arguments[0] if each.operation == "zext" else each for each in counted]
    return any(each.operation == "leaf" and each.leaf.kind == "base" for each in plain)


def special_width(name: str) -> int:
    """The bits of a special register."""
    return 64 if name in LONG_SPECIALS else 32


def operand_width(instruction: Instruction, at: int, operand: Operand) -> int:
    """The width in which a source operand is read; whole registers where only their sameness counts."""
    if isinstance(operand, Register) and not is_integer(instruction):
        return width_of(operand.type)
    return source_width(instruction, at)


def unfollowed_name(instruction: Instruction, definition: Assigned) -> str:
    """A name for a result that is not followed; one line may hold several instructions, or be inlined often."""
    place = f"{definition.block}.{definition.index}.{definition.slot}"
    return f"{instruction.name}@{instruction.line} ({place})"


def source_width(instruction: Instruction, at: int) -> int:
    """The width in which the source operand with that number is read."""
    width = width_of(operand_type(instruction)) or 32
    name = instruction.name
    if name in SHIFTS and at == 1:
        return 32
    if name in ("selp",) and at == 2:
        return 1
    if name in ("setp", "set") and at == 2:
        return 1
    if name == "mad" and at == 2 and "wide" in instruction.parts:
        return 2 * width
    if name in ("bfe",) and at >= 1:
        return 32
    if name == "bfi" and at >= 2:
        return 32
    if name in ("shf", "lop3", "prmt", "bmsk") or (name not in INTEGER and name == "fns"):
        return 32
    if name == "cvt" and width < 16:
        return 16
    return max(width, 1)
