"""Lets the corpus be imported with a release that has less of Gluon than its kernels use.

What is missing becomes a name without a meaning: a kernel that uses it does not compile, and all others do.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

AROUND = "triton.experimental"
GLUON = f"{AROUND}.gluon"


class Missing:
    """Stands for what a release does not have."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fn: Any = None

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.name}.{name}")

    def __call__(self, *given: object, **_: object) -> Missing:
        made = Missing(f"{self.name}()")
        if given and isinstance(given[0], FunctionType):
            # A function that was decorated, which is asked for its name.
            made.fn = given[0]
        return made


def _missing(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(name)


class _Modules(MetaPathFinder, Loader):
    """Finds modules below Gluon that nobody else finds, with all names missing."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        """A module of Gluon, whatever it is called, or all that it is in."""
        return ModuleSpec(name, self) if f"{name}.".startswith(f"{GLUON}.") or name == AROUND else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As usual."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """All its names are missing; it may have modules below it."""
        module.__path__ = []
        module.__getattr__ = _missing  # type: ignore[method-assign]


@contextmanager
def missing_names_allowed() -> Iterator[None]:
    """Within it, whatever is imported from Gluon is there, if only by name."""
    finder = _Modules()
    sys.meta_path.append(finder)
    __import__(f"{GLUON}.language.amd")
    __import__(f"{GLUON}.language.nvidia")
    try:
        _open_modules()
        yield
    finally:
        sys.meta_path.remove(finder)


def _open_modules() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(GLUON) and not hasattr(module, "__getattr__"):
            module.__getattr__ = _missing  # type: ignore[method-assign]
