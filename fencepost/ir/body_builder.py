"""Loops, conditionals and calls written in Python, with the loop-carried values and block arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, overload

from fencepost.ir import ops
from fencepost.ir.body_writer import Handable, Opening, has_given
from fencepost.ir.buffers import Buffer
from fencepost.ir.expr import Condition, Expr, Var, whole
from fencepost.ir.limits import check_expected, check_frame, check_name, check_number, check_step
from fencepost.ir.loop_carried import carry as carry_name
from fencepost.ir.loop_carried import misplaced
from fencepost.ir.operation_builder import OperationBuilder
from fencepost.ir.source import FencepostError, UsageError, described
from fencepost.ir.trace import Body, Function


class ForwardedNames:
    """What a loop carries or a conditional gives: numbers for expressions, buffers for views, or values.

    What a loop carries can be used in it and behind it, what a conditional gives behind it.
    """

    def __init__(self, names: Sequence[ops.Carried]) -> None:
        self._handed = {name.name: name for name in names}

    def number(self, name: str) -> Expr:
        """The number that is forwarded as `name`."""
        self._of_kind(name, ops.NUMBER)
        return Var(name)

    def buffer(self, name: str) -> Buffer:
        """The buffer that is forwarded as `name`, whichever it is."""
        buffer = self._of_kind(name, ops.BUFFER).buffer
        assert buffer is not None
        return buffer

    def value(self, name: str) -> ops.ValueOperation:
        """The value that is forwarded as `name`."""
        return self._of_kind(name, ops.VALUE)

    def _of_kind(self, name: str, wanted: str) -> ops.Carried:
        found = self._handed.get(name)
        if found is None:
            known = ", ".join(f"%{known}" for known in self._handed) or "nothing"
            raise FencepostError(f"%{name} is not forwarded, only {known}", code="FP104")
        if not found.kind:
            raise FencepostError(f"%{name} is known behind its conditional only", code="FP104")
        if found.kind != wanted:
            raise FencepostError(f"%{name} is {found.kind}, not {wanted}", code="FP104")
        return found


class BodyBuilder(OperationBuilder):
    """Writes a kernel or a function."""

    def __init__(self, body: Body) -> None:
        super().__init__(body)
        self._called: dict[str, Body] = {body.name: body}

    @overload
    def loop(
        self,
        var: str,
        *,
        trip: int | Expr | None = None,
        start: int = 0,
        step: int = 1,
        expect: int | None = None,
    ) -> AbstractContextManager[Expr]: ...

    @overload
    def loop(
        self,
        var: str,
        *,
        trip: int | Expr | None = None,
        start: int = 0,
        step: int = 1,
        expect: int | None = None,
        carry: Mapping[str, Handable],
    ) -> AbstractContextManager[tuple[Expr, ForwardedNames]]: ...

    def loop(
        self,
        var: str,
        *,
        trip: int | Expr | None = None,
        start: int = 0,
        step: int = 1,
        expect: int | None = None,
        carry: Mapping[str, Handable] | None = None,
    ) -> AbstractContextManager[Any]:
        """A loop of `trip` iterations; None means unknown, possibly zero. Yields the loop's variable.

        Instead of `trip` iterations, a loop can count up to a number that the kernel is given (see `param`).

        `expect` says how often a loop of unknown length is expected to run; it guides costs only. `carry` says what
        names begin as. Then the loop yields them too, and its body ends in `next`.
        """
        if carry is not None and not isinstance(carry, Mapping):
            raise UsageError("`carry` says what each name begins as: carry={'x': 0}")
        return Opening(self, f"`k.loop({var!r})`", self._loop(var, trip, start, step, expect, carry))

    @contextmanager
    def _loop(
        self,
        var: str,
        trip: int | Expr | None,
        start: int,
        step: int,
        expect: int | None,
        carry: Mapping[str, Handable] | None,
    ) -> Iterator[Expr | tuple[Expr, ForwardedNames]]:
        step, start = check_step(step), check_number(start, what="a loop's start")
        upto = ""
        if isinstance(trip, Expr):
            upto, trip = self._names.given_at(trip.name if isinstance(trip, Var) else str(trip)), None
        trip = None if trip is None else whole(trip, "a loop's trip count")
        if trip is not None and trip < 0:
            raise FencepostError("a loop runs at least 0 times; None means that it is not known how often")
        stop = None if trip is None else check_number(start + trip * step)
        self._check_open()
        carried = tuple(
            carry_name(check_name(name), self._handed(init)) for name, init in (carry or {}).items()
        )
        loop = ops.Iterate(
            check_name(var), start, stop, step, carried, body=self._region(), expect=expect, upto=upto
        )
        check_expected(loop)
        self._names.claim(f"%{var}")
        loop.body.owner = loop
        self._names.define_variable(var, loop.body)
        for name in carried:
            self._names.announce(name)
            self._names.introduce(name, loop.body)
        self._put(loop)
        around = self._here
        with self._inside(loop.body):
            yield loop.index if carry is None else (loop.index, ForwardedNames(carried))
        for name in carried:
            self._names.introduce(name, around)

    def next(self, **values: Handable) -> ops.Next:
        """Ends the body of a loop: what each name that it carries is in the next iteration."""
        owner = self._here.owner
        if not isinstance(owner, ops.Iterate):
            raise misplaced("next")
        return self._end(ops.Next(self._in_order(owner, values)))

    def cond(
        self, condition: Condition | str, *, expect: float | None = None, gives: Sequence[str] = ()
    ) -> AbstractContextManager[OrElse]:
        """A conditional; a string names a condition that is uniform and not known.

        `expect` says how likely its first side is; it guides costs only. `gives` names its results; then both sides
        end in `give`. Yields the way to the other side and the results.
        """
        if isinstance(gives, str):
            raise UsageError(f"`gives` is a list of names: [{gives!r}]")
        return Opening(self, "`k.cond(...)`", self._cond(condition, expect, gives))

    @contextmanager
    def _cond(
        self, condition: Condition | str, expect: float | None, gives: Sequence[str]
    ) -> Iterator[OrElse]:
        self._check_open()
        op = ops.Conditional(
            self._condition(condition), then=self._region(), orelse=self._region(), expect=expect
        )
        check_expected(op)
        op.then.owner = op.orelse.owner = op
        op.gives = tuple(ops.Carried(name=check_name(name)) for name in gives)
        for name in op.gives:
            if name.name in self._names.flags:
                raise FencepostError(f"%{name.name} is a condition already", code="FP104")
            self._names.announce(name)
        self._put(op)
        with self._inside(op.then):
            yield OrElse(self, op)

    def give(self, **values: Handable) -> ops.Give:
        """Ends a side of a conditional: what each of its results is."""
        owner = self._here.owner
        if not isinstance(owner, ops.Conditional) or owner.graph is None:
            raise misplaced("give")
        op = self._end(ops.Give(self._in_order(owner, values)))
        if has_given(owner):
            for name in owner.gives:
                self._names.introduce(name, owner.graph)
        return op

    def call(self, function: BodyBuilder | Function, *, frame: int = 0) -> ops.Call:
        """Runs a function; those of its allocations that have an address stand `frame` bytes further on."""
        if isinstance(function, BodyBuilder):
            function._check_opened()
            called: Body = function._body
        elif isinstance(function, Body):
            called = function
        else:
            raise UsageError(f"{described(function)} is no function to call", code="FP104")
        if not isinstance(called, Function):
            raise FencepostError(f"@{called.name} is a kernel; only functions are called", code="FP104")
        if called is self._body:
            raise FencepostError(f"@{called.name} calls itself", code="FP108")
        if self._called.get(called.name) is not called:
            found = [*called.functions(), called]
            for body in found:
                if body is self._body:
                    raise FencepostError(f"@{body.name} calls itself", code="FP108")
                if self._called.get(body.name, body) is not body:
                    raise FencepostError(f"something else is called @{body.name}", code="FP102")
            self._called.update((body.name, body) for body in found)
        return self._put(ops.Call(called, check_frame(frame)))


class OrElse(ForwardedNames):
    """What `cond` yields: the way to the other side and, behind the conditional, its results."""

    def __init__(self, builder: BodyBuilder, conditional: ops.Conditional) -> None:
        super().__init__(conditional.gives)
        self._builder = builder
        self._conditional = conditional

    def orelse(self) -> AbstractContextManager[None]:
        """The region that runs where the condition does not hold."""
        return Opening(self._builder, "`orelse()`", self._orelse())

    @contextmanager
    def _orelse(self) -> Iterator[None]:
        if self._conditional.next is not None:
            raise FencepostError("orelse comes right behind its conditional, or in it")
        with self._builder._inside(self._conditional.orelse):
            yield
