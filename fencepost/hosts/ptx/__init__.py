"""Kernels in PTX, whoever compiled them: judged thread by thread.

`check` gives one of three verdicts for each kernel. *Proven*: for every launch that `holds_for` names, no two
threads of a block touch the same bytes of shared memory, one of them writing, without a barrier between, and no
barrier is missed by some threads. *Race*: a run of one block showed it, and the finding names two threads.
*Undecided*: neither; the reasons say what stands in the way. `install` has every kernel judged that numba-cuda, CuPy
or CuTe DSL compiles in a process.

A proof takes for granted that accesses stay inside of their shared variables, that index arithmetic does not wrap
around, that loops end, and that global memory has no races of its own. A thread that has ended counts as arrived at
every later barrier.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fencepost.hosts.ptx.reading.module import PtxError
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Reason, Site

if TYPE_CHECKING:
    from fencepost.hosts.ptx.installation import install, installed, uninstall

__all__ = [
    "Finding",
    "KernelVerdict",
    "PtxError",
    "Reason",
    "Site",
    "check",
    "install",
    "installed",
    "uninstall",
]
INSTALLATION = ("install", "installed", "uninstall")


def __getattr__(name: str) -> Any:
    """What is loaded only once it is asked for: checking a file does not need it."""
    if name not in INSTALLATION:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fencepost.hosts.ptx import installation

    return getattr(installation, name)


def check(  # many parameters because each is an option of the command
    text: str,
    *,
    block: int | tuple[int, int, int] | None = None,
    params: Mapping[str, int] | None = None,
    kernel: str | None = None,
    file: str = "<ptx>",
    cluster: int | tuple[int, int, int] | None = None,
    warp_synchronous: bool = False,
) -> list[KernelVerdict]:
    """Judges the kernels of a PTX text, or the one that is named. `params` are values by name, number or `param_2`,
    `cluster` the blocks of a cluster where the kernel does not say. `warp_synchronous` takes it that the threads of a
    warp run in step, as they did before Volta: then two of them race only at one instruction.

    Raises `PtxError` if the text is not PTX or has no kernel of that name; the message begins with the file."""
    from fencepost.hosts.ptx.checking import check_text
    from fencepost.hosts.ptx.launches.launch import Given

    sizes = [(each, 1, 1) if isinstance(each, int) else each for each in (block, cluster)]
    given = Given(sizes[0], params or {}, sizes[1], warp_synchronous=warp_synchronous)
    return check_text(text, given, kernel, file)
