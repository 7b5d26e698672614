"""Operations that are others in older releases, as those that the newest one has for them.

Only the tree is changed: the text stays what it is, and so does whatever is written back to it.
"""

from __future__ import annotations

from fencepost.hosts.triton.mlir.attributes import Dictionary
from fencepost.hosts.triton.mlir.tree import Module, Operation, Value
from fencepost.hosts.triton.mlir.types import MemDesc
from fencepost.hosts.triton.releases import NEWEST_AMD_DIALECT, installed_release

SUBVIEW = "ttg.memdesc_subview"
"""A view of a part of memory that begins at one place in each dimension, which are its operands."""


RENAMED = {
    "tt.experimental_tensormap_create": "ttng.tensormap_create",
    "tt.experimental_tensormap_fenceproxy_acquire": "ttng.tensormap_fenceproxy_acquire",
    "tt.reinterpret_tensor_descriptor": "ttng.reinterpret_tensor_descriptor",
}
"""Operations that have got another name."""


def with_newest_operations(module: Module) -> Module:
    """The module, with the newest operations as far as there is one that says the same."""
    dialect = installed_release().amd_dialect
    older = [f'"{name}"' for name in RENAMED]
    older += [f'"{dialect}.'] if dialect != NEWEST_AMD_DIALECT else []
    if any(name in module.text for name in older):
        for op in module.every:
            op.name = newest_name(op.name)
    if f'"{SUBVIEW}"' in module.text:
        for op in module.every:
            if op.name == SUBVIEW:
                _subview(module, op)
    return module


def newest_name(name: str) -> str:
    """The name that the newest release has for an operation."""
    dialect, _, rest = name.partition(".")
    if dialect == installed_release().amd_dialect:
        return f"{NEWEST_AMD_DIALECT}.{rest}"
    return RENAMED.get(name, name)


def _subview(module: Module, op: Operation) -> None:
    """A slot, where it is one of the first dimension; a part that is always the same, where all numbers are known."""
    if len(op.operands) < 2 or len(op.results) != 1:
        return
    before, after = module.type_of(op.operands[0]), module.type_of(op.results[0])
    first, *others = (_constant(value) for value in op.operands[1:])
    if not isinstance(before, MemDesc) or not isinstance(after, MemDesc):
        return
    if _is_slot(before, after) and not any(place != 0 for place in others):
        op.name, op.operands = "ttg.memdesc_index", op.operands[:2]
    elif len(before.shape) == len(after.shape) == len(op.operands) - 1 and None not in (first, *others):
        offsets = ", ".join(str(place) for place in (first, *others))
        op.name, op.operands = "ttg.memdesc_subslice", op.operands[:1]
        op.dictionary = Dictionary(f"offsets = array<i32: {offsets}>")


def _is_slot(before: MemDesc, after: MemDesc) -> bool:
    """Whether a view, beginning somewhere in the first dimension, is one of as many stretches that lie in a row."""
    if len(before.shape) == 1:
        return after.shape == (1,)
    return after.shape == before.shape[1:] and before.slots_lead


def _constant(value: Value) -> int | None:
    """The number that a value is, if it is a constant."""
    op = value.defining_operation
    number = op.dictionary.get("value") if op is not None and op.name == "arith.constant" else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
