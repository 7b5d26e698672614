"""By what numbers that are forwarded can be reduced without anything noticing.

Of a counter that picks slots of a ring of three, only the remainder by three matters, however far it counts. Counters
are handed from name to name: through a loop, through the one around it and back. So what matters of a name is what
it decides itself, and what matters of the names that are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, lcm
from typing import NamedTuple

from fencepost.analysis.loop_periods import Shift, shift_in
from fencepost.ir import ops
from fencepost.ir.buffers import BufferArg
from fencepost.ir.expr import Condition, Expr, Var, leaves

LARGEST_MODULUS = 1 << 20
"""What numbers are reduced by: a count of bytes that moves on by a tile has few values, yet a large period."""


class _Given(NamedTuple):
    """A name that is made from another."""

    source: str
    name: str
    shift: Shift | None
    """How it changes with the other; None if that is not the same everywhere."""


def moduli(
    decided: Mapping[str, Sequence[Expr | Condition]], sources: Mapping[str, Sequence[ops.Forwarded]]
) -> dict[str, int]:
    """For names that are forwarded: by what each can be reduced, if it can.

    `decided` are the parts that a name decides itself, none for a buffer; `sources` what each name can become.
    """
    found: dict[str, int | None] = {name: _of_parts(name, decided.get(name)) for name in sources}
    given: list[_Given] = []
    for name, values in sources.items():
        for value in values:
            if isinstance(value, BufferArg):
                found[value.name] = None
            elif isinstance(value, Expr):
                used = {leaf.name for leaf in leaves(value) if isinstance(leaf, Var)}
                given += [
                    _Given(other, name, shift_in(other, value)) for other in sorted(used) if other in found
                ]
    changed = True
    while changed:
        changed = False
        for each in given:
            before = found[each.source]
            after = _joined(before, each.shift, found[each.name])
            if after != before:
                found[each.source] = after
                changed = True
    return {name: modulus for name, modulus in found.items() if modulus is not None and modulus > 1}


def _of_parts(name: str, parts: Sequence[Expr | Condition] | None) -> int | None:
    """By what a number can be reduced as far as what it decides itself goes; None if it cannot."""
    if parts is None:
        return 1
    if not parts:
        return None
    modulus = 1
    for part in parts:
        shift = shift_in(name, part)
        if shift is None or shift.delta:
            return None
        modulus = lcm(modulus, shift.rounds)
    return modulus if modulus <= LARGEST_MODULUS else None


def _joined(modulus: int | None, shift: Shift | None, of_name: int | None) -> int | None:
    """The modulus of a name once one that is made from it is looked at."""
    if modulus is None or shift is None:
        return None
    rounds = shift.rounds
    if shift.delta:
        if of_name is None:
            return None
        # So many rounds further, it is greater by a multiple of what it is reduced by.
        rounds *= of_name // gcd(of_name, shift.delta)
    joined = lcm(modulus, rounds)
    return joined if joined <= LARGEST_MODULUS else None
