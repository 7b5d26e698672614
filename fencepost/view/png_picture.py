"""A picture as PNG, drawn by resvg: the optional extra `fencepost[png]`."""

from __future__ import annotations

from fencepost.ir.source import FencepostError

ZOOM = 2
"""Dots for each unit of the picture: sharp on screens of today."""


def require_resvg() -> None:
    """An error that says what to do if resvg is not installed."""
    from importlib.util import find_spec

    if find_spec("resvg_py") is None:
        raise FencepostError(
            "a .png needs resvg_py, which is not installed",
            code="FP114",
            notes=[
                ("help", 'write .svg, or pip install "fencepost[png]"; in a clone: pip install -e ".[png]"'),
            ],
        )


def png_picture(svg: str) -> bytes:
    """The picture as the bytes of a PNG file."""
    require_resvg()
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=ZOOM))
