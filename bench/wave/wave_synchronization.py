"""The barriers that stand in a trace of Wave, in program order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wave_lang.kernel.ops import wave_ops

Node = Any


@dataclass(frozen=True)
class Standing:
    """A barrier, half of one, or a wait for a counter."""

    kind: str
    """"barrier", "workgroup" (without a fence), "signal", "wait" or "count"."""
    depth: int
    """Loops around it."""
    node: Node
    copies: bool = False
    """It also waits for copies to LDS."""
    loads: int | None = None
    """For "count": how many loads it leaves under way."""

    @property
    def rendezvous(self) -> bool:
        """Whether waves meet: a pair of halves counts once."""
        return self.kind in ("barrier", "workgroup", "signal")


def walk(trace: Any) -> Iterator[tuple[Node, int]]:
    """Every node with the number of loops around it."""
    yield from _walk(trace, trace.get_root_graph(), 0)


def _walk(trace: Any, graph: Any, depth: int) -> Iterator[tuple[Node, int]]:
    for node in graph.nodes:
        yield node, depth
        custom = wave_ops.get_custom(node)
        if isinstance(custom, wave_ops.NestedRegionOp):
            inner = depth + isinstance(custom, wave_ops.Iterate)
            yield from _walk(trace, trace.get_subgraph(custom.subgraph_name), inner)


def existing(trace: Any) -> list[Standing]:
    """All synchronization of a trace."""
    return [found for node, depth in walk(trace) if (found := _of(node, depth)) is not None]


def _of(node: Node, depth: int) -> Standing | None:
    custom = wave_ops.get_custom(node)
    if isinstance(custom, wave_ops.SharedMemoryBarrier):
        return Standing("barrier", depth, node, custom.wait_async_ops or custom.tensor_wait)
    if isinstance(custom, wave_ops.WorkgroupBarrier):
        return Standing("workgroup", depth, node)
    if isinstance(custom, wave_ops.SharedMemoryBarrierSignal):
        return Standing("signal", depth, node, custom.tensor_wait)
    if isinstance(custom, wave_ops.SharedMemoryBarrierWait):
        return Standing("wait", depth, node)
    if isinstance(custom, wave_ops.MemoryCounterWait):
        return Standing("count", depth, node, loads=custom.load)
    return None


@dataclass(frozen=True)
class Count:
    """Barriers as they are written: each once, in a loop or outside."""

    loop: int = 0
    outside: int = 0


def count(found: list[Standing]) -> Count:
    """How many times waves meet in one iteration of every loop, and outside of loops."""
    inside = sum(each.rendezvous and each.depth > 0 for each in found)
    return Count(inside, sum(each.rendezvous for each in found) - inside)


def nodes(trace: Any) -> set[Node]:
    """All nodes of a trace."""
    return {node for node, _ in walk(trace)}
