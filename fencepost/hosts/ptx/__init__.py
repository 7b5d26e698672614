"""Kernels in PTX, whoever compiled them: judged thread by thread.

`check` gives one of three verdicts for each kernel. *Proven*: for every launch that `holds_for` names, no two
threads of a block touch the same bytes of shared memory, one of them writing, without a barrier between, and no
barrier is missed by some threads. *Race*: a run of one block showed it, and the finding names two threads.
*Undecided*: neither; the reasons say what stands in the way.

A proof takes for granted that accesses stay inside of their shared variables, that index arithmetic does not wrap
around, that loops end, and that global memory has no races of its own. A thread that has ended counts as arrived at
every later barrier.
"""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.hosts.ptx.module import PtxError
from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict, Reason, Site

__all__ = ["Finding", "KernelVerdict", "PtxError", "Reason", "Site", "check"]


def check(  # many parameters because each is an option of the command
    text: str,
    *,
    block: int | tuple[int, int, int] | None = None,
    params: Mapping[str, int] | None = None,
    kernel: str | None = None,
    file: str = "<ptx>",
) -> list[KernelVerdict]:
    """Judges the kernels of a PTX text, or the one that is named. `params` are values by name, number or `param_2`.

    Raises `PtxError` if the text is not PTX or has no kernel of that name; the message begins with the file."""
    from fencepost.hosts.ptx.checking import check_text

    return check_text(text, (block, 1, 1) if isinstance(block, int) else block, params or {}, kernel, file)
