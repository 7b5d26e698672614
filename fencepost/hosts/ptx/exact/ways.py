"""What becomes of a comparison in a run, or where a branch goes."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.hosts.ptx.proof.intervals import Place


@dataclass(frozen=True, order=True)
class Way:
    """One outcome of a comparison, or one block that a branch goes to."""

    block: int
    index: int
    """Of the comparison; of a branch, that behind the last instruction."""
    to: int
    """The block that the branch goes to; of a comparison, 1 if it holds and 0 if not."""

    @property
    def place(self) -> Place:
        """The comparison, or the branch."""
        return Place(self.block, self.index)
