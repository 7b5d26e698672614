"""Ping-pong for traces of Wave: fencepost's `schedule_reordering` in the place of Wave's.

The trace is read whole, the kernel is scheduled and checked as any other, and its loop's new order is carried back.
What no strategy fits stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fencepost import schedule
from fencepost.gc_pause import collection_paused
from fencepost.hosts.wave.nodes import Kind, class_of, kind_of
from fencepost.hosts.wave.ping_pong_constraints import check_worth, constraints_for_loop
from fencepost.hosts.wave.reordered_loop import apply, check_movable, plan_of
from fencepost.hosts.wave.translate import translate
from fencepost.ir.source import FencepostError
from fencepost.schedule import SchedReorderStrategy, Scheduled

PREFETCH = "PREFETCH"
"""The name of the one of Wave's schedules that ping-pong is for."""
PLAIN = "MMA"

log = logging.getLogger(__name__)


def is_ours(trace: Any, scheduling_type: Any) -> bool:
    """Whether there are strategies for kernels like this one: what attention and scaled products need is Wave's."""
    if getattr(scheduling_type, "name", "") != PREFETCH:
        return False
    products = {class_of(node) for node in trace.walk(lambda node: kind_of(node) is Kind.MMA)}
    return {cls.__name__ for cls in products if cls is not None} == {PLAIN}


def schedule_reordering(
    trace: Any, constraints: Sequence[Any], scheduling_type: Any, use_global_to_shared: bool = False
) -> Scheduled:
    """Put the loop of a trace into an order for ping-pong, in place, if it prefetches and a strategy fits it.

    It is called as Wave calls its own. That tiles are copied straight to shared memory is seen in the loop.
    """
    del use_global_to_shared
    if not is_ours(trace, scheduling_type):
        return Scheduled(SchedReorderStrategy.NONE.value)
    with collection_paused():
        translation = translate(trace, constraints, whole=True)
        kernel = translation.trace
        try:
            found = schedule.classify(schedule.find_loop(kernel))
            check_movable(translation, found.loop)
            given = constraints_for_loop(found, constraints)
            check_worth(given)
        except FencepostError as error:
            if error.code == "FP422":
                raise
            scheduled = Scheduled(SchedReorderStrategy.NONE.value, refusals=(("ping-pong", error),))
        else:
            scheduled = schedule.schedule_reordering(kernel, given)
        if scheduled.loop is not None:
            apply(plan_of(translation, scheduled.loop, scheduled.added))
    for name, refused in scheduled.refusals:
        log.debug("@%s: no %s: %s", kernel.name, name, refused)
    return scheduled
