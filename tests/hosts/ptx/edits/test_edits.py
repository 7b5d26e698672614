"""Barriers taken out of and put into PTX text."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.asked_launch import AskedLaunch
from fencepost.hosts.ptx.compiler.nvrtc import compile_cuda
from fencepost.hosts.ptx.edits.text_edits import Edited, insert, prune
from fencepost.ir.source import Source
from tests.hosts.ptx.kernels import NEIGHBOUR, kernel
from tests.tiers import FULL

LAUNCH = AskedLaunch((256, 1, 1))


def test_a_second_barrier_is_taken_out_and_all_else_stays() -> None:
    text = kernel(NEIGHBOUR.format(barrier="bar.sync 0; bar.sync 0;"))
    edited = prune(text, "k", LAUNCH)
    assert edited.after.verdict == "proven"
    assert len(edited.changed) == 1
    assert edited.text.replace("/* bar.sync 0; */", "bar.sync 0;") == text


def test_a_barrier_that_is_needed_stays() -> None:
    text = kernel(NEIGHBOUR.format(barrier="bar.sync 0;"))
    assert prune(text, "k", LAUNCH).text == text


def test_a_barrier_is_put_between_the_two_accesses() -> None:
    text = kernel(NEIGHBOUR.format(barrier=""))
    edited = insert(text, "k", LAUNCH)
    assert (edited.before.verdict, edited.after.verdict) == ("race", "proven")
    assert edited.text.replace("    bar.sync 0;\n", "") == text
    assert edited.text.index("st.shared") < edited.text.index("bar.sync") < edited.text.index("ld.shared")


def test_what_cannot_be_mended_whole_comes_back_as_it_was() -> None:
    """Barriers order the neighbours; all threads still write their own number to one word."""
    last = "mov.u32 %r9, %tid.x; st.shared.u32 [s], %r9;"
    text = kernel(NEIGHBOUR.format(barrier="") + last)
    edited = insert(text, "k", LAUNCH)
    assert edited.before.verdict == edited.after.verdict == "race"
    assert (edited.text, edited.changed) == (text, ())
    assert {each.second.instruction for each in edited.left} == {"st.shared.u32 [s], %r9"}


def pruned(body: str, *, distinct_pointers: bool = False) -> Edited:
    """A kernel `k(int *a, int *b, int n)` in CUDA, without the barriers that nothing needs."""
    source = f'extern "C" __global__ void k(int *a, int *b, int n) {{ int t = threadIdx.x; {body} }}'
    return prune(
        compile_cuda(Source("k.cu", source)).ptx,
        "k",
        AskedLaunch((256, 1, 1), None, "k.cu", distinct_pointers),
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("a[t * n] = t; __syncthreads(); b[t] = a[255 - t];", id="a write and a read"),
        pytest.param("int x = a[n - t]; __syncthreads(); a[t] = x;", id="a read and a write"),
        pytest.param("a[t] = t; __syncthreads(); a[n - t] = 0;", id="two writes"),
        pytest.param(
            '_Pragma("unroll 1") for (int i = 0; i < 4; i++) { a[i + t] = i; __syncthreads(); }',
            id="the next iteration",
        ),
        pytest.param(
            "for (int i = 0; i < n; i++) { a[i * n + t] = i; __syncthreads(); }",
            id="as many iterations as n",
            marks=FULL,
        ),
        pytest.param("a[t] = t; __syncthreads(); if (t == 0) atomicAdd(b, 1);", id="a flag for other blocks"),
        pytest.param(
            "if (t == 0) while (*(volatile int *)b == 0); __syncthreads(); a[t] = b[t + 1];",
            id="a flag of others",
        ),
        pytest.param("a[t] = t; __threadfence(); __syncthreads(); if (!t) b[0] = 1;", id="a fence"),
        pytest.param("a[a[t]] = t; __syncthreads(); a[a[t]] = 2;", id="an address that is data"),
    ],
)
def test_a_barrier_for_global_memory_stays(body: str) -> None:
    edited = pruned(body, distinct_pointers=True)
    assert (edited.before.verdict, edited.changed) == ("proven", ())
    assert len(edited.for_global) == edited.before.barriers > 0


@pytest.mark.parametrize(
    "body",
    [
        "a[t] = t; __syncthreads(); b[t] = a[255 - t];",
        "int x = a[255 - t]; __syncthreads(); a[t] = x;",
        "a[t] = t; __syncthreads(); a[255 - t] = 0;",
    ],
)
def test_a_barrier_without_which_global_memory_races_for_certain_stays_too(body: str) -> None:
    edited = pruned(body, distinct_pointers=True)
    assert (edited.before.verdict, edited.changed, edited.after.barriers) == ("proven", (), 1)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("a[t] = t; __syncthreads(); a[t] += 1;", id="each thread its own word"),
        pytest.param(
            "int i = blockIdx.x * blockDim.x + t; a[i] = t; __syncthreads(); a[i] += n;",
            id="its own, in any block",
        ),
        pytest.param("__syncthreads(); a[t] = t;", id="nothing before"),
        pytest.param("a[t] = t; __syncthreads();", id="nothing after"),
        pytest.param(
            "b[t] = __ldg(a + 255 - t); __syncthreads(); b[t] += __ldg(a + t);", id="read-only loads"
        ),
        pytest.param(
            "int x = a[t]; __syncthreads(); x += a[255 - t]; __syncthreads(); b[t] = x;", id="two reads"
        ),
    ],
)
def test_a_barrier_that_orders_nothing_in_global_memory_goes(body: str) -> None:
    assert pruned(body).changed


def test_two_pointers_may_point_to_the_same_memory() -> None:
    body = "int x = a[255 - t]; __syncthreads(); b[t] = x;"
    edited = pruned(body)
    ((_, pair),) = edited.for_global
    assert edited.changed == () and pair.only_if_pointers_overlap
    assert pair.bases == ("k_param_0", "k_param_1")
    assert len(pruned(body, distinct_pointers=True).changed) == 1


def test_of_two_barriers_that_order_the_same_accesses_one_stays() -> None:
    edited = pruned("a[t] = t; __syncthreads(); __syncthreads(); b[t] = a[255 - t];")
    assert len(edited.changed) == 1 and edited.after.barriers == 1
