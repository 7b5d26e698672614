"""An audit that goes on where an earlier one ended: what is known of unchanged entries is not judged again."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.audit.entries import Entry, Unreadable, Work, read
from fencepost.audit.records import Record


def left_to_do(
    entries: Iterable[Entry], known: dict[tuple[str, str], Record]
) -> tuple[list[Entry], list[Record]]:
    """The entries that were not judged yet, and the records of those that were, unchanged."""
    paths = {path for path, _ in known}
    todo: list[Entry] = []
    done: list[Record] = []
    for entry in entries:
        work: Work | None = None
        if entry.path in paths:
            try:
                work = read(entry)
            except Unreadable:
                work = None
        record = None if work is None else known.get((work.path, work.digest))
        if record is None:
            todo.append(entry)
        else:
            done.append(record)
    return todo, done
