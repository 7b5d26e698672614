"""Copies by AMD's data mover (TDM): of how many instructions one is, and whether every wave arrives with it.

Each wave moves its part of a tile and arrives on the mbarrier with its last instruction. Where it may have no
part (a descriptor whose predicate may be 0, waves that a hint leaves out, rows that other waves hold as well), it is
not known whether it arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.hosts.triton.flatten_control_flow import LoopStep
from fencepost.hosts.triton.layouts import wave_bases
from fencepost.hosts.triton.mlir.tree import Module, Operation, Value
from fencepost.hosts.triton.mlir.types import Tensor
from fencepost.ir.expr import Const

if TYPE_CHECKING:
    from fencepost.hosts.triton.slot_views import Views

UPDATE = "amdg.update_tensor_descriptor"
MAKE = "tt.make_tensor_descriptor"
BY_ROWS = ("amdg.async_tdm_gather", "amdg.async_tdm_scatter")
ROWS = {32: 8, 16: 16}
"""Rows that one instruction moves at most, by the bits of their numbers."""
HINT = "warp_used_hint"
SEGMENTS = "operandSegmentSizes"


def instructions(module: Module, op: Operation) -> int:
    """Of how many instructions a copy is in each wave, at least."""
    if op.name not in BY_ROWS:
        return 1
    indices = _indices(module, op)
    bases = wave_bases(module, indices) if indices is not None else None
    tensor = module.type_of(indices) if indices is not None else None
    if bases is None or not isinstance(tensor, Tensor) or tensor.shape[0] is None:
        return 1
    most = next((rows for bits, rows in ROWS.items() if tensor.element == f"i{bits}"), max(ROWS.values()))
    apart = sum(1 for basis in bases if any(basis))
    return max(-(-(tensor.shape[0] >> apart) // most), 1)


def every_wave_arrives(module: Module, views: Views, op: Operation, waves: int) -> bool:
    """Whether every wave surely arrives on the mbarrier that a copy names."""
    if HINT in op.attributes or not _always_moves(views, op.operands[0]):
        return False
    if op.name not in BY_ROWS:
        return True
    indices = _indices(module, op)
    bases = wave_bases(module, indices) if indices is not None else None
    return bases is not None and sum(1 for basis in bases if any(basis)) == waves.bit_length() - 1


def _indices(module: Module, op: Operation) -> Value | None:
    """The numbers of the rows that a copy moves."""
    return next((value for value in op.operands if isinstance(module.type_of(value), Tensor)), None)


def _always_moves(views: Views, descriptor: Value) -> bool:
    """Whether no predicate of a descriptor can be 0, wherever it comes from."""
    seen, todo = {descriptor}, [descriptor]
    while todo:
        here = todo.pop()
        op = here.defining_operation
        new: list[Value] = []
        if here in views.flat.same:
            new = [views.flat.same[here]]
        elif here in views.incoming:
            handed = views.incoming[here]
            if any(isinstance(each, LoopStep) for each in handed):
                return False
            new = [each for each in handed if not isinstance(each, LoopStep)]
        elif op is not None and op.name == UPDATE:
            segments = op.integers(SEGMENTS)
            if segments is None:
                return False
            if segments[-1]:
                # The last word about it.
                asked = views.number(op.operands[-1])
                if not isinstance(asked, Const) or not asked.value:
                    return False
            else:
                new = [op.operands[0]]
        elif op is not None and op.name != MAKE:
            return False
        todo += [each for each in new if each not in seen]
        seen.update(new)
    return True
