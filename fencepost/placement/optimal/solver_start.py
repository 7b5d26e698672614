"""The solver's start-up time: importing scipy for the first time takes longer than most kernels need."""

from __future__ import annotations

import sys
import time

LOADING = 1.0
"""Seconds that the import may take."""


def can_be_asked(until: float) -> bool:
    """Whether there is time for the solver, and to load it if that has not been done."""
    left = until - time.monotonic()
    return left > (0.0 if "scipy.optimize" in sys.modules else LOADING)
