"""Barriers of Wave, of fencepost, and the optimum, for the corpus; races in Wave's result; the time of both passes.

    python bench/wave/wave_barriers.py [--only TEXT ...] [--fast] [--json FILE] [--summary]

In the columns of counts, `2+1` is two barriers in loops and one outside; a barrier in two halves counts once.
Executed is how often waves meet in one run of the kernel: loops of unknown length are estimated. The optimum is how
often they have to meet, in loops and outside. Races are what `check` sees in the result of Wave's own pass, with the
kind that was planted. Times are CPU time in milliseconds, of both passes in this process; fencepost's contains
reading the trace and writing it back.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import statistics
from pathlib import Path

from wave_corpus import add_selection, selected
from wave_measure import Measured, measure
from wave_synchronization import Count

HEAD = (
    f"{'kernel / target / schedule':<52}{'Wave':>7}{'ours':>7}{'executed':>10}{'ours':>9}{'optimum':>10}"
    f"{'':>8}{'races':>8}{'ms':>8}{'ours':>7}{'times':>7}"
)

LARGE = 200
"""Nodes of a trace: what a pass costs is more than what it costs to begin."""


def main() -> int:
    """Print the table; 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_selection(parser)
    parser.add_argument("--json", type=Path, help="write everything that was measured to this file")
    parser.add_argument("--summary", action="store_true", help="only the totals")
    options = parser.parse_args()
    logging.disable(logging.ERROR)
    done: list[Measured] = []
    if not options.summary:
        print(HEAD)
    for entry in selected(options):
        found = measure(entry)
        done.append(found)
        if not options.summary:
            print(row(found), flush=True)
    print(summary(done))
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(each) for each in done], indent=1))
    return int(any(each.verdicts for each in done))


def row(found: Measured) -> str:
    """One line of the table."""
    if found.error:
        races = f", {found.wave.races} races" if found.wave.races else ""
        return f"{found.name:<52}{written(found.wave.written):>7}  {found.error}{races}"
    best = f"{found.best.loop:,.0f}+{found.best.outside:,.0f}" if found.best is not None else "–"
    proven = "proven" if found.best is not None and found.best.proven else "not"
    races = f"{found.wave.races or ''}{found.race and f' ({found.race})'}"
    ratio = found.wave.milliseconds / found.ours.milliseconds if found.ours.milliseconds else 0.0
    line = (
        f"{found.name:<52}{written(found.wave.written):>7}{written(found.ours.written):>7}"
        f"{found.wave.executed:>10,.0f}{found.ours.executed:>9,.0f}{best:>10}  {proven:<6}{races:>8}"
        f"{found.wave.milliseconds:>8.1f}{found.ours.milliseconds:>7.1f}{ratio:>7.1f}"
    )
    return "  ".join([line, *(f"← {verdict}" for verdict in found.verdicts)])


def written(count: Count) -> str:
    """In loops and outside."""
    return f"{count.loop}+{count.outside}"


def summary(done: list[Measured]) -> str:
    """The lines below the table."""
    good = [each for each in done if not each.error]
    clean = [each for each in good if not each.wave.races]
    lines = [
        f"{len(done)} combinations: {sum(each.compiled for each in done)} compile with fencepost's barriers, "
        f"{sum(not each.ours.races for each in good)} of {len(good)} results are clean",
        f"Wave's result has a race in {len(good) - len(clean)}",
        f"where it has none: in loops {sum(each.wave.written.loop for each in clean)} → "
        f"{sum(each.ours.written.loop for each in clean)}, outside {sum(each.wave.written.outside for each in clean)}"
        f" → {sum(each.ours.written.outside for each in clean)}, "
        f"fewer executed in {sum(each.ours.executed < each.wave.executed - 1e-9 for each in clean)}, "
        f"more in {sum(each.ours.executed > each.wave.executed * (1 + 1e-9) for each in clean)}",
        f"optimum proven in {sum(each.best is not None and each.best.proven for each in good)} of {len(good)}, "
        f"reached in {sum(each.reached for each in good)}",
    ]
    if good:
        ratios = [each.wave.milliseconds / each.ours.milliseconds for each in good]
        lines.append(
            f"time: Wave {statistics.median(each.wave.milliseconds for each in good):.1f} ms in the median "
            f"(at most {max(each.wave.milliseconds for each in good):.0f}), fencepost "
            f"{statistics.median(each.ours.milliseconds for each in good):.1f} ms "
            f"(at most {max(each.ours.milliseconds for each in good):.0f}); "
            f"{statistics.median(ratios):.1f} times as fast in the median"
        )
        large = [ratio for each, ratio in zip(good, ratios, strict=True) if each.nodes >= LARGE]
        if large:
            lines[-1] += f" ({statistics.median(large):.1f} for the {len(large)} of {LARGE} nodes and more)"
    lines += [f"  {each.name}: {', '.join(each.verdicts)}" for each in done if each.verdicts]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
