"""The two conditional barriers that shift a loop: half of the waves start one barrier late, and all end together."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.expr import Compare, Const, Wave
from fencepost.ir.trace import CapturedTrace, Graph
from fencepost.schedule.constraints import HardwareConstraint
from fencepost.schedule.loop_refusals import refusal


def add_conditional_barriers_to_loop(
    custom_iterate: ops.Iterate, trace: CapturedTrace, hardware_constraint: HardwareConstraint
) -> tuple[ops.Conditional, ops.Conditional]:
    """Hold the high waves before the loop, and the low ones behind it until the high ones have come as far."""
    check_waves(trace, hardware_constraint)
    half = Const(hardware_constraint.waves // 2)
    high = _barrier_for(trace, Compare(">=", Wave(), half), "these waves run one barrier behind the others")
    graph = custom_iterate.graph
    assert graph is not None
    graph.insert_before(custom_iterate, high)
    low = _barrier_for(trace, Compare("<", Wave(), half), "until the others have caught up")
    graph.insert_after(custom_iterate, low)
    return high, low


def check_waves(trace: CapturedTrace, hardware: HardwareConstraint) -> None:
    """Refuse waves that do not make two groups of the same size."""
    condition = "an even number of waves, the same in the kernel and the constraints"
    if hardware.waves != trace.waves:
        raise refusal("FP505", f"@{trace.name} has {trace.waves} waves, not {hardware.waves}", condition)
    if trace.waves % 2:
        waves = f"{trace.waves} wave{'' if trace.waves == 1 else 's'}"
        raise refusal("FP505", f"{waves} cannot be divided into two groups of the same size", condition)


def _barrier_for(trace: CapturedTrace, condition: Compare, why: str) -> ops.Conditional:
    taken = {graph.name for graph in trace.graphs()}
    names = (f"region_{number}" for number in range(1, 2 * len(taken) + 4))
    then, orelse = (Graph(name) for name in [name for name in names if name not in taken][:2])
    found = ops.Conditional(condition, then=then, orelse=orelse)
    then.owner = orelse.owner = found
    then.append(ops.WorkgroupBarrier(comment=why))
    return found
