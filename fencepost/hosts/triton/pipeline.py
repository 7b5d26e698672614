"""Triton's lowering, stopped at the pass that puts in barriers and gone on with from there.

The backends build one pass manager for the whole lowering and run it once. While the stage runs, they are handed a
stand-in that keeps the list of passes: the first time it runs those in front of that pass and stops, the second time
those behind it (or that one, too). Between the two the module can be looked at and exchanged. The passes and their
order are Triton's own. The pass is membar, or in older releases the conversion that membar is the beginning of
(`releases`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

from fencepost.hosts.triton.releases import installed_release

ALLOCATION = "add_allocate_shared_memory"
"""How the name of the pass begins that gives memory its addresses."""

Run = Callable[[Any], None]
"""Runs a pass on a live module."""
Pass = tuple[str, Callable[..., Any], tuple[Any, ...]]

_LOCK = RLock()
"""Backends are modules: while one is handed the stand-in, no other thread may be."""


class AtMembar(Exception):
    """Everything in front of membar has run."""

    def __init__(self, module: Any, membar: Run, allocate: Run, ran: int) -> None:
        super().__init__("stopped at membar")
        self.module = module
        self.membar = membar
        """Runs Triton's own pass on a module: membar, or the conversion that begins with it,"""
        self.allocate = allocate
        """and the one that gives memory its addresses."""
        self.ran = ran
        """How many managers have run before the one with membar."""
        self.done = False
        """Whether membar has run on the module since."""


@dataclass(slots=True)
class PassRange:
    """Which passes are run: those in front of membar, or those from there on."""

    before: bool = False
    with_membar: bool = False
    skipped: int = 0
    """Managers that have run already."""
    ran: int = 0


@dataclass(slots=True)
class _Deferred:
    """Stands in for a pass manager: keeps what is added to it until it is told to run."""

    make: Callable[[Any], Any]
    context: Any
    part: PassRange
    passes: list[Pass] = field(default_factory=list)

    def enable_debug(self) -> bool:
        """Printing between passes is left off."""
        return False

    def run(self, module: Any, *label: str) -> None:
        """Run the part that was asked for; a manager without membar runs as it is, the first time."""
        at = next((place for place, (name, _, _) in enumerate(self.passes) if name == membar_name()), None)
        self.part.ran += 1
        if self.part.ran <= self.part.skipped:
            return
        if at is None:
            self.run_passes(self.passes, module, *label)
        elif self.part.before:
            self.run_passes(self.passes[:at], module, *label)
            allocation = [each for each in self.passes if each[0].startswith(ALLOCATION)]
            membar, allocate = (
                self.runner(passes, *label) for passes in (self.passes[at : at + 1], allocation)
            )
            raise AtMembar(module, membar, allocate, self.part.ran - 1)
        else:
            self.run_passes(self.passes[at + (not self.part.with_membar) :], module, *label)

    def runner(self, passes: list[Pass], *label: str) -> Run:
        """Runs some passes on whatever module it is given."""
        return lambda module: self.run_passes(passes, module, *label)

    def run_passes(self, passes: list[Pass], module: Any, *label: str) -> None:
        """Run some passes with a manager of Triton's own."""
        manager = self.make(self.context)
        for _, add, rest in passes:
            add(manager, *rest)
        manager.run(module, *label)


def membar_name() -> str:
    """The pass that is stopped at."""
    return installed_release().membar


class _Bindings:
    """A module of Triton's bindings whose functions that add a pass understand the stand-in."""

    def __init__(self, real: ModuleType, part: PassRange) -> None:
        self._real = real
        self._part = part

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if isinstance(value, ModuleType):
            return _Bindings(value, self._part)
        if name == "pass_manager":
            return lambda context: _Deferred(value, context, self._part)
        if not callable(value) or isinstance(value, type):
            return value

        def add(*arguments: Any, **named: Any) -> Any:
            # Not all of them are called add_…: who is given the stand-in adds a pass.
            manager, *rest = arguments or (None,)
            if not isinstance(manager, _Deferred):
                return value(*arguments, **named)
            manager.passes.append((name, partial(value, **named), tuple(rest)))
            return None

        return add


def missing_names(vendor: str) -> str:
    """What the backend of a vendor would have to have, and has not, for the stand-in to work; empty if nothing."""
    try:
        known = _known(vendor)
    except (ImportError, KeyError, AttributeError) as error:
        return f"stage for LLVM ({error!r})"
    return ", ".join(name for name in _names(vendor) if name not in known)


def _known(vendor: str) -> dict[str, Any]:
    """What the functions of a backend know by name. Its module may be another one if it is imported by its name."""
    backend = import_module("triton.backends").backends[vendor].compiler
    found: dict[str, Any] = backend.make_llir.__globals__
    return found


def _names(vendor: str) -> tuple[str, ...]:
    """What backends call the bindings that managers and passes come from."""
    return "ir", "passes", vendor


@contextmanager
def running(vendor: str, part: PassRange) -> Iterator[None]:
    """Within it, the backend of a vendor runs only part of the passes around membar."""
    known, names = _known(vendor), _names(vendor)
    with _LOCK:
        real = {name: known[name] for name in names}
        try:
            known.update({name: _Bindings(real[name], part) for name in names})
            yield
        finally:
            known.update(real)
