"""Operations numbered by the columns of their locations: that is how an instruction says what it was made from.

Debug information goes through LLVM with every instruction and does not change the code. So each operation of the
module that goes into the lowering is given its own number as column; file, line and calls stay as they are. In the
assembly, `.loc 1 28 107` means line 28, operation 107.
"""

from __future__ import annotations

import json

from fencepost.hosts.triton.mlir.locations import Location
from fencepost.hosts.triton.mlir.tree import Module, Operation

MOST = 65535
"""Columns that LLVM keeps: it takes a larger one for unknown."""


def with_numbers(module: Module) -> str:
    """The module's text, each operation with its number as the column of its location."""
    changes: list[tuple[int, int, str]] = []
    for number, operation in enumerate(numbered_operations(module), start=1):
        where = f" loc({_spelled(operation.location, number)})"
        start = operation.extent.end
        if operation.location_text:
            start = module.text.rindex("loc(", operation.start, operation.extent.end)
            start = len(module.text[:start].rstrip(" "))
        changes.append((start, operation.extent.end, where))
    parts: list[str] = []
    last = 0
    for start, end, new in sorted(changes):
        parts += [module.text[last:start], new]
        last = end
    return "".join([*parts, module.text[last:]])


def numbered_operations(module: Module) -> list[Operation]:
    """The operations that have numbers, in order: all that stand in functions."""
    return [op for function in module.functions() for op in function.walk() if op is not function]


def number_of(operation: Operation) -> int:
    """The number of an operation in a module that has them; 0 if it has none."""
    place = operation.location.place()
    return place.column if place is not None else 0


def _spelled(location: Location, number: int) -> str:
    """A location with another column; where nobody knows the place, there is one all the same."""
    if location.kind == "callsite":
        callee, caller = location.children
        if callee.place() is not None and caller.place() is not None:
            return f"callsite({_spelled(callee, number)} at {_spelled_as_is(caller)})"
    place = location.place()
    file, line = (place.file, place.line) if place is not None else ("unknown", 1)
    return f"{json.dumps(file, ensure_ascii=False)}:{line}:{number}"


def _spelled_as_is(location: Location) -> str:
    """A location that was read, written again."""
    if location.kind == "callsite":
        callee, caller = (_spelled_as_is(child) for child in location.children)
        return f"callsite({callee} at {caller})"
    place = location.place()
    if place is None:
        return "unknown"
    return f"{json.dumps(place.file, ensure_ascii=False)}:{place.line}:{place.column}"
