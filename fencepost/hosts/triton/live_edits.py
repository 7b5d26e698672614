"""Edits made in the live module itself, where Triton's bindings can: it need not be parsed again then.

They can give attributes to what has a result, and put a barrier behind an operation or at the start of a block. That
is `ttg.barrier all`; on NVIDIA it is lowered as `ttg.barrier local` is, on AMD it waits for global memory as well.
They cannot take anything out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.text_edits import LOCAL_BARRIER, Edit, InsertBarrier, SetAttribute
from fencepost.ir.source import FencepostError

_NUMBER = re.compile(r"-?\d+ : i32")


def can_be_made_live(tree: Module, edits: Sequence[Edit]) -> bool:
    """Whether the bindings can make all of these edits."""
    nvidia = (tree.operation.string("ttg.target") or "").startswith("cuda:")
    return all(_can_be_made(edit, nvidia) for edit in edits)


def _can_be_made(edit: Edit, nvidia: bool) -> bool:
    match edit:
        case InsertBarrier(text=text):
            return nvidia and text == LOCAL_BARRIER
        case SetAttribute(operation, _, value):
            known = value in ("true", "false", "unit") or _NUMBER.fullmatch(value or "") is not None
            return known and bool(operation.results)
        case _:
            return False


def make_live(module: Any, tree: Module, edits: Sequence[Edit]) -> None:
    """Make edits in the module that `tree` was read from. Nothing is changed if that turns out to be another one."""
    handles = _handles(module, tree, edits)
    builder = import_module("triton._C.libtriton").ir.builder(module.context)
    # Each one goes right behind what stood in front: of several, the last has to come first.
    for edit in reversed(edits):
        if isinstance(edit, InsertBarrier):
            # A builder is where an operation is told to be; the location stays when it moves on.
            builder.set_insertion_point_after(handles[edit.at or edit.before])
            location = builder.get_loc()
            previous = _previous(edit.before)
            if previous is None:
                builder.set_insertion_point_to_start(handles[edit.before].get_block())
            else:
                builder.set_insertion_point_after(handles[previous])
            builder.set_loc(location)
            builder.create_barrier()
        elif isinstance(edit, SetAttribute):
            handles[edit.operation].get_result(0).set_attr(edit.name, _attribute(builder, edit.value or ""))


def _handles(module: Any, tree: Module, edits: Sequence[Edit]) -> dict[Operation, Any]:
    """What the bindings know operations by, for those that the edits are about."""
    wanted: set[Operation | None] = set()
    for edit in edits:
        if isinstance(edit, InsertBarrier):
            wanted |= {edit.before, edit.at, _previous(edit.before)}
        else:
            wanted.add(edit.operation)
    live: list[Any] = []
    module.walk(live.append)
    found: dict[Operation, Any] = {}
    expected = list(_inside_out(tree.operation))
    for operation, handle in zip(expected, live, strict=False):
        if operation.name != handle.get_name():
            break
        if operation in wanted:
            found[operation] = handle
    else:
        if len(expected) == len(live):
            return found
    raise FencepostError("the module is not the one that was read", code="FP406")


def _inside_out(operation: Operation) -> Iterator[Operation]:
    """What an operation has in its regions, and then itself: the order in which the bindings walk."""
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                if inner.regions:
                    yield from _inside_out(inner)
                else:
                    yield inner
    yield operation


def _previous(operation: Operation) -> Operation | None:
    """The operation in front of another in its block."""
    assert operation.block is not None
    place = operation.block.operations.index(operation)
    return operation.block.operations[place - 1] if place else None


def _attribute(builder: Any, value: str) -> Any:
    if value == "unit":
        return builder.get_unit_attr()
    if value in ("true", "false"):
        return builder.get_bool_attr(value == "true")
    return builder.get_int32_attr(int(value.partition(" ")[0]))
