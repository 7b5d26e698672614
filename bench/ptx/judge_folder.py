"""Judges every kernel with shared memory in any folder of PTX files: verdict, reason, processor time and memory.

    python bench/ptx/judge_folder.py PATH... [--block 256] [--out results.jsonl] [--seconds 60] [--megabytes 4096]

One process a kernel, so that neither a crash nor a kernel that takes too long ends the run. With --out, every
verdict is kept as a line of JSON, and a run that was broken off goes on where it stopped. Kernels that are the same
text in several files count once. `--blocks FILE` is JSON that gives blocks by kernel name: `{"reduce": [256, 1, 1]}`.

With `--delete N`, up to N barriers of each proven kernel are deleted, one at a time, and what is left is judged: a
kernel that is still proven did not need that barrier, or the proof is wrong. These are to be looked at one by one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha1
from multiprocessing.connection import Connection
from pathlib import Path

from fencepost.hosts.ptx.checking import with_deep_stack
from fencepost.hosts.ptx.judge import judge
from fencepost.hosts.ptx.launches.launch import Given
from fencepost.hosts.ptx.reading.effects import effect
from fencepost.hosts.ptx.reading.module import Instruction, Module, PtxError, Routine
from fencepost.hosts.ptx.reading.parse import parse
from fencepost.hosts.ptx.verdicts import KernelVerdict

Block = tuple[int, int, int]


@dataclass(frozen=True)
class Row:
    """What is said of one kernel."""

    file: str
    kernel: str
    block: Block | None
    verdict: str
    seconds: float
    megabytes: int
    barriers: int
    accesses: int
    holds_for: str
    why: tuple[str, ...]


def uses_shared_memory(routine: Routine) -> bool:
    """Whether a kernel has an access to shared memory, as far as its opcodes tell."""
    for item in routine.body:
        if isinstance(item, Instruction):
            found = effect(item)
            if any(not each.generic for each in found.accesses) or (found.refused and "shared" in item.text):
                return True
    return False


def fingerprint(routine: Routine) -> str:
    """Equal for kernels with the same name and the same instructions."""
    lines = [item.text if isinstance(item, Instruction) else item.name for item in routine.body]
    return sha1("\n".join([routine.name, *lines]).encode()).hexdigest()


def _work(
    module: Module, routine: Routine, block: Block | None, limits: tuple[int, int], to: Connection
) -> None:
    seconds, megabytes = limits
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    begin = time.process_time()
    verdict = with_deep_stack(lambda: judge(module, routine, Given(block)))
    to.send((verdict, time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))


def judged(module: Module, routine: Routine, block: Block | None, limits: tuple[int, int], file: str) -> Row:
    """A kernel judged in a process of its own."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(module, routine, block, limits, theirs)
    )
    process.start()
    theirs.close()
    answer: tuple[KernelVerdict, float, int] | None = None
    with suppress(EOFError):  # The process ended without an answer; its exit code says why.
        answer = ours.recv()
    process.join()
    if answer is None:
        ended = f"no answer: the process ended with {process.exitcode}"
        return Row(file, routine.name, block, "no answer", float(limits[0]), 0, 0, 0, "", (ended,))
    verdict, seconds, megabytes = answer
    said = [f"{each.severity}: {each.message} [{each.first}, {each.second}]" for each in verdict.findings]
    why = tuple(said + [str(each) for each in verdict.reasons])[:6]
    counts = verdict.barriers, verdict.shared_accesses
    return Row(
        file,
        routine.name,
        block,
        verdict.verdict,
        round(seconds, 2),
        megabytes,
        *counts,
        verdict.holds_for,
        why,
    )


def without_a_barrier(routine: Routine, most: int) -> Iterator[tuple[int, Routine]]:
    """The kernel without one of its barriers, and the line of that barrier; spread over all of them."""
    places = [
        at
        for at, item in enumerate(routine.body)
        if isinstance(item, Instruction) and effect(item).barrier == "block" and "red" not in item.parts
    ]
    for at in places[:: max(1, len(places) // most)][:most] if most else ():
        line = getattr(routine.body[at], "line", 0)
        yield line, routine.with_body(routine.body[:at] + routine.body[at + 1 :])


def kernels_in(paths: list[Path], most: int) -> Iterator[tuple[Path, Module, Routine]]:
    """The kernels with shared memory in files and folders, each text once, and at most so many of a file."""
    seen: set[str] = set()
    files = [each for path in paths for each in (sorted(path.rglob("*.ptx")) if path.is_dir() else [path])]
    for file in files:
        try:
            module = parse(file.read_text())
        except PtxError as error:
            print(f"{file}: {error}", file=sys.stderr)
            continue
        left = most
        for routine in module.kernels:
            key = fingerprint(routine)
            if left and uses_shared_memory(routine) and key not in seen:
                seen.add(key)
                left -= 1
                yield file, module, routine


def summary(rows: list[Row]) -> str:
    """Totals."""
    if not rows:
        return "no kernels with shared memory"
    count = Counter(row.verdict for row in rows)
    times = [row.seconds for row in rows]
    decided = count["proven"] + count["race"]
    said = ", ".join(f"{number} {verdict}" for verdict, number in count.most_common())
    return (
        f"{len(rows)} kernels: {said}; {100 * decided / len(rows):.0f} % decided; "
        f"median {statistics.median(times):.2f} s, largest {max(times):.1f} s, {sum(times):.0f} s in all; "
        f"at most {max(row.megabytes for row in rows)} MB"
    )


def _block(text: str) -> Block:
    sizes = [int(each) for each in text.split("x")]
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _kept(out: Path | None) -> dict[tuple[str, str], Row]:
    if out is None or not out.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in out.read_text().splitlines()]
    return {(row.file, row.kernel): row for row in rows}


def run(options: argparse.Namespace) -> list[Row]:
    """Judges everything, and prints a line for each kernel."""
    kept = _kept(options.out)
    blocks: Mapping[str, list[int]] = json.loads(options.blocks.read_text()) if options.blocks else {}
    rows = []
    for file, module, routine in kernels_in(options.paths, options.most):
        row = kept.get((str(file), routine.name))
        if row is None:
            given = blocks.get(routine.name)
            block = _block("x".join(map(str, given))) if given else options.block
            row = judged(module, routine, block, (options.seconds, options.megabytes), str(file))
            if options.out:
                with options.out.open("a") as lines:
                    lines.write(json.dumps(asdict(row)) + os.linesep)
        rows.append(row)
        if row.verdict == "proven":
            for line, fewer in without_a_barrier(routine, options.delete):
                whole = _block("x".join(map(str, row.block))) if row.block else None
                left = judged(module, fewer, whole, (options.seconds, options.megabytes), str(file))
                print(f"  without the barrier in line {line}: {left.verdict} {left.seconds} s", flush=True)
        why = row.why[0] if row.why else ""
        print(f"{row.verdict:10} {row.seconds:6.2f} s {file.name} {row.kernel[:60]}  {why[:150]}", flush=True)
    return rows


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--block", type=_block)
    parser.add_argument("--blocks", type=Path, help="blocks by kernel name, in JSON")
    parser.add_argument("--most", type=int, default=1_000_000, help="kernels of one file (default: all)")
    parser.add_argument("--delete", type=int, default=0, metavar="N", help="barriers of a proven kernel")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=int, default=70)
    parser.add_argument("--megabytes", type=int, default=4096)
    print(summary(run(parser.parse_args())))


if __name__ == "__main__":
    main()
