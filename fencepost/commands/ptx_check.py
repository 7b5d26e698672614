"""`fencepost check` on CUDA and PTX: the options, and the kernels of a file judged one after the other."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fencepost.hosts.kernel_files import is_cuda, is_ptx
from fencepost.hosts.ptx.judged import JudgedPtx
from fencepost.hosts.ptx.module import PtxError
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.phases import begin_phase

MOST_THREADS = 1024
"""What a block can have at most."""


def add_ptx_arguments(parser: argparse.ArgumentParser) -> None:
    """How CUDA is compiled and launched, where the file does not say."""
    group = parser.add_argument_group("CUDA and PTX")
    group.add_argument(
        "--block",
        type=_block,
        metavar="N",
        help="threads of a block, as 256 or 32x8 (default: what the kernel says, or else any number)",
    )
    group.add_argument(
        "--param",
        type=_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a kernel's integer parameter, by its name or number (default: any value)",
    )
    group.add_argument("--kernel", metavar="NAME", help="judge this kernel alone")
    group.add_argument(
        "-D", "--define", action="append", default=[], metavar="NAME[=VALUE]", help="a macro for the compiler"
    )
    group.add_argument(
        "-I", "--include", action="append", default=[], metavar="DIR", help="where the compiler finds headers"
    )


def _block(text: str) -> tuple[int, int, int]:
    if re.fullmatch(r"[1-9]\d*([x,][1-9]\d*){0,2}", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a block: write 256, 32x8 or 8x8x4")
    x, y, z = [*map(int, re.split("[x,]", text)), 1, 1][:3]
    if x * y * z > MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text} is {x * y * z} threads: a block has at most {MOST_THREADS}")
    return x, y, z


def _value(text: str) -> tuple[str, int]:
    name, sign, value = text.partition("=")
    try:
        return name.strip(), int(value, 0)
    except ValueError:
        what = "no whole number" if sign else "no value"
        raise argparse.ArgumentTypeError(f"{text!r} has {what}: write NAME=VALUE") from None


def is_thread_level(name: str, text: str) -> bool:
    """Whether a file is judged thread by thread: CUDA and PTX."""
    return is_ptx(name, text) or is_cuda(name, text)


def ptx_judgements(
    name: str, source: Source, options: argparse.Namespace
) -> Iterator[JudgedPtx | FencepostError]:
    """The kernels of a CUDA or PTX file, each with its verdict, or why it could not be judged."""
    from fencepost.hosts.ptx import check
    from fencepost.hosts.ptx.kernel_names import plain_name
    from fencepost.hosts.ptx.parameters import numbered, parameter_names, parameters_in

    cuda = None if is_ptx(name, source.text) else source
    ptx = source if cuda is None else _compiled(cuda, options)
    launched = _launched(ptx.text if cuda is None else None, cuda) if options.block is None else {}
    for kernel in _wanted(source, ptx, options.kernel):
        begin_phase(f"checking {plain_name(kernel)}")
        names = parameter_names(cuda.text, kernel) if cuda is not None else ()
        try:
            params = numbered(dict(options.param), kernel, names, parameters_in(ptx.text, kernel))
            block = options.block or launched.get(plain_name(kernel).partition("<")[0].rpartition(":")[2])
            found = check(ptx.text, block=block, params=params, kernel=kernel, file=ptx.name)
        except PtxError as error:
            yield _unread(error, ptx)
            return
        except FencepostError as error:
            error.source = error.source or source
            yield error
            continue
        if block is not None and options.block is None:
            found = [
                replace(each, holds_for=f"{each.holds_for}; the block is that of its launch")
                for each in found
            ]
        yield from (JudgedPtx(source.name, each, ptx, cuda, names) for each in found)


def _launched(ptx: str | None, cuda: Source | None) -> dict[str, tuple[int, int, int]]:
    """The blocks of launches in the CUDA file, or in those that the line tables of PTX name."""
    from fencepost.hosts.ptx.launch_sites import launched_blocks

    if cuda is not None:
        return launched_blocks(cuda.text)
    texts = []
    for match in re.finditer(r'^\s*\.file\s+\d+\s+"([^"\n]+\.cuh?)"', ptx or "", re.MULTILINE):
        try:
            texts.append(Path(match[1]).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
    return launched_blocks("\n".join(texts))


def _unread(error: PtxError, ptx: Source) -> FencepostError:
    """PTX that cannot be read, with the line that is to blame."""
    said = str(error).removeprefix(f"{ptx.name}: ")
    match = re.match(r"line (\d+): ", said)
    if match is None:
        return FencepostError(f"this PTX cannot be read: {said}", code="FP432", source=ptx)
    line = int(match[1])
    text = ptx.line(line)
    indent = len(text) - len(text.lstrip())
    span = Span(line, indent + 1, line, max(len(text), indent + 1) + 1)
    return FencepostError(
        f"this PTX cannot be read: {said[match.end() :]}", [Mark(span)], code="FP432", source=ptx
    )


def _compiled(cuda: Source, options: argparse.Namespace) -> Source:
    """The PTX of a CUDA file."""
    from fencepost.hosts.ptx.nvrtc import DEFAULT_ARCHITECTURE, Compilation, compile_cuda

    begin_phase("compiling with NVRTC")
    template = (options.kernel,) if options.kernel and "<" in options.kernel else ()
    how = Compilation(
        options.target or DEFAULT_ARCHITECTURE, tuple(options.define), tuple(options.include), template
    )
    return Source(f"{cuda.name} (PTX)", compile_cuda(cuda, how).ptx)


def _wanted(source: Source, ptx: Source, wanted: str | None) -> list[str]:
    """The kernels to judge; those of a file, or the one that is named."""
    from fencepost.did_you_mean import close
    from fencepost.hosts.ptx.kernel_names import kernels_in, matches, plain_name

    every = kernels_in(ptx.text)
    if not every:
        template = re.search(r"template\s*<[^;{}]*__global__", source.text)
        help_ = "name a kernel of a template with its arguments: --kernel 'reduce<256>'"
        raise FencepostError(
            "there is no kernel in this file",
            code="FP102",
            source=Source(source.name, ""),
            notes=[
                ("help", help_ if template else "a kernel is a function that says __global__ (.entry in PTX)")
            ],
        )
    if wanted is None:
        return list(every)
    found = [each for each in every if matches(each, wanted)]
    if not found:
        names = [plain_name(each) for each in every]
        notes = [("help", f"did you mean `{each}`?") for each in close(wanted, names)]
        raise FencepostError(
            f"there is no kernel {wanted} in {source.name}",
            code="FP104",
            notes=notes or [("help", f"there is {', '.join(names)}")],
        )
    return found
