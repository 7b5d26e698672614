"""When mbarriers begin and end: who uses one that is not there, and what ends one that is still in use.

What is not ordered here is a race and found as one, since making, ending and using an mbarrier all touch its bytes.
What is left is what happens in the wrong order in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.check.concrete_access import Bytes
from fencepost.check.mbarrier_state import Mbarrier, Mbarriers
from fencepost.check.report import Deadlock
from fencepost.ir import ops

if TYPE_CHECKING:
    from fencepost.check.simulated_waves import Logged, WaveState


@dataclass(slots=True)
class Lifetimes:
    """The beginnings and ends of the mbarriers of one simulation."""

    mbarriers: Mbarriers
    found: list[Deadlock]

    def made_again(self, entry: Logged, where: Bytes) -> None:
        """An mbarrier is made where others are, or were."""
        for before in self.mbarriers.over(where):
            if before.made == entry.event.number:
                continue
            if before.made_by.until_inval:
                self.report(
                    f"{before.view} is made again, and no mbarrier_inval has ended it",
                    (before.made_by, "made here"),
                    (entry.event.op, "and here again"),
                )
            before.ended = entry

    def written_over(self, entries: list[Logged]) -> None:
        """Data is written to some bytes."""
        for entry in entries:
            for before in self.mbarriers.over(entry.bytes):
                if before.made_by.until_inval:
                    self.report(
                        f"the bytes of {before.view} are used for data, and no mbarrier_inval has ended it",
                        (before.made_by, "made here"),
                        (entry.event.op, "written over here"),
                    )
                before.ended = entry

    def ends(self, thing: Mbarrier, entry: Logged, state: WaveState) -> None:
        """A wave ends an mbarrier, or uses one that has ended."""
        by = thing.ended
        if by is None:
            if thing.bytes > 0:
                self.report(
                    f"{thing.view} ends while {thing.bytes} bytes that were expected have not come",
                    (thing.made_by, "made here"),
                    (entry.event.op, "ended here"),
                )
            thing.ended = entry
        elif by.event.number != entry.event.number and (by.wave == state.wave or by.is_known(state.knows)):
            # Else it is a race, and found as one.
            how = (
                "was ended by mbarrier_inval"
                if isinstance(by.event.op, ops.MbarrierInval)
                else "is written over"
            )
            self.report(
                f"wave {state.wave} uses {thing.view}, which {how} before",
                (by.event.op, "ended here"),
                (entry.event.op, "used here"),
            )

    def report(self, text: str, *marks: tuple[ops.Operation, str]) -> None:
        """One mistake."""
        self.found.append(Deadlock("lifetime", text, marks))
