"""Races among the accesses of one interval of a simulated block, found without comparing all pairs."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest

from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.runs.observed_races import ATOMIC, READ, WRITE, Conflict, Event, Log, _Table
from fencepost.hosts.ptx.runs.warp_clocks import WarpClocks

THREADS = 128


def _event(clocks: WarpClocks, place: int, kind: int, threads: range, words: list[int], time: int) -> Event:
    lanes = np.array(threads)
    return Event(
        Place(0, place),
        kind,
        4,
        lanes,
        4 * np.array(words, dtype=np.uint64),
        clocks.row_of[lanes].copy(),
        (lanes.astype(np.uint64) + np.uint64(1000 * place),) if kind != READ else (),
        time,
        time,
    )


def _of_all_pairs(events: list[Event], meetings: dict[int, list[int]]) -> set[object]:
    """What comparing every two accesses to a word finds; `meetings` are the times at which each warp has met."""
    accesses = [
        (int(word), int(thread), event)
        for event in events
        for thread, word in zip(event.threads, event.addresses, strict=True)
    ]
    found: set[object] = set()
    for (word, thread, first), (there, other, second) in combinations(accesses, 2):
        alike = word != there or thread == other or {first.kind, second.kind} <= {READ}
        if alike or {first.kind, second.kind} == {ATOMIC}:
            continue
        same_warp = thread // 32 == other // 32
        early, late = sorted((first.time, second.time))
        if same_warp and any(early <= met < late for met in meetings[thread // 32]):
            continue
        found.add((frozenset((first.place, second.place)), same_warp))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_pairs_of_instructions_are_those_of_all_pairs(seed: int) -> None:
    chosen = Random(seed)
    clocks, events = WarpClocks(THREADS), []
    meetings: dict[int, list[int]] = {warp: [] for warp in range(4)}
    for time in range(1, 7):
        warp = chosen.randrange(4)
        threads = range(32 * warp, 32 * warp + 32)
        kind = chosen.choice((READ, READ, WRITE, ATOMIC))
        words = [chosen.randrange(3) for _ in threads]
        events.append(_event(clocks, 3 * chosen.randrange(4) + kind, kind, threads, words, time))
        if chosen.random() < 0.3:
            clocks.meet(np.array(threads), time)
            meetings[warp].append(time)
    found = {(frozenset(each.places), each.in_one_warp) for each in Log(clocks, events).conflicts()}
    assert found == _of_all_pairs(events, meetings)


def test_a_conflict_that_is_known_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen loads, unrolled, of what eight warps store: thousands of pairs, all like the first ones."""
    clocks = WarpClocks(8 * 32)
    warps = [range(32 * warp, 32 * warp + 32) for warp in range(8)]
    stores = [_event(clocks, 0, WRITE, each, list(each), 1) for each in warps]
    loads = [
        _event(clocks, 1 + load, READ, each, [(lane + 32 * load + load) % 256 for lane in each], 2 + load)
        for load in range(16)
        for each in warps
    ]
    looked_at: list[tuple[int, int]] = []
    conflict = _Table._conflict

    def counted(table: _Table, first: int, second: int, polls: bool) -> Conflict:
        looked_at.append((first, second))
        return conflict(table, first, second, polls)

    monkeypatch.setattr(_Table, "_conflict", counted)
    places = {frozenset(each.places) for each in Log(clocks, stores + loads).conflicts()}
    assert places == {frozenset((Place(0, 0), Place(0, 1 + load))) for load in range(1, 16)}
    assert len(looked_at) < 40
