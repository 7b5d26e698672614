"""Does `fencepost audit` of Triton's cache say what `install("audit")` says while kernels are compiled?

    python bench/triton/cache_audit.py [--target T ...] [--only NAME ...] [--folder DIR]

Compiles every build of the corpus into an empty cache with the host installed, as far as LLVM's dialect, then audits
the cache, and compares the two verdicts of each kernel. Exits with 1 if one differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from build import compile_plain
from corpus import CORPUS, TARGETS
from left_out_stages import ASSEMBLY, BINARIES, without

from fencepost.audit.entries import entries_of
from fencepost.audit.judge import record_of
from fencepost.audit.local import judged_here
from fencepost.audit.records import CLEAN, KernelRecord, verdict_of
from fencepost.hosts.triton import installed
from fencepost.hosts.triton.installation import NOTED
from fencepost.hosts.triton.kept_audits import read


def said(kernel: KernelRecord) -> tuple[object, ...]:
    """What is compared: everything but where findings stand, which a module from the cache may not say."""
    return (
        kernel.name, kernel.target, kernel.barriers, kernel.executed, len(kernel.redundant), len(kernel.races),
        len(kernel.deadlocks), kernel.not_proven, kernel.not_judged,
    )  # fmt: skip


def noted(metadata: Path) -> KernelRecord | None:
    """What was said when the kernel was compiled; nothing if it touches no shared memory."""
    note: dict[str, Any] = json.loads(metadata.read_text(encoding="utf-8")).get(NOTED, {})
    audits = [read(data) for data in note.get("audits", [])]
    return record_of(audits[0]) if audits else None


def main() -> int:
    """Fill a cache, audit it, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--target", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--folder", help="keep the cache there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        builds = 0
        with without(*ASSEMBLY, *BINARIES), installed("audit", show=lambda found: None):
            for target in options.target:
                for entry in CORPUS.values():
                    if target not in entry.targets or (options.only and entry.name not in options.only):
                        continue
                    try:
                        compile_plain(entry, target, folder)
                    except Exception as error:
                        print(f"{entry.name} {target}: Triton does not compile it: {str(error)[:80]}")
                    builds += 1
        entries = entries_of([folder])
        began = time.perf_counter()
        records = list(judged_here(entries, os.cpu_count() or 1, 120))
        took = time.perf_counter() - began
        metadata = {entry.path: Path(entry.metadata) for entry in entries}
        different, verdicts = 0, Counter[str]()
        for record in records:
            then = noted(metadata[record.path])
            verdicts[record.verdict] += 1
            now = record.kernels[0] if record.kernels else None
            same = now is not None and (said(now) == said(then) if then else record.verdict == CLEAN)
            if not same:
                different += 1
                print(f"{record.path}: {record.verdict} {record.reason}")
                print(f"  compiled: {verdict_of([then]) if then else 'no shared memory'}\n  cached:   {now}")
        print(
            f"{builds} builds, {len(entries)} kernels in the cache, {len(entries) - different} with the same verdict"
        )
        print(f"{dict(verdicts)} in {took:.1f} s, {took / max(len(entries), 1):.2f} s each")
    return 1 if different or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
