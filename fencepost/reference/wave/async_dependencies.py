"""Tell each barrier that drains which async operations it waits for, by name.

Every async operation that is in flight at a barrier becomes a dependency of it. Where the operation and the barrier
stand in different regions the name is forwarded: a loop carries it to the next iteration (its initial value is what
comes from before the loop), a conditional gives it, and where a path has nothing to wait for, `null_async_dep`
says so. Blocks with branches between them hand nothing on; there a barrier that drains stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.flow import Block, Flow, build_flow
from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from fencepost.ir.loop_carried import carry, names_of, stands_for
from fencepost.ir.trace import CapturedTrace, Graph, trace_of

Waiting = ops.SharedMemoryBarrier | ops.MemoryCounterWait


def add_async_dependencies(trace: CapturedTrace | Kernel) -> None:
    """Name what every barrier that drains, and names nothing yet, waits for."""
    trace = trace_of(trace)
    if len(trace.blocks) > 1:
        return
    threading = _Threading(trace)
    for barrier, copies in _in_flight_at(build_flow(trace)).items():
        for copy in copies:
            token = threading.value_before(copy, barrier)
            if token not in barrier.uses and not isinstance(token, ops.NullAsyncDep):
                barrier.uses = (*barrier.uses, token)
    threading.finish()


def _in_flight_at(flow: Flow) -> dict[Waiting, list[ops.AsyncOperation]]:
    """For each barrier of the kernel that drains, the async operations that nothing has waited for before.

    What a function has left in flight has no name here: a barrier that waits for that, too, is not among them.
    """
    everything = [op for block in flow.blocks for op in block.ops if isinstance(op, ops.AsyncOperation)]
    copies = list(dict.fromkeys(everything))
    unnamed = {op for block in flow.blocks if block.calls for op in block.ops}
    bit = {copy: 1 << number for number, copy in enumerate(copies)}
    found: dict[Waiting, int] = {}
    starts = [0] * len(flow.blocks)
    todo = list(reversed(flow.order))
    queued = set(todo)
    while todo:
        index = todo.pop()
        queued.discard(index)
        block = flow.blocks[index]
        in_flight = _run_block(block, starts[index], bit, found)
        for target in block.successors:
            if in_flight & ~starts[target]:
                starts[target] |= in_flight
                if target not in queued:
                    queued.add(target)
                    todo.append(target)
    waited = {op: [copy for copy in copies if bits & bit[copy]] for op, bits in found.items()}
    return {op: named for op, named in waited.items() if not unnamed.intersection(named)}


def _run_block(
    block: Block, in_flight: int, bit: dict[ops.AsyncOperation, int], found: dict[Waiting, int]
) -> int:
    """What is in flight behind a block; notes what is at each barrier of the kernel in it that drains."""
    for op in block.ops:
        if isinstance(op, ops.AsyncOperation):
            in_flight |= bit.get(op, 0)
        elif isinstance(op, Waiting) and op.drains:
            if not op.uses and not block.calls:
                found[op] = found.get(op, 0) | in_flight
            in_flight = 0
    return in_flight


@dataclass(slots=True)
class _Threading:
    """Makes the name of an operation's latest run known wherever it is needed."""

    trace: CapturedTrace
    around: dict[ops.AsyncOperation, list[Graph]] = field(default_factory=dict)
    """For each operation, the regions that it stands in."""
    carried: dict[tuple[ops.AsyncOperation, ops.Operation], ops.Carried] = field(default_factory=dict)
    nothing: ops.NullAsyncDep | None = None
    taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.taken = set(self.trace.buffers)
        for op in self.trace.preorder_walk():
            if isinstance(op, ops.ValueOperation):
                self.taken.add(op.name)
            if isinstance(op, ops.Iterate):
                self.taken.add(op.var)
            if isinstance(op, ops.Iterate | ops.Conditional):
                self.taken.update(name.name for name in names_of(op))

    def value_before(self, copy: ops.AsyncOperation, at: ops.Operation) -> ops.ValueOperation:
        """What stands for the latest run of `copy` right before `at`."""
        assert at.graph is not None
        return self.value_from(copy, at.prev, at.graph)

    def value_from(
        self, copy: ops.AsyncOperation, at: ops.Operation | None, graph: Graph
    ) -> ops.ValueOperation:
        """What stands for the latest run of `copy` right behind `at`; None is the start of `graph`."""
        here, region = at, graph
        while True:
            while here is not None:
                if here is copy:
                    return self.named(copy)
                if isinstance(here, Waiting) and here.drains:
                    return self.null()
                if isinstance(here, ops.Iterate | ops.Conditional) and self.is_around(here, copy):
                    return self.forwarded(copy, here)
                here = here.prev
            owner = region.owner
            if owner is None:
                return self.null()
            if isinstance(owner, ops.Iterate) and self.is_around(owner, copy):
                return self.forwarded(copy, owner)
            assert owner.graph is not None
            here, region = owner.prev, owner.graph

    def is_around(self, op: ops.Operation, copy: ops.AsyncOperation) -> bool:
        """Whether `copy` stands in a loop or conditional."""
        if copy not in self.around:
            found, graph = [], copy.graph
            while graph is not None:
                found.append(graph)
                graph = graph.owner.graph if graph.owner is not None else None
            self.around[copy] = found
        return any(graph.owner is op for graph in self.around[copy])

    def forwarded(self, copy: ops.AsyncOperation, owner: ops.Iterate | ops.Conditional) -> ops.ValueOperation:
        """The name under which a loop or conditional hands `copy` on."""
        known = self.carried.get((copy, owner))
        if known is not None:
            return known
        if isinstance(owner, ops.Iterate):
            name = carry(self.fresh("dep"), self.value_before(copy, owner))
            # Known before the body is looked at: it may be what the body forwards.
            self.carried[copy, owner] = name
            owner.carried = (*owner.carried, name)
            _forward(owner.body, ops.Next(), self.value_from(copy, _last(owner.body), owner.body))
            return name
        name = ops.Carried(name=self.fresh("dep"))
        self.carried[copy, owner] = name
        values = [self.value_from(copy, _last(side), side) for side in (owner.then, owner.orelse)]
        stands_for(name, values[0])
        owner.gives = (*owner.gives, name)
        for side, value in zip((owner.then, owner.orelse), values, strict=True):
            _forward(side, ops.Give(), value)
        return name

    def named(self, copy: ops.AsyncOperation) -> ops.AsyncOperation:
        if not copy.name:
            copy.name = self.fresh("copy")
        return copy

    def null(self) -> ops.NullAsyncDep:
        if self.nothing is None:
            self.nothing = ops.NullAsyncDep(name=self.fresh("none"))
        return self.nothing

    def fresh(self, stem: str) -> str:
        number = 0
        while f"{stem}{number}" in self.taken:
            number += 1
        self.taken.add(f"{stem}{number}")
        return f"{stem}{number}"

    def finish(self) -> None:
        """Put the null dependency, if there is one, where everything can see it."""
        if self.nothing is None:
            return
        root = self.trace.get_root_graph()
        if root.first is None:
            root.append(self.nothing)
        else:
            root.insert_before(root.first, self.nothing)


def _last(graph: Graph) -> ops.Operation | None:
    """The last operation of a region that does something."""
    last = graph.last
    return last.prev if isinstance(last, ops.Next | ops.Give) else last


def _forward(graph: Graph, end: ops.Next | ops.Give, value: ops.ValueOperation) -> None:
    """Let a region forward one value more."""
    last = graph.last
    if not isinstance(last, ops.Next | ops.Give):
        last = end
        graph.append(last)
    last.values = (*last.values, value)
