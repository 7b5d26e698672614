"""Statements about mbarriers: what each says, and what does not fit refused."""

from __future__ import annotations

from fencepost.ir import ops
from fencepost.ir.buffers import View
from fencepost.ir.expr import Const, Expr
from fencepost.ir.limits import check_engine, check_name, check_number
from fencepost.ir.source import FencepostError, Mark, Span

Settings = list[tuple[str, Expr | str, Span]]

TAKES = {
    "mbarrier_init": ("count", "until"),
    "mbarrier_inval": (),
    "mbarrier_arrive": ("count", "counter"),
    "mbarrier_expect": ("bytes",),
    "mbarrier_wait": ("phase",),
}
"""What each statement says about the mbarrier."""
MUST = {"mbarrier_init": "count", "mbarrier_expect": "bytes", "mbarrier_wait": "phase"}
"""What it has to say."""


NAMES = {"counter": "a name such as load", "until": "`inval`, and nothing else"}
"""What is said by a name."""


def mbarrier(mnemonic: str, view: View, settings: Settings, span: Span | None) -> ops.MbarrierOperation:
    """The operation that a statement stands for."""
    given: dict[str, Expr | str] = {}
    for key, value, at in settings:
        if key in given:
            raise FencepostError(f"attribute {key!r} twice", [Mark(at)], code="FP105")
        if key not in TAKES[mnemonic]:
            raise FencepostError(f"{mnemonic} has no attribute {key!r}", [Mark(at)], code="FP105")
        if isinstance(value, str) is not (key in NAMES):
            wanted = NAMES.get(key, "a number")
            raise FencepostError(f"{key!r} is {wanted}", [Mark(at)], code="FP105")
        given[key] = value
    missing = MUST.get(mnemonic)
    if missing is not None and missing not in given:
        example = f"`{mnemonic} {view} {missing}=1`"
        raise FencepostError(f"{mnemonic} without {missing!r}: {example}", [Mark(span)], code="FP105")
    if mnemonic == "mbarrier_wait":
        phase = given["phase"]
        assert isinstance(phase, Expr)
        return ops.MbarrierWait((view,), phase=phase, span=span)
    if mnemonic == "mbarrier_expect":
        return ops.MbarrierExpect((view,), bytes=_whole("bytes", given["bytes"], span), span=span)
    if mnemonic == "mbarrier_inval":
        return ops.MbarrierInval((view,), span=span)
    count = _whole("count", given.get("count", Const(1)), span)
    if mnemonic == "mbarrier_init":
        until = given.get("until", "inval")
        if until != "inval":
            raise FencepostError(f"'until' is {NAMES['until']}", [Mark(span)], code="FP105")
        return ops.MbarrierInit((view,), count=count, until_inval="until" in given, span=span)
    counter = given.get("counter", "")
    assert isinstance(counter, str)
    if counter:
        check_engine(check_name(counter), span)
    return ops.MbarrierArrive((view,), count=count, counter=counter, span=span)


def arrival(view: View, key: str, value: int, span: Span | None) -> ops.Arrival:
    """What an engine does to an mbarrier: `bytes=1024` or `count=1`."""
    if key not in ("bytes", "count"):
        raise FencepostError(
            f"an engine brings `bytes` or arrives `count` times, not {key!r}", [Mark(span)], code="FP105"
        )
    number = _whole(key, Const(value), span)
    return ops.Arrival(view, bytes=number) if key == "bytes" else ops.Arrival(view, count=number)


def _whole(key: str, value: Expr | str, span: Span | None) -> int:
    if not isinstance(value, Const) or value.value < 1:
        raise FencepostError(f"{key!r} is a number from 1", [Mark(span)])
    return check_number(value.value, span)


def spelled_mbarrier(op: ops.MbarrierOperation) -> str:
    """The statement, without its result."""
    if isinstance(op, ops.MbarrierInit):
        until = " until=inval" if op.until_inval else ""
        return f"{op.mnemonic} {op.view} count={op.count}{until}"
    if isinstance(op, ops.MbarrierInval):
        return f"{op.mnemonic} {op.view}"
    if isinstance(op, ops.MbarrierExpect):
        return f"{op.mnemonic} {op.view} bytes={op.bytes}"
    if isinstance(op, ops.MbarrierWait):
        return f"{op.mnemonic} {op.view} phase={op.phase}"
    count = f" count={op.count}" if op.count != 1 else ""
    counter = f" counter={op.counter}" if op.counter else ""
    return f"{op.mnemonic} {op.view}{count}{counter}"


def spelled_arrival(arrival: ops.Arrival) -> str:
    """What an engine does to an mbarrier, as it stands behind the operation."""
    what = f"bytes={arrival.bytes}" if arrival.bytes else f"count={arrival.count}"
    return f" arrives {arrival.view} {what}"
