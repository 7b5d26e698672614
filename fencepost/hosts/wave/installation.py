"""fencepost in a user's process: every kernel that Wave compiles gets fencepost's barriers, or is audited.

    import fencepost.hosts.wave as host

    host.install()                 # fencepost's barriers instead of Wave's
    host.install(schedule=True)    # and its ping-pong order for loops that prefetch
    host.install(mode="audit")     # reports on every kernel with Wave's barriers, and changes nothing
    host.uninstall()

    with host.installed():
        ...

Without a mode, the environment variable FENCEPOST_WAVE says which, `replace` if it is not set; `off` switches
everything off. Kernels compiled with fencepost have keys of their own in Wave's cache. If anything goes wrong, the
kernel gets Wave's own barriers, with a warning.
"""

from __future__ import annotations

import functools
import hashlib
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from fencepost.emit.write import Inserted
from fencepost.hosts.common.audits import print_audit
from fencepost.hosts.common.installations import Installations
from fencepost.hosts.common.modes import AUDIT, REPLACE, mode_of
from fencepost.hosts.wave.audit import Audit, audit
from fencepost.hosts.wave.barrier_pass import (
    Compilation,
    add_shared_memory_barriers,
    barriers_in,
    compilations,
)
from fencepost.hosts.wave.ping_pong import is_ours, schedule_reordering
from fencepost.hosts.wave.replace_summary import Replaced
from fencepost.hosts.wave.translate import name_of
from fencepost.hosts.wave.versions import mismatch, require_layout, require_wave
from fencepost.ir.source import FencepostError
from fencepost.schedule import Scheduled
from fencepost.version import __version__

VARIABLE = "FENCEPOST_WAVE"
PIPELINE = "wave_lang.kernel.wave.wave"
"""The module whose names Wave looks its passes up under."""
CACHE = "wave_lang.kernel.wave.cache"
BARRIERS, SCHEDULE = "add_shared_memory_barriers", "schedule_reordering"
"""The passes that are replaced."""
PACKING, WITH_CONSTRAINTS = "minimize_shared_allocs", "apply_shared_memory_indexing_corrections"
"""Passes in front of them that are looked at: one puts in barriers, one is always given the kernel's constraints."""


