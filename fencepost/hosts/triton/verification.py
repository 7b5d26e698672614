"""What `replace` hands on is judged by `check` first: the module as it is then, read back.

Barriers and waits are judged on all paths, in each partition by itself, and nothing but a proof will do. mbarriers
are taken to be used as they should: placement does not change them, and to simulate all waves together takes up to
ten times as long as the compilation. `check` and audits do that.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.check import check
from fencepost.check.trusted_mbarriers import TRUSTED
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.translate import translations
from fencepost.hosts.triton.write_back import refuse_beyond
from fencepost.ir.source import FencepostError
from fencepost.report.diagnostics import Diagnostic, render
from fencepost.report.findings import diagnostics

BUDGET = 50_000
"""Steps that accesses of a kernel are followed for: the corpus takes a fifth of it at most, mostly far less."""


def refuse_wrong(module: Module, stock: Callable[[], Module]) -> None:
    """Refuse a module that `check` rejects, or does not prove; `stock` is what Triton would compile instead."""
    found, limits = verdict(module)
    if not found and not limits:
        return
    if limits and not found:
        raise FencepostError(f"its barriers could not be proven right: {'; '.join(limits)}", code="FP412")
    theirs, _ = verdict(stock())
    also = "with Triton's own barriers, too" if theirs else "with Triton's own barriers it is clean"
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    raise FencepostError(
        f"with the barriers that fencepost would put in, `check` reports{more} ({also}):\n{render(found[0]).plain}",
        code="FP412",
    )


def verdict(module: Module) -> tuple[list[Diagnostic], list[str]]:
    """What `check` reports about a module, and what it has left out."""
    found: list[Diagnostic] = []
    limits: dict[str, None] = {}
    for each in translations(module):
        refuse_beyond(each)
        # Where waves are a phase apart, all paths are followed at once: that is the proof, without simulating any.
        report = check(each.trace, budget=BUDGET, simulated=False, trusting=True)
        found += diagnostics(each.trace, report)
        limits |= dict.fromkeys(limit for limit in report.explored.limits if limit != TRUSTED)
    return found, list(limits)
