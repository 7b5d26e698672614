"""No garbage collection while a pass runs.

A pass makes many small objects and drops few, none in cycles. The collector would walk over the whole kernel
again and again: on kernels of a million operations that is a third of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Switch the cyclic collector off, and on again if it was."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