@dataclass(slots=True)
class Installation:
    """What is installed, and what has been found so far."""

    mode: str
    show: Callable[[Audit], None] | None
    schedule: bool = False
    audits: list[Audit] = field(default_factory=list)
    inserted: list[Inserted] = field(default_factory=list)
    """What was put into each kernel that was compiled."""
    results: list[Replaced] = field(default_factory=list)
    """The same for people: printed, each says where barriers went and why."""
    scheduled: list[Scheduled] = field(default_factory=list)
    """What came of each kernel that ping-pong could be for."""
    seconds: list[float] = field(default_factory=list)
    """How long fencepost took for each kernel."""
    replaced: list[tuple[Any, str, Any, Any]] = field(default_factory=list)
    """What was put where: the object, the name in it, what it was before, what it is now."""

    def put(self, owner: Any, name: str, new: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Put something in the place of a function, given that function."""
        before = getattr(owner, name, None)
        if before is None:
            raise mismatch(f"{getattr(owner, '__name__', owner)} has no {name}")
        made = functools.wraps(before)(new(before))
        self.replaced.append((owner, name, before, made))
        setattr(owner, name, made)

    def barriers(self, before: Callable[..., Any]) -> Callable[..., Any]:
        """The pass that adds barriers."""

        def add_barriers(trace: Any, target: str = "") -> None:
            began = time.perf_counter()
            if self.mode == REPLACE:
                try:
                    found = add_shared_memory_barriers(trace, target)
                except Exception as error:  # whatever it is, the user's kernel has to compile
                    _warn(error, "fencepost left this kernel to Wave's own barriers")
                    before(trace, target)
                else:
                    if found is not None:
                        self.inserted.append(found)
                        self.results.append(Replaced(name_of(trace), target or found.target, found))
            else:
                before(trace, target)
            self.seconds.append(time.perf_counter() - began)
            if self.mode == AUDIT or self.show is not None:
                self.look_at(trace, target)

        return add_barriers

    def reordering(self, before: Callable[..., Any]) -> Callable[..., Any]:
        """The pass that puts loops into another order."""

        def reorder(
            trace: Any, constraints: Any, scheduling_type: Any, use_global_to_shared: bool = False
        ) -> None:
            found: Scheduled | None = None
            try:
                if is_ours(trace, scheduling_type):
                    found = schedule_reordering(trace, constraints, scheduling_type, use_global_to_shared)
            except Exception as error:  # whatever it is, the user's kernel has to compile
                _warn(error, "fencepost left the order of this kernel's loop to Wave")
            if found is None:
                before(trace, constraints, scheduling_type, use_global_to_shared)
            else:
                self.scheduled.append(found)

        return reorder

    def look_at(self, trace: Any, target: str) -> None:
        """Audit a trace as it is now. What could not be judged is in the audit, and is warned of as well."""
        found = audit(trace, target)
        self.audits.append(found)
        if found.not_judged and not found.races:
            warn(f"fencepost cannot judge this kernel: {found.not_judged[0].title}")
        if self.show is not None:
            self.show(found)

    def constraints(self, before: Callable[..., Any]) -> Callable[..., Any]:
        """A pass that is given the kernel's constraints, which are remembered."""

        def note(trace: Any, constraints: Any, *rest: Any, **options: Any) -> Any:
            compilations.setdefault(trace, Compilation()).constraints = constraints
            return before(trace, constraints, *rest, **options)

        return note

    def packing(self, before: Callable[..., Any]) -> Callable[..., Any]:
        """The pass that lets allocations share bytes, and puts barriers between some of them."""

        def pack(trace: Any, *rest: Any, **options: Any) -> Any:
            existing = barriers_in(trace)
            result = before(trace, *rest, **options)
            compilations.setdefault(trace, Compilation()).spare = barriers_in(trace) - existing
            return result

        return pack

    def keys(self, before: Callable[..., Any]) -> Callable[..., Any]:
        """Keys of the cache: a kernel that was compiled without fencepost is another one."""

        def get_hash(*arguments: Any, **options: Any) -> str | None:
            key = before(*arguments, **options)
            mine = f"fencepost-{__version__}-{self.mode}-{self.schedule}-{key}"
            return None if key is None else hashlib.sha256(mine.encode()).hexdigest()

        return get_hash


def install(
    mode: str | None = None, *, schedule: bool = False, show: Callable[[Audit], None] | None = None
) -> Installation | None:
    """Give every kernel that Wave compiles from now on fencepost's barriers, or audit it.

    With `schedule`, fencepost's ping-pong reordering is put in the place of Wave's, too. `show` is called with what
    was found about each kernel; by default it is printed to standard error in audit mode.
    """
    mode = mode_of(mode, "wave", VARIABLE, "FP425")
    if mode is None:
        return None
    require_wave()
    require_layout()
    uninstall()
    if show is None and mode == AUDIT:
        show = print_audit
    made = Installation(mode, show, schedule)
    _installations.put(made)
    try:
        pipeline, cache = import_module(PIPELINE), import_module(CACHE)
        made.put(pipeline, WITH_CONSTRAINTS, made.constraints)
        made.put(pipeline, PACKING, made.packing)
        made.put(pipeline, BARRIERS, made.barriers)
        if schedule and mode == REPLACE:
            made.put(pipeline, SCHEDULE, made.reordering)
        made.put(cache.WaveCacheManager, "get_hash", made.keys)
    except (ImportError, AttributeError) as error:
        uninstall()
        raise mismatch(str(error)) from error
    except FencepostError:
        uninstall()
        raise
    return made


def uninstall() -> None:
    """Let Wave alone again; what someone has put in since stays."""
    _installations.clear()


def installed(mode: str | None = None, **options: Any) -> AbstractContextManager[Installation | None]:
    """`install` for the body of a `with` statement."""
    return _installations.nested(
        lambda: install(mode, **options),
        lambda outer: install(outer.mode, schedule=outer.schedule, show=outer.show),
    )


def _take_out(made: Installation) -> None:
    for owner, name, before, now in reversed(made.replaced):
        if getattr(owner, name) is now:
            setattr(owner, name, before)


_installations = Installations(_take_out)


def _warn(error: Exception, what: str) -> None:
    warn(f"{what}: {str(error) if isinstance(error, FencepostError) else repr(error)}")


def warn(what: str) -> None:
    """Tell the user something that he should know."""
    warnings.warn(what, RuntimeWarning, stacklevel=4)
