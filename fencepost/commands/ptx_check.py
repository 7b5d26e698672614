"""`fencepost check` on CUDA and PTX: the kernels of a file judged one after the other."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fencepost.commands.ptx_files import read_ptx_file
from fencepost.hosts.ptx.files import judgements
from fencepost.hosts.ptx.judged_kernel import JudgedPtx
from fencepost.ir.source import FencepostError, Source


def ptx_judgements(
    name: str, source: Source, options: argparse.Namespace
) -> Iterator[JudgedPtx | FencepostError]:
    """The kernels of a CUDA or PTX file, each with its verdict, or why it could not be judged."""
    yield from judgements(read_ptx_file(name, source, options))
