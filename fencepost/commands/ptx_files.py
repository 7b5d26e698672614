"""CUDA and PTX on the command line: the options, and a file compiled and read."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fencepost.hosts.kernel_files import is_cuda, is_ptx
from fencepost.hosts.ptx.asked_launch import Launch
from fencepost.hosts.ptx.judged import JudgedPtx
from fencepost.hosts.ptx.launch import MOST_THREADS
from fencepost.hosts.ptx.module import PtxError
from fencepost.hosts.ptx.verdicts import KernelVerdict
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.phases import begin_phase

if TYPE_CHECKING:
    from fencepost.hosts.ptx.nvrtc import Compilation

Result = TypeVar("Result")
LINE_TABLE_FILE = re.compile(r'^\s*\.file\s+\d+\s+"([^"\n]+\.cuh?)"', re.MULTILINE)
FOR_CUDA = ("block", "param", "kernel", "define", "include", "as_compiled", "distinct_pointers")
"""Options that say something about CUDA and PTX alone."""


def add_ptx_arguments(
    parser: argparse.ArgumentParser, *, pointers: bool = False, builds: bool = False
) -> None:
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
    group.add_argument("--kernel", metavar="NAME", help="look at this kernel alone")
    group.add_argument(
        "-D", "--define", action="append", default=[], metavar="NAME[=VALUE]", help="a macro for the compiler"
    )
    group.add_argument(
        "-I", "--include", action="append", default=[], metavar="DIR", help="where the compiler finds headers"
    )
    if builds:
        group.add_argument(
            "--as-compiled",
            action="store_true",
            help="judge the optimized code alone, not the order of the source beside it",
        )
    if pointers:
        group.add_argument(
            "--distinct-pointers",
            action="store_true",
            help="parameters point to global memory of their own, as if all were __restrict__",
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


def refuse_cuda_options(options: argparse.Namespace) -> None:
    """Options for CUDA, given with another file: they would do nothing."""
    given = [name for name in FOR_CUDA if getattr(options, name, None)]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise FencepostError(f"{flags}: for CUDA and PTX alone, which this file is not", code="FP112")


@dataclass(frozen=True)
class PtxFile:
    """A CUDA or PTX file: its PTX, and the kernels of it that are wanted."""

    file: str
    """As the user named it."""
    ptx: Source
    cuda: Source | None
    """The CUDA file that the PTX was compiled from here."""
    kernels: tuple[str, ...]
    options: argparse.Namespace

    @property
    def source(self) -> Source:
        """The file as it was read."""
        return self.cuda or self.ptx

    def parameter_names(self, kernel: str) -> tuple[str, ...]:
        """What CUDA calls the parameters of a kernel."""
        from fencepost.hosts.ptx.parameters import parameter_names

        return parameter_names(self.cuda.text, kernel) if self.cuda is not None else ()

    def launch(self, kernel: str) -> Launch:
        """What the user says about the launch of a kernel."""
        from fencepost.hosts.ptx.parameters import numbered, parameters_in

        options, names = self.options, self.parameter_names(kernel)
        params = numbered(dict(options.param), kernel, names, parameters_in(self.ptx.text, kernel))
        distinct = bool(getattr(options, "distinct_pointers", False))
        return Launch(options.block or self._launched(kernel), params, self.ptx.name, distinct)

    def _launched(self, kernel: str) -> tuple[int, int, int] | None:
        """The block that a kernel is launched with, if all its launches name one."""
        from fencepost.hosts.ptx.kernel_names import plain_name

        return self._blocks.get(plain_name(kernel).partition("<")[0].rpartition(":")[2])

    @cached_property
    def _blocks(self) -> dict[str, tuple[int, int, int]]:
        """Blocks of launches, by kernel: in the CUDA file, or in those that the line tables of PTX name."""
        from fencepost.hosts.ptx.launch_sites import launched_blocks

        texts = [self.cuda.text] if self.cuda is not None else []
        for match in LINE_TABLE_FILE.finditer(self.ptx.text if self.cuda is None else ""):
            try:
                texts.append(Path(match[1]).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError):
                continue  # The file is not here; the launch is then not known.
        return launched_blocks("\n".join(texts))

    def judged(self, verdict: KernelVerdict) -> JudgedPtx:
        """A verdict with the texts that messages about it quote."""
        if self.options.block is None and self._launched(verdict.kernel) is not None:
            holds = f"{verdict.holds_for}; the block is that of its launch"
            verdict = replace(verdict, holds_for=holds)
        names = self.parameter_names(verdict.kernel)
        return JudgedPtx(self.source.name, verdict, self.ptx, self.cuda, names)

    def with_ptx(self, text: str) -> PtxFile:
        """The same file with changed PTX; a PTX file is then another text."""
        return replace(self, ptx=Source(self.ptx.name, text))

    def recompiled(self, text: str) -> PtxFile:
        """The CUDA file with another text, compiled as this one was."""
        cuda = Source(self.source.name, text)
        return replace(self, cuda=cuda, ptx=_compiled(cuda, self.options))


def read_ptx_file(name: str, source: Source, options: argparse.Namespace) -> PtxFile:
    """A CUDA or PTX file, compiled and read."""
    cuda = None if is_ptx(name, source.text) else source
    ptx = source if cuda is None else _compiled(cuda, options)
    return PtxFile(name, ptx, cuda, tuple(_wanted(source, ptx, options.kernel)), options)


def located_errors(file: PtxFile, task: Callable[[], Result]) -> Result:
    """Does something with a file; PTX that cannot be read becomes an error that quotes its line."""
    try:
        return task()
    except PtxError as error:
        raise unread(error, file.ptx) from None
    except FencepostError as error:
        error.source = error.source or file.source
        raise


def unread(error: PtxError, ptx: Source) -> FencepostError:
    """PTX that cannot be read, with the line that is to blame."""
    said = str(error).removeprefix(f"{ptx.name}: ")
    match = re.match(r"line (\d+), column (\d+): ", said)
    if match is None:
        return FencepostError(f"this PTX cannot be read: {said}", code="FP432", source=ptx)
    line = int(match[1])
    text = ptx.line(line)
    column = min(int(match[2]), len(text) + 1)
    span = Span(line, column, line, max(len(text), column) + 1)
    return FencepostError(
        f"this PTX cannot be read: {said[match.end() :]}", [Mark(span)], code="FP432", source=ptx
    )


def compilation(options: argparse.Namespace) -> Compilation:
    """How the user wants CUDA to be compiled."""
    from fencepost.hosts.ptx.nvrtc import DEFAULT_ARCHITECTURE, Compilation

    template = (options.kernel,) if options.kernel and "<" in options.kernel else ()
    return Compilation(
        options.target or DEFAULT_ARCHITECTURE, tuple(options.define), tuple(options.include), template
    )


def _compiled(cuda: Source, options: argparse.Namespace) -> Source:
    """The PTX of a CUDA file."""
    from fencepost.hosts.ptx.nvrtc import compile_cuda

    begin_phase("compiling with NVRTC")
    return Source(f"{cuda.name} (PTX)", compile_cuda(cuda, compilation(options)).ptx)


def _wanted(source: Source, ptx: Source, wanted: str | None) -> list[str]:
    """The kernels to look at; those of a file, or the one that is named."""
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
