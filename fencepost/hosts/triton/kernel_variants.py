"""The kernels of a module with barriers put in, without reading and translating it again.

The module that was stopped at membar is translated once. What others put in (membar, or fencepost's edits) is seen
from the text that they leave (`text_difference`), put into the kernels at the same places, looked at, and taken out
again. Where that is not certain to be what a translation of that text would be, there is no variant: whoever asks
has the text read then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache

from fencepost.flow import Flow, Position, build_flow, read_again
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.text_difference import ChangedModule, put_in
from fencepost.hosts.triton.translate import Translation, translations
from fencepost.hosts.triton.translate_operations import WARP_GROUP
from fencepost.hosts.triton.write_back import NEAR, PUT_IN, host_of
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace, Graph
from fencepost.placement.quick_lower_bound import as_few_as_can_be, one_is_needed

Kernels = tuple[Translation, ...]
BRANCHES = (ops.Branch, ops.CondBranch, ops.Return)
GROUP_WAIT = "ttng.warp_group_dot_wait"


@dataclass(slots=True)
class Place:
    """Where a barrier can be put into a kernel: in front of one of its operations, or right behind it."""

    op: ops.Operation
    behind: bool = False

    def put(self, barrier: ops.SharedMemoryBarrier) -> None:
        """Put it there."""
        assert self.op.graph is not None
        (self.op.graph.insert_after if self.behind else self.op.graph.insert_before)(self.op, barrier)


@dataclass(eq=False)
class Stopped:
    """A module that was stopped at membar, and its kernels, with waits for one warp group each (`local`)."""

    module: Module
    kernels: Kernels

    @cached_property
    def first(self) -> dict[Operation, ops.Operation]:
        """What each operation of the module begins with in its kernel."""
        found: dict[Operation, ops.Operation] = {}
        for kernel in self.kernels:
            for graph in kernel.trace.blocks:
                for op in graph:
                    host = host_of(op)
                    if host is not None:
                        found.setdefault(host, op)
        return found

    @cached_property
    def waits(self) -> dict[ops.MemoryCounterWait, dict[str, int]]:
        """The waits of the kernels, and what each leaves outstanding."""
        every = (op for kernel in self.kernels for op in kernel.trace.preorder_walk())
        return {op: dict(op.counts) for op in every if isinstance(op, ops.MemoryCounterWait)}

    @cached_property
    def shapes(self) -> dict[CapturedTrace, Flow]:
        """The flow of each kernel: what of it does not depend on barriers is found once."""
        return {kernel.trace: build_flow(kernel.trace) for kernel in self.kernels}

    def flow(self, kernel: Translation) -> Flow:
        """The flow of a kernel as it stands now."""
        return read_again(self.shapes[kernel.trace])

    @cached_property
    def runs(self) -> dict[Graph, float]:
        """How often each block of the kernels runs, estimated."""
        return {block.graph: block.frequency for flow in self.shapes.values() for block in flow.blocks}

    def runs_of(self, op: Operation) -> float:
        """How often an operation of the module runs, estimated; 0 if no kernel has it."""
        place = self.place_before(op)
        return 0.0 if place is None or place.op.graph is None else self.runs[place.op.graph]

    def barriers(self) -> dict[Operation | None, float]:
        """How often barriers run that stand in the kernels now; those that were put in have no operation."""
        found: dict[Operation | None, float] = {}
        for graph, runs in self.runs.items():
            for op in graph:
                if isinstance(op, ops.SharedMemoryBarrier):
                    host = op.host if isinstance(op.host, Operation) else None
                    found[host] = found.get(host, 0.0) + runs
        return found

    @cached_property
    def group_waits(self) -> list[Operation]:
        """Waits of several warp groups, which end in a barrier unless they are marked."""
        if not installed_release().group_waits_meet:
            return []
        return [
            op
            for kernel in self.kernels
            if kernel.trace.waves > WARP_GROUP
            for op in kernel.own
            if op.name == GROUP_WAIT and not op.flag("warpGroupLocal") and op in self.first
        ]

    @cached_property
    def can_vary(self) -> bool:
        """Whether kernels with barriers in them are what a translation of the module with barriers would be.

        Everything but branches has to say what it stands for.
        """
        if self.module.nested():
            return False
        every = (op for kernel in self.kernels for graph in kernel.trace.blocks for op in graph)
        return all(isinstance(op, BRANCHES) or host_of(op) is not None for op in every)

    @cached_property
    def positions(self) -> dict[ops.Operation, tuple[Flow, Position]]:
        """The gap in front of each operation of the kernels."""
        found: dict[ops.Operation, tuple[Flow, Position]] = {}
        for flow in self.shapes.values():
            for block in flow.blocks:
                for gap, op in enumerate(block.ops):
                    found.setdefault(op.owner or op, (flow, Position(block.index, gap)))
                if block.anchor is not None:
                    found.setdefault(block.anchor, (flow, Position(block.index, len(block.ops))))
        return found

    @property
    def is_one_wave(self) -> bool:
        """Whether each kernel runs in one wave, in which nothing has to be ordered."""
        return all(kernel.trace.waves == 1 for kernel in self.kernels)

    @property
    def lacks_one(self) -> bool:
        """Whether it is seen at a glance that a barrier is needed."""
        return any(map(one_is_needed, self.shapes.values()))

    def place_before(self, op: Operation) -> Place | None:
        """Where a barrier in front of an operation of the module stands; None if no kernel has what follows it."""
        block = op.block
        rest = block.operations[block.operations.index(op) :] if block is not None else []
        return next((Place(self.first[each]) for each in rest if each in self.first), None)

    @contextmanager
    def borrowed(self) -> Iterator[Kernels]:
        """The kernels, to put barriers in and lower counts, which is undone; if not, nobody gets them again."""
        before, waits = [_state(kernel.trace) for kernel in self.kernels], self.waits
        try:
            yield self.kernels
        finally:
            for op in [op for kernel in self.kernels for op in kernel.trace.preorder_walk()]:
                if isinstance(op, PUT_IN) and op.host is None:
                    assert op.graph is not None
                    op.graph.remove(op)
            for wait, counts in waits.items():
                wait.counts = dict(counts)
            if [_state(kernel.trace) for kernel in self.kernels] != before:
                stopped_at.cache_clear()
                variant_of.cache_clear()


def _state(trace: CapturedTrace) -> list[object]:
    """Everything of a kernel that putting in barriers and stronger waits might change."""
    return [(op, dict(op.counts)) if isinstance(op, PUT_IN) else op for graph in trace.blocks for op in graph]


@lru_cache(maxsize=1)
def stopped_at(module: Module) -> Stopped:
    """The kernels of a module that was stopped at membar: translated once for all who ask."""
    return Stopped(module, tuple(translations(module, local=True)))


@dataclass(eq=False)
class Variant:
    """A module that others have put barriers into, as what that makes of the kernels."""

    stopped: Stopped
    places: dict[Operation, Place]
    """Where the barriers are, by an operation that stands for each,"""
    before: dict[Operation, Operation]
    """what of the module each of those that were put in stands in front of,"""
    counts: dict[ops.MemoryCounterWait, dict[str, int]]
    """and waits that leave less outstanding than in the module."""

    @property
    def runs(self) -> dict[Operation | None, float]:
        """How often each barrier runs, estimated; those that were there before included."""
        found = self.stopped.barriers()
        for host, place in self.places.items():
            assert place.op.graph is not None
            found[host] = found.get(host, 0.0) + self.stopped.runs[place.op.graph]
        return found

    @property
    def has_fewest(self) -> bool:
        """Whether it is seen at a glance that no barriers run less often than these, or hardly less."""
        put_in: dict[CapturedTrace, list[Position]] = {}
        for place in self.places.values():
            flow, position = self.stopped.positions[place.op]
            if place.behind:
                return False
            put_in.setdefault(flow.trace, []).append(position)
        shapes = self.stopped.shapes
        return all(as_few_as_can_be(shapes[trace], there, NEAR) for trace, there in put_in.items())

    @contextmanager
    def kernels(self) -> Iterator[Kernels]:
        """The kernels with these barriers and counts."""
        made: list[ops.SharedMemoryBarrier] = []
        try:
            for wait, counts in self.counts.items():
                wait.counts = counts
            for host, place in self.places.items():
                made.append(ops.SharedMemoryBarrier(host=host))
                place.put(made[-1])
            yield self.stopped.kernels
        finally:
            for barrier in made:
                if barrier.graph is not None:
                    barrier.graph.remove(barrier)
            for wait in self.counts:
                wait.counts = dict(self.stopped.waits[wait])


@lru_cache(maxsize=2)
def variant_of(module: Module) -> Variant | None:
    """What a module is made of the one that it was changed from; None if that is not certain."""
    if not isinstance(module, ChangedModule):
        return None
    stopped = stopped_at(module.base)
    found = put_in(module.base, module.text) if stopped.can_vary else None
    if found is None or not found.marked <= {*stopped.group_waits}:
        return None
    places: dict[Operation, Place] = {}
    before: dict[Operation, Operation] = {}
    for op in found.barriers:
        place = stopped.place_before(op)
        if place is None or not _calls_stay(module.base, op):
            return None
        barrier = Operation("ttg.barrier", op.block, op.extent, locations=op.locations)
        places[barrier], before[barrier] = place, op
    for wait in stopped.group_waits:
        if wait not in found.marked:
            places[wait] = Place(stopped.first[wait], behind=True)
    counts = _stronger(stopped, found.counts)
    return None if counts is None else Variant(stopped, places, before, counts)


def _calls_stay(module: Module, op: Operation) -> bool:
    """Whether a barrier in front of an operation changes nothing for whoever calls the function that it is in.

    What a call does depends on whether all waves surely meet in the function.
    """
    around = op.parent
    while around is not None and not around.name.endswith(".func"):
        around = around.parent
    if around is None:
        return False
    return around.string("sym_visibility") != "private" or module.meets.get(around, False)


def _stronger(
    stopped: Stopped, counts: Mapping[Operation, int]
) -> dict[ops.MemoryCounterWait, dict[str, int]] | None:
    """Waits of the kernels with the counts of the module; None where one is not a wait for less than before."""
    found: dict[ops.MemoryCounterWait, dict[str, int]] = {}
    for host, count in counts.items():
        mine = [wait for wait in stopped.waits if wait.host is host]
        if len(mine) != 1 or len(mine[0].counts) != 1 or count >= min(mine[0].counts.values()):
            return None
        found[mine[0]] = dict.fromkeys(mine[0].counts, count)
    return found
