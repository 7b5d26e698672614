"""An audit of very many entries: does it finish, hold its memory, survive being killed, and lose or repeat nothing?

    python bench/triton/cache_audit.py --folder CACHE [--target T ...]
    python bench/triton/many_entries.py CACHE [--entries 10000] [--kills 3] [--jobs N]

Takes a Triton cache and makes one of so many entries of it, by links: each entry of the first is there many times,
under other keys. That is audited with `fencepost audit`, killed a few times on the way (SIGKILL) and started again.
Prints what was judged between the kills and how much memory all of its processes took together; exits with 1 if an
entry is missing, is there twice, or got another verdict than its twins.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK = 0.5
"""Seconds between two looks at the memory of the processes."""


def multiplied(cache: Path, folder: Path, entries: int) -> list[Path]:
    """So many entries, each a folder of links to the files of one that is there."""
    originals = [each for each in sorted(cache.iterdir()) if any(each.glob("*.ttgir"))]
    if not originals:
        raise SystemExit(f"{cache} has no entry of a Triton cache")
    made: list[Path] = []
    for number in range(entries):
        original = originals[number % len(originals)]
        entry = folder / f"{original.name}{number // len(originals):06d}"
        entry.mkdir()
        for file in original.iterdir():
            os.link(file, entry / file.name)
        made.append(entry)
    return made


def memory(process: int) -> int:
    """Bytes that a process and all that it has started have in memory, what they share counted for each."""
    parent: dict[int, int] = {}
    resident: dict[int, int] = {}
    for statistics in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = statistics.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        number = int(statistics.parent.name)
        parent[number], resident[number] = int(fields[1]), int(fields[21]) * PAGE
    total, todo = 0, [process]
    while todo:
        here = todo.pop()
        total += resident.get(here, 0)
        todo += [number for number, above in parent.items() if above == here]
    return total


def records(output: Path) -> int:
    """How many lines have been written."""
    return output.read_bytes().count(b"\n") if output.exists() else 0


def audited(folder: Path, output: Path, jobs: int, until: int | None) -> tuple[int, float]:
    """Run the audit to its end, or kill it once so many records are there: exit code, and the most memory in MB."""
    command = [
        sys.executable,
        "-m",
        "fencepost",
        "audit",
        str(folder),
        "-o",
        str(output),
        "-q",
        "-j",
        str(jobs),
    ]
    most = 0
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL) as audit:
        while audit.poll() is None:
            most = max(most, memory(audit.pid))
            if until is not None and records(output) >= until:
                os.killpg(audit.pid, signal.SIGKILL)
                break
            time.sleep(LOOK)
        return audit.wait(), most / 1e6


def compared(output: Path, made: list[Path]) -> list[str]:
    """What is wrong with the records: missing, twice, or unlike those of the same kernel."""
    seen: Counter[str] = Counter()
    verdicts: defaultdict[str, set[str]] = defaultdict(set)
    for line in output.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        entry = Path(record["path"]).parent.name
        seen[entry] += 1
        verdicts[entry[:-6]].add(
            json.dumps([record["verdict"], record["reason"], record["kernels"]], sort_keys=True)
        )
    wanted = {entry.name for entry in made}
    found = [f"{len(wanted - seen.keys())} entries are missing"] if wanted - seen.keys() else []
    twice = sum(count > 1 for count in seen.values())
    found += [f"{twice} entries are there twice"] if twice else []
    differing = [name for name, each in verdicts.items() if len(each) > 1]
    return found + ([f"{len(differing)} kernels have more than one verdict"] if differing else [])


def main() -> int:
    """Multiply, audit, kill, go on, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("cache", type=Path, help="a Triton cache")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.cache.resolve().parent) as temporary:
        folder, output = Path(temporary) / "cache", Path(temporary) / "audit.jsonl"
        folder.mkdir()
        made = multiplied(options.cache, folder, options.entries)
        print(f"{'records':>8} {'seconds':>8} {'MB':>6}  ended")
        for turn in range(options.kills + 1):
            until = options.entries * (turn + 1) // (options.kills + 1) if turn < options.kills else None
            began = time.monotonic()
            code, most = audited(folder, output, options.jobs, until)
            ended = "killed" if code < 0 else f"exit {code}"
            print(f"{records(output):8} {time.monotonic() - began:8.1f} {most:6.0f}  {ended}", flush=True)
        wrong = compared(output, made)
        print("\n".join(wrong) or f"all {len(made)} entries are there once, twins with the same verdict")
        return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
