"""An audit says one thing for each fix, and what hangs before the races that follow from it."""

from __future__ import annotations

from fencepost.hosts.common.audits import KernelAudit
from fencepost.report.diagnostics import Diagnostic

WAIT = ("fix", "`wait_count copy=1` instead of `wait_count copy=2` on line 16")
RACES = (
    Diagnostic("FP001", "the first of three", (), (WAIT,)),
    Diagnostic("FP001", "the second", (), (WAIT,)),
    Diagnostic("FP001", "the third", (), (WAIT,)),
    Diagnostic("FP001", "without a fix", ()),
    Diagnostic("FP001", "without one either", ()),
    Diagnostic("FP006", "a wait for a phase that is complete", ()),
)


def test_findings_of_one_fix_are_one_message_and_hangs_come_first() -> None:
    audit = KernelAudit("k", "sm_90", 2, 2.0, (), RACES)
    messages = audit.lines()
    assert [each.splitlines()[0].partition(": ")[2] for each in messages] == [
        "a wait for a phase that is complete",
        "the first of three",
        "without a fix",
        "without one either",
    ]
    assert messages[1].splitlines()[-1].strip() == "= also: the same fix settles 2 more findings"
    assert audit.counts == "2 barriers, 0 redundant, 5 races, 1 hang"
