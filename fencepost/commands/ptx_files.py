"""A CUDA or PTX file, read as the options of a command say."""

from __future__ import annotations

import argparse

from fencepost.hosts.ptx.files import PtxFile, UserOptions, read_file
from fencepost.ir.source import Source


def read_ptx_file(name: str, source: Source, options: argparse.Namespace) -> PtxFile:
    """A CUDA or PTX file, as the options of a command say."""
    asked = UserOptions(
        options.block,
        dict(options.param),
        options.kernel,
        tuple(options.define),
        tuple(options.include),
        options.target or "",
        bool(getattr(options, "distinct_pointers", False)),
        bool(getattr(options, "as_compiled", False)),
        options.cluster,
        options.warp_synchronous,
    )
    return read_file(name, source, asked)
