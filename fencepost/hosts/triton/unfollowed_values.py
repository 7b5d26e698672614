"""Values that are not followed and yet decide something: each is one value, wherever it is asked for.

A loop that runs while `%i < %n` and a copy that is predicated with `%n > 0` agree about `%n`, whatever it is. So a
number that is computed once, and in a way that is not followed, is taken as one that the kernel is given. A condition
that is not followed is tried both ways where it is computed; from there on it is a number, 0 or 1, to all who ask for
it. If such conditions depend on how often a loop runs, and that is computed in a loop around it (the length of each
of several products), a few lengths are tried instead: conditions about one number agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.hosts.triton.flatten_control_flow import Flat
from fencepost.hosts.triton.mlir.tree import Operation, Value

NUMBERS = ("i32", "i64", "index")
PROGRAM = ("tt.get_program_id", "tt.get_num_programs")
"""Numbers of the workgroup: whoever asks gets the same, in whatever partition."""
BY_WAVE = ("ttg.warp_id", "rocdl.", "nvvm.", "gpu.", "arith.", "scf.", "cf.", "ttg.warp_specialize")
"""What may differ from wave to wave, or is read by others: arithmetic, regions."""
ARITHMETIC = "arith."


def computed_once(blocks: list[Flat]) -> Iterator[tuple[Operation, Value]]:
    """Numbers that operations outside of loops yield: what those do is not followed, but it is done once."""
    made = [
        (block, op, value)
        for block in blocks
        for op in block.operations
        if not op.name.startswith(BY_WAVE)
        for value in op.results
        if value.type in NUMBERS
    ]
    for block, op, value in made:
        if op.name in PROGRAM or not in_loop(block):
            yield op, value


def arithmetic_once(blocks: list[Flat]) -> Iterator[Value]:
    """Numbers that arithmetic outside of loops yields. Some of it is not followed: a quotient of two numbers, say."""
    for block in blocks:
        made = [
            value
            for op in block.operations
            if op.name.startswith(ARITHMETIC)
            for value in op.results
            if value.type in NUMBERS
        ]
        if made and not in_loop(block):
            yield from made


def name_of(op: Operation, number: int) -> str:
    """What a number that is computed once is called."""
    if op.name in PROGRAM:
        # Names that end in a number are made up, so none of the module is like it.
        kind = "program" if op.name == PROGRAM[0] else "programs"
        return f"{kind}.{op.integer('axis') or 0}"
    return f"once.{number}"


def in_loop(block: Flat) -> bool:
    """Whether a block can be reached again."""
    seen: set[Flat] = set()
    todo = [way.block for way in block.ways]
    while todo:
        here = todo.pop()
        if here is block:
            return True
        if here not in seen:
            seen.add(here)
            todo += [way.block for way in here.ways]
    return False


BITS = 3
"""Of lengths of loops that are tried: from 0 to 7."""
TRIED = f"how often inner loops run, where an outer one computes that, was tried from 0 to {2**BITS - 1}"


def operands_behind(values: Iterable[Value]) -> set[Value]:
    """All that arithmetic makes some values from, these included."""
    found: set[Value] = set()
    todo = list(values)
    while todo:
        here = todo.pop()
        op = here.defining_operation
        if here in found:
            continue
        found.add(here)
        if op is not None and op.name.startswith(ARITHMETIC):
            todo += op.operands
    return found


OF_CONDITIONS = ("arith.xori", "arith.andi", "arith.ori", "arith.select")


def conditions_in(value: Value) -> Iterator[Value]:
    """The conditions that a condition is made of, innermost first, itself last; arguments of blocks are none."""
    found: dict[Value, None] = {}
    todo = [value]
    while todo:
        here = todo.pop()
        op = here.defining_operation
        if here in found or op is None or here.type != "i1":
            continue
        found[here] = None
        if op.name in OF_CONDITIONS:
            todo += op.operands
    yield from reversed(found)
