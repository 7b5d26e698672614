"""The nodes of a trace in the order of the program, and by what they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fencepost.hosts.wave.nodes import REGION_OF, Kind, Node, class_of, kind_of
from fencepost.ir.source import FencepostError


@dataclass(slots=True)
class Order:
    """Every node of a trace."""

    kinds: dict[Node, Kind] = field(default_factory=dict)
    """In the order of the program."""
    by_kind: dict[Kind, list[Node]] = field(default_factory=dict)

    def of(self, kind: Kind) -> list[Node]:
        """The nodes of a kind, in the order of the program."""
        return self.by_kind.get(kind, [])


def in_order(wave_trace: Any) -> Order:
    """Look at every node of a trace."""
    found = Order()
    kinds, by_kind = found.kinds, found.by_kind

    def add(graph: Any) -> None:
        for node in graph.nodes:
            kind = kinds[node] = kind_of(node)
            if kind in by_kind:
                by_kind[kind].append(node)
            else:
                by_kind[kind] = [node]
            if kind in REGION_OF:
                add(wave_trace.get_subgraph(node.args[REGION_OF[kind]]))
            elif kind is Kind.OTHER:
                refuse_region(node, wave_trace)

    add(wave_trace.get_root_graph())
    return found


def refuse_region(node: Node, wave_trace: Any) -> None:
    """Refuse an operation that is not known and has a region: when and how often that runs is not known either."""
    regions = wave_trace.region_graph.subgraphs
    for given in node.args:
        if isinstance(given, str) and given in regions:
            cls = class_of(node)
            name = cls.__name__ if cls is not None else node.op
            raise FencepostError(f"{node.name}: a {name} with a region of its own is not known", code="FP422")
