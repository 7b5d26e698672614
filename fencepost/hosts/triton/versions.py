"""Which Triton is installed, and the refusal of all releases that are not in the table (`releases`)."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from fencepost.hosts.common.releases import is_accepted
from fencepost.hosts.triton.releases import NEWEST, RELEASES
from fencepost.ir.source import FencepostError

ACCEPTED = tuple(release.name for release in RELEASES)
INSTALL = f"pip install triton=={NEWEST.package}"


def require_triton() -> str:
    """The version of Triton that is installed; refuses with FP404 if there is none, FP405 if it is another."""
    found = installed_version()
    if found is None:
        raise FencepostError(
            "reading Triton modules needs the package triton, which is not installed",
            code="FP404",
            notes=[("help", INSTALL)],
        )
    if not is_accepted(found, ACCEPTED):
        raise FencepostError(
            f"triton {found} is installed; this version of fencepost works with triton {' or '.join(ACCEPTED)}",
            code="FP405",
            notes=[("help", INSTALL)],
        )
    return found


def require_same_release(made_by: object) -> None:
    """Refuse what another release has made (FP405): what it says may mean something else to this one."""
    installed = installed_version()
    if not isinstance(made_by, str) or installed is None:
        return
    if not is_accepted(made_by, (".".join(installed.split(".")[:2]),)):
        raise FencepostError(
            f"triton {made_by} has compiled this; triton {installed} is installed",
            code="FP405",
            notes=[("help", f"judge it where triton {made_by} is installed")],
        )


def installed_version() -> str | None:
    """The version, found without importing Triton where that is possible; None if it is not installed."""
    loaded = getattr(sys.modules.get("triton"), "__version__", None)
    if isinstance(loaded, str):
        return loaded
    try:
        return version("triton")
    except PackageNotFoundError:
        pass
    if find_spec("triton") is None:
        return None
    # A build that was put on the path by hand has no record of its version but its own.
    return str(import_module("triton").__version__)
