"""What each GPU has. The table is the only place that knows a target's name."""

from fencepost.targets.latencies import latencies_for
from fencepost.targets.table import TARGETS, TargetConfig, target_named

__all__ = ["TARGETS", "TargetConfig", "latencies_for", "target_named"]
