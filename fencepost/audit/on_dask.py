"""An audit on other machines: dask hands out the entries, and does again what a lost worker had."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from fencepost.audit.entries import Entry, Unreadable, Work, read
from fencepost.audit.local import unreadable
from fencepost.audit.records import NOT_JUDGED, Record
from fencepost.audit.supervised_worker import SupervisedWorker
from fencepost.ir.source import FencepostError
from fencepost.version import __version__

AHEAD = 4
"""Entries for each thread of the cluster that are under way: more would be texts in memory, fewer idle threads."""
PATIENCE = 20
"""Seconds to look for the scheduler."""
RETRIES = 3
"""How often an entry is tried again because its worker was lost."""

_own = threading.local()


def judge_there(work: dict[str, Any], timeout: float) -> dict[str, Any]:
    """What a worker of the cluster does: the same as here, in a process that may end. Every thread keeps one."""
    process = getattr(_own, "process", None)
    if process is None or process.timeout != timeout:
        process = _own.process = SupervisedWorker(timeout)
    return process.judge(Work(**work)).as_json()


def version_there() -> str:
    """The version of fencepost on a worker."""
    return __version__


def judged_on_dask(address: str, entries: Iterable[Entry], timeout: float) -> Iterator[Record]:
    """Records of entries, each as soon as it is there. Texts travel with the work: no file has to be seen there."""
    client = _connected(address)
    try:
        _require_same_version(client)
        yield from _judged(client, entries, timeout)
    finally:
        client.close()


def _connected(address: str) -> Any:
    try:
        client: Any = import_module("distributed").Client
    except ImportError:
        raise FencepostError(
            "--dask needs the package distributed, which is not installed",
            code="FP114",
            notes=[("help", 'pip install "fencepost[dask]"; in a clone: pip install -e ".[dask]"')],
        ) from None
    try:
        return client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise FencepostError(
            f"there is no dask scheduler at {address}: {error}",
            code="FP112",
            notes=[("help", "`dask scheduler` prints its address; `dask worker ADDRESS` adds a machine")],
        ) from None


def _require_same_version(client: Any) -> None:
    """Two versions may judge differently, and nobody could tell which one did."""
    try:
        versions = set(client.run(version_there).values())
    except ModuleNotFoundError as error:
        raise FencepostError(f"a worker of the cluster has no {error.name}", code="FP114") from None
    if not versions:
        raise FencepostError("the dask cluster has no workers", code="FP112")
    if versions != {__version__}:
        others = ", ".join(sorted(versions - {__version__}))
        raise FencepostError(
            f"the workers of the cluster have fencepost {others}, this is {__version__}", code="FP405"
        )


def _judged(client: Any, entries: Iterable[Entry], timeout: float) -> Iterator[Record]:
    waiting = iter(entries)
    under_way: dict[str, Entry] = {}
    finished: Any = import_module("distributed").as_completed(loop=client.loop)

    def submit() -> Iterator[Record]:
        """Keep the cluster busy; entries that cannot be read are done at once."""
        threads = sum(client.nthreads().values()) or 1
        while len(under_way) < AHEAD * threads:
            entry = next(waiting, None)
            if entry is None:
                return
            try:
                work = read(entry)
            except Unreadable as error:
                yield unreadable(entry, error)
                continue
            future = client.submit(judge_there, work.as_json(), timeout, pure=False, retries=RETRIES)
            under_way[future.key] = entry
            finished.add(future)

    yield from submit()
    while under_way:
        future = next(finished)
        entry = under_way.pop(future.key)
        try:
            yield Record.of_json(future.result())
        except Exception as error:  # the cluster has given up on this one; the others go on
            reason = f"the cluster could not judge it: {type(error).__name__}: {error}"
            yield Record(entry.path, "", NOT_JUDGED, reason)
        future.release()
        yield from submit()
