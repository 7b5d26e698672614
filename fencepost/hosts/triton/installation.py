"""fencepost in a user's process: every kernel that Triton compiles is audited, or gets fencepost's barriers.

    import fencepost.hosts.triton as host

    host.install(mode="audit")     # reports on every kernel that is compiled, and changes nothing
    host.install(mode="replace")   # puts fencepost's barriers in membar's place where fewer of them run
    host.uninstall()

    with host.installed("replace"):
        ...

Without a mode, the environment variable FENCEPOST_TRITON says which, `audit` if it is not set; `off` switches
everything off. Kernels compiled with fencepost have keys of their own in Triton's cache. What goes there is first
judged by `check` (`verification`). If anything goes wrong, the kernel is compiled as Triton alone would, with a
warning. Nothing happens silently: what was found or left is noted with the kernel in the cache, and said again when
it comes from there; a kernel that was compiled past fencepost is named. Kernels of `torch.compile` are compiled in
worker processes; they are served as well (`inductor`).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from fencepost.gc_pause import collection_paused
from fencepost.hosts.common.audits import print_audit
from fencepost.hosts.common.installations import Installations
from fencepost.hosts.common.modes import AUDIT, mode_of
from fencepost.hosts.triton.assembly.verify import Verdict, refuse_wrong_assembly
from fencepost.hosts.triton.assembly.watch import ASSEMBLY, AssemblyWatch
from fencepost.hosts.triton.audit import Audit, audit
from fencepost.hosts.triton.cache_keys import add_key
from fencepost.hosts.triton.choose_barriers import fewer_or_membars
from fencepost.hosts.triton.clusters import refuse_clusters
from fencepost.hosts.triton.compiled_listener import listener_there, put_in_listener, take_out_listener
from fencepost.hosts.triton.generic import generic_form, touches_shared
from fencepost.hosts.triton.inductor import Inductor
from fencepost.hosts.triton.inductor_worker import Job
from fencepost.hosts.triton.kept_audits import read, written
from fencepost.hosts.triton.kernel_warning import KernelWarning
from fencepost.hosts.triton.membar import membar_at
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.pipeline import AtMembar, PassRange, missing_names, running
from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.replaced_functions import Replaced, ReplacedFunction
from fencepost.hosts.triton.stages_hook import hook_there, put_in_hook, take_out_hook
from fencepost.hosts.triton.text_edits import Edit
from fencepost.hosts.triton.verification import refuse_wrong
from fencepost.hosts.triton.versions import require_triton
from fencepost.ir.source import FencepostError
from fencepost.version import __version__

VARIABLE = "FENCEPOST_TRITON"
NOTED = "fencepost"
"""The entry of a kernel's metadata that says what fencepost did: `left` with the reason, `judged` with what of the
module that was passed on is proven, and `audits`."""

Decide = Callable[[Module, Callable[[], Module]], list[Edit] | None]
"""What is done to a module, given it right before membar and, if asked for, as membar leaves it; None: just that."""


@dataclass(slots=True)
class Installation:
    """What is installed, and what has been found so far."""

    mode: str
    show: Callable[[Audit], None] | None
    decide: Decide
    thorough: bool = False
    """Whether what is passed on is simulated as well where it has mbarriers."""
    audits: list[Audit] = field(default_factory=list)
    assembly: bool = False
    """Whether the assembly of kernels for AMD is compared with what was asked for."""
    verdicts: list[Verdict] = field(default_factory=list)
    """What was found there,"""
    watched: AssemblyWatch | None = None
    """and the compilation that this was found in, the last one."""
    active: bool = True
    """Whether it still is installed: others may keep the hook and call it."""
    seconds: list[float] = field(default_factory=list)
    """How long fencepost took for each kernel: CPU time of its thread."""
    membar_seconds: list[float] = field(default_factory=list)
    """How long membar took, for each kernel for which it was asked what it would do."""
    before: Any = None
    """The hook that was there before,"""
    listener: Any = None
    """and the listener."""
    hooked: tuple[ReplacedFunction, ...] = ()
    """The functions that call the hook, where Triton has none,"""
    listened: tuple[ReplacedFunction, ...] = ()
    """what tells the listener, likewise,"""
    keys: tuple[Replaced, ...] = ()
    """and those that make keys, where it does not ask for one."""
    new: set[str] = field(default_factory=set)
    """The hashes of kernels whose stages have run, where there is no listener that says so."""
    inductor: Inductor | None = None
    """What is changed in inductor."""

    @property
    def key(self) -> str:
        """What tells kernels that are compiled with this from all others in Triton's caches."""
        mode = self.mode + "-thorough" * self.thorough + "-assembly" * self.assembly
        return f"fencepost-{__version__}-{mode}-{self.decide.__module__}.{self.decide.__qualname__}"

    def hook(self, *arguments: Any) -> Any:
        """What Triton calls: for a cache key, or with the stages of a compilation."""
        if not arguments:
            other = self.before() if self.before is not None else ("", "")
            return self.key + other[0], self.key + other[1]
        backend, stages, *rest = arguments
        if self.before is not None:
            self.before(*arguments)
        if not self.active or "llir" not in stages:
            return None
        lower = stages["llir"]
        vendor = "amd" if backend.target.backend == "hip" else "nvidia"
        watch = AssemblyWatch(self.tell_assembly) if self.assembly and ASSEMBLY in stages else None
        if watch is not None:
            self.watched = watch
            watch.put_into(stages)
        stages["llir"] = lambda source, metadata: self.lowered(lower, vendor, source, metadata, watch)
        del rest
        return None

    def lowered(
        self,
        lower: Callable[..., Any],
        vendor: str,
        source: Any,
        metadata: Any,
        watch: AssemblyWatch | None = None,
    ) -> Any:
        """The stage that membar is part of."""
        note: dict[str, Any] = {"mode": self.mode, "left": "", "judged": "", "audits": []}
        metadata[NOTED] = note
        if not installed_release().has_knobs:
            self.new.add(metadata["hash"])
        missing = missing_names(vendor)
        try:
            if not missing:
                with running(vendor, PassRange(before=True)):
                    made = lower(source, metadata)
            else:
                made = lower(source, metadata)
        except AtMembar as at:
            stopped = at
        else:
            self.leave(
                note, MembarNotRun(f"its backend has no {missing}" if missing else "no such pass was run")
            )
            return made
        changed = None
        # A module is many small objects: a collection in the middle would take longer than all the rest.
        with collection_paused():
            began = time.thread_time()
            try:
                changed = self.changed(stopped, note)
            except Exception as error:  # whatever it is, the user's kernel has to compile
                self.leave(note, error)
            self.seconds.append(time.thread_time() - began)
        if watch is not None:
            # What is asked for has its barriers in it.
            if changed is None and not stopped.done:
                stopped.membar(stopped.module)
            changed = watch.numbered(stopped.module if changed is None else changed)
        part = PassRange(with_membar=changed is None and not stopped.done, skipped=stopped.ran)
        with running(vendor, part):
            return lower(stopped.module if changed is None else changed, metadata)

    def changed(self, stopped: AtMembar, note: dict[str, Any]) -> Any:
        """The module with the barriers that are chosen, judged by `check`; None if Triton is to go on by itself."""
        before = generic_form(stopped.module)
        if not touches_shared(before):
            return None
        membar = membar_at(stopped, before, self.membar_seconds)
        if self.mode == "audit" or self.show is not None:
            found = audit(membar.after)
            note["audits"].append(written(found))
            self.tell(found)
        if self.mode == "audit":
            return None
        refuse_clusters(membar.before)
        edits = self.decide(membar.before, lambda: membar.after)

        def judge(module: Module) -> None:
            note["judged"] = refuse_wrong(module, stock=lambda: membar.after, thorough=self.thorough)

        if edits is None:
            judge(membar.after)
            return membar.passed_on()
        return membar.exchanged(edits, judge)

    def tell(self, found: Audit) -> None:
        """An audit, to whoever wants to know."""
        self.audits.append(found)
        if self.show is not None:
            self.show(found)

    def tell_assembly(self, verdict: Verdict, metadata: Any) -> None:
        """What the assembly is like, noted with the kernel; a warning if it is not what was asked for."""
        self.verdicts.append(verdict)
        metadata[NOTED]["assembly"] = str(verdict)
        try:
            refuse_wrong_assembly(verdict)
        except FencepostError as error:
            metadata[NOTED]["wrong_assembly"] = str(error)
            self.warn(str(error))
        if verdict.not_compared:
            self.warn(str(verdict))

    def compiled(self, *, src: Any, metadata: Any, cache_hit: bool, **rest: Any) -> None:
        """What Triton calls when it has a kernel, compiled or from its cache."""
        if self.listener is not None:
            self.listener(src=src, metadata=metadata, cache_hit=cache_hit, **rest)
        if not self.active:
            return
        note = metadata.get(NOTED)
        name = str(metadata.get("name") or getattr(src, "name", "?")).lstrip("@")
        if not isinstance(note, dict):
            where = "comes from Triton's cache" if cache_hit else "was compiled"
            self.warn(f"@{name} {where} without the stage that membar is part of: nothing was done to it")
        elif cache_hit:
            try:
                found, left = [read(data) for data in note["audits"]], note["left"]
            except Exception as error:  # whatever is in the cache, the user's kernel has to run
                self.warn(
                    f"@{name} comes from Triton's cache, and what was noted about it is lost: {error!r}"
                )
                return
            for audit_then in found:
                self.tell(audit_then)
            if left:
                self.warn(f"@{name}, from Triton's cache, is as Triton compiles it: {left}")
            if "wrong_assembly" in note:
                self.warn(f"@{name}, from Triton's cache: {note['wrong_assembly']}")

    def leave(self, note: dict[str, Any], error: Exception) -> None:
        """Say why a kernel is compiled without fencepost, now and whenever it comes from the cache."""
        note["left"] = _said(error) if isinstance(error, (FencepostError, MembarNotRun)) else repr(error)
        self.warn(f"fencepost left this kernel as Triton compiles it: {note['left']}")

    @staticmethod
    def warn(text: str) -> None:
        """Say what did not happen that the user asked for."""
        warnings.warn(text, KernelWarning, stacklevel=3)


