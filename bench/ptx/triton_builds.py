"""A second judge for Triton: every sm_80 and sm_90 build of its corpus, judged from the PTX that really runs.

    python bench/ptx/triton_builds.py --out FILE [--built DIR] [--target T] [--only NAME ...] [--ours] [--ttgir]
        [--ctas N]

FILE gets a line of JSON for each build; what is in it already is not judged again. With --built, the PTX is read
from DIR where it is there (`bench/triton/build.py --out DIR` writes it), and kept there where it is not. With
--ours, the barriers are fencepost's instead of Triton's; with --ttgir, what `fencepost check` says of the module
stands beside (`bench/triton/verdicts.py`). Prints the builds whose two verdicts differ (or that are not decided),
and a row for each target. `--target sm_100` builds the kernels of sm_90 that are not Gluon's for Blackwell, and
`--ctas 2` builds for clusters of two blocks.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "triton"))

from build import compile_plain
from corpus import CORPUS, TARGETS, Array, Entry, Scalar, Target, TensorMap

from fencepost.hosts.ptx import KernelVerdict, check
from fencepost.hosts.ptx.checking import with_deep_stack
from fencepost.hosts.ptx.exact.verdict import Judge
from fencepost.hosts.ptx.expressions.local_memory import followed
from fencepost.hosts.ptx.launches.launch import Given, launch_of
from fencepost.hosts.ptx.reading.flow import Flow, NotJudged
from fencepost.hosts.ptx.reading.inline_calls import inlined
from fencepost.hosts.ptx.reading.module import Module, Routine
from fencepost.hosts.ptx.reading.parse import parse

SIZES = {"f16": 2, "bf16": 2, "fp16": 2, "f32": 4, "fp32": 4, "i32": 4, "i8": 1, "fp8e4nv": 1, "fp8e5": 1}
BLACKWELL = "sm_100"
MESSAGE = 128
"""Bytes that one message of the copy engine has at most along the inner dimension."""


def launch(entry: Entry, routine: Routine) -> dict[str, int]:
    """What the corpus launches an entry with: numbers, and the bytes of the boxes of tensor maps."""
    found = {}
    at = 0
    constants = entry.constants("sm_90") if "sm_90" in entry.targets else entry.constants(entry.targets[0])
    for name in entry.kernel.arg_names:
        if name in constants:
            continue
        argument = entry.args[name]
        key = routine.parameters[at].name if at < len(routine.parameters) else ""
        if isinstance(argument, Scalar) and isinstance(argument.value, int):
            found[key] = argument.value
        elif isinstance(argument, TensorMap):
            *outer, inner = argument.block
            row = min(inner * SIZES[argument.array.dtype], MESSAGE)
            found[f"{key}.box"] = math.prod(outer) * row
            at += 2 * len(argument.block)
        assert isinstance(argument, Array | Scalar | TensorMap)
        at += 1
    return found if at <= len(routine.parameters) else {}


def judge(text: str, entry: Entry) -> KernelVerdict:
    """The verdict on a build: by a run if that decides, else by a proof."""
    module = parse(text)
    routine = module.kernels[0]
    ran = with_deep_stack(lambda: _run(module, routine, launch(entry, routine)))
    return ran if ran.verdict != "undecided" else check(text)[0]


def _run(module: Module, routine: Routine, params: dict[str, int]) -> KernelVerdict:
    try:
        routine = inlined(module, routine)
        known = launch_of(routine, Given(params=params))
        routine = followed(module, routine, known)
        found = Judge(module, routine, Flow(routine), known).decide()
    except NotJudged as refusal:
        return KernelVerdict(routine.name, "undecided", (), (), refusal.message, 0, 0)
    return KernelVerdict(routine.name, found.verdict, found.findings, found.reasons, found.holds_for, 0, 0)


def expected(entry: Entry) -> str:
    """What is known of an entry: clean, or a mistake (that Triton's barriers may repair)."""
    if entry.mistake is None:
        return "clean"
    return "repaired" if entry.mistake.repaired_by_membar else "mistake"


def is_built(entry: Entry, target: str) -> bool:
    """Whether an entry is built for a target; Gluon's kernels are written for one."""
    if target == BLACKWELL:
        return "sm_90" in entry.targets and entry.language == "triton"
    return target in entry.targets


def row(entry: Entry, target: str, options: argparse.Namespace) -> dict[str, Any]:
    """One build, judged."""
    found: dict[str, Any] = {"entry": entry.name, "target": target, "ours": options.ours}
    text = ptx(entry, target, options)
    begin = time.process_time()
    verdict = judge(text, entry)
    found |= {
        "expected": expected(entry),
        "verdict": verdict.verdict,
        "warnings": sum(each.severity == "warning" for each in verdict.findings),
        "findings": [f"{each.code} {each.severity}: {each.message}" for each in verdict.findings[:4]],
        "lines": [[each.first.ptx_line, each.second.ptx_line] for each in verdict.findings[:4]],
        "holds_for": verdict.holds_for,
        "reasons": [str(each)[:300] for each in verdict.reasons[:2]],
        "seconds": round(time.process_time() - begin, 2),
    }
    if options.ttgir:
        stock, ours = module_verdicts(entry, target)
        found["ttgir"] = ours if options.ours else stock
    return found


def module_verdicts(entry: Entry, target: str) -> tuple[str, str]:
    """What `check` says of the module with Triton's barriers and with fencepost's, mistakes or not."""
    from verdicts import judge as judge_module

    found = judge_module(replace(entry, mistake=None), target)
    return found.stock, found.ours


def ptx(entry: Entry, target: str, options: argparse.Namespace) -> str:
    """The PTX of a build."""
    kind = "ours.ptx" if options.ours else "ptx"
    kept = Path(options.built) / f"{entry.name}.{target}.{kind}" if options.built else None
    if kept is not None and kept.exists():
        return kept.read_text(encoding="utf-8")
    text = compiled(entry, target, options.ours)
    if kept is not None:
        kept.write_text(text, encoding="utf-8")
    return text


def compiled(entry: Entry, target: str, ours: bool) -> str:
    """The PTX of a build, made now."""
    if not ours:
        return str(compile_plain(entry, target).asm["ptx"])
    from fencepost.hosts.triton import installed

    with warnings.catch_warnings(), installed("replace"):
        warnings.simplefilter("ignore")
        return str(compile_plain(entry, target).asm["ptx"])


def agrees(found: dict[str, Any]) -> bool:
    """Whether a verdict is what is known of the build, or what the module's verdict says."""
    if "ttgir" in found:
        return bool((found["ttgir"] == "clean") == (found["verdict"] == "proven"))
    return bool((found["expected"] == "mistake") == (found["verdict"] == "race"))


def main() -> int:
    """Judge the builds and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--built", default="")
    parser.add_argument("--target", nargs="+", default=["sm_80", "sm_90"])
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--ours", action="store_true", help="fencepost's barriers instead of Triton's")
    parser.add_argument("--ttgir", action="store_true", help="judge the module too")
    parser.add_argument("--ctas", type=int, default=1, help="blocks of a cluster")
    options = parser.parse_args()
    # Modules for it are not compared, so that it is no target of the corpus.
    TARGETS.setdefault(BLACKWELL, Target(BLACKWELL, "cuda", 100, 32))
    out = Path(options.out)
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    known = {(each["entry"], each["target"], each["ours"]) for each in done}
    for target in options.target:
        for entry in CORPUS.values():
            wanted = is_built(entry, target) and (not options.only or entry.name in options.only)
            if not wanted or (entry.name, target, options.ours) in known:
                continue
            if options.ctas > 1:
                entry = replace(entry, options={**entry.options, "num_ctas": options.ctas})
            found = row(entry, target, options)
            done.append(found)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
    table(done)
    return 0


def table(done: list[dict[str, Any]]) -> None:
    """The builds that need a word, and a row for each target."""
    for found in done:
        if found["verdict"] == "undecided" or not agrees(found) or found["warnings"]:
            what = f"{found['entry']:<36}{found['target']:<7}{found.get('ttgir', found['expected']):<10}"
            said = (found["findings"] or found["reasons"] or [""])[0]
            print(f"{what}{found['verdict']:<10} {said[:160]}")
    for target in sorted({each["target"] for each in done}):
        rows = [each for each in done if each["target"] == target]
        counts = Counter((each["expected"], each["verdict"]) for each in rows)
        said = ", ".join(f"{kind} {verdict}: {number}" for (kind, verdict), number in sorted(counts.items()))
        seconds = sorted(each["seconds"] for each in rows)
        median, most = seconds[len(seconds) // 2], seconds[-1]
        print(f"{target}: {len(rows)} builds; {said}; median {median:.1f} s, largest {most:.1f} s")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
