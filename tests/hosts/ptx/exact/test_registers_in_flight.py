"""Registers that `tcgen05.ld` loads, and that wgmma adds up: read only behind the wait for it."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx import KernelVerdict, check
from tests.hosts.ptx.exact.test_tensor_memory import LAST, LOADED, START, STORED, load, store
from tests.hosts.ptx.exact_kernels import PRODUCT, kernel

USE = "    st.global.u32 [%rd1], %r40;\n"
BEGIN = START + store() + STORED
FENCE = "    wgmma.fence.sync.aligned;\n"
COMMIT, WAIT = "    wgmma.commit_group.sync.aligned;\n", "    wgmma.wait_group.sync.aligned {};\n"
BEFORE, _, AFTER = PRODUCT.partition(FENCE)
MULTIPLY = AFTER.partition(COMMIT)[0]
STACK = """
    .local .align 16 .b8 depot[16];
    mov.u64 %rd8, depot;
    cvta.local.u64 %rd9, %rd8;
"""
RESULT = "    st.global.f32 [%rd1], %f1;\n"


def verdict(body: str) -> KernelVerdict:
    (found,) = check(kernel(body, 128))
    return found


def is_read_too_early(found: KernelVerdict) -> bool:
    """A warning of what `tcgen05.ld` loads (ptxas keeps track of it), an error of what wgmma adds up."""
    (finding,) = (each for each in found.findings if "may still be filling it" in each.message)
    expected = ("proven", "warning") if "tcgen05.ld" in finding.message else ("race", "error")
    return (found.verdict, finding.severity) == expected


def test_what_is_loaded_is_there_once_its_warp_has_waited() -> None:
    assert verdict(BEGIN + load() + LOADED + USE + LAST).verdict == "proven"
    found = verdict(BEGIN + load() + USE + LOADED + LAST)
    assert is_read_too_early(found) and "tcgen05.wait::ld" in found.findings[0].fix
    assert is_read_too_early(verdict(BEGIN + load() + LOADED + load() + USE + LOADED + LAST))


def test_a_wait_for_stores_is_none_for_loads() -> None:
    assert is_read_too_early(verdict(BEGIN + load() + STORED + USE + LOADED + LAST))


def test_a_register_that_is_handed_on_is_in_flight_as_well() -> None:
    copied = "    mov.b32 %r30, %r40;\n"
    use = USE.replace("%r40", "%r30")
    assert verdict(BEGIN + load() + copied + LOADED + use + LAST).verdict == "proven"
    assert is_read_too_early(verdict(BEGIN + load() + copied + use + LOADED + LAST))
    # Something else is in it by then.
    other = verdict(BEGIN + load() + copied.replace("%r40", "1") + use + LOADED + LAST)
    assert (other.verdict, other.findings) == ("proven", ())


@pytest.mark.parametrize(
    ("wait", "early"),
    (
        (COMMIT + WAIT.format(0), False),
        (COMMIT + WAIT.format(1), True),
        (COMMIT, True),
        (WAIT.format(0), True),
    ),
)
def test_what_wgmma_adds_up_is_there_once_its_group_is_waited_for(wait: str, early: bool) -> None:
    end = COMMIT + WAIT.format(0)
    found = verdict(BEFORE + FENCE + MULTIPLY + wait + RESULT + end)
    assert is_read_too_early(found) if early else found.verdict == "proven"


def test_groups_are_waited_for_in_order() -> None:
    second = COMMIT + MULTIPLY.replace("{%f1, %f2, %f3, %f4}", "{%f5, %f6, %f7, %f8}") + COMMIT
    both = BEFORE + FENCE + MULTIPLY + second + WAIT.format(1)
    assert verdict(both + RESULT + WAIT.format(0)).verdict == "proven"
    assert is_read_too_early(verdict(both + RESULT.replace("%f1", "%f5") + WAIT.format(0)))


def test_wgmma_adds_to_its_own_results_in_order() -> None:
    found = verdict(BEFORE + FENCE + MULTIPLY + MULTIPLY + COMMIT + WAIT.format(0) + RESULT)
    assert found.verdict == "proven"


def test_a_wait_on_some_ways_only_is_not_decided() -> None:
    skipped = "    setp.eq.u32 %p9, %r2, 0;\n    @%p9 bra $past;\n{}$past:\n"
    found = verdict(BEGIN + load() + skipped.format(LOADED) + USE + LOADED + LAST)
    assert is_read_too_early(found)
    end = COMMIT + WAIT.format(0)
    found = verdict(BEFORE + FENCE + MULTIPLY + COMMIT + skipped.format(WAIT.format(0)) + RESULT + end)
    assert found.verdict == "undecided" and "on some way, %f1 is read" in found.reasons[0].message


def test_the_first_wgmma_has_a_fence_before_it() -> None:
    rest = MULTIPLY + COMMIT + WAIT.format(0) + RESULT
    found = verdict(BEFORE + rest)
    assert [(each.code, each.severity) for each in found.findings] == [("FP008", "error")]
    assert "wgmma.fence" in found.findings[0].message
    assert verdict(BEFORE + FENCE + rest).verdict == "proven"


def test_a_stack_keeps_results_as_soon_as_they_are_issued() -> None:
    """Without optimization, variables are in local memory; PTX says so of no kernel that has none."""
    kept = USE.replace("st.global.u32 [%rd1]", "st.u32 [%rd9]")
    assert not verdict(STACK + BEGIN + load() + kept + LOADED + LAST).findings
    assert is_read_too_early(verdict(BEGIN + load() + kept + LOADED + LAST))


def test_a_stack_hides_no_other_reads() -> None:
    """A kernel that is optimized has one for an array at an index that is not known, or for `printf`."""
    end = COMMIT + WAIT.format(0)
    assert is_read_too_early(verdict(STACK + BEFORE + FENCE + MULTIPLY + RESULT + end))
    assert verdict(STACK + BEFORE + FENCE + MULTIPLY + end + RESULT).verdict == "proven"
