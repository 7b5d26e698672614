"""A kernel as captured: its buffers, its graphs of operations, how many waves run it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.ir.buffers import Buffer
from fencepost.ir.ops import NESTING, Call, Carried, Operation, regions
from fencepost.ir.source import FencepostError, Mark, Source, Span, UsageError

if TYPE_CHECKING:
    from fencepost.ir.builder import Kernel


@dataclass(slots=True, eq=False)
class Graph:
    """The operations of one region or block, in order. `owner` is the loop or conditional around it.

    A doubly linked list, so that insertion costs the same everywhere.
    """

    name: str
    owner: Operation | None = field(default=None, repr=False)
    span: Span | None = field(default=None, kw_only=True, repr=False)
    """Where the block begins: its label, or the kernel's first line."""
    first: Operation | None = field(default=None, init=False, repr=False)
    last: Operation | None = field(default=None, init=False, repr=False)
    params: tuple[Carried, ...] = field(default=(), kw_only=True, repr=False)
    """For a labelled block: the numbers that branches to it forward."""
    closing: tuple[str, ...] = field(default=(), init=False, repr=False)
    """Comment lines after the last operation."""

    def __iter__(self) -> Iterator[Operation]:
        op = self.first
        while op is not None:
            # The successor is read before the caller sees `op`, so `op` may be removed and new
            # operations may be put in front of it or right behind it without being visited.
            after = op.next
            yield op
            op = after

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def append(self, op: Operation) -> Operation:
        """Put `op` at the end."""
        _claim(op, self)
        op.prev = self.last
        if self.last is None:
            self.first = op
        else:
            self.last.next = op
        self.last = op
        return op

    def insert_before(self, anchor: Operation, op: Operation) -> Operation:
        """Put `op` right before `anchor`."""
        _member(anchor, self)
        _claim(op, self)
        op.prev, op.next = anchor.prev, anchor
        if anchor.prev is None:
            self.first = op
        else:
            anchor.prev.next = op
        anchor.prev = op
        return op

    def insert_after(self, anchor: Operation, op: Operation) -> Operation:
        """Put `op` right after `anchor`."""
        _member(anchor, self)
        if anchor.next is None:
            return self.append(op)
        return self.insert_before(anchor.next, op)

    def remove(self, op: Operation) -> Operation:
        """Take `op` out."""
        _member(op, self)
        if op.prev is None:
            self.first = op.next
        else:
            op.prev.next = op.next
        if op.next is None:
            self.last = op.prev
        else:
            op.next.prev = op.prev
        op.graph = op.prev = op.next = None
        return op


def _claim(op: Operation, graph: Graph) -> None:
    if op.graph is not None:
        raise ValueError(f"{op.mnemonic} already stands in graph {op.graph.name!r}")
    op.graph = graph


def _member(op: Operation, graph: Graph) -> None:
    if op.graph is not graph:
        raise ValueError(f"{op.mnemonic} does not stand in graph {graph.name!r}")


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
    narrowed: tuple[str, ...] = ()
    """What the host's kernel can do and this one does not: without it, no verdict is a proof."""

    def __str__(self) -> str:
        from fencepost.ir.printer import print_kernel

        return print_kernel(self)

    def may_mention(self, mark: str) -> bool:
        """Whether a comment may have this mark: in its text, if that is known, or in a file that it was made from."""
        bodies = (self, *self.functions())
        return (
            self.source is None
            or mark in self.source.text
            or any(op.origin for body in bodies for op in body.preorder_walk())
        )


def trace_of(kernel: CapturedTrace | Kernel) -> CapturedTrace:
    """The kernel that a function of the library is given: a trace, or the builder that has one."""
    if isinstance(kernel, CapturedTrace):
        return kernel
    from fencepost.ir.builder import FunctionBuilder, Kernel

    if isinstance(kernel, Kernel):
        return kernel.trace
    help_ = {
        str: "`fp.parse(text)` reads a kernel in text form",
        list: "one kernel at a time: `for kernel in kernels:`",
        FunctionBuilder: "a function is looked at in the kernel that calls it",
        Function: "a function is looked at in the kernel that calls it",
    }
    notes = [("help", text) for kind, text in help_.items() if isinstance(kernel, kind)]
    raise UsageError(f"{type(kernel).__name__} is no trace of a kernel", notes=notes)
