"""`fencepost view`: a kernel as a page, a picture, or a trace for Perfetto."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.check import Check
from fencepost.commands.arguments import (
    add_as_is_argument,
    add_ptx_arguments,
    add_target_argument,
    refuse_cuda_options,
)
from fencepost.commands.files import ANY_FILE_HELP, STDIN, kernels_of, read_source, write_bytes, write_text
from fencepost.commands.output import print_json, say
from fencepost.commands.paths import is_there
from fencepost.did_you_mean import did_you_mean
from fencepost.hosts.kernel_files import is_thread_level
from fencepost.ir.source import FencepostError, Source
from fencepost.option_fields import add_options
from fencepost.phases import begin_file

if TYPE_CHECKING:
    from fencepost.hosts.kernel_files import Kernels
    from fencepost.view.page_data import Page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("file", metavar="FILE", help=ANY_FILE_HELP)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="what to write, by its ending: .html (a page), .svg or .png (a picture), .json (a trace for Perfetto) "
        "(default: the name of FILE with .html, in the current directory)",
    )
    parser.add_argument(
        "-k", "--kernel", metavar="NAME", help="show this kernel of the file alone (default: all of them)"
    )
    add_target_argument(parser)
    add_options(parser, Check, only=("unfilled",))
    add_as_is_argument(parser)
    add_ptx_arguments(parser, builds=True, kernel=False)


def run(options: argparse.Namespace) -> int:
    """Write the page; 0 whatever is found in the kernel, for showing that is what was asked for."""
    output = _default_output(options.file) if options.output is None else options.output
    write = None if options.json else _writer(output)
    if options.file != STDIN and not options.json:
        _refuse_overwriting(options.file, output)
    begin_file(options.file, 1, 1)
    source = read_source(options.file)
    if is_thread_level(options.file, source.text):
        return _run_ptx(source, options, output)
    refuse_cuda_options(options, ("kernel",))
    kernels = kernels_of(options.file, source, compiled=not options.as_is)
    chosen = _chosen(kernels, options.kernel)
    target = kernels.target(options.target)
    check = Check(unfilled=options.unfilled)
    if write is None:
        from fencepost.view.kernel_page import page_of
        from fencepost.view.page_data import as_json

        print_json(as_json(page_of(chosen.to_check(), target, options=check)))
        return 0
    write(chosen, target, output, check)
    if kernels.judged:
        say(f"{options.file}: {kernels.judged}")
    sys.stdout.write(f"{output}\n")
    return 0


def _run_ptx(source: Source, options: argparse.Namespace, output: str) -> int:
    """A page or a picture of a CUDA or PTX file."""
    from fencepost.commands.ptx_files import read_ptx_file
    from fencepost.commands.ptx_view import ptx_page
    from fencepost.view.page_data import as_json

    ending = Path(output).suffix.lower()
    if ending == ".json" and not options.json:
        raise FencepostError(
            "there is no trace of kernels in CUDA and PTX: their runs are not timed",
            code="FP112",
            notes=[("help", "a page (.html) or a picture (.svg, .png) shows what was found")],
        )
    page = ptx_page(read_ptx_file(options.file, source, options))
    if options.json:
        print_json(as_json(page))
        return 0
    if ending in (".html", ".htm"):
        from fencepost.view.html_page import html_page

        write_text(output, html_page(page))
    else:
        _write_picture(page, output)
    sys.stdout.write(f"{output}\n")
    return 0


def _write_picture(page: Page, output: str) -> None:
    """The one kernel of a page, as it stands."""
    from fencepost.view.svg_picture import svg_picture

    first = [each for each in page.kernels if not each.added]
    _refuse_several([each.name for each in first], output)
    picture = svg_picture(page, first[0])
    if output.lower().endswith(".png"):
        from fencepost.view.png_picture import png_picture

        write_bytes(output, png_picture(picture))
    else:
        write_text(output, picture)


def _default_output(name: str) -> str:
    return "kernel.html" if name in (STDIN, "") else f"{Path(name).stem}.html"


def _refuse_overwriting(name: str, output: str) -> None:
    """A page must not take the place of the kernel that it shows."""
    if is_there(output) and is_there(name) and Path(output).samefile(name):
        raise FencepostError(f"{output} is the kernel itself: nothing was written", code="FP112")


def _chosen(kernels: Kernels, name: str | None) -> Kernels:
    """The kernels to show."""
    from dataclasses import replace

    if name is None:
        return kernels
    wanted = name.removeprefix("@")
    places = [place for place, trace in enumerate(kernels.traces) if trace.name == wanted]
    if not places:
        known = [f"@{trace.name}" for trace in kernels.traces]
        notes = [*did_you_mean(f"@{wanted}", known), ("kernels", ", ".join(known))]
        raise FencepostError(f"there is no kernel @{wanted} in this file", code="FP102", notes=notes)
    return replace(
        kernels,
        traces=[kernels.traces[place] for place in places],
        translations=[kernels.translations[place] for place in places] if kernels.translations else [],
    )


Writer = Callable[["Kernels", str, str, Check], None]


def _writer(output: str) -> Writer:
    """Who writes such a file."""
    writers: dict[str, Writer] = {
        ".html": _write_html,
        ".htm": _write_html,
        ".svg": _write_svg,
        ".png": _write_png,
        ".json": _write_trace,
    }
    found = writers.get(Path(output).suffix.lower())
    if found is None:
        endings = ("endings", ".html (a page), .svg, .png (a picture), .json (a trace for Perfetto)")
        raise FencepostError(
            f"{output}: view cannot tell what to write",
            code="FP112",
            notes=[*did_you_mean(Path(output).suffix, [".html", ".svg", ".png", ".json"]), endings],
        )
    if found is _write_png:
        from fencepost.view.png_picture import require_resvg

        require_resvg()
    return found


def _write_html(kernels: Kernels, target: str, output: str, check: Check) -> None:
    from fencepost.view.html_page import html_page
    from fencepost.view.kernel_page import page_of

    write_text(output, html_page(page_of(kernels.to_check(), target, options=check)))


def _svg(kernels: Kernels, target: str, output: str, check: Check) -> str:
    from fencepost.view.kernel_page import page_of
    from fencepost.view.svg_picture import svg_picture

    page = page_of(_single(kernels, output).to_check(), target, mended=False, options=check)
    return svg_picture(page, page.kernels[0])


def _write_svg(kernels: Kernels, target: str, output: str, check: Check) -> None:
    write_text(output, _svg(kernels, target, output, check))


def _write_png(kernels: Kernels, target: str, output: str, check: Check) -> None:
    from fencepost.view.png_picture import png_picture

    write_bytes(output, png_picture(_svg(kernels, target, output, check)))


def _write_trace(kernels: Kernels, target: str, output: str, check: Check) -> None:
    import json

    from fencepost.view.perfetto_trace import perfetto_trace

    trace = perfetto_trace(kernels.traces, target)
    write_text(output, json.dumps(trace, ensure_ascii=False) + "\n")


def _single(kernels: Kernels, output: str) -> Kernels:
    """The one kernel of a picture."""
    _refuse_several([f"@{trace.name}" for trace in kernels.to_check()], output)
    return kernels


def _refuse_several(names: list[str], output: str) -> None:
    if len(names) > 1:
        raise FencepostError(
            f"{output} shows one kernel, and there are several in the file",
            code="FP102",
            notes=[
                ("kernels", ", ".join(names)),
                ("help", "choose one with --kernel NAME, or write a page (.html) of all"),
            ],
        )
