"""A graph is a sequence of operations: a doubly linked list, so that insertion costs the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.ir.ops import Carried, Operation
from fencepost.ir.source import Span


@dataclass(slots=True, eq=False)
class Graph:
    """The operations of one region or block, in order. `owner` is the loop or conditional around it."""

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
