"""Marks that membar leaves on operations for the lowering, worked out without it.

On gfx9 every load from shared memory says whether a wait for async copies stands for what it reads
(`syncedViaAsyncWait`): whether its token is that of such a wait, whatever way control has come. On Hopper, waits for
matrix operations can be those of one warp group (`write_back.local_waits`).
"""

from __future__ import annotations

from fencepost.hosts.triton.mlir.tree import Module, Value
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.shared_memory_effects import COPY, TENSOR, Does, row_of
from fencepost.hosts.triton.text_edits import Edit, SetAttribute

SYNCED = "ttg.amdg.syncedViaAsyncWait"
OLDER_SYNCED = "ttg.amdgpu.syncedViaAsyncWait"
"""The mark, and what older releases call it."""
MARKED = "hip:gfx9"
"""The targets whose loads are marked."""


def synced_marks(module: Module) -> list[Edit]:
    """The marks on loads from shared memory, where membar is left out."""
    if not installed_release().membar_is_a_pass:
        # membar is part of what comes next, and leaves them itself.
        return []
    if not (module.operation.string("ttg.target") or "").startswith(MARKED):
        return []
    incoming: dict[Value, list[Value]] = {}
    for op in module.walk():
        for way in op.successors:
            for argument, value in zip(way.block.arguments, way.arguments, strict=True):
                incoming.setdefault(argument, []).append(value)
    found: list[Edit] = []
    for op in module.walk():
        if op.name == "ttg.local_load":
            tokens = [value for value in op.operands if "async.token" in value.type]
            synced = bool(tokens) and all(_is_waited_for(token, incoming) for token in tokens)
            found.append(SetAttribute(op, SYNCED, "true" if synced else "false"))
    return found


def _is_waited_for(token: Value, incoming: dict[Value, list[Value]]) -> bool:
    """Whether a token is that of a wait on every way that control can have come."""
    seen, todo = {token}, [token]
    while todo:
        value = todo.pop()
        op = value.defining_operation
        if op is not None:
            row = row_of(op.name)
            if row.does is not Does.WAITS or row.counter not in (COPY, TENSOR):
                return False
        elif value not in incoming:
            return False
        else:
            new = [other for other in incoming[value] if other not in seen]
            seen.update(new)
            todo += new
    return True