def _said(error: FencepostError | MembarNotRun) -> str:
    """What an error says, with the lines of the user's Python that it is about."""
    lines = [text for kind, text in getattr(error, "notes", ()) if kind == "written"]
    return f"{error} ({'; '.join(lines)})" if lines else str(error)


class MembarNotRun(Exception):
    """Triton ran no membar pass."""

    def __init__(self, why: str) -> None:
        super().__init__(f"no membar pass ran while it was lowered: {why}")


def install(
    mode: str | None = None,
    *,
    show: Callable[[Audit], None] | None = None,
    decide: Decide = fewer_or_membars,
    thorough: bool = False,
    assembly: bool = False,
) -> Installation | None:
    """Audit every kernel that Triton compiles from now on, or give it fencepost's barriers where fewer of them run.

    `show` is called with what was found about each kernel; by default it is printed to standard error in audit
    mode. With `thorough`, what `replace` passes on is judged in full also where it has mbarriers: that takes from a
    tenth of the compilation to several times as long. With `assembly`, the assembly of kernels for AMD is compared
    with the module that it was made from (docs/triton-amd.md).
    """
    mode = mode_of(mode, "triton", VARIABLE, "FP411")
    if mode is None:
        return None
    require_triton()
    if assembly and not installed_release().membar_is_a_pass:
        raise FencepostError(
            f"assembly is not compared with Triton {installed_release().name}: membar is no pass of its own there",
            code="FP405",
        )
    uninstall()
    if show is None and mode == AUDIT:
        show = print_audit
    made = Installation(
        mode,
        show,
        decide,
        thorough,
        assembly=assembly,
        before=hook_there(),
        listener=listener_there(),
    )
    made.hooked = put_in_hook(made.hook)
    made.listened = put_in_listener(made.compiled, made.new)
    if not installed_release().asks_for_key:
        made.keys = add_key(made.key)
    made.inductor = Inductor(Job(mode, decide, thorough, show is not None, assembly), made.key)
    made.inductor.follow()
    _installations.put(made)
    return made


def current_installation() -> Installation | None:
    """What is installed in this process."""
    return _installations.current[-1] if _installations.current else None


def uninstall() -> None:
    """Let Triton alone again; a hook or listener that someone has set since stays."""
    _installations.clear()


def installed(mode: str | None = None, **options: Any) -> AbstractContextManager[Installation | None]:
    """`install` for the body of a `with` statement."""
    return _installations.nested(
        lambda: install(mode, **options),
        lambda outer: install(
            outer.mode, show=outer.show, decide=outer.decide, thorough=outer.thorough, assembly=outer.assembly
        ),
    )


def _take_out(made: Installation) -> None:
    made.active = False
    if made.inductor is not None:
        made.inductor.leave()
    take_out_hook(made.hook, made.before, made.hooked)
    take_out_listener(made.compiled, made.listener, made.listened)
    for added in made.keys:
        added.take_out()


_installations = Installations(_take_out)
