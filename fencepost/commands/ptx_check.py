"""`fencepost check` on CUDA and PTX: the kernels of a file judged one after the other."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fencepost.commands.ptx_files import read_ptx_file, unread
from fencepost.hosts.ptx.judged import JudgedPtx
from fencepost.hosts.ptx.module import PtxError
from fencepost.ir.source import FencepostError, Source
from fencepost.phases import begin_phase


def ptx_judgements(
    name: str, source: Source, options: argparse.Namespace
) -> Iterator[JudgedPtx | FencepostError]:
    """The kernels of a CUDA or PTX file, each with its verdict, or why it could not be judged."""
    from fencepost.hosts.ptx.kernel_names import plain_name

    file = read_ptx_file(name, source, options)
    for kernel in file.kernels:
        begin_phase(f"checking {plain_name(kernel)}")
        try:
            yield file.judged(file.launch(kernel).judge(file.ptx.text, kernel))
        except PtxError as error:
            yield unread(error, file.ptx)
            return
        except FencepostError as error:
            error.source = error.source or source
            yield error
