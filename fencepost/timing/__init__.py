"""A timing estimate: how long each wave stands at each barrier, and how busy the hardware is meanwhile.

It is an estimate, not a measurement. All waves of the workgroup run one path of the kernel, operation by operation,
on a few units with rough latencies (`targets.table`): each SIMD has a vector and a matrix unit, and all of them
share the path to shared memory, the path to global memory and the tensor engine. An operation issues when the one
before it has issued, its operands are there, and its unit is free. Of several waves that want a unit the one that
came first gets it, of those that came together the one with the lowest number: the same kernel always gives the same
numbers. Waves wait where the execution model says that they wait, and for nothing else.

Good for comparing two versions of one kernel: two placements, a barrier and its split form, a schedule and another.
"""

from fencepost.timing.comparison import draw_comparison
from fencepost.timing.picture import draw
from fencepost.timing.result import Event, Stall, SyncTime, Timing, UnitUse
from fencepost.timing.run import time_kernel

__all__ = ["Event", "Stall", "SyncTime", "Timing", "UnitUse", "draw", "draw_comparison", "time_kernel"]
