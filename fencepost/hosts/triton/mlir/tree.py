"""The tree that a module becomes: operations in blocks in regions in operations.

Nodes are compared by identity. They point at each other in both directions (a value knows what
defines it, an operation its block), so they are filled in while the text is read and left alone
from then on: changes are made to the text (`text_edits`), never to the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.hosts.triton.mlir.attributes import NO_ATTRIBUTES, UNIT, Attribute, Dictionary
from fencepost.hosts.triton.mlir.extents import NOWHERE, Extent, extent_of
from fencepost.hosts.triton.mlir.locations import NO_LOCATIONS, Location, LocationTable
from fencepost.hosts.triton.mlir.types import MemDesc, Tensor, parse_type, resolve
from fencepost.ir.source import Source, Span


@dataclass(slots=True, eq=False)
class Value:
    """An SSA value; `owner` is the operation whose result it is, or the block whose argument."""

    name: str
    type: str
    owner: Operation | Block
    index: int
    location_text: str = ""
    """Arguments have a location of their own; a result stands where its operation stands."""
    locations: LocationTable = NO_LOCATIONS

    @property
    def location(self) -> Location:
        """Where an argument comes from."""
        return self.locations.parse(self.location_text)

    @property
    def defining_operation(self) -> Operation | None:
        """The operation that makes the value; None for a block argument."""
        return self.owner if isinstance(self.owner, Operation) else None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.type}>"


@dataclass(frozen=True, slots=True)
class Successor:
    """A block that a terminator may go to, and the operands that become the block's arguments."""

    block: Block
    arguments: tuple[Value, ...]


@dataclass(slots=True, eq=False)
class Operation:
    """One operation."""

    name: str
    block: Block | None
    place: Extent | re.Match[str] = NOWHERE
    """Where it stands in the text, or what says so: see `extent`."""
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    dictionary: Dictionary = NO_ATTRIBUTES
    """Inherent attributes (the properties, between `<{` and `}>`) and discardable ones together."""
    regions: tuple[Region, ...] = ()
    successors: tuple[Successor, ...] = ()
    locations: LocationTable = NO_LOCATIONS
    span: Span | None = None
    """Where the operation stands in the file that the user gave, if there is one."""

    @property
    def extent(self) -> Extent:
        """Where it and its parts stand in the text of the module."""
        if not isinstance(self.place, Extent):
            self.place = extent_of(self.place)
        return self.place

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.extent.start

    @property
    def location_text(self) -> str:
        """Its location, as it is written."""
        return self.extent.location_text

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """Its attributes, inherent or not."""
        return self.dictionary.entries

    @property
    def location(self) -> Location:
        """Where it comes from."""
        return self.locations.parse(self.location_text)

    @property
    def origin(self) -> str:
        """Where it was written: `kernel.py:57`, and from where that was called; empty if nobody says."""
        place = self.location.place()
        if place is None:
            return ""
        words = [f"{place.file}:{place.line}"]
        for call in self.location.calls():
            where = f"line {call.line}" if call.file == place.file else f"{call.file}:{call.line}"
            words.append(f"called from {where}")
            place = call
        return ", ".join(words)

    @property
    def operand_types(self) -> tuple[str, ...]:
        """The types of the operands, as they are written."""
        return tuple(value.type for value in self.operands)

    @property
    def result_types(self) -> tuple[str, ...]:
        """The types of the results, as they are written."""
        return tuple(value.type for value in self.results)

    @property
    def parent(self) -> Operation | None:
        """The operation that this one is nested in."""
        return self.block.region.operation if self.block else None

    def integer(self, name: str) -> int | None:
        """An integer attribute; None if it is not there or something else."""
        value = self.dictionary.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def integers(self, name: str) -> tuple[int, ...] | None:
        """A list of integers, written `array<i32: ...>` or `[...]`; None if it is not there or something else."""
        value = self.dictionary.get(name)
        if not isinstance(value, tuple):
            return None
        numbers = tuple(item for item in value if isinstance(item, int))
        return numbers if len(numbers) == len(value) else None

    def string(self, name: str) -> str | None:
        """A string attribute; None if it is not there or something else."""
        value = self.dictionary.get(name)
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool:
        """Whether a boolean or unit attribute is set."""
        value = self.dictionary.get(name)
        return value is True or value is UNIT

    def walk(self) -> Iterator[Operation]:
        """This operation and all that are nested in it, in the order of the text."""
        yield self
        pending = [self._children()]
        while pending:
            for operation in pending[-1]:
                yield operation
                if operation.regions:
                    pending.append(operation._children())
                    break
            else:
                pending.pop()

    def _children(self) -> Iterator[Operation]:
        for region in self.regions:
            for block in region.blocks:
                yield from block.operations

    def __repr__(self) -> str:
        results = ", ".join(value.name for value in self.results)
        operands = ", ".join(value.name for value in self.operands)
        return f"<{results}{' = ' if results else ''}{self.name}({operands})>"


