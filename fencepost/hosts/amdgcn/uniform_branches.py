"""Sides of a branch that all lanes take together, although the compiler could not know.

Of `if … else …` on a condition that lanes might decide differently, LLVM makes two stretches, one after the other,
each passed by where no lane wants it:

    s_and_saveexec exec, condition; s_cbranch_execz ELSE;  …then…
    ELSE: s_andn2_saveexec exec, …; s_cbranch_execz END;   …else…
    END:

A side that has a barrier in it is one that all lanes of all waves take, or none does: so whoever was on the one
side is not on the other. Here the block at ELSE is made two, one for each way to get there. Sides without a barrier
stay as they are: lanes of one wave can take both.
"""

from __future__ import annotations

import re

from fencepost.hosts.amdgcn.reader import Block, Function

_OTHER_LANES = re.compile(r"s_(or|andn2|and_not1)_saveexec")


def with_uniform_branches(function: Function) -> Function:
    """The function with each way through such branches by itself."""
    made = Function(
        function.name,
        function.target,
        [Block(list(block.instructions), list(block.successors)) for block in function.blocks],
        is_kernel=function.is_kernel,
    )
    for number in range(len(function.blocks)):
        if _asks_for_other_lanes(made.blocks[number]):
            _split(made, number)
    return made


def _asks_for_other_lanes(block: Block) -> bool:
    """Whether a block ends in the branch around the second side."""
    if not block.instructions or block.instructions[-1].mnemonic != "s_cbranch_execz":
        return False
    return any(_OTHER_LANES.match(each.mnemonic) for each in block.instructions)


def _split(function: Function, number: int) -> None:
    """Make two blocks of one, if a side has a barrier: behind the first side, the second is passed by."""
    block = function.blocks[number]
    falls, target = block.successors
    around = [
        place
        for place, each in enumerate(function.blocks[:number])
        if each.instructions
        and each.instructions[-1].mnemonic == "s_cbranch_execz"
        and each.successors[-1] == number
    ]
    if len(around) != 1 or not _has_barrier(function, around[0] + 1, target):
        return
    behind_first = Block(list(block.instructions), [target])
    function.blocks.append(behind_first)
    block.successors = [falls]
    for place, each in enumerate(function.blocks[:-1]):
        if place != around[0]:
            each.successors = [len(function.blocks) - 1 if to == number else to for to in each.successors]


def _has_barrier(function: Function, start: int, end: int) -> bool:
    """Whether there is one between two blocks; the sides of a branch are laid out one behind the other."""
    return any(
        each.mnemonic.startswith("s_barrier")
        for block in function.blocks[start:end]
        for each in block.instructions
    )
