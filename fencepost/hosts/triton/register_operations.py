"""Operations that make a tensor or a pointer from others, in registers: most of a module, and nothing to a kernel.

They are passed by before anything else is asked about an operation. What a branch, a slot or a condition depends on
is a plain number, and stays.
"""

from __future__ import annotations

from functools import cache

from fencepost.hosts.triton.allocations import OWNERS
from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.hosts.triton.shared_memory_effects import Does, row_of
from fencepost.hosts.triton.unfollowed_forms import is_always_followed

MULTIPLICATIONS = ("tt.dot", "tt.dot_scaled")
"""Operations on registers that a kernel says: what a schedule is made around."""
MADE = ("tensor<", "!tt.ptr<")


def is_passed_by(op: Operation) -> bool:
    """Whether an operation is one of these: with no view, no memory of its own, no region, no number it makes."""
    results = op.results
    if len(results) != 1 or not results[0].type.startswith(MADE) or op.regions:
        return False
    if not _works_on_registers(op.name) or op.dictionary.mentions("allocation."):
        return False
    # Who is given a view may use it.
    return not [value for value in op.operands if "memdesc" in value.type]


@cache
def _works_on_registers(name: str) -> bool:
    """Whether operations of this name do, in whatever form."""
    nothing = row_of(name).does is Does.NOTHING and is_always_followed(name)
    return nothing and name not in OWNERS and name not in MULTIPLICATIONS
