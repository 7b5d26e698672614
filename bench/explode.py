"""Kernels made to explode, each through every command in a process of its own.

    python bench/explode.py [NAME ...] [--commands insert check] [--seconds 10] [--megabytes 1024]

Prints processor seconds and peak memory of each command and the end of what it said; exits 1 if one takes longer than
`--seconds`, needs more than `--megabytes`, or ends in a traceback. `checked` is `check` on what `insert` wrote.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.exploding_kernels import KERNELS  # noqa: E402

COMMANDS = ("insert", "checked", "check", "prune", "explain", "schedule")
GRACE = 2
"""Seconds beyond the limit after which a command is stopped."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One command on one kernel."""

    status: int
    """Its exit code; negative if it was stopped."""
    seconds: float
    megabytes: float
    said: str

    def failure(self, seconds: float, megabytes: float) -> str:
        """What is wrong with it, or nothing."""
        if self.status < 0:
            return "no answer"
        if "Traceback" in self.said or "RecursionError" in self.said:
            return "traceback"
        if self.status not in (0, 1, 2):
            return f"exit code {self.status}"
        if self.seconds > seconds:
            return "slow"
        return "large" if self.megabytes > megabytes else ""

    def words(self) -> str:
        """What the answer was, in a few words."""
        lines = [line.strip() for line in self.said.splitlines()]
        for pattern in (r"^error\[FP[012][0-9]+\]: .*", r"@\w+: .*", r"^error.*"):
            found = [re.search(pattern, line) for line in lines]
            hits = [match.group(0) for match in found if match]
            if hits:
                return hits[-1][:110]
        return lines[-1][:110] if lines else ""


def run(arguments: list[str], limit: float) -> Outcome:
    """A fencepost command in a process of its own."""

    def restrict() -> None:
        # Processor time: other work on the machine is not the command's.
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + GRACE, int(limit) + GRACE))

    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "fencepost", *arguments],
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            preexec_fn=restrict,
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds = usage.ru_utime + usage.ru_stime
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0, os.SEEK_END)
        said.seek(max(0, said.tell() - 20_000))
        text = said.read().decode(errors="replace")
    return Outcome(child.returncode, seconds, usage.ru_maxrss / 1024, text)


def arguments_of(command: str, path: Path, inserted: Path) -> list[str]:
    """The command line."""
    if command == "insert":
        return ["insert", str(path), "-o", str(inserted)]
    if command == "checked":
        return ["check", str(inserted)]
    if command == "prune":
        return ["prune", str(path), "-o", os.devnull]
    return [command, str(path)]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(KERNELS))
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=COMMANDS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--megabytes", type=float, default=1024.0)
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in KERNELS]
    if unknown:
        parser.error(f"there is no kernel {', '.join(unknown)}")
    failed = 0
    print(f"{'kernel':<26}{'command':<10}{'seconds':>8}{'MB':>7}  answer")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or KERNELS:
            path, inserted = Path(folder) / f"{name}.fp", Path(folder) / f"{name}.inserted.fp"
            path.write_text(KERNELS[name]())
            for command in options.commands:
                if command == "checked" and not inserted.exists():
                    continue
                found = run(arguments_of(command, path, inserted), options.seconds)
                failure = found.failure(options.seconds, options.megabytes)
                racy = command == "checked" and found.status == 1
                failed += bool(failure) or racy
                mark = f"{failure.upper()}: " if failure else "RACY: " if racy else ""
                print(
                    f"{name:<26}{command:<10}{found.seconds:>8.2f}{found.megabytes:>7.0f}  {mark}{found.words()}",
                    flush=True,
                )
    print(f"{failed} failed" if failed else "all answered in time")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
