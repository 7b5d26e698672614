"""The operations of a kernel.

An operation stands in one graph, between `prev` and `next`. An operation that yields a value *is*
that value: others name it in `uses`. `host` refers to the compiler's own node where a kernel came
from one; fencepost never writes to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from fencepost.ir.buffers import Buffer, BufferArg, View
from fencepost.ir.expr import Condition, Expr, Var
from fencepost.ir.source import FencepostError, Span

if TYPE_CHECKING:
    from fencepost.ir.trace import Function, Graph

LDS_COUNTER = "lds"
"""The counter of plain shared-memory operations."""
COMMUTATIVE = ("add", "fadd", "and", "or", "xor", "min", "max", "umin", "umax")
"""Updates of atomics that give the same in any order,"""
UPDATES = (*COMMUTATIVE, "exchange", "cas")
"""and all that there are."""
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
    """What it stands for, in a kernel that was made from a host's; if that knows where it was written, it says so."""
    written: str = field(default="", kw_only=True)
    """Where it was written, if the host does not say."""
    graph: Graph | None = field(default=None, init=False, repr=False)
    owner: Operation | None = field(default=None, init=False, repr=False)
    """For a part of an operation that does several things in turn: that operation."""
    prev: Operation | None = field(default=None, init=False, repr=False)
    next: Operation | None = field(default=None, init=False, repr=False)

    @property
    def origin(self) -> str:
        """Where it was written, in the source that a host's kernel was made from: `kernel.py:57`."""
        return self.written or str(getattr(self.host, "origin", ""))


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

    @property
    def noun(self) -> str:
        """What the access is called in a sentence: `write`, `read`, `update`, `copy`."""
        return self.mnemonic


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
    """Read-modify-write of shared memory.

    Two of them need no order if both do the same commutative `update` and nobody uses a result. Those that do not
    say which do one and the same, which commutes.
    """

    mnemonic: ClassVar[str] = "atomic"
    update: str = field(default="", kw_only=True)

    @property
    def noun(self) -> str:
        """Its name in a sentence."""
        return "update"

    @property
    def commutes(self) -> bool:
        """Whether others of its kind may come before it or after it: nobody can tell."""
        # A result has a name if somebody uses it.
        return not self.name and (not self.update or self.update in COMMUTATIVE)


