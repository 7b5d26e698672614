"""Something that is to happen to a module as soon as it is imported: now, if it is there already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class AfterImport(MetaPathFinder):
    """Calls a function with each of some modules once it is imported."""

    def __init__(self, wanted: Mapping[str, Callable[[ModuleType], None]]) -> None:
        self.wanted = dict(wanted)

    def install(self) -> None:
        """Look at what is there, and wait for the others."""
        sys.meta_path.insert(0, self)
        for name in list(self.wanted):
            if name in sys.modules:
                self.wanted.pop(name)(sys.modules[name])

    def uninstall(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find, with a loader that tells of the module afterwards."""
        if fullname not in self.wanted:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Telling(spec.loader, self.wanted.pop(fullname))
                return spec
        return None


class _Telling(Loader):
    """A loader that calls a function with what it has loaded."""

    def __init__(self, loader: Loader, then: Callable[[ModuleType], None]) -> None:
        self.loader = loader
        self.then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        self.then(module)

    def __getattr__(self, name: str) -> object:
        return getattr(self.loader, name)
