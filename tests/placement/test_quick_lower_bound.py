"""What is seen without an analysis: that no barriers run less often, and that one is needed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fencepost.analysis.build_program import read_program
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.flow import Position
from fencepost.ir.parser import parse
from fencepost.placement.eager import Eager
from fencepost.placement.optimal import find_optimum
from fencepost.placement.quick_lower_bound import as_few_as_can_be, one_is_needed
from tests.random_kernels import Shape, random_kernel
from tests.tiers import sweep

CHUNK = 150
PLAIN = Shape(
    size=14,
    depth=1,
    loops=False,
    divergent=False,
    by_wave=False,
    atomics=False,
    groups=False,
    barriers=0.05,
    waves=(4,),
)
BLOCKS = replace(PLAIN, divergent=True, atomics=True, groups=True, waves=(1, 2, 4))
EVERYTHING = replace(BLOCKS, loops=True, by_wave=True, slots=True, scratch=True, functions=True)
SHAPES = (PLAIN, PLAIN, BLOCKS, EVERYTHING)


def program_of(text: str) -> Program:
    """A kernel of four waves with two buffers that overlap and one that does not."""
    head = "shared %a : 256 at 0\nshared %b : 256 at 128\nshared %c : 256 at 512"
    return read_program(parse(f"kernel @k waves=4 {{\n{head}\n{text}\n}}"), completion=False)


def put_in(program: Program) -> list[Position]:
    """Where barriers go that stand right before what needs them."""
    return [at for at in Eager().choose(program) if at not in program.existing]


def is_seen(text: str) -> bool:
    """Whether these are seen to be as few as can be."""
    program = program_of(text)
    return as_few_as_can_be(program.flow, put_in(program))


LOOP = "br ^head\n^head:\ncond_br %c1, ^body, ^end\n^body:\n{}\nbr ^head\n^end:\n{}\nreturn"


@pytest.mark.parametrize(
    "text",
    [
        "write %a\nread %a",
        "write %a\nread %b\nwrite %b\nread %a",
        "exchange %a\nexchange %b\nexchange %a",
        LOOP.format("exchange %a", ""),
        LOOP.format("write %a\nread %b", "write %c"),
        LOOP.format("exchange %a\nexchange %c\nexchange %b", ""),
        # Either side of a branch, and behind it: the runs of the last one are divided among two paths.
        "exchange %a\ncond_br %c1, ^one, ^two\n^one:\nexchange %a\nbr ^end\n^two:\nexchange %b\nbr ^end\n^end:\n"
        "exchange %a\nreturn",
        "write %a\nif wave == 0 {\n  write %c\n}\nread %a",
    ],
)
def test_barriers_right_before_what_needs_them(text: str) -> None:
    assert is_seen(text)


@pytest.mark.parametrize(
    "text",
    [
        # One behind the loop is enough for both.
        LOOP.format("read %a", "write %a\nwrite %c") + "\n",
        # Copies, parts that depend on a number, one wave of several: not seen.
        "gather_to_lds %a\nwait_count load=0\nread %a",
        "write %a[0..8]\nread %a[8..16]\nif wave == 0 {\n  write %a\n}",
        "write %a group=g\nread %a group=g\nwrite %a",
    ],
)
def test_what_is_not_seen_is_not_said(text: str) -> None:
    program = program_of(text)
    places = put_in(program)
    assert not as_few_as_can_be(program.flow, [*places, Position(0, 0)])
    assert as_few_as_can_be(program.flow, [])


def test_a_barrier_that_could_run_less_often() -> None:
    """In front of the loop's first access; behind the loop it would run once."""
    program = program_of(LOOP.format("read %a", "write %a"))
    body = next(block for block in program.flow.blocks if block.graph.name == "body")
    assert put_in(program) and as_few_as_can_be(program.flow, put_in(program))
    assert not as_few_as_can_be(program.flow, [Position(body.index, len(body.ops))])


def test_two_barriers_where_one_would_do() -> None:
    program = program_of("write %a\nwrite %c\nread %a\nread %c")
    places = put_in(program)
    assert len(places) == 1 and as_few_as_can_be(program.flow, places)
    (place,) = places
    assert not as_few_as_can_be(program.flow, [place, Position(place.block, place.gap + 1)])
    assert not as_few_as_can_be(program.flow, [place, place])


SIDES = (
    "br ^head\n^head:\ncond_br %c1, ^body, ^after\n^body:\ncond_br %c2, ^one, ^two\n^one:\nexchange %a\nbr ^join\n"
    "^two:\nexchange %b\nbr ^join\n^join:\nbr ^head\n^after:\ncond_br %c3, ^last, ^end\n^last:\nexchange %a\n"
    "br ^end\n^end:\nreturn"
)


def test_little_more_than_can_be() -> None:
    """Behind the accesses of the loop, the one that stands behind it would be spared: half a run in a hundred."""
    program = program_of(SIDES)
    assert not as_few_as_can_be(program.flow, put_in(program))
    assert as_few_as_can_be(program.flow, put_in(program), near=0.02)


def test_whether_one_is_needed() -> None:
    assert one_is_needed(program_of("write %a\nread %b").flow)
    assert not one_is_needed(program_of("write %a\nread %c").flow)
    assert not one_is_needed(program_of("write %a\nbarrier\nread %b").flow)
    assert not one_is_needed(program_of("read %a\nread %b").flow)


@pytest.mark.parametrize("chunk", sweep(range(12), first=2))
def test_the_search_finds_nothing_cheaper(chunk: int) -> None:
    seen = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        program = read_program(random_kernel(seed, SHAPES[seed % len(SHAPES)]), completion=False)
        if program.transfer.counts_rendezvous:
            continue
        flow, rng = program.flow, random.Random(seed)
        needed = bool(conflicts_left(program, program.existing))
        assert needed or not one_is_needed(flow), f"seed {seed}: no barrier is needed"
        places = put_in(program)
        more = [Position(block.index, gap) for block in flow.blocks for gap in range(len(block.ops) + 1)]
        for some in (places, [*places, rng.choice(more)], rng.sample(more, min(2, len(more)))):
            if not as_few_as_can_be(flow, some):
                continue
            seen += len(some)
            cost, best = sum(map(flow.frequency, some)), find_optimum(program).cost
            assert cost <= best * (1 + 1e-9), f"seed {seed}: {some} runs {cost} times, and {best} is enough"
    assert seen > CHUNK // 3, "hardly anything was compared"
