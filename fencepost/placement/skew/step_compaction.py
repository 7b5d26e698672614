"""A program whose waves are skewed, without steps that change nothing where no barrier comes between.

Kernels touch one buffer with many operations in a row. The second access of a class right behind the first one meets
nothing that the first has not met and leaves nothing behind that the first has not left. A barrier between the two
is no better than one in front of both, so none is looked for there. In the same way, operations in a row that
complete reads by using their results are one.

Whoever looks for places on the program as it is here must not put barriers anywhere but in front of steps that
conflict, or at the ends of blocks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from fencepost.analysis.program import Program, Step
from fencepost.analysis.transfer import Turn


def without_repeats(program: Program) -> Program:
    """The program with one step for those in a row that do the same."""
    existing: dict[int, set[int]] = {}
    for at in program.existing:
        existing.setdefault(at.block, set()).add(at.gap)
    steps = list(program.steps)
    for block, instances in program.instances_of.items():
        repeated, sites = _repeated([steps[instance] for instance in instances], existing.get(block, set()))
        for instance in instances:
            kept = [step for step in steps[instance] if step.gap not in repeated]
            steps[instance] = _joined(kept, sites)
    return replace(program, steps=steps, runs={})


def _repeated(lines: list[list[Step]], existing: Iterable[int]) -> tuple[set[int], list[int]]:
    """The gaps whose steps repeat those before them in all instances of a block, and those for barriers."""
    repeats: dict[int, int] = {}
    """Gaps of steps that repeat another one, and where the farthest of these stands."""
    kept = set(existing)
    for line in lines:
        before: Step | None = None
        for step in line:
            if before is not None and step[1:] == before[1:] and _is_steady(step):
                repeats[step.gap] = min(before.gap, repeats.get(step.gap, before.gap))
            elif not _completes_alone(step):
                kept.add(step.gap)
            before = step
    sites = sorted(kept)
    for gap in sorted(repeats.keys() - kept):
        place = bisect_right(sites, gap)
        if place and sites[place - 1] > repeats[gap]:
            # In another instance, something stands between the two.
            sites.insert(place, gap)
    return repeats.keys() - set(sites), sites


def _is_steady(step: Step) -> bool:
    """Whether nothing is different if it happens once more."""
    if step.by_engine or step.moves_copies or step.settles:
        return False
    adds, conflicts, turn = step.adds, step.conflicts, step.turn
    if turn is None:
        return not step.clears and not adds & conflicts
    if turn.meets is not None or turn.drops or (turn.completes and (adds or conflicts)):
        return False
    return not adds & conflicts and not any(adds & mask for mask, _ in turn.owes)


def _completes_alone(step: Step) -> bool:
    """Whether it completes reads and does nothing else."""
    turn = step.turn
    if turn is None or step.number >= 0:
        return False
    return step == Step(step.gap, clears=True, turn=Turn(turn.completes))


def _joined(line: list[Step], sites: list[int]) -> list[Step]:
    """The steps of an instance, those in a row that complete reads as one where no barrier can come between."""
    found: list[Step] = []
    last: int | None = None
    """Between which sites the step before stands, if it completes reads and does nothing else."""
    for step in line:
        turn = step.turn if _completes_alone(step) else None
        place = bisect_right(sites, step.gap) if turn is not None else None
        if turn is not None and place == last:
            before = found[-1]
            assert before.turn is not None
            found[-1] = before._replace(turn=Turn(before.turn.completes | turn.completes))
        else:
            found.append(step)
        last = place
    return found
