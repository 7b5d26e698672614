"""What a user says about the launch of a kernel in PTX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.hosts.ptx.launches.launch import Given
from fencepost.hosts.ptx.launches.preconditions import Condition
from fencepost.hosts.ptx.verdicts import KernelVerdict


@dataclass(frozen=True)
class AskedLaunch:
    """What is said about the launch, for judging each step."""

    block: tuple[int, int, int] | None = None
    params: Mapping[str, int] | None = None
    file: str = "<ptx>"
    distinct_pointers: bool = False
    """Whether parameters point to memory of their own, as if all were `__restrict__`."""
    cluster: tuple[int, int, int] | None = None
    required: tuple[Condition, ...] = ()
    """What the file requires of parameters."""
    grid: tuple[int, int, int] | None = None
    warp_synchronous: bool = False
    """Whether the threads of a warp run in step."""
    any_input: bool = False
    """Whether the file states what launches keep to: numbers and data may then be anything else."""

    @property
    def given(self) -> Given:
        """What the judge is told."""
        return Given(
            self.block,
            self.params or {},
            self.cluster,
            self.required,
            self.grid,
            warp_synchronous=self.warp_synchronous,
            any_input=self.any_input,
        )

    def judge(self, text: str, kernel: str, seconds: float | None = None) -> KernelVerdict:
        """The verdict on one kernel of a text; its proof is given up after some seconds."""
        # The judge takes a while to load; the options of a command do not need it.
        from fencepost.hosts.ptx.checking import check_text

        limit = {} if seconds is None else {"seconds": seconds}
        return check_text(text, self.given, kernel, self.file, **limit)[0]