@dataclass(slots=True, eq=False)
class Exchange(MemoryOperation):
    """Values handed from wave to wave through scratch memory: a write, a barrier inside, a read.

    What layout conversions, reductions and scans do. Nothing can be put between its parts.
    """

    mnemonic: ClassVar[str] = "exchange"

    def parts(self) -> tuple[Operation, ...]:
        """What is executed, one after the other."""
        steps = (
            Write(self.views, uses=self.uses, span=self.span),
            SharedMemoryBarrier(span=self.span),
            Read(self.views, span=self.span),
        )
        for step in steps:
            step.owner, step.graph = self, self.graph
        return steps


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an engine does to an mbarrier once it is done: it arrives `count` times, or brings `bytes`."""

    view: View
    count: int = 0
    bytes: int = 0


@dataclass(slots=True, eq=False)
class AsyncOperation(MemoryOperation):
    """An access by an engine of its own, which completes in the order of its counter.

    Its value, if it is named, stands for its being complete: a barrier can come `after` it.
    """

    counter: str = field(default="", kw_only=True)
    arrives: Arrival | None = field(default=None, kw_only=True)
    """The mbarrier that the engine arrives on when it is done."""
    default_counter: ClassVar[str] = ""

    def __post_init__(self) -> None:
        self.counter = self.counter or self.default_counter
        if self.counter == LDS_COUNTER:
            # Nothing would tell such an access from what the wave does itself.
            raise FencepostError(
                f"{LDS_COUNTER!r} counts plain accesses; an engine needs a counter of its own"
            )


@dataclass(slots=True, eq=False)
class AsyncCopy(AsyncOperation):
    """A copy into shared memory."""

    @property
    def noun(self) -> str:
        """Its name in a sentence."""
        return "copy"


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


@dataclass(slots=True, eq=False)
class AsyncRead(AsyncOperation):
    """An engine that reads shared memory some time after it was issued."""

    @property
    def noun(self) -> str:
        """Its name in a sentence."""
        return "async read"


@dataclass(slots=True, eq=False)
class AsyncMMA(AsyncRead):
    """A matrix multiplication whose operands stay in shared memory (warp-group MMA)."""

    mnemonic: ClassVar[str] = "async_mma"
    default_counter: ClassVar[str] = "mma"


@dataclass(slots=True, eq=False)
class TensorStoreFromLDS(AsyncRead):
    """A tile stored to global memory by a tensor engine."""

    mnemonic: ClassVar[str] = "tensor_store_from_lds"
    default_counter: ClassVar[str] = "tensor"


# ---------------------------------------------------------------- mbarriers in shared memory


@dataclass(slots=True, eq=False)
class MbarrierInit(Write):
    """Makes an mbarrier: each of its phases is complete after `count` arrivals (and the bytes expected)."""

    mnemonic: ClassVar[str] = "mbarrier_init"
    count: int = field(default=1, kw_only=True)
    until_inval: bool = field(default=False, kw_only=True)
    """Whether its bytes are its own until `mbarrier_inval` (NVIDIA). Else what is written there ends it (AMD)."""


@dataclass(slots=True, eq=False)
class MbarrierInval(Write):
    """Ends an mbarrier: its bytes are memory like any other again."""

    mnemonic: ClassVar[str] = "mbarrier_inval"


@dataclass(slots=True, eq=False)
class MbarrierArrive(AtomicOp):
    """Every wave that runs it arrives `count` times, after all that it did to shared memory itself.

    With a `counter`, it is the engine that arrives, once all that the wave has issued on that counter is complete.
    """

    mnemonic: ClassVar[str] = "mbarrier_arrive"
    count: int = field(default=1, kw_only=True)
    counter: str = field(default="", kw_only=True)


@dataclass(slots=True, eq=False)
class MbarrierExpect(AtomicOp):
    """Arrives once, and makes the phase wait for so many bytes as well."""

    mnemonic: ClassVar[str] = "mbarrier_expect"
    bytes: int = field(default=0, kw_only=True)


@dataclass(slots=True, eq=False)
class MbarrierWait(AtomicOp):
    """Block until the phase of parity `phase` is complete; the phase before the first one counts as complete.

    Whatever was complete when others arrived for that phase is known then. Waves do not meet.
    """

    mnemonic: ClassVar[str] = "mbarrier_wait"
    phase: Expr = field(kw_only=True)


MbarrierOperation = MbarrierInit | MbarrierInval | MbarrierArrive | MbarrierExpect | MbarrierWait


# ---------------------------------------------------------------- everything else that computes


@dataclass(slots=True, eq=False)
class GlobalRead(ValueOperation):
    """Global memory to registers; counts on the `load` counter."""

    mnemonic: ClassVar[str] = "global_read"
    default_counter: ClassVar[str] = "load"
    counter: str = field(default="load", kw_only=True)


@dataclass(slots=True, eq=False)
class GlobalWrite(ValueOperation):
    """Registers to global memory; counts on the `store` counter."""

    mnemonic: ClassVar[str] = "global_write"
    default_counter: ClassVar[str] = "store"
    counter: str = field(default="store", kw_only=True)


@dataclass(slots=True, eq=False)
class MMA(ValueOperation):
    """A matrix multiply-accumulate."""

    mnemonic: ClassVar[str] = "mma"


@dataclass(slots=True, eq=False)
class Compute(ValueOperation):
    """Anything that touches registers only."""

    mnemonic: ClassVar[str] = "compute"


@dataclass(slots=True, eq=False)
class NullAsyncDep(ValueOperation):
    """The dependency on no async operation at all: what a path without one forwards."""

    mnemonic: ClassVar[str] = "null_async_dep"


@dataclass(slots=True, eq=False)
class CommitGroup(Operation):
    """Ends a group of async operations of a counter that counts groups (cp.async.commit_group)."""

    mnemonic: ClassVar[str] = "commit"
    counter: str = ""


# ---------------------------------------------------------------- hints to whoever orders instructions


@dataclass(slots=True, eq=False)
class SchedulingBarrier(Operation):
    """The compiler moves no instruction across it. At run time it is nothing, and it orders no waves."""

    mnemonic: ClassVar[str] = "sched_barrier"


@dataclass(slots=True, eq=False)
class SetWavePrio(Operation):
    """The wave's priority from here on, where waves of one SIMD want to issue at the same time."""

    mnemonic: ClassVar[str] = "set_wave_prio"
    priority: int = 0


# ---------------------------------------------------------------- synchronization


@dataclass(slots=True, eq=False)
class SyncOperation(ValueOperation):
    """An operation that orders others. `uses` are the async operations that it comes after."""


@dataclass(slots=True, eq=False)
class SharedMemoryBarrier(SyncOperation):
    """Waits, fence, then rendezvous of all waves.

    It waits as `counts` says; without counts, and with `wait_async_ops` or dependencies, it drains every counter.
    """

    mnemonic: ClassVar[str] = "barrier"
    wait_async_ops: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    waves: tuple[int, int] | None = field(default=None, kw_only=True)
    """Where only some waves meet: the first of them, and the one behind the last."""

    @property
    def drains(self) -> bool:
        """Whether it waits for everything that is in flight."""
        return not self.counts and (self.wait_async_ops or bool(self.uses))


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
    """Block until at most `counts[c]` operations of counter c are outstanding in this wave.

    With dependencies and without counts it waits for everything that is in flight.
    """

    mnemonic: ClassVar[str] = "wait_count"
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def drains(self) -> bool:
        """Whether it waits for everything that is in flight."""
        return not self.counts


