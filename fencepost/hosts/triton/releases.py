"""What differs between the releases of Triton that fencepost works with: one row for each.

A release that has no row is refused by name (`versions`): where membar stands among the passes, what its barrier is
called and what operations do changes without notice, and a wrong reading would be silent. A release gets its row once
the tests have run on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

PASS = "add_membar"
CONVERSION = "add_to_llvmir"
"""The passes that put in barriers: membar by itself, or the conversion to LLVM's dialect, which begins with it."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Triton, by what is different in others."""

    name: str
    """Its first two numbers; corrections (3.9.1) and local builds (3.9.0+git) go with it."""
    package: str
    """The one that the tests install."""
    membar: str = CONVERSION
    """The pass that puts in barriers."""
    barrier: str = '"ttg.barrier"() <{addrSpace = 1 : i32}> : () -> ()'
    """A barrier that makes shared memory visible, in generic form,"""
    written: str = "ttg.barrier local"
    """and in the form that Triton prints."""
    group_waits_meet: bool = False
    """Whether a wait for the matrix operations of several warp groups ends in a barrier unless it is marked
    (`warpGroupLocal`)."""
    atomics_meet: bool = False
    """Whether atomics on global memory that acquire or release have barriers of their own, besides that of their
    scratch memory."""
    arrivals_meet: bool = False
    """Whether waves meet in front of what one thread does to an mbarrier for all: an arrival, bytes to expect."""
    membar_is_known: bool = False
    """Whether it is known where membar surely puts barriers (`membar_at_least`)."""
    asks_for_key: bool = True
    """Whether the hook for stages is asked for a key, so that a changed kernel has its own in Triton's cache."""

    @property
    def membar_is_a_pass(self) -> bool:
        """Whether membar can be run by itself."""
        return self.membar == PASS


RELEASES = (
    Release(
        *("3.9", "3.9.0", PASS),
        group_waits_meet=True,
        atomics_meet=True,
        arrivals_meet=True,
        membar_is_known=True,
    ),
    Release("3.8", "3.8.0", arrivals_meet=True),
    Release("3.7", "3.7.1"),
    Release(
        "3.6",
        "3.6.0",
        barrier='"ttg.local_barrier"() : () -> ()',
        written="ttg.local_barrier",
        asks_for_key=False,
    ),
)
"""All of them, the newest first."""
NEWEST = RELEASES[0]


def release_of(version: str) -> Release | None:
    """The row of a release; None if there is none."""
    name = ".".join(version.split("+")[0].split(".")[:2])
    return next((each for each in RELEASES if each.name == name), None)


@cache
def installed_release() -> Release:
    """The row of the Triton that is installed: it prints the modules that are read here, and reads what is written.

    The newest one if there is none, or one that is not accepted: nothing is read with it then.
    """
    from fencepost.hosts.triton.versions import installed_version

    return release_of(installed_version() or "") or NEWEST
