"""Operations on mbarriers: which waves run them, and which barriers they bring along.

NVIDIA has one thread initialize, arrive and expect, and a thread of each of the first waves start copies by the copy
engine (`tma`); the lowering lets the waves meet in front of an arrival. AMD has every thread arrive, and every wave
start its part of a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from fencepost.hosts.triton.allocations import tile_bytes
from fencepost.hosts.triton.index_values import condition_of
from fencepost.hosts.triton.mlir.tree import Operation, Value
from fencepost.hosts.triton.mlir.types import MemDesc
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.shared_memory_effects import COPY, TENSOR, Does, row_of
from fencepost.hosts.triton.tdm import every_wave_arrives
from fencepost.hosts.triton.tma import issuing_waves
from fencepost.ir import ops
from fencepost.ir.buffers import View
from fencepost.ir.expr import Compare, Const, Wave

if TYPE_CHECKING:
    from fencepost.hosts.triton.translate_operations import OperationWriter

TMA = "tma"
"""The counter of loads by NVIDIA's copy engine; nothing waits for it but mbarriers."""
INIT = ("ttng.init_barrier", "amdg.init_barrier")
INVAL = ("ttng.inval_barrier",)
WAIT = ("ttng.wait_barrier", "amdg.wait_barrier")
ENGINE_ARRIVES = ("ttng.async_copy_mbarrier_arrive", "amdg.async_copy_mbarrier_arrive")
TMA_LOADS = ("ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather")
"""Given the mbarrier first, then where the tile goes."""
MBARRIERS = (
    *(*INIT, *INVAL, *WAIT, *ENGINE_ARRIVES, *TMA_LOADS),
    *("ttng.barrier_expect", "ttng.arrive_barrier", "amdg.arrive_barrier"),
)
FOR_ALL = ("ttng.barrier_expect", "ttng.arrive_barrier")
"""What one thread does for all waves, which have to meet before."""
PREDICATE = {"ttng.wait_barrier": 2, "ttng.barrier_expect": 1, "ttng.arrive_barrier": 1}
"""Where operations have a condition among their operands, if they have one."""


def uses_mbarriers(function: Operation) -> bool:
    """Whether a function works with mbarriers."""
    return any(op.name in MBARRIERS for op in function.walk())


def mbarrier_numbers(op: Operation) -> Iterator[Value]:
    """The numbers that decide what an operation does to an mbarrier: a phase, a condition."""
    if op.name in MBARRIERS:
        for value in op.operands:
            if value.type in ("i1", "i32") and (op.name not in TMA_LOADS or value.type == "i1"):
                yield value


NEVER = Compare("!=", Const(0), Const(0))
Asked = Callable[[], AbstractContextManager[object]]
"""Opens the condition that an operation is run under."""


