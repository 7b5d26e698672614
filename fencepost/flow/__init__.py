"""Program points: a kernel as blocks of operations with edges between them, whatever control flow it has.

A block is a run of operations that are executed together. An edge says that execution can go from one
block to another:

* a loop that may run zero times has an edge around its body, one that runs at least once has none,
  and one that runs at most once has no edge back;
* a uniform conditional has an edge to each side;
* a divergent conditional runs its sides *one after the other*, each under a guard that says which waves
  take part. That is how the hardware runs it, and it is what makes two sides meet: an access on one side
  and an access on the other are made by different waves, and nothing orders them.

Each block has a frequency, which placements are weighed by. Where a kernel does not say how long its loops are and
which sides are likely, it is computed from `Estimates`, and `Flow.assumed` lists where.

`analysis` and `check` both look at a kernel through this package; beside the kernel itself they share nothing else.
"""

from fencepost.flow.blocks import DEFAULT_ESTIMATES, Assumed, Block, Estimates, Flow, Guard, Loop, Position
from fencepost.flow.build_flow import build_flow
from fencepost.flow.read_again import read_again

__all__ = [
    "DEFAULT_ESTIMATES",
    "Assumed",
    "Block",
    "Estimates",
    "Flow",
    "Guard",
    "Loop",
    "Position",
    "build_flow",
    "read_again",
]
