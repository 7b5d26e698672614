"""NVRTC in a process of its own: requests come as lines of JSON on standard input, one reply goes out for each. The
argument is the number of the process that asks.

This is run as a script, without fencepost: it has to start quickly, and nothing else may go wrong in it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

LOOK = 0.5
"""Seconds between two looks whether the parent is there."""


class Failure(Exception):
    """The compiler library refused a call."""


def main() -> None:
    """Answer requests until there are no more."""
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    # What the library prints by itself must not get between replies.
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    libraries: dict[str, ctypes.CDLL] = {}
    for line in sys.stdin:
        request = json.loads(line)
        began = time.process_time()
        reply = _reply(libraries, request)
        json.dump(reply | {"seconds": time.process_time() - began}, replies)
        replies.write("\n")
        replies.flush()


def _end_with(parent: int) -> None:
    """End when whoever asks is gone: nobody wants the answer then, and a compilation can take minutes.

    The signal that Linux sends comes when the thread has ended that started this process, which others still use."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def _reply(libraries: dict[str, ctypes.CDLL], request: dict[str, Any]) -> dict[str, Any]:
    path = request["library"]
    if path not in libraries:
        try:
            libraries[path] = ctypes.CDLL(path)
        except OSError as error:
            return {"unloadable": str(error)}
        libraries[path].nvrtcGetErrorString.restype = ctypes.c_char_p
    try:
        ptx, log = _compile(libraries[path], request)
    except Failure as error:
        return {"failure": str(error)}
    return {"ptx": ptx, "log": log}


def _compile(library: ctypes.CDLL, request: dict[str, Any]) -> tuple[str | None, str]:
    """The PTX, or None, and what the compiler said."""
    os.chdir(request["folder"])
    headers: dict[str, str] = request["headers"]
    program = ctypes.c_void_p()
    created = library.nvrtcCreateProgram(
        ctypes.byref(program),
        request["text"].encode(),
        request["name"].encode(),
        len(headers),
        _strings(list(headers.values())),
        _strings(list(headers)),
    )
    _expect(library, created)
    try:
        for each in request["instances"]:
            _expect(library, library.nvrtcAddNameExpression(program, each.encode()))
        options = request["options"]
        compiled = library.nvrtcCompileProgram(program, len(options), _strings(options))
        log = _text(library, program, "ProgramLog")
        if compiled == 0:
            return _text(library, program, "PTX"), log
        return None, log or library.nvrtcGetErrorString(compiled).decode()
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _strings(texts: Sequence[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(texts))(*(each.encode() for each in texts))


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    """One of the texts that a program has; its size counts the zero at the end."""
    size = ctypes.c_size_t()
    _expect(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _expect(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode("utf-8", "replace")


def _expect(library: ctypes.CDLL, result: int) -> None:
    if result != 0:
        raise Failure(library.nvrtcGetErrorString(result).decode())


if __name__ == "__main__":
    main()
