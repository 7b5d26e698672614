"""The operations of a kernel.

An operation stands in one graph, between `prev` and `next`. An operation that yields a value *is*
that value: others name it in `uses`. `host` refers to the compiler's own node where a kernel came
from one; fencepost never writes to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from fencepost.ir.buffers import View
from fencepost.ir.expr import Condition, Expr, Var
from fencepost.ir.source import FencepostError, Span

if TYPE_CHECKING:
    from fencepost.ir.graph import Graph

LDS_COUNTER = "lds"
"""The counter of plain shared-memory operations."""
WORKGROUP = -1
"""The id of the barrier that every wave of the workgroup belongs to."""


@dataclass(slots=True, eq=False)
class Operation:
    """Anything that stands on a line of its own."""

    mnemonic: ClassVar[str] = ""

    span: Span | None = field(default=None, kw_only=True)
    comment: str = field(default="", kw_only=True)
    """What the text form prints behind the operation."""
    heading: tuple[str, ...] = field(default=(), kw_only=True)
    """Comment lines that the text form prints above the operation."""
    host: object = field(default=None, kw_only=True, repr=False)
    graph: Graph | None = field(default=None, init=False, repr=False)
    prev: Operation | None = field(default=None, init=False, repr=False)
    next: Operation | None = field(default=None, init=False, repr=False)


@dataclass(slots=True, eq=False)
class ValueOperation(Operation):
    """An operation that takes values and may yield one, named `name`."""

    uses: tuple[ValueOperation, ...] = field(default=(), kw_only=True)
    name: str = field(default="", kw_only=True)


# ---------------------------------------------------------------- shared memory


@dataclass(slots=True, eq=False)
class MemoryOperation(ValueOperation):
    """An access to shared memory. Members of one `group` never conflict within one instance."""

    views: tuple[View, ...] = ()
    group: str = field(default="", kw_only=True)

    @property
    def view(self) -> View:
        """The one view of an operation that has just one."""
        (view,) = self.views
        return view


@dataclass(slots=True, eq=False)
class Read(MemoryOperation):
    """Shared memory to registers."""

    mnemonic: ClassVar[str] = "read"


@dataclass(slots=True, eq=False)
class Write(MemoryOperation):
    """Registers to shared memory."""

    mnemonic: ClassVar[str] = "write"


@dataclass(slots=True, eq=False)
class AtomicOp(MemoryOperation):
    """Read-modify-write of shared memory; two atomics do not race with each other."""

    mnemonic: ClassVar[str] = "atomic"


@dataclass(slots=True, eq=False)
class AsyncCopy(MemoryOperation):
    """A copy into shared memory that runs on its own engine and completes in the order of its counter."""

    counter: str = field(default="", kw_only=True)
    default_counter: ClassVar[str] = ""

    def __post_init__(self) -> None:
        self.counter = self.counter or self.default_counter
        if self.counter == LDS_COUNTER:
            # Nothing would tell such a copy from what the wave does itself.
            raise FencepostError(
                f"{LDS_COUNTER!r} counts plain accesses; an async copy needs a counter of its own"
            )


@dataclass(slots=True, eq=False)
class GatherToLDS(AsyncCopy):
    """Global memory straight to shared memory (direct-to-LDS loads, cp.async)."""

    mnemonic: ClassVar[str] = "gather_to_lds"
    default_counter: ClassVar[str] = "load"


@dataclass(slots=True, eq=False)
class TensorLoadToLDS(AsyncCopy):
    """A tile copied by a tensor engine (TDM, TMA), possibly into several buffers at once."""

    mnemonic: ClassVar[str] = "tensor_load_to_lds"
    default_counter: ClassVar[str] = "tensor"


# ---------------------------------------------------------------- everything else that computes


@dataclass(slots=True, eq=False)
class GlobalRead(ValueOperation):
    """Global memory to registers; counts on the `load` counter."""

    mnemonic: ClassVar[str] = "global_read"
    counter: ClassVar[str] = "load"


@dataclass(slots=True, eq=False)
class GlobalWrite(ValueOperation):
    """Registers to global memory; counts on the `store` counter."""

    mnemonic: ClassVar[str] = "global_write"
    counter: ClassVar[str] = "store"


@dataclass(slots=True, eq=False)
class MMA(ValueOperation):
    """A matrix multiply-accumulate."""

    mnemonic: ClassVar[str] = "mma"


@dataclass(slots=True, eq=False)
class Compute(ValueOperation):
    """Anything that touches registers only."""

    mnemonic: ClassVar[str] = "compute"


# ---------------------------------------------------------------- synchronization


@dataclass(slots=True, eq=False)
class SyncOperation(Operation):
    """An operation that orders others."""


@dataclass(slots=True, eq=False)
class SharedMemoryBarrier(SyncOperation):
    """Fence, then rendezvous of all waves; with `wait_async_ops` it drains the async copies first."""

    mnemonic: ClassVar[str] = "barrier"
    wait_async_ops: bool = False


@dataclass(slots=True, eq=False)
class WorkgroupBarrier(SyncOperation):
    """Rendezvous of all waves without a fence."""

    mnemonic: ClassVar[str] = "workgroup_barrier"


@dataclass(slots=True, eq=False)
class SharedMemoryBarrierSignal(SyncOperation):
    """Fence, then arrive at barrier `bar_id`."""

    mnemonic: ClassVar[str] = "signal"
    bar_id: int = WORKGROUP


@dataclass(slots=True, eq=False)
class SharedMemoryBarrierWait(SyncOperation):
    """Block until all waves have arrived at barrier `bar_id` for this phase."""

    mnemonic: ClassVar[str] = "wait"
    bar_id: int = WORKGROUP


@dataclass(slots=True, eq=False)
class MemoryCounterWait(SyncOperation):
    """Block until at most `counts[c]` operations of counter c are outstanding in this wave."""

    mnemonic: ClassVar[str] = "wait_count"
    counts: dict[str, int] = field(default_factory=dict)


# ---------------------------------------------------------------- control flow


@dataclass(slots=True, eq=False)
class Iterate(Operation):
    """A counted loop. Without `stop` the trip count is unknown and may be zero."""

    mnemonic: ClassVar[str] = "loop"
    var: str = ""
    start: int = 0
    stop: int | None = None
    step: int = 1
    body: Graph = field(kw_only=True)

    @property
    def trip(self) -> int | None:
        """How often the body runs, if known."""
        return None if self.stop is None else len(range(self.start, self.stop, self.step))

    @property
    def index(self) -> Expr:
        """The loop's variable as an expression."""
        return Var(self.var)


@dataclass(slots=True, eq=False)
class Conditional(Operation):
    """Two regions of which a wave runs one."""

    mnemonic: ClassVar[str] = "if"
    condition: Condition
    then: Graph = field(kw_only=True)
    orelse: Graph = field(kw_only=True)


@dataclass(slots=True, eq=False)
class Branch(Operation):
    """Go on at block `target`."""

    mnemonic: ClassVar[str] = "br"
    target: str = ""


@dataclass(slots=True, eq=False)
class CondBranch(Operation):
    """Go on at block `then` or `orelse`; `trip` is how often a loop that this closes is expected to run."""

    mnemonic: ClassVar[str] = "cond_br"
    condition: Condition
    then: str = ""
    orelse: str = ""
    trip: int | None = None


@dataclass(slots=True, eq=False)
class Return(Operation):
    """The end of the kernel."""

    mnemonic: ClassVar[str] = "return"


Terminator = Branch | CondBranch | Return


def regions(op: Operation) -> tuple[Graph, ...]:
    """The graphs inside `op`."""
    if isinstance(op, Iterate):
        return (op.body,)
    if isinstance(op, Conditional):
        return (op.then, op.orelse)
    return ()
