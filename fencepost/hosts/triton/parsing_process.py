"""Modules handed to Triton's parser in another process, and what came back, said in our words.

A mistake in a module is located where it stands in the user's text. Triton itself points at the
Python source that an operation came from if the module has locations; then its second reading, of
the text without locations, tells the place.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.hosts.triton.mlir.scan import span_of
from fencepost.hosts.triton.strip_locations import without_locations
from fencepost.hosts.triton.unparsable_layouts import Repaired, repaired
from fencepost.hosts.triton.versions import require_triton
from fencepost.hosts.triton.worker_process import ask_worker
from fencepost.ir.source import FencepostError, Mark, Source, Span

WORKER = Path(__file__).with_name("parsing_worker.py")
SECONDS_PER_PARSE = 60
"""Of the processor; a module is parsed twice."""
BYTES_PER_PARSE = 2 << 30
_ERROR = re.compile(r"^(?P<where>.*?): error: (?P<message>.*)$", re.MULTILINE)
_WORD = re.compile(r'"[^"\n]*"|[\w.$#%@!^-]+|[^\s]')


@dataclass(frozen=True, slots=True)
class Parsed:
    """One module as Triton understood it."""

    source: Source
    repaired: Repaired
    path: str
    """The file that Triton saw; locations that it made up itself name it."""
    generic: str
    blank: str | None
    """Generic form of the module without its locations: every operation says where it stood in the text."""
    custom: str
    custom_blank: str


def parse_texts(sources: Sequence[Source]) -> list[Parsed]:
    """Each module, parsed by Triton in another process; the first one that it does not take is an error."""
    require_triton()
    texts = [repaired(source.text) for source in sources]
    replies = _ask([text.text for text in texts])
    for index, source in enumerate(sources):
        if index >= len(replies):
            raise FencepostError("the process that parses modules ended early", code="FP403", source=source)
        _refuse(source, texts[index], replies[index])
    return [_parsed(*each) for each in zip(sources, texts, replies, strict=True)]


def _ask(texts: list[str]) -> list[dict[str, Any]]:
    request: dict[str, Any] = {
        "texts": texts,
        "blanks": [without_locations(text) for text in texts],
        "seconds": SECONDS_PER_PARSE,
        "bytes": BYTES_PER_PARSE,
    }
    limit = _longest(len(texts))
    try:
        reply = ask_worker(WORKER, request, limit)
    except TimeoutError:
        raise FencepostError(f"Triton's parser did not finish within {limit:g} s", code="FP403") from None
    if reply.code and not reply.out:
        last = reply.err.strip().rpartition("\n")[2]
        raise FencepostError(f"the process that parses modules failed: {last}", code="FP403")
    return [json.loads(line) for line in reply.out.splitlines()]


def _longest(modules: int) -> float:
    """Seconds after which the other process hangs: more than it takes to start, and to reach every limit."""
    return 60 + 3 * SECONDS_PER_PARSE * modules


def _parsed(source: Source, text: Repaired, reply: dict[str, Any]) -> Parsed:
    forms = (reply[form] for form in ("path", "generic", "blank", "custom", "custom_blank"))
    return Parsed(source, text, *forms)


def _refuse(source: Source, text: Repaired, reply: dict[str, Any]) -> None:
    """Raise what a reply says, if it says anything bad."""
    if reply["beyond"]:
        limit = f"{SECONDS_PER_PARSE} s" if reply["beyond"] == "time" else f"{BYTES_PER_PARSE >> 20} MiB"
        raise FencepostError(
            f"Triton's parser needs more than {limit} of {reply['beyond']} for this module",
            code="FP403",
            source=source,
            notes=[("note", "the parser runs in a process of its own, so nothing else was harmed")],
        )
    if number := reply["signal"]:
        offset = reply["offset"]
        span = None if offset is None else _at_offset(source, text, offset)
        reason = _message(reply["said"])
        name = signal.Signals(number).name
        raise FencepostError(
            f"Triton's parser crashed on this module ({name})" + (f": {reason}" if reason else ""),
            [Mark(span, "it reads up to here")],
            code="FP403",
            source=source,
            notes=[("note", "the parser runs in a process of its own, so nothing else was harmed")],
        )
    if not reply.get("generic"):
        said = reply.get("said_of_blank") or reply["said"]
        span = _place(source, text, reply["path"], said) or _place(source, text, reply["path"], reply["said"])
        message = f"Triton cannot read this module: {_message(reply['said']) or 'it does not say why'}"
        raise FencepostError(message, [Mark(span)], code="FP402", source=source)


def _message(said: str) -> str:
    """The first error that Triton reports; its last words if it reports none."""
    match = _ERROR.search(said)
    return match["message"].strip() if match else said.strip().rpartition("\n")[2]


def _place(source: Source, text: Repaired, path: str, said: str) -> Span | None:
    """Where the first error that is located in the module's own file stands."""
    for match in _ERROR.finditer(said):
        place = re.search(rf"{re.escape(path)}\"?:(\d+):(\d+)", match["where"])
        if place:
            line, column = int(place[1]), int(place[2])
            return _at_offset(source, text, offset_of(text.text, line, column))
    return None


def _at_offset(source: Source, text: Repaired, offset: int) -> Span:
    start = text.original_offset(offset)
    # Inside of layouts Triton points at the space before the word that it means.
    start += len(source.text[start:]) - len(source.text[start:].lstrip(" "))
    word = _WORD.match(source.text, start)
    return span_of(source.text, start, word.end() if word else start + 1)


def offset_of(text: str, line: int, column: int) -> int:
    """The offset of a place as MLIR gives it: lines from 1, columns from 1 and in bytes."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = text.find("\n", start)
    row = text[start : len(text) if end < 0 else end]
    return start + len(row.encode()[: column - 1].decode("utf-8", "ignore"))
