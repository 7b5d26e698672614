"""A kernel as captured: its buffers, its graphs, how many waves run it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.ir.buffers import Buffer
from fencepost.ir.graph import Graph
from fencepost.ir.ops import Operation, regions
from fencepost.ir.source import Source


@dataclass(slots=True, eq=False)
class CapturedTrace:
    """One kernel.

    `blocks` is its body: a single graph for a kernel of loops and conditionals, several that end in
    branches for unstructured control flow. Blocks may hold loops and conditionals, these hold none.
    """

    name: str
    waves: int
    buffers: dict[str, Buffer] = field(default_factory=dict)
    blocks: list[Graph] = field(default_factory=lambda: [Graph("entry")])
    source: Source | None = None
    heading: tuple[str, ...] = ()
    """The lines of the file above the kernel: comments, and empty lines between them."""
    closing: tuple[str, ...] = ()
    """The lines of the file below the last kernel."""

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
        pending: list[Iterator[Operation]] = [iter(block) for block in reversed(self.blocks)]
        while pending:
            op = next(pending[-1], None)
            if op is None:
                pending.pop()
                continue
            yield op
            pending.extend(iter(region) for region in reversed(regions(op)))

    def graphs(self) -> Iterator[Graph]:
        """Every graph: the blocks, and the regions nested in them."""
        yield from self.blocks
        for op in self.preorder_walk():
            yield from regions(op)

    def __str__(self) -> str:
        from fencepost.ir.printer import print_kernel

        return print_kernel(self)
