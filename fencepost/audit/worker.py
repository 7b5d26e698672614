"""A process that judges entries, one after the other: `python -m fencepost.audit.worker`.

One JSON object to a line in, one to a line out. A compiler may end this process or never come back: whoever started
it (`supervised_worker`) notices, and starts another.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time

from fencepost.audit.entries import Work
from fencepost.audit.judge import judge

MOST_BYTES = 6 << 30
"""Of memory that one worker may have."""


def main() -> None:
    """Judge whatever comes, until nothing comes any more."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    # Whatever others print goes to standard error: the answers must stay alone.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        record = judge(Work(**json.loads(line)))
        answers.write(json.dumps(record.as_json()) + "\n")
        answers.flush()


def _end_with_parent(parent: int) -> None:
    """Nobody reads the answers any more once the parent is gone, however it went."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    main()
