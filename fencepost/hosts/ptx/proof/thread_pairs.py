"""Which pairs of threads a question is about: any two of a block, of one warp or of two, or one thread alone.

Lanes that name each other in the mask of a `bar.warp.sync` meet there, and others do not: pairs of a warp are asked
about in parts, those that name each other in some masks and those that do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fencepost.hosts.ptx.expressions.expression_nodes import Expression


@dataclass(frozen=True)
class Pairs:
    """Some pairs of threads."""

    kind: Literal["any", "other warps", "same warp", "itself"]
    naming: frozenset[Expression] = frozenset()
    """Masks in which the two name each other: both have the same mask, and both are in it."""
    not_naming: frozenset[Expression] = frozenset()
    """Masks in which they do not."""

    @property
    def same_warp(self) -> bool:
        """Whether both threads are in one warp."""
        return self.kind == "same warp"


ANY, OTHER_WARPS, SAME_WARP, ITSELF = Pairs("any"), Pairs("other warps"), Pairs("same warp"), Pairs("itself")
