"""What became of a kernel in `replace` mode, for people: where barriers went, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.emit.write import Barrier, Inserted
from fencepost.hosts.wave.python_lines import where
from fencepost.ir import ops
from fencepost.placement.reasons import comment_for


@dataclass(frozen=True, slots=True)
class Placed:
    """A barrier or wait, in front of a line of the user's source."""

    what: str
    where: str
    """The line that it stands in front of; empty if the trace does not say."""
    why: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """One kernel that got fencepost's barriers. What is reported is looked up when it is asked for."""

    kernel: str
    target: str
    inserted: Inserted

    @property
    def placed(self) -> tuple[Placed, ...]:
        """What was put in, in the order of the program."""
        return tuple(_placed(each, "") for each in self.inserted.barriers)

    @property
    def changed(self) -> tuple[Placed, ...]:
        """Barriers of the user that now do more."""
        return (
            *(_placed(each, "now waits for copies: ") for each in self.inserted.upgraded),
            *(_placed(each, "now has a fence: ") for each in self.inserted.fenced),
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        placed, changed = self.placed, self.changed
        proof = f", {self.inserted.proof}" if self.inserted.proof else ""
        yield f"fencepost: @{self.kernel} ({self.target}): {len(placed)} put in, {len(changed)} changed{proof}"
        for each in (*placed, *changed):
            yield f"  {each.what} before {each.where or 'the end of its region'}: {each.why}"


def _placed(barrier: Barrier, prefix: str) -> Placed:
    return Placed(prefix + barrier.op.mnemonic, _line(barrier.op), comment_for(barrier.hazards))


def _line(op: ops.Operation) -> str:
    """The user's line that an operation stands in front of."""
    behind: ops.Operation | None = op
    while behind is not None:
        if behind.host is not None and not isinstance(behind, ops.Next):
            return where(behind.host)
        behind = behind.next
    return ""
