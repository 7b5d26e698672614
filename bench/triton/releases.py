"""What works with the Triton that is installed, build by build of the corpus.

    python bench/triton/releases.py [--target T ...] [--only NAME ...] [--results FILE] [--verbose]

For every build that this release compiles: whether it is read and judged with Triton's own barriers (audit), whether
handing these back through `replace` gives the same code (what LLVM makes assembly of), whether what `replace` hands
on is proven, and how many barriers run, stock and then (estimated, loops run 100 times). Prints a line for every
build where something of that does not hold (all with --verbose) and a row for each target. Each build has a process
of its own: one that crashes is counted. With --results every build is written down when it is done, and the same
command goes on after the last one. Exits with 1 if `replace` runs more barriers than stock anywhere, or if code
differs where membar's barriers were handed back.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from left_out_stages import ASSEMBLY, BINARIES, without
from older_gluon import missing_names_allowed

with missing_names_allowed():
    from build import compile_plain
    from corpus import CORPUS, TARGETS, Entry

from fencepost.hosts.common.audits import barrier_runs
from fencepost.hosts.triton import installation, installed
from fencepost.hosts.triton.audit import triton_barriers
from fencepost.hosts.triton.choose_barriers import fencepost_candidate, fewer_or_membars
from fencepost.hosts.triton.installation import NOTED
from fencepost.hosts.triton.mlir.tree import Module
from fencepost.hosts.triton.text_edits import Edit
from fencepost.hosts.triton.translate import translations
from fencepost.hosts.triton.versions import require_triton

SECONDS = 300
"""Of processor time, after which a build is taken as hung,"""
WAITED = 10 * SECONDS
"""and of any time."""
_LINES = re.compile(r",? !dbg !\d+|^!.*$|^\s*(?:#dbg_|call void @llvm\.dbg\.).*$", re.M)
"""Line information of LLVM's text."""


@dataclass
class Found:
    """What there is to say about one build."""

    entry: str
    target: str
    compiled: bool = False
    stock: str = "no shared memory"
    """The verdict with Triton's own barriers."""
    same: bool = True
    """Whether Triton's own barriers handed back give the same code."""
    kept_back: str = ""
    """Why these were not handed back, if so."""
    handed: str = ""
    """How what `replace` hands on was judged; why it was left to Triton, if it was."""
    left: bool = False
    before: float = 0.0
    """Barriers that run, stock,"""
    after: float = 0.0
    """and with `replace`."""
    problem: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to report."""
        clean = self.stock in ("clean", "no shared memory")
        return clean and self.same and not self.left and self.after <= self.before and not self.problem


def judge(entry: Entry, target: str) -> Found:
    """One build."""
    found = Found(entry.name, target)
    try:
        stock = _code(compile_plain(entry, target))
    except Exception as error:
        found.problem = f"does not compile: {type(error).__name__}: {str(error).strip().splitlines()[-1:]}"
        return found
    found.compiled = True
    # Whether they are right is another question.
    unjudged = patch.object(installation, "refuse_wrong", return_value="")
    with unjudged, installed("replace", decide=triton_barriers, show=lambda _: None) as audits:
        handed_back = compile_plain(entry, target)
    assert audits is not None
    found.same = _code(handed_back) == stock
    found.kept_back = getattr(handed_back.metadata, NOTED)["left"].partition("\n")[0]
    if found.kept_back:
        found.stock = f"not audited: {found.kept_back}"
    for audit in audits.audits:
        if audit.beyond:
            found.stock = f"not judged: {', '.join(audit.beyond)}"
        else:
            found.stock = "clean" if not audit.races else f"{len(audit.races)} races: {audit.races[0].title}"

    def decide(before: Module, after: Callable[[], Module]) -> list[Edit] | None:
        edits = fewer_or_membars(before, after)
        found.before = sum(sum(barrier_runs(each.trace)) for each in translations(after()))
        found.after = found.before if edits is None else fencepost_candidate(before).executed
        return edits

    with installed("replace", decide=decide, thorough=True):
        note = getattr(compile_plain(entry, target).metadata, NOTED)
    found.left = bool(note["left"])
    found.handed = note["left"].splitlines()[0] if found.left else note["judged"]
    return found


def _code(kernel: Any) -> str:
    """What assembly is made of, without line information."""
    return _LINES.sub("", kernel.asm["llir"])


def judge_apart(entry: Entry, target: str) -> Found:
    """One build, in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, entry, target))
    process.start()
    theirs.close()
    try:
        if ours.poll(WAITED):
            return ours.recv()  # type: ignore[no-any-return]
        problem = f"nothing after {WAITED} s"
    except EOFError:
        process.join()
        problem = f"the process ended ({process.exitcode})"
    finally:
        process.kill()
        process.join()
    return Found(entry.name, target, compiled=True, problem=problem)


def _answer(pipe: Connection, entry: Entry, target: str) -> None:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        with without(*ASSEMBLY, *BINARIES):
            found = judge(entry, target)
    except Exception as error:
        found = Found(entry.name, target, compiled=True, problem=repr(error)[:300])
    pipe.send(found)
    pipe.close()


def row(target: str, found: list[Found]) -> str:
    """The row of a target."""
    compiled = [each for each in found if each.compiled]
    judged = [
        each for each in compiled if each.stock in ("clean", "no shared memory") or "races" in each.stock
    ]
    counts = Counter(
        read=sum(not each.problem for each in compiled),
        judged=len(judged),
        races=sum("races" in each.stock for each in judged),
        same=sum(each.same and not each.kept_back for each in compiled),
        handed=sum(not each.left for each in compiled),
        fewer=sum(each.after < each.before for each in compiled),
        more=sum(each.after > each.before for each in compiled),
    )
    ratios = [each.after / each.before for each in compiled if each.before]
    mean = sum(ratios) / max(len(ratios), 1)
    return (
        f"{target:<9}{len(compiled):>4} of {len(found)} compile; read {counts['read']}, judged {counts['judged']}, "
        f"races in {counts['races']}, same code handed back {counts['same']}, proven {counts['handed']}, "
        f"fewer barriers run {counts['fewer']}, more {counts['more']}, mean ratio {mean:.2f}"
    )


def read_results(path: Path | None, version: str) -> dict[tuple[str, str], Found]:
    """What was written down with this release."""
    lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
    every = [json.loads(line) for line in lines]
    found = [Found(**each["found"]) for each in every if each["triton"] == version]
    return {(each.entry, each.target): each for each in found}


def write_result(path: Path, version: str, found: Found) -> None:
    """Write a build down."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"triton": version, "found": asdict(found)}) + "\n")


def main() -> int:
    """Print what works."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", nargs="+", default=list(TARGETS))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--verbose", action="store_true", help="a line for every build")
    parser.add_argument("--results", type=Path, help="write every build there, and go on from what is there")
    options = parser.parse_args()
    version = require_triton()
    print(f"triton {version}")
    failed = False
    known = read_results(options.results, version)
    for target in options.target:
        found: list[Found] = []
        for entry in CORPUS.values():
            chosen = not options.only or entry.name in options.only
            if target not in entry.targets or entry.mistake is not None or not chosen:
                continue
            done = known.get((entry.name, target))
            found.append(done or judge_apart(entry, target))
            if options.results and done is None:
                write_result(options.results, version, found[-1])
            if options.verbose or not found[-1].is_fine:
                print(found[-1], flush=True)
        print(row(target, found), flush=True)
        failed |= any(not each.same or each.after > each.before for each in found if each.compiled)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
