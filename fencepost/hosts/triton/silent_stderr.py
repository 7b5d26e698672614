"""Standard error, closed for a moment: MLIR reports a failure there whether or not somebody expects it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_LOCK = RLock()
"""A process has one standard error."""


@contextmanager
def silent_stderr() -> Iterator[None]:
    """Within it, what anybody writes to standard error is lost."""
    with _LOCK:
        sys.stderr.flush()
        kept = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(nowhere)
