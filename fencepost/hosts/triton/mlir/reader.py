"""Text of the generic form to a tree, in one pass.

Regions are kept on a stack of our own, so deep nesting is no danger. What refers to something that
may stand further down (a branch to its block, a location to its alias) is tied up at the end of the
region or of the text.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from fencepost.hosts.triton.mlir.extents import LABELS, LINE, OPERANDS, PROPERTIES, Extent
from fencepost.hosts.triton.mlir.locations import LocationTable
from fencepost.hosts.triton.mlir.newest_operations import with_newest_operations
from fencepost.hosts.triton.mlir.repeated_text import Pieces
from fencepost.hosts.triton.mlir.scan import SPACE, Unreadable, located
from fencepost.hosts.triton.mlir.scopes import Names, Scope
from fencepost.hosts.triton.mlir.tree import Block, Module, Operation, Region, Value

_HEAD = re.compile(
    r"(?:(%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*)\s*=\s*)?"  # results
    r'"([^"\\\n]+)"\s*\(\s*([^()]*)\)\s*'  # name and operands
    r"(?:\[([^\]]*)\]\s*)?"  # successors
)
_BARE_BLOCK = re.compile(r"\s*\^([\w$.-]+):(?:  // [^\n]*)?(?=\n)")
_LABEL = re.compile(r"\^([\w$.-]+)\s*")
_RESOURCES = re.compile(r"\{-#.*?#-\}", re.DOTALL)
_OPEN_REGION = re.compile(r"\(\s*\{")
_NEXT_REGION = re.compile(r"\}\s*,\s*\{")
_LAST_REGION = re.compile(r"\}\s*\)\s*")
_NOT_GENERIC = 'expected an operation in generic form, such as "tt.return"() : () -> ()'


def read_module(text: str, name: str = "<module>", *, trusted: bool = False) -> Module:
    """The tree of a module in generic form; FP401, with its place, where the text is not that.

    In a text that is `trusted`, one that a compiler has just printed, attributes are not looked into before they are
    asked for.
    """
    try:
        return with_newest_operations(_Reader(text, trusted).read(name))
    except Unreadable as problem:
        raise located(problem, name, text) from None
    except RecursionError:
        raise located(Unreadable("attributes are nested too deeply in this module", 0), name, text) from None


class _Reader:
    """The text, how far it has been read, and the regions that are open there."""

    def __init__(self, text: str, trusted: bool) -> None:
        self.text = text
        self.at = 0
        self.pieces = Pieces(text, trusted=trusted)
        self.names = self.outermost = Names()
        self.scopes: list[Scope] = []
        self.top: list[Operation] = []
        self.every: list[Operation] = []
        self.aliases: dict[str, str] = {}
        """What stands for types and attributes."""
        # Aliases may stand behind their uses: nobody asks before all has been read.
        self.locations = LocationTable({})

    def read(self, name: str) -> Module:
        text, skip = self.text, SPACE.match
        while True:
            if self.scopes:
                self.lines(self.scopes[-1])
            at = skip(text, self.at).end()  # type: ignore[union-attr]
            if at >= len(text):
                break
            self.at = at
            first = text[at]
            if first in '%"':
                self.operation()
            elif first == "^":
                if self.scopes and (match := _BARE_BLOCK.match(text, at)):
                    self.scopes[-1].open_block(match[1], at)
                    self.at = match.end()
                else:
                    self.block()
            elif first == "}" and self.scopes:
                self.close_region()
            elif first in "#!" and not self.scopes:
                plain, lines, self.at = self.pieces.aliases(at)
                self.aliases |= plain
                self.locations.unread.append(lines)
            elif match := _RESOURCES.match(text, at):
                self.at = match.end()
            else:
                raise Unreadable(_NOT_GENERIC, at)
        if self.scopes:
            operation = self.scopes[-1].region.operation
            raise Unreadable("a region of this operation is never closed", operation.start)
        return self.module(name)

    def module(self, name: str) -> Module:
        """What was read, tied up: only now all aliases are known."""
        if len(self.top) != 1 or self.top[0].name != "builtin.module" or not self.top[0].regions:
            start = self.top[-1].start if self.top else 0
            raise Unreadable('expected one "builtin.module" around everything', start)
        if not self.top[0].regions[0].blocks:
            self.top[0].regions[0].blocks.append(Block("", self.top[0].regions[0]))
        return Module(name, self.text, self.top[0], MappingProxyType(self.aliases), _every=self.every)

    # many branches because this is where a module is read: calls would take longer than what they do
    def lines(self, scope: Scope) -> None:
        """Operations that take one line each, as many as follow one another: nearly all that a module has."""
        text, at, pieces, names = self.text, self.at, self.pieces, scope.names
        values, every, dictionaries = names.values, self.every, pieces.dictionaries
        trusted, locations = pieces.trusted, self.locations
        while match := LINE.match(text, at):
            results, name, operands, labels, properties, attributes, taken, types, type_, _ = match.groups()
            block = scope.block or scope.open_block("", at)
            operation = Operation(name, block, match, locations=locations)
            block.operations.append(operation)
            every.append(operation)
            at = match.end()
            if operands:
                try:
                    operation.operands = tuple([values[each] for each in operands.split(", ")])
                except KeyError:  # written otherwise, or not defined yet
                    operation.operands = names.uses(operands, match.start(OPERANDS))
            if attributes is not None:
                operation.dictionary = pieces.of_line(match)
            elif properties is not None:
                known = dictionaries.get(properties)
                operation.dictionary = known or pieces.dictionary(properties, match.start(PROPERTIES))
            if labels:
                scope.branches.append((operation, labels, match.start(LABELS)))
            if not trusted:
                self.check_types(operation, pieces.types(taken))
            if results is None:
                if types or type_:
                    raise _unnamed(operation, pieces.types(type_ or types))
            elif type_ is None or ":" in results:
                operation.results = scope.define_results(operation, results, pieces.types(type_ or types))
            elif scope.defined is not None or names.mentioned:
                operation.results = (scope.define(results, type_, operation, 0),)
            else:
                value = values[results] = Value(results, type_, operation, 0)
                operation.results = (value,)
        self.at = at

    def operation(self) -> None:
        """An operation up to its first region, or all of it if it has none."""
        text = self.text
        head = _HEAD.match(text, self.at)
        if head is None:
            raise Unreadable(_NOT_GENERIC, self.at)
        results, name, operands, labels = head.groups()
        at = head.end()
        extent = Extent(self.at, head_end=at)
        operation = Operation(name, None, extent)
        self.every.append(operation)
        if self.scopes:
            self.place(operation, labels, head.start(4))
        else:
            self.top.append(operation)
        if operands:
            operation.operands = self.names.uses(operands, head.start(3))
        if text.startswith("<{", at):
            extent.properties_at = at
            operation.dictionary, at = self.pieces.properties(at)
        if match := _OPEN_REGION.match(text, at):
            self.open_region(operation, results or "", match.end())
        else:
            self.tail(operation, results or "", at)

    def place(self, operation: Operation, labels: str | None, labels_at: int) -> None:
        """Put an operation into the block that is open."""
        scope = self.scopes[-1]
        operation.block = scope.block or scope.open_block("", operation.start)
        operation.block.operations.append(operation)
        if labels:
            scope.branches.append((operation, labels, labels_at))

    def tail(self, operation: Operation, results: str, at: int) -> None:
        """What follows the regions: attributes, types, location. Only here results get their types."""
        extent = operation.extent
        if self.text.startswith("{", at):
            extent.attributes_at = at
            more, at = self.pieces.attributes(at)
            operation.dictionary = self.pieces.together(operation.dictionary, more, extent.attributes_at + 1)
        extent.signature_at = at
        operands, types, extent.location_text, extent.end = self.pieces.signature(at)
        operation.locations, self.at = self.locations, extent.end
        self.check_types(operation, operands)
        if results and self.scopes:
            operation.results = self.scopes[-1].define_results(operation, results, types)
        elif types:
            raise _unnamed(operation, types)

    def check_types(self, operation: Operation, types: tuple[str, ...]) -> None:
        """Refuse an operation with more or fewer operands than it says types of."""
        if len(types) != len(operation.operands):
            raise Unreadable(
                f"{len(operation.operands)} operands with {len(types)} types", operation.extent.signature_at
            )

    def open_region(self, operation: Operation, results: str, at: int) -> None:
        region = Region(operation)
        operation.regions = (*operation.regions, region)
        scope = Scope.of(region, self.names, results)
        self.scopes.append(scope)
        self.names, self.at = scope.names, at

    def close_region(self) -> None:
        scope = self.scopes.pop()
        self.names = self.scopes[-1].names if self.scopes else self.outermost
        scope.close(self.names)
        operation = scope.region.operation
        if match := _NEXT_REGION.match(self.text, self.at):
            self.open_region(operation, scope.results, match.end())
        elif match := _LAST_REGION.match(self.text, self.at):
            self.tail(operation, scope.results, match.end())
        else:
            raise Unreadable("expected '})' or '}, {' at the end of a region", self.at)

    def block(self) -> None:
        match = _LABEL.match(self.text, self.at)
        if match is None or not self.scopes:
            raise Unreadable("a block must have a name and stand in a region", self.at)
        scope = self.scopes[-1]
        block = scope.open_block(match[1], self.at)
        at = match.end()
        if self.text.startswith("(", at):
            arguments, at = self.pieces.arguments(at)
            values = []
            for index, (name, type_, location) in enumerate(arguments):
                values.append(value := scope.define(name, type_, block, index))
                value.location_text, value.locations = location, self.locations
            block.arguments = tuple(values)
        at = self.pieces.skip(at)
        if not self.text.startswith(":", at):
            raise Unreadable("expected ':' behind the name of a block", at)
        self.at = at + 1


def _unnamed(operation: Operation, types: tuple[str, ...]) -> Unreadable:
    return Unreadable(f"{len(types)} results without a name", operation.start)
