"""Kernels written in Python: `k = Kernel("gemm", waves=8)`, then one call per operation."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.body_builder import BodyBuilder
from fencepost.ir.expr import Condition, Expr, Lane, Var, Wave, as_expr, leaves
from fencepost.ir.limits import check_constants, check_expected, check_name, check_number, check_waves
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace, Function, Graph

lane = Lane()
"""The number of a lane in its wave, for views: `k.read(a.bytes(fp.lane * 4, fp.lane * 4 + 4))`."""
wave = Wave()
"""The number of the wave that runs an operation, for conditions and views: `k.cond(fp.wave >= 4)`."""


class FunctionBuilder(BodyBuilder):
    """Builds a function from top to bottom; `function` is the result at any time. `call` takes either."""

    def __init__(self, name: str) -> None:
        self._function = Function(name)
        super().__init__(self._function)

    @property
    def function(self) -> Function:
        """The function as it is so far."""
        self._check_opened()
        return self._function


class Kernel(BodyBuilder):
    """Builds a trace from top to bottom; `trace` is the result at any time."""

    def __init__(self, name: str, waves: int) -> None:
        self._trace = CapturedTrace(name, waves=check_waves(waves))
        super().__init__(self._trace)

    @property
    def trace(self) -> CapturedTrace:
        """The kernel as it is so far."""
        self._check_opened()
        return self._trace

    def __str__(self) -> str:
        return str(self.trace)

    def param(self, name: str) -> Expr:
        """A number that the kernel is given: the same for all waves and all the time, and not known."""
        self._names.define_given(check_name(name))
        self._trace.numbers[name] = None
        return Var(name)

    def block(self, label: str, *params: str) -> tuple[Expr, ...]:
        """Start a new block of unstructured control flow; `params` name the numbers that branches to it forward.

        They can be used in this block and in those that come after it.
        """
        if self._here.owner is not None:
            raise FencepostError("a block starts inside a loop or conditional")
        self._check_sides(self._here)
        names = tuple(ops.Carried(name=check_name(name)) for name in params)
        self._names.claim(f"^{check_name(label)}")
        for name in names:
            name.kind = ops.NUMBER
            self._names.announce(name)
            self._names.define_parameter(name)
        self._here = Graph(label, params=names)
        self._roots.add(self._here)
        self._trace.blocks.append(self._here)
        return tuple(Var(name) for name in params)

    def br(self, target: str, *args: int | Expr) -> ops.Branch:
        """Go on at a block, and forward numbers to it."""
        numbers = tuple(as_expr(number) for number in args)
        for number in numbers:
            check_constants(leaves(number))
            self._names.check_numbers(number, self._here)
        return self._put(ops.Branch(check_name(target), numbers))

    def cond_br(
        self,
        condition: Condition | str,
        then: str,
        orelse: str,
        trip: int | None = None,
        *,
        expect: float | None = None,
    ) -> ops.CondBranch:
        """Go on at one of two blocks.

        `trip` says how often the loop that this closes is expected to run, `expect` how likely `then` is; they guide
        costs only, and there is one or the other.
        """
        trip = None if trip is None else check_number(trip, what="an expected trip count")
        if trip is not None and trip < 0:
            raise FencepostError(f"{trip} iterations are expected; that is at least 0")
        op = ops.CondBranch(
            self._condition(condition), check_name(then), check_name(orelse), trip, expect=expect
        )
        check_expected(op)
        return self._put(op)

    def ret(self) -> ops.Return:
        """End the kernel."""
        return self._put(ops.Return())
