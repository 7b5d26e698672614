"""Waits that are too weak, made stronger: no barrier helps where an engine is still at work.

The wait that a module has leaves too much outstanding then. Its count is lowered as little as is enough. Waits are
not put in: they pass on the values that are waited for, and whoever uses those would have to use others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from fencepost.analysis.build import read_program
from fencepost.emit.write import Inserted
from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.hosts.triton.table import TABLE
from fencepost.hosts.triton.text_edits import Edit, SetAttribute
from fencepost.hosts.triton.translate import Translation
from fencepost.hosts.triton.write_back import edits_of, local_waits, place_barriers
from fencepost.ir import ops
from fencepost.ir.source import FencepostError
from fencepost.passes.insert import Insert
from fencepost.passes.refusals import unwaited


@dataclass(frozen=True, slots=True)
class Stronger:
    """A wait of the module that leaves less outstanding than before."""

    host: Operation
    attribute: str
    before: int
    now: int

    @property
    def edit(self) -> SetAttribute:
        """What is done to the module."""
        return SetAttribute(self.host, self.attribute, f"{self.now} : i32", inherent=True)

    def __str__(self) -> str:
        place = self.host.location.place()
        where = f"{place.file}:{place.line}: " if place is not None else ""
        return f"{where}{self.host.name} {{{self.attribute} = {self.before}}} became {self.now}"


def synchronized(translation: Translation) -> tuple[Inserted, list[Edit]]:
    """Put barriers into a kernel, and make waits stronger where those are not enough: what that is in the module."""
    stronger: list[Stronger] = []
    try:
        result = place_barriers(translation, Insert(exact=False))
    except FencepostError as error:
        stronger = strengthen(translation) if error.code == "FP207" else []
        if not stronger:
            raise
        warnings.warn(
            f"fencepost made a wait of @{translation.trace.name} stronger: as Triton compiles it, an engine may "
            f"still be at work on memory that is used again. {'; '.join(map(str, stronger))}",
            RuntimeWarning,
            stacklevel=2,
        )
        result = place_barriers(translation, Insert(exact=False))
    edits = [*edits_of(translation), *local_waits(translation), *(each.edit for each in stronger)]
    return result, edits


def strengthen(translation: Translation) -> list[Stronger]:
    """Lower the counts of waits as little as is enough; if nothing is, they stay as they are."""
    waits = [op for op in translation.trace.preorder_walk() if isinstance(op, ops.MemoryCounterWait)]
    found = [
        (op, op.host, counter) for op in waits if isinstance(op.host, Operation) for counter in op.counts
    ]
    before = {(op, counter): op.counts[counter] for op, _, counter in found}
    for op, _, counter in found:
        op.counts[counter] = 0
    enough = _is_enough(translation)
    for op, _, counter in found:
        # The first ones may be as weak as they were if those behind them are not.
        for count in range(before[op, counter], 0, -1):
            op.counts[counter] = count
            if not enough or _is_enough(translation):
                break
        else:
            op.counts[counter] = 0
    return [
        Stronger(host, TABLE[host.name].attribute, before[op, counter], op.counts[counter])
        for op, host, counter in found
        if op.counts[counter] < before[op, counter]
    ]


def _is_enough(translation: Translation) -> bool:
    return next(unwaited(read_program(translation.trace, completion=False)), None) is None
