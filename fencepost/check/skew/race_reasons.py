"""Why two accesses of skewed waves are not in order, in a sentence: who is behind, and where the two meet.

The k-th barrier of one wave meets the k-th of the other. So the last barrier that the second access's wave has passed
meets one of the first access's wave that is easily found, and that one either comes too early, in front of the first
access, or finds it unfinished.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from fencepost.check.concrete_access import Effect, shown
from fencepost.check.skew.waves_apart import BARRIERS
from fencepost.ir import ops


class WaveAccess(NamedTuple):
    """An access as one wave makes it."""

    op: ops.Operation
    effect: Effect
    wave: int
    number: int
    """Its place in the sequence that all waves share."""
    arrived: int
    """Barriers that the wave has met before it."""


class WaveRun(Protocol):
    """An operation that a wave runs."""

    @property
    def op(self) -> ops.Operation:
        """What it is."""

    @property
    def number(self) -> int:
        """Its place in the sequence that all waves share."""


R = TypeVar("R", bound=WaveRun)


class MetBarrier(NamedTuple):
    """A barrier that a wave meets."""

    op: ops.Operation
    number: int
    who: str
    """The condition on which waves meet it, if not all do."""


class Why(NamedTuple):
    """An explanation."""

    text: str
    unfenced: ops.Operation | None = None
    """A barrier that lets an unfinished access pass: with a fence it would not."""


def barriers_of(events: Sequence[R], who: Callable[[R], str]) -> list[MetBarrier]:
    """The barriers among what a wave runs; `who` tells the condition around each."""
    return [
        MetBarrier(event.op, event.number, who(event)) for event in events if isinstance(event.op, BARRIERS)
    ]


def why_skewed(
    kind: str, first: WaveAccess, second: WaveAccess, one: Sequence[MetBarrier], other: Sequence[MetBarrier]
) -> Why | None:
    """Why the second access, later in the program, does not come after the first; None if the waves are in step.

    `one` and `other` are the barriers of the first and of the second access's wave.
    """
    behind = _held(one, second.number) - _held(other, second.number)
    if not behind:
        return None
    late, early = (first, second) if behind > 0 else (second, first)
    holding = [barrier for barrier in (one if behind > 0 else other) if _holds(barrier, second.number)]
    head = (
        f"wave {late.wave} runs {_rendezvous(abs(behind))} behind wave {early.wave}: "
        f"it was delayed {_at(holding[-1].op)}, as all waves with `{holding[-1].who}` are"
    )
    if kind == "wrong order":
        return Why(f"{head}. {_done_before(first, second, one, other)}")
    met = second.arrived
    if not met:
        return Why(f"{head}. Wave {second.wave} has met no barrier before {_line(second.op)}")
    here, there = other[met - 1].op, one[met - 1].op if met <= len(one) else None
    if there is None:
        return Why(head)
    text = (
        f"{head}. The last barrier that wave {second.wave} passes before {_line(second.op)} is {_the(here)}; "
    )
    text += f"there it meets wave {first.wave} {_at(there)}, "
    what = f"wave {first.wave}'s {shown(first.op).mnemonic} {_at(first.op)}"
    if met <= first.arrived:
        return Why(f"{text}before {what}")
    if first.effect.engine:
        return Why(f"{text}when nothing has waited for {what}")
    raw = isinstance(there, ops.WorkgroupBarrier)
    return Why(
        f"{text}where {what} may still be unfinished: {'a workgroup barrier has no fence' if raw else 'no fence'}",
        there if raw else None,
    )


def _done_before(
    first: WaveAccess, second: WaveAccess, one: Sequence[MetBarrier], other: Sequence[MetBarrier]
) -> str:
    """For accesses that are ordered against the program."""
    met = first.arrived
    if not 0 < met <= min(len(one), len(other)):
        return (
            f"Wave {second.wave} is done with the later access before wave {first.wave} makes the earlier one"
        )
    here, there = one[met - 1].op, other[met - 1].op
    return (
        f"The last barrier that wave {first.wave} passes before {_line(first.op)} is {_the(here)}; there it meets "
        f"wave {second.wave} {_at(there)}, which is through with {_line(second.op)} by then"
    )


def _holds(barrier: MetBarrier, number: int) -> bool:
    return bool(barrier.who) and barrier.number < number


def _held(barriers: Sequence[MetBarrier], number: int) -> int:
    """How many barriers a wave has met that not all waves meet, up to a place."""
    return sum(_holds(barrier, number) for barrier in barriers)


def _rendezvous(count: int) -> str:
    return "one rendezvous" if count == 1 else f"{count} rendezvous"


def _at(op: ops.Operation) -> str:
    op = shown(op)
    return f"on line {op.span.line}" if op.span else f"at a {op.mnemonic}"


def _line(op: ops.Operation) -> str:
    op = shown(op)
    return f"line {op.span.line}" if op.span else f"its {op.mnemonic}"


def _the(op: ops.Operation) -> str:
    op = shown(op)
    return f"the one on line {op.span.line}" if op.span else f"a {op.mnemonic}"