# ---------------------------------------------------------------- control flow


Forwarded = Expr | ValueOperation | Buffer
"""What regions forward: a number, a value (the completion of an async operation), or a buffer."""


NUMBER, VALUE, BUFFER = "a number", "a value", "a buffer"


@dataclass(slots=True, eq=False)
class Carried(ValueOperation):
    """A name that a region forwards: an argument of a loop, or a result of a conditional.

    An argument of a loop begins as `init`, becomes what `next` says after each iteration, and keeps its last value
    behind the loop. A result of a conditional has what the side that was taken `give`s; it has no `init`.
    """

    init: Forwarded | None = None
    kind: str = ""
    """What it stands for: NUMBER, VALUE or BUFFER."""
    buffer: BufferArg | None = None
    """For a name that stands for buffers: what views of it refer to."""


@dataclass(slots=True, eq=False)
class Next(Operation):
    """The end of a loop's body: what its arguments are in the next iteration."""

    mnemonic: ClassVar[str] = "next"
    values: tuple[Forwarded, ...] = ()


@dataclass(slots=True, eq=False)
class Give(Operation):
    """The end of a conditional's side: what its results are."""

    mnemonic: ClassVar[str] = "give"
    values: tuple[Forwarded, ...] = ()


@dataclass(slots=True, eq=False)
class Iterate(Operation):
    """A counted loop. Without `stop` the trip count is unknown and may be zero.

    `expect` is how often a loop of unknown length is expected to run; it guides costs, and nothing relies on it.
    """

    mnemonic: ClassVar[str] = "loop"
    var: str = ""
    start: int = 0
    stop: int | None = None
    step: int = 1
    carried: tuple[Carried, ...] = ()
    body: Graph = field(kw_only=True)
    expect: int | None = field(default=None, kw_only=True)
    upto: str = field(default="", kw_only=True)
    """Where the trip count is not known: the number that the kernel is given and the loop counts up to."""

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
    """Two regions of which a wave runs one.

    `expect` is how likely the first one is, where all waves run the same; it guides costs, and nothing relies on it.
    """

    mnemonic: ClassVar[str] = "if"
    condition: Condition
    gives: tuple[Carried, ...] = ()
    then: Graph = field(kw_only=True)
    orelse: Graph = field(kw_only=True)
    expect: float | None = field(default=None, kw_only=True)


@dataclass(slots=True, eq=False)
class Call(Operation):
    """Runs a function; its allocations stand `frame` bytes further on than the function says."""

    mnemonic: ClassVar[str] = "call"
    function: Function
    frame: int = 0


@dataclass(slots=True, eq=False)
class Branch(Operation):
    """Go on at block `target`, whose numbers become `args`."""

    mnemonic: ClassVar[str] = "br"
    target: str = ""
    args: tuple[Expr, ...] = ()
    names: tuple[Carried, ...] = field(default=(), init=False, repr=False)
    """The numbers of the target, in the same order; known once the kernel is verified."""


@dataclass(slots=True, eq=False)
class CondBranch(Operation):
    """Go on at block `then` or `orelse`.

    `trip` is how often a loop that this closes is expected to run, `expect` how likely `then` is where all waves go
    the same way; there is one or the other. They guide costs, and nothing relies on them.
    """

    mnemonic: ClassVar[str] = "cond_br"
    condition: Condition
    then: str = ""
    orelse: str = ""
    trip: int | None = None
    expect: float | None = field(default=None, kw_only=True)


@dataclass(slots=True, eq=False)
class Return(Operation):
    """The end of the kernel."""

    mnemonic: ClassVar[str] = "return"


Terminator = Branch | CondBranch | Return


NESTING = (Iterate, Conditional)
"""Operations that have graphs inside."""


def regions(op: Operation) -> tuple[Graph, ...]:
    """The graphs inside `op`."""
    if isinstance(op, Iterate):
        return (op.body,)
    if isinstance(op, Conditional):
        return (op.then, op.orelse)
    return ()


def counter_of(op: Operation) -> str:
    """The counter that `op` counts on, or on which it ends a group; empty if there is none.

    An engine that arrives on an mbarrier once a counter is down to zero counts as nothing itself.
    """
    if isinstance(op, (AsyncOperation, GlobalRead, GlobalWrite, CommitGroup)):
        return op.counter
    return ""
