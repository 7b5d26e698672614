"""Blocks that a kernel is likely launched with, where neither the user nor the kernel says.

PTX seldom names the block, but its shared arrays were made for one: rows have a length, a block that is too large
leaves an array, one that is too small loads words that no thread has stored, and in one of the wrong shape threads
store to the same words. Large blocks come first, so that the one that an array was made for is among those tried:
with fewer threads, a barrier may not be needed. Of a template with one number that can be the size of a block
(`reduce<float, 256>`), that one is tried before all others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import prod

from fencepost.hosts.ptx.expressions.closed_forms import ClosedForms
from fencepost.hosts.ptx.expressions.evaluate import Evaluator
from fencepost.hosts.ptx.expressions.expression_nodes import Expression, leaves, sum_parts
from fencepost.hosts.ptx.launches.launch import Launch
from fencepost.hosts.ptx.proof.addresses import Addresses, Footprint
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.flow import Flow, NotJudged
from fencepost.hosts.ptx.reading.module import Module, Routine
from fencepost.hosts.ptx.runs.simulate import simulate
from fencepost.hosts.ptx.runs.simulation_setup import NotSimulated, Setup, SimulationResult

Block = tuple[int, int, int]
MOST_BLOCKS = 3
ONE_ROW = (1024, 256, 64, 512, 128, 32, 16)
FEW = (8, 4, 2)
"""Blocks that are tried if no other fits: with as few threads, a barrier is seldom needed."""
ROWS = ((32, 32), (16, 16), (32, 8), (8, 8), (32, 16), (64, 4), (16, 8), (32, 4), (16, 4), (8, 4), (4, 4))
LAYERS = ((8, 8, 4), (8, 8, 8), (16, 4, 4), (4, 4, 4), (32, 4, 2))
TRIAL_SECONDS = 0.5


def blocks_to_try(module: Module, routine: Routine, flow: Flow, launch: Launch) -> list[Block]:
    """Up to three blocks that fit the kernel, large ones first; the one that a template was made for alone."""
    for block in _of_template(routine, launch):
        if fits(module, routine, flow, launch, block):
            return [block]
    good: list[Block] = []
    poor: list[Block] = []
    fair: list[Block] = []
    for block in dict.fromkeys(_candidates(module, routine, flow, launch)):
        if prod(block) in FEW and (good or poor or fair):
            break
        seen = _tried(module, routine, flow, launch, block)
        if seen is None or not (seen.outside or seen.unwritten or _overlaps(flow, seen)):
            good.append(block)
        elif not seen.outside:
            (fair if seen.unwritten else poor).append(block)
        if len(good) == MOST_BLOCKS:
            break
    if not good:
        return (poor or fair)[:MOST_BLOCKS]
    # Fewer threads seldom overlap: only as many in another shape tell that a shape was not meant.
    most = max(map(prod, good))
    wrong = [block for block in poor if prod(block) > most]
    return [*wrong[:1], *good[: MOST_BLOCKS - bool(wrong)]]


def _overlaps(flow: Flow, seen: SimulationResult) -> bool:
    """Whether threads store different values to one word with no barrier between."""

    def stores(place: Place) -> bool:
        accesses = effect(flow.blocks[place.block].instructions[place.index]).accesses
        return any(each.kind == "write" for each in accesses)

    return any(each.severity == "error" and all(map(stores, each.places)) for each in seen.conflicts)


def fits(module: Module, routine: Routine, flow: Flow, launch: Launch, block: Block) -> bool:
    """Whether threads of a block stay inside of their arrays and load only what was stored."""
    seen = _tried(module, routine, flow, launch, block)
    return seen is None or not (seen.outside or seen.unwritten)


def _of_template(routine: Routine, launch: Launch) -> Iterator[Block]:
    """The block that the arguments of a template name, if one of them alone can be a size."""
    sizes = {int(each) for each in re.findall(r"L[ijlm](\d+)E", routine.name)}
    flat = [(each, 1, 1) for each in sizes if each % 32 == 0 and 32 <= each <= max(launch.largest)]
    square = [(each, each, 1) for each in sizes if each in (8, 16, 32)]
    # Cooperative groups ask for all three numbers of a thread, whatever shape the block has.
    for fitting in (square, flat) if launch.largest[1] > 1 else (flat,):
        if len(fitting) == 1:
            yield fitting[0]


def _candidates(module: Module, routine: Routine, flow: Flow, launch: Launch) -> Iterator[Block]:
    """Blocks that may fit, large ones first."""
    every = _shapes(module, routine, flow, launch)
    return (each for each in every if prod(each) <= max(launch.largest))


def _shapes(module: Module, routine: Routine, flow: Flow, launch: Launch) -> Iterator[Block]:
    """Blocks to try, in the order in which they are likely."""
    if routine.largest_block is not None:
        yield routine.largest_block
    used = [axis for axis in range(3) if launch.largest[axis] > 1]
    kernel = Accesses(Evaluator(module, routine, flow, launch))
    footprints = kernel.footprints()
    deciding = kernel.threads_in(footprints)
    along = [axis for axis in used if "xyz"[axis] in deciding] or used
    if len(along) == 1:
        # Threads that differ in another number alone would do the same to shared memory: there are none.
        yield from (_shaped((size,), along) for size in (*ONE_ROW, *FEW))
    elif len(along) == 2:
        yield from (
            _shaped(each, along) for each in _rows(_row_length(footprints) if along == [0, 1] else None)
        )
    else:
        yield LAYERS[0]
        # Cooperative groups ask for all three numbers of a thread, whatever shape the block has.
        yield from ((256, 1, 1), (16, 16, 1), *LAYERS[1:])
    if along != used:
        yield from LAYERS if len(used) == 3 else [(x, y, 1) for x, y in ROWS]


def _shaped(sizes: Sequence[int], axes: Sequence[int]) -> Block:
    """A block with some sizes along some axes, and one thread along the others."""
    given = dict(zip(axes, sizes, strict=True))
    return given.get(0, 1), given.get(1, 1), given.get(2, 1)


def _rows(width: int | None) -> list[tuple[int, int]]:
    """Usual rows, of a length that is known or of any."""
    fitting = [each for each in ROWS if width is None or each[0] == width]
    if width is not None and width not in (each[0] for each in ROWS):
        fitting = [(width, rows) for rows in (width, 8, 4, 1) if width * rows <= 1024]
    return fitting


class Accesses:
    """The shared accesses of a kernel."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.forms = ClosedForms(evaluator)
        self.places = [
            (Place(number, index), access)
            for number in evaluator.flow.order
            for index, instruction in enumerate(evaluator.flow.blocks[number].instructions)
            for access in effect(instruction).accesses
        ]

    def footprints(self) -> list[Footprint]:
        """What they touch, as far as that is known."""
        addresses = Addresses(self.evaluator, self.forms)
        found: list[Footprint] = []
        for place, access in self.places:
            with suppress(NotJudged):
                found += addresses.footprints(place, access)
        return found

    def threads_in(self, footprints: Sequence[Footprint]) -> set[str]:
        """The axes of the thread's number that decide what is touched, or whether it is, other than by counting all
        threads of the block: that is done in blocks of every shape."""
        return {
            axis
            for value in (*(each.offset for each in footprints), *self._own_conditions())
            for axis in _axes_in(value)
        }

    def _own_conditions(self) -> Iterator[Expression]:
        """The conditions of accesses on the thread's place in its block, not on one in the whole grid."""
        for block in {place.block for place, _ in self.places}:
            for whole in self.evaluator.conditions(block):
                for each in self.evaluator.values.conjuncts(self.forms.closed(whole)):
                    if not any(leaf.leaf.name.startswith("ctaid.") for leaf in leaves(each)):
                        yield each


