"""What fencepost says about a kernel that a Python package has compiled to PTX."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.hosts.ptx.verdicts import KernelVerdict


@dataclass(frozen=True)
class Audit:
    """One kernel, as it was compiled."""

    front_end: str
    judged: JudgedPtx

    @property
    def kernel(self) -> str:
        """Its name, as people write it."""
        return self.judged.name

    @property
    def verdict(self) -> KernelVerdict:
        """Proven, a race, or not decided."""
        return self.judged.verdict

    @property
    def ok(self) -> bool:
        """Whether nothing was found that is more than a warning."""
        return not self.judged.errors

    def __str__(self) -> str:
        from fencepost.hosts.ptx.report.shown_findings import conclusion, finding_diagnostics, reason_lines
        from fencepost.report.diagnostics import render

        lines = [f"fencepost: {self.kernel} ({self.front_end}): {conclusion(self.judged)}"]
        lines += [f"  {line}" for line in reason_lines(self.judged)]
        return "\n".join([*lines, *(render(each).plain for each in finding_diagnostics(self.judged))])
