"""A kernel as captured: its buffers, its graphs, how many waves run it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.ir.buffers import Buffer
from fencepost.ir.graph import Graph
from fencepost.ir.ops import NESTING, Call, Operation, regions
from fencepost.ir.source import FencepostError, Mark, Source, Span


@dataclass(slots=True, eq=False)
class Body:
    """Allocations and operations under one name: a kernel or a function.

    `blocks` is a single graph for a body of loops and conditionals, several that end in branches for
    unstructured control flow. Blocks may hold loops and conditionals, these hold none.
    """

    name: str
    buffers: dict[str, Buffer] = field(default_factory=dict)
    blocks: list[Graph] = field(default_factory=lambda: [Graph("entry")])
    source: Source | None = None
    heading: tuple[str, ...] = ()
    """The lines of the file above it: comments, and empty lines between them."""
    closing: tuple[str, ...] = ()
    """The lines of the file below the last one."""

    def get_root_graph(self) -> Graph:
        """The graph that execution starts in."""
        return self.blocks[0]

    def walk_graph(self, name: str) -> Iterator[Operation]:
        """The operations of the graph called `name`, without those of graphs nested in it."""
        for graph in self.graphs():
            if graph.name == name:
                return iter(graph)
        raise KeyError(
            f"kernel {self.name!r} has no graph {name!r}; it has {[g.name for g in self.graphs()]}"
        )

    def preorder_walk(self) -> Iterator[Operation]:
        """Every operation in the order of the text: a loop or conditional, then what is inside it."""
        # What is left to walk: graphs from their beginning on, or the rest of one.
        pending: list[Graph | Operation | None] = [*reversed(self.blocks)]
        while pending:
            rest = pending.pop()
            op = rest.first if isinstance(rest, Graph) else rest
            while op is not None:
                # Read first, as graphs do: `op` may be removed, and others be put around it.
                after = op.next
                yield op
                if isinstance(op, NESTING):
                    pending.append(after)
                    pending.extend(reversed(regions(op)))
                    break
                op = after

    def graphs(self) -> Iterator[Graph]:
        """Every graph: the blocks, and the regions nested in them."""
        yield from self.blocks
        for op in self.preorder_walk():
            yield from regions(op)

    def functions(self) -> list[Function]:
        """The functions that it calls, itself or through others, each before those that call it."""
        finished: dict[Function, None] = {}
        met: dict[str, Body] = {self.name: self}
        todo: list[tuple[Body, Iterator[Operation]]] = [(self, self.preorder_walk())]
        while todo:
            body, rest = todo[-1]
            call = _next_call(rest)
            if call is None:
                todo.pop()
                if todo and isinstance(body, Function):
                    finished[body] = None
                continue
            function = call.function
            if met.setdefault(function.name, function) is not function:
                raise FencepostError(
                    f"@{function.name} is the name of two things that this kernel is made of",
                    [Mark(call.span)],
                    code="FP102",
                    source=body.source,
                )
            if any(function is around for around, _ in todo):
                raise FencepostError(
                    f"@{function.name} calls itself", [Mark(call.span)], code="FP108", source=body.source
                )
            if function not in finished:
                todo.append((function, function.preorder_walk()))
        return list(finished)


def _next_call(rest: Iterator[Operation]) -> Call | None:
    for op in rest:
        if isinstance(op, Call):
            return op
    return None


@dataclass(slots=True, eq=False)
class Function(Body):
    """What `call` runs: loops and conditionals, without branches between blocks."""


@dataclass(slots=True, eq=False)
class CapturedTrace(Body):
    """One kernel and how many waves run it."""

    waves: int = field(default=1, kw_only=True)
    numbers: dict[str, Span | None] = field(default_factory=dict)
    """Numbers that it is given: the same for all waves and all the time, and not known."""
    above: tuple[Function, ...] = ()
    """The functions that stand above it in its file."""
    below: tuple[Function, ...] = ()
    """For the last kernel of a file: those that stand below it."""
    unjudged: tuple[str, ...] = ()
    """What the host's kernel has to get right and this one does not say: no verdict covers it."""

    def __str__(self) -> str:
        from fencepost.ir.printer import print_kernel

        return print_kernel(self)
