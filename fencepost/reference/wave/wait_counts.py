"""Wait counts: the largest that are still safe.

The count for a dependency is the least number of operations of its counter that are issued after the operation it
stands for, on any path from there to the barrier. One pass of dataflow finds it: the state is, for each name
that something still needs, the least number so far; it grows at every operation that is counted, and where paths
meet the smaller one counts. A barrier that drains without naming anything comes after whatever is in flight: for
it, each counter has one more name, which stands for the counter's latest async operation.

The state at a block holds only what is needed from there on, so the time taken is that of one walk over the
places where something is awaited.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.flow import Block, Flow, Guard, build_flow
from fencepost.gc_pause import collection_paused
from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from fencepost.ir.trace import Body, CapturedTrace, trace_of
from fencepost.reference.wave.tokens import LiveTokens, Token, assigned, find_live
from fencepost.targets import TargetConfig, target_named

MOST = 63
"""What a wait can be given at most where no target says otherwise."""

Key = tuple[Token | None, str]
"""A name (None: whatever is in flight) and a counter: on different paths a name can stand for different ones."""
Distances = dict[Key, int]
"""For each name, how many operations of the counter were issued since, at least."""
Waiting = ops.SharedMemoryBarrier | ops.MemoryCounterWait


def populate_barriers_counters(trace: CapturedTrace | Kernel, target: str = "") -> None:
    """Give every barrier and wait that comes after async operations, or drains, its counts.

    With a target, operations are counted on the counters that it has, and counts stay within their widths.
    """
    trace = trace_of(trace)
    config = target_named(target) if target else None
    if config is not None:
        _use_counters_of(trace, config)
    widest = config.widest_waits() if config is not None else {}
    with collection_paused():
        found = _Counting(build_flow(trace)).run()
    for op, counts in found.items():
        if counts is None:
            continue
        op.counts = {counter: min(count, widest.get(counter, MOST)) for counter, count in counts.items()}
        if isinstance(op, ops.SharedMemoryBarrier):
            op.wait_async_ops = False


def _use_counters_of(trace: CapturedTrace, config: TargetConfig) -> None:
    """Count operations on the counters of the hardware; waits that stand there already go with them."""
    renamed: dict[str, str] = {}
    bodies: list[Body] = [trace, *trace.functions()]
    everything = [op for body in bodies for op in body.preorder_walk()]
    for op in everything:
        if isinstance(op, ops.AsyncOperation | ops.GlobalRead | ops.GlobalWrite):
            hardware = config.counted_on.get(op.mnemonic, op.counter)
            if op.counter == op.default_counter:
                renamed[op.counter] = hardware
                op.counter = hardware
    for op in everything:
        if isinstance(op, Waiting) and op.counts:
            counts: dict[str, int] = {}
            for counter, count in op.counts.items():
                # Two counters that are one in hardware: the stricter of the two waits holds for both.
                name = renamed.get(counter, counter)
                counts[name] = min(count, counts.get(name, count))
            op.counts = counts


@dataclass(slots=True)
class _Counting:
    flow: Flow
    live: LiveTokens = field(init=False)
    groups: frozenset[str] = field(init=False)
    counters: frozenset[str] = field(init=False)
    handed: list[dict[Token, tuple[Token, ...]]] = field(init=False)
    guards: dict[Token, tuple[Guard, ...]] = field(default_factory=dict)
    """For operations that only some waves make: which."""
    found: dict[Waiting, dict[str, int] | None] = field(default_factory=dict)
    """For each wait the counts so far; None if no count will do."""

    def __post_init__(self) -> None:
        everything = [op for block in self.flow.blocks for op in block.ops]
        self.live = find_live(self.flow)
        self.groups = frozenset(op.counter for op in everything if isinstance(op, ops.CommitGroup))
        self.counters = frozenset(op.counter for op in everything if isinstance(op, ops.AsyncOperation))
        self.handed = [assigned(block) for block in self.flow.blocks]
        for block in self.flow.blocks:
            if block.guards:
                self.guards.update(
                    (op, block.guards) for op in block.ops if isinstance(op, ops.AsyncOperation)
                )

    def counts_for(self, token: Token | None, block: Block) -> bool:
        """Whether every wave that made what a name stands for reaches a block, so that what it issues counts."""
        if not block.guards:
            return True
        return token is not None and self.guards.get(token, ())[: len(block.guards)] == block.guards

    def run(self) -> dict[Waiting, dict[str, int] | None]:
        """Go round until no distance gets smaller."""
        flow = self.flow
        starts: list[Distances] = [{} for _ in flow.blocks]
        place = {block: number for number, block in enumerate(flow.order)}
        dirty = [True] * len(flow.blocks)
        first = 0
        while first < len(flow.order):
            again = len(flow.order)
            for number in range(first, len(flow.order)):
                index = flow.order[number]
                if not dirty[index]:
                    continue
                dirty[index] = False
                block = flow.blocks[index]
                end = self.through(block, starts[index])
                for target in block.successors:
                    if self.arrive(starts[target], self.forwarded(index, target, end)):
                        dirty[target] = True
                        if place[target] <= number:
                            again = min(again, place[target])
            first = again
        return self.found

    def through(self, block: Block, start: Distances) -> Distances:
        """The distances at the end of a block; the waits in it get theirs."""
        # A distance is kept as a difference to how often its counter has counted in this block.
        issued = dict.fromkeys(self.counters, 0)
        here = dict(start)
        for op in block.ops:
            if isinstance(op, Waiting):
                if op.uses or op.drains:
                    self.note(op, here, issued, block)
                if op.drains:
                    for counter in self.counters:
                        here.pop((None, counter), None)
                continue
            counter = ops.counter_of(op)
            if counter in self.counters:
                if isinstance(op, ops.CommitGroup) or counter not in self.groups:
                    issued[counter] += 1
                if isinstance(op, ops.AsyncOperation):
                    here[op, counter] = here[None, counter] = -issued[counter]
        needed = self.live.at_end[block.index]
        return {
            (token, counter): self.distance(token, counter, here, issued, block)
            for token, counter in here
            if token is None or token in needed
        }

    def distance(
        self, token: Token | None, counter: str, here: Distances, issued: dict[str, int], block: Block
    ) -> int:
        """How many operations of a counter were issued since the one that a name stands for, at least."""
        kept = here[token, counter]
        if self.counts_for(token, block):
            return kept + issued[counter]
        # What only some waves issue counts for nobody; what was made here is as new as can be.
        return max(kept, 0)

    def note(self, op: Waiting, here: Distances, issued: dict[str, int], block: Block) -> None:
        """The distances to a wait on one more way to it."""
        tokens: tuple[Token | None, ...] = op.uses or (None,)
        counts = self.found.setdefault(op, {})
        for token in tokens:
            for counter in self.counters:
                if counts is None or (token, counter) not in here:
                    continue
                distance = self.distance(token, counter, here, issued, block)
                if counter in self.groups:
                    distance -= 1  # the end of its own group
                if distance < 0:
                    counts = self.found[op] = None  # its group is still open: no count waits for that
                elif distance < counts.get(counter, distance + 1):
                    counts[counter] = distance

    def forwarded(self, source: int, target: int, end: Distances) -> Distances:
        """What arrives at a block."""
        handed = self.handed[source]
        after: Distances = {}
        for counter in self.counters:
            if (None, counter) in end:
                after[None, counter] = end[None, counter]
            for token in self.live.at_start[target]:
                known = [end.get((value, counter)) for value in handed.get(token, (token,))]
                distances = [distance for distance in known if distance is not None]
                if distances:
                    after[token, counter] = min(distances)
        return after

    def arrive(self, start: Distances, new: Distances) -> bool:
        """Where paths meet the smaller distance counts; whether anything got smaller."""
        changed = False
        for key, distance in new.items():
            # Beyond what any wait can be given, more makes no difference.
            distance = min(distance, MOST + 1)
            if distance < start.get(key, distance + 1):
                start[key] = distance
                changed = True
        return changed
