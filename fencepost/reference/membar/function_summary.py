"""What a caller has to know of a function, so that it can be looked at once and not for each call."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.analysis.conflicts import Filter
from fencepost.ir import ops
from fencepost.reference.membar.block_info import Access, Accesses, BlockInfo, Need


@dataclass(frozen=True, slots=True)
class Summary:
    """A function as its callers see it: what it meets, what it orders, what it leaves behind."""

    first: Accesses
    """What it can access before its first barrier: these meet what a caller has committed."""
    unordered: dict[str, Accesses]
    """For each counter, what it can access before a wait and then a barrier have ordered what a caller has in
    flight: these meet it. A barrier alone does not shield them."""
    last: BlockInfo
    """Its own accesses that are pending at its end."""
    clears: bool
    """Whether every path through it passes a barrier."""
    issued: dict[str, int]
    """For each counter of which a caller's operations can still be in flight at the end: how many more are then
    certain to have been issued."""
    completed: frozenset[str]
    """Counters of which a caller's operations can be complete at the end, and not ordered."""

    def at(self, frame: int) -> Summary:
        """The same for a call whose frame stands at `frame`."""

        def there(accesses: Accesses) -> Accesses:
            return {Access(op, offset + frame): None for op, offset in accesses}

        in_flight = {Access(op, offset + frame): later for (op, offset), later in self.last.in_flight.items()}
        last = BlockInfo(there(self.last.sync_writes), there(self.last.sync_reads), in_flight)
        unordered = {counter: there(accesses) for counter, accesses in self.unordered.items()}
        return Summary(there(self.first), unordered, last, self.clears, self.issued, self.completed)

    def needs(self, info: BlockInfo, ignore: Filter | None = None) -> Need:
        """What must lie between what a caller has pending and the call."""
        need = Need()
        committed = BlockInfo(info.sync_writes, info.sync_reads)
        for op, frame in self.first:
            need = need.joined(committed.needs(op, frame, ignore))
        for counter, accesses in self.unordered.items():
            in_flight = {
                access: later for access, later in info.in_flight.items() if counter_of(access) == counter
            }
            for op, frame in accesses:
                need = need.joined(BlockInfo(in_flight=in_flight).needs(op, frame, ignore))
        return need

    def pass_through(self, info: BlockInfo) -> None:
        """Turn what is pending in front of the call into what is pending behind it."""
        if self.clears:
            info.barrier()
        in_flight, info.in_flight = info.in_flight, {}
        for access, later in in_flight.items():
            counter = counter_of(access)
            if counter in self.issued:
                info.in_flight[access] = later + self.issued[counter]
            elif counter in self.completed:
                info.commit(access)
        info.join(self.last)


def counter_of(access: Access) -> str:
    """The counter of an engine's access; empty for what a wave does itself."""
    return access.op.counter if isinstance(access.op, ops.AsyncOperation) else ""
