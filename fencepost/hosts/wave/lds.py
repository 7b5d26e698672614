"""Allocations of shared memory: how large each one is, where it lies, and how far its dimensions are apart.

After `minimize_shared_allocs` an allocation is a part of a parent and has an offset in it; two of them may share
bytes. Without a parent it lies somewhere of its own.

A kernel's argument can be shared memory as well: Wave gives each such argument an allocation of its own. Memory that
comes from anywhere else may be any part of shared memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

from fencepost.hosts.wave.nodes import Node, argument
from fencepost.hosts.wave.thread_numbers import Numbers
from fencepost.ir.source import FencepostError

SHAPE, ELEMENT, SPACE, PADDING, PARENT, OFFSET, TAIL = 1, 2, 3, 4, 5, 6, 7
"""Where the arguments of an allocation stand."""
ELSEWHERE = ("$GLOBAL_ADDRESS_SPACE", "GLOBAL_MEMORY", "REGISTER")
"""What address spaces that are not shared memory are called: as symbols, and as values."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """An allocation of shared memory."""

    node: Node
    size: int
    """In bytes, padding included."""
    offset: int | None
    """Its address; None if it shares bytes with no other."""
    strides: tuple[int, ...]
    """How many elements lie between neighbours along each dimension; none if that is not known."""
    bits: int
    """The size of an element."""


ANYWHERE = Allocation(object(), 1, 0, (), 8)
"""Memory of unknown origin: it may be any part of any allocation."""


def may_be_shared(space: Any, numbers: Numbers) -> bool:
    """Whether an address space can be shared memory; one that nobody has said may be anything."""
    number = numbers.integer(space)
    if number is not None:
        from wave_lang.kernel.lang.kernel_buffer import AddressSpace

        return bool(number == AddressSpace.SHARED_MEMORY.value)
    if getattr(space, "is_Symbol", False):
        space = numbers.symbols.get(space, space)
    return getattr(space, "name", "") not in ELSEWHERE


def argument_memory(node: Node, numbers: Numbers) -> Allocation:
    """Shared memory that a kernel is given. Of its accesses nothing is known but that they stay inside."""
    shape = [numbers.integer(dim) for dim in getattr(node.type, "symbolic_shape", None) or ()]
    element = getattr(node.type, "dtype", None)
    bits = int(element.bitwidth()) if element is not None else 8
    known = [dim for dim in shape if dim is not None]
    elements = prod(known) if known and len(known) == len(shape) else 1
    return Allocation(node, max(-(-elements * bits // 8), 1), None, (), bits)


def allocations(nodes: Iterable[Node], numbers: Numbers) -> list[Allocation]:
    """What allocates shared memory among some allocations, without those that others are parts of."""
    found = [node for node in nodes if may_be_shared(argument(node, SPACE), numbers)]
    parents = {argument(node, PARENT) for node in found}
    if len(parents - {None}) > 1:
        raise FencepostError("parts of several allocations, which may lie anywhere", code="FP422")
    return [_allocation(node, numbers) for node in found if node not in parents]


def _allocation(node: Node, numbers: Numbers) -> Allocation:
    shape = [_known(dim, node, numbers) for dim in node.args[SHAPE]]
    bits = int(node.args[ELEMENT].bitwidth())
    elements = prod(shape) + _known(argument(node, TAIL) or 0, node, numbers)
    parent, offset = argument(node, PARENT), argument(node, OFFSET)
    return Allocation(
        node,
        max(-(-elements * bits // 8), 1),
        None if parent is None else _known(offset or 0, node, numbers),
        tuple(prod(shape[place + 1 :]) for place in range(len(shape))),
        bits,
    )


def _known(expr: Any, node: Node, numbers: Numbers) -> int:
    found = numbers.integer(expr)
    if found is None:
        raise FencepostError(f"the size of {node.name} is not known: {expr}", code="FP422")
    return found
