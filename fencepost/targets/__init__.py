"""What each GPU has. The table is the only place that knows a target's name."""

from fencepost.targets.table import TARGETS, TargetConfig, latencies_for, target_named

__all__ = ["TARGETS", "TargetConfig", "latencies_for", "target_named"]
