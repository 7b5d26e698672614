"""What instructions count on, touch and wait for, on gfx9 and gfx12."""

from __future__ import annotations

import pytest

from fencepost.hosts.amdgcn.instructions import effects, meets, waits_of
from fencepost.hosts.amdgcn.registers import loaded, mentioned, named, registers
from fencepost.hosts.amdgcn.steps import COPY_IN, COPY_OUT, READ, UPDATE, WRITE, Meets, Wait


@pytest.mark.parametrize(
    ("instruction", "old", "new", "does"),
    [
        ("ds_read_b128 v[0:3], v4", "lgkm", "ds", READ),
        ("ds_load_tr16_b128 v[0:3], v4", "lgkm", "ds", READ),
        ("ds_write2st64_b64 v0, v[1:2], v[3:4] offset1:8", "lgkm", "ds", WRITE),
        ("ds_add_u32 v0, v1", "lgkm", "ds", UPDATE),
        ("ds_bpermute_b32 v0, v1, v2", "lgkm", "ds", ""),
        ("global_load_dwordx4 v[0:3], v[4:5], off", "vm", "load", ""),
        ("global_store_dwordx4 v[4:5], v[0:3], off", "vm", "store", ""),
        ("buffer_load_dwordx4 v2, s[4:7], 0 offen lds", "vm", "load", COPY_IN),
        ("global_load_lds_dwordx4 v[0:1], off", "vm", "load", COPY_IN),
        ("global_load_async_to_lds_b128 v25, v[36:37], off", "async", "async", COPY_IN),
        ("global_store_async_from_lds_b128 v[0:1], v2, off", "async", "async", COPY_OUT),
        ("tensor_load_to_lds s[0:3], s[4:11]", "tensor", "tensor", COPY_IN),
        ("tensor_store_from_lds s[0:3], s[4:11]", "tensor", "tensor", COPY_OUT),
        ("s_load_dwordx4 s[0:3], s[4:5], 0x0", "lgkm", "km", ""),
        ("global_atomic_add v0, v[1:2], v3, off sc0", "vm", "load", ""),
        ("global_atomic_add_u32 v[1:2], v3, off", "vm", "store", ""),
    ],
)
def test_what_is_outstanding_because_of_an_instruction(
    instruction: str, old: str, new: str, does: str
) -> None:
    name, _, operands = instruction.partition(" ")
    for split, counter in ((False, old), (True, new)):
        done, issues = effects(name, operands, split)
        assert done == does
        assert [issue.counter for issue in issues] == [counter]


def test_a_flat_access_counts_twice_and_completes_in_any_order() -> None:
    _, issues = effects("flat_load_dword", "v0, v[1:2]", False)
    assert [(issue.counter, issue.order) for issue in issues] == [("vm", ""), ("lgkm", "")]


@pytest.mark.parametrize(
    ("instruction", "waits"),
    [
        ("s_waitcnt vmcnt(2) lgkmcnt(0)", [Wait("vm", 2), Wait("lgkm", 0)]),
        ("s_waitcnt lgkmcnt(3)", [Wait("lgkm", 3)]),
        ("s_waitcnt 0xc07f", [Wait("lgkm", 0)]),
        ("s_waitcnt 0x0f72", [Wait("vm", 2)]),
        ("s_wait_dscnt 0x4", [Wait("ds", 4)]),
        ("s_wait_loadcnt_dscnt 0x103", [Wait("load", 1), Wait("ds", 3)]),
        ("s_wait_asynccnt 0x0", [Wait("async", 0)]),
        ("s_wait_tensorcnt 0xa", [Wait("tensor", 10)]),
        ("s_wait_alu depctr_va_vcc(0)", []),
        ("s_wait_xcnt 0x0", []),
        ("s_nop 0", []),
    ],
)
def test_what_an_instruction_waits_for(instruction: str, waits: list[Wait]) -> None:
    name, _, operands = instruction.partition(" ")
    assert list(waits_of(name, operands)) == waits


def test_barriers_are_whole_or_in_halves() -> None:
    assert [meets(name) for name in ("s_barrier", "s_barrier_signal", "s_barrier_wait", "s_sleep")] == [
        Meets.WHOLE,
        Meets.ARRIVES,
        Meets.LEAVES,
        Meets.NOT,
    ]


def test_registers_beyond_256_are_written_behind_the_operand() -> None:
    assert registers("v3 /*v259*/") == registers("v259")
    assert registers("v[2:3] /*v[258:259]*/") == registers("v[258:259]")
    assert named(registers("v259")) == "v259"
    assert named(registers("s[4:5]")) == "s4"
    assert named(registers("vcc")) == "vcc_lo"


def test_loads_of_16_bits_write_one_half() -> None:
    low, high = registers("v5.l"), registers("v5.h")
    assert loaded("global_load_d16_b16", "v5, v[0:1], off") == low
    assert loaded("ds_read_u16_d16_hi", "v5, v0") == high
    assert not mentioned("scratch_store_d16_hi_b16", "off, v5, off offset:50") & low
    # What writes the other half counts as writing both: the load may put back what was there.
    assert mentioned("v_mov_b16_e64", "v5.h, v6.l") & low
