"""Parses modules with Triton in a process of its own; `parsing_process` runs this file as a script.

Triton's parser ends its process on some mistakes. So each module is parsed in a child of this
process, and a child that dies costs nothing but itself. What it died of is then found by giving
other children shorter and shorter beginnings of the text: the shortest one that still kills its
child ends where the trouble is.

One JSON object in (`texts`, and `blanks`, the same texts without locations; `folder`, which the caller clears away;
`seconds` and `bytes`, what one parse may take of the processor and of memory), one out for each text. This file uses
nothing else of fencepost: that would double the time to start.

A module is untrusted: a few lines of aliases can stand for a type that fills any memory. Each child has limits of its
own for time and memory, and dies with its parent.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import signal
import sys
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

# Only blocks of the module itself begin at the first column.
_EXTRA_BLOCK = re.compile(r"\n\^[^\n]*(?=\n\}\))")
# A place where the text can be cut: behind a word, a string or a sign.
_PIECE = re.compile(r'"[^"\n]*"|[\w.$#%@!^-]+|[^\w\s]')
# How Python, C++ and LLVM say that there is no memory left.
_NO_MEMORY = re.compile(r"MemoryError|bad_alloc|out of memory|[Aa]llocation failed")
# PR_SET_PDEATHSIG, of prctl(2).
_DEATH_SIGNAL = 1


@dataclass(frozen=True)
class Limits:
    """What one parse may take."""

    seconds: int
    bytes: int

    def set(self) -> None:
        """From here on, for this process."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds + 1))
        # Triton's libraries are mapped already, and large.
        mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + self.bytes, mapped + self.bytes))


def print_generic(module: Any, context: Any) -> str:
    """A live module in MLIR's generic form, with locations; empty if Triton printed something else.

    The bindings have no switch for that form. But MLIR's printer checks a module first and falls back
    to the generic form if it is not valid. So the module is made invalid for a moment, by a second,
    empty block in its region; that is noticed before anything else is checked, and taking the block
    away leaves the module exactly as it was. In the text the block is one line, which is dropped.
    """
    ir = import_module("triton._C.libtriton").ir
    extra = ir.builder(context).create_block_with_parent(module.get_region(0), [])
    try:
        text = str(module.str())
    finally:
        extra.erase()
    text, dropped = _EXTRA_BLOCK.subn("", text)
    return text if dropped == 1 and '"builtin.module"() (' in text else ""


def main() -> None:
    """Answer the request on standard input."""
    die_with_parent()
    request = json.load(sys.stdin)
    # Whatever others print goes to standard error: the answers must stay alone.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # Loaded once, here, so that children have it already.
    import_module("triton._C.libtriton")
    limits = Limits(request["seconds"], request["bytes"])
    for text, blank in zip(request["texts"], request["blanks"], strict=True):
        print(json.dumps(_answer(Path(request["folder"]), text, blank, limits)), file=answers, flush=True)


def die_with_parent() -> None:
    """A caller that is killed leaves nobody behind; where there is no such call, a limit on time has to do."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _answer(folder: Path, text: str, blank: str, limits: Limits) -> dict[str, Any]:
    """What came of a module: its forms and those without locations, or what Triton said about it."""
    answer = _parse(folder, text, limits)
    if answer["beyond"]:
        return answer
    if answer["signal"]:
        answer["offset"] = _fatal_offset(folder, text, limits)
        return answer
    # Once more without locations: operations and mistakes are then located in the file itself.
    again = _parse(folder, blank, limits)
    answer["blank"] = again.get("generic")
    answer["said_of_blank"] = "" if again["signal"] else again["said"]
    return answer


def _parse(folder: Path, text: str, limits: Limits) -> dict[str, Any]:
    """Parse and print in a child."""
    path, printed, said = folder / "module.mlir", folder / "printed", folder / "said"
    path.write_text(text, encoding="utf-8")
    printed.write_text("", encoding="utf-8")
    child = os.fork()
    if not child:
        _parse_and_exit(path, printed, said, limits)
    status = os.waitpid(child, 0)[1]
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    words = said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""
    answer = {"path": str(path), "signal": number, "said": words, "beyond": ""}
    if number == signal.SIGXCPU:
        answer["beyond"] = "time"
    elif status and _NO_MEMORY.search(words):
        answer["beyond"] = "memory"
    if status == 0:
        answer |= json.loads(printed.read_text(encoding="utf-8"))
    return answer


def _parse_and_exit(path: Path, printed: Path, said: Path, limits: Limits) -> None:
    """The child's part; it leaves without the cleaning up that belongs to its parent."""
    try:
        die_with_parent()
        limits.set()
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        libtriton = import_module("triton._C.libtriton")
        context = libtriton.ir.context()
        libtriton.ir.load_dialects(context)
        for backend in ("amd", "nvidia", "proton"):
            getattr(getattr(libtriton, backend, None), "load_dialects", lambda _: None)(context)
        try:
            module = libtriton.ir.parse_mlir_module(str(path), context)
        except RuntimeError:
            os._exit(1)
        forms = {"custom": module.str()}
        # Old releases cannot leave locations out.
        forms["custom_blank"] = module.str_nodebug() if hasattr(module, "str_nodebug") else ""
        forms["generic"] = print_generic(module, context)
        printed.write_text(json.dumps(forms), encoding="utf-8")
        os._exit(0)
    except BaseException:
        # What nobody foresaw is reported like everything else that Triton says.
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(2)


def _fatal_offset(folder: Path, text: str, limits: Limits) -> int | None:
    """Where the first piece of the text begins that kills a child; None if it takes all of them."""
    cuts = [match.span() for match in _PIECE.finditer(text)]
    low, high = 0, len(cuts) - 1
    while low < high:
        middle = (low + high) // 2
        if _parse(folder, text[: cuts[middle][1]], limits)["signal"]:
            high = middle
        else:
            low = middle + 1
    return cuts[low][0] if low < len(cuts) - 1 else None


if __name__ == "__main__":
    main()
