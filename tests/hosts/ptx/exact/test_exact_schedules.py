"""What an exact run says of random programs, against all of their schedules."""

from __future__ import annotations

import random

import pytest

from fencepost.hosts.ptx import check
from tests.hosts.ptx import cluster_schedules, copy_schedules, engine_schedules, tensor_schedules
from tests.hosts.ptx.schedules import as_ptx, explore, random_program

SEEDS = 240
PART = 30


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_a_proven_program_has_no_bad_schedule(first: int) -> None:
    for seed in range(first, first + PART):
        program = random_program(random.Random(seed))
        (found,) = check(as_ptx(program))
        shown = explore(program)
        codes = {each.code for each in found.findings}
        assert found.verdict != "undecided", (seed, found.reasons)
        if found.verdict == "proven":
            assert not shown, (seed, shown, program)
        elif codes <= {"FP001", "FP002"}:
            # Alone, these are promises: a schedule shows them.
            assert shown, (seed, codes, program)


def test_the_programs_are_of_all_kinds() -> None:
    shown = [frozenset(explore(random_program(random.Random(seed)))) for seed in range(SEEDS)]
    assert sum(not each for each in shown) > SEEDS // 5
    assert {"race", "hang"} <= set().union(*shown)


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_a_proven_program_of_two_blocks_has_no_bad_schedule(first: int) -> None:
    for seed in range(first, first + PART):
        program = cluster_schedules.random_program(random.Random(seed))
        (found,) = check(cluster_schedules.as_ptx(program))
        shown = cluster_schedules.explore(program)
        codes = {each.code for each in found.findings}
        assert found.verdict != "undecided", (seed, found.reasons)
        if found.verdict == "proven":
            assert not shown, (seed, shown, program)
        elif codes <= {"FP001", "FP002", "FP009"}:
            assert shown, (seed, codes, program)


def test_the_programs_of_two_blocks_are_of_all_kinds() -> None:
    shown = [
        frozenset(cluster_schedules.explore(cluster_schedules.random_program(random.Random(seed))))
        for seed in range(SEEDS)
    ]
    assert sum(not each for each in shown) > SEEDS // 8
    assert {"race", "hang", "gone"} <= set().union(*shown)


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_a_proven_program_on_tensor_memory_has_no_bad_schedule(first: int) -> None:
    for seed in range(first, first + PART):
        program = tensor_schedules.random_program(random.Random(seed))
        (found,) = check(tensor_schedules.as_ptx(program))
        shown = tensor_schedules.explore(program)
        codes = {each.code for each in found.findings if each.severity == "error"}
        assert found.verdict != "undecided", (seed, found.reasons)
        if found.verdict == "proven":
            assert not shown and not found.findings, (seed, shown, program)
        elif codes <= {"FP001", "FP002"}:
            assert shown, (seed, codes, program)


def test_the_programs_on_tensor_memory_are_of_all_kinds() -> None:
    shown = [
        frozenset(tensor_schedules.explore(tensor_schedules.random_program(random.Random(seed))))
        for seed in range(SEEDS)
    ]
    assert sum(not each for each in shown) > SEEDS // 8
    assert {"race", "hang"} <= set().union(*shown)


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_a_proven_program_with_copies_between_blocks_has_no_bad_schedule(first: int) -> None:
    for seed in range(first, first + PART):
        program = copy_schedules.random_program(random.Random(seed))
        (found,) = check(copy_schedules.as_ptx(program))
        if found.verdict == "proven":
            assert not copy_schedules.explore(program), (seed, program)


def test_the_programs_with_copies_are_of_all_kinds() -> None:
    programs = [copy_schedules.random_program(random.Random(seed)) for seed in range(SEEDS)]
    shown = [copy_schedules.explore(each) for each in programs]
    assert {"race", "hang", "gone"} <= set().union(*shown)
    right = [program for program, found in zip(programs, shown, strict=True) if not found]
    assert len(right) > SEEDS // 4
    proven = [each for each in right if check(copy_schedules.as_ptx(each))[0].verdict == "proven"]
    assert len(proven) > len(right) * 3 // 4


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_a_proven_program_with_engines_has_no_bad_schedule(first: int) -> None:
    for seed in range(first, first + PART):
        program = engine_schedules.random_program(random.Random(seed))
        (found,) = check(engine_schedules.as_ptx(program))
        shown = engine_schedules.explore(program)
        codes = {each.code for each in found.findings}
        assert found.verdict != "undecided", (seed, found.reasons)
        if found.verdict == "proven":
            assert not shown, (seed, shown, program)
        elif codes <= {"FP001", "FP002"}:
            assert shown, (seed, codes, program)


def test_the_programs_with_engines_are_of_all_kinds() -> None:
    programs = [engine_schedules.random_program(random.Random(seed)) for seed in range(SEEDS)]
    shown = [frozenset(engine_schedules.explore(each)) for each in programs]
    assert sum(not each for each in shown) > SEEDS // 2
    assert {"race", "hang"} <= set().union(*shown)
    assert {act.does for program in programs for warp in program for act in warp} >= {
        "out",
        "tell",
        "announce",
    }
