"""Where the views of a function point: allocations, and index expressions in numbers that blocks pass on.

Only numbers that decide which bytes are touched are followed; all others are left out of the kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from fencepost.hosts.triton.allocations import UNKNOWN, Allocation, Allocations, Place, tile_bytes, view
from fencepost.hosts.triton.counted_slots import Handed, counters_of, ended_by, growing, unbounded_names
from fencepost.hosts.triton.flatten_control_flow import Argument, Flat, Flattening, LoopStep, LoopTest
from fencepost.hosts.triton.index_values import Numbers, condition_of, floors, used_by
from fencepost.hosts.triton.known_bounds import COMPARE
from fencepost.hosts.triton.mbarriers import MBARRIERS, mbarrier_numbers
from fencepost.hosts.triton.mlir.tree import Module, Operation, Value
from fencepost.hosts.triton.mlir.types import MemDesc
from fencepost.hosts.triton.shared_memory_effects import DELAYS, Does, row_of
from fencepost.hosts.triton.slices import writes_slices
from fencepost.hosts.triton.tdm import UPDATE
from fencepost.hosts.triton.thread_branches import differing
from fencepost.hosts.triton.unfollowed_values import (
    PROGRAM,
    arithmetic_once,
    computed_once,
    conditions_in,
    name_of,
    operands_behind,
)
from fencepost.hosts.triton.warps import threads_of
from fencepost.ir.expr import Binary, Compare, Const, Expr, Unknown, Var, leaves
from fencepost.ir.limits import NAME

WAITED = "ttng.warp_group_dot_wait"
"""Forwards what it is given, views included."""
NUMBERS = ("i1", "i32", "i64", "index")
INDEX = "ttg.memdesc_index"
"""Makes a view of a slot, whose number it is given."""
CHOICE = "arith.select"
"""Makes one of two values, which may be views."""
ASKING = frozenset((*MBARRIERS, DELAYS, UPDATE))
"""Operations that do one thing or another by the numbers that they are given."""


@dataclass(slots=True)
class Views:
    """The bytes that each view of a function may be."""

    module: Module
    flat: Flattening
    function: Operation
    allocations: Allocations
    follow: bool = False
    """Whether what decides how often loops run, and which way branches go, is followed as well."""
    slices: bool = False
    """Whether parts of tiles are distinguished."""
    numbers: Numbers = field(init=False)
    names: dict[Value, str] = field(default_factory=dict)
    """The arguments of blocks that are numbers or views, and what each is called as a number."""
    places: dict[Value, Place | None] = field(default_factory=dict)
    """The bytes of views; None where they may lie in any allocation."""
    needed: set[str] = field(default_factory=set)
    """The numbers that decide which bytes are touched."""
    incoming: dict[Value, list[Argument]] = field(default_factory=dict)
    given: dict[Value, str] = field(default_factory=dict)
    """Numbers that the kernel is given,"""
    asked: set[str] = field(default_factory=set)
    """and those of them that decide something."""
    tried: dict[Value, str] = field(default_factory=dict)
    """Conditions that are not followed, and are tried both ways where they are computed: see `unfollowed_values`."""
    lengths: dict[Value, str] = field(default_factory=dict)
    """How often loops run, where that is not followed and such conditions depend on it: a few numbers are tried."""
    counters: set[str] = field(default_factory=set)
    """Counters that pick slots without a remainder, in a kernel whose conditions are not followed,"""
    endless: set[str] = field(default_factory=set)
    """and those that no constant ends."""

    def __post_init__(self) -> None:
        self.slices = writes_slices(self.module, self.function)
        self.numbers = Numbers(self.names.get, threads_of(self.module), same=self.flat.same)
        for number, block in enumerate(self.flat.blocks):
            self.name_arguments(block, first=number == 0)
        decide = None if self.follow else self.deciding()
        if decide is None or decide:
            self.name_given()
            self.name_once()
            self.find_natural(decide)
        if self.follow:
            self.find_tried()
            if self.find_lengths():
                self.find_tried()
        self.find_needed()
        if not self.follow and self.needed:
            self.find_counters()

    def deciding(self) -> set[Value]:
        """The numbers that decide where views begin and what is done to mbarriers, and those that they come from.

        Most kernels have few, and many none: what else they compute with need not be looked at.
        """
        todo = [op.operands[1] for op in self.module.every if op.name == INDEX]
        for block in self.flat.blocks:
            for op in block.operations:
                if op.name in ASKING:
                    todo += [value for value in op.operands if value.type in NUMBERS]
        seen: set[Value] = set()
        while todo:
            value = todo.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in self.flat.same:
                todo.append(self.flat.same[value])
            elif value in self.names:
                for argument in self.incoming.get(value, ()):
                    todo += argument if isinstance(argument, LoopStep) else (argument,)
            else:
                todo += used_by(value.defining_operation)
        return seen

    def name_given(self) -> None:
        """Numbers that the function is given are the same for all waves and in all partitions."""
        taken = {allocation.name for allocation in self.allocations.of.values()}
        for place, value in enumerate(self.function.regions[0].blocks[0].arguments):
            if value.type in NUMBERS and value not in self.names:
                own = value.name.lstrip("%")
                # Names that end in a number are made up here, for blocks and conditions.
                good = NAME.fullmatch(own) and not own[-1].isdigit() and own not in taken
                name = own if good else f"given.{place}"
                self.given[value] = self.names[value] = name

    def name_once(self) -> None:
        """Numbers that are computed once, nobody knows how, are taken as given, unless threads may see others."""
        apart = differing(self.module, self.function)
        for number, (op, value) in enumerate(computed_once(self.flat.blocks)):
            if value not in self.names and value not in apart:
                self.given[value] = self.names[value] = name_of(op, number)
                if op.name in PROGRAM:
                    self.numbers.natural.add(self.names[value])
        if not self.follow:
            return
        for value in arithmetic_once(self.flat.blocks):
            if value not in apart and isinstance(self.number(value), Unknown):
                self.given[value] = self.names[value] = f"computed.{len(self.given)}"
                # Whoever has asked for it already was told that it is not known.
                self.numbers.known.clear()

    def find_tried(self) -> None:
        """Conditions of operations on mbarriers that are not followed."""
        todo = [
            value for block in self.flat.blocks for op in block.operations for value in mbarrier_numbers(op)
        ]
        seen: set[Value] = set()
        while todo:
            value = todo.pop()
            while value in self.flat.same:
                value = self.flat.same[value]
            if value in seen or value.type != "i1":
                continue
            seen.add(value)
            todo += [each for each in self.incoming.get(value, ()) if not isinstance(each, LoopStep)]
            for condition in conditions_in(value):
                op = condition.defining_operation
                todo += [used for used in op.operands if used.type == "i1"] if op is not None else []
                if condition not in self.names and isinstance(self.number(condition), Unknown):
                    self.tried[condition] = self.names[condition] = f"tried.{len(self.tried)}"
                    self.numbers.known.clear()

    def find_lengths(self) -> bool:
        """How often loops run, if conditions that are tried depend on it; those are forgotten then."""
        behind = operands_behind(self.tried) if self.tried else set()
        for block in self.flat.blocks if behind else ():
            for value in self.compared_values(block):
                if value in behind and value.type in NUMBERS and isinstance(self.number(value), Unknown):
                    self.lengths[value] = self.names[value] = f"length.{len(self.lengths)}"
                    self.numbers.natural.add(self.names[value])
                    self.numbers.known.clear()
        if self.lengths:
            for value in self.tried:
                del self.names[value]
            self.tried.clear()
        return bool(self.lengths)

    def compared_values(self, block: Flat) -> Sequence[Value]:
        """What is compared where a block goes one way or another."""
        if isinstance(block.asks, LoopTest):
            values: Sequence[Value] = (block.asks.other,)
        else:
            op = block.asks.defining_operation if block.asks is not None else None
            values = op.operands if op is not None and op.name == COMPARE else ()
        return [value for value in values if value not in self.names and value.defining_operation is not None]

    # ------------------------------------------------------------ numbers that matter

    def name_arguments(self, block: Flat, *, first: bool) -> None:
        """Numbers and views that blocks pass on get names; those of the function itself are not known."""
        for place, value in enumerate(block.arguments):
            if not first and (value.type in NUMBERS or is_view(value)):
                self.names[value] = f"{block.name}.{place}"
        for way in block.ways:
            for value, argument in zip(way.block.arguments, way.arguments, strict=True):
                self.incoming.setdefault(value, []).append(argument)

    def find_natural(self, decide: Collection[Value] | None) -> None:
        """Which numbers, of those that decide something, never are below zero: all they are handed is not, if they
        are not."""
        handed = {
            name: [self.handed(value, argument) for argument in self.incoming.get(value, ())]
            for value, name in self.names.items()
            if value.type in NUMBERS and value not in self.given and (decide is None or value in decide)
        }
        self.numbers.natural = floors(handed, self.numbers.natural)
        self.numbers.known.clear()

    def find_needed(self) -> None:
        """Which names views depend on, directly or through what is passed on to them."""
        by_name = {name: value for value, name in self.names.items()}
        made_up = {*self.tried.values(), *self.lengths.values()}
        todo: list[str] = []
        for block in self.flat.blocks:
            for op in block.operations:
                for value in op.operands:
                    place = self.place(value) if is_view(value) else None
                    todo += _names(place.low) if place is not None else []
                for value in mbarrier_numbers(op):
                    todo += _names(self.number(value))
            asked = self.condition(block)
            if asked is not None:
                todo += [leaf.name for leaf in leaves(asked) if isinstance(leaf, Var)]
        while todo:
            name = todo.pop()
            if name in self.given.values():
                self.asked.add(name)
            elif name not in self.needed and name not in made_up:
                self.needed.add(name)
                for argument in self.incoming.get(by_name[name], ()):
                    todo += _names(self.handed(by_name[name], argument))

    def find_counters(self) -> None:
        """Counters that pick slots without a remainder: see `counted_slots`."""
        handed = self.handed_to_needed()
        self.counters = counters_of(
            (place.low for place in self.places.values() if place is not None), handed
        )
        if not self.counters:
            return
        ended = {ended_by(self.compared(block), self.counters) for block in self.flat.blocks}
        self.endless = growing(handed, ended) & self.counters
        if self.endless:
            self.places.clear()

    def handed_to_needed(self) -> Handed:
        """What the numbers are handed that decide which bytes are touched."""
        return {
            name: [self.handed(value, argument) for argument in self.incoming.get(value, ())]
            for value, name in self.names.items()
            if name in self.needed
        }

    def condition(self, block: Flat) -> Compare | None:
        """What decides which of two ways a block goes, if that is followed and known."""
        if self.follow:
            return self.compared(block)
        asked = self.compared(block) if self.counters else None
        return asked if ended_by(asked, self.counters) else None

    def compared(self, block: Flat) -> Compare | None:
        """What decides which of two ways a block goes, if that is known."""
        if block.asks is None:
            return None
        if isinstance(block.asks, LoopTest):
            one, other = self.handed_number(block.asks.one), self.number(block.asks.other)
            asked: Compare | None = Compare("<", one, other)
        else:
            number = self.number(block.asks)
            asked = condition_of(number)
        unknown = asked is None or any(isinstance(leaf, Unknown) for leaf in (asked.lhs, asked.rhs))
        return None if unknown else asked

    def parameters(self, block: Flat) -> list[str]:
        """The numbers that a block is handed and that matter."""
        return [self.names[value] for value in block.arguments if self.names.get(value) in self.needed]

    def arguments(self, block: Flat, number: int) -> list[Expr]:
        """What a way out of a block passes on, of what matters."""
        way = block.ways[number]
        return [
            self.handed(value, argument)
            for value, argument in zip(way.block.arguments, way.arguments, strict=True)
            if self.names.get(value) in self.needed
        ]

    def handed(self, value: Value, argument: Argument) -> Expr:
        """What the number of a block's argument becomes: for a view, where it begins."""
        if isinstance(argument, LoopStep):
            return self.handed_number(argument)
        if is_view(value):
            place = self.place(argument)
            return UNKNOWN if place is None else place.low
        return self.number(argument)

    def handed_number(self, argument: Argument) -> Expr:
        """A number that is passed on."""
        if not isinstance(argument, LoopStep):
            return self.number(argument)
        one, other = self.number(argument.one), self.number(argument.other)
        known = not (isinstance(one, Unknown) or isinstance(other, Unknown))
        return Binary("+", one, other) if known else UNKNOWN

    def number(self, value: Value) -> Expr:
        """A value as a number."""
        return self.numbers.of(value)

    # ------------------------------------------------------------ views

    def shared(self, op: Operation) -> Iterator[Value]:
        """The views of shared memory that an operation is given."""
        for value in op.operands:
            memory = self.module.type_of(value) if is_view(value) else None
            if isinstance(memory, MemDesc) and memory.shared:
                yield value

    def has_shared(self, op: Operation) -> bool:
        """Whether an operation is given any."""
        # Most have no view at all: asked for every operation of a module.
        return any(map(is_view, op.operands)) and any(True for _ in self.shared(op))

    def place(self, value: Value) -> Place | None:
        """The bytes of a view; None if it is not known which allocation it is of."""
        chain: list[Operation] = []
        here = value
        while here not in self.places:
            if here in self.flat.same:
                here = self.flat.same[here]
                continue
            op = here.defining_operation
            if op is not None and op.name == WAITED:
                here = op.operands[here.index]
            elif op is not None and op in self.allocations.of:
                allocation = self.allocations.of[op]
                self.places[here] = Place(allocation, Const(0), allocation.size, allocation.scattered)
            elif op is None or not _is_view_of(op):
                self.places[here] = self.handed_place(here)
            else:
                chain.append(op)
                here = op.operands[0]
        found = self.places[here]
        for op in reversed(chain):
            index = self.slot_number(op) if op.name == INDEX else None
            found = None if found is None else view(self.module, op, found, index, slices=self.slices)
            self.places[op.results[0]] = found
        return found

    def slot_number(self, op: Operation) -> Expr:
        """The number of a slot that is asked for."""
        index, ring = self.number(op.operands[1]), self.module.type_of(op.operands[0])
        slots = ring.shape[0] if isinstance(ring, MemDesc) else None
        if slots is None or self.endless.isdisjoint(unbounded_names(index)):
            return index
        return Binary("%", index, Const(slots))

    def handed_place(self, value: Value) -> Place | None:
        """The bytes of a view that a block is handed: a stretch of one allocation, beginning where a number says."""
        if value not in self.names:
            return None
        roots: set[Allocation] = set()
        whole = True
        seen, todo = {value}, [value]
        while todo:
            for argument in self.incoming.get(todo.pop(), ()):
                root, stretch = (None, False) if isinstance(argument, LoopStep) else self.root(argument)
                if root is None:
                    return None
                whole &= stretch
                if isinstance(root, Allocation):
                    roots.add(root)
                elif root not in seen:
                    seen.add(root)
                    todo.append(root)
        if len(roots) != 1:
            return None
        (allocation,) = roots
        memory = self.module.type_of(value)
        size = tile_bytes(memory) if isinstance(memory, MemDesc) else None
        if size is None or not whole:
            return Place(allocation, UNKNOWN, allocation.size)
        return Place(allocation, Var(self.names[value]), size)

    def possible(self, value: Value) -> set[Allocation] | None:
        """The allocations that a view may be of, where it is not known which; None if it may be any."""
        found: set[Allocation] = set()
        seen: set[Value] = set()
        todo = [value]
        while todo:
            here = todo.pop()
            if here in seen:
                continue
            seen.add(here)
            op = here.defining_operation
            if op is not None and op in self.allocations.of:
                found.add(self.allocations.of[op])
                continue
            before = self.made_from(here)
            if not before:
                return None
            todo += before
        return found

    def made_from(self, value: Value) -> Sequence[Value]:
        """The views that a view may be, or may be a part of; none if that is not known."""
        if value in self.flat.same:
            return (self.flat.same[value],)
        op = value.defining_operation
        if op is None or value in self.names:
            handed = self.incoming.get(value, [])
            views = [each for each in handed if not isinstance(each, LoopStep)]
            return views if len(views) == len(handed) else ()
        if op.name == WAITED:
            return (op.operands[value.index],)
        if op.name == CHOICE:
            return op.operands[1:]
        return op.operands[:1] if _is_view_of(op) else ()

    def root(self, value: Value) -> tuple[Allocation | Value | None, bool]:
        """What a view is of (an allocation, a block's argument, nothing known), and whether it is a whole stretch."""
        here, stretch = value, True
        while True:
            if here in self.flat.same:
                here = self.flat.same[here]
                continue
            op = here.defining_operation
            if op is None or here in self.names:
                return (here if here in self.names else None), stretch
            if op.name == WAITED:
                here = op.operands[here.index]
                continue
            if op in self.allocations.of:
                return self.allocations.of[op], stretch and not self.allocations.of[op].scattered
            if not _is_view_of(op):
                return None, False
            # A view of the same bytes, or a slot; parts of tiles are cut across.
            stretch &= op.name == INDEX or self.same_bytes(op)
            here = op.operands[0]

    def same_bytes(self, op: Operation) -> bool:
        """Whether the view that an operation makes is the one it is given, and its slots lie where they lay."""
        whole = Place(_ANY, Const(0), _bytes(self.module, op.operands[0]))
        return view(self.module, op, whole, None) == whole


_ANY = Allocation("", 0, None, Operation("", None))


def _bytes(module: Module, value: Value) -> int:
    memory = module.type_of(value)
    return (tile_bytes(memory) or 0) if isinstance(memory, MemDesc) else 0


def is_view(value: Value) -> bool:
    """Whether a value is a view of memory."""
    return "memdesc" in value.type


def _is_view_of(op: Operation) -> bool:
    return row_of(op.name).does is Does.VIEWS


def _names(expr: Expr) -> list[str]:
    return [leaf.name for leaf in leaves(expr) if isinstance(leaf, Var)]
