"""What is said about a kernel in PTX: its verdict, what was found, and why something could not be decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["proven", "race", "undecided"]
Severity = Literal["error", "warning"]
OTHER_WAYS = ", and for other ways with"
"""In front of numbers that a solver has found, where a verdict says what it holds for: which it finds may change."""
Thread = tuple[int, int, int]
"""A thread of the block: its `tid.x`, `tid.y` and `tid.z`."""
OTHER_PARITY = "wait for the other parity"
COUNTED = "with k counting its waits from 0"
"""What a fix says of a wait with the wrong parity, in which the line's own words take the place of a number."""


@dataclass(frozen=True)
class Site:
    """Where an instruction stands: its line in the PTX text and, with line tables, in the source."""

    ptx_line: int
    instruction: str
    source_file: str | None = None
    source_line: int | None = None
    """The innermost line: for inlined code the line in the function, not its caller's."""
    inlined_at: tuple[int, ...] = ()
    """The lines of the calls through which the code was inlined, innermost first."""
    near: int = 0
    """How many of these calls, innermost first, are in the same file."""

    def __str__(self) -> str:
        if self.source_line:
            return f"{self.source_file or 'source'}:{self.source_line}"
        return f"PTX line {self.ptx_line}"

    def is_same_source(self, other: Site) -> bool:
        """Whether both were made of one line, called on one way."""
        return (self.source_file, self.source_line, self.inlined_at) == (
            other.source_file,
            other.source_line,
            other.inlined_at,
        )


@dataclass(frozen=True)
class SharedVariable:
    """A variable in shared memory; all that is dynamic is one."""

    name: str
    """What PTX calls it."""
    size: int

    @property
    def is_dynamic(self) -> bool:
        """Whether the launch says how large it is."""
        return " " in self.name


def bytes_of(variable: SharedVariable | None) -> str:
    """What two accesses touch, for messages: `bytes of "s"`."""
    if variable is None:
        return "bytes of shared memory"
    return f"bytes of {variable.name if variable.is_dynamic else f'`{variable.name}`'}"


@dataclass(frozen=True)
class Wait:
    """A wait for copies that a finding is about."""

    site: Site
    said: str
    """What it does."""
    wrong: bool = True
    """Whether it waits for too little; else something else is missing."""


@dataclass(frozen=True)
class InLoop:
    """Where an access is in its loop: the line of the loop, and the number of the iteration, from 1."""

    line: int
    iteration: int
    repeated: tuple[int, ...] = ()
    """Lines whose accesses are in the loop several times: those of loops inside of it, or it is unrolled."""


@dataclass(frozen=True)
class LastSync:
    """An arrival or a barrier that is in order before an access, and before another one that should be."""

    site: Site
    said: str


@dataclass(frozen=True)
class MissingBarrier:
    """A barrier that two accesses lack, and that can stand between them."""

    of_warp: bool
    """Whether one of their warp is enough."""
    later: bool
    """Whether the second access is in a later iteration."""


@dataclass(frozen=True)
class Finding:
    """A race (FP001) or a barrier that some threads of a block miss (FP002), with two threads that show it."""

    code: str
    severity: Severity
    message: str
    first: Site
    second: Site
    threads: tuple[Thread, Thread]
    bytes: tuple[int, int] | None
    """The first byte both touch, counted from the start of their shared variable, and how many they share."""
    values: Mapping[str, int] = field(default_factory=dict)
    """The parameters and the block that it was seen with."""
    fix: str = ""
    in_fix: tuple[Site, ...] = ()
    """The places that the fix names, in its order, if they are not the first and the second one."""
    last_sync: LastSync | None = None
    """How far the second thread has waited for the first one, if a run has followed that."""
    build: str = ""
    """Which build of a CUDA file showed it, if it is not the one as compiled."""
    wait: Wait | None = None
    """The wait for a copy that one of the accesses is."""
    chosen: tuple[str, ...] = ()
    """Parameters among the values that nobody gave: the run made them up."""
    mbarriers: tuple[str, str] | None = None
    """The mbarriers that the two places are about, in words."""
    causes: bool = False
    """Whether whatever else was found may follow from it."""
    blocks: tuple[int, int] | None = None
    """The ranks of the blocks that the two threads are in, if a cluster was run."""
    variable: SharedVariable | None = None
    """The variable that the bytes are of."""
    iterations: tuple[InLoop | None, InLoop | None] = (None, None)
    """Where the two places are in their loops, if the run that showed it knows."""
    barrier: MissingBarrier | None = None
    """The barrier that mends it, if one does."""
    in_one_warp: bool = False
    """Whether both threads are in one warp, as all are that the two places were seen to race for."""
    visits: tuple[int, int] = (0, 0)
    """How often each thread had come to its place, this time included; 0 if that is not known."""


@dataclass(frozen=True)
class Reason:
    """Why a kernel is not decided: the instruction to blame, where it stands, and what about it is not known."""

    message: str
    site: Site | None = None
    seen: bool = field(default=False, compare=False)
    """Whether a run has shown a race, with numbers, data or a block that may not occur."""

    def __str__(self) -> str:
        if self.site is None:
            return self.message
        return f"{self.message}: `{self.site.instruction}` (PTX line {self.site.ptx_line})"


@dataclass(frozen=True)
class KernelVerdict:
    """The verdict on one kernel, and for which launches it holds."""

    kernel: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    reasons: tuple[Reason, ...]
    holds_for: str
    barriers: int
    shared_accesses: int
    """Of PTX: compilers make several of one in the source, as they unroll loops."""
    exact: bool = False
    """Whether it comes from runs that follow all synchronization: mbarriers, fences, clusters."""
    cut_short: bool = False
    """Whether it is not decided, and runs were ended before they had shown all that they would."""
    written_barriers: int | None = None
    """The barriers in the source, where line tables tell them."""
    has_copies: bool = False
    """Whether a line of the source has become several accesses of one kind."""
    notes: tuple[str, ...] = ()
    """What else there is to say, such as that another build was not decided."""
