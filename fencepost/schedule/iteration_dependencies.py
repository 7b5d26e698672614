"""What has to keep its order within one iteration when operations of a loop's body are moved.

Iterations stay one behind the other whatever stands where in them, so only pairs within one iteration matter: a
value and its use (a use above the definition means the value of the iteration before, and stays above),
accesses to common bytes of which one writes, writes to global memory and what may see them, synchronization and
whatever it orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fencepost.analysis.access import MemoryAccessType, access_type
from fencepost.ir import ops
from fencepost.ir.buffers import BufferArg, View
from fencepost.ir.expr import Compare, Expr, Var, leaves
from fencepost.ir.loop_carried import names_of
from fencepost.ir.trace import Graph
from fencepost.schedule.overlap import may_overlap


@dataclass(frozen=True, slots=True)
class Dependency:
    """Two operations of one graph that keep their order."""

    first: ops.Operation
    second: ops.Operation
    why: str


def dependencies(graph: Graph) -> list[Dependency]:
    """Every pair of operations of `graph` that must keep its order."""
    members = [_Member(op) for op in graph]
    return [*_values(members), *_accesses(members)]


def broken(wanted: Iterable[Dependency], order: Sequence[ops.Operation]) -> Dependency | None:
    """The first dependency that an order of the operations does not keep."""
    place = {op: number for number, op in enumerate(order)}
    return next((each for each in wanted if place[each.first] > place[each.second]), None)


class _Member:
    """An operation of the graph with everything nested in it."""

    def __init__(self, op: ops.Operation) -> None:
        self.op = op
        self.inside = list(_nested(op))
        self.uses = [value for each in self.inside for value in _used(each)]
        self.names = dict.fromkeys(name for each in self.inside for name in _names(each))
        """Numbers and buffers that it uses by name."""
        self.accesses = [each for each in self.inside if isinstance(each, ops.MemoryOperation)]
        self.unknown = any(isinstance(each, ops.Call | ops.Exchange) for each in self.inside)
        """Whether it may touch any shared memory, and meets other waves inside."""
        self.global_writes = any(isinstance(each, ops.GlobalWrite) for each in self.inside)
        self.global_access = self.global_writes or any(
            isinstance(each, ops.GlobalRead | ops.AsyncOperation) for each in self.inside
        )
        self.synchronizes = self.unknown or any(
            isinstance(each, ops.SyncOperation | ops.CommitGroup) for each in self.inside
        )

    @property
    def counted(self) -> bool:
        """Whether synchronization can be about it."""
        return bool(self.accesses) or self.global_access or self.unknown


def _nested(op: ops.Operation) -> Iterator[ops.Operation]:
    todo = [op]
    while todo:
        each = todo.pop()
        yield each
        todo.extend(inner for region in ops.regions(each) for inner in region)


def _used(op: ops.Operation) -> list[ops.ValueOperation]:
    used: list[ops.ValueOperation] = list(op.uses) if isinstance(op, ops.ValueOperation) else []
    return used + [value for value in _handed(op) if isinstance(value, ops.ValueOperation)]


def _handed(op: ops.Operation) -> Iterable[object]:
    """What an operation gives to names."""
    if isinstance(op, ops.Next | ops.Give):
        return op.values
    return [name.init for name in op.carried] if isinstance(op, ops.Iterate) else ()


def _names(op: ops.Operation) -> Iterator[str]:
    """The numbers and buffers that an operation uses by name."""
    views = list(op.views) if isinstance(op, ops.MemoryOperation) else []
    if isinstance(op, ops.AsyncOperation) and op.arrives is not None:
        views.append(op.arrives.view)
    told: list[object] = [part for view in views for part in (view.buffer, view.slot, view.lo, view.hi)]
    if isinstance(op, ops.Conditional):
        told.append(op.condition)
    if isinstance(op, ops.MbarrierWait):
        told.append(op.phase)
    for each in (*told, *_handed(op)):
        if isinstance(each, BufferArg):
            yield each.name
        elif isinstance(each, Expr | Compare):
            yield from (leaf.name for leaf in leaves(each) if isinstance(leaf, Var))


def _values(members: list[_Member]) -> Iterator[Dependency]:
    where: dict[ops.Operation, int] = {}
    named: dict[str, int] = {}
    for number, member in enumerate(members):
        for each in member.inside:
            where[each] = number
            if isinstance(each, ops.Iterate | ops.Conditional):
                where.update((name, number) for name in names_of(each))
                named.update((name.name, number) for name in names_of(each))
    for number, member in enumerate(members):
        for used in member.names:
            # A loop or conditional gives its names to what stands behind it.
            if named.get(used, number) < number:
                yield Dependency(members[named[used]].op, member.op, f"it uses %{used}")
        for value in dict.fromkeys(member.uses):
            defined = where.get(value)
            if defined is None or defined == number:
                continue
            name = f"%{value.name}"
            if defined < number:
                yield Dependency(members[defined].op, member.op, f"it uses {name}")
            else:
                why = f"it uses {name} of the iteration before, and would use the one of its own"
                yield Dependency(member.op, members[defined].op, why)


def _accesses(members: list[_Member]) -> Iterator[Dependency]:
    touching = [member for member in members if member.counted or member.synchronizes]
    meets: dict[tuple[View, View], bool] = {}
    for number, later in enumerate(touching):
        for earlier in touching[:number]:
            why = _conflict(earlier, later, meets)
            if why:
                yield Dependency(earlier.op, later.op, why)


def _conflict(earlier: _Member, later: _Member, meets: dict[tuple[View, View], bool]) -> str:
    """Why two members keep their order; empty if they need not."""
    if earlier.synchronizes or later.synchronizes:
        return "synchronization stands between what is above and what is below it"
    if (earlier.global_writes and later.global_access) or (earlier.global_access and later.global_writes):
        return "both touch global memory, and one of them writes it"
    for one in earlier.accesses:
        for other in later.accesses:
            if access_type(one) is access_type(other) is MemoryAccessType.READ:
                continue
            for mine in one.views:
                for theirs in other.views:
                    key = (mine, theirs)
                    if key not in meets:
                        meets[key] = may_overlap(mine, theirs)
                    if meets[key]:
                        return f"both touch %{mine.buffer.name}, and one of them writes it"
    return ""
