"""What the proof says of random kernels with barriers of parts of a warp and copies, beside brute force."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.checking import with_deep_stack
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.ir.source import Source
from tests.hosts.ptx.random_cuda.compare import PARAMETERS, proof_alone
from tests.hosts.ptx.random_cuda.warps_and_copies import Maker
from tests.tiers import sweep


def proven_and_wrong(seed: int) -> tuple[bool, bool]:
    """Whether the kernel of a seed is proven for every value of its parameter, and wrong for some."""
    kernel = Maker(seed).kernel()
    ptx = compile_cuda(Source("k.cu", kernel.text)).ptx
    verdict = with_deep_stack(lambda: proof_alone(ptx, kernel.block, {}))
    return verdict.verdict == "proven", any(map(kernel.wrong, PARAMETERS))


@pytest.mark.parametrize("seed", sweep([15, 16, 21, 27, 19, 29, 31], first=2))
def test_right_kernels_are_proven(seed: int) -> None:
    assert proven_and_wrong(seed) == (True, False)


@pytest.mark.parametrize("seed", sweep([1, 14, 2, 22, 9], first=1))
def test_wrong_kernels_are_not(seed: int) -> None:
    assert proven_and_wrong(seed) == (False, True)


@pytest.mark.parametrize("seed", sweep(range(1000, 1300), first=2))
def test_no_wrong_kernel_is_proven(seed: int) -> None:
    assert proven_and_wrong(seed) != (True, True)
