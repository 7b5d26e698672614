"""`torch.compile`: what inductor does beside Triton, so that no kernel of its passes fencepost by.

Inductor generates Triton kernels and compiles them in *worker processes*, which know nothing of what is installed
here, and whose output goes nowhere. So while fencepost is installed, the job that a worker gets is one that
installs it there first (`inductor_worker`) and brings back what was found. Inductor also keeps whole graphs, with
their compiled kernels, in a *cache of its own*, and for a graph from there Triton is not asked at all: graphs get
another key there, and where audits are wanted, that cache is not used, since nothing would be said about a kernel
from it.

None of this loads torch. If inductor is not loaded yet, it is met when it is.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from fencepost.hosts.triton.inductor_worker import Job, compile_with_fencepost
from fencepost.hosts.triton.kernel_warning import KernelWarning

MODULE = "torch._inductor.async_compile"
JOB = "_worker_compile_triton"
"""The function of the module that workers are asked to run."""
IN_WORKERS = "kernels that worker processes of torch.compile compile"
ONE_PROCESS = "with TORCHINDUCTOR_COMPILE_THREADS=1 inductor compiles in this process"
NO_CACHES = "TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 does without it"


@dataclass(slots=True)
class Inductor:
    """What is changed in inductor while an installation is there."""

    job: Job
    key: str
    """Sets graphs that are compiled with fencepost apart in inductor's cache."""
    undo: list[Callable[[], None]] = field(default_factory=list)

    def follow(self) -> None:
        """Change inductor now, or as soon as it is loaded."""
        loaded = sys.modules.get(MODULE)
        if loaded is not None:
            self.change(loaded)
            return
        finder = AfterLoading(MODULE, self.change)
        sys.meta_path.insert(0, finder)
        self.undo.append(finder.leave)

    def change(self, inductor: ModuleType) -> None:
        """Workers and caches."""
        self.change_workers(inductor)
        self.change_caches()

    def change_workers(self, inductor: ModuleType) -> None:
        """Have workers install fencepost; where that cannot be, say so."""
        theirs = getattr(inductor, JOB, None)
        if theirs is None:
            self.warn(IN_WORKERS, f"this release of torch has no {MODULE}.{JOB}", ONE_PROCESS)
            return
        ours = partial(compile_with_fencepost, self.job, theirs)
        try:
            pickle.dumps(ours)
        except Exception as error:  # whatever a user's `decide` raises
            self.warn(IN_WORKERS, f"{self.job.decide!r} cannot be sent there ({error})", ONE_PROCESS)
            return
        self.replace(inductor, JOB, ours)

    def change_caches(self) -> None:
        """Give graphs a key of their own, and do without the cache of graphs where audits are wanted."""
        import torch

        tag = getattr(torch.compiler.config, "cache_key_tag", None)
        if tag is None:
            self.warn(
                "graphs from inductor's cache", "this release of torch has no tag for cache keys", NO_CACHES
            )
        else:
            self.replace(torch.compiler.config, "cache_key_tag", f"{tag}+{self.key}" if tag else self.key)
        if self.job.audited:
            self.replace(torch._inductor.config, "fx_graph_cache", False)
            self.replace(torch._inductor.config, "fx_graph_remote_cache", False)

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Set a name until `leave`; if somebody else has set it since, it stays."""
        before = getattr(owner, name)
        setattr(owner, name, value)

        def back() -> None:
            if getattr(owner, name) is value or getattr(owner, name) == value:
                setattr(owner, name, before)

        self.undo.append(back)

    def leave(self) -> None:
        """Let inductor alone again."""
        while self.undo:
            self.undo.pop()()

    @staticmethod
    def warn(which: str, why: str, instead: str) -> None:
        """Say which kernels pass fencepost by, and what helps."""
        text = f"fencepost does not see {which}: {why}; {instead}"
        warnings.warn(text, KernelWarning, stacklevel=2)


@dataclass(slots=True)
class AfterLoading(MetaPathFinder):
    """Calls a function with a module, once, when the module has been loaded."""

    name: str
    then: Callable[[ModuleType], None]

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the module is, as Python itself finds it, with a loader that calls the function at its end."""
        if fullname != self.name:
            return None
        self.leave()
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_call(module: ModuleType) -> None:
            load(module)
            self.then(module)

        spec.loader.exec_module = load_and_call  # type: ignore[method-assign]
        return spec

    def leave(self) -> None:
        """Look out no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
