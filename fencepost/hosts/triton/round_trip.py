"""Modules that a release does not read back as it has printed them: nothing is put into those.

The parser of Triton 3.3 takes every view for one of an allocation with the view's own shape. Of a slot of a ring that
is all there is to say; for a part of a tile, addresses would be wrong.
"""

from __future__ import annotations

import re
from typing import Any

from fencepost.hosts.triton.generic import parse_live
from fencepost.hosts.triton.parsing_worker import print_generic
from fencepost.hosts.triton.releases import installed_release
from fencepost.ir.source import FencepostError

# A view, with the shape of the allocation that it is cut from.
_CUT = re.compile(r"(!ttg\.memdesc<(\d+(?:x\d+)*)x[\w!.]+, #[\w.]+, #[\w.]+(?:, mutable)?), \d+(?:x\d+)*>")


def refuse_not_read_back(text: str, context: Any) -> None:
    """Refuse a module (FP410) that becomes another one when it is printed and read."""
    release = installed_release()
    if release.reads_back:
        return
    again = print_generic(parse_live(text, context), context)
    printed = _without_idle_shapes(text).split("\n")
    if again.split("\n") != printed:
        raise FencepostError(
            f"Triton {release.name} does not read this module back as it prints it: parts of tiles lose their place",
            code="FP410",
        )


def _without_idle_shapes(text: str) -> str:
    """A text without the shapes of allocations whose last dimensions are those of the view."""
    return re.sub(_CUT, _idle_left_out, text)


def _idle_left_out(view: re.Match[str]) -> str:
    rest = view[0][len(view[1]) :]
    dims, allocated = view[2].split("x"), rest.strip(", >").split("x")
    return f"{view[1]}>" if allocated[-len(dims) :] == dims else view[0]
