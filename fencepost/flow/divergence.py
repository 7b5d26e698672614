"""Divergent branches between blocks: the two sides up to where they join become two guarded stretches.

The hardware runs first one side, then the other, each for its own waves. What is done here is only to
say so in the flow: the end of the first side leads to the start of the second. A divergent branch whose
sides do not join cleanly (they share blocks, can be entered from elsewhere, or never end) has no such form and
is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fencepost.flow.blocks import Flow, Guard, reverse_postorder
from fencepost.flow.unstructured import Shape
from fencepost.ir import ops
from fencepost.ir.expr import is_divergent
from fencepost.ir.source import FencepostError, Mark
from fencepost.ir.trace import CapturedTrace


class _Sides(NamedTuple):
    """A divergent branch of a block, where its sides join, and the blocks of each."""

    number: int
    branch: ops.CondBranch
    join: int
    then: set[int]
    orelse: set[int]


def linearize_divergent_branches(
    flow: Flow, trace: CapturedTrace, shape: Shape, starts: list[int], ends: list[int]
) -> None:
    """Rewire `flow` so that the sides of every divergent branch run one after the other."""
    branches = [
        (number, end)
        for number, graph in enumerate(trace.blocks)
        if isinstance(end := graph.last, ops.CondBranch)
        and is_divergent(end.condition)
        and end.then != end.orelse
    ]
    if not branches:
        return
    label = {graph.name: number for number, graph in enumerate(trace.blocks)}
    # Outer branches first, so that the guards of a block read from the outside in; edges are rewired
    # from the inside out, so that the last edge of an inner branch is there for the outer one to take.
    found = sorted(
        _find_sides(trace, shape, branches, label), key=lambda sides: -len(sides.then | sides.orelse)
    )
    for sides in found:
        _put_guards(flow, sides, starts, ends)
    for sides in reversed(found):
        _rewire(flow, sides, label, starts, ends)


def _find_sides(
    trace: CapturedTrace, shape: Shape, branches: list[tuple[int, ops.CondBranch]], label: dict[str, int]
) -> Iterator[_Sides]:
    """The sides of each branch that can be reached; refuses those that do not join cleanly."""
    reachable = set(reverse_postorder(shape.successors))
    predecessors: list[list[int]] = [[] for _ in shape.successors]
    for source in reachable:
        for target in shape.successors[source]:
            predecessors[target].append(source)
    joins = _postdominators(shape.successors)
    for number, branch in branches:
        if number not in reachable:
            continue
        join = joins[number]
        then = _until(shape.successors, label[branch.then], join)
        orelse = _until(shape.successors, label[branch.orelse], join)
        both = then | orelse
        entered = any(p not in both and p != number for member in both for p in predecessors[member])
        if then & orelse or number in both or 0 in both or entered or not _ends(shape.successors, both, join):
            raise FencepostError(
                "the two sides of this divergent branch do not join cleanly",
                [Mark(branch.span)],
                code="FP107",
                notes=[
                    (
                        "help",
                        "write it as a structured `if`, or give each side blocks of its own up to the join",
                    )
                ],
                source=trace.source,
            )
        yield _Sides(number, branch, join, then, orelse)


def _put_guards(flow: Flow, sides: _Sides, starts: list[int], ends: list[int]) -> None:
    """Note on the blocks of each side which waves run them."""
    for holds, side in ((True, sides.then), (False, sides.orelse)):
        for member in side:
            for index in range(starts[member], ends[member] + 1):
                block = flow.blocks[index]
                # Guards that are there already belong to structured conditionals inside the block,
                # or to outer branches: those came first and stay first.
                outer = sum(isinstance(guard.branch, ops.CondBranch) for guard in block.guards)
                block.guards = (*block.guards[:outer], Guard(sides.branch, holds), *block.guards[outer:])


def _rewire(flow: Flow, sides: _Sides, label: dict[str, int], starts: list[int], ends: list[int]) -> None:
    """Lead from the branch to its first side, and from the end of that one to the second."""
    first, second = label[sides.branch.then], label[sides.branch.orelse]
    if not sides.then:
        flow.blocks[ends[sides.number]].successors = [starts[second]]
        return
    flow.blocks[ends[sides.number]].successors = [starts[first]]
    if not sides.orelse:
        # The waves that skip the side wait at the join: nothing else for them to run.
        return
    for member in sides.then:
        last = flow.blocks[ends[member]]
        if sides.join < 0:
            last.successors = last.successors or [starts[second]]
        else:
            last.successors = [starts[second] if s == starts[sides.join] else s for s in last.successors]


def _ends(successors: list[list[int]], side: set[int], join: int) -> bool:
    """Whether the join can be reached from every block of a side: waves that stay for ever never meet the others."""
    leaving = {block for block in side if (join in successors[block] if join >= 0 else not successors[block])}
    growing = True
    while growing:
        more = {block for block in side - leaving if any(target in leaving for target in successors[block])}
        growing = bool(more)
        leaving |= more
    return leaving == side


def _until(successors: list[list[int]], start: int, join: int) -> set[int]:
    """The blocks from `start` on that come before `join`."""
    if start == join:
        return set()
    seen, todo = {start}, [start]
    while todo:
        for following in successors[todo.pop()]:
            if following != join and following not in seen:
                seen.add(following)
                todo.append(following)
    return seen


def _postdominators(successors: list[list[int]]) -> list[int]:
    """The nearest block that every path from each block to the end goes through; -1 for the end itself."""
    count = len(successors)
    backwards: list[list[int]] = [[] for _ in range(count + 1)]
    # The reversed graph starts at a block of its own that stands for the end of the kernel.
    for block, targets in enumerate(successors):
        for target in targets:
            backwards[target + 1].append(block + 1)
        if not targets:
            backwards[0].append(block + 1)
    order = reverse_postorder(backwards)
    place = {block: number for number, block in enumerate(order)}
    forwards: list[list[int]] = [[] for _ in range(count + 1)]
    for block in order:
        for following in backwards[block]:
            forwards[following].append(block)
    dominator = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [other for other in forwards[block] if other in dominator]
            nearest = known[0]
            for other in known[1:]:
                while nearest != other:
                    if place[nearest] > place[other]:
                        nearest = dominator[nearest]
                    else:
                        other = dominator[other]
            if dominator.get(block) != nearest:
                dominator[block] = nearest
                changed = True
    return [dominator.get(block + 1, 0) - 1 for block in range(count)]
