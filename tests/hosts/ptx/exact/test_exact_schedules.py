"""What an exact run says of random programs, against all of their schedules."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from fencepost.hosts.ptx import check
from tests.hosts.ptx import (
    cluster_schedules,
    copy_schedules,
    engine_schedules,
    schedules,
    tensor_schedules,
)
from tests.tiers import sweep

SEEDS = 240
PART = 30


@dataclass(frozen=True)
class Model:
    """Random programs of one kind, as kernels, and with all that goes wrong in some schedule of them."""

    random_program: Callable[[random.Random], Any]
    as_ptx: Callable[[Any], str]
    explore: Callable[[Any], set[str]]
    right: float
    """More than this share of the programs has no bad schedule."""
    wrong: frozenset[str] = frozenset({"race", "hang"})
    """What goes wrong, in one program or another."""
    promises: frozenset[str] = frozenset({"FP001", "FP002"})
    """Codes that, alone, are promises: a schedule shows them."""

    def program(self, seed: int) -> Any:
        return self.random_program(random.Random(seed))


def model(module: ModuleType, right: float, *more: Any) -> Model:
    return Model(module.random_program, module.as_ptx, module.explore, right, *more)


GONE = frozenset({"race", "hang", "gone"})
MODELS = {
    "one block": model(schedules, 1 / 5),
    "two blocks": model(cluster_schedules, 1 / 8, GONE, frozenset({"FP001", "FP002", "FP009"})),
    "tensor memory": model(tensor_schedules, 1 / 8),
    "engines": model(engine_schedules, 1 / 2),
    # A run may leave these undecided, and report what only a slower copy than those of the model shows.
    "copies between blocks": model(copy_schedules, 1 / 4, GONE, frozenset()),
}


@cache
def shown(kind: str, seed: int) -> frozenset[str]:
    """What goes wrong in some schedule of a program."""
    return frozenset(MODELS[kind].explore(MODELS[kind].program(seed)))


@pytest.mark.parametrize("first", sweep(range(0, SEEDS, PART), first=1))
@pytest.mark.parametrize("kind", MODELS)
def test_a_proven_program_has_no_bad_schedule(kind: str, first: int) -> None:
    model = MODELS[kind]
    for seed in range(first, first + PART):
        (found,) = check(model.as_ptx(model.program(seed)))
        codes = {each.code for each in found.findings if each.severity == "error"}
        assert found.verdict != "undecided" or not model.promises, (seed, found.reasons)
        if found.verdict == "proven":
            assert not shown(kind, seed) and not found.findings, (
                seed,
                shown(kind, seed),
                model.program(seed),
            )
        elif model.promises and codes <= model.promises:
            assert shown(kind, seed), (seed, codes, model.program(seed))


@pytest.mark.parametrize("kind", MODELS)
def test_the_programs_are_of_all_kinds(kind: str) -> None:
    every = [shown(kind, seed) for seed in range(SEEDS)]
    assert sum(not each for each in every) > MODELS[kind].right * SEEDS
    assert MODELS[kind].wrong <= set().union(*every)


def test_programs_with_copies_are_mostly_proven_if_they_are_right() -> None:
    kind = "copies between blocks"
    right = [MODELS[kind].program(seed) for seed in range(SEEDS) if not shown(kind, seed)]
    proven = [each for each in right if check(copy_schedules.as_ptx(each))[0].verdict == "proven"]
    assert len(proven) > len(right) * 3 // 4


def test_the_programs_with_engines_have_all_acts() -> None:
    programs = [MODELS["engines"].program(seed) for seed in range(SEEDS)]
    acts = {act.does for program in programs for warp in program for act in warp}
    assert acts >= {"out", "tell", "announce"}
