"""What fencepost says of a kernel of inductor's, and what it makes of it.

A kernel is compiled as inductor compiles it, by its own tuner object, with `install("replace", show=…)`: what Triton
would ship is audited, as with `install("audit")`, and fencepost's barriers are put in where fewer of them run.
Inductor has several configurations (tile sizes, warps, stages), which it times on the device; here the first is
taken, or all.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from fencepost.hosts.common.audits import barrier_runs
from fencepost.hosts.triton import Audit, installed
from fencepost.hosts.triton.choose_barriers import fewer_or_membars
from fencepost.hosts.triton.installation import NOTED
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.text_edits import Edit, apply_edits
from fencepost.hosts.triton.translate import translations
from inductor.generate import Kernel, tuner_of

NO_SHARED_MEMORY = "no shared memory"
CLEAN = "clean"
NOT_JUDGED = "not judged"
WRONG = "races or deadlocks"
DOES_NOT_COMPILE = "does not compile"


@dataclass(frozen=True)
class Judged:
    """One configuration of one kernel."""

    program: str
    kernel: str
    identity: str
    """Equal for kernels that differ in nothing but their name."""
    config: str
    verdict: str
    reason: str = ""
    stock: int = 0
    """Barriers that stock Triton puts in,"""
    ours: int = 0
    """and those of `replace`."""
    stock_runs: float = 0.0
    """How often they are executed, with loops of unknown length taken to run 100 times."""
    ours_runs: float = 0.0
    redundant: int = 0
    """How many of stock's nothing needs."""
    proven: bool = True
    """Whether the audit looked at everything."""
    replaced: str = ""
    """What `replace` says of the module that it passes on, or why it left the kernel to Triton."""
    shared: int = 0
    """Bytes of shared memory."""

    @property
    def more(self) -> bool:
        """Whether `replace` made it worse."""
        return self.ours_runs > self.stock_runs * (1 + 1e-9)


@dataclass
class Recorder:
    """Decides as `replace` does by default, and keeps how many barriers that leaves."""

    static: int | None = None
    runs: float = 0.0

    def decide(self, before: Module, after: Callable[[], Module]) -> list[Edit] | None:
        """fencepost's barriers or membar's."""
        edits = fewer_or_membars(before, after)
        if edits is not None:
            runs = [
                run
                for each in translations(read_module(apply_edits(before, edits)))
                for run in barrier_runs(each.trace)
            ]
            self.static, self.runs = len(runs), sum(runs)
        return edits


def judged(kernel: Kernel, every_config: bool = False) -> Iterator[Judged]:
    """What there is to say about a kernel, one configuration after the other."""
    tuner = tuner_of(kernel)
    for config in tuner.configs if every_config else tuner.configs[:1]:
        said = f"{config.kwargs} warps={config.num_warps} stages={config.num_stages}"
        named = (kernel.program, kernel.name, kernel.identity)
        try:
            yield _judged(named, tuner, config, said)
        except Exception as error:  # one kernel that does not compile must not hide the others
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            yield Judged(
                *named, said, DOES_NOT_COMPILE, f"{type(error).__name__}: {lines[-1] if lines else ''}"
            )


def _judged(named: tuple[str, str, str], tuner: Any, config: Any, said: str) -> Judged:
    found: list[Audit] = []
    recorder = Recorder()
    with _quiet(), installed("replace", decide=recorder.decide, show=found.append):
        metadata = _compiled(tuner, config).metadata
    note: dict[str, Any] = getattr(metadata, NOTED)
    left = f"left to Triton: {note['left']}" if note["left"] else ""
    if not found:
        verdict = NOT_JUDGED if left else NO_SHARED_MEMORY
        return Judged(*named, said, verdict, left, shared=metadata.shared)
    audit = found[0]
    unchanged = recorder.static is None or left
    wrong = [each.title for each in audit.races]
    return Judged(
        *named,
        said,
        NOT_JUDGED if audit.beyond else WRONG if wrong else CLEAN,
        ", ".join(audit.beyond) or "; ".join(wrong),
        stock=audit.barriers,
        ours=audit.barriers if unchanged else recorder.static or 0,
        stock_runs=audit.executed,
        ours_runs=audit.executed if unchanged else recorder.runs,
        redundant=len(audit.redundant),
        proven=not audit.limits,
        replaced=left or note["judged"],
        shared=metadata.shared,
    )


def _compiled(tuner: Any, config: Any) -> Any:
    """What Triton makes of one configuration, with whatever is installed in it, past its cache."""
    knobs = import_module("triton.knobs")
    inductor = import_module("torch._inductor.config")
    # What inductor keeps of a kernel that it launches by itself lacks the metadata.
    launched_by_triton = inductor.patch(use_static_triton_launcher=False)
    with (
        launched_by_triton,
        tempfile.TemporaryDirectory() as cache,
        knobs.cache.scope(),
        knobs.compilation.scope(),
    ):
        knobs.cache.dir = cache
        knobs.compilation.always_compile = True
        return tuner._precompile_config(config).kernel


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
