"""Kernels with a race that no kernel here can express, or that only its exact form has: none is called clean.

Each is judged through the commands that users have. What is not followed is named (FP408); what is followed and wrong
is found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine
from tests.hosts.triton.modules import NVMMA, module

OBJECT = "!ttg.memdesc<1xi64, #s1, #smem, mutable>"
DESC = "!tt.tensordesc<64x128xf16, #n>"
WIDE = "!ttg.memdesc<64x128xf16, #n, #smem, mutable>"
TENSOR_MEMORY = "!ttg.memdesc<128x128xf32, #tm, #ttng.tensor_memory, mutable>"
ACCUMULATOR = "tensor<128x128xf32, #ba>"

LAYOUTS = """\
#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#ba = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
"""

NOT_FOLLOWED = {
    # The load and the store of another warp's lanes are not ordered by anything.
    "ttng.tmem_load": f"""
%t = ttng.tmem_alloc : () -> {TENSOR_MEMORY}
%yes = arith.constant true
%v = ttng.tmem_load %t : {TENSOR_MEMORY} -> {ACCUMULATOR}
ttng.tmem_store %v, %t, %yes : {ACCUMULATOR} -> {TENSOR_MEMORY}
tt.return
""",
    # A barrier of the cluster that is relaxed meets, and orders nothing.
    "ttng.cluster_barrier": "ttng.cluster_barrier {relaxed = true}\ntt.return",
    # The barriers of a cluster on AMD: wave 0 signals for the others, whatever they are at.
    "amdg.cluster_barrier_arrive": "amdg.cluster_barrier_arrive\namdg.cluster_barrier_wait\ntt.return",
    # Assembly that is given a tile may write it.
    "ttg.inline_asm": """
%m = ttg.local_alloc : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
"ttg.inline_asm"(%m) <{asm_string = "st.shared.b32 [$0], 1;", constraints = "r", pure = false}> : (<TILE>) -> ()
tt.return
""",
    # Assembly that has effects may be a barrier of some threads, or anything else.
    "tt.elementwise_inline_asm": """
%i = tt.elementwise_inline_asm "bar.sync 0;"
  {constraints = "=r,r", packed_element = 1 : i32, pure = false} %n : i32 -> i32
tt.return
""",
    # A barrier of each wave alone.
    "gpu.barrier": """
%m = ttg.local_alloc : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
gpu.barrier scope <subgroup>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.return
""",
    # Half of the waves meet, and the others never come.
    "scf.if": """
%id = ttg.warp_id
%two = arith.constant 2 : i32
%low = arith.cmpi slt, %id, %two : i32
scf.if %low {
  ttg.barrier local
}
tt.return
""",
    # One wave of two writes, the other one reads, under a condition that looks like any other.
    "cf.cond_br": """
%m = ttg.local_alloc : () -> <TILE>
%id = nvvm.read.ptx.sreg.tid.x : i32
%some = arith.constant 40 : i32
%low = arith.cmpi slt, %id, %some : i32
cf.cond_br %low, ^one, ^other
^one:
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  ttg.barrier local
  tt.return
^other:
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  tt.return
""",
}


def judge(
    fencepost: CommandLine, folder: Path, body: str, target: str, workgroups: int = 1
) -> tuple[int, str]:
    text = LAYOUTS + module(body, arguments=f"%desc: {DESC}", target=target)
    (folder / "kernel.ttgir").write_text(text.replace('"ttg.num-ctas" = 1', f'"ttg.num-ctas" = {workgroups}'))
    ran = fencepost("check", "--as-is", str(folder / "kernel.ttgir"))
    return ran.code, ran.out + ran.err


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_is_not_followed_is_not_judged(fencepost: CommandLine, tmp_path: Path, name: str) -> None:
    target = "hip:gfx1250" if name.startswith("amdg") else "cuda:100"
    workgroups = 2 if "cluster" in name else 1
    code, said = judge(fencepost, tmp_path, NOT_FOLLOWED[name], target, workgroups)
    named = "clusters of 2 workgroups" if workgroups > 1 else name
    assert (code, named in said) == (2, True), said
    assert "error[FP408]: not judged" in said
    assert "nothing was left out" not in said


def load(before: str = "", flags: str = "") -> str:
    """A tile of two messages is loaded, the second of them by the second warp."""
    return f"""
