"""What `replace` passes on is judged by `check` first: the module as it is then, read back.

Barriers and waits are judged on all paths, in each partition by itself, and nothing but a proof will do. mbarriers
are assumed to be used correctly: placement does not change them, and to simulate all waves together takes between
a tenth of the compilation and several times as long. A `thorough` verification does that as well, as `check` and
audits do. Which it was is noted with the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from fencepost.check import check
from fencepost.check.trusted_mbarriers import TRUSTED
from fencepost.flow import Flow, build_flow
from fencepost.hosts.triton.joint_kernel import judged
from fencepost.hosts.triton.kernel_variants import Kernels, variant_of
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.translate import Translation, translations
from fencepost.hosts.triton.write_back import refuse_beyond
from fencepost.ir.source import FencepostError
from fencepost.report.diagnostics import Diagnostic, render
from fencepost.report.findings import diagnostics

BUDGET = 50_000
"""Steps that accesses of a kernel are followed for: the corpus takes a fifth of it at most, mostly far less."""


PROVEN = "proven"
THOROUGH = "barriers and waits are proven, all waves were simulated together"
BARRIERS = f"barriers and waits are proven, {TRUSTED}"


def refuse_wrong(module: Module, stock: Callable[[], Module], *, thorough: bool = False) -> str:
    """Refuse a module that `check` rejects, or does not prove; `stock` is what Triton would compile instead.

    Returns how it was judged.
    """
    found, limits = verdict(module, thorough=thorough)
    if not found and not limits - {TRUSTED}:
        return PROVEN if not limits else THOROUGH if thorough else BARRIERS
    if not found:
        missing = "; ".join(sorted(limits - {TRUSTED}))
        raise FencepostError(f"its barriers could not be proven right: {missing}", code="FP412")
    theirs, _ = verdict(stock(), thorough=thorough)
    also = "with Triton's own barriers, too" if theirs else "with Triton's own barriers it is clean"
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    raise FencepostError(
        f"with the barriers that fencepost would put in, `check` reports{more} ({also}):\n{render(found[0]).plain}",
        code="FP412",
    )


@lru_cache(maxsize=1)
def kernels_of(module: Module) -> Kernels:
    """The kernels of a module, to be looked at and not changed: whoever asks next mostly asks for the same."""
    return tuple(translations(module))


@lru_cache(maxsize=1)
def verdict(module: Module, *, thorough: bool = False) -> tuple[list[Diagnostic], set[str]]:
    """What `check` reports about a module, and what it has left out of barriers and waits."""
    variant = None if thorough else variant_of(module)
    if variant is not None:
        with variant.kernels() as kernels:
            found, limits = _verdict(kernels, variant.stopped.flow)
        if not found:
            return found, limits
    # What is reported shows the text.
    kernels = kernels_of(module)
    found, limits = _verdict(kernels)
    if thorough and TRUSTED in limits and not found:
        for trace in judged(list(kernels)):
            found += diagnostics(trace, check(trace))
    return found, limits


def _verdict(
    kernels: Kernels, flow_of: Callable[[Translation], Flow] = lambda kernel: build_flow(kernel.trace)
) -> tuple[list[Diagnostic], set[str]]:
    """What is reported about each kernel by itself."""
    found: list[Diagnostic] = []
    limits: set[str] = set()
    for each in kernels:
        refuse_beyond(each)
        # Where waves are skewed, all paths are followed at once: that is the proof, without simulating any.
        report = check(flow_of(each), budget=BUDGET, simulated=False, trusting=True)
        found += diagnostics(each.trace, report)
        limits |= set(report.explored.limits)
    return found, limits
