"""Kernels written in Python: the same kernels as in text, and the same mistakes refused."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import fencepost as fp
from fencepost.ir import ops
from fencepost.ir.body_builder import BodyBuilder, ForwardedNames
from fencepost.ir.body_writer import Handable
from fencepost.ir.buffers import Buffer, View
from fencepost.ir.builder import FunctionBuilder
from fencepost.ir.expr import Condition, Const, Expr, Select, Unknown, Var, is_divergent
from fencepost.ir.ops import SharedMemoryBarrier
from fencepost.ir.parser import parse, parse_all
from fencepost.ir.printer import print_file
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import Body, CapturedTrace
from tests.ir.round_trip import structure
from tests.tiers import sweep

DESIGN_EXAMPLE = """kernel @gemm waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  loop %i in 0..64 {
    gather_to_lds %a[(%i + 2) % 3]
    gather_to_lds %b[(%i + 2) % 3]
    %r0 = read %a[%i % 3]
    %r1 = read %b[%i % 3]
    mma %r0, %r1
  }
}
"""


def test_the_example_of_a_pipelined_gemm() -> None:
    k = fp.Kernel("gemm", waves=8)
    a = k.shared("a", slots=3, bytes=16384)
    b = k.shared("b", slots=3, bytes=16384)
    with k.loop("i", trip=64) as i:
        k.gather_to_lds(a[(i + 2) % 3])
        k.gather_to_lds(b[(i + 2) % 3])
        x = k.read(a[i % 3])
        y = k.read(b[i % 3])
        k.mma(x, y)
    assert str(k.trace) == DESIGN_EXAMPLE
    assert not fp.check(k.trace).ok
    fp.add_shared_memory_barriers(k.trace, target="gfx950")
    assert fp.check(k.trace).ok
    assert str(fp.parse(str(k.trace))) == str(k.trace)


def test_conditionals_and_blocks() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    with k.cond(fp.wave >= 2) as other:
        k.read(a)
    with other.orelse():
        k.write(a)
    k.br("next")
    k.block("next")
    k.ret()
    assert "if wave >= 2 {\n    read %a\n  } else {\n    write %a\n  }\n  br ^next\n^next:\n" in str(k.trace)


def test_blocks_take_numbers() -> None:
    k = fp.Kernel("ring", waves=4)
    a = k.shared("a", slots=3, bytes=64)
    k.br("head", 2, 0)
    x, y = k.block("head", "x", "y")
    k.cond_br(x < 3, "body", "end")
    assert k.block("body") == ()
    k.write(a[x])
    k.read(a[y].bytes(x * 16, x * 16 + 16))
    k.br("head", Select((x + 1).equals(3), Const(0), x + 1), (y + 1) % 3)
    k.block("end")
    k.br("last", x, fp.wave)
    k.block("last", "u", "v")
    k.ret()
    assert (
        str(k.trace)
        == """kernel @ring waves=4 {
  shared %a : 3 x 64
  br ^head(2, 0)
^head(%x, %y):
  cond_br %x < 3, ^body, ^end
^body:
  write %a[%x]
  read %a[%y][%x * 16..%x * 16 + 16]
  br ^head(select(%x + 1 == 3, 0, %x + 1), (%y + 1) % 3)
^end:
  br ^last(%x, wave)
^last(%u, %v):
  return
}
"""
    )
    assert structure(parse(str(k.trace))) == structure(k.trace)
    fp.add_shared_memory_barriers(k.trace)
    assert fp.check(k.trace).ok


def test_the_builder_refuses_numbers_that_no_block_can_take() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", slots=2, bytes=64)
    value, flag = k.compute(), "flag"
    with k.cond(flag):
        pass
    with k.loop("i", trip=2) as i, pytest.raises(FencepostError, match="inside a loop"):
        k.block("y", "n")
    k.br("x", 1)
    (n,) = k.block("x", "n")
    elsewhere = fp.Kernel("elsewhere", waves=4)
    for attempt in (
        lambda: k.block("y", "n"),
        lambda: k.block("y", "a"),
        lambda: k.block("y", "i"),
        lambda: k.block("y", "m", "m"),
        lambda: k.block("y", "two words"),
        lambda: k.block("y", "%m"),
        lambda: k.block("y", flag),
        lambda: k.block("x", "m"),
        lambda: k.br("y", i),
        lambda: k.br("y", n % 10**18),
        lambda: k.br("y", 10**18),
        lambda: k.cond_br("n", "x", "x"),
        lambda: k.cond("n").__enter__(),
        lambda: k.loop("n").__enter__(),
        lambda: k.loop("j", carry={"n": 0}).__enter__(),
        lambda: k.cond("c", gives=["n"]).__enter__(),
        lambda: k.shared("n", bytes=64),
        lambda: elsewhere.br("x", n),
        lambda: elsewhere.read(elsewhere.shared("b", slots=2, bytes=64)[n]),
    ):
        with pytest.raises(FencepostError):
            attempt()
    k.read(a[n], value)
    k.ret()
    assert structure(parse(str(k.trace))) == structure(k.trace)


@pytest.mark.parametrize(
    ("args", "params", "words"),
    [
        ((1, 2), ("n",), "br forwards 2, and ^x takes 1"),
        ((), ("n", "m"), "br forwards nothing, and ^x takes 2"),
    ],
)
def test_numbers_are_counted_when_the_kernel_is_complete(
    args: tuple[int, ...], params: tuple[str, ...], words: str
) -> None:
    k = fp.Kernel("k", waves=4)
    k.br("x", *args)
    k.block("x", *params)
    k.ret()
    with pytest.raises(FencepostError, match=re.escape(words)):
        fp.check(k.trace)


def test_a_loop_variable_is_known_inside_its_loop_only() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", slots=2, bytes=64)
    with k.loop("i", trip=4) as i:
        k.read(a[i % 2])
    with pytest.raises(fp.FencepostError, match="not the variable of a loop around"):
        k.read(a[i % 2])


def test_equality_of_expressions_is_no_condition() -> None:
    k = fp.Kernel("k", waves=4)
    with k.loop("i", trip=4) as i:
        with pytest.raises(fp.FencepostError, match="no condition"), k.cond(i == 0):  # type: ignore[arg-type,comparison-overlap]
            pass
        with k.cond(i.equals(0)):
            k.compute()
    assert "if %i == 0 {" in str(k.trace)


def test_a_loop_cannot_run_less_than_zero_times() -> None:
    k = fp.Kernel("k", waves=4)
    with pytest.raises(fp.FencepostError, match="at least 0 times"), k.loop("i", trip=-3):
        pass


def test_a_copy_has_a_counter_of_its_own() -> None:
    k = fp.Kernel("k", waves=4)
    with pytest.raises(fp.FencepostError, match="counter of its own"):
        k.gather_to_lds(k.shared("a", bytes=64), counter="lds")


def test_an_operation_goes_right_behind_another() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    first, last = k.write(a), k.read(a)
    graph = k.trace.get_root_graph()
    graph.insert_after(first, SharedMemoryBarrier())
    assert [op.mnemonic for op in k.trace.walk_graph("entry")] == ["write", "barrier", "read"]
    assert last.prev is first.next


def test_everything_that_moves_data_on_its_own() -> None:
    k = fp.Kernel("k", waves=4)
    a, b = k.shared("a", bytes=64, slots=2), k.shared("b", bytes=64)
    x = k.global_read(counter="vm")
    k.exchange(b, x)
    copy = k.gather_to_lds(a[0], x, counter="cp")
    k.commit("cp")
    tile = k.tensor_load_to_lds(a[1], b, x, group="g")
    product = k.async_mma(a[0], b, x)
    store = k.tensor_store_from_lds(b, counter="bulk")
    k.barrier(wait_async_ops=True, after=[copy, tile])
    k.barrier(after=[product], mma=0, tensor=1)
    k.barrier(load=0)
    waited = k.wait_count(after=[store], bulk=0)
    k.global_write(k.read(a[1], waited), counter="vs")
    assert (
        str(k.trace)
        == """\
