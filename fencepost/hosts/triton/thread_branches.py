"""Branches that depend on the thread: waves, or threads of one wave, go different ways there.

A branch of a module is taken to be uniform. That holds for all that a kernel computes from its arguments, its program
id and memory; it does not for what knows which thread it runs in. Only barriers for part of the waves
(`amdg.cond_barrier`) are followed for such conditions.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.hosts.triton.mlir.tree import Module, Operation, Value

THREADS = frozenset(
    (
        *("rocdl.workitem.id.x", "rocdl.workitem.id.y", "rocdl.workitem.id.z", "rocdl.wave.id"),
        *("rocdl.readfirstlane", "ttg.warp_id", "gpu.thread_id", "gpu.lane_id"),
        *("nvvm.read.ptx.sreg.tid.x", "nvvm.read.ptx.sreg.tid.y", "nvvm.read.ptx.sreg.tid.z"),
        *("nvvm.read.ptx.sreg.laneid", "nvvm.read.ptx.sreg.warpid"),
    )
)
"""Operations whose result may differ from thread to thread although their operands do not."""
FOREIGN = ("tt.elementwise_inline_asm", "ttg.inline_asm", "tt.extern_elementwise")
"""Assembly and foreign functions: they may ask which thread runs them,"""
MATHEMATICS = ("__nv_", "__ocml_")
"""but for the libraries of mathematics, by how the names of their functions begin."""
ASKED = THREADS.union(FOREIGN)
"""Without any of these, no number differs from thread to thread."""


def divergent_branches(module: Module, function: Operation) -> Iterator[Operation]:
    """The branches, loops and conditionals of a function whose way may depend on the thread."""
    tainted = differing(module, function)
    if not tainted:
        return
    for op in function.walk():
        if (op.successors and len(op.successors) > 1) or op.name.startswith("scf."):
            asked = op.operands[:1] if op.successors or op.name == "scf.if" else op.operands
            if any(value in tainted for value in asked):
                yield op


def _asks_for_the_thread(op: Operation) -> bool:
    if op.name not in FOREIGN:
        return op.name in THREADS
    return not (op.string("symbol") or "").startswith(MATHEMATICS)


def differing(module: Module, function: Operation) -> set[Value]:
    """The numbers that may differ from thread to thread. Tensors do anyway, and are not asked about."""
    if module.kinds.isdisjoint(ASKED):
        return set()
    if function not in module.differing:
        module.differing[function] = _differing(function)
    return module.differing[function]


def _differing(function: Operation) -> set[Value]:
    found: set[Value] = set()
    changed = any(map(_asks_for_the_thread, function.walk()))
    while changed:
        before = len(found)
        for op in function.walk():
            if _asks_for_the_thread(op) or any(value in found for value in op.operands):
                found.update(value for value in op.results if not value.type.startswith("tensor"))
            for way in op.successors:
                pairs = zip(way.block.arguments, way.arguments, strict=True)
                found.update(argument for argument, value in pairs if value in found)
            if any(value in found for value in op.operands):
                # What a region is handed, and what it passes on, is among its operands and results.
                found.update(_arguments(op))
                if op.name in ("scf.yield", "scf.condition", "ttg.warp_yield") and op.parent is not None:
                    found.update(op.parent.results)
                    found.update(_arguments(op.parent))
        changed = len(found) > before
    return found


def _arguments(op: Operation) -> Iterator[Value]:
    """The arguments of the blocks of an operation's regions."""
    for region in op.regions:
        for block in region.blocks:
            yield from block.arguments
