"""Counters of loops that pick slots as they are, without a remainder: `for i in range(4)` that stores to slot `i`.

Kernels that barriers are placed in leave out what decides how often loops run, so such a counter has no end there,
and its slots would lie outside of their ring. Where the loop ends at a constant, that is followed after all. Where
it ends nobody knows where, a slot is taken to be one of its ring: others, the author must not ask for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from fencepost.ir.expr import Binary, Compare, Const, Expr, Select, Var, leaves

Handed = Mapping[str, Sequence[Expr]]
"""What each name is handed, by all that lead to its block."""


def growing(handed: Handed, ended: Collection[str] = ()) -> set[str]:
    """Names that are handed themselves and more, and those that get their numbers; not what has `ended`."""
    found = {
        name for name in handed.keys() - ended if any(_counts_on(name, number) for number in handed[name])
    }
    changed = bool(found)
    while changed:
        more = {
            name
            for name in handed.keys() - found - set(ended)
            if any(used in found for number in handed[name] for used in unbounded_names(number))
        }
        found |= more
        changed = bool(more)
    return found


def _counts_on(name: str, number: Expr) -> bool:
    return isinstance(number, Binary) and number.op in "+-" and Var(name) in (number.lhs, number.rhs)


def unbounded_names(number: Expr) -> Iterator[str]:
    """The names that a number grows with: a remainder grows with none."""
    todo = [number]
    while todo:
        match todo.pop():
            case Var(name):
                yield name
            case Select(_, then, orelse):
                todo += [then, orelse]
            case Binary(sign, one, other) if sign != "%":
                todo += [one, other]


def counters_of(numbers: Iterable[Expr], handed: Handed) -> set[str]:
    """The names that numbers grow with, directly or through what these are handed, and that do grow."""
    endless = growing(handed)
    found: set[str] = set()
    todo = [name for number in numbers for name in unbounded_names(number)] if endless else []
    while todo:
        name = todo.pop()
        if name in endless and name not in found:
            found.add(name)
            todo += [used for number in handed[name] for used in unbounded_names(number)]
    return found


def ended_by(asked: Compare | None, counters: Collection[str]) -> str:
    """The counter that a condition compares with a constant, if it does nothing else; else an empty name."""
    found = list(leaves(asked)) if asked is not None else []
    names = [leaf.name for leaf in found if isinstance(leaf, Var)]
    if len(names) != 1 or names[0] not in counters:
        return ""
    return names[0] if all(isinstance(leaf, Const | Var) for leaf in found) else ""
