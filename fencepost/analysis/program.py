"""A kernel reduced to what decides about barriers: steps that add, clear or conflict with pending accesses.

The state between two steps is a pair of bit sets: accesses that are *pending* (a barrier would order them
before whatever follows) and operations of engines *in flight* (nothing but a wait helps, and a barrier after it).

A wait that leaves at most N operations of a counter outstanding completes one if at least N operations of that
counter were issued after it. So the bits in flight come in *levels*: level n holds those with n later
operations, the last level those with at least as many as any wait could ask for. An operation that is counted
moves all bits of its counter up one level; a wait for N completes those of level N and above. Where a counter counts
groups, it is the end of a group that moves bits up, and level 0 is the group that is still open.

A divergent conditional is one unit: no barrier may stand inside, so the block in front of it gets a step that
conflicts with everything that any operation inside would conflict with.

A split barrier orders what was pending when it was signalled, once it is waited for. So for each split barrier the
pending bits are there once more: those that were added since it was signalled last. A signal clears these, a wait
clears whatever is pending and not among them.

Where groups of waves are skewed (barriers inside divergent conditionals), every bit is there once for each pair of
groups and for how near it is to being ordered: see `skew`.

Barriers and waits that stand in the kernel are no steps but a placement (`existing`), so that they can be
taken away or changed like the ones that are put in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from fencepost.analysis.access_class import ClassTable
from fencepost.analysis.block_instances import BlockInstances
from fencepost.analysis.classify_accesses import MOST_GRANULE
from fencepost.analysis.skew.transfer import Skewed
from fencepost.analysis.transfer import InStep, Placement, Sync, Turn
from fencepost.flow import Flow, Position
from fencepost.flow.blocks import is_rendezvous
from fencepost.ir import ops
from fencepost.ir.buffers import Buffer

MOST_COUNTED = 63
"""No counter of any target is wider than six bits: no wait that is put in leaves more operations outstanding."""
MOST_ASKED = 1023
"""A wait of the kernel that leaves more than this outstanding is refused: its levels would be too many."""


class Step(NamedTuple):
    """What happens at one operation, or in front of a divergent conditional or call."""

    gap: int
    """The operation's place in its block: a barrier in this gap stands right before it."""
    adds: int = 0
    """An access: what becomes pending, or in flight if `by_engine`."""
    conflicts: int = 0
    """Pending bits that it must not overtake."""
    in_flight: int = 0
    """Bits in flight, on all levels, that it must not overtake."""
    by_engine: bool = False
    number: int = -1
    """The class of an access."""
    clears: bool = False
    """A barrier that is part of an operation; or, if there is a `turn`, whatever that says."""
    completes: int = 0
    """A wait that only some waves reach: bits that are complete after it, on the levels that it reaches."""
    counts: int = 0
    """Bits of its counter on all levels but the last: one level up."""
    may_complete: int = 0
    may_count: int = 0
    """The same where it is not certain, because not every wave that made the copy reaches it: both can be."""
    settles: int = 0
    """A wait for an mbarrier that all waves reach: copies that everybody knows to be complete then."""
    turn: Turn | None = None
    """Where groups of waves are skewed: what becomes of pending bits."""

    @property
    def moves_copies(self) -> bool:
        """Whether it changes anything about what is in flight."""
        return bool(self.completes or self.counts or self.may_complete or self.may_count)


Moves = tuple[tuple[int, int], ...]
"""Bits that change along an edge, and by how many places (to the left if positive)."""


class Edge(NamedTuple):
    """A way out of an instance; `moves` says how grouped accesses get older, or young again when a loop is left."""

    target: int
    moves: Moves
    loop: int
    """The loop whose back edge this is, or -1."""
    in_flight_moves: Moves = ()
    """The same for bits in flight, on all levels."""


class Run(NamedTuple):
    """The result of running an instance."""

    steps: list[Step]
    """The steps that it had then."""
    end: tuple[int, int]
    before: list[tuple[int, tuple[int, int]]]
    """The gaps in which barriers stand, with the state right before each."""
    clean: bool
    """Whether no step conflicted with anything."""


Runs = dict[tuple[int, tuple[int, int], frozenset[tuple[int, Sync]]], Run]
"""Runs of instances, by the state at the start and the barriers in the block."""


def moved(bits: int, moves: Moves) -> int:
    """`bits` after an edge."""
    if not moves or not bits:
        return bits
    after = 0
    for mask, places in moves:
        here = bits & mask
        bits ^= here
        after |= here << places if places >= 0 else here >> -places
    return bits | after


@lru_cache(maxsize=64)
def _ones(levels: int, width: int) -> int:
    """The lowest bit of each level: times what is on one level, that is the same on all of them."""
    return ((1 << levels * width) - 1) // ((1 << width) - 1)


