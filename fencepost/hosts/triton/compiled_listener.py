"""Who is told of every kernel that was compiled, or comes from the cache.

Triton has a listener for that. Where it has none, the class of compiled kernels is replaced by one that tells: one is
made at the end of each compilation, and for each kernel from the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fencepost.hosts.triton.releases import installed_release
from fencepost.hosts.triton.replaced_functions import ReplacedFunction

Listener = Callable[..., None]


def put_in_listener(listener: Listener, compiled: set[str]) -> tuple[ReplacedFunction, ...]:
    """Have a listener called from here on; it calls the one that was there before itself, where Triton has one.

    `compiled` are the hashes of kernels whose stages have run, as far as nobody was told of them.
    """
    if installed_release().has_knobs:
        import_module("triton.knobs").compilation.listener = listener
        return ()
    module: Any = import_module("triton.compiler.compiler")
    before = module.CompiledKernel

    class CompiledKernel(before):  # type: ignore[misc, valid-type]
        """A compiled kernel that is told of."""

        def __init__(self, src: Any, metadata_group: Any, hash: str) -> None:
            super().__init__(src, metadata_group, hash)
            cache_hit = hash not in compiled
            compiled.discard(hash)
            listener(src=src, metadata=self.metadata._asdict(), cache_hit=cache_hit)

    module.CompiledKernel = CompiledKernel
    return (ReplacedFunction(module, "CompiledKernel", before, CompiledKernel),)


def listener_there() -> Listener | None:
    """Triton's listener, if it has one that is set."""
    if not installed_release().has_knobs:
        return None
    found: Listener | None = import_module("triton.knobs").compilation.listener
    return found


def take_out_listener(
    listener: Listener, before: Listener | None, replaced: tuple[ReplacedFunction, ...]
) -> None:
    """Have it called no longer, unless somebody has set another one since."""
    for each in replaced:
        each.take_out()
    if installed_release().has_knobs and listener_there() == listener:
        import_module("triton.knobs").compilation.listener = before
