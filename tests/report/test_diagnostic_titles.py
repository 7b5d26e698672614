"""Findings that a message only names."""

from __future__ import annotations

import fencepost as fp
from fencepost.check.group_by_fix import Cause
from fencepost.report.findings import cause_diagnostic, spans_of

LOOP = """\
kernel @loop waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    read %a
  }
}
"""


def test_races_without_an_excerpt_have_their_lines() -> None:
    kernel = fp.parse(LOOP)
    source, spans = spans_of(kernel)
    found = cause_diagnostic(Cause([*fp.check(kernel).races]), source, spans)
    assert found.notes[-1] == ("also", "wave 1 can read %a before wave 0 has written it (4 → 5)")
