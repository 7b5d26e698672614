"""Reading kernels from files and writing results, so that a failed run never harms a file."""

from __future__ import annotations

import argparse
import os
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from pathlib import Path

from fencepost.did_you_mean import close
from fencepost.hosts.kernel_files import (
    Kernels,
    is_cuda,
    is_ptx,
    is_thread_level,
    is_triton,
    read_triton,
)
from fencepost.ir.parser import parse_all
from fencepost.ir.source import FencepostError, Mark, Source, Span
from fencepost.phases import begin_phase

STDIN = "-"
BOM = "\ufeff"
"""The byte order mark: in UTF-8 it says nothing, and stays where it was."""
BODY = re.compile(r"[ \t]*(kernel|func)[ \t]+(@[\w.]+)")
"""How kernels and functions begin."""
MOST_NAMES = 8
OTHER = "latin-1"
"""How CUDA is read that is not UTF-8: a character for each byte, whatever comments say in which language, and written
back byte by byte."""
FIRST_BYTES = 8_192
"""Where a binary file shows that it is one."""
READ = [
    (
        "help",
        "kernels in text form (.fp), Triton modules (.ttgir, .ttir, .mlir), CUDA (.cu) and PTX (.ptx) are read",
    )
]
ANY_FILE_HELP = (
    "a kernel in text form (.fp), a Triton module (.ttgir, .ttir, .mlir), CUDA (.cu) or PTX (.ptx), or - for "
    "standard input"
)
TEXT_KERNEL = "a kernel is `kernel @name waves=4 {` ... `}`; `fencepost demo` shows some"
PYTHON = (
    "run it: `fencepost.check(k.trace)` in it checks a kernel that it builds, `fencepost.hosts.triton.install("
    '"audit")` (or `.wave`) the kernels that it compiles'
)
TAKE_CUDA = "check, explain, prune, insert, fix, view and audit take CUDA and PTX"


def read_kernels(name: str, *, compiled: bool = False) -> Kernels:
    """The kernels in a file, or on standard input if it is called `-`.

    With `compiled`, a Triton module is taken as it gets compiled, with membar's barriers, if it has none yet.
    """
    return kernels_of(name, read_source(name), compiled=compiled)


def read_source(name: str) -> Source:
    """The text of a file, or of standard input if it is called `-`."""
    shown = "<stdin>" if name == STDIN else name
    begin_phase("parsing")
    source = Source(shown, _decoded(_bytes(name), shown))
    if Path(name).suffix == ".py":
        raise FencepostError(
            "this is Python, which is not read", code="FP112", source=source, notes=[("help", PYTHON)]
        )
    return source


def kernels_of(name: str, source: Source, *, compiled: bool = False) -> Kernels:
    """The kernels in a text that was read from the file `name`."""
    if is_triton(name, source.text):
        return _not_empty(read_triton(source, compiled=compiled), source.name, "a kernel is a `tt.func`")
    if is_ptx(name, source.text) or is_cuda(name, source.text):
        raise FencepostError(
            "this command does not take CUDA or PTX",
            code="FP112",
            source=source,
            notes=[("help", TAKE_CUDA)],
        )
    try:
        return _not_empty(Kernels(parse_all(source.text, source.name)), source.name)
    except FencepostError as error:
        error.notes = (*error.notes, *_others_not_read(source.text, error))
        raise


def _others_not_read(text: str, error: FencepostError) -> list[tuple[str, str]]:
    """That a mistake in one kernel of a file keeps the others from being read as well."""
    wrong = next((mark.span.line for mark in error.marks if mark.span is not None), 0)
    bodies = ((number, BODY.match(line)) for number, line in enumerate(text.split("\n"), 1))
    begins = [(number, body[1], body[2]) for number, body in bodies if body is not None]
    inside = max((begin for begin in begins if begin[0] <= wrong), default=None)
    known = dict.fromkeys(name for _, kind, name in begins if kind == "kernel")
    others = [name for name in known if inside is None or name != inside[2]]
    if not wrong or not others:
        return []
    names = ", ".join(others[:MOST_NAMES])
    return [
        ("note", f"{names} in the same file {'was' if len(others) == 1 else 'were'} not looked at either")
    ]


def _not_empty(kernels: Kernels, shown: str, what: str = TEXT_KERNEL) -> Kernels:
    if not kernels.traces:
        raise FencepostError(
            "there is no kernel in this file",
            code="FP102",
            source=Source(shown, ""),
            notes=[("help", what)],
        )
    return kernels


