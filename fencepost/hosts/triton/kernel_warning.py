"""What the host warns with, so that others can tell its warnings from those of the compiler."""

from __future__ import annotations


class KernelWarning(RuntimeWarning):
    """Something was not done to a kernel that the user has asked for."""
