"""An audit on this machine: as many workers as there are processors."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator

from fencepost.audit.entries import Entry, Unreadable, read
from fencepost.audit.records import NOT_JUDGED, Record
from fencepost.audit.supervised_worker import SupervisedWorker


def judged_here(
    entries: Iterable[Entry],
    jobs: int,
    timeout: float,
    start: Callable[[float], SupervisedWorker] = SupervisedWorker,
) -> Iterator[Record]:
    """Records of entries, each as soon as it is there. To stop early, close the iterator."""
    todo: queue.SimpleQueue[Entry] = queue.SimpleQueue()
    count = 0
    for entry in entries:
        todo.put(entry)
        count += 1
    done: queue.SimpleQueue[Record | BaseException] = queue.SimpleQueue()
    workers = [start(timeout) for _ in range(min(jobs, count))]
    ended = threading.Event()

    def run(worker: SupervisedWorker) -> None:
        try:
            while not ended.is_set():
                done.put(_judged(worker, todo.get_nowait()))
        except queue.Empty:
            worker.stop()
        except BaseException as error:
            done.put(error)

    threads = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in range(count):
            record = done.get()
            if isinstance(record, BaseException):
                raise record
            yield record
    finally:
        ended.set()
        for worker in workers:
            worker.stop()


def _judged(worker: SupervisedWorker, entry: Entry) -> Record:
    try:
        return worker.judge(read(entry))
    except Unreadable as error:
        return unreadable(entry, error)


def unreadable(entry: Entry, error: Unreadable) -> Record:
    """The record of an entry that cannot be read; it has no digest, so that it is tried again."""
    return Record(entry.path, "", NOT_JUDGED, str(error))
