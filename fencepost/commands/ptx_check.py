"""The verdicts of `check` on CUDA and PTX."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from fencepost.commands.ptx_files import PtxFile, compilation, read_ptx_file, unread
from fencepost.hosts.ptx.judged import JudgedPtx
from fencepost.hosts.ptx.module import PtxError
from fencepost.hosts.ptx.unoptimized import Builds, builds_of
from fencepost.ir.source import FencepostError, Source
from fencepost.phases import begin_phase


def ptx_judgements(
    name: str, source: Source, options: argparse.Namespace
) -> Iterator[JudgedPtx | FencepostError]:
    """The kernels of a CUDA or PTX file, each with its verdict, or why it could not be judged."""
    from fencepost.hosts.ptx.kernel_names import plain_name

    file = read_ptx_file(name, source, options)
    builds = _builds(file, options)
    for kernel in file.kernels:
        begin_phase(f"checking {plain_name(kernel)}")
        try:
            launch = file.launch(kernel)
            found = builds.judge(kernel, launch.block, launch.params or {})
        except PtxError as error:
            yield unread(error, file.ptx)
            return
        except FencepostError as error:
            error.source = error.source or source
            yield error
            continue
        yield from map(file.judged, found)


def _builds(file: PtxFile, options: argparse.Namespace) -> Builds:
    """The builds that are judged: CUDA is also judged in the order of its source."""
    if file.cuda is None or options.as_compiled:
        return Builds(file.ptx)
    begin_phase("compiling with NVRTC, without optimization")
    return builds_of(file.ptx, file.cuda, compilation(options))
