"""Async operations and the barriers that wait for them: dependencies through control flow, and wait counts.

An async operation that is named stands for its own completion. A barrier or wait that comes `after` such a name
must not be passed before the operation is complete; loops carry names from one iteration to the next, conditionals
merge them, and `null_async_dep` stands for "nothing to wait for on this path". The hardware knows no names, only
counters: `populate_barriers_counters` turns each dependency into the largest count that is still safe.

Invariant: along every path, between the operation that a name stands for and the barrier that comes after it, at
least as many operations of its counter are issued as the barrier's count says.
"""

from fencepost.reference.wave.async_dependencies import add_async_dependencies
from fencepost.reference.wave.wait_counts import populate_barriers_counters

__all__ = ["add_async_dependencies", "populate_barriers_counters"]
