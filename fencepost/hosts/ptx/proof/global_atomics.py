"""Plain loads of global memory that the kernel's own atomics change: `while (*done < n) { …; atomicAdd(done, 1); }`.

Global memory is taken to have no races of its own, so that threads which load from one address get one value. Beside
an atomic this is too much to ask: what is updated in place is read in between all the time, by every block."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves
from fencepost.hosts.ptx.reading.effects import destinations, space_of
from fencepost.hosts.ptx.reading.module import Address, Register, width_of
from fencepost.hosts.ptx.reading.ssa import Assigned

POINTER = 64
"""The bits of a pointer."""


def every_load_beside_global_atomics(evaluator: Evaluator, forms: ClosedForms) -> set[tuple[int, int]]:
    """The same of all loads of a kernel, where no proof has looked at them before."""
    if not any(True for _ in _updated(evaluator, forms)):
        return set()
    for number in evaluator.flow.order:
        for index, instruction in enumerate(evaluator.flow.blocks[number].instructions):
            if instruction.name in ("ld", "ldu"):
                for slot in range(len(destinations(instruction))):
                    evaluator.definition(Assigned(number, index, slot))
    return loads_beside_global_atomics(evaluator, forms)


def loads_beside_global_atomics(evaluator: Evaluator, forms: ClosedForms) -> set[tuple[int, int]]:
    """Loads, by block and position, through a pointer that an atomic goes through as well."""
    updated = {
        name for address in _updated(evaluator, forms) for name in _pointers(evaluator, forms, address)
    }
    found = set()
    for leaf, address in every_load(evaluator) if updated else ():
        definition, closed = leaf.leaf.definition, forms.closed(address)
        shared = any(each.leaf.kind == "base" for each in leaves(closed))
        if isinstance(definition, Assigned) and not shared and _pointers(evaluator, forms, closed) & updated:
            found.add((definition.block, definition.index))
    return found


def every_load(evaluator: Evaluator) -> Iterator[tuple[Expression, Expression]]:
    """Every load with its address, those included that are only met while the addresses of others are closed."""
    seen = 0
    while seen < len(evaluator.loads):
        found = list(evaluator.loads.items())[seen:]
        seen += len(found)
        yield from found


def _updated(evaluator: Evaluator, forms: ClosedForms) -> Iterator[Expression]:
    """The addresses of atomics that may be in global memory."""
    for number in evaluator.flow.order:
        for index, instruction in enumerate(evaluator.flow.blocks[number].instructions):
            if instruction.name not in ("atom", "red") or space_of(instruction) not in (None, "global"):
                continue
            address = next((each for each in instruction.operands if isinstance(each, Address)), None)
            if address is not None:
                width = width_of(address.base.type) if isinstance(address.base, Register) else 64
                yield forms.closed(evaluator.operand(address, number, index, width))


def _pointers(evaluator: Evaluator, forms: ClosedForms, address: Expression) -> frozenset[str]:
    """The parameters and variables that an address is counted from; of a pointer that was loaded (`*p->count`), those
    that it was loaded through."""
    found: set[str] = set()
    seen: set[Expression] = set()
    todo = [address]
    while todo:
        for leaf in leaves(todo.pop()) - seen:
            seen.add(leaf)
            if leaf.leaf.kind == "base" or (leaf.leaf.kind == "uniform" and leaf.width == POINTER):
                found.add(leaf.leaf.name)
            elif leaf.leaf.kind == "carried":
                todo += [forms.first(leaf), forms.following(leaf)]
            elif leaf in evaluator.loads and leaf.width == POINTER:
                todo.append(evaluator.loads[leaf])
    return frozenset(found)
