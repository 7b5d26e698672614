"""What the proof says of random kernels in which threads work out places together, beside brute force."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.checking import with_deep_stack
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.hosts.ptx.random_cuda.compactions import Maker
from tests.hosts.ptx.random_cuda.compare import proof_alone
from tests.tiers import sweep


def proven(seed: int) -> tuple[bool, bool]:
    """Whether the kernel of a seed is proven, and whether brute force finds a race."""
    kernel = Maker(seed).kernel()
    ptx = compile_cuda(Source("k.cu", kernel.text)).ptx
    verdict = with_deep_stack(lambda: proof_alone(ptx, (kernel.threads, 1, 1), {}))
    return verdict.verdict == "proven", kernel.races(seed)


@pytest.mark.parametrize("seed", [0, 10, 13, 15])
def test_right_compactions_are_proven(seed: int) -> None:
    assert proven(seed) == (True, False)


@pytest.mark.parametrize("seed", [1, 4, 8, 14])
def test_racy_compactions_are_not(seed: int) -> None:
    assert proven(seed) == (False, True)


@pytest.mark.parametrize("seed", sweep(range(1000, 1200), first=4))
def test_no_racy_compaction_is_proven(seed: int) -> None:
    assert proven(seed) != (True, True)
