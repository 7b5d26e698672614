"""What was found about each entry, one JSON object to a line, so that an interrupted audit can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from fencepost.ir.source import FencepostError

CLEAN, RACES, DEADLOCKS, NOT_JUDGED = "clean", "races", "deadlocks", "not judged"
VERDICTS = (CLEAN, RACES, DEADLOCKS, NOT_JUDGED)


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One kernel of an entry."""

    name: str
    target: str
    barriers: int
    executed: float
    """How often they run, estimated."""
    redundant: tuple[str, ...] = ()
    """Barriers that nothing needs, by where they stand."""
    not_pruned: str = ""
    """Why nothing is said about redundant barriers, if so."""
    races: tuple[str, ...] = ()
    """What races, a line for each."""
    deadlocks: tuple[str, ...] = ()
    not_proven: tuple[str, ...] = ()
    """Why "clean" is no proof; empty if everything was looked at."""
    not_judged: tuple[str, ...] = ()
    """What it uses that is not judged."""


@dataclass(frozen=True, slots=True)
class Record:
    """One entry."""

    path: str
    digest: str
    verdict: str
    reason: str = ""
    """Why it is not judged."""
    kernels: tuple[KernelRecord, ...] = ()
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Record:
        """The record that plain data stands for."""
        kernels = tuple(KernelRecord(**_with_tuples(each)) for each in data["kernels"])
        return cls(**{**data, "kernels": kernels})


def _with_tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}


def verdict_of(kernels: Iterable[KernelRecord]) -> tuple[str, str]:
    """What is said about an entry with these kernels: the worst, and for "not judged" why."""
    kernels = list(kernels)
    if any(each.races for each in kernels):
        return RACES, ""
    if any(each.deadlocks for each in kernels):
        return DEADLOCKS, ""
    beyond = list(dict.fromkeys(what for each in kernels for what in each.not_judged))
    return (NOT_JUDGED, f"it uses {', '.join(beyond)}") if beyond else (CLEAN, "")


@dataclass(slots=True)
class Records:
    """The file that records are kept in."""

    path: Path
    known: dict[tuple[str, str], Record] = field(default_factory=dict)
    """What was there already, by path and digest."""
    _file: IO[str] | None = None

    @classmethod
    def at(cls, path: str, *, fresh: bool = False) -> Records:
        """The records of an earlier audit, to go on with; none with `fresh`, or if there is no such file."""
        found = cls(Path(path))
        try:
            if not fresh and found.path.exists():
                found._read()
            found._file = found.path.open("w" if fresh else "a", encoding="utf-8")
        except OSError as error:
            raise FencepostError(f"cannot write {path}: {error.strerror}", code="FP112") from None
        return found

    def _read(self) -> None:
        raw = self.path.read_bytes()
        # The last line may have been cut off in the middle.
        whole = raw[: raw.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                record = Record.of_json(json.loads(line))
            except (ValueError, TypeError, KeyError):
                raise FencepostError(
                    f"{self.path}, line {number}, is not a record of an audit",
                    code="FP112",
                    notes=[("help", "name another file, or start again with --fresh")],
                ) from None
            self.known[record.path, record.digest] = record
        if len(whole) < len(raw):
            os.truncate(self.path, len(whole))

    def add(self, record: Record) -> None:
        """Write one down; once this returns, it is not lost if the process ends."""
        if self.known.get((record.path, record.digest)) == record:
            return  # it could not be read the last time either
        assert self._file is not None
        self._file.write(json.dumps(record.as_json(), ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Nothing more comes."""
        if self._file is not None:
            self._file.close()
