"""What a run finds: unordered accesses, waits that never end, barriers out of step; and why a run is not exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.proof.intervals import Place

Code = Literal["FP001", "FP002", "FP003", "FP006", "FP008", "FP009", "FP010"]


class NotExact(Exception):
    """The run depends on data, on timing, or on a form that is not followed."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class TooLong(NotExact):
    """A run takes more time than it was given."""


class DependsOnData(NotExact):
    """The run depends on data."""


class DependsOnTestWait(NotExact):
    """The run depends on whether a wait that is tried once succeeds."""


class DataDependentAddress(DependsOnData):
    """The address of an access depends on data."""


@dataclass(frozen=True)
class Problem:
    """A finding about two places and two threads."""

    code: Code
    message: str
    places: tuple[Place, Place]
    threads: tuple[int, int]
    fix: str
    severity: Literal["error", "warning"] = "error"
    address: int | None = None
    size: int = 0
    mbarriers: tuple[int, ...] = ()
    """Addresses of mbarriers that it is about: `{mbarrier}` in the message and in the fix, and `{other}`."""
    causes: bool = False
    """Whether other findings may follow from it."""
    in_fix: tuple[Place, ...] = ()
    """Places that the fix names: `{where}`, and then `{also}`."""
    visits: tuple[int, int] = (0, 0)
    """How often each thread had come to its place, this time included; 0 if that is not known."""
