"""A program without repeated steps leaves open just what the whole one does, wherever barriers are looked for."""

from __future__ import annotations

import random
import re

import pytest

from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.transfer import Placement, Sync
from fencepost.flow import Position
from fencepost.ir.parser import parse
from fencepost.ir.source import FencepostError
from fencepost.placement.skew.step_compaction import without_repeats
from tests.shifted_kernels import ShiftedKernel
from tests.tiers import sweep

HELD = """kernel @k waves=4 {{
  shared %a : 64
  shared %b : 64
  if wave >= 2 {{
    workgroup_barrier
  }}
  loop %i in 0..? {{
{body}
  }}
  if wave < 2 {{
    workgroup_barrier
  }}
}}
"""


def steps_in_loop(*body: str) -> tuple[list[int], list[int]]:
    """The gaps of the loop's steps, and of those that are left without repeats."""
    program = read_program(parse(HELD.format(body="\n".join(body))))
    lean = without_repeats(program)
    (phase,) = (phase for phase in program.order if program.flow.blocks[program.places[phase]].loop >= 0)
    return [step.gap for step in program.steps[phase]], [step.gap for step in lean.steps[phase]]


def test_accesses_in_a_row_are_one() -> None:
    whole, lean = steps_in_loop("write %a", "%x = read %b", "%y = read %b", "%z = read %b", "write %a")
    assert whole == [0, 1, 2, 3, 4]
    assert lean == [0, 1, 4]


def test_a_barrier_between_them_keeps_both() -> None:
    _, lean = steps_in_loop("write %a", "%x = read %b", "barrier", "%y = read %b", "%z = read %b")
    assert lean == [0, 1, 3]


def test_what_meets_itself_is_no_repeat() -> None:
    _, lean = steps_in_loop("write %a", "write %a", "write %a")
    assert lean == [0, 1, 2]


def test_uses_in_a_row_complete_reads_together() -> None:
    whole, lean = steps_in_loop(
        "%x = read %a",
        "%y = read %b",
        "compute %x",
        "compute %y",
        "workgroup_barrier",
        "write %a",
        "write %b",
    )
    assert set(whole) >= {2, 3}
    assert set(lean) & {2, 3} == {2}


def doubled(text: str, source: random.Random) -> str:
    """A kernel with statements more than once."""
    lines: list[str] = []
    for line in text.splitlines():
        lines.append(line)
        if re.match(r"\s*(%x\d+ = )?(read|write|atomic|compute|gather_to_lds)\b", line):
            for _ in range(source.choice([0, 0, 1, 3])):
                lines.append(re.sub(r"%x(\d+) = ", rf"%x\1_{len(lines)} = ", line))
    return "\n".join([*lines, ""])


def sites(program: Program) -> list[Position]:
    """Where barriers are looked for."""
    found = {
        Position(program.places[phase], step.gap)
        for phase in program.order
        for step in program.steps[phase]
        if step.conflicts and program.places[phase] not in program.flow.sealed
    }
    return sorted(found)


@pytest.mark.parametrize("seed", sweep(range(150), first=30))
def test_the_same_is_open(seed: int) -> None:
    source = random.Random(seed)
    text = doubled(ShiftedKernel(source, seed % 3 == 1, seed % 5 == 2, 0.2).text(), source)
    try:
        program = read_program(parse(text))
    except FencepostError:
        return
    lean = without_repeats(program)
    places = sites(lean)
    for _ in range(20):
        part = source.choice([0.1, 0.3, 0.6, 0.9])
        chosen: Placement = {
            at: Sync(times=source.choice([1, 1, 2])) for at in places if source.random() < part
        }
        placement = program.existing | {at: sync for at, sync in chosen.items() if at not in program.existing}
        whole = conflicts_left(program, placement)
        assert bool(whole) == bool(conflicts_left(lean, placement)), (text, placement)
