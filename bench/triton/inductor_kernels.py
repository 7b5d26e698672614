"""Kernels that `torch.compile` generates, without a GPU: what fencepost says of each, and what it makes of it.

    python bench/triton/inductor_kernels.py [--target T ...] [--only PROGRAM ...] [--configs] [-o FILE] [--summary]
    python bench/triton/inductor_kernels.py --list

PyTorch programs (`inductor/`: pointwise, reductions, scans, sorts, products, convolutions, attention, models with
their backward graphs) go through `torch.compile` with a pretended GPU. Every distinct kernel that inductor writes for
them is audited as Triton compiles it, and compiled with `install("replace")`. A row for each: bytes of shared memory,
barriers of stock Triton and of fencepost (in brackets: how often they run, loops taken to run 100 times), how many of
stock's nothing needs, the verdict on what Triton ships, and what `replace` says of what it passes on. With --configs
all configurations that inductor would choose among are compiled, else the first. With -o rows are kept as JSON, one
to a line; kernels that are in the file are not compiled again. Exits with 1 if something is wrong, is not judged,
does not compile or got more barriers, with 2 if there is no such program. Needs torch, triton and a C++ compiler.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from inductor import pretended_gpu
from inductor.judge import CLEAN, NO_SHARED_MEMORY, Judged, judged

HEAD = f"{'kernel':<64}{'shared':>8}{'stock':>14}{'fencepost':>14}{'redundant':>10}  verdict"


def main() -> int:
    """Print the table: of one target here, of several in a process each, since a process has one device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", nargs="+", choices=pretended_gpu.GPUS, default=list(pretended_gpu.GPUS))
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", default=[])
    parser.add_argument("--configs", action="store_true", help="all configurations of every kernel")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="keep the rows as JSON lines")
    parser.add_argument("--summary", action="store_true", help="only the totals, and what is not clean")
    parser.add_argument("--list", action="store_true", help="the names of all programs")
    options = parser.parse_args()
    if options.output and len(options.target) > 1:
        parser.error("-o keeps the rows of one target: name it (--target)")
    if len(options.target) > 1 and not options.list:
        rest = sys.argv[1:]
        if "--target" in rest:
            at = rest.index("--target")
            rest = rest[:at] + rest[at + 1 + len(options.target) :]
        runs = [
            subprocess.run([sys.executable, __file__, *rest, "--target", target]) for target in options.target
        ]
        return max(run.returncode for run in runs)
    pretended_gpu.compile_in(processes=1)
    pretended_gpu.pretend(options.target[0])
    return table(options)


def table(options: argparse.Namespace) -> int:
    """The table of one target."""
    from inductor.programs import PROGRAMS, distinct_kernels

    if options.list:
        print("\n".join(PROGRAMS))
        return 0
    unknown = [name for name in options.only if name not in PROGRAMS]
    if unknown:
        print(f"no such program: {', '.join(unknown)} (--list prints all)", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    # Inductor logs a kernel that does not compile, with its source; here it has a row.
    logging.disable(logging.CRITICAL)
    chosen = [PROGRAMS[name] for name in options.only or PROGRAMS]
    print(f"{options.target[0]}\n{HEAD}", flush=True)
    found = kept_rows(options.output)
    for kernel in distinct_kernels(chosen, seen={each.identity for each in found}):
        for each in judged(kernel, options.configs):
            found.append(each)
            keep_row(options.output, each)
            if not options.summary or not is_fine(each):
                print(row(each, options.configs), flush=True)
    print(summary(options.target[0], len(chosen), found), flush=True)
    return 0 if all(map(is_fine, found)) else 1


def kept_rows(path: Path | None) -> list[Judged]:
    """What is known from an earlier run."""
    if path is None or not path.exists():
        return []
    return [Judged(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def keep_row(path: Path | None, found: Judged) -> None:
    """Write a row down at once: the rest may never come."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(found)) + "\n")


def is_fine(found: Judged) -> bool:
    """Judged and right, served by `replace`, and not made worse."""
    right = found.verdict in (CLEAN, NO_SHARED_MEMORY) and found.proven
    return right and not found.more and not found.replaced.startswith("left")


def row(found: Judged, with_config: bool = False) -> str:
    """One kernel."""
    name = f"{found.program}: {found.kernel}"
    stock, ours = (
        f"{count} ({runs:g})"
        for count, runs in ((found.stock, found.stock_runs), (found.ours, found.ours_runs))
    )
    said = "; ".join(
        filter(None, [found.verdict, found.reason, found.replaced and f"replace: {found.replaced}"])
    )
    config = f"\n    {found.config}" if with_config else ""
    return f"{name[:63]:<64}{found.shared:>8}{stock:>14}{ours:>14}{found.redundant:>10}  {said}{config}"


def summary(target: str, programs: int, found: list[Judged]) -> str:
    """The lines below the table."""
    kernels = len({each.identity for each in found})
    synchronized = [each for each in found if each.stock]
    lines = [
        f"{target}: {programs} programs, {kernels} distinct kernels, {len(found)} builds",
        *(
            f"  {verdict:<24}{count:>6}"
            for verdict, count in Counter(each.verdict for each in found).most_common()
        ),
        f"  with barriers           {len(synchronized):>6}: stock {sum(each.stock for each in found)}, "
        f"fencepost {sum(each.ours for each in found)}; run {sum(each.stock_runs for each in found):g} and "
        f"{sum(each.ours_runs for each in found):g} times; redundant {sum(each.redundant for each in found)}",
        f"  fewer barriers run in   {sum(each.ours_runs < each.stock_runs for each in found):>6}",
        f"  more barriers run in    {sum(each.more for each in found):>6}",
        f"  not proven              {sum(not each.proven for each in found):>6}",
    ]
    said = Counter(each.replaced for each in found if each.replaced)
    lines += [f"  replace: {what:<15}{count:>6}" for what, count in said.most_common()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
