"""Hazards that mbarriers order: the analysis does not follow phases, `check` does.

An mbarrier orders accesses of waves that never meet, so placement cannot tell whether two of them are in order. Where
such mbarriers are waited for, `check` is asked: a pair that it finds no race between needs no barrier.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace


@dataclass(slots=True)
class OrderedByMbarriers:
    """Which pairs of accesses of a kernel race; looked up when first asked for."""

    trace: CapturedTrace
    waited_for: bool
    """Whether there are mbarriers that somebody waits for; without, they order nothing."""
    racing: set[frozenset[ops.Operation]] | None = None
    clean: bool = False
    stuck: bool = False
    """Whether waves wait for ever, or mbarriers are out of step: what would follow is not looked at then."""
    limits: tuple[str, ...] = ()
    """What `check` left out; without any, what it says is proven."""

    def all(self) -> bool:
        """Whether nothing is wrong with the kernel as it stands."""
        self._look()
        return self.clean

    def words(self) -> str:
        """Why a kernel with nothing wrong gets no barriers, and whether that is proven."""
        proof = f"not a proof: {'; '.join(self.limits)}" if self.limits else "proven by `check`"
        return f"nothing is missing: mbarriers order what barriers do not ({proof})"

    def orders(self, one: ops.Operation, other: ops.Operation) -> bool:
        """Whether two accesses that the analysis has no order for are in order all the same."""
        return self.waited_for and frozenset((one, other)) not in self._look() and not self.stuck

    def _look(self) -> set[frozenset[ops.Operation]]:
        if self.racing is None:
            # Loaded here: most kernels have no mbarriers, and `insert` starts sooner without.
            from fencepost.check import check

            report = check(self.trace)
            self.clean, self.stuck = report.ok, bool(report.deadlocks)
            self.limits = tuple(report.explored.limits)
            self.racing = {
                frozenset(op.owner or op for op in (race.first.op, race.second.op)) for race in report.races
            }
        return self.racing