class MbarrierWriter:
    """Puts operations on mbarriers into a kernel."""

    def __init__(self, writer: OperationWriter) -> None:
        self.writer = writer

    def put(self, op: Operation) -> bool:
        """One operation; False if it cannot be expressed."""
        places = [self.place(value) for value in self.writer.views.shared(op)]
        if op.name not in MBARRIERS or not places or places[0] is None:
            return False
        target = places[0]
        asked = self.condition(op)
        if asked is None:
            return False
        if op.name in TMA_LOADS:
            return len(places) == 2 and places[1] is not None and self.load(op, target, places[1], asked)
        return PUT[op.name](self, op, target, asked)

    def wait(self, op: Operation, target: View, asked: Asked) -> bool:
        """A wait for a phase."""
        phase = self.writer.views.number(op.operands[1])
        with asked(), self.writer.only_main():
            self.writer.note(op, self.writer.kernel.mbarrier_wait(target, phase=phase))
        return True

    def init(self, op: Operation, target: View, _: Asked) -> bool:
        """An initialization; on AMD, the waves meet behind it."""
        writer = self.writer
        with self.leader():
            made = writer.kernel.mbarrier_init(
                target, count=op.integer("count") or 1, until_inval=op.name.startswith("ttng")
            )
            writer.note(op, made)
        if op.name.startswith("amdg"):
            writer.note(op, writer.barrier())
        return True

    def inval(self, op: Operation, target: View, _: Asked) -> bool:
        """The end of an mbarrier."""
        with self.leader():
            self.writer.note(op, self.writer.kernel.mbarrier_inval(target))
        return True

    def expect(self, op: Operation, target: View, asked: Asked) -> bool:
        """Bytes that copies are to bring."""
        self.meet(op)
        with asked(), self.leader():
            made = self.writer.kernel.mbarrier_expect(target, bytes=op.integer("size") or 1)
            self.writer.note(op, made)
        return True

    def arrive(self, op: Operation, target: View, asked: Asked) -> bool:
        """An arrival of one thread, for all waves, which have met before."""
        self.meet(op)
        with asked(), self.leader():
            made = self.writer.kernel.mbarrier_arrive(target, count=op.integer("count") or 1)
            self.writer.note(op, made)
        return True

    def arrive_each(self, op: Operation, target: View, _: Asked) -> bool:
        """An arrival of every thread."""
        count = self.writer.lanes * (op.integer("count") or 1)
        with self.writer.only_main():
            self.writer.note(op, self.writer.kernel.mbarrier_arrive(target, count=count))
        return True

    def arrive_by_engine(self, op: Operation, target: View, _: Asked) -> bool:
        """An arrival once the copies that were issued before are complete."""
        writer = self.writer
        if op.name.startswith("ttng") and not op.flag("noIncrement"):
            # It asks for one more arrival before it brings it: not followed.
            return False
        with writer.only_main():
            writer.note(op, writer.kernel.mbarrier_arrive(target, count=writer.lanes, counter=COPY))
        return True

    def load(self, op: Operation, target: View, place: View, asked: Asked) -> bool:
        """A copy by NVIDIA's copy engine."""
        writer, kernel = self.writer, self.writer.kernel
        memory = writer.views.module.type_of(list(writer.views.shared(op))[1])
        tile = memory if isinstance(memory, MemDesc) else None
        count = issuing_waves(op.name, tile, writer.warps)
        with asked(), self.issuers(count):
            copy = kernel.tensor_load_to_lds(place, counter=TMA)
            # Each brings its part of the tile; parts are equal, as sizes are powers of two.
            part = max(((tile_bytes(tile) if tile is not None else None) or 1) // count, 1)
            writer.note(op, kernel.arriving(copy, target, bytes=part))
        return True

    def tdm(self, op: Operation) -> bool:
        """A copy by AMD's data mover, in or out, that may arrive on an mbarrier; False if it does not."""
        writer, kernel = self.writer, self.writer.kernel
        shared = list(writer.views.shared(op))
        mbarriers = [value for value in shared if self.is_mbarrier(value)]
        if not mbarriers:
            return False
        target = self.place(mbarriers[0])
        first, end = writer.waves
        if target is None or not every_wave_arrives(writer.views.module, writer.views, op, end - first):
            writer.translation.beyond.append(op)
            return True
        tiles = [view for value in shared if value not in mbarriers for view in writer.stretch_of(value)]
        copy: ops.AsyncOperation
        if row_of(op.name).does is Does.COPIES_IN:
            copy = kernel.tensor_load_to_lds(*tiles, counter=TENSOR)
        else:
            copy = kernel.async_mma(*tiles, counter=TENSOR)
        writer.note(op, kernel.arriving(copy, target, count=1))
        return True

    # ------------------------------------------------------------ pieces

    def is_mbarrier(self, value: Value) -> bool:
        """Whether a view is one of mbarriers."""
        memory = self.writer.views.module.type_of(value)
        return isinstance(memory, MemDesc) and memory.bits == 64 and memory.elements == 1

    def place(self, value: Value) -> View | None:
        """The bytes of a view, if one allocation has them all."""
        found = self.writer.stretch_of(value)
        return found[0] if len(found) == 1 else None

    def meet(self, op: Operation) -> None:
        """The waves meet in front of an arrival, if there are several.

        In older releases they do not. Where barriers are placed, they do all the same: `write_back.arrival_barriers`.
        """
        first, end = self.writer.waves
        if end - first > 1 and (installed_release().arrivals_meet or self.writer.local):
            self.writer.note(op, self.writer.barrier())

    @contextmanager
    def leader(self) -> Iterator[None]:
        """What one wave does for all."""
        first, end = self.writer.waves
        if end - first == 1:
            with self.writer.only_main():
                yield
            return
        with self.writer.kernel.cond(Compare("==", Wave(), Const(first))):
            yield

    @contextmanager
    def issuers(self, count: int) -> Iterator[None]:
        """What the first waves do, each its part."""
        first, end = self.writer.waves
        if count == 1:
            with self.leader():
                yield
        elif count >= end - first:
            with self.writer.only_main():
                yield
        else:
            with self.writer.kernel.cond(Compare("<", Wave(), Const(first + count))):
                yield

    def condition(self, op: Operation) -> Asked | None:
        """Opens what an operation is asked under; None if that is not known."""
        place = PREDICATE.get(op.name, len(op.operands) - 1 if op.name in TMA_LOADS else -1)
        if place < 0 or place >= len(op.operands) or op.operands[place].type != "i1":
            return nullcontext
        if not self.writer.views.follow:
            # Where barriers are placed, mbarriers are assumed to be used correctly.
            return nullcontext
        number = self.writer.views.number(op.operands[place])
        if isinstance(number, Const):
            # A condition that never holds is one that the compiler has left there; it does no harm.
            return nullcontext if number.value else partial(self.writer.kernel.cond, NEVER)
        asked = condition_of(number)
        return None if asked is None else partial(self.writer.kernel.cond, asked)


PUT: dict[str, Callable[[MbarrierWriter, Operation, View, Asked], bool]] = {
    **dict.fromkeys(WAIT, MbarrierWriter.wait),
    **dict.fromkeys(INIT, MbarrierWriter.init),
    **dict.fromkeys(INVAL, MbarrierWriter.inval),
    **dict.fromkeys(ENGINE_ARRIVES, MbarrierWriter.arrive_by_engine),
    "ttng.barrier_expect": MbarrierWriter.expect,
    "ttng.arrive_barrier": MbarrierWriter.arrive,
    "amdg.arrive_barrier": MbarrierWriter.arrive_each,
}
"""How an operation on the mbarrier at `target` is put in; False if it cannot be expressed."""
