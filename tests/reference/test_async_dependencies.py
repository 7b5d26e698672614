"""Dependencies by name: what `add_async_dependencies` writes."""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.ir import ops
from tests.random_kernels import Shape, random_kernel


def kernel(body: str) -> fp.CapturedTrace:
    """A kernel with one buffer; `;` separates its statements."""
    lines = body.replace("; ", "\n")
    return fp.parse(f"kernel @k waves=4 {{\nshared %a : 3 x 64\n{lines}\n}}\n")


def named(body: str) -> str:
    """What a kernel's body looks like once its barriers say what they come after."""
    trace = kernel(body)
    before = fp.check(trace)
    fp.add_async_dependencies(trace)
    text = str(trace)
    assert str(fp.parse(text)) == text
    # Names have no meaning of their own to the checker: the barriers still drain.
    after = fp.check(trace)
    assert (len(after.races), after.ok) == (len(before.races), before.ok)
    lines = [line.strip() for line in text.splitlines()[2:-1]]
    return "; ".join(line for line in lines if line)


def in_a_line(text: str) -> str:
    return "; ".join(line.strip() for line in text.strip().splitlines())


# ---------------------------------------------------------------- names through control flow


def test_a_barrier_comes_after_what_is_in_flight() -> None:
    assert named("gather_to_lds %a[0]; tensor_load_to_lds %a[1]; barrier async; read %a") == in_a_line(
        """
        %copy0 = gather_to_lds %a[0]
        %copy1 = tensor_load_to_lds %a[1]
        barrier async after %copy0, %copy1
        read %a
        """
    )


def test_a_loop_carries_the_copy_of_the_iteration_before() -> None:
    """The loop of the seed's picture: the first iteration gets a null dependency from in front of the loop."""
    assert named("loop %i in 0..8 {; barrier async; read %a; barrier; gather_to_lds %a[0]; }") == in_a_line(
        """
        %none0 = null_async_dep
        loop %i in 0..8 carry %dep0 = %none0 {
        barrier async after %dep0
        read %a
        barrier
        %copy0 = gather_to_lds %a[0]
        next %copy0
        }
        """
    )


def test_the_copy_of_the_last_iteration_is_known_behind_the_loop() -> None:
    assert named("loop %i in 0..? {; gather_to_lds %a[0]; }; barrier async; read %a") == in_a_line(
        """
        %none0 = null_async_dep
        loop %i in 0..? carry %dep0 = %none0 {
        %copy0 = gather_to_lds %a[0]
        next %copy0
        }
        barrier async after %dep0
        read %a
        """
    )


def test_what_comes_into_a_loop_is_named_where_it_was_started() -> None:
    """Two sources: the copy in front of the loop and, from the second iteration on, the loop's own."""
    text = "gather_to_lds %a[0]; loop %i in 0..8 {; barrier async; read %a[%i % 3]; gather_to_lds %a[(%i + 1) % 3]; }"
    assert named(text) == in_a_line(
        """
        %none0 = null_async_dep
        %copy0 = gather_to_lds %a[0]
        loop %i in 0..8 carry %dep0 = %none0 {
        barrier async after %copy0, %dep0
        read %a[%i % 3]
        %copy1 = gather_to_lds %a[(%i + 1) % 3]
        next %copy1
        }
        """
    )


def test_a_conditional_gives_the_copy_of_either_side() -> None:
    assert named("if %c {; gather_to_lds %a[0]; } else {; compute; }; barrier async; read %a") == in_a_line(
        """
        %none0 = null_async_dep
        if %c gives %dep0 {
        %copy0 = gather_to_lds %a[0]
        give %copy0
        } else {
        compute
        give %none0
        }
        barrier async after %dep0
        read %a
        """
    )


def test_a_conditional_without_another_side_gets_one() -> None:
    assert named("gather_to_lds %a[0]; if %c {; gather_to_lds %a[1]; }; barrier async; read %a") == in_a_line(
        """
        %none0 = null_async_dep
        %copy0 = gather_to_lds %a[0]
        if %c gives %dep0 {
        %copy1 = gather_to_lds %a[1]
        give %copy1
        } else {
        give %none0
        }
        barrier async after %copy0, %dep0
        read %a
        """
    )


def test_names_go_through_nested_regions() -> None:
    """The inner loop begins with what the outer one carries; a side that starts nothing gives what came in."""
    inner = "loop %j in 0..4 {; if %c {; tensor_load_to_lds %a[0]; }; }"
    text = f"loop %i in 0..8 {{; {inner}; barrier async; read %a; barrier; }}"
    assert named(text) == in_a_line(
        """
        %none0 = null_async_dep
        loop %i in 0..8 carry %dep1 = %none0 {
        loop %j in 0..4 carry %dep0 = %dep1 {
        if %c gives %dep2 {
        %copy0 = tensor_load_to_lds %a[0]
        give %copy0
        } else {
        give %dep0
        }
        next %dep2
        }
        barrier async after %dep0
        read %a
        barrier
        next %none0
        }
        """
    )


