"""Waits for products that would wait for nothing once the last one of a block is for all."""

from __future__ import annotations

import pytest

from fencepost.hosts.triton.idle_waits import LEFT, WAIT, idle_waits
from fencepost.hosts.triton.mlir.tree import Operation
from fencepost.hosts.triton.module_files import read_sources
from fencepost.hosts.triton.text_edits import SetAttribute
from fencepost.ir.source import Source
from tests.hosts.triton.modules import MMA, NVMMA
from tests.hosts.triton.modules import module as text_of

SUM = f"tensor<64x64xf32, {MMA % 4}>"


def waits_of(*lines: str) -> list[Operation]:
    """The waits of a kernel; `dot` is a product, `wait N` a wait that leaves N of them in flight."""
    body = [f"%a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {NVMMA}"]
    for number, line in enumerate(lines):
        before = f"%v{number - 1}" if number else "%acc"
        word, _, count = line.partition(" ")
        if word == "dot":
            body.append(
                f"%v{number} = ttng.warp_group_dot %a, %a, {before} {{isAsync = true, inputPrecision = 0 : i32}} : "
                f"{NVMMA} * {NVMMA} -> {SUM}"
            )
        else:
            body.append(
                f"%v{number} = ttng.warp_group_dot_wait {before} {{pendings = {count} : i32}} : {SUM}"
            )
    text = text_of("\n".join((*body, "tt.return")), arguments=f"%acc: {SUM}", shared=8192, target="cuda:90")
    (read,) = read_sources([Source("kernel.ttgir", text)])
    return [op for op in read.walk() if op.name == WAIT]


@pytest.mark.parametrize(
    ("lines", "changed"),
    [
        pytest.param(
            ("dot", "wait 3", "dot", "wait 3", "dot", "wait 3"), [0, 1], id="none has anything left"
        ),
        pytest.param(("dot", "dot", "wait 1", "dot", "wait 3"), [], id="one of two is waited for"),
        pytest.param(("dot", "wait 2", "dot", "dot", "wait 1", "wait 3"), [0], id="only the idle one"),
        pytest.param(("wait 3", "dot", "wait 3"), [], id="nothing in front of it"),
    ],
)
def test_which_wait_for_nothing(lines: tuple[str, ...], changed: list[int]) -> None:
    """The last wait has been made 0."""
    waits = waits_of(*lines)
    last = SetAttribute(waits[-1], LEFT, "0 : i32", inherent=True)
    found = idle_waits([last])
    assert [waits.index(edit.operation) for edit in found] == changed
    assert {edit.value for edit in found} <= {"0 : i32"}


def test_what_is_in_flight_at_the_end_is_in_flight_at_the_beginning() -> None:
    """A product behind the last wait: in the next iteration the first wait may have something to wait for."""
    waits = waits_of("dot", "wait 3", "dot", "wait 3", "dot")
    assert idle_waits([SetAttribute(waits[-1], LEFT, "0 : i32", inherent=True)]) == []


def test_nothing_made_stronger_changes_nothing() -> None:
    assert idle_waits([]) == []
