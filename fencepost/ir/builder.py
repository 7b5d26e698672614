"""Kernels written in Python: `k = Kernel("gemm", waves=8)`, then one call per operation."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.body_builder import BodyBuilder
from fencepost.ir.expect import check_expected
from fencepost.ir.expr import Condition, Lane, Wave
from fencepost.ir.graph import Graph
from fencepost.ir.limits import check_name, check_number, check_waves
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace, Function

lane = Lane()
"""The number of a lane in its wave, for views: `k.read(a.bytes(fp.lane * 4, fp.lane * 4 + 4))`."""
wave = Wave()
"""The number of the wave that runs an operation, for conditions and views: `k.cond(fp.wave >= 4)`."""


class FunctionBuilder(BodyBuilder):
    """Builds a function from top to bottom; `function` is the result at any time. `call` takes either."""

    def __init__(self, name: str) -> None:
        self.function = Function(name)
        super().__init__(self.function)


class Kernel(BodyBuilder):
    """Builds a trace from top to bottom; `trace` is the result at any time."""

    def __init__(self, name: str, waves: int) -> None:
        self.trace = CapturedTrace(name, waves=check_waves(waves))
        super().__init__(self.trace)

    def block(self, label: str) -> None:
        """Start a new block of unstructured control flow."""
        if self._here.owner is not None:
            raise FencepostError("a block starts inside a loop or conditional")
        self._check_sides(self._here)
        self._names.claim(f"^{check_name(label)}")
        self._here = Graph(label)
        self._roots.add(self._here)
        self.trace.blocks.append(self._here)

    def br(self, target: str) -> ops.Branch:
        """Go on at a block."""
        return self._put(ops.Branch(check_name(target)))

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
        if trip is not None and check_number(trip) < 0:
            raise FencepostError(f"{trip} iterations are expected; that is at least 0")
        op = ops.CondBranch(
            self._condition(condition), check_name(then), check_name(orelse), trip, expect=expect
        )
        check_expected(op)
        return self._put(op)

    def ret(self) -> ops.Return:
        """End the kernel."""
        return self._put(ops.Return())
