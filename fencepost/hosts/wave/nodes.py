"""Wave's nodes: what kind of operation each one is, and its arguments by name.

Wave wraps a node in an object of its operation's class to look at it, which takes longer than all that is asked of
the node here. So classes are distinguished by their names, once per class, and arguments are read where they stand.
Nothing is written to a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

Node = Any
"""A `torch.fx.Node`: Wave hangs attributes of its own onto it, so its type says little."""


class Kind(Enum):
    """What a node is to us. The value is the name of Wave's class; its subclasses are of the same kind."""

    ALLOCATE = "Allocate"
    READ = "Read"
    WRITE = "Write"
    ATOMIC = "AtomicOp"
    SCATTER = "ScatterAdd"
    GATHER = "GatherToLDS"
    TENSOR_LOAD = "TensorLoadToLDS"
    BARRIER = "SharedMemoryBarrier"
    SIGNAL = "SharedMemoryBarrierSignal"
    WAIT = "SharedMemoryBarrierWait"
    WORKGROUP_BARRIER = "WorkgroupBarrier"
    COUNTER_WAIT = "MemoryCounterWait"
    ITERATE = "Iterate"
    CONDITIONAL = "Conditional"
    ITER_ARG = "IterArg"
    PLACEHOLDER = "Placeholder"
    GET_RESULT = "GetResult"
    OUTPUT = "Output"
    MMA = "MMABase"
    SCALAR = "NewScalar"
    COMPARISON = "ComparisonPyOp"
    SCHEDULING = "SchedulingBarrier"
    SCHEDULING_GROUP = "SchedulingGroupBarrier"
    PRIORITY = "SetWavePrio"
    BINDING = "SetSymbol"
    COMPUTE = "compute"
    """Arithmetic in registers: the classes of `IN_REGISTERS`."""
    OTHER = ""
    """A class that is not in the table: it may do anything to shared memory."""

    # Members are compared by identity; what Enum hashes by is a name, and slow.
    __hash__ = object.__hash__


ACCESSES = frozenset((Kind.READ, Kind.WRITE, Kind.ATOMIC, Kind.SCATTER, Kind.GATHER, Kind.TENSOR_LOAD))
ATOMICS = frozenset((Kind.ATOMIC, Kind.SCATTER))
FORWARDED = frozenset((Kind.ALLOCATE, Kind.ITER_ARG, Kind.GET_RESULT, Kind.PLACEHOLDER))
"""Nodes that can stand for shared memory."""
IN_REGISTERS = frozenset(
    (
        "ApplyExpr",
        "BinaryPyOp",
        "BitcastOp",
        "BoundsCheck",
        "Broadcast",
        "CastOp",
        "Extract",
        "ExtractSlice",
        "NewRegister",
        "Permute",
        "Reshape",
        "SelectOp",
        "SelfIndex",
        "ShuffleOp",
        "SoftsignOp",
        "UnaryPyOp",
    )
)
"""Wave's classes that neither wait nor touch shared memory by themselves.

Reductions, scans and `TopkOp` are not among them: Wave takes them apart, with scratch memory, before barriers are
placed. One that is left would get its accesses behind our back.
"""
SILENT = frozenset(
    (
        Kind.ALLOCATE,
        Kind.ITER_ARG,
        Kind.PLACEHOLDER,
        Kind.OUTPUT,
        Kind.SCALAR,
        Kind.BINDING,
        Kind.SCHEDULING,
        Kind.SCHEDULING_GROUP,
        Kind.PRIORITY,
    )
)
"""Nodes that do nothing when the kernel runs, or nothing that waits or touches memory."""
LOCAL = SILENT | ACCESSES | {Kind.MMA, Kind.COMPARISON, Kind.COMPUTE, Kind.OTHER}
"""Nodes that have nothing to do with shared memory, unless they are found to access it."""

_BY_NAME = {kind.value: kind for kind in Kind if kind.value} | dict.fromkeys(IN_REGISTERS, Kind.COMPUTE)
_known: dict[type, Kind] = {}


def class_of(node: Node) -> type | None:
    """The class of Wave's operation that a node is; None for nodes that Wave did not make."""
    found = getattr(node, "tkw_op", None)
    # Copies of nodes have an operation there instead of its class.
    return found if found is None or isinstance(found, type) else type(found)


def kind_of(node: Node) -> Kind:
    """What kind of operation a node is."""
    cls = getattr(node, "tkw_op", None)
    if not isinstance(cls, type):
        cls = class_of(node)
        if cls is None:
            return {"placeholder": Kind.PLACEHOLDER, "output": Kind.OUTPUT}.get(node.op, Kind.OTHER)
    kind = _known.get(cls)
    if kind is None:
        named = (_BY_NAME[base.__name__] for base in cls.__mro__ if base.__name__ in _BY_NAME)
        kind = _known[cls] = next(named, Kind.OTHER)
    return kind


@dataclass(frozen=True, slots=True)
class Fields:
    """Where the arguments of an operation stand that are read here."""

    memory: int
    """The shared memory that it touches."""
    elements: int | None = None
    mapping: int | None = None


FIELDS = {
    Kind.READ: Fields(0, 1, 2),
    Kind.WRITE: Fields(1, 2, 3),
    Kind.ATOMIC: Fields(1, 2, 3),
    Kind.SCATTER: Fields(3, 5, 4),
    Kind.GATHER: Fields(1, 5, 7),
    Kind.TENSOR_LOAD: Fields(1),
}

REGION_OF = {Kind.ITERATE: 2, Kind.CONDITIONAL: 1}
"""Where loops and conditionals keep the name of their region."""
ITERATE_INIT = 1
"""Where a loop keeps what it begins with."""


def argument(node: Node, place: int | None) -> Any:
    """An argument of a node; None if it was left out."""
    return node.args[place] if place is not None and place < len(node.args) else None


def outermost(node: Node) -> Node:
    """The node that a region's placeholder stands for."""
    while node.op == "placeholder" and node.meta.get("lifted") is not None:
        node = node.meta["lifted"]
    return node


def loop_and_place(node: Node) -> tuple[Node, int] | None:
    """For an argument or a result of a loop: the loop, and the place of the value among those that it carries."""
    kind = kind_of(node)
    if kind is Kind.ITER_ARG:
        loop, place = getattr(node.graph, "parent_op", None), getattr(node, "iter_idx", None)
    elif kind is Kind.GET_RESULT:
        loop, place = node.args[0], node.args[1]
    else:
        return None
    if loop is None or kind_of(loop) is not Kind.ITERATE or not isinstance(place, int):
        return None
    return loop, place