def _axes_in(value: Expression) -> Iterator[str]:
    """The axes of the thread in an expression, but for those that are multiplied by sizes of the block."""
    seen: set[Expression] = set()
    todo = [value]
    while todo:
        each = todo.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.operation == "leaf" and each.leaf.kind == "thread":
            yield each.leaf.name[-1]
        sizes = [one.operation == "leaf" and one.leaf.name.startswith("ntid.") for one in each.arguments]
        if each.operation != "mul" or not any(sizes):
            todo += each.arguments


def _row_length(footprints: Sequence[Footprint]) -> int | None:
    """The largest power of two that fits the rows that threads of one `tid.y` access, by most addresses."""
    lengths = Counter(length for each in footprints if (length := _length(each)))
    if not lengths:
        return None
    most = lengths.most_common(1)[0][0]
    return 1 << (most.bit_length() - 1)


def _length(footprint: Footprint) -> int | None:
    _, factors = sum_parts(footprint.offset)
    along = {
        atom.leaf.name: factor
        for atom, factor in factors.items()
        if atom.operation == "leaf" and atom.leaf.kind == "thread"
    }
    x, y = along.get("tid.x"), along.get("tid.y")
    return y // x if x and y and 4 <= y // x <= 1024 else None


def _tried(
    module: Module, routine: Routine, flow: Flow, launch: Launch, block: Block
) -> SimulationResult | None:
    """What a short run of the block shows; None if it cannot be simulated."""
    parameters = launch.with_block(block).parameters
    setup = Setup(block, parameters, prod(block), seconds=TRIAL_SECONDS)
    try:
        return simulate(module, routine, flow, setup)
    except NotSimulated:
        return None
