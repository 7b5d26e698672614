"""A hook that sees the stages of every compilation, in releases where Triton has none.

There it is called by what a backend's `add_stages` is replaced by, with what newer releases call their own with.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.replaced_functions import ReplacedFunction, replaced

Hook = Callable[..., Any]


def put_in_hook(hook: Hook) -> tuple[ReplacedFunction, ...]:
    """Have a hook called from here on; it calls whatever hook was there before itself, where Triton has one."""
    if installed_release().has_stages_hook:
        import_module("triton.knobs").runtime.add_stages_inspection_hook = hook
        return ()

    def hooked(before: Callable[..., Any]) -> Callable[..., Any]:
        def add_stages(backend: Any, stages: Any, options: Any, *rest: Any) -> None:
            before(backend, stages, options, *rest)
            hook(backend, stages, options, *rest)

        return add_stages

    backends = import_module("triton.backends").backends.values()
    return tuple(replaced(backend.compiler, "add_stages", hooked) for backend in backends)


def hook_there() -> Hook | None:
    """Triton's hook, if it has one that is set."""
    if not installed_release().has_stages_hook:
        return None
    found: Hook | None = import_module("triton.knobs").runtime.add_stages_inspection_hook
    return found


def take_out_hook(hook: Hook, before: Hook | None, functions: tuple[ReplacedFunction, ...]) -> None:
    """Have it called no longer, unless somebody has set another one since."""
    for each in functions:
        each.take_out()
    if installed_release().has_stages_hook and hook_there() == hook:
        import_module("triton.knobs").runtime.add_stages_inspection_hook = before
