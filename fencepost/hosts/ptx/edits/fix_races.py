"""Where barriers go to mend races: places are tried, and the text judged with each, until it is proven.

For a race of two accesses a barrier goes before the second one. If that alone does not do, the first one is reached
again in the next iteration, and another barrier goes before it. What turns out not to be needed is taken out again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from fencepost.hosts.ptx.verdicts import Finding, KernelVerdict

MOST_ROUNDS = 8
"""Races that are mended one after the other."""
MOST_PLACES = 8
"""How many places are tried for one access."""
MOST_TOGETHER = 4
"""How many of them together with places for the other one."""
MENDED = ("FP001", "FP009")
"""What a barrier mends: races, and blocks of a cluster that may not be there."""
SECONDS = 120.0
"""Processor time after which no more places are tried."""


@dataclass(frozen=True)
class Mender:
    """What differs between PTX and CUDA."""

    statements: Callable[[Finding], tuple[str, ...]]
    """How barriers are written that may mend a finding; the cheapest first."""
    places: Callable[[str, Finding], tuple[Sequence[int], Sequence[int]]]
    """Where it may go for a race: before the second access, and before the first; the cheapest first."""
    judge: Callable[[str], KernelVerdict | None]
    """The verdict on the kernel in a text; None if the text will not do."""


@dataclass(frozen=True)
class Mended:
    """A text with barriers put in: where each begins, and the verdict."""

    text: str
    verdict: KernelVerdict
    added: tuple[tuple[int, str], ...] = field(default=())

    def with_barriers(self, places: Sequence[int], statement: str) -> Mended:
        """The same text with barriers at more places, not judged yet."""
        text, added = self.text, list(self.added)
        for place in sorted(set(places), reverse=True):
            before = text[text.rfind("\n", 0, place) + 1 : place]
            # On a line of its own if what follows begins one.
            put = statement + (" " if before.strip() else f"\n{before}")
            if text[place : place + 1] == "}" and not before.strip():
                put = f"    {put}"
            text = text[:place] + put + text[place:]
            added = [(at + len(put) if at >= place else at, each) for at, each in added]
            added.append((place, put))
        return Mended(text, self.verdict, tuple(sorted(added)))

    def without(self, number: int) -> Mended:
        """The text without one of the barriers that were put in, not judged yet."""
        place, put = self.added[number]
        text = self.text[:place] + self.text[place + len(put) :]
        rest = [(at - len(put) if at > place else at, each) for at, each in self.added if at != place]
        return Mended(text, self.verdict, tuple(rest))


def needs_cluster(finding: Finding) -> bool:
    """Whether it takes the barrier of the cluster: threads of two blocks, or a block that may not be there."""
    apart = finding.blocks is not None and finding.blocks[0] != finding.blocks[1]
    return apart or finding.code == "FP009"


def is_at_the_end(finding: Finding) -> bool:
    """Whether a block can have ended too early, which a barrier at the end of the kernel mends."""
    return finding.code == "FP009" and "ended" in finding.message


def count_of(verdict: KernelVerdict) -> int:
    """How many pairs of accesses race."""
    return len(
        {(each.first.ptx_line, each.second.ptx_line) for each in verdict.findings if each.severity == "error"}
    )


def mend(text: str, verdict: KernelVerdict, mender: Mender) -> Mended:
    """Puts barriers where races are, until the kernel is proven or no place helps."""
    now = Mended(text, verdict)
    end = time.process_time() + SECONDS
    for _ in range(MOST_ROUNDS):
        if now.verdict.verdict != "race":
            break
        better = _better(now, mender, end)
        if better is None:
            break
        now = better
    return _without_spare(now, mender) if now.verdict.verdict == "proven" else now


def _better(now: Mended, mender: Mender, end: float) -> Mended | None:
    """One more barrier, or two, with which the kernel is proven or has fewer races.

    Of places that prove it, the first without warnings, or else the one with fewest.
    """
    best: Mended | None = None
    fewest = count_of(now.verdict)
    proven: Mended | None = None
    race = next(each for each in now.verdict.findings if each.severity == "error")
    trials = _trials(*mender.places(now.text, race))
    for places, statement in product(trials, mender.statements(race)):
        if time.process_time() > end or (proven is not None and len(places) > 1):
            break
        longer = now.with_barriers(places, statement)
        verdict = mender.judge(longer.text)
        if verdict is None:
            continue
        longer = Mended(longer.text, verdict, longer.added)
        if verdict.verdict == "proven":
            if not verdict.findings:
                return longer
            if proven is None or len(verdict.findings) < len(proven.verdict.findings):
                proven = longer
        only_races = all(each.code in MENDED for each in verdict.findings)
        if verdict.verdict == "race" and only_races and count_of(verdict) < fewest:
            fewest, best = count_of(verdict), longer
    return proven or best


def _trials(second: Sequence[int], first: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Single places, then pairs of them."""
    for place in dict.fromkeys([*second[:MOST_PLACES], *first[:MOST_PLACES]]):
        yield (place,)
    for one, two in product(second[:MOST_TOGETHER], first[:MOST_TOGETHER]):
        if one != two:
            yield one, two


def _without_spare(now: Mended, mender: Mender) -> Mended:
    """Takes out again what is not needed after all."""
    number = 0
    while len(now.added) > 1 and number < len(now.added):
        shorter = now.without(number)
        verdict = mender.judge(shorter.text)
        proven = verdict is not None and verdict.verdict == "proven"
        if proven and verdict is not None and verdict.holds_for == now.verdict.holds_for:
            now = Mended(shorter.text, verdict, shorter.added)
        else:
            number += 1
    return now
