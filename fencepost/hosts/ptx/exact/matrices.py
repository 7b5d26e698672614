"""What matrix instructions of a warp give: equal fragments in two warps give equal results, lane by lane.

Of `mma`, the result of a lane depends on the operands of all lanes of its warp and on nothing else. Of `ldmatrix`,
it depends on the bytes of one matrix: eight rows of 16 bytes, whose addresses eight lanes give. Which of them a lane
gets does not matter here. What `stmatrix` stores is known piece by piece, unless it transposes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.exact.machine import Machine
from fencepost.hosts.ptx.exact.made_up_values import items, known, mix, results, seed_of
from fencepost.hosts.ptx.exact.shadow import MADE_UP
from fencepost.hosts.ptx.exact.thread_registers import NEVER_WRITTEN
from fencepost.hosts.ptx.expressions.lanes import Bits
from fencepost.hosts.ptx.reading.module import Group, Instruction
from fencepost.hosts.ptx.runs.simulation_setup import Threads

WARP = 32
ROWS = 8
ROW = 16
"""Bytes."""
LANES = np.arange(WARP, dtype=np.uint64)


def whole_warps(who: Threads) -> bool:
    """Whether threads, in order, are all lanes of some warps."""
    starts = who[::WARP]
    return who.size % WARP == 0 and bool((who == (starts[:, None] + np.arange(WARP)).reshape(-1)).all())


def _of_warps(given: Bits) -> Bits:
    """One number for each warp, from those of its lanes, handed to all of them."""
    total = mix(given.reshape(-1, WARP) + LANES * np.uint64(seed_of("lane"))).sum(axis=1, dtype=np.uint64)
    return np.repeat(total, WARP)


def product(machine: Machine, instruction: Instruction, who: Threads) -> None:
    """`mma`."""
    targets = [item for target in results(instruction) for item in items(target)]
    if not machine.needed.values or not whole_warps(who):
        for target in targets:
            machine.make_up(target, who)
        return
    total = np.full(who.shape, seed_of(instruction.opcode), dtype=np.uint64)
    for operand in instruction.operands[1:]:
        total = mix(total + machine.identity(operand, who))
    together = _of_warps(total) + np.tile(LANES, who.size // WARP)
    for number, target in enumerate(targets):
        made = mix(together + np.uint64(WARP * number))
        machine.made_up.set(target, who, np.ones(who.shape, dtype=bool), made)


def loaded(machine: Machine, instruction: Instruction, who: Threads, where: Bits) -> None:
    """`ldmatrix`."""
    targets = [item for target in results(instruction) for item in items(target)]
    last = int(where.max(initial=0)) + ROW
    small = "m8n8" in instruction.parts and last <= machine.memory.shared.size
    if not machine.needed.values or not small or not whole_warps(who):
        for target in targets:
            machine.make_up(target, who)
        return
    cells = where.astype(np.int64)[:, None] + np.arange(ROW)
    found = np.where(
        machine.shared_made_up[cells],
        machine.shared_identities[cells],
        known(machine.memory.shared[cells].astype(np.uint64)),
    )
    never = machine.shared_made_up[cells] & (machine.shared_identities[cells] == NEVER_WRITTEN)
    total = np.full(who.shape, seed_of(instruction.opcode), dtype=np.uint64)
    for byte in range(ROW):
        total = mix(total + found[:, byte])
    rows = np.where(never.any(axis=1), machine.made_up.fresh(who), total).reshape(-1, WARP)
    for number, target in enumerate(targets):
        first = ROWS * (number % (WARP // ROWS))
        matrix = np.full(len(rows), np.uint64(number), dtype=np.uint64)
        for row in range(first, first + ROWS):
            matrix = mix(matrix + rows[:, row])
        made = mix(np.repeat(matrix, WARP) + np.tile(LANES, len(rows)))
        machine.made_up.set(target, who, np.ones(who.shape, dtype=bool), made)


def stored(
    machine: Machine, instruction: Instruction, who: Threads, some: NDArray[np.bool_]
) -> tuple[Bits, ...] | None:
    """What `stmatrix` stores in the rows of some lanes, four bytes at a time; None if it is not known."""
    last = instruction.operands[-1]
    plain = "trans" not in instruction.parts and "b16" in instruction.parts
    if not machine.needed.values or not plain or not whole_warps(who) or not isinstance(last, Group):
        return None
    given = np.zeros((len(last.items), machine.count), dtype=np.uint64)
    for number, item in enumerate(last.items):
        bits = machine.read(item, who, 32).bits
        named = machine.identity(item, who) | MADE_UP
        given[number, who] = np.where(machine.made_up.of(item, who), named, bits)
    lanes = who[some] % WARP
    first = who[some] // WARP * WARP + lanes % ROWS * 4
    return tuple(given[lanes // ROWS, first + number] for number in range(ROW // 4))
