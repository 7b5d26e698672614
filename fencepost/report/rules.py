"""What `check` looks for, by code: what tools that list rules show of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding."""

    name: str
    """In one word, for machines."""
    title: str
    help: str
    """What it means, and what to do about it."""


RULES = {
    "FP001": Rule(
        "DataRace",
        "Two waves access the same bytes of shared memory in no order",
        "One of the two accesses writes, and neither a barrier nor a wait orders them on this path. Put a "
        "barrier between them; where an async engine makes the first access, wait for that engine before "
        "the barrier. `fencepost fix` does both.",
    ),
    "FP002": Rule(
        "Deadlock",
        "A wave waits for something that never happens",
        "Some waves wait at a barrier that the others never reach, or for a phase of an mbarrier that never "
        "completes. Move the barrier to where all waves reach it, or correct the phase, the number of "
        "arrivals or the bytes expected.",
    ),
    "FP003": Rule(
        "SplitBarrierMisuse",
        "The halves of a split barrier do not alternate",
        "Each signal needs one wait on every path, and the next signal comes after it. Put in the half that "
        "is missing, take out the one that is too much, or move it out of the conditional.",
    ),
    "FP004": Rule(
        "WrongOrder",
        "Skewed waves access shared memory in the wrong order",
        "Barriers order the two accesses, but the wrong way round: one group of waves is a barrier behind. "
        "One more barrier between them, for both groups, restores the order.",
    ),
    "FP005": Rule(
        "OutOfRange",
        "An access lies outside of its buffer",
        "The slot or the bytes are beyond the end of the buffer. Correct the index, or give the buffer as "
        "many slots as it takes.",
    ),
    "FP006": Rule(
        "MbarrierMisuse",
        "An mbarrier is out of step",
        "A wave arrives before the phase before has completed, waits for a phase that may be over, or uses "
        "an mbarrier that is not initialized. Correct the parity of the wait, the number of arrivals, or "
        "where it is initialized.",
    ),
}  # fmt: skip
