"""A trace of Wave as a kernel: what it does to shared memory, region by region.

Hosts translate, they decide nothing: every operation of the kernel has the node that it stands for as its `host`, so
that a barrier lands in front of the right one and a report names the user's line. What happens in registers is left
out, unless there are barriers without a fence: then it says when values have arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fencepost.hosts.wave.accesses import Access, Accesses
from fencepost.hosts.wave.atomics import find_order
from fencepost.hosts.wave.conditions import Conditions
from fencepost.hosts.wave.expanded_nodes import find_acts
from fencepost.hosts.wave.graph_regions import RegionWriter
from fencepost.hosts.wave.launch import symbols_in_use, workgroup_of
from fencepost.hosts.wave.lds import ANYWHERE, allocations
from fencepost.hosts.wave.naming import names_of, unused
from fencepost.hosts.wave.nodes import ACCESSES, FORWARDED, REGION_OF, Kind, Node, kind_of
from fencepost.hosts.wave.program_order import Order, in_order
from fencepost.hosts.wave.scheduling_regions import WholeWriter
from fencepost.hosts.wave.synchronization import SYNCHRONIZE
from fencepost.hosts.wave.thread_numbers import Numbers, Workgroup
from fencepost.hosts.wave.thread_private import Threads, find_thread_private, may_stay_apart
from fencepost.hosts.wave.touched_bytes import Footprints
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer
from fencepost.ir.builder import Kernel
from fencepost.ir.limits import MOST_WAVES
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace, Graph

LANES_APART = 2
"""Waves that a single one counts as: without a barrier a compiler may move a lane's write past another's read."""


@dataclass(slots=True)
class Translation:
    """A kernel, and the trace that it was made from."""

    trace: CapturedTrace
    wave_trace: Any
    workgroup: Workgroup | None
    """None if nobody said how many waves there are."""
    accesses: Accesses
    unknown: list[Node] = field(default_factory=list)
    """Operations that are taken to touch all of the memory that they are given, or all of shared memory."""
    synchronization: list[Node] = field(default_factory=list)
    """Barriers and waits that stand in the trace."""
    timed: bool = False
    """Whether the kernel says how long things take."""

    def some_stay_apart(self, pairs: Iterable[tuple[Node, Node]]) -> bool:
        """Whether there is a pair of nodes that touch no byte in common in different threads."""
        group = self.workgroup
        if group is None or group.waves == 1 or not may_stay_apart(self.accesses):
            return False
        bundles = {
            (mine.bundle, theirs.bundle)
            for one, other in pairs
            for mine in self.accesses.of.get(one, ())
            for theirs in self.accesses.of.get(other, ())
        }
        threads = Threads(group)
        return any(threads.keep_apart(mine, theirs) for mine, theirs in bundles)

    def region(self, graph: Graph) -> Any:
        """The region of the trace that a region of the kernel stands for; None for a side that it does not have."""
        owner = graph.owner
        if owner is None:
            return self.wave_trace.get_root_graph()
        if isinstance(owner, ops.Conditional) and graph is owner.orelse:
            return None
        host: Node = owner.host
        return self.wave_trace.get_subgraph(host.args[REGION_OF[kind_of(host)]])


# many parameters because each is an option of its own, and callers give one or two
def translate(
    wave_trace: Any,
    constraints: Sequence[Any] = (),
    *,
    symbols: Mapping[Any, Any] | None = None,
    timed: bool = False,
    without: frozenset[Node] = frozenset(),
    exact: bool = True,
    whole: bool = False,
) -> Translation:
    """The kernel that a captured trace is.

    `constraints` are those of Wave's kernel: without them nothing that depends on the thread is known. `symbols` are
    the sizes that it is compiled for; by default those of the compilation that is going on. With `timed`, matrix
    operations and accesses to global memory are translated too, which say how long things take. `without` are
    barriers of the trace that the kernel does not get; they go when it is written back. Without `exact`, waves are
    not distinguished, which is quicker and asks for more. With `whole`, nothing is left out, and each node is an
    operation of its own.
    """
    workgroup = workgroup_of(constraints)
    if workgroup is not None and workgroup.waves > MOST_WAVES:
        raise FencepostError(f"{workgroup.waves} waves; a workgroup has at most {MOST_WAVES}", code="FP422")
    waves = max(LANES_APART, workgroup.waves if workgroup is not None else 0)
    numbers = Numbers(workgroup, symbols_in_use() if symbols is None else symbols)
    order = in_order(wave_trace)
    shared = allocations(order.of(Kind.ALLOCATE), numbers)
    accesses = Accesses(Footprints(numbers), {found.node: found for found in shared})
    _find_accesses(accesses, order)
    if exact and workgroup is not None and workgroup.waves > 1:
        find_thread_private(accesses, workgroup)
    kernel = Kernel(name_of(wave_trace), waves=waves)
    registers = {node.args[0]: node.args[1] for node in order.of(Kind.BINDING)}
    writer = (WholeWriter if whole else RegionWriter)(
        kernel,
        wave_trace,
        order.kinds,
        accesses,
        Conditions(numbers, registers),
        _buffers(kernel, accesses),
        without,
        followed=whole or Kind.WORKGROUP_BARRIER in order.by_kind,
        timed=timed,
        counted=whole or Kind.COUNTER_WAIT in order.by_kind,
    )
    writer.region(wave_trace.get_root_graph())
    unknown = [node for node, found in accesses.of.items() if any(_is_unknown(each) for each in found)]
    unknown += [node for node in order.of(Kind.OTHER) if node not in accesses.of]
    existing = [node for kind in SYNCHRONIZE for node in order.of(kind)]
    return Translation(kernel.trace, wave_trace, workgroup, accesses, unknown, existing, timed)


def _find_accesses(accesses: Accesses, order: Order) -> None:
    for node, kind in order.kinds.items():
        if kind in ACCESSES:
            accesses.add(node, kind)
        elif kind in FORWARDED:
            accesses.add_users(node)
    if accesses.allocations or accesses.of:
        for node in order.of(Kind.OTHER):
            accesses.add_unknown(node)
    accesses.join_reads()
    find_acts(accesses)
    find_order(accesses)


def _is_unknown(access: Access) -> bool:
    return access.bundle.kind is Kind.OTHER or access.bundle.allocation is ANYWHERE


def _buffers(kernel: Kernel, accesses: Accesses) -> dict[Node, Buffer]:
    """A buffer for each allocation, as long as what is accessed through it, and one for all of them if need be."""
    longest: dict[int, int] = {}
    anywhere = False
    for bundle in accesses.bundles.values():
        anywhere = anywhere or bundle.allocation is ANYWHERE
        if bundle.hi is not None:
            # Memory that loops pass on has one size, so all allocations of that size grow alike.
            size = bundle.allocation.size
            longest[size] = max(longest.get(size, size), bundle.hi)
    sizes = {node: longest.get(found.size, found.size) for node, found in accesses.allocations.items()}
    offsets = {node: found.offset for node, found in accesses.allocations.items()}
    end = max((at + sizes[node] for node, at in offsets.items() if at is not None), default=0)
    if anywhere:
        # What lies somewhere of its own gets an address behind the others: memory of unknown origin may be there.
        for node, at in offsets.items():
            if at is None:
                offsets[node], end = end, end + sizes[node]
    names = names_of(accesses)
    found = {
        node: kernel.shared(names[node], bytes=sizes[node], offset=offsets[node])
        for node in accesses.allocations
    }
    if anywhere:
        name = unused("anywhere", set(names.values()))
        found[ANYWHERE.node] = kernel.shared(name, bytes=max(end, 1), offset=0)
    return found


def name_of(wave_trace: Any) -> str:
    """What the user calls the kernel, as the text form can spell it."""
    name = getattr(getattr(wave_trace.region_graph, "func", None), "__name__", "") or "kernel"
    word = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
    return word if word[:1].isalpha() or word.startswith("_") else f"k{word}"
