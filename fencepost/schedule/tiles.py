"""Which tile an access is about, iteration by iteration: the numbers that slots are worked out from."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.analysis.access import regions_of
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer, BufferArg
from fencepost.ir.expr import Expr, evaluate

Numbers = dict[str, int]


def numbers_by_iteration(loop: ops.Iterate, iterations: int) -> list[Numbers]:
    """The loop's variable and the numbers that it carries, in each of the first iterations; others are left out."""
    now: Numbers = {loop.var: loop.start}
    for name in loop.carried:
        _give(now, name.name, name.init, {})
    end = loop.body.last
    handed = list(zip(loop.carried, end.values, strict=True)) if isinstance(end, ops.Next) else []
    found = []
    for _ in range(iterations):
        found.append(now)
        following: Numbers = {loop.var: now[loop.var] + loop.step}
        for name, value in handed:
            _give(following, name.name, value, now)
        now = following
    return found


def _give(numbers: Numbers, name: str, value: object, known: Numbers) -> None:
    number = None
    if isinstance(value, Expr):
        number = evaluate(value, known)
    elif isinstance(value, BufferArg):
        number = known.get(value.name)
    elif isinstance(value, Buffer):
        # A name that stands for a buffer has the buffer's number as its value.
        number = value.number
    if number is not None:
        numbers[name] = number


def meets(one: ops.MemoryOperation, now: Numbers, other: ops.MemoryOperation, then: Numbers) -> bool:
    """Whether two accesses, each with its own numbers, can touch a common byte; what is not known is everything."""
    mine = [region for view in one.views for region in regions_of(view, now)]
    return any(
        region.overlaps(another)
        for view in other.views
        for another in regions_of(view, then)
        for region in mine
    )


def first_reads(loop: ops.Iterate, reads: Iterable[ops.Read]) -> list[tuple[ops.Read, Numbers]]:
    """Reads with the numbers of the first iteration."""
    (now,) = numbers_by_iteration(loop, 1)
    return [(read, now) for read in reads]
