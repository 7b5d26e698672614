"""Wait counts: equal to what enumerating all paths gives, on any control flow, and clamped to what the target has."""

from __future__ import annotations

import pytest

import fencepost as fp
from fencepost.flow import Flow, build_flow
from fencepost.ir import ops
from fencepost.ir.trace import CapturedTrace
from fencepost.reference.wave import add_async_dependencies, populate_barriers_counters
from fencepost.reference.wave.tokens import Token, assigned
from tests.random_kernels import Shape, random_kernel
from tests.tiers import sweep

Issued = tuple[str, int]
"""A counter, and an operation's place on it."""
MOST_STEPS = 60_000


def counts_on_all_paths(flow: Flow) -> dict[ops.Operation, dict[str, int]] | None:
    """For each barrier that comes after something: the least number of later operations, path by path.

    None if there are too many paths. A loop of unknown length goes round up to three times.
    """
    found: dict[ops.Operation, dict[str, int]] = {}
    steps = 0
    State = tuple[int, tuple[int, ...], dict[Token | None, list[Issued]], dict[str, int]]
    todo: list[State] = [(0, (), {}, {})]
    while todo:
        index, rounds, tokens, issued = todo.pop()
        steps += 1
        if steps > MOST_STEPS:
            return None
        block = flow.blocks[index]
        tokens, issued = dict(tokens), dict(issued)
        for op in block.ops:
            if isinstance(op, ops.SharedMemoryBarrier | ops.MemoryCounterWait):
                if op.uses or op.drains:
                    counts = found.setdefault(op, {})
                    for token in op.uses or (None,):
                        for counter, place in tokens.get(token, ()):
                            counts[counter] = min(counts.get(counter, 999), issued[counter] - place)
                if op.drains:
                    tokens.pop(None, None)
                continue
            counter = getattr(op, "counter", "")
            if counter:
                issued[counter] = issued.get(counter, 0) + 1
            if isinstance(op, ops.AsyncOperation):
                tokens[op] = [(counter, issued[counter])]
                others = [entry for entry in tokens.get(None, ()) if entry[0] != counter]
                tokens[None] = [*others, (counter, issued[counter])]
        meanings = assigned(block)
        for target in block.successors:
            loop = flow.crossed_loop(index, target)
            if loop >= 0 and rounds.count(loop) >= 3:
                continue
            after = dict(tokens)
            for name, value in meanings.items():
                after.pop(name, None)
                (meaning,) = value
                if meaning in tokens:
                    after[name] = tokens[meaning]
            todo.append((target, (*rounds, loop) if loop >= 0 else rounds, after, issued))
    return found


def populated(trace: CapturedTrace) -> dict[ops.Operation, dict[str, int]]:
    return {
        op: op.counts
        for op in trace.preorder_walk()
        if isinstance(op, ops.SharedMemoryBarrier | ops.MemoryCounterWait)
    }


ASYNC = Shape(size=14, asynchronous=True, waits=False, barriers=0.25, divergent=False, groups=False)


@pytest.mark.parametrize("chunk", sweep(range(8), first=1))
def test_counts_equal_those_of_all_paths(chunk: int) -> None:
    compared = 0
    for seed in range(chunk * 120, (chunk + 1) * 120):
        trace = random_kernel(seed, ASYNC)
        if seed % 2:
            add_async_dependencies(trace)
            text = str(trace)
            assert str(fp.parse(text)) == text
        expected = counts_on_all_paths(build_flow(trace))
        populate_barriers_counters(trace)
        if expected is None:
            continue
        found = populated(trace)
        for op, counts in expected.items():
            compared += bool(counts)
            assert found[op] == counts, f"seed {seed}\n{trace}"
    assert compared > 20


def counted(text: str, target: str = "") -> str:
    trace = fp.parse(f"kernel @k waves=4 {{\n  shared %a : 64\n{text}}}\n")
    populate_barriers_counters(trace, target)
    return "\n".join(line.strip() for line in str(trace).splitlines()[2:-1])


def test_the_nearest_path_decides() -> None:
    assert "barrier after %t load=1" in counted(
        """
        %t = gather_to_lds %a
        global_read
        if %c {
          global_read
          global_read
        }
        barrier after %t
        """
    )


def test_several_dependencies_take_the_least() -> None:
    text = """
        %t = gather_to_lds %a
        global_read
        %u = gather_to_lds %a
        barrier after %t, %u
        """
    assert "barrier after %t, %u load=0" in counted(text)


def test_a_null_dependency_waits_for_nothing() -> None:
    """The first iteration has nothing to wait for; later ones have the copy of the one before."""
    text = """
        %none = null_async_dep
        loop %i in 0..8 carry %d = %none {
          global_read
          barrier after %d
          %t = gather_to_lds %a
          next %t
        }
        """
    assert "barrier after %d load=1" in counted(text)


def test_a_chain_of_arguments_is_as_old_as_it_is_long() -> None:
    """Two iterations back: two later copies and two loads are on the counter."""
    text = """
        %none = null_async_dep
        loop %i in 0..8 carry %d1 = %none, %d2 = %none {
          %t = gather_to_lds %a
          global_read
          barrier after %d2
          next %t, %d1
        }
        """
    assert "barrier after %d2 load=5" in counted(text)


