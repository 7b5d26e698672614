"""Another tree of fencepost against this one: the same barriers and verdicts, and how long they take.

    python bench/compare.py TREE [FILE ...] [--rounds 3]

Every kernel (by default all of tests/ and fencepost/kernels) is checked and given its barriers with either tree, in
processes that take turns, so that the ratio of times is of one run. Prints the kernels whose barriers or verdicts
differ, and the ratio; exits 1 if any differ.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORKER = r"""
import json, sys, time
import fencepost as fp
found = {}
began = time.process_time()
for path in json.load(sys.stdin):
    text = open(path, encoding="utf-8").read()
    try:
        entry = []
        for kernel in fp.parse_all(text):
            report = fp.check(kernel)
            entry.append([len(report.races), len(report.deadlocks), report.proven])
            try:
                fp.insert_barriers(kernel)
                entry.append(str(kernel))
            except Exception as error:  # a crash is a result, too: the other tree may have another
                entry.append(str(getattr(error, "code", type(error).__name__)))
    except fp.FencepostError as error:
        entry = str(error.code)
    found[path] = entry
json.dump([time.process_time() - began, found], sys.stdout)
"""
COMMENT = re.compile(r"\s*#[^\n]*")


def run(tree: Path, files: list[str]) -> tuple[float, dict[str, Any]]:
    """Seconds of processor time, and what became of each kernel."""
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=json.dumps(files),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(tree)},
        cwd=tree,
    )
    seconds, found = json.loads(done.stdout)
    return seconds, found


def without_comments(entry: Any) -> Any:
    """The same without comments: they give reasons, in words that may change."""
    if isinstance(entry, list):
        return [without_comments(part) for part in entry]
    return COMMENT.sub("", entry) if isinstance(entry, str) else entry


def main() -> int:
    """Print what differs, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("tree", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folders = (ROOT / "tests", ROOT / "fencepost" / "kernels")
    files = options.files or sorted(str(path) for folder in folders for path in folder.rglob("*.fp"))
    ratios: list[float] = []
    differing: list[str] = []
    for _ in range(options.rounds):
        before, old = run(options.tree.resolve(), files)
        after, new = run(ROOT, files)
        ratios.append(after / before)
        differing = [path for path in files if without_comments(old[path]) != without_comments(new[path])]
        print(
            f"{len(files)} files: {before:.1f} s before, {after:.1f} s now, ratio {ratios[-1]:.2f}",
            flush=True,
        )
    for path in differing:
        print(f"differs: {Path(path).relative_to(ROOT) if path.startswith(str(ROOT)) else path}")
    print(
        f"{len(files) - len(differing)} of {len(files)} the same; median ratio {statistics.median(ratios):.2f}"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
