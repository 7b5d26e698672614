"""CUDA and PTX on the command line: the options. Nothing of the host is loaded for them."""

from __future__ import annotations

import argparse
import re

from fencepost.ir.source import FencepostError

FOR_CUDA = ("block", "cluster", "param", "kernel", "define", "include", "as_compiled", "distinct_pointers")
"""Options that say something about CUDA and PTX alone."""


def add_ptx_arguments(
    parser: argparse.ArgumentParser, *, pointers: bool = False, builds: bool = False, kernel: bool = True
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
        "--cluster",
        type=_cluster,
        metavar="N",
        help="blocks of a cluster, as 2 or 2x4 (default: what the kernel says, or its launches)",
    )
    group.add_argument(
        "--param",
        type=_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a kernel's integer parameter, by its name or number (default: any value)",
    )
    if kernel:
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
    from fencepost.hosts.ptx.launch import MOST_THREADS

    return _sizes(text, "block", ("256, 32x8 or 8x8x4", "threads", MOST_THREADS))


def _cluster(text: str) -> tuple[int, int, int]:
    from fencepost.hosts.ptx.launch import MOST_BLOCKS

    return _sizes(text, "cluster", ("2, 2x4 or 2x2x2", "blocks", MOST_BLOCKS))


def _sizes(text: str, what: str, of: tuple[str, str, int]) -> tuple[int, int, int]:
    """Up to three sizes with an `x` between them."""
    examples, parts, most = of
    if re.fullmatch(r"[1-9]\d*([x,][1-9]\d*){0,2}", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a {what}: write {examples}")
    x, y, z = [*map(int, re.split("[x,]", text)), 1, 1][:3]
    if x * y * z > most:
        begin = "" if text.isdigit() else f"{text}: "
        raise argparse.ArgumentTypeError(f"{begin}{x * y * z} {parts}, and a {what} has at most {most}")
    return x, y, z


def _value(text: str) -> tuple[str, int]:
    name, sign, value = text.partition("=")
    try:
        return name.strip(), int(value, 0)
    except ValueError:
        what = "no whole number" if sign else "no value"
        raise argparse.ArgumentTypeError(f"{text!r} has {what}: write NAME=VALUE") from None


def refuse_unknown_target(name: str) -> None:
    """A mistyped name, before anything is judged; CUDA is compiled for more GPUs than are known here (`sm_90a`)."""
    from fencepost.targets import target_named

    if re.fullmatch(r"sm_\d+[af]?", name) is None:
        target_named(name)


def refuse_cuda_options(options: argparse.Namespace, taken: tuple[str, ...] = ()) -> None:
    """Options for CUDA, given with another file: they would do nothing, except those that are `taken` there, too."""
    given = [name for name in FOR_CUDA if getattr(options, name, None) and name not in taken]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        are = "is an option" if len(given) == 1 else "are options"
        raise FencepostError(
            f"{flags} {are} for CUDA and PTX, and this file is neither",
            code="FP105",
            notes=[("help", "in text form, `waves=` says how many waves run a kernel")]
            if "block" in given
            else [],
        )