@dataclass(slots=True, eq=False)
class Block:
    """Operations that run one after another; the label of an entry block may be empty."""

    label: str
    region: Region
    arguments: tuple[Value, ...] = ()
    operations: list[Operation] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<block ^{self.label}: {len(self.operations)} operations>"


@dataclass(slots=True, eq=False)
class Region:
    """Blocks that belong to one operation; the first one is entered first."""

    operation: Operation
    blocks: list[Block] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<region of {self.operation.name}: {len(self.blocks)} blocks>"


@dataclass(slots=True, eq=False)
class Module:
    """A whole module and the text that it was read from."""

    name: str
    """What a user would call it: a path, or `<module>`."""
    text: str
    operation: Operation
    aliases: Mapping[str, str]
    """What `#blocked` and `!t` stand for, as written; locations are resolved already and not among them."""
    source: Source | None = None
    """The file that the user gave, if there is one; `Operation.span` is a place in it."""
    _types: dict[str, Tensor | MemDesc | None] = field(default_factory=dict)
    meets: dict[Operation, bool] = field(default_factory=dict)
    """Whether all waves surely meet in a function, for those that were asked about: see `calls`."""
    differing: dict[Operation, set[Value]] = field(default_factory=dict)
    """The numbers that may differ from thread to thread in a function: see `thread_branches`."""
    scratch: dict[Operation, int] = field(default_factory=dict)
    """The bytes of scratch memory, where the text does not say: see `scratch_sizes`."""
    _every: Sequence[Operation] = ()
    _kinds: frozenset[str] = frozenset()

    @property
    def body(self) -> Block:
        """The block that holds the functions."""
        return self.operation.regions[0].blocks[0]

    @property
    def every(self) -> Sequence[Operation]:
        """Every operation, the module itself first, in the order of the text."""
        if not self._every:
            # The tree does not change, and is asked for again and again.
            self._every = tuple(self.operation.walk())
        return self._every

    def walk(self) -> Iterator[Operation]:
        """The same, one after the other."""
        return iter(self.every)

    def mentions(self, name: str) -> bool:
        """Whether operations of this name are in it: much cheaper to ask than to look for them."""
        return name in self.kinds

    @property
    def kinds(self) -> frozenset[str]:
        """The names of all operations in it."""
        if not self._kinds:
            self._kinds = frozenset([op.name for op in self.every])
        return self._kinds

    def functions(self) -> list[Operation]:
        """The functions with a body, in order."""
        return [op for op in self.body.operations if op.name.endswith(".func") and op.regions[0].blocks]

    def nested(self) -> list[Module]:
        """The modules in it, in order: a file with several of them is read as one around them all."""
        return [
            Module(self.name, self.text, op, self.aliases, self.source)
            for op in self.body.operations
            if op.name == "builtin.module" and op.regions[0].blocks
        ]

    def resolve(self, text: str) -> str:
        """A type or attribute with every alias in it spelled out."""
        return resolve(text, self.aliases)

    def type_of(self, value: Value) -> Tensor | MemDesc | None:
        """The shape of a tensor or a view of memory; None for all other types."""
        if value.type not in self._types:
            self._types[value.type] = parse_type(value.type, self.aliases)
        return self._types[value.type]

    def __repr__(self) -> str:
        return f"<module {self.name}: {len(self.text)} characters>"
