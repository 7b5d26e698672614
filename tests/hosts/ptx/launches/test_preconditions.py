"""What CUDA files require of launches (`__requires`, `__assume`), and verdicts under it."""

from __future__ import annotations

from fencepost.hosts.ptx import KernelVerdict
from fencepost.hosts.ptx.files import UserOptions, judgements, read_file
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.launches.preconditions import preconditions, satisfying
from fencepost.ir.source import Source


def said(requires: str, **constants: int) -> tuple[dict[str, int], list[str], tuple[str, ...]]:
    text = f"__global__ void k(int *a, int n, unsigned m, float f, long long w) {{ {requires} a[0] = n; }}"
    names = [f"p{number}" for number in range(5)]
    found = preconditions(text, "k", names, constants)
    return dict(found.values), [str(each) for each in found.conditions], found.left_out


def test_equations_give_parameters_their_values() -> None:
    assert said("__requires(n == 64);") == ({"p1": 64}, [], ())
    assert said("__requires(64 == n && m == N / 2);", N=32) == ({"p1": 64, "p2": 16}, [], ())
    assert said("__requires(w == 1LL << 33);") == ({"p4": 1 << 33}, [], ())


def test_other_comparisons_are_conditions() -> None:
    assert said("__requires(n > 0); __requires((n % 16 == 0) && n <= 4 * m);") == (
        {},
        ["n > 0", "n % 16 == 0", "n <= 4 * m"],
        (),
    )


def test_what_is_no_plain_comparison_is_left_out() -> None:
    for each in (
        "a != 0",
        "f > 1.0f",
        "__implies(n > 0, m > 0)",
        "a[0] == 3",
        "threadIdx.x < n",
        "m - 1 > 0",
    ):
        assert said(f"__requires({each});") == ({}, [], (each,)), each


def test_a_block_that_is_not_known_decides_nothing() -> None:
    assert said("__requires(n == blockDim.x);")[2] == ("n == blockDim.x",)
    assert said("__requires(n == blockDim.x * 2);", **{"blockDim.x": 64}) == ({"p1": 128}, [], ())
    # A condition that does not hold for the block would make every proof empty.
    assert said("__requires(blockDim.x == 32);", **{"blockDim.x": 64})[2] == ("blockDim.x == 32",)


def test_an_assumption_behind_a_condition_is_not_for_every_launch() -> None:
    assert said("__assume(n == 64);")[0] == {"p1": 64}
    assert said("if (n > 3) { __assume(n == 64); }") == ({}, [], ())
    assert said("if (n > 3) return; __assume(n == 64);") == ({}, [], ())
    assert said("n = 3; __requires(n == 64);")[0] == {}


def test_two_values_of_one_parameter() -> None:
    assert said("__requires(n == 64); __requires(n == 65);") == ({"p1": 64}, ["n == 65"], ())


def test_numbers_that_satisfy_conditions() -> None:
    text = "__global__ void k(int *a, int n, unsigned m) { __requires(n % 16 == 0); __requires(n > 0 && m < 5); }"
    conditions = preconditions(text, "k", ["p0", "p1", "p2"], {}).conditions
    found = satisfying(conditions, {}, lambda _: 256)
    assert found is not None and found["p1"] == 256 and found["p2"] < 5
    assert satisfying(conditions, {"p1": 7}, lambda _: 256) is None


KERNEL = """
//--blockDim=64 --gridDim=2
__global__ void k(int *out, int n) {
    __requires(REQUIRED);
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = 1;
    s[t + n] = 2;
    __syncthreads();
    out[t] = s[t];
}
"""


def verdict(required: str, **params: int) -> KernelVerdict:
    text = KERNEL.replace("REQUIRED", required)
    (found,) = judgements(read_file("k.cu", Source("k.cu", text), UserOptions(params=params)))
    assert isinstance(found, JudgedPtx)
    return found.verdict


def test_a_kernel_that_is_right_for_what_is_required() -> None:
    for required in ("n == 64", "n >= 64 && n <= 192", "n == blockDim.x", "n == 32 * gridDim.x"):
        found = verdict(required)
        assert found.verdict == "proven" and required.partition(" &&")[0] in found.holds_for, required


def test_a_kernel_that_is_wrong_for_what_is_required() -> None:
    # Usual numbers do not show it: they are not such.
    for required in ("n == 33", "n > 1 && n < 40", "n % 64 == 33"):
        assert verdict(required).verdict == "race", required


def test_a_number_that_is_given_counts() -> None:
    found = verdict("n == 64", n=33)
    assert found.verdict == "race" and "requires" not in found.holds_for
    assert verdict("n >= 64", n=33).verdict == "race"


def test_what_cannot_be_is_no_proof() -> None:
    assert "n > 64" not in verdict("n > 64 && n < 40").holds_for
