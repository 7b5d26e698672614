"""Threads that keep to their own bytes need no barrier; lanes that do not, do, even within a wave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fencepost.hosts import wave as host
from fencepost.hosts.wave.accesses import Access, Bundle
from fencepost.hosts.wave.lds import Allocation
from fencepost.hosts.wave.nodes import Kind
from fencepost.hosts.wave.thread_numbers import Workgroup
from fencepost.hosts.wave.thread_private import Threads
from fencepost.hosts.wave.touched_bytes import Reach
from tests.hosts.wave import kernels

MEMORY = Allocation(None, 4096, 0, (1,), 32)
GROUP = Workgroup(64, (256, 1, 1))
LANES = np.arange(256)


def bundle(kind: Kind, first: Any, count: int = 1) -> Bundle:
    made = Bundle(kind, None, MEMORY)
    made.add(Access(None, made, reach(first, count)))
    return made


def reach(first: Any, count: int) -> Reach:
    return Reach(int(first.min()) * 4, int(first.max() + count) * 4, first, 0, count)


@pytest.mark.parametrize(
    ("reads", "apart"),
    [
        (LANES, True),
        (LANES ^ 1, False),  # its neighbour's element, in the same wave
        ((LANES + 64) % 256, False),  # the next wave's
        (LANES * 0, False),  # one element for all
        (LANES + 256, False),  # what nobody wrote: they do not meet at all
    ],
)
def test_one_element_for_each_thread(reads: Any, apart: bool) -> None:
    assert Threads(GROUP).keep_apart(bundle(Kind.WRITE, LANES), bundle(Kind.READ, reads)) is apart


def test_an_element_of_several_threads_belongs_to_nobody() -> None:
    assert not Threads(GROUP).keep_apart(bundle(Kind.WRITE, LANES // 2), bundle(Kind.WRITE, LANES // 2))


def test_elements_of_another_size_are_not_compared() -> None:
    other = Bundle(Kind.READ, None, Allocation(None, 4096, 0, (1,), 16))
    other.add(Access(None, other, reach(LANES, 1)))
    assert not Threads(GROUP).keep_apart(bundle(Kind.WRITE, LANES), other)


def test_reach_of_each_wave() -> None:
    found = bundle(Kind.WRITE, LANES, 2)
    assert (found.lo, found.hi) == (0, 1028)
    assert Threads(GROUP).stretches(found) == ((0, 260), (256, 516), (512, 772), (768, 1028))


def test_a_bundle_reaches_as_far_as_its_members() -> None:
    found = bundle(Kind.WRITE, LANES)
    found.add(Access(None, found, reach(LANES * 0 + 300, 1)))
    assert (found.lo, found.hi) == (0, 1204)
    assert Threads(GROUP).stretches(found) == ((0, 1204), (256, 1204), (512, 1204), (768, 1204))


def test_a_bundle_with_an_unknown_member_may_be_anywhere() -> None:
    found = bundle(Kind.WRITE, LANES + 8)
    found.add(Access(None, found, None))
    found.add(Access(None, found, reach(LANES, 1)))
    assert (found.lo, found.hi) == (0, None)


@pytest.mark.parametrize(
    ("read_at", "barriers"),
    [
        (lambda column: column, 0),
        (lambda column: column + 1 - 2 * (column % 2), 2),  # its neighbour's, in the same wave
        (lambda column: 255 - column, 2),
    ],
)
def test_kernel(read_at: Callable[[Any], Any], barriers: int) -> None:
    audits: list[host.Audit] = []
    with host.installed(show=audits.append):
        text = kernels.columns(read_at).compiled()
    assert text.count("amdgpu.lds_barrier") == barriers
    assert not audits[0].races
