"""What differs between the releases of Triton that fencepost works with: one row for each.

How a barrier is spelled is in it, too.

A release that has no row is refused by name (`versions`): where membar stands among the passes, what its barrier is
called and what operations do changes without notice, and a wrong reading would be silent. A release gets its row once
the tests have run on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

PASS = "add_membar"
CONVERSION = "add_to_llvmir"
"""The passes that put in barriers: membar by itself, or the conversion to LLVM's dialect, which begins with it."""
NEWEST_AMD_DIALECT = "amdg"
"""What the dialect of AMD's operations is called in the newest release, and in the table of operations."""
PREDICATE = """\
  %p = "ttg.predicate_stage"(%a, %a, %a) <{maxStage = 1 : i32, stage = 0 : i32}>
    : (i32, i32, i32) -> i1 loc(unknown)"""
DESCRIPTOR = """\
  %l = "arith.extsi"(%a) : (i32) -> i64 loc(unknown)
  %p = "tt.int_to_ptr"(%l) : (i64) -> !tt.ptr<f32> loc(unknown)
  %d = "tt.make_tensor_descriptor"(%p, %a, %l)
    : (!tt.ptr<f32>, i32, i64) -> !tt.tensordesc<tensor<16xf32>> loc(unknown)"""
LOCAL_BARRIER = "local"
"""Where the barrier of shared memory has no name of its own (`gpu.barrier`), the mark of one that is put in here, or
by membar: what has none may be the user's, who may need it for global memory."""


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
    not_lowered: str = PREDICATE
    """An operation on `%a` (`i32`), in generic form, that the conversion to LLVM's dialect cannot lower."""
    has_stages_hook: bool = True
    """Whether there is a hook for the stages of a compilation."""
    asks_for_key: bool = True
    """Whether that hook is asked for a key, so that a changed kernel has its own in Triton's cache."""
    has_key_functions: bool = True
    """Whether there are functions that make the keys of kernels, in files and of those that were launched."""
    has_knobs: bool = True
    """Whether there are knobs, with a listener for compiled kernels, and the language is given to who adds stages."""
    reads_back: bool = True
    """Whether the parser reads all that is printed of a module (`read_back`)."""
    amd_dialect: str = NEWEST_AMD_DIALECT
    """What the dialect of AMD's operations is called."""

    @property
    def barrier_name(self) -> str:
        """The operation that a barrier for shared memory is."""
        return self.barrier.split('"')[1]

    @property
    def membar_is_a_pass(self) -> bool:
        """Whether membar can be run by itself."""
        return self.membar == PASS


WITHOUT_HOOK = Release(
    "3.5",
    "3.5.1",
    barrier=f'"gpu.barrier"() {{{LOCAL_BARRIER}}} : () -> ()',
    written="gpu.barrier",
    has_stages_hook=False,
    asks_for_key=False,
    amd_dialect="amdgpu",
)
WITHOUT_KEYS = replace(
    WITHOUT_HOOK, name="3.4", package="3.4.0", not_lowered=DESCRIPTOR, has_key_functions=False
)
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
    WITHOUT_HOOK,
    WITHOUT_KEYS,
    replace(WITHOUT_KEYS, name="3.3", package="3.3.1", has_knobs=False, reads_back=False),
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
