"""A kernel compiled in a worker process of `torch.compile`, with fencepost installed there.

What is found comes back with the compiled kernel: the result is pickled as a call of `delivered`, which the process
that asked for it makes when it unpickles the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fencepost.hosts.triton.audit import Audit
from fencepost.hosts.triton.kernel_warning import KernelWarning


@dataclass(frozen=True, slots=True)
class Job:
    """What is installed in a worker: the same as in the process that it works for."""

    mode: str
    decide: Callable[..., Any]
    thorough: bool
    audited: bool
    """Whether somebody wants to know what is found."""
    assembly: bool = False
    """Whether assembly is compared; if it is wrong, that comes back as a warning."""


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """What a worker sends back."""

    compiled: Any
    """What inductor's own function has returned."""
    audits: tuple[Audit, ...]
    warnings: tuple[str, ...]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return delivered, (self.compiled, self.audits, self.warnings)


def compile_with_fencepost(job: Job, compile_kernel: Callable[..., Any], *arguments: Any) -> WorkerResult:
    """In a worker: inductor's own function, with fencepost installed."""
    from fencepost.hosts.triton.installation import installed

    found: list[Audit] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        show = found.append if job.audited else None
        options = {"decide": job.decide, "thorough": job.thorough, "assembly": job.assembly}
        with installed(job.mode, show=show, **options):
            compiled = compile_kernel(*arguments)
    ours = [str(each.message) for each in caught if issubclass(each.category, KernelWarning)]
    return WorkerResult(compiled, tuple(found), tuple(ours))


def delivered(compiled: Any, audits: tuple[Audit, ...], said: tuple[str, ...]) -> Any:
    """In the process that asked: what inductor expects, after what was found has been told."""
    from fencepost.hosts.triton.installation import current_installation

    made = current_installation()
    if made is not None:
        for audit in audits:
            made.tell(audit)
        for text in said:
            made.warn(text)
    return compiled
