"""Triton's membar analysis, operation by operation: the readable form of the `eager` strategy.

Forward over the program points, with a `BlockInfo` at each and a barrier right before the first access that needs
one. Functions are not expanded: each is looked at once, after those that it calls, and callers use its `Summary`.
For whatever a caller may have pending there are stand-ins, one for what is committed and one for each counter:
accesses to no bytes at all, which are waited for and cleared like any others. What a function accesses while a
stand-in is pending can meet the caller's accesses; if it conflicts with them, a barrier stands in front of the call.

Invariant: with the barriers of `membar` nothing is left uncovered. For kernels without functions they are those of
`eager`, at the same positions. What a function needs because of its caller gets a barrier in front of the call,
unless a barrier that the function has anyway comes first; `eager` puts it into the function where there is a single
call. Groups, bytes of single waves and slots that depend on loops are not distinguished here; divergent
conditionals are refused.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from fencepost.analysis.conflicts import Filter
from fencepost.flow import Block, Flow, Position, build_flow
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace
from fencepost.reference.membar.async_filter import filter_async_write_dependencies, is_synced_via_wait
from fencepost.reference.membar.block_info import Access, Accesses, Between, BlockInfo, Need
from fencepost.reference.membar.function_summary import Summary, counter_of

__all__ = [
    "Access",
    "Between",
    "BlockInfo",
    "Need",
    "Summary",
    "filter_async_write_dependencies",
    "is_synced_via_wait",
    "membar",
    "summarize",
]


def membar(trace: CapturedTrace, ignore: Filter | None = None) -> dict[Position, Need]:
    """Where the kernel lacks barriers: each right before the first access or call that needs one, and why.

    A barrier that has to wait first waits for everything in flight. Pairs that `ignore` says so of are left alone.
    """
    analysis = _Membar.of(trace, ignore)
    analysis.solve(0, BlockInfo())
    return analysis.chosen


def summarize(trace: CapturedTrace, ignore: Filter | None = None) -> dict[str, Summary]:
    """The summary of each function that the kernel calls, with the barriers that the function itself lacks."""
    return _Membar.of(trace, ignore).summaries


@dataclass(slots=True)
class _Membar:
    """The analysis of one kernel and of the functions that it calls."""

    flow: Flow
    ignore: Filter | None
    groups: set[str] = field(default_factory=set)
    """Counters that count groups."""
    stand_ins: dict[str, Access] = field(default_factory=dict)
    """By counter; the one for what a caller has committed has the empty name."""
    reached: defaultdict[str, Accesses] = field(default_factory=lambda: defaultdict(dict))
    """What has been accessed so far while each stand-in was pending."""
    summaries: dict[str, Summary] = field(default_factory=dict)
    chosen: dict[Position, Need] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: CapturedTrace, ignore: Filter | None) -> _Membar:
        """With its functions done, and the kernel itself still to do."""
        made = cls(build_flow(trace), ignore)
        _refuse_divergence(made.flow)
        made.stand_ins[""] = Access(ops.Write())
        entries: dict[str, int] = {}
        for block in made.flow.blocks:
            for op in block.ops:
                if isinstance(op, ops.AsyncOperation) and op.counter not in made.stand_ins:
                    made.stand_ins[op.counter] = Access(ops.AsyncCopy(counter=op.counter))
                elif isinstance(op, ops.CommitGroup):
                    made.groups.add(op.counter)
            if isinstance(block.anchor, ops.Call):
                entries.setdefault(block.anchor.function.name, block.successors[0])
        for function in trace.functions():
            made.summaries[function.name] = made.summary_of(entries[function.name])
        return made

    def summary_of(self, entry: int) -> Summary:
        """Choose the barriers of a function, then see what they let through."""
        caller = BlockInfo()
        for counter, access in self.stand_ins.items():
            caller.issue(access.op, in_group=counter in self.groups)
        self.solve(entry, caller)
        self.reached.clear()
        end = self.solve(entry, caller)
        issued = {
            counter: end.in_flight.pop(access) - caller.in_flight[access]
            for counter, access in self.stand_ins.items()
            if access in end.in_flight
        }
        kept = {counter for counter, access in self.stand_ins.items() if access in end.sync_writes}
        for counter in kept:
            del end.sync_writes[self.stand_ins[counter]]
        first = self.reached.pop("", {})
        return Summary(first, dict(self.reached), end, "" not in kept, issued, frozenset(kept - {""}))

    def solve(self, entry: int, start: BlockInfo) -> BlockInfo:
        """Go round a function, or the kernel, until nothing changes; returns what is pending at its end."""
        starts, dirty, end = {entry: start.copy()}, {entry}, BlockInfo()
        order = self.blocks_from(entry)
        while dirty:
            for block in (block for block in order if block in dirty):
                dirty.discard(block)
                info = starts[block].copy()
                self.walk(self.flow.blocks[block], info)
                following = self.following(block)
                for target in following:
                    if target not in starts:
                        starts[target] = info.copy()
                        dirty.add(target)
                    elif starts[target].join(info):
                        dirty.add(target)
                if not following:
                    end.join(info)
        return end

    def walk(self, block: Block, info: BlockInfo) -> None:
        """Take `info` from the start of a block to its end, and through the call that follows if one does."""
        for gap, op in enumerate(block.ops):
            if not isinstance(op, ops.MemoryOperation):
                self.pass_by(op, info)
                continue
            position = Position(block.origin, gap)
            self.pass_chosen(position, info)
            self.choose(position, info.needs(op, ignore=self.ignore), info)
            accesses: Accesses = {Access(op): None}
            self.reach(accesses, dict.fromkeys(self.stand_ins, accesses), info)
            info.issue(op, in_group=counter_of(Access(op)) in self.groups)
        if isinstance(block.anchor, ops.Call):
            callee = self.summaries[block.anchor.function.name].at(block.anchor.frame)
            position = Position(block.origin, len(block.ops))
            self.pass_chosen(position, info)
            self.choose(position, callee.needs(info, self.ignore), info)
            self.reach(callee.first, callee.unordered, info)
            callee.pass_through(info)

    def pass_by(self, op: ops.Operation, info: BlockInfo) -> None:
        """An operation that accesses no shared memory. A barrier without a fence orders nothing."""
        if isinstance(op, ops.SharedMemoryBarrier | ops.MemoryCounterWait):
            if op.drains:
                info.drain()
            for counter, most in op.counts.items():
                info.wait(counter, most)
            if isinstance(op, ops.SharedMemoryBarrier):
                info.barrier()
        elif isinstance(op, ops.CommitGroup) or (
            isinstance(op, ops.GlobalRead | ops.GlobalWrite) and op.counter not in self.groups
        ):
            info.count(op.counter)

    def pass_chosen(self, position: Position, info: BlockInfo) -> None:
        """The barrier that has been put at a position, if one has."""
        if position in self.chosen:
            if self.chosen[position].between is Between.WAIT_AND_BARRIER:
                info.drain()
            info.barrier()

    def choose(self, position: Position, need: Need, info: BlockInfo) -> None:
        """Put a barrier at a position, if one is needed there."""
        if need.between:
            self.chosen[position] = self.chosen.get(position, Need()).joined(need)
            self.pass_chosen(position, info)

    def reach(self, first: Accesses, unordered: dict[str, Accesses], info: BlockInfo) -> None:
        """Note accesses that can meet what a caller has pending: committed, or still in flight."""
        for counter, stand_in in self.stand_ins.items():
            if stand_in in info.sync_writes:
                self.reached[counter].update(first)
            if stand_in in info.in_flight:
                self.reached[counter].update(unordered.get(counter, {}))

    def blocks_from(self, entry: int) -> list[int]:
        """The blocks of the kernel or of one function, in the order of the flow."""
        found, todo = {entry}, [entry]
        while todo:
            following = self.following(todo.pop())
            todo += [block for block in following if block not in found]
            found.update(following)
        rank = {block: number for number, block in enumerate(self.flow.order)}
        return sorted(found, key=lambda block: (rank.get(block, 0), block))

    def following(self, block: int) -> list[int]:
        """Where execution can go within the same function; functions that are called are stepped over."""
        blocks = self.flow.blocks
        depth = len(blocks[block].calls)
        if isinstance(blocks[block].anchor, ops.Call):
            return [
                next(after for after in range(block + 1, len(blocks)) if len(blocks[after].calls) == depth)
            ]
        return [target for target in blocks[block].successors if len(blocks[target].calls) == depth]


def _refuse_divergence(flow: Flow) -> None:
    guards = [guard for block in flow.blocks for guard in block.guards]
    if guards:
        raise FencepostError(
            "membar knows no divergent conditionals",
            [Mark(guards[0].branch.span, "only some waves take each side")],
            notes=[("help", "`insert_barriers` places barriers around them")],
            source=flow.trace.source,
        )
