"""The synchronization and asynchronous instructions that a run follows, each as what it does.

`reading_forms` makes them of instructions. A form that is not known is refused by name: nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.exact.tcgen05_forms import TensorCommit, TensorForm, tensor_operands
from fencepost.hosts.ptx.reading.module import Address, Operand


@dataclass(frozen=True)
class HardwareBarrier:
    """`bar` and `barrier`: its number, how many threads it counts (None: all), and whether the threads wait."""

    number: Operand
    count: Operand | None
    waits: bool
    aligned: bool
    predicate: Operand | None = None
    """What `bar.red` combines."""


@dataclass(frozen=True)
class ClusterBarrier:
    """`barrier.cluster.arrive` or `.wait`; a relaxed arrival says nothing of what the thread has written."""

    arrives: bool
    relaxed: bool
    aligned: bool


@dataclass(frozen=True)
class WarpBarrier:
    """`bar.warp.sync` and the lanes that take part."""

    lanes: Operand


@dataclass(frozen=True)
class Elect:
    """`elect.sync`: one lane of the mask gets true."""

    lanes: Operand
    targets: tuple[Operand, ...]


@dataclass(frozen=True)
class Mbarrier:
    """An operation on an mbarrier; `amount` is a count or bytes, `phase` a parity or the state of an arrival."""

    does: Literal[
        "init", "inval", "arrive", "expect", "arrive expect", "wait parity", "wait state", "copies arrive"
    ]
    address: Address
    amount: Operand | None = None
    phase: Operand | None = None
    target: Operand | None = None
    counted: bool = True
    """Whether an arrival was counted at the init (`cp.async.mbarrier.arrive` without `.noinc` adds its own)."""
    relaxed: bool = False
    """Whether it orders nothing but itself."""
    of_block: bool = False
    """Whether it says that it orders what threads of its own block do, and no others (`.cta`)."""
    near: bool = False
    """Whether the mbarrier has to be in the thread's own block."""


@dataclass(frozen=True)
class BulkCopy:
    """`cp.async.bulk`: into shared memory with an mbarrier, or out of it with a group."""

    address: Address
    size: Operand | None
    """None for tensor copies: the tensor map has it."""
    mbarrier: Address | None
    tensor_map: Operand | None
    blocks: Operand | None = None
    """The mask of the blocks that get a copy each, at the same place, which arrives at their mbarriers."""
    source: Address | None = None
    """Where it comes from, if that is shared memory as well."""
    updates: int = 0
    """If it combines (`cp.reduce`), the bytes of each atomic update."""
    near: bool = False
    """Whether what it writes has to be in the block that issues it (`.shared::cta`)."""
    for_pair: bool = False
    """Whether blocks work in pairs (`cta_group::2`): the mbarrier may be in the other block of a pair."""


@dataclass(frozen=True)
class AsyncStore:
    """`st.async` and `red.async`: a store, or an update, that brings its bytes to an mbarrier."""

    address: Address
    mbarrier: Address
    size: int
    updates: int
    """If it combines (`red.async`), the bytes of each atomic update."""


@dataclass(frozen=True)
class Grouping:
    """A commit, or a wait that leaves so many groups in flight: of `cp.async`, bulk copies or wgmma."""

    of: Literal["copies", "bulk", "wgmma"]
    left: int | None
    uncommitted: bool = False
    """`wait_all`: also for what is in no group yet."""


@dataclass(frozen=True)
class Wgmma:
    """`wgmma.mma_async`: its descriptors, each with how many rows it has and whether it is transposed."""

    operands: tuple[tuple[Operand, int, bool], ...]
    element: int
    """Bytes of an element."""


@dataclass(frozen=True)
class ProxyFence:
    """`fence.proxy.async`."""


@dataclass(frozen=True)
class MemoryFence:
    """`fence` and `membar`: what comes before is ordered before a relaxed arrival that comes after, and so on."""

    of_cluster: bool
    """Whether its scope is the cluster, or larger."""


@dataclass(frozen=True)
class InitFence:
    """`fence.mbarrier_init`: a memory fence for mbarriers that were initialized, and for nothing else."""


@dataclass(frozen=True)
class WideMatrix:
    """`wmma.load` and `wmma.store` in shared memory: rows of a fragment, a stride apart."""

    address: Address
    stride: Operand | None
    stores: bool
    rows: int
    length: int
    """Bytes of a row."""
    element: int


@dataclass(frozen=True)
class Harmless:
    """Neither touches shared memory nor waits."""


@dataclass(frozen=True)
class Refused:
    """Not judged, and what it is."""

    why: str


Form = (
    TensorForm
    | HardwareBarrier
    | ClusterBarrier
    | WarpBarrier
    | Elect
    | Mbarrier
    | BulkCopy
    | AsyncStore
    | Grouping
    | Wgmma
    | ProxyFence
    | MemoryFence
    | InitFence
    | WideMatrix
    | Harmless
    | Refused
)


def operands_of(form: Form) -> list[Operand]:
    """The operands that decide where a form goes and whom it waits for."""
    if isinstance(form, HardwareBarrier):
        return [each for each in (form.number, form.count, form.predicate) if each is not None]
    if isinstance(form, WarpBarrier | Elect):
        return [form.lanes]
    if isinstance(form, Mbarrier):
        return [each for each in (form.address, form.amount, form.phase) if each is not None]
    if isinstance(form, BulkCopy):
        every = (form.address, form.size, form.mbarrier, form.tensor_map, form.blocks, form.source)
        return [each for each in every if each is not None]
    if isinstance(form, AsyncStore):
        return [form.address, form.mbarrier]
    if isinstance(form, TensorForm):
        return tensor_operands(form)
    if isinstance(form, Wgmma):
        return [operand for operand, _, _ in form.operands]
    if isinstance(form, WideMatrix):
        return [form.address, *([] if form.stride is None else [form.stride])]
    return []


def brings_bytes(form: Form) -> bool:
    """Whether it completes on an mbarrier, by its bytes or when it is done."""
    return isinstance(form, AsyncStore | TensorCommit) or (
        isinstance(form, BulkCopy) and form.mbarrier is not None
    )


def is_relaxed(form: Form | None) -> bool:
    """Whether it tells others that it has happened, and nothing of what the thread has written."""
    if isinstance(form, Mbarrier) and form.of_block and not form.near:
        return True
    return isinstance(form, ClusterBarrier | Mbarrier) and form.relaxed