@dataclass(slots=True)
class Program:
    """The steps of every instance and the edges between them.

    Instances are numbered; `places` tells for each the block, as positions name it, that it is an instance of.
    """

    flow: Flow
    table: ClassTable
    instances: BlockInstances
    width: int
    """Bits of one level."""
    levels: int
    """Levels of bits in flight."""
    transfer: InStep | Skewed
    """How pending bits change: waves in step, or skewed."""
    groups: frozenset[str] = frozenset()
    """Counters that count groups."""
    barrier_ids: tuple[int, ...] = ()
    """The split barriers of the program."""
    inside_splits: frozenset[Position] = frozenset()
    """Positions between a signal and its wait, where no other barrier can stand."""
    mbarriers: dict[Buffer, int] = field(default_factory=dict)
    """For each buffer of mbarriers: the copies that a wait for one of them settles."""
    places: list[int] = field(default_factory=list)
    instances_of: dict[int, list[int]] = field(default_factory=dict)
    """For each block that can be reached, as positions name it, its instances."""
    steps: list[list[Step]] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)
    waits_fixed: bool = False
    """Whether no waits are put in: what is in flight is left to those of the kernel, and conflicts with nothing."""
    drains: bool = True
    """Whether a barrier that is put in and has to wait drains every counter, or waits for just what is needed."""
    existing: Placement = field(default_factory=dict)
    """The barriers and waits of the kernel."""
    existing_ops: dict[Position, ops.SyncOperation] = field(default_factory=dict)
    runs: Runs | None = None
    """Where many similar placements are tried: an instance that looks as it did before is not run again."""
    came_from: list[list[tuple[int, int]]] | None = None
    """For each instance, where it can be reached from and the loop whose back edge that is; made when first used."""

    @property
    def order(self) -> list[int]:
        """The instances that can be reached, each before its successors except along edges back."""
        return self.instances.order

    @property
    def has_closed_places(self) -> bool:
        """Whether there are places where no barrier can stand: in divergent conditionals, inside split barriers."""
        return bool(self.flow.sealed or self.inside_splits)

    def op_at(self, instance: int, gap: int) -> ops.Operation:
        """The operation at a place of an instance."""
        return self.flow.blocks[self.instances.nodes[instance].block].ops[gap]

    def delayed_at(self) -> set[ops.Operation]:
        """The barriers that only some waves meet."""
        if isinstance(self.transfer, InStep):
            return set()
        nodes, blocks = self.instances.nodes, self.flow.blocks
        return {
            op
            for instance in self.transfer.groups.arrivals
            for op in blocks[nodes[instance].block].ops
            if is_rendezvous(op)
        }

    def on_levels(self, bits: int, first: int = 0, end: int | None = None) -> int:
        """`bits` on every level from `first` up to, not including, `end`."""
        levels = (self.levels if end is None else end) - first
        if not bits or levels <= 0:
            return 0
        assert not bits >> self.width, "bits of one level"
        return bits * _ones(levels, self.width) << first * self.width

    def of_any_level(self, in_flight: int) -> int:
        """The classes among bits in flight."""
        found, mask = 0, (1 << self.width) - 1
        while in_flight:
            found |= in_flight & mask
            in_flight >>= self.width
        return found

    def completed_by(self, counter: str, count: int) -> int:
        """The bits that are complete once at most `count` operations (or groups) of a counter are outstanding."""
        first = count + (counter in self.groups)
        return self.on_levels(self.counted(counter), first)

    def counted(self, counter: str) -> int:
        """The bits, on one level, of what a counter counts."""
        return self.table.engines.get(counter, 0) * self.transfer.copies

    def waiting(self, counts: dict[str, int], *, rendezvous: bool = True) -> Sync:
        """A barrier or wait with counts."""
        completes = 0
        for counter, count in counts.items():
            completes |= self.completed_by(counter, count)
        return Sync(completes, rendezvous, tuple(counts.items()))

    def after_step(self, step: Step, pending: int, in_flight: int) -> tuple[int, int]:
        """The state behind a step."""
        pending, in_flight = self.after_step_without_adds(step, pending, in_flight)
        return (pending, in_flight | step.adds) if step.by_engine else (pending | step.adds, in_flight)

    def after_step_without_adds(self, step: Step, pending: int, in_flight: int) -> tuple[int, int]:
        """What becomes of a state at a step, without what the step itself adds."""
        if step.clears and step.turn is None:
            return 0, in_flight
        if step.settles:
            pending &= ~(step.settles * self.transfer.spread)
            in_flight &= ~self.on_levels(step.settles)
        if in_flight:
            done, perhaps = in_flight & step.completes, in_flight & step.may_complete
            if done or perhaps:
                pending, in_flight = pending | self.completed(done | perhaps), in_flight ^ done
            up, perhaps = in_flight & step.counts, in_flight & step.may_count
            in_flight = (in_flight ^ up) | (up | perhaps) << self.width
        if step.turn is not None:
            pending = self.transfer.turned(step.turn, pending)
        return pending, in_flight

    def completed(self, done: int) -> int:
        """What bits in flight are once they are waited for: pending, for every split barrier or pair of groups."""
        return self.transfer.completed_copies(self.of_any_level(done))

    def after_sync(self, sync: Sync, pending: int, in_flight: int) -> tuple[int, int]:
        """The state behind a barrier or wait."""
        done = in_flight & sync.completes
        if done:
            pending, in_flight = pending | self.completed(done), in_flight ^ done
        return self.transfer.through(sync, pending), in_flight


NAMES_SHOWN = 4
"""Names that are listed where they are not followed."""


def limits_of(program: Program) -> tuple[str, ...]:
    """What was not distinguished because that would take too long, in words; each can only add conflicts."""
    found: list[str] = []
    names = list(dict.fromkeys(program.instances.dropped))
    if names:
        listed = ", ".join(f"%{name}" for name in names[:NAMES_SHOWN]) + (
            " and more" if len(names) > NAMES_SHOWN else ""
        )
        found.append(
            f"numbers with too many values, or too many combinations of them, are not followed: {listed}"
        )
    granule = program.table.granule
    if granule > 1:
        what = "whole buffers" if granule >= MOST_GRANULE else f"steps of {granule} bytes"
        found.append(f"too many different byte ranges: only {what} are distinguished")
    if program.table.solver.given_up:
        many = program.table.solver.given_up
        found.append(f"too many questions about byte ranges: {many} of them count as overlapping")
    return tuple(found)
