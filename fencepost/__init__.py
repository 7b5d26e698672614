"""fencepost puts the synchronization into GPU kernels, proves that none is missing, and says why each is there.

import fencepost as fp

kernel = fp.parse(open("gemm.fp").read())
fp.add_shared_memory_barriers(kernel, target="gfx942")
assert fp.check(kernel).ok
print(kernel)
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fencepost.version import __version__

if TYPE_CHECKING:
    from fencepost.analysis.access import MemoryAccessType
    from fencepost.analysis.hazards import BarrierType, Hazard
    from fencepost.api import (
        add_async_dependencies,
        add_conditional_barriers_to_loop,
        add_shared_memory_barriers,
        add_signal_wait_to_subgraph,
        check,
        explain_barriers,
        get_barriers_analysis,
        get_shared_memory_from_op,
        handle_hazard,
        insert_barriers,
        is_reduction_subgraph,
        is_shared_memory_op,
        populate_barriers_counters,
        prune_barriers,
        reorder_graph,
        schedule_reordering,
        transform_two_PP_clusters,
    )
    from fencepost.check import Deadlock, Explored, OutOfRange, Race, Report, Touch
    from fencepost.check.group_by_fix import Cause, causes_of
    from fencepost.check.report import Fix
    from fencepost.check.suggested_edits import Edit
    from fencepost.emit import BasicSplitBarrierEmitter, LegacyBarrierEmitter
    from fencepost.emit.write import Barrier, Inserted
    from fencepost.flow import Estimates, Position
    from fencepost.ir.buffers import Buffer, View
    from fencepost.ir.builder import FunctionBuilder, Kernel, lane, wave
    from fencepost.ir.expr import Condition, Expr
    from fencepost.ir.ops import NullAsyncDep
    from fencepost.ir.parser import parse, parse_all
    from fencepost.ir.source import FencepostError, Span, UsageError
    from fencepost.ir.trace import CapturedTrace, Function
    from fencepost.passes.explain import Explain, Explanation
    from fencepost.passes.insert import Insert
    from fencepost.passes.prune import Prune, Pruned
    from fencepost.passes.schedule import Schedule
    from fencepost.reference.membar.analysis import BlockInfo, filter_async_write_dependencies
    from fencepost.reference.wave.region_pairs import should_insert_split_barrier_for_nested_region_op
    from fencepost.reference.wave.window_placement import (
        SplitPlacement,
        find_intersecting_interval_strategy,
        minimize_placement_strategy,
    )
    from fencepost.reference.wave.windows import SyncRequirement
    from fencepost.schedule import SchedReorderStrategy, Scheduled
    from fencepost.targets import TARGETS, TargetConfig

__all__ = [
    "TARGETS",
    "Barrier",
    "BarrierType",
    "BasicSplitBarrierEmitter",
    "BlockInfo",
    "Buffer",
    "CapturedTrace",
    "Cause",
    "Condition",
    "Deadlock",
    "Edit",
    "Estimates",
    "Explain",
    "Explanation",
    "Explored",
    "Expr",
    "FencepostError",
    "Fix",
    "Function",
    "FunctionBuilder",
    "Hazard",
    "Insert",
    "Inserted",
    "Kernel",
    "LegacyBarrierEmitter",
    "MemoryAccessType",
    "NullAsyncDep",
    "OutOfRange",
    "Position",
    "Prune",
    "Pruned",
    "Race",
    "Report",
    "SchedReorderStrategy",
    "Schedule",
    "Scheduled",
    "Span",
    "SplitPlacement",
    "SyncRequirement",
    "TargetConfig",
    "Touch",
    "UsageError",
    "View",
    "__version__",
    "add_async_dependencies",
    "add_conditional_barriers_to_loop",
    "add_shared_memory_barriers",
    "add_signal_wait_to_subgraph",
    "causes_of",
    "check",
    "explain_barriers",
    "filter_async_write_dependencies",
    "find_intersecting_interval_strategy",
    "get_barriers_analysis",
    "get_shared_memory_from_op",
    "handle_hazard",
    "insert_barriers",
    "is_reduction_subgraph",
    "is_shared_memory_op",
    "lane",
    "minimize_placement_strategy",
    "parse",
    "parse_all",
    "populate_barriers_counters",
    "prune_barriers",
    "reorder_graph",
    "schedule_reordering",
    "should_insert_split_barrier_for_nested_region_op",
    "transform_two_PP_clusters",
    "wave",
]

HOMES = {
    "fencepost.analysis.access": ("MemoryAccessType",),
    "fencepost.analysis.hazards": (
        "BarrierType",
        "Hazard",
    ),
    "fencepost.api": (
        "add_async_dependencies",
        "add_conditional_barriers_to_loop",
        "add_shared_memory_barriers",
        "add_signal_wait_to_subgraph",
        "check",
        "explain_barriers",
        "get_barriers_analysis",
        "get_shared_memory_from_op",
        "handle_hazard",
        "insert_barriers",
        "is_reduction_subgraph",
        "is_shared_memory_op",
        "populate_barriers_counters",
        "prune_barriers",
        "reorder_graph",
        "schedule_reordering",
        "transform_two_PP_clusters",
    ),
    "fencepost.check": (
        "Deadlock",
        "Explored",
        "OutOfRange",
        "Race",
        "Report",
        "Touch",
    ),
    "fencepost.check.group_by_fix": (
        "Cause",
        "causes_of",
    ),
    "fencepost.check.report": ("Fix",),
    "fencepost.check.suggested_edits": ("Edit",),
    "fencepost.emit": (
        "BasicSplitBarrierEmitter",
        "LegacyBarrierEmitter",
    ),
    "fencepost.emit.write": (
        "Barrier",
        "Inserted",
    ),
    "fencepost.flow": (
        "Estimates",
        "Position",
    ),
    "fencepost.ir.buffers": (
        "Buffer",
        "View",
    ),
    "fencepost.ir.builder": (
        "FunctionBuilder",
        "Kernel",
        "lane",
        "wave",
    ),
    "fencepost.ir.expr": (
        "Condition",
        "Expr",
    ),
    "fencepost.ir.ops": ("NullAsyncDep",),
    "fencepost.ir.parser": (
        "parse",
        "parse_all",
    ),
    "fencepost.ir.source": (
        "FencepostError",
        "Span",
        "UsageError",
    ),
    "fencepost.ir.trace": (
        "CapturedTrace",
        "Function",
    ),
    "fencepost.passes.explain": (
        "Explain",
        "Explanation",
    ),
    "fencepost.passes.insert": ("Insert",),
    "fencepost.passes.prune": (
        "Prune",
        "Pruned",
    ),
    "fencepost.passes.schedule": ("Schedule",),
    "fencepost.reference.membar.analysis": (
        "BlockInfo",
        "filter_async_write_dependencies",
    ),
    "fencepost.reference.wave.region_pairs": ("should_insert_split_barrier_for_nested_region_op",),
    "fencepost.reference.wave.window_placement": (
        "SplitPlacement",
        "find_intersecting_interval_strategy",
        "minimize_placement_strategy",
    ),
    "fencepost.reference.wave.windows": ("SyncRequirement",),
    "fencepost.schedule": (
        "SchedReorderStrategy",
        "Scheduled",
    ),
    "fencepost.targets": (
        "TARGETS",
        "TargetConfig",
    ),
}
"""Where the public names are defined. A module is loaded when one of its names is used first."""
_HOME = {name: home for home, names in HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A public name, which is loaded now."""
    if name not in _HOME:
        raise AttributeError(f"module 'fencepost' has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    _show_in_notebooks()
    return found


@cache
def _show_in_notebooks() -> None:
    """Let what a notebook prints be shown as a picture."""
    import_module("fencepost.view.notebook").show_in_notebooks()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`fencepost.check` is the function, also once the package of that name has been loaded."""

    @property
    def check(self) -> Any:
        """Look for races and deadlocks."""
        _show_in_notebooks()
        return import_module("fencepost.api").check

    @check.setter
    def check(self, package: ModuleType) -> None:
        """What Python's import does when it has loaded the package: its reports can be printed from then on."""
        package.Report.printer = _printed


def _printed(report: Report) -> str:
    return str(import_module("fencepost.report.findings").printed(report))


sys.modules[__name__].__class__ = _Package
