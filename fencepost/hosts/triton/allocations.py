"""Allocations, and the bytes of views into them.

A view is a stretch of an allocation from `low` on, `size` bytes long, where `low` is an index expression. A part of a
tile that is cut across is no stretch of bytes; such a view stands for the whole tile. Where the module says where
allocations lie (`allocation.offset`), they may share bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from math import prod

from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.mlir.types import MemDesc
from fencepost.hosts.triton.slices import Swizzle, segments
from fencepost.ir.expr import Binary, Const, Expr, Unknown

SCRATCH = (
    *(
        "tt.reduce",
        "tt.scan",
        "tt.histogram",
        "tt.gather",
        "tt.atomic_rmw",
        "tt.atomic_cas",
        "tt.atomic_load",
    ),
    *("ttg.convert_layout", "tt.call"),
)
"""Operations that may need memory of their own."""
OWNERS = frozenset(("ttg.local_alloc", *SCRATCH))
"""Operations that may have memory without a word about where it lies."""
ENOUGH = 2**20
"""More bytes than any workgroup has, for modules that do not say how much theirs has."""
_PADDING = re.compile(r"(\d+):\+(\d+)")


@dataclass(slots=True, eq=False)
class Allocation:
    """Bytes of shared memory: of a `local_alloc`, or the scratch memory of an operation."""

    name: str
    size: int
    offset: int | None
    """Where they lie; None before the module has been allocated, when nothing overlaps."""
    op: Operation
    scattered: bool = False
    """Whether it lies in several pieces, and where a part of it lies is not known."""


@dataclass(frozen=True, slots=True)
class Place:
    """A view of shared memory: which bytes of which allocation."""

    allocation: Allocation
    low: Expr
    """Where it begins; unknown where it may be anywhere in the allocation."""
    size: int
    cut: bool = False
    """Whether it is part of a tile, and where a part of it lies is not known."""
    count: int = 1
    """Where it is several stretches of `size` bytes: how many,"""
    stride: int = 0
    """how far apart they begin,"""
    swizzle: Swizzle | None = None
    """and how far behind that each of them lies, if not at once."""

    def part(self, by: Expr, size: int) -> Place:
        """A stretch of it."""
        if self.cut or isinstance(self.low, Unknown) or isinstance(by, Unknown):
            return Place(self.allocation, UNKNOWN, size)
        if isinstance(self.low, Const) and isinstance(by, Const):
            return Place(self.allocation, Const(self.low.value + by.value), size)
        low = by if self.low == Const(0) else self.low if by == Const(0) else Binary("+", self.low, by)
        return Place(self.allocation, low, size)


UNKNOWN = Unknown()


def view(module: Module, op: Operation, place: Place, index: Expr | None, *, slices: bool = False) -> Place:
    """The view that an operation makes of another one; `index` is the slot that is asked for.

    With `slices`, parts of a tile are distinguished where its layout keeps them together.
    """
    before, after = module.type_of(op.operands[0]), module.type_of(op.results[0])
    if not isinstance(before, MemDesc) or not isinstance(after, MemDesc):
        return Place(place.allocation, UNKNOWN, place.size)
    size = tile_bytes(after)
    if op.name == "ttg.memdesc_index":
        return _slot(module, before, place, index, size)
    if op.name == "ttg.memdesc_subslice":
        return _subslice(module, op.integers("offsets"), (before, after), place, slices=slices)
    if op.name == "ttg.memdesc_trans":
        order = op.integers("order")
        return place if order and order[0] == 0 else replace(place, cut=True)
    return place if size is None or size == place.size else replace(place, cut=True)


def _slot(module: Module, ring: MemDesc, place: Place, index: Expr | None, size: int | None) -> Place:
    """A slot of a ring."""
    stride = slot_stride(ring) if alone(module) else None
    if stride is None or size is None or index is None or isinstance(index, Unknown):
        return Place(place.allocation, UNKNOWN, size or place.size)
    by = Const(index.value * stride) if isinstance(index, Const) else Binary("*", index, Const(stride))
    return place.part(by, size)


def _subslice(
    module: Module,
    offsets: tuple[int, ...] | None,
    types: tuple[MemDesc, MemDesc],
    place: Place,
    *,
    slices: bool,
) -> Place:
    """Some slots of a ring, or a part of a tile; `types` are those of what is cut and of the result."""
    (before, after), stride = types, slot_stride(types[0]) if alone(module) else None
    if (
        offsets
        and stride
        and len(before.shape) > 2
        and before.shape[1:] == after.shape[1:]
        and not any(offsets[1:])
        and before.slots_lead
    ):
        return place.part(Const(offsets[0] * stride), stride * (after.shape[0] or 1))
    if before.shape == after.shape:
        return place
    part = segments(before, offsets or (), after.shape) if slices and alone(module) else None
    if part is None or place.cut:
        return replace(place, cut=True)
    found = place.part(Const(part.low), part.width)
    return replace(found, cut=True, count=part.count, stride=part.stride, swizzle=part.swizzle)


def alone(module: Module) -> bool:
    """Whether a workgroup has its tiles for itself; where several share one, how it is divided is not looked at."""
    around: Operation | None = module.operation
    while around is not None:
        count = around.integer("ttg.num-ctas")
        if count is not None:
            return count == 1
        around = around.parent
    return True


def tile_bytes(memory: MemDesc, shape: tuple[int | None, ...] | None = None) -> int | None:
    """The bytes of a tile of a shape, padding included; None if a dimension or the element's size is not known."""
    dims = memory.shape if shape is None else shape
    if memory.bits is None or any(dim is None for dim in dims):
        return None
    elements = prod(dim for dim in dims if dim is not None)
    padding = sum((elements - 1) // int(every) * int(more) for every, more in _paddings(memory))
    return max((elements + padding) * _element_bytes(memory), 1)


def slot_stride(memory: MemDesc) -> int | None:
    """How far apart the slots of a ring lie, in bytes; None if that is not known."""
    if memory.bits is None or any(dim is None for dim in memory.shape[1:]):
        return None
    elements = prod(dim for dim in memory.shape[1:] if dim is not None)
    paddings = _paddings(memory)
    if any(elements % int(every) for every, _ in paddings):
        return None
    padding = sum(elements // int(every) * int(more) for every, more in paddings)
    return max((elements + padding) * _element_bytes(memory), 1)


def _element_bytes(memory: MemDesc) -> int:
    """The bytes of an element: a single bit takes a whole one, and four bits may be padded to eight."""
    return max((memory.bits or 0) // 8, 1) * (2 if "fp4Padded = true" in memory.encoding else 1)


def _paddings(memory: MemDesc) -> list[tuple[str, str]]:
    return _PADDING.findall(memory.encoding) if "padded_shared" in memory.encoding else []


@dataclass(slots=True)
class Allocations:
    """Every allocation of a function."""

    module: Module
    of: dict[Operation, Allocation] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_function(cls, module: Module, function: Operation) -> Allocations:
        """Those of a function and all its partitions: what is allocated outside of one, it may use."""
        found = cls(module)
        for op in function.walk():
            if (op.name in OWNERS or op.dictionary.mentions("allocation.")) and op is not function:
                found.add(op)
        return found

    @property
    def allocated(self) -> bool:
        """Whether the module says where its memory lies."""
        return self.module.operation.integer("ttg.shared") is not None

    @property
    def end(self) -> int:
        """How much shared memory there is, at most."""
        return self.module.operation.integer("ttg.shared") or ENOUGH

    def add(self, op: Operation) -> None:
        """Note the memory of an operation, if it owns some."""
        offset = op.integer("allocation.offset")
        memory = self.module.type_of(op.results[0]) if op.name == "ttg.local_alloc" else None
        scattered = (offset is None and "allocation.offset" in op.attributes) or (
            isinstance(memory, MemDesc) and "partitioned_shared" in memory.encoding
        )
        size = self.end if scattered else self.size(op, offset)
        if not size:
            return
        stem = op.results[0].name.lstrip("%") if op.name == "ttg.local_alloc" else op.name.rpartition(".")[2]
        name = self.fresh(stem if stem[:1].isalpha() else f"m{stem}")
        # In several pieces: all that lies between them counts as well.
        self.of[op] = Allocation(name, size, 0 if scattered else offset, op, scattered)

    def size(self, op: Operation, offset: int | None) -> int | None:
        """How many bytes of its own an operation has; None if it has none."""
        size = op.integer("allocation.size") or self.module.scratch.get(op)
        if size is None and offset is not None:
            # Nobody says how much: up to the end, then.
            size = max(self.end - offset, 1)
        if op.name == "ttg.local_alloc":
            memory = self.module.type_of(op.results[0])
            if not isinstance(memory, MemDesc) or not memory.shared:
                return None
            return tile_bytes(memory) or size or self.end
        if size is None and op.name in SCRATCH and not self.allocated:
            # Before memory has been allocated nobody says whether scratch is needed; if so, it overlaps nothing.
            return 1
        return size

    def fresh(self, stem: str) -> str:
        """A name that is not taken."""
        self.taken[stem] = self.taken.get(stem, 0) + 1
        return stem if self.taken[stem] == 1 else self.fresh(f"{stem}.{self.taken[stem]}")
