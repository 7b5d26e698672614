"""How much scratch memory operations have, in releases whose modules say only where it lies.

Asked is the pass that gives memory its addresses: of a module with that operation alone, all memory is its scratch
memory. Where that cannot be done, nothing is said, and the memory is taken to reach to the end (`allocations`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fencepost.hosts.triton.allocations import SCRATCH
from fencepost.hosts.triton.generic import parse_live
from fencepost.hosts.triton.mlir.scan import balanced_end
from fencepost.hosts.triton.mlir.tree import Module, Operation, Value
from fencepost.hosts.triton.partitions import PARTITIONS, SPECIALIZE
from fencepost.hosts.triton.pipeline import Run
from fencepost.hosts.triton.silent_stderr import silent_stderr
from fencepost.hosts.triton.text_edits import SetAttribute, apply_edits
from fencepost.ir.source import FencepostError

CALL = "tt.call"
ALONE = frozenset((*SCRATCH, "ttng.tensormap_create", SPECIALIZE))
"""Operations that can stand alone, with arguments of a function for their operands."""
PUBLIC = "fencepost-alone"
_WARPS = re.compile(r'("?ttg\.num-warps"? = )\d+')


@dataclass(slots=True)
class ScratchSizes:
    """The sizes that were asked for: operations with the same text have the same."""

    allocate: Run
    """Runs the pass."""
    context: Any
    known: dict[str, int | None] = field(default_factory=dict)

    def noted(self, module: Module) -> Module:
        """The module, with the sizes of all its scratch memory noted as far as they are found."""
        for op in module.walk():
            if op.name in ALONE and op.integer("allocation.offset") is not None:
                size = self.size_of(module, op)
                if size:
                    module.scratch[op] = size
        return module

    def size_of(self, module: Module, op: Operation) -> int | None:
        """The bytes that one operation has; None if that cannot be told."""
        text = alone(module, op)
        if text is None:
            return None
        if text not in self.known:
            self.known[text] = self.ask(text)
        return self.known[text]

    def ask(self, text: str) -> int | None:
        """The bytes that a module has."""
        try:
            with silent_stderr():
                live = parse_live(text, self.context)
                self.allocate(live)
        except (RuntimeError, FencepostError):
            return None
        found = live.get_int_attr("ttg.shared")
        return int(found) if found is not None else None


def alone(module: Module, op: Operation) -> str | None:
    """A module with one operation, and the functions that it may call; None where an operand is a view of memory."""
    given = any("memdesc" in kind for kind in op.operand_types)
    if (given and op.name != SPECIALIZE) or op.successors:
        return None
    called = op.name == CALL
    body = [each for each in module.body.operations if called and each.string("sym_visibility") == "private"]
    first, last = module.body.operations[0], module.body.operations[-1]
    text = "\n".join([*(module.text[each.start : each.extent.end] for each in body), _function(module, op)])
    rest = module.text[last.extent.end :]
    warps = _partition_warps(op)
    if warps is not None:
        rest = _WARPS.sub(rf"\g<1>{warps}", rest)
    return f"{module.text[: first.start]}{text}{rest}"


def _function(module: Module, op: Operation) -> str:
    """A function of one operation; it returns the results, as some memory is for results that somebody uses."""
    taken, text = op.operands, module.text[op.start : op.extent.end]
    if op.name == SPECIALIZE:
        taken, text = _empty_partitions(module, op)
    types = {value.name: value.type for value in taken}
    arguments = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    results, made = (", ".join(words) for words in ((value.name for value in op.results), op.result_types))
    properties = (
        f"function_type = ({', '.join(types.values())}) -> ({made}), "
        f'sym_name = "{PUBLIC}", sym_visibility = "public"'
    )
    return "\n".join(
        [
            f'"tt.func"() <{{{properties}}}> ({{',
            *([f"^bb0({arguments}):"] if arguments else []),
            text,
            f'"tt.return"({results}) : ({made}) -> ()',
            "}) : () -> ()",
        ]
    )


def _empty_partitions(module: Module, op: Operation) -> tuple[tuple[Value, ...], str]:
    """A specialization whose partitions capture what they do, and do nothing; and what that is."""
    (holder,) = (inner for inner in op.regions[1].blocks[0].operations if inner.name == PARTITIONS)
    captured = holder.operands or op.operands
    types = ", ".join(value.type for value in captured)
    arguments = ", ".join(f"%captured{place}: {value.type}" for place, value in enumerate(captured))
    region = "({\n" + (f"^bb0({arguments}):\n" if arguments else "") + '"ttg.warp_return"() : () -> ()\n})'
    regions = ", ".join(region[1:-1] for _ in holder.regions)
    properties = module.text[op.extent.properties_at : balanced_end(module.text, op.extent.properties_at)]

    def given(inner: Operation) -> str:
        return ", ".join(value.name for value in inner.operands)

    def typed(inner: Operation) -> str:
        return types if inner.operands else ""

    text = (
        f'"{op.name}"({given(op)}) {properties} ({{\n"ttg.warp_yield"() : () -> ()\n}}, {{\n'
        f'"{PARTITIONS}"({given(holder)}) ({regions}) : ({typed(holder)}) -> ()\n}}) : ({typed(op)}) -> ()'
    )
    return captured, text


def _partition_warps(op: Operation) -> int | None:
    """The warps of the partition that an operation stands in; None outside of partitions."""
    inner = op
    while (around := inner.parent) is not None:
        if around.name == PARTITIONS and around.parent is not None and inner.block is not None:
            counts = around.parent.integers("partitionNumWarps") or ()
            place = around.regions.index(inner.block.region)
            return counts[place] if place < len(counts) else None
        inner = around
    return None


def with_sizes(module: Module) -> str:
    """The text of a module that says the sizes that were found, for whoever reads it again."""
    return apply_edits(
        module, [SetAttribute(op, "allocation.size", f"{size} : i32") for op, size in module.scratch.items()]
    )
