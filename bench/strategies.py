"""The tables of docs/strategies.md: the strategies beside each other, all in one run.

    python bench/strategies.py [--kernels 1000] [--seed 5000] [--target gfx942]

First the kernels that the pages of the strategies show: barriers executed, which are the same on every machine. Then
random kernels, those of `quality.py`: cost against the optimum, and CPU time of insertion against `eager`, kernel by
kernel in the same process (the median of the ratios).
"""

from __future__ import annotations

import argparse
import re
from math import exp, log
from pathlib import Path
from statistics import fmean, median

from quality import random_cases
from quality_plot import SAME, STRATEGIES, Case, table

import fencepost as fp

DOCS = Path(__file__).parent.parent / "docs"


def kernels_of_the_pages() -> dict[str, str]:
    """The kernels that the pages of the strategies show as files, by name."""
    found: dict[str, str] = {}
    for page in sorted(DOCS.glob("strategy-*.md")):
        text = page.read_text(encoding="utf-8")
        found |= re.findall(r"^`(\w+)\.fp`:\n\n```fp\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return found


def executed(text: str, strategy: str, target: str) -> float:
    """How often the barriers of a strategy run, estimated."""
    return fp.insert_barriers(fp.parse(text), target, strategy=strategy, comments=False).executed


def tell_pages(target: str) -> None:
    """One row for each kernel of the pages."""
    rows = [
        [f"`{name}`", *(f"{executed(text, strategy, target):g}" for strategy in STRATEGIES)]
        for name, text in kernels_of_the_pages().items()
    ]
    table("|".join(["kernel", *STRATEGIES]), rows)


def is_proven(case: Case) -> bool:
    """Whether the optimum of a kernel is known."""
    return case.outcomes["optimal"].proof.startswith("optimal, proven")


def _cost(case: Case, strategy: str) -> float:
    return case.outcomes[strategy].cost


def tell_random(cases: list[Case]) -> None:
    """One row for each strategy, over the kernels whose optimum is proven."""
    wanted = [case for case in cases if case.needs_any]
    for copies, words in ((False, "without copies"), (True, "with copies")):
        group = [case for case in wanted if case.copies is copies]
        dearer = sum(_cost(case, "minimize") > _cost(case, "eager") * SAME for case in group)
        print(
            f"{len(group)} kernels {words} need something; optimum proven for {sum(map(is_proven, group))};"
        )
        print(f"with `minimize`, {dearer} of them cost more than with `eager`.")
    print()
    proven = [case for case in wanted if is_proven(case)]
    groups = [[case for case in proven if case.copies is copies] for copies in (False, True)]
    rows = []
    for name in STRATEGIES:
        times = [case.outcomes[name].ms / case.outcomes["eager"].ms for case in proven]
        reached = [sum(case.ratio(name) <= SAME for case in group) / len(group) for group in groups]
        means = [exp(fmean(log(case.ratio(name)) for case in group)) for group in groups]
        worst = [max(case.ratio(name) for case in group) for group in groups]
        cells = [f"{each:.1%}" for each in reached] + [f"{each:.3f}" for each in means]
        rows.append([name, *cells, *(f"{each:,.1f}" for each in worst), f"{median(times):.2f}"])
    table(
        "strategy|at the optimum, no copies|copies|mean ratio, no copies|copies|worst, no copies|copies|time",
        rows,
    )


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kernels", type=int, default=1000, help="how many random kernels")
    parser.add_argument("--seed", type=int, default=5000, help="the first seed")
    parser.add_argument("--target", default="gfx942", help="gfx1201 has split barriers")
    options = parser.parse_args()
    tell_pages(options.target)
    every = list(random_cases(options.kernels, options.seed, options.target))
    found = [case for case in every if case is not None]
    print(
        f"{len(every) - len(found)} of {len(every)} random kernels refused: no barrier can order some accesses."
    )
    tell_random(found)
    troubles = [f"{case.name}: {trouble}" for case in found for trouble in case.troubles]
    print("\n".join(["Troubles:", *troubles]) if troubles else "No troubles.")


if __name__ == "__main__":
    main()