def test_each_counter_has_its_own_count() -> None:
    text = """
        %t = gather_to_lds %a
        %u = tensor_load_to_lds %a
        %v = tensor_load_to_lds %a
        wait_count after %t, %u
        """
    assert "wait_count after %t, %u load=0 tensor=1" in counted(text)


def test_stores_count_where_the_hardware_counts_them() -> None:
    """vmcnt of gfx9 counts loads and stores together; gfx12 has a counter for each."""
    text = """
        %t = gather_to_lds %a
        global_write
        barrier after %t
        """
    assert "barrier after %t load=0" in counted(text)
    assert "barrier after %t vmcnt=1" in counted(text, "gfx942")
    assert "barrier after %t loadcnt=0" in counted(text, "gfx1201")
    assert "barrier after %t asynccnt=0" in counted(text, "gfx1250")


def test_a_count_beyond_the_width_is_clamped() -> None:
    text = "%t = gather_to_lds %a\n" + "global_read\n" * 80 + "barrier after %t\n"
    for target in ("", "gfx942", "gfx1201"):
        counts = counted(text, target).splitlines()[-1]
        assert counts.endswith("=63"), counts


def test_groups_are_counted_by_their_ends() -> None:
    text = """
        %t = gather_to_lds %a
        commit load
        gather_to_lds %a
        gather_to_lds %a
        commit load
        barrier after %t
        """
    assert "barrier after %t load=1" in counted(text)
    open_group = "%t = gather_to_lds %a\ncommit load\n%u = gather_to_lds %a\nbarrier after %u\n"
    assert counted(open_group).endswith("barrier after %u")


def test_a_barrier_that_drains_waits_for_the_latest_copy() -> None:
    text = """
        gather_to_lds %a
        global_read
        global_read
        barrier async
        """
    assert counted(text).endswith("barrier load=2")
    assert counted("barrier async\n").endswith("barrier")


def test_branches_do_not_multiply() -> None:
    """There are 2 to the power of 40 paths, and no limit cuts the count short: it is that of the shortest."""
    branch = "if %c {\nglobal_read\n} else {\nglobal_read\nglobal_read\n}\n"
    assert counted("%t = gather_to_lds %a\n" + branch * 40 + "barrier after %t\n").endswith("load=40")


def test_a_path_without_anything_to_wait_for_does_not_count() -> None:
    text = """
        %none = null_async_dep
        if %c gives %d {
          %t = gather_to_lds %a
          global_read
          give %t
        } else {
          give %none
        }
        barrier after %d
        """
    assert "barrier after %d load=1" in counted(text)


def test_what_counts_elsewhere_is_passed_over_on_the_way() -> None:
    text = """
        %t = tensor_load_to_lds %a
        global_read
        read %a
        write %a
        global_write
        tensor_load_to_lds %a
        barrier after %t
        """
    assert "barrier after %t tensor=1" in counted(text)


def test_a_barrier_that_comes_after_nothing_gets_no_counts() -> None:
    text = """
        gather_to_lds %a
        barrier
        wait_count load=3
        """
    assert counted(text).splitlines()[-2:] == ["barrier", "wait_count load=3"]


def test_everything_in_flight_is_waited_for_where_everything_is_named() -> None:
    """By name, a barrier comes after every copy in flight, also one for an iteration to come: the latest decides."""
    trace = fp.parse(
        """kernel @k waves=4 {
          shared %a : 3 x 64
          gather_to_lds %a[0]
          gather_to_lds %a[1]
          barrier async
          read %a[0]
        }"""
    )
    add_async_dependencies(trace)
    populate_barriers_counters(trace)
    assert "barrier after %copy0, %copy1 load=0" in str(trace)


def test_what_only_some_waves_issue_counts_for_nobody() -> None:
    text = """
        %t = gather_to_lds %a
        if wave < 2 {
          global_read
          global_read
        }
        barrier after %t
        """
    assert "barrier after %t load=0" in counted(text)
    assert "barrier load=0" in counted(text.replace("%t = ", "").replace("barrier after %t", "barrier async"))


def test_a_copy_on_one_side_of_a_divergent_conditional_is_waited_for() -> None:
    text = """
        if wave < 2 {
          gather_to_lds %a
          global_read
        }
        global_read
        barrier async
        """
    trace = fp.parse(f"kernel @k waves=4 {{\n  shared %a : 64\n{text}}}\n")
    add_async_dependencies(trace)
    assert "barrier async after %dep0" in str(trace)
    populate_barriers_counters(trace)
    assert "barrier after %dep0 load=2" in str(trace)


def test_copies_that_a_function_starts_have_no_name_outside() -> None:
    """A barrier that waits for them as well goes on draining."""
    trace = fp.parse(
        "func @f {\n  shared %s : 64\n  gather_to_lds %s\n}\n"
        "kernel @k waves=4 {\n  shared %a : 64\n  gather_to_lds %a\n  call @f\n  barrier async\n}\n"
    )
    add_async_dependencies(trace)
    assert str(trace).endswith("barrier async\n}\n")
    populate_barriers_counters(trace)
    assert str(trace).endswith("barrier load=0\n}\n")