kernel @k waves=4 {
  shared %a : 2 x 64
  shared %b : 64
  %g0 = global_read counter=vm
  exchange %b, %g0
  %g1 = gather_to_lds %a[0], %g0 counter=cp
  commit cp
  %t0 = tensor_load_to_lds %a[1], %b, %g0 group=g
  %a0 = async_mma %a[0], %b, %g0
  %t1 = tensor_store_from_lds %b counter=bulk
  barrier async after %g1, %t0
  barrier after %a0 mma=0 tensor=1
  barrier load=0
  %w0 = wait_count after %t1 bulk=0
  %r0 = read %a[1], %w0
  global_write %r0 counter=vs
}
"""
    )
    assert structure(parse(str(k.trace))) == structure(k.trace)


# ---------------------------------------------------------------- what is refused


def test_the_builder_refuses_what_the_text_form_cannot_say() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", bytes=64)
    elsewhere = fp.Kernel("elsewhere", waves=4)
    theirs, value = elsewhere.shared("theirs", bytes=64), elsewhere.compute()
    deep: Expr = fp.wave
    for _ in range(5_000):
        deep = deep + 1
    for attempt in (
        lambda: fp.Kernel("two words", waves=4),
        lambda: fp.Kernel("k", waves=0),
        lambda: fp.Kernel("k", waves=65),
        lambda: k.shared("a", bytes=64),
        lambda: k.shared("%b", bytes=64),
        lambda: k.shared("b", bytes=0),
        lambda: k.shared("b", bytes=64, slots=0),
        lambda: k.shared("b", bytes=64, offset=-1),
        lambda: k.read(a[1]),
        lambda: k.read(a[-1]),
        lambda: k.read(a.bytes(0, 65)),
        lambda: k.read(a, group="a b"),
        lambda: k.gather_to_lds(a, counter="1"),
        lambda: k.tensor_load_to_lds(),
        lambda: k.signal(-2),
        lambda: k.wait(-2),
        lambda: k.wait_count(),
        lambda: k.wait_count(load=-1),
        lambda: k.loop("i", step=0).__enter__(),
        lambda: k.loop("a").__enter__(),
        lambda: k.cond("not a name").__enter__(),
        lambda: k.block("x y"),
        lambda: k.br("x y"),
        lambda: k.cond_br("c", "x y", "z"),
        lambda: k.cond_br("c", "x", "z", trip=-1),
        lambda: k.cond_br("c", "x", "z", expect=-0.1),
        lambda: k.cond_br("c", "x", "z", expect=1.1),
        lambda: k.cond_br("c", "x", "z", trip=1, expect=1),
        lambda: k.cond_br(fp.wave < 2, "x", "z", expect=0.5),
        lambda: k.loop("i", trip=8, expect=8).__enter__(),
        lambda: k.loop("i", expect=0).__enter__(),
        lambda: k.loop("i", expect=1.5).__enter__(),  # type: ignore[call-overload]
        lambda: k.loop("i", expect=10**18).__enter__(),
        lambda: k.cond("c", expect=2).__enter__(),
        lambda: k.cond("c", expect=float("nan")).__enter__(),
        lambda: k.cond(fp.wave < 2, expect=0.5).__enter__(),
        lambda: fp.Kernel("k.", waves=4),
        lambda: k.shared("a..b", bytes=64),
        lambda: k.shared("b", bytes=2**41),
        lambda: k.shared("b", bytes=64, offset=10**18),
        lambda: k.read(a[deep]),
        lambda: k.read(a[fp.wave % 10**18]),
        lambda: k.read(theirs),
        lambda: k.write(a, value),
        lambda: k.compute(k.workgroup_barrier()),
        lambda: k.compute(k.barrier()),
        lambda: k.barrier(after=[k.compute()]),
        lambda: k.barrier(load=-1),
        lambda: k.wait_count(after=[k.mma()]),
        lambda: k.wait_count(load=10**18),
        lambda: k.barrier(**{"a b": 1}),  # type: ignore[arg-type]
        lambda: k.set_wave_prio(4),
        lambda: k.set_wave_prio(-1),
        lambda: k.commit("lds"),
        lambda: k.commit("a b"),
        lambda: k.global_read(counter="lds"),
        lambda: k.global_write(counter="1"),
        lambda: k.async_mma(),
        lambda: k.async_mma(k.compute()),
        lambda: k.async_mma(a, counter="lds"),
        lambda: k.signal(10**18),
        lambda: k.loop("i", trip=10**18).__enter__(),
        lambda: k.loop("i", start=10**18).__enter__(),
        lambda: k.loop("i", step=10**18).__enter__(),
        lambda: k.cond("a").__enter__(),
        lambda: k.cond(deep < 1).__enter__(),
        lambda: k.cond(fp.wave < 10**18).__enter__(),
        lambda: k.call(elsewhere),
        lambda: k.call(FunctionBuilder("k")),
        lambda: k.call(FunctionBuilder("f"), frame=-1),
        lambda: k.call(FunctionBuilder("g"), frame=2**41),
    ):
        with pytest.raises(FencepostError):
            attempt()
    assert str(parse(str(k.trace))) == str(k.trace)


def test_expectations_are_checked_where_nobody_built_them() -> None:
    k = fp.Kernel("k", waves=4)
    with k.loop("i", expect=8), k.cond("c", expect=-0.0):
        pass
    assert "loop %i in 0..? expect=8 {\n    if %c expect=0 {\n" in str(k.trace)
    loop = k.trace.get_root_graph().first
    assert isinstance(loop, ops.Iterate)
    loop.stop = 4
    with pytest.raises(FencepostError, match="runs 4 times"):
        fp.check(k.trace)


def test_names_of_conditions_are_kept_apart_from_others() -> None:
    k = fp.Kernel("k", waves=4)
    with k.cond("c0"):
        pass
    with pytest.raises(FencepostError, match="no condition"):
        k.shared("c0", bytes=64)
    k.mma(k.compute())
    assert "%c1 = compute\n  mma %c1\n" in str(k.trace)
    with k.cond("i"):
        pass
    with pytest.raises(FencepostError, match="no condition"), k.loop("i"):
        pass


def test_labels_and_buffers_may_share_a_name() -> None:
    k = fp.Kernel("k", waves=4)
    k.read(k.shared("a", bytes=64))
    k.br("a")
    k.block("a")
    k.ret()
    assert str(parse(str(k.trace))) == str(k.trace)
    with pytest.raises(FencepostError, match="already taken"):
        k.block("a")


# ---------------------------------------------------------------- mbarriers


def test_numbers_that_a_kernel_is_given() -> None:
    k = fp.Kernel("k", waves=4)
    a = k.shared("a", slots=2, bytes=64)
    n = k.param("n")
    with k.loop("i", trip=n, start=1, step=2) as i:
        k.read(a[(i + n) % 2])
    text = "kernel @k waves=4 {\n  shared %a : 2 x 64\n  param %n\n"
    text += "  loop %i in 1..%n step 2 {\n    read %a[(%i + %n) % 2]\n  }\n}\n"
    assert str(k.trace) == text
    assert str(parse(text)) == text
    with pytest.raises(FencepostError, match="already taken"):
        k.param("n")
    with pytest.raises(FencepostError, match="already taken"):
        k.shared("n", bytes=8)
    for bound in (n + 1, i, fp.wave):
        with (
            pytest.raises(FencepostError, match="is no number that the kernel is given"),
            k.loop("j", trip=bound),
        ):
            pass


def test_what_cannot_be_said_about_mbarriers() -> None:
    k = fp.Kernel("k", waves=4)
    a, full = k.shared("a", bytes=64), k.shared("full", bytes=8)
    elsewhere = fp.Kernel("other", waves=4).shared("full", bytes=8)
    copy = k.tensor_load_to_lds(a)
    for wrong in (
        lambda: k.mbarrier_init(full, count=0),
        lambda: k.mbarrier_arrive(full, count=-1),
        lambda: k.mbarrier_expect(full, bytes=0),
        lambda: k.arriving(copy, full, bytes=-8),
        lambda: k.arriving(copy, full, count=-1),
    ):
        with pytest.raises(FencepostError, match="is a number from 1"):
            wrong()
    with pytest.raises(FencepostError, match="counts plain accesses"):
        k.mbarrier_arrive(full, counter="lds")
    for said in ({}, {"bytes": 64, "count": 1}):
        with pytest.raises(FencepostError, match="brings `bytes` or arrives `count` times"):
            k.arriving(copy, full, **said)
    for first, end in ((4, 4), (2, 1), (-1, 2), (0, 65)):
        with pytest.raises(FencepostError, match=f"a barrier for waves {first}..{end}"):
            k.barrier_of(first, end)
    with pytest.raises(FencepostError):
        k.mbarrier_wait(elsewhere, phase=0)
    with pytest.raises(FencepostError):
        k.arriving(copy, elsewhere, count=1)
    with pytest.raises(FencepostError):
        k.mbarrier_wait(full, phase=Var("i"))
    assert copy.arrives is None


# ---------------------------------------------------------------- anything goes


class Scribbler:
    """Writes random operations of every kind, and uses whatever names can be used."""

    def __init__(self, rng: random.Random, k: BodyBuilder, functions: list[FunctionBuilder]) -> None:
        self.rng, self.k, self.functions = rng, k, functions
        self.names = 0
        self.left = rng.randint(4, 24)
        self.tokens: list[ops.ValueOperation] = [k.null_async_dep()]
        self.values: list[ops.ValueOperation] = list(self.tokens)
        self.given = [k.param(f"n{n}") for n in range(rng.randint(0, 2))] if isinstance(k, fp.Kernel) else []
        self.numbers: list[Expr] = [fp.wave, Unknown(), *self.given]
        self.buffers: list[Buffer] = [
            k.shared(f"s{n}", bytes=64, slots=rng.choice([1, 1, 2]), offset=rng.choice([None, n * 32]))
            for n in range(rng.randint(2, 4))
        ]

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}.{self.names}"

    def number(self) -> Expr:
        first, second = self.rng.choice(self.numbers), self.rng.choice([*self.numbers, Const(-2)])
        larger = [first + second, first * 2 - second, (first ^ second) % 3, first // 2]
        return self.rng.choice([first, *larger, Select(first < second, second, first)])

    def place(self) -> View:
        buffer, roll = self.rng.choice(self.buffers), self.rng.random()
        if roll < 0.4:
            return buffer.whole()
        if roll < 0.7:
            return buffer[self.number() % buffer.slots]
        return buffer[self.rng.randrange(buffer.slots)].bytes(0, self.rng.choice([8, 64]))

    def some(self, pool: list[ops.ValueOperation]) -> list[ops.ValueOperation]:
        return self.rng.sample(pool, self.rng.randint(0, min(2, len(pool))))

    def counts(self) -> dict[str, int]:
        return {name: self.rng.randint(0, 3) for name in self.rng.sample(["load", "mma", "async", "lds"], 2)}

    @contextmanager
    def region(self, *numbers: Expr) -> Iterator[None]:
        """A few statements, then the caller's end; what they forward is forgotten behind it."""
        around = self.tokens[:], self.values[:], self.numbers[:], self.buffers[:]
        self.numbers += numbers
        yield
        self.tokens, self.values, self.numbers, self.buffers = around

    def statements(self, depth: int) -> None:
        for _ in range(self.rng.randint(0, 5)):
            if self.left > 0:
                self.left -= 1
                self.statement(depth)

    def statement(self, depth: int) -> None:
        roll = self.rng.random()
        if roll < 0.15 and depth < 3:
            self.loop(depth)
        elif roll < 0.3 and depth < 3:
            self.conditional(depth)
        elif roll < 0.35 and self.functions:
            self.k.call(self.rng.choice(self.functions), frame=self.rng.choice([0, 0, 128]))
        elif roll < 0.55:
            self.synchronization()
        elif roll < 0.65:
            self.barrier_object()
        else:
            self.access()

    def access(self) -> None:
        k, place, uses = self.k, self.place(), self.some(self.values)
        plain: list[Callable[[], ops.ValueOperation]] = [
            lambda: k.read(place, *uses),
            lambda: k.write(place, *uses, group=self.rng.choice(["", "g"])),
            lambda: k.atomic(place),
            lambda: k.exchange(place, *uses),
            lambda: k.global_read(counter=self.rng.choice(["load", "vm"])),
            lambda: k.global_write(*uses),
            lambda: k.mma(*uses),
        ]
        counter = self.rng.choice(["", "async"])
        asynchronous: list[Callable[[], ops.ValueOperation]] = [
            lambda: k.gather_to_lds(place, *uses, counter=counter),
            lambda: k.tensor_load_to_lds(place, self.place(), counter=counter),
            lambda: k.async_mma(place, self.place(), *uses),
            lambda: k.tensor_store_from_lds(place, counter=counter),
        ]
        if self.rng.random() < 0.5:
            self.values.append(self.rng.choice(plain)())
        else:
            self.tokens.append(self.rng.choice(asynchronous)())
            started = self.tokens[-1]
            if self.rng.random() < 0.3:
                assert isinstance(started, ops.AsyncOperation)
                told = self.rng.choice([{"bytes": 64}, {"count": 1}])
                assert k.arriving(started, self.place(), **told) is started
            self.values.append(self.tokens[-1])

    def barrier_object(self) -> None:
        k, place = self.k, self.place()
        kinds: list[Callable[[], ops.Operation]] = [
            lambda: k.mbarrier_init(place, count=self.rng.randint(1, 4), until_inval=self.rng.random() < 0.5),
            lambda: k.mbarrier_inval(place),
            lambda: k.mbarrier_arrive(place),
            lambda: k.mbarrier_arrive(
                place, count=self.rng.randint(1, 4), counter=self.rng.choice(["", "async"])
            ),
            lambda: k.mbarrier_expect(place, bytes=self.rng.choice([1, 1024])),
            lambda: k.mbarrier_wait(place, phase=self.number() if self.rng.random() < 0.5 else 0),
            lambda: k.barrier_of(self.rng.randint(0, 1), self.rng.randint(2, 4)),
        ]
        self.rng.choice(kinds)()

    def synchronization(self) -> None:
        k, after, counts = self.k, self.some(self.tokens), self.rng.choice([{}, self.counts()])
        roll = self.rng.randrange(6)
        if roll == 0:
            k.barrier(wait_async_ops=self.rng.random() < 0.5, after=after, **counts)
        elif roll == 1 and (after or counts):
            self.tokens.append(k.wait_count(after=after, **counts))
            self.values.append(self.tokens[-1])
        elif roll == 2:
            k.commit(self.rng.choice(["load", "async"]))
        elif roll == 3:
            self.tokens.append(k.null_async_dep())
        elif roll == 4:
            k.set_wave_prio(self.rng.randrange(4))
            k.sched_barrier()
        else:
            k.workgroup_barrier()

    def handable(self, kind: str, like: Buffer | None) -> Handable:
        if kind == ops.NUMBER:
            return self.number() if self.rng.random() < 0.5 else self.rng.randint(-3, 3)
        if kind == ops.VALUE:
            return self.rng.choice(self.tokens)
        assert like is not None
        return self.rng.choice(
            [b for b in self.buffers if (b.slots, b.slot_bytes) == (like.slots, like.slot_bytes)]
        )

    def kinds(self) -> dict[str, tuple[str, Buffer | None]]:
        kinds = self.rng.choices([ops.NUMBER, ops.VALUE, ops.BUFFER], k=self.rng.randint(1, 3))
        return {self.fresh("h"): (kind, self.rng.choice(self.buffers)) for kind in kinds}

    def learn(self, kinds: dict[str, tuple[str, Buffer | None]], handed: ForwardedNames) -> None:
        for name, (kind, _) in kinds.items():
            if kind == ops.NUMBER:
                self.numbers.append(handed.number(name))
            elif kind == ops.BUFFER:
                self.buffers.append(handed.buffer(name))
            else:
                self.tokens.append(handed.value(name))

    def loop(self, depth: int) -> None:
        trip, step = self.rng.choice([None, 0, 1, 8, *self.given]), self.rng.choice([1, 3])
        if self.rng.random() < 0.4:
            expect = None if trip is not None else self.rng.choice([None, 1, 64])
            loop = self.k.loop(self.fresh("i"), trip=trip, step=step, start=-2, expect=expect)
            with loop as i, self.region(i):
                self.statements(depth + 1)
            return
        kinds = self.kinds()
        carry = {name: self.handable(*kind) for name, kind in kinds.items()}
        with self.k.loop(self.fresh("i"), trip=trip, step=step, carry=carry) as (i, now), self.region(i):
            self.learn(kinds, now)
            self.statements(depth + 1)
            self.k.next(**{name: self.handable(*kind) for name, kind in kinds.items()})
        self.learn(kinds, now)

    def conditional(self, depth: int) -> None:
        kinds = self.kinds() if self.rng.random() < 0.6 else {}
        conditions: list[Condition | str] = [self.fresh("c"), self.number() < 1, self.number().equals(0)]
        condition = self.rng.choice(conditions)
        uniform = isinstance(condition, str) or not is_divergent(condition)
        expect = self.rng.choice([None, 0, 0.05, 1 / 3]) if uniform else None
        with self.k.cond(condition, expect=expect, gives=list(kinds)) as side, self.region():
            self.statements(depth + 1)
            if kinds:
                self.k.give(**{name: self.handable(*kind) for name, kind in kinds.items()})
        if kinds or self.rng.random() < 0.5:
            with side.orelse(), self.region():
                self.statements(depth + 1)
                if kinds:
                    self.k.give(**{name: self.handable(*kind) for name, kind in kinds.items()})
                else:
                    self.k.compute()  # an empty else is not printed
        self.learn(kinds, side)