%full = ttg.local_alloc : () -> {OBJECT}
%m = ttg.local_alloc : () -> {WIDE}
%zero = arith.constant 0 : i32
%yes = arith.constant true
ttng.init_barrier %full, 1 : {OBJECT}
{before}
ttng.barrier_expect %full, 16384, %yes : {OBJECT}
ttng.async_tma_copy_global_to_local %desc[%zero, %zero] %m, %full, %yes {flags}: {DESC}, {OBJECT} -> {WIDE}
ttng.wait_barrier %full, %zero : {OBJECT}
ttg.barrier local
ttng.inval_barrier %full : {OBJECT}
tt.return
"""


def test_the_waves_that_issue_a_copy_are_as_many_as_it_has_messages(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    assert judge(fencepost, tmp_path, load("ttg.barrier local"), target="cuda:90")[0] == 0
    # In front of the expectation all waves meet, and the object is there for the second warp, too.
    assert judge(fencepost, tmp_path, load(), target="cuda:90")[0] == 0


def test_the_second_warp_uses_an_mbarrier_that_the_first_one_initializes(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    """Were the whole tile issued by the first warp, program order would be enough."""
    body = f"""
%full = ttg.local_alloc : () -> {OBJECT}
%m = ttg.local_alloc : () -> {WIDE}
%zero = arith.constant 0 : i32
%yes = arith.constant true
ttng.init_barrier %full, 1 : {OBJECT}
ttng.async_tma_copy_global_to_local %desc[%zero, %zero] %m, %full, %yes : {DESC}, {OBJECT} -> {WIDE}
ttng.barrier_expect %full, 16384, %yes : {OBJECT}
ttng.wait_barrier %full, %zero : {OBJECT}
ttg.barrier local
ttng.inval_barrier %full : {OBJECT}
tt.return
"""
    code, said = judge(fencepost, tmp_path, body, target="cuda:90")
    assert code == 1, said


def test_a_load_for_the_whole_cluster_is_not_judged(fencepost: CommandLine, tmp_path: Path) -> None:
    code, said = judge(
        fencepost, tmp_path, load("ttg.barrier local", "{multicast = true} "), target="cuda:90"
    )
    assert (code, "ttng.async_tma_copy_global_to_local" in said) == (2, True), said


def test_a_kernel_of_a_cluster_is_not_judged(fencepost: CommandLine, tmp_path: Path) -> None:
    code, said = judge(fencepost, tmp_path, "tt.return", "cuda:90", workgroups=2)
    assert (code, "clusters of 2 workgroups" in said) == (2, True), said


def test_a_verdict_on_a_kernel_that_uses_two_proxies_says_that_fences_between_them_are_not_judged(
    fencepost: CommandLine, tmp_path: Path
) -> None:
    """The tile is written by threads and stored by the engine, without the fence that this takes."""
    body = f"""
%m = ttg.local_alloc : () -> {NVMMA}
%zero = arith.constant 0 : i32
ttg.local_store %x, %m : <TENSOR> -> {NVMMA}
ttg.barrier local
ttng.async_tma_copy_local_to_global %narrow[%zero, %zero] %m : !tt.tensordesc<64x64xf16, #n>, {NVMMA}
ttng.async_tma_store_wait {{pendings = 0 : i32}}
tt.return
"""
    arguments = "%narrow: !tt.tensordesc<64x64xf16, #n>"
    (tmp_path / "kernel.ttgir").write_text(module(body, arguments=arguments, target="cuda:90"))
    said = fencepost("check", "--as-is", str(tmp_path / "kernel.ttgir")).out
    assert "no race, no deadlock" in said
    assert "not judged: fences between proxies" in said
    assert "nothing was left out" not in said
    assert '"unjudged": [' in fencepost("check", "--json", "--as-is", str(tmp_path / "kernel.ttgir")).out
