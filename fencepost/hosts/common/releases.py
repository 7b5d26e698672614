"""Which releases of a compiler are accepted: by their first two numbers."""

from __future__ import annotations

from collections.abc import Collection


def is_accepted(version: str, accepted: Collection[str]) -> bool:
    """Whether a release is; corrections (3.9.1) and local builds (3.9.0+git) go with it."""
    return ".".join(version.split("+")[0].split(".")[:2]) in accepted