def test_a_barrier_deep_inside_sees_what_an_outer_loop_carries() -> None:
    text = "loop %i in 0..8 {; loop %j in 0..4 {; barrier async; read %a; }; barrier; gather_to_lds %a[0]; }"
    assert named(text) == in_a_line(
        """
        %none0 = null_async_dep
        loop %i in 0..8 carry %dep0 = %none0 {
        loop %j in 0..4 {
        barrier async after %dep0
        read %a
        }
        barrier
        %copy0 = gather_to_lds %a[0]
        next %copy0
        }
        """
    )


def test_what_is_drained_is_no_longer_waited_for() -> None:
    """The second barrier comes after the second copy alone."""
    text = "gather_to_lds %a[0]; barrier async; read %a[0]; gather_to_lds %a[1]; barrier async; read %a[1]"
    assert named(text) == in_a_line(
        """
        %copy0 = gather_to_lds %a[0]
        barrier async after %copy0
        read %a[0]
        %copy1 = gather_to_lds %a[1]
        barrier async after %copy1
        read %a[1]
        """
    )


def test_names_that_are_taken_are_left_alone() -> None:
    """So is what a loop carries already."""
    text = (
        "%copy0 = compute; loop %dep0 in 0..8 carry %x = 0 {; barrier async; "
        "gather_to_lds %a[%x % 3], %copy0; next %x + 1; }"
    )
    assert named(text) == in_a_line(
        """
        %none0 = null_async_dep
        %copy0 = compute
        loop %dep0 in 0..8 carry %x = 0, %dep1 = %none0 {
        barrier async after %dep1
        %copy1 = gather_to_lds %a[%x % 3], %copy0
        next %x + 1, %copy1
        }
        """
    )


@pytest.mark.parametrize(
    "text",
    [
        "gather_to_lds %a[0]; barrier; barrier load=0; wait_count load=0",
        "%t = gather_to_lds %a[0]; gather_to_lds %a[1]; barrier async after %t",
        "barrier async",
        "br ^on; ^on:; gather_to_lds %a[0]; barrier async; return",
    ],
)
def test_what_stays_as_it_is(text: str) -> None:
    """Barriers that drain nothing, that say already what they come after, or have nothing to wait for; blocks."""
    trace = kernel(text)
    before = str(trace)
    fp.add_async_dependencies(trace)
    assert str(trace) == before


def test_a_null_dependency_is_an_operation_of_its_own() -> None:
    trace = kernel("loop %i in 0..2 {; barrier async; gather_to_lds %a[0]; }")
    fp.add_async_dependencies(trace)
    first = next(iter(trace.preorder_walk()))
    assert isinstance(first, fp.NullAsyncDep) and first.name == "none0"
    (loop,) = [op for op in trace.preorder_walk() if isinstance(op, ops.Iterate)]
    assert [name.init for name in loop.carried] == [first]
    fp.add_async_dependencies(trace)
    assert len([op for op in trace.preorder_walk() if isinstance(op, fp.NullAsyncDep)]) == 1


UNIFORM = Shape(size=14, asynchronous=True, waits=True, barriers=0.25, divergent=False, groups=False)


@pytest.mark.parametrize("names", [True, False])
def test_counts_wait_for_as_much_as_is_needed(names: bool) -> None:
    """A kernel whose barriers all drain stays without races when they get counts instead."""
    counted = 0
    for seed in range(150):
        trace = random_kernel(seed, UNIFORM)
        fp.insert_barriers(trace)
        barriers = [op for op in trace.preorder_walk() if isinstance(op, ops.SharedMemoryBarrier)]
        for op in barriers:
            op.counts, op.wait_async_ops = {}, True
        text = str(trace)
        assert fp.check(trace).ok, text
        if names:
            fp.add_async_dependencies(trace)
        fp.populate_barriers_counters(trace)
        counted += sum(bool(op.counts) for op in barriers)
        assert fp.check(trace).ok, f"seed {seed}\n{text}\n{trace}"
    assert counted > 100


@pytest.mark.parametrize(("copies", "added"), [(80, 1), (100, 0)])
def test_a_wait_for_more_than_a_counter_holds_is_taken_at_its_word(copies: int, added: int) -> None:
    """At most 100 outstanding: with 80 later copies the first may still be in flight, with 100 it is not."""
    later = "  gather_to_lds %b\n" * copies
    kernel = fp.parse(
        "kernel @k waves=2 {\n  shared %a : 64\n  shared %b : 64\n  gather_to_lds %a\n"
        f"{later}  wait_count load=100\n  barrier\n  read %a\n}}\n"
    )
    assert fp.check(kernel).ok is not bool(added)
    done = fp.insert_barriers(kernel)
    assert len(done.barriers) + len(done.upgraded) == added
    assert fp.check(kernel).ok
    fp.prune_barriers(kernel)
    assert fp.check(kernel).ok


def test_a_wait_for_more_than_can_be_followed_is_refused() -> None:
    text = "kernel @k waves=2 {\n  shared %a : 64\n  gather_to_lds %a\n  wait_count load=5000\n}\n"
    with pytest.raises(fp.FencepostError, match="5000") as error:
        fp.insert_barriers(fp.parse(text))
    assert error.value.code == "FP206"
