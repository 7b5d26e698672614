"""Parities and counts in fixes, in the words of the line that is to be changed."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.report.waits_as_written import flipped, lowered, parity_in


@pytest.mark.parametrize(
    ("line", "parity"),
    [
        ("wait(&full[s], (i / SLOTS) & 1);", "(i / SLOTS) & 1"),
        ("wait(&full[i % 4], phase);", "phase"),
        ("full[s].wait(phase ^ 1);", "phase ^ 1"),
        ("while (!ptx::mbarrier_try_wait_parity(&full[s], par(i, 4))) {}", "par(i, 4)"),
        ("while (!try_wait(ptx::sem_acquire, ptx::scope_cta, &full[s], parity, 100)) {}", "parity"),
        ("if (t == 0) wait(full + s, 0); else wait(full + s, 0);", "0"),
        # Two waits, and which one it is the line does not tell; or the mbarrier and its parity are one argument.
        ("wait(&full[s], p); wait(&full[s], q);", None),
        ("wait(full[s]);", None),
        ("wait(&other[s], p);", None),
        ("arrive(&full[s], p);", None),
        # It goes on in the next line.
        ("wait(&full[s],", None),
    ],
)
def test_the_parity_is_the_argument_behind_the_mbarrier(line: str, parity: str | None) -> None:
    assert parity_in(line, ("`full[0]`",)) == parity


@pytest.mark.parametrize(
    ("parity", "other"),
    [
        ("0", "1"),
        ("phase", "phase ^ 1"),
        ("phase ^ 1", "phase"),
        ("((i / 4) & 1) ^ 1", "(i / 4) & 1"),
        ("(i / 4) & 1", "((i / 4) & 1) ^ 1"),
        ("(a) ^ (b) ^ 1", "(a) ^ (b)"),
        ("par(i)", "(par(i)) ^ 1"),
        # It may be a macro, of parts that bind less.
        ("PARITY", "(PARITY) ^ 1"),
    ],
)
def test_the_other_parity(parity: str, other: str) -> None:
    assert flipped(parity) == other


@pytest.mark.parametrize(
    ("argument", "now", "count", "said"),
    [
        ("2", 2, 1, "1"),
        ("STAGES - 1", 2, 1, "STAGES - 2"),
        ("STAGES - 1", 2, 2, "STAGES - 1"),
        ("LEFT", 3, 0, "LEFT - 3"),
        ("S / 2 + 1", 3, 2, "(S / 2 + 1) - 1"),
    ],
)
def test_a_count_in_the_words_of_its_argument(argument: str, now: int, count: int, said: str) -> None:
    assert lowered(argument, now, count) == said
