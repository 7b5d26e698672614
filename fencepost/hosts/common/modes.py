"""What an installed host does: audit what its compiler makes, or put its own barriers in their place."""

from __future__ import annotations

import os

from fencepost.did_you_mean import did_you_mean
from fencepost.ir.source import FencepostError

AUDIT, REPLACE, OFF = "audit", "replace", "off"
MODES = (AUDIT, REPLACE)
DEFAULTS = {"triton": AUDIT, "wave": REPLACE, "ptx": AUDIT}
"""What `install()` does if nobody says: see "The default mode of a host" in docs/decisions.md."""


def mode_of(asked: str | None, host: str, variable: str, code: str) -> str | None:
    """The mode that was asked for, or else the one that an environment variable names; None if it is `off`."""
    mode = asked or os.environ.get(variable) or DEFAULTS[host]
    if mode == OFF:
        return None
    if mode not in MODES:
        known = [*MODES, OFF]
        notes = [*did_you_mean(mode, known), ("known modes", ", ".join(known))]
        raise FencepostError(f"unknown mode {mode!r}", code=code, notes=notes)
    return mode
