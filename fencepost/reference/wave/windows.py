"""Hazards as Wave's pass records them: windows between a producer region and a consumer region.

A requirement stands for one *episode* on one resource: a run of producers followed by a run of consumers.
Positions count the operations in program order, the way the pass numbers nodes (`_topo_location`). A window
that crosses an iteration has its producer behind its consumer, and `is_loop` set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fencepost.analysis.access import MemoryAccessType, access_type, get_shared_memory_from_op
from fencepost.analysis.build_program import read_program
from fencepost.analysis.hazards import BarrierType, Hazard, hazards
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.ir.builder import Kernel
from fencepost.ir.trace import CapturedTrace, Graph, trace_of


@dataclass(frozen=True, slots=True)
class SyncRequirement:
    """One hazard window."""

    resource: Buffer
    prod_region: tuple[ops.Operation, ...]
    cons_region: tuple[ops.Operation, ...]
    prod_location: int
    """Where the last producer stands."""
    cons_location: int
    """Where the first consumer stands."""
    barrier_type: BarrierType
    is_loop: bool
    graph_start: ops.Operation | None
    """The first operation of the graph around the consumer."""
    graph_end: ops.Operation | None
    """The last one."""
    start_location: int = -1
    end_location: int = -1
    """Where these two stand."""


def get_barriers_analysis(trace: CapturedTrace | Kernel) -> list[SyncRequirement]:
    """The windows that the kernel's barriers leave open, in the order of their consumers."""
    trace = trace_of(trace)
    return as_requirements(list(hazards(read_program(trace))), list(trace.preorder_walk()))


def as_requirements(found: Sequence[Hazard], nodes: Iterable[ops.Operation]) -> list[SyncRequirement]:
    """Put hazards that share their producers together; `nodes` gives every operation its location."""
    location = {op: number for number, op in enumerate(nodes)}
    producers: dict[tuple[Buffer, ops.MemoryOperation, BarrierType, bool], list[ops.MemoryOperation]] = {}
    for hazard in found:
        resource = get_shared_memory_from_op(hazard.consumer)
        assert resource is not None
        key = (resource, hazard.consumer, hazard.barrier_type, hazard.is_loop)
        producers.setdefault(key, []).append(hazard.producer)
    episodes: dict[_Episode, list[ops.MemoryOperation]] = {}
    for (resource, consumer, tag, is_loop), before in producers.items():
        before.sort(key=location.__getitem__)
        episode = _Episode(resource, tuple(before), tag, is_loop, consumer.graph)
        episodes.setdefault(episode, []).append(consumer)
    requirements = [_requirement(episode, consumers, location) for episode, consumers in episodes.items()]
    return sorted(requirements, key=lambda entry: (entry.cons_location, entry.prod_location, entry.is_loop))


class _Episode(NamedTuple):
    """What consumers have in common that wait for the same producers."""

    resource: Buffer
    producers: tuple[ops.MemoryOperation, ...]
    tag: BarrierType
    is_loop: bool
    graph: Graph | None


def _requirement(
    episode: _Episode, consumers: list[ops.MemoryOperation], location: Mapping[ops.Operation, int]
) -> SyncRequirement:
    consumers.sort(key=location.__getitem__)
    start, end = (episode.graph.first, episode.graph.last) if episode.graph else (None, None)
    return SyncRequirement(
        episode.resource,
        episode.producers,
        tuple(consumers),
        location[episode.producers[-1]],
        location[consumers[0]],
        episode.tag,
        episode.is_loop,
        start,
        end,
        location[start] if start else -1,
        location[end] if end else -1,
    )


READS = frozenset({MemoryAccessType.READ, MemoryAccessType.READ_WRITE})
WRITES = frozenset({MemoryAccessType.WRITE, MemoryAccessType.READ_WRITE})


def handle_hazard(
    nodes: Sequence[ops.Operation],
    producer_types: Collection[MemoryAccessType] = WRITES,
    consumer_types: Collection[MemoryAccessType] = READS,
    barrier_type: BarrierType = BarrierType.FILL,
    is_nested: bool = False,
) -> list[SyncRequirement]:
    """The episodes of one kind of hazard in a linear sequence of operations.

    Each resource is looked at by itself. Producers are collected until consumers follow; when a producer comes
    after consumers, the episode is over and the next one begins. A nested sequence is scanned twice over: a
    consumer that meets its producers only in the second round does so in the next iteration, where a name that the
    loop carries stands for what it has become. Barriers in the sequence are not looked at, and neither is whether two
    views overlap: that is `get_barriers_analysis`'s work.
    """
    return scan(
        nodes,
        get_shared_memory_from_op,
        access_type,
        (producer_types, consumer_types),
        barrier_type,
        is_nested=is_nested,
    )


def scan(
    nodes: Sequence[Any],
    memory_of: Callable[[Any, int], Any],
    type_of: Callable[[Any], MemoryAccessType],
    kinds: tuple[Collection[MemoryAccessType], Collection[MemoryAccessType]],
    barrier_type: BarrierType,
    *,
    is_nested: bool,
) -> list[SyncRequirement]:
    """The episodes in a sequence of anything that touches memory.

    `memory_of` says what an operation touches in a round, `type_of` how; `kinds` are those of producers and of
    consumers. A nested sequence is scanned until every name that its loop carries has come round.
    """
    location = {op: number for number, op in enumerate(nodes)}
    accesses: dict[Any, list[tuple[Any, int]]] = {}
    for depth in range(1 + max((_period(op, memory_of) for op in nodes), default=1) if is_nested else 1):
        for op in nodes:
            resource = memory_of(op, depth)
            if resource is not None:
                accesses.setdefault(resource, []).append((op, depth))
    found: list[SyncRequirement] = []
    for resource, mine in accesses.items():
        for producers, consumers in _episodes(mine, type_of, *kinds):
            found.append(
                SyncRequirement(
                    resource,
                    tuple(op for op, _ in producers),
                    tuple(op for op, _ in consumers),
                    location[producers[-1][0]],
                    location[consumers[0][0]],
                    barrier_type,
                    consumers[0][1] > producers[-1][1],
                    nodes[0],
                    nodes[-1],
                    0,
                    len(nodes) - 1,
                )
            )
    return found


MOST_ROUNDS = 16
"""How many iterations are looked at where buffers rotate."""


def _period(op: Any, memory_of: Callable[[Any, int], Any]) -> int:
    """After how many iterations an operation touches the same memory again."""
    first = memory_of(op, 0)
    return next((depth for depth in range(1, MOST_ROUNDS) if memory_of(op, depth) is first), 1)


_Accesses = list[tuple[Any, int]]
"""Operations, and the round that each is made in."""


def _episodes(
    accesses: _Accesses,
    type_of: Callable[[Any], MemoryAccessType],
    producer_types: Collection[MemoryAccessType],
    consumer_types: Collection[MemoryAccessType],
) -> Iterator[tuple[_Accesses, _Accesses]]:
    """Runs of producers and of the consumers behind them; those that begin in a later round repeat the first."""
    producers: _Accesses = []
    consumers: _Accesses = []
    for op, depth in accesses:
        used = type_of(op)
        if used in consumer_types and producers and (not consumers or consumers[0][1] == depth):
            consumers.append((op, depth))
        if used in producer_types:
            if consumers:
                if producers[-1][1] == 0:
                    yield producers, consumers
                producers, consumers = [], []
            producers.append((op, depth))
    if consumers and producers[-1][1] == 0:
        yield producers, consumers
