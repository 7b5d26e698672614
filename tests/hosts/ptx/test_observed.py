"""Races among the accesses of one interval of a simulated block, found without comparing all pairs."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest

from fencepost.hosts.ptx.intervals import Place
from fencepost.hosts.ptx.observed import ATOMIC, READ, WRITE, Conflict, Event, Log, _Table


def _event(place: int, kind: int, threads: range, words: list[int], epoch: int = 0) -> Event:
    lanes = np.array(threads)
    return Event(
        Place(0, place),
        kind,
        4,
        lanes,
        4 * np.array(words, dtype=np.uint64),
        np.full(lanes.shape, epoch),
        (lanes.astype(np.uint64) + np.uint64(1000 * place),) if kind != READ else (),
        place,
    )


def _random_event(chosen: Random) -> Event:
    warp = chosen.randrange(4)
    words = [chosen.randrange(3) for _ in range(32)]
    threads = range(32 * warp, 32 * warp + 32)
    kind = chosen.choice((READ, READ, WRITE, ATOMIC))
    place = 3 * chosen.randrange(4) + kind
    return _event(place, kind, threads, words, chosen.randrange(2))


def _of_all_pairs(events: list[Event]) -> set[object]:
    """What comparing every two rows of a word finds among the lanes that are looked at."""
    table = _Table(events, 4)
    kept = [table._one_of_each(rows) for rows in table.contested()]
    pairs = [pair for rows in kept for pair in combinations(rows, 2) if max(table.kinds[[*pair]]) != READ]
    found = [table._conflict(*pair) for pair in pairs]
    return {(frozenset(each.places), each.severity) for each in found if each is not None}


@pytest.mark.parametrize("seed", range(10))
def test_the_pairs_of_instructions_are_those_of_all_pairs(seed: int) -> None:
    chosen = Random(seed)
    events = [_random_event(chosen) for _ in range(4)]
    found = {(frozenset(each.places), each.severity) for each in Log(events).conflicts()}
    assert found == _of_all_pairs(events)


def test_a_conflict_that_is_known_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen loads, unrolled, of what eight warps store: thousands of pairs, all like the first ones."""
    warps = [range(32 * warp, 32 * warp + 32) for warp in range(8)]
    stores = [_event(0, WRITE, each, list(each)) for each in warps]
    loads = [
        _event(1 + load, READ, each, [(lane + 32 * load + load) % 256 for lane in each])
        for load in range(16)
        for each in warps
    ]
    looked_at: list[tuple[int, int]] = []
    conflict = _Table._conflict

    def counted(table: _Table, first: int, second: int) -> Conflict | None:
        looked_at.append((first, second))
        return conflict(table, first, second)

    monkeypatch.setattr(_Table, "_conflict", counted)
    places = {frozenset(each.places) for each in Log(stores + loads).conflicts()}
    assert places == {frozenset((Place(0, 0), Place(0, 1 + load))) for load in range(1, 16)}
    assert len(looked_at) < 200
