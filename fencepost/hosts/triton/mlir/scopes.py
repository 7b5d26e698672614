"""Which value a name stands for, while a module is read.

Names live in regions: what a region defines is forgotten at its end, and another region may use the
name again. A function sees nothing of what surrounds it. Where control flow is given by blocks, a
use may stand before its definition in the text; the value is made at its first mention then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.hosts.triton.mlir.branches import successors
from fencepost.hosts.triton.mlir.scan import Unreadable
from fencepost.hosts.triton.mlir.tree import Block, Operation, Region, Value

# These see no value from outside, so they may use any name again.
_ISOLATED = frozenset(
    (
        *("builtin.module", "tt.func", "func.func", "llvm.func", "gpu.func", "gpu.module"),
        *("ttg.warp_specialize.partitions",),
    )
)


@dataclass(slots=True)
class Names:
    """The values in sight, by name, and those that were used and are not defined yet."""

    values: dict[str, Value] = field(default_factory=dict)
    mentioned: dict[str, int] = field(default_factory=dict)
    """Offsets of first uses; empty again where everything was defined."""

    def uses(self, operands: str, at: int) -> tuple[Value, ...]:
        """The values of a list of operands that begins at offset `at`."""
        known = self.values
        try:
            return tuple([known[name] for name in operands.split(", ")])
        except KeyError:
            pass  # written otherwise, or not defined yet
        found = []
        for part in operands.split(","):
            name = part.strip()
            value = known.get(name)
            if value is None:
                value = self.use(name, at + operands.index(name))
            found.append(value)
        return tuple(found)

    def use(self, name: str, offset: int) -> Value:
        """The value that `name` stands for; one to be defined later if there is none yet."""
        value = self.values.get(name)
        if value is None:
            # One result may be called %a or %a#0; the first of several too.
            value = self.values.get(name[:-2] if name.endswith("#0") else f"{name}#0")
        if value is None:
            if not name.startswith("%"):
                raise Unreadable("expected a value, such as %0", offset)
            # The owner is filled in by the definition; until then the value must not be looked at.
            value = self.values[name] = Value(name, "", None, 0)  # type: ignore[arg-type]
            self.mentioned[name] = offset
        return value

    def check(self) -> None:
        """Refuse values that were used and never defined."""
        for name, offset in self.mentioned.items():
            raise Unreadable(f"{name} is used and never defined", offset, offset + len(name))


@dataclass(slots=True)
class Scope:
    """One region that is being read."""

    region: Region
    names: Names
    results: str
    """The names of the operation's results; they get their types when all its regions have been read."""
    block: Block | None = None
    labels: dict[str, Block] = field(default_factory=dict)
    defined: list[tuple[str, Value | None]] | None = None
    """Names of this region, with the value that each one hid; None where names end with the region anyway."""
    branches: list[tuple[Operation, str, int]] = field(default_factory=list)
    """Terminators, the labels that they name and where; blocks may come later than branches to them."""

    @classmethod
    def of(cls, region: Region, outer: Names, results: str) -> Scope:
        """The scope of a region inside one with the names `outer`."""
        if region.operation.name in _ISOLATED:
            return cls(region, Names(), results)
        return cls(region, outer, results, defined=[])

    def define(self, name: str, type: str, owner: Operation | Block, index: int) -> Value:
        """A new value, or the one that was mentioned before under this name."""
        names, hidden = self.names, None
        if name in names.mentioned:
            del names.mentioned[name]
            value = names.values[name]
            value.type, value.owner, value.index = type, owner, index
        else:
            value = Value(name, type, owner, index)
            hidden = names.values.get(name)
            names.values[name] = value
        if self.defined is not None:
            self.defined.append((name, hidden))
        return value

    def define_results(self, operation: Operation, text: str, types: tuple[str, ...]) -> tuple[Value, ...]:
        """The results `%a` or `%a:2` or `%a, %b:2`; the members of a group are called `%a#0`, `%a#1`."""
        if len(types) == 1 and ":" not in text and "," not in text:
            return (self.define(text, types[0], operation, 0),)
        names: list[str] = []
        for group in text.split(","):
            name, _, count = group.strip().partition(":")
            # A count that cannot be right is cut off where that is certain.
            numbers = range(min(int(count), len(types) + 1)) if count else ()
            names += [f"{name}#{number}" for number in numbers] if count else [name]
        if len(names) != len(types):
            raise Unreadable(f"{len(names)} names for {len(types)} results", operation.start)
        pairs = enumerate(zip(names, types, strict=True))
        return tuple(self.define(name, type_, operation, index) for index, (name, type_) in pairs)

    def open_block(self, label: str, offset: int) -> Block:
        """The next block of the region."""
        if label in self.labels:
            raise Unreadable(f"a second block ^{label} in one region", offset)
        self.block = self.labels[label] = Block(label, self.region)
        self.region.blocks.append(self.block)
        return self.block

    def close(self, outer: Names) -> None:
        """Tie branches to their blocks, and forget the names of this region."""
        for operation, labels, offset in self.branches:
            blocks = [self._labelled(label.strip(), offset) for label in labels.split(",")]
            operation.successors = successors(operation, blocks)
        values = self.names.values
        for name, hidden in reversed(self.defined or ()):
            if hidden is None:
                values.pop(name, None)
            else:
                values[name] = hidden
        if self.names is not outer:
            self.names.check()

    def _labelled(self, label: str, offset: int) -> Block:
        block = self.labels.get(label.removeprefix("^"))
        if block is None:
            raise Unreadable(f"there is no block {label} in this region", offset)
        return block
