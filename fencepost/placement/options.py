"""How barriers are chosen: the options that every way into placement has in common."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.option_fields import at_least, option
from fencepost.placement import AUTO, summaries


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementOptions:
    """What a caller can say about where barriers go."""

    strategy: str = option(
        AUTO.name, "how places for barriers are chosen", "-s", "--strategy", metavar="NAME", names=summaries
    )
    seconds: float | None = option(
        None,
        "how long optimal may look for a proof (default: 2, and 0.5 for auto)",
        "--seconds",
        metavar="S",
        parse=at_least(0, "a number of seconds"),
    )
    whole: bool = option(
        False, "never split a barrier into signal and wait, whatever the target prefers", "--whole"
    )
    latencies: bool = option(
        True,
        "look at the latencies that barriers expose; a kernel that leaves out its arithmetic cannot tell",
    )
    near: float = option(
        0.0,
        "take barriers right before their consumers instead of the optimum if they cost at most this much more "
        "(0.02 is 2 %)",
    )
    exact: bool = option(True, "look for the optimum even where a bound shows that a result is `near` enough")