def _bytes(name: str) -> bytes:
    if not name:
        raise FencepostError("the name of a file is empty", code="FP112")
    if name == STDIN and sys.stdin is None:
        raise FencepostError("cannot read standard input: it is closed", code="FP112")
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except FileNotFoundError as error:
        notes = [("help", f"did you mean `{Path(name).parent / each}`?") for each in _meant(Path(name))]
        if Path(name).is_symlink():
            notes = [("note", f"it is a link to {Path(name).readlink()}")]
        raise FencepostError(f"cannot read {name}: {error.strerror}", code="FP112", notes=notes) from None
    except IsADirectoryError as error:
        notes = [("help", "this takes a file; check, explain, fix and audit take folders")]
        raise FencepostError(f"cannot read {name}: {error.strerror}", code="FP112", notes=notes) from None
    except OSError as error:
        raise FencepostError(f"cannot read {name}: {error.strerror}", code="FP112") from None
    except ValueError as error:
        raise FencepostError(f"cannot read {name!r}: {error}", code="FP112") from None


def _meant(path: Path) -> list[str]:
    """The file beside one that is not there with nearly its name: a common ending makes no names alike."""
    beside = _beside(str(path))
    same = {Path(each).stem: each for each in beside if Path(each).suffix == path.suffix}
    stems = [same[stem] for stem in close(path.stem, same)]
    return stems or close(path.name, [each for each in beside if Path(each).suffix != path.suffix])


def _beside(name: str) -> list[str]:
    """What there is in the folder that a file would be in."""
    try:
        return [each.name for each in Path(name).parent.iterdir()]
    except OSError:
        return []


def _decoded(raw: bytes, shown: str) -> str:
    try:
        # Some editors put a byte order mark in front; it says nothing.
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        in_utf_16 = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        if b"\0" in raw[:FIRST_BYTES] and not in_utf_16:
            raise FencepostError(f"{shown} is a binary file, not text", code="FP112", notes=READ) from None
        other = raw.decode(OTHER)
        if not in_utf_16 and is_thread_level(shown, other):
            return other
        before = raw[: error.start].decode("utf-8", "replace").removeprefix("\ufeff")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise FencepostError(
            f"not UTF-8 text: byte 0x{raw[error.start]:02x}",
            [Mark(Span(line, column, line, column + 1))],
            code="FP112",
            source=Source(shown, raw.decode("utf-8", "replace").removeprefix("\ufeff")),
            notes=[("help", f"this is UTF-16: `iconv -f UTF-16 -t UTF-8 {shown}`")] if in_utf_16 else (),
        ) from None


def encoding_of(path: str) -> str:
    """How the text of a file is encoded: as UTF-8, or one byte for each character."""
    try:
        _bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        return OTHER
    return "utf-8"


def write_text(path: str, text: str, encoding: str = "utf-8") -> None:
    """Replace a file in one step: whoever looks sees the old text or the new one, never a part."""
    begin_phase(f"writing {path}")
    write_bytes(path, text.encode(encoding))


def write_back(path: str, text: str) -> None:
    """Replace the text of a file that it was read from, with the byte order mark and the line ends that it has."""
    before = _bytes(path)
    if before.count(b"\n") and before.count(b"\n") == before.count(b"\r\n"):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    write_text(path, (BOM if begins_with_bom(path) else "") + text, encoding_of(path))


def begins_with_bom(path: str) -> bool:
    """Whether a file begins with a byte order mark, as some editors write it."""
    return _bytes(path).startswith(BOM.encode())


def write_bytes(path: str, content: bytes) -> None:
    """The same for what is no text."""
    if Path(path).exists() and not Path(path).is_file():
        _write_through(path, content)
        return
    # What a link points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    # Named before it is there: whatever happens from here on, it can be taken away.
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
    try:
        with temporary.open("xb") as out:
            out.write(content)
        if target.exists():
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FencepostError(f"cannot write {path}: {error.strerror}", code="FP112") from None
        raise


def _write_through(path: str, content: bytes) -> None:
    """Write to a terminal, a pipe or /dev/null: putting a file in its place would not do."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise FencepostError(f"cannot write {path}: {error.strerror}", code="FP112") from None


def put_kernels(options: argparse.Namespace, kernels: Kernels) -> None:
    """Print the kernels or write them where the user said."""
    put_text(options, kernels.text())


def put_text(options: argparse.Namespace, text: str) -> None:
    """Print a changed file or write it where the user said."""
    if options.write and options.file == STDIN:
        raise FencepostError("-w needs a file to write back to, not standard input", code="FP112")
    if options.output:
        write_text(options.output, text, "utf-8" if options.file == STDIN else encoding_of(options.file))
    elif options.write:
        write_back(options.file, text)
    elif not options.json:
        sys.stdout.write(text)
