"""`check` against every interleaving of small random kernels with mbarriers.

What the reference finds, `check` must find: that is tested for every kernel. The other way round they differ in two
things. `check` wants everybody who arrives to know that the phases before are over, since an arrival that comes early
counts for another phase than the one that it was meant for. Where nobody waits for the object at all, or where one
arrival is as good as the other and it comes out even, nothing goes wrong, and the reference has nothing to say. And a
wave that misses the phase that it waits for can be let go by a later one (one kernel in 40,000). `check` also looks
at slots that do not exist, and the reference does not. Reads of what nobody has written are no mistake of the order;
where `check` reports one, the reference has to see it in a run.

40,000 kernels were compared on the way here. They are tiny: two or three waves, a few objects, up to three rounds.
"""

from __future__ import annotations

import pytest

import fencepost as fp
from tests.mbarrier_reference import TooLarge, mistake, mistakes, read_unwritten
from tests.random_mbarriers import TEMPLATES, random_kernel
from tests.tiers import sweep

PARTS, EACH = 4, 250


@pytest.mark.parametrize("text", TEMPLATES)
def test_the_kernels_to_begin_with_are_correct(text: str) -> None:
    assert mistakes(text) == set()
    assert fp.check(fp.parse(text)).ok


@pytest.mark.parametrize("part", sweep(range(PARTS), first=1))
def test_check_finds_what_every_interleaving_shows(part: int) -> None:
    correct = wrong = 0
    for seed in range(part * EACH, (part + 1) * EACH):
        text = random_kernel(seed, rounds=seed % 4)
        try:
            report = fp.check(fp.parse(text))
            found = mistake(text)
        except (fp.FencepostError, TooLarge):
            continue
        if found:
            wrong += 1
            assert not report.ok, (seed, found, text)
        elif not report.ok and not report.out_of_range:
            kinds = {each.kind for each in report.deadlocks}
            unfilled = kinds == {"unfilled"} and read_unwritten(text)
            assert unfilled or {"early arrival", "missed phase"} & kinds, (seed, text)
        else:
            correct += 1
    assert min(correct, wrong) > EACH // 5


def test_the_reference_sees_what_can_happen() -> None:
    wait, arrive = "mbarrier_wait %o phase=0", "mbarrier_arrive %o"

    def of(one: str, other: str, count: int = 1) -> str:
        return mistake(
            f"kernel @k waves=2 {{\n  shared %a : 64\n  shared %o : 8\n  mbarrier_init %o count={count}\n  barrier\n"
            f"  if wave == 0 {{\n{one}\n  }} else {{\n{other}\n  }}\n}}\n"
        )

    assert of(f"write %a\n{arrive}", f"{wait}\nread %a") == ""
    assert of(f"{arrive}\nwrite %a", f"{wait}\nread %a") == "race"
    assert of("write %a", f"{wait}\nread %a") == "hang"
    assert of(arrive, f"{wait}\n{wait}") == ""
    assert of(f"{arrive}\n{arrive}", wait) == "hang"
    assert of(f"{arrive} count=2", wait) == "too many"
    assert of(f"{arrive}\n{arrive}", wait, count=2) == ""
    assert of("tensor_load_to_lds %a arrives %o count=1", f"{wait}\nread %a") == ""
    assert of(f"tensor_load_to_lds %a\n{arrive}", f"{wait}\nread %a") == "race"
    assert of(f"gather_to_lds %a counter=c\n{arrive} counter=c", f"{wait}\nread %a") == ""
    assert of(f"gather_to_lds %a counter=c\nwait_count c=0\n{arrive}", f"{wait}\nread %a") == ""
    assert of(f"gather_to_lds %a counter=c\nwait_count c=1\n{arrive}", f"{wait}\nread %a") == "race"
    assert (
        of("mbarrier_expect %o bytes=64\ntensor_load_to_lds %a arrives %o bytes=64", f"{wait}\nread %a") == ""
    )
    assert of("mbarrier_expect %o bytes=64\ntensor_load_to_lds %a arrives %o bytes=32", wait) == "hang"
    assert of("barrier", "barrier waves 0..2") == "hang"
    assert of("barrier waves 1..2", "read %a") == "meets others"
