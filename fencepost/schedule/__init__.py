"""Ping-pong: two groups of waves run one loop half a beat apart; one multiplies while the other moves memory.

`schedule_reordering` finds the loop that multiplies, puts its operations into clusters with barriers between
them, and holds one half of the waves back by one barrier. From then on the same barrier meets itself on two
different lines, which is where such schedules have had races. So every result is checked before it is handed
out, and a loop that does not qualify is refused with the condition that failed.
"""

from fencepost.schedule.arrangement import Arrangement
from fencepost.schedule.classify import LoopOperations, classify, find_loop
from fencepost.schedule.conditional import add_conditional_barriers_to_loop
from fencepost.schedule.constraints import (
    Constraints,
    HardwareConstraint,
    SchedulingType,
    Tile,
    constraints_for,
)
from fencepost.schedule.ping_pong import Scheduled, schedule_reordering
from fencepost.schedule.reorder import reorder_graph
from fencepost.schedule.strategies import STRATEGIES, SchedReorderStrategy, Strategy, register
from fencepost.schedule.two_pp import transform_two_PP_clusters

__all__ = [
    "STRATEGIES",
    "Arrangement",
    "Constraints",
    "HardwareConstraint",
    "LoopOperations",
    "SchedReorderStrategy",
    "Scheduled",
    "SchedulingType",
    "Strategy",
    "Tile",
    "add_conditional_barriers_to_loop",
    "classify",
    "constraints_for",
    "find_loop",
    "register",
    "reorder_graph",
    "schedule_reordering",
    "transform_two_PP_clusters",
]
