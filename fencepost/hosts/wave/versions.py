"""Which releases of Wave are accepted, and the refusal of all others.

What we rely on (the arguments of Wave's operations, where its passes stand, what each barrier becomes) changes
between releases without notice, and a wrong reading would be silent. So a release is accepted once the tests have run
on it, and this is the only place that says so.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from fencepost.ir.source import FencepostError

ACCEPTED = ("3.9",)
"""Releases by their first two numbers; corrections (3.9.1) go with them."""

INSTALL = "pip install torch==2.13.0 wave-lang==3.9.1"


class MissingWave(FencepostError, ImportError):
    """Wave is not installed, or not in a release that is accepted."""


def require_wave() -> str:
    """The version of Wave that is installed; refuses with FP420 if there is none, FP421 if it is another."""
    found = installed_version()
    if found is None:
        raise MissingWave(
            f"the Wave host needs the package wave-lang, which is not installed: {INSTALL}",
            code="FP420",
            notes=[("help", INSTALL)],
        )
    if ".".join(found.split("+")[0].split(".")[:2]) not in ACCEPTED:
        raise MissingWave(
            f"wave-lang {found} is installed; this version of fencepost works with wave-lang "
            f"{' or '.join(ACCEPTED)}: {INSTALL}",
            code="FP421",
            notes=[("help", INSTALL)],
        )
    return found


def installed_version() -> str | None:
    """The version, found without importing Wave; None if it is not installed."""
    try:
        found = version("wave-lang")
    except PackageNotFoundError:
        return None
    return found if find_spec("wave_lang") is not None else None
