"""How often blocks run: how much more often the body of a loop does, and what that is in labelled blocks.

A region runs as often as what is around it, times the iterations of a loop (`in_body`) or the chance of a side
(`on_side`); so a barrier in a loop costs as many as it has iterations.

In labelled blocks, what enters a loop runs its iterations and leaves again.

Loops are taken from the inside out. A pass through a loop starts at its header with one run, which is divided where
control flow is; a loop inside is one step of it, and an edge back to the header ends it. What enters a loop elsewhere
than at its header counts as if it had entered there. At a branch to two blocks

* with `expect`, each edge has its probability, also one that leads back or out of the loop;
* without it, where both blocks lie ahead in the same pass, the estimate for conditionals holds; the sides of a
  divergent branch, which run one after the other, get equal parts;
* without it, where one edge leads back or out, the pass goes on along the other in full, whatever leaves on the way.

A loop makes as many passes as its `trip` says. Without that, a pass is the last one with the probability of all exits
that have one, and if there are others, with one in so many as unknown loops are estimated to run besides: a loop that
is left by a branch with `expect=0.05` alone runs 20 times. What entered a loop leaves it in these proportions, in
equal parts over exits of which nothing is known. From the outside in, the passes of loops are multiplied in the end.

Each edge is looked at once, and once more for each loop that it leaves; finding the loops takes no less. Nothing that
can be reached has frequency 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.flow.blocks import Assumed, Estimates, Loop, bounded, chances
from fencepost.flow.unstructured import Shape
from fencepost.ir import ops
from fencepost.ir.expr import is_divergent
from fencepost.ir.trace import CapturedTrace, Graph


def in_body(frequency: float, loop: ops.Iterate, estimates: Estimates) -> float:
    """How often the body of a loop runs that is itself reached so often."""
    expected = estimates.trip if loop.expect is None else loop.expect
    return _scaled(frequency, expected if loop.trip is None else loop.trip)


def on_side(frequency: float, conditional: ops.Conditional, side: Graph, estimates: Estimates) -> float:
    """How often a side of a uniform conditional runs that is itself reached so often."""
    then, orelse = chances(estimates.taken if conditional.expect is None else conditional.expect)
    return _scaled(frequency, then if side is conditional.then else orelse)


def _scaled(frequency: float, factor: float) -> float:
    """Only what runs no time at all has frequency 0, and all in it has too."""
    return bounded(frequency * factor) if frequency and factor else 0.0


class _Exit(NamedTuple):
    """An edge out of a loop."""

    block: int
    target: int
    runs: float | None
    """How often it is taken in one pass; None if nothing is known of it."""


def find_frequencies(
    shape: Shape, trace: CapturedTrace, estimates: Estimates
) -> tuple[list[float], set[Assumed]]:
    """How often each labelled block runs, 0 if it cannot be reached; and what was assumed about branches."""
    spread = _Spread(shape, trace, estimates)
    spread.find()
    return spread.runs, spread.assumed


@dataclass(slots=True)
class _Spread:
    """Frequencies while they are computed."""

    shape: Shape
    trace: CapturedTrace
    estimates: Estimates
    runs: list[float] = field(default_factory=list)
    """How often each block runs: in one pass of the loop around it first, in the whole kernel in the end."""
    entered: list[float] = field(default_factory=list)
    """How often each loop is entered in one pass of the loop around it."""
    passes: list[float] = field(default_factory=list)
    """How many passes each loop makes when it is entered, and in the whole kernel in the end."""
    exits: list[list[_Exit]] = field(default_factory=list)
    assumed: set[Assumed] = field(default_factory=set)

    def find(self) -> None:
        """Compute everything."""
        shape = self.shape
        self.runs = [0.0] * len(shape.successors)
        self.entered = [0.0] * len(shape.loops)
        self.passes = [1.0] * len(shape.loops)
        self.exits = [[] for _ in shape.loops]
        # A loop has a higher number than the one around it.
        for loop in reversed(shape.loops):
            self.spread(loop.index, loop.header)
            self.passes[loop.index] = self.passes_of(loop)
        self.spread(-1, 0)
        for loop in shape.loops:
            around = self.passes[loop.parent] if loop.parent >= 0 else 1.0
            self.passes[loop.index] = bounded(around * self.entered[loop.index] * self.passes[loop.index])
        for block, loop_around in enumerate(shape.loop_of):
            if loop_around >= 0:
                self.runs[block] = bounded(self.runs[block] * self.passes[loop_around])

    # ------------------------------------------------------------ one pass

    def spread(self, region: int, start: int) -> None:
        """Divide one run of `start` among what follows it in a loop, or in the kernel for region -1."""
        self.runs[start] = 1.0
        for item in self.shape.inside[region]:
            if isinstance(item, Loop):
                self.go_on_behind(item, region)
            else:
                self.go_on(item, region)

    def go_on(self, block: int, region: int) -> None:
        """Distribute the runs of a block that lies in `region` and in no loop inside it."""
        runs = self.runs[block] = bounded(self.runs[block])
        targets = self.shape.successors[block]
        branch = self.trace.blocks[block].last
        ahead = [target for target in targets if self.is_ahead(target, region)]
        shares: tuple[float, ...] | None = None
        if isinstance(branch, ops.CondBranch) and len(targets) > 1:
            if branch.expect is not None:
                shares = chances(branch.expect)
            elif len(ahead) > 1 and is_divergent(branch.condition):
                shares = (0.5, 0.5)
            elif len(ahead) > 1:
                shares = chances(self.estimates.taken)
                self.assumed.add(Assumed(branch, "taken", self.estimates.taken))
        for number, target in enumerate(targets):
            part = None if shares is None else runs * shares[number]
            if target in ahead:
                self.arrive(target, runs if part is None else part, region)
            elif region >= 0 and target != self.shape.loops[region].header:
                self.exits[region].append(_Exit(block, target, part))

    def go_on_behind(self, loop: Loop, region: int) -> None:
        """Distribute what has entered a loop, which lies in `region`, over its exits."""
        entered = self.entered[loop.index] = bounded(self.entered[loop.index])
        exits = self.exits[loop.index]
        # An edge that leaves `region` as well, and of which nothing is known, takes nothing away from the others.
        far = [not self.lies_in(exit_.target, region) for exit_ in exits]
        vague = sum(exit_.runs is None and not leaves for exit_, leaves in zip(exits, far, strict=True))
        rest = 1 / (self.estimates.trip if loop.trip is None else max(loop.trip, 1))
        weights = [
            exit_.runs if exit_.runs is not None else None if leaves else rest / vague
            for exit_, leaves in zip(exits, far, strict=True)
        ]
        total = sum(weight for weight in weights if weight is not None)
        for exit_, leaves, weight in zip(exits, far, weights, strict=True):
            part = None if weight is None else bounded(entered * weight / total)
            if leaves:
                self.exits[region].append(exit_._replace(runs=part))
            elif part is not None and self.is_ahead(exit_.target, region):
                self.arrive(exit_.target, part, region)

    def passes_of(self, loop: Loop) -> float:
        """How many passes a loop makes each time that it is entered."""
        if loop.trip is not None:
            return max(loop.trip, 1)
        exits = self.exits[loop.index]
        known = sum(exit_.runs for exit_ in exits if exit_.runs is not None)
        vague = [exit_.block for exit_ in exits if exit_.runs is None]
        if exits and not vague:
            return max(bounded(1 / known), 1.0)
        # Where somebody would say how often it runs: at its end if that decides about it, else where it is left.
        place = min(vague, key=lambda block: (block not in loop.latches, block), default=min(loop.latches))
        branch = self.trace.blocks[place].last
        assert branch is not None
        self.assumed.add(Assumed(branch, "trip", self.estimates.trip))
        return max(1 / (known + 1 / self.estimates.trip), 1.0) if known else self.estimates.trip

    # ------------------------------------------------------------ where a block lies

    def lies_in(self, block: int, region: int) -> bool:
        """Whether a block lies in a loop, or in one inside it."""
        return self.shape.loop_of[block] == region or self.inner(block, region) is not None

    def is_ahead(self, target: int, region: int) -> bool:
        """Whether a target lies in the same pass of `region` as what leads to it."""
        back = region >= 0 and target == self.shape.loops[region].header
        return not back and self.lies_in(target, region)

    def inner(self, block: int, region: int) -> int | None:
        """The outermost of the loops around a block that lie in `region`."""
        loops, loop = self.shape.loops, self.shape.loop_of[block]
        depth = loops[region].depth + 1 if region >= 0 else 1
        while loop >= 0 and loops[loop].depth > depth:
            loop = loops[loop].parent
        return loop if loop >= 0 and loops[loop].parent == region else None

    def arrive(self, target: int, runs: float, region: int) -> None:
        """Add runs to a block of `region`, or to the loop in it that they enter there."""
        loop = self.inner(target, region)
        if loop is None:
            self.runs[target] += runs
        else:
            self.entered[loop] += runs
