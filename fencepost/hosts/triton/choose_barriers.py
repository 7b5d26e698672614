"""Which barriers `replace` puts in: fencepost's where fewer of them run, else membar's own that are needed.

Where as many barriers run either way, where they stand decides, and the compiler behind membar was tuned with
membar's places: with others, instructions around them are ordered otherwise, and kernels lost up to 7 %
(docs/triton-h200.md). So membar's places are kept unless barriers are saved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from fencepost.analysis.build_program import read_program, with_fixed_waits
from fencepost.analysis.pending import conflicts_left
from fencepost.flow import build_flow
from fencepost.hosts.triton.audit import stock_changes
from fencepost.hosts.triton.membar_marks import synced_marks
from fencepost.hosts.triton.mlir.tree import Module, Operation
from fencepost.hosts.triton.text_edits import Edit
from fencepost.hosts.triton.translate import translations
from fencepost.hosts.triton.write_back import refuse_beyond, removable, synchronized
from fencepost.ir import ops
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace
from fencepost.passes.prune import prune_barriers


@dataclass(frozen=True, slots=True)
class Candidate:
    """Edits of a module, and how often its barriers run then, estimated."""

    edits: list[Edit]
    executed: float
    repairs: bool = False
    """Whether waits were made stronger: as Triton compiles the kernel, it is wrong."""
    stock: bool = False
    """Whether that is all that membar does, and nothing else."""


def fewest_or_membars(before: Module, after: Callable[[], Module]) -> list[Edit] | None:
    """fencepost's barriers if fewer run than of membar's that are needed; else those. None if that is all of them."""
    ours = fencepost_candidate(before)
    if ours.repairs:
        return ours.edits
    try:
        theirs = membar_candidate(before, after())
    except FencepostError:
        # What membar did cannot be told apart from something else, or read.
        return ours.edits
    if theirs is None or ours.executed < theirs.executed * (1 - 1e-9):
        return ours.edits
    return None if theirs.stock else theirs.edits


def fencepost_barriers(before: Module, after: Callable[[], Module]) -> list[Edit]:
    """fencepost's barriers, waits that are strong enough, and the marks that membar would leave for the lowering."""
    del after
    return fencepost_candidate(before).edits


def fencepost_candidate(before: Module) -> Candidate:
    """fencepost's barriers."""
    edits: list[Edit] = []
    executed, repairs = 0.0, False
    for translation in translations(before, local=True):
        done, stronger = synchronized(translation)
        edits += done
        executed += _executed(translation.trace)
        repairs |= stronger
    return Candidate(edits + synced_marks(before), executed, repairs)


def membar_candidate(before: Module, after: Module) -> Candidate | None:
    """membar's barriers, without those that nothing needs; None if one is missing."""
    changes = stock_changes(before, after)
    added = {op for _, op in changes if op is not None}
    redundant: set[Operation] = set()
    executed = 0.0
    for translation in translations(after):
        refuse_beyond(translation)
        # As `place_barriers` asks: waits are as they are.
        program = with_fixed_waits(read_program(translation.trace, completion=False))
        if conflicts_left(program, program.existing):
            return None
        removed = prune_barriers(
            translation.trace, keep=lambda op: not (op.host in added and removable(op.host))
        ).removed
        redundant |= {op.host for op in removed if isinstance(op.host, Operation)}
        executed += _executed(translation.trace, redundant)
    edits = [edit for edit, op in changes if op is None or op not in redundant]
    return Candidate(edits, executed, stock=not redundant)


def _executed(trace: CapturedTrace, without: Collection[Operation] = ()) -> float:
    """How often the barriers of a kernel run, estimated."""
    return sum(
        block.frequency
        for block in build_flow(trace).blocks
        for op in block.ops
        if isinstance(op, ops.SharedMemoryBarrier) and op.owner is None and op.host not in without
    )
