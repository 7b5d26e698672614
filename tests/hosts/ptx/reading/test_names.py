"""Names of kernels and parameters, as CUDA has them and as PTX does."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.launches.parameters import numbered, parameter_names, parameters_in
from fencepost.hosts.ptx.reading.kernel_names import function_name, kernels_in, matches, plain_name
from fencepost.ir.source import FencepostError

PTX = """.visible .entry _Z4gemmPKfPfi(
	.param .u64 _Z4gemmPKfPfi_param_0,
	.param .u64 .ptr .align 1 _Z4gemmPKfPfi_param_1,
	.param .u32 _Z4gemmPKfPfi_param_2
)
{ ret; }
.weak .entry other() { ret; }
"""
GEMM = "_Z4gemmPKfPfi"


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("gemm", "gemm"),
        ("_Z4gemmPKfPfi", "gemm"),
        ("_Z6reduceILi256EEvPf", "reduce"),
        ("_ZN2ns5inner4gemmEv", "gemm"),
        # Template arguments that refer back to others are not read, but what stands before them is.
        ("_Z5applyIN3c104HalfEfS1_EvPT1_", "apply"),
        ("_ZN2ns4scanINS_5CodecILi0EEES1_EEvT_", "scan"),
        ("_ZN12_GLOBAL__N_14gemmEv", "gemm"),
        ("_Z", "_Z"),
    ],
)
def test_what_a_kernel_is_launched_as(mangled: str, name: str) -> None:
    assert function_name(mangled) == name


@pytest.mark.parametrize(
    ("mangled", "plain"),
    [
        ("gemm", "gemm"),
        ("_Z4gemmPKfPfi", "gemm"),
        ("_Z6reduceILi256EEvPf", "reduce<256>"),
        ("_Z6reduceILin1EfLb1EEvPT0_", "reduce<-1, float, true>"),
        ("_ZN2ns4gemmEv", "ns::gemm"),
        ("_ZN1m7reverseB2v1B6cw51cXE5ArrayIiLi1E1CE", "m::reverse"),
        ("_ZN1m1f12_3clocals_3e1gB2v2Ev", "m::f::<locals>::g"),
        ("_ZN2ns3BoxIiE3runEv", "ns::Box<int>::run"),
        ("_ZN12_GLOBAL__N_14gemmEv", "gemm"),
        ("_Z4sortIN3key4PairEEvPT_", "sort<key::Pair>"),
        ("_ZN3app4kernILNS_4ModeE1ELi4EEEvP6float4i", "app::kern<(app::Mode)1, 4>"),
        ("_Z1fIPKfEvT_", "f<float const*>"),
        ("_ZN12_GLOBAL__N_11kIPfEEvT_", "k<float*>"),
        ("_Z1kIPfENSt9enable_ifILb1EvE4typeET_", "k<float*>"),
        ("_Z", "_Z"),
        ("_Z99x", "_Z99x"),
    ],
)
def test_plain_names(mangled: str, plain: str) -> None:
    assert plain_name(mangled) == plain


@pytest.mark.parametrize(
    "wanted", ["_ZN2ns6reduceILi8ELb0EEEvv", "ns::reduce<8, false>", "ns::reduce", "reduce"]
)
def test_a_kernel_can_be_called_in_several_ways(wanted: str) -> None:
    assert matches("_ZN2ns6reduceILi8ELb0EEEvv", wanted)
    assert not matches("_ZN2ns4scanILi8ELb0EEEvv", wanted)


def test_kernels_of_a_text() -> None:
    assert kernels_in(PTX) == (GEMM, "other")
    assert parameters_in(PTX, GEMM) == tuple(f"{GEMM}_param_{number}" for number in range(3))
    assert parameters_in(PTX, "other") == ()


@pytest.mark.parametrize(
    ("declared", "names"),
    [
        ("const float *a, float *b, int n", ("a", "b", "n")),
        ("const float* __restrict__ a /* rows, columns */, float b[], int n = 3", ("a", "b", "n")),
        ("Pair<int, float> a,\n // the size\n unsigned n", ("a", "n")),
        ("", ("",)),
    ],
)
def test_names_of_parameters(declared: str, names: tuple[str, ...]) -> None:
    cuda = f'void gemm(int wrong);\nextern "C" __global__ void __launch_bounds__(256) gemm({declared}) {{ }}'
    assert parameter_names(cuda, GEMM) == names
    assert parameter_names(cuda, "scan") == ()


def test_a_value_is_given_by_name_or_number() -> None:
    known = parameters_in(PTX, GEMM)
    expected = {f"{GEMM}_param_2": 5}
    for name in ("n", "2", f"{GEMM}_param_2"):
        assert numbered({name: 5}, GEMM, ("a", "b", "n"), known) == expected


def test_an_unknown_parameter_names_those_that_there_are() -> None:
    with pytest.raises(FencepostError, match="gemm has no parameter rows") as error:
        numbered({"rows": 5}, GEMM, ("a", "b", "n"), parameters_in(PTX, GEMM))
    assert error.value.notes == (("help", "it has a, b, n"),)