def bodies(trace: CapturedTrace) -> list[Body]:
    return [*trace.functions(), trace]


def scribbled(seed: int) -> fp.Kernel:
    rng = random.Random(seed)
    functions: list[FunctionBuilder] = []
    for number in range(rng.randint(0, 2)):
        function = FunctionBuilder(f"f{number}")
        Scribbler(rng, function, functions).statements(1)
        functions.append(function)
    k = fp.Kernel("k", waves=4)
    writer = Scribbler(rng, k, functions)
    while writer.left > 0:
        writer.statements(0)
    return k


@pytest.mark.parametrize("part", sweep(range(8), first=1))
def test_whatever_is_built_round_trips(part: int) -> None:
    for seed in range(part * 50, part * 50 + 50):
        trace = scribbled(seed).trace
        text = str(trace)
        again = parse(text)
        assert str(again) == text
        for body, parsed in zip(bodies(trace), bodies(again), strict=True):
            assert structure((parsed.buffers, parsed.blocks)) == structure((body.buffers, body.blocks))
        assert list(again.numbers) == list(trace.numbers)
        assert print_file(parse_all(text)) == text


def test_random_kernels_use_everything() -> None:
    used: set[str] = set()
    text = ""
    for seed in range(200):
        trace = scribbled(seed).trace
        text += str(trace)
        for body in bodies(trace):
            used.update(op.mnemonic for op in body.preorder_walk())
    for words in ("  param %n0", "..%n0", " arrives %", "barrier waves 0..", " counter=async arrives"):
        assert words in text
    assert used >= {op.mnemonic for op in _leaves(ops.Operation)} - {
        "br",
        "cond_br",
        "return",
        "signal",
        "wait",
        "compute",
    }


def _leaves(kind: type[ops.Operation]) -> Iterator[type[ops.Operation]]:
    for sub in kind.__subclasses__():
        if sub.mnemonic:
            yield sub
        yield from _leaves(sub)
