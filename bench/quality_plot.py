"""What `quality.py` measured, as tables in Markdown and as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import exp, inf, log
from statistics import fmean, median

STRATEGIES = ("walk", "eager", "minimize", "intersect", "auto", "optimal")
SAME = 1 + 1e-6
"""Costs closer than this are the same."""


@dataclass
class Outcome:
    """What a strategy made of a kernel."""

    cost: float
    executed: float
    """How often barriers run, without what waits cost."""
    stall: float | None
    """Cycles per wave; None if the kernel cannot be timed."""
    ms: float
    proof: str


@dataclass
class Case:
    """A kernel and what became of it."""

    name: str
    copies: bool
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)

    @property
    def least(self) -> float:
        """The optimum, or the least that is known."""
        return min(outcome.cost for outcome in self.outcomes.values())

    @property
    def needs_any(self) -> bool:
        """Whether every strategy has a result, and any put something in."""
        every = self.outcomes.values()
        return len(every) == len(STRATEGIES) and max(outcome.cost for outcome in every) > 0

    def ratio(self, strategy: str, more: float = 1.0) -> float:
        """The cost of a strategy against the optimum; with one added to both, because that may be nothing."""
        cost, least = self.outcomes[strategy].cost + more, self.least + more
        return cost / least if least else inf if cost else 1.0


@dataclass
class Large:
    """A large kernel and how long `optimal` looked at it."""

    shape: str
    size: int
    limit: float
    cost: float
    minimize: float
    proof: str
    reading: float
    deciding: float
    core: float
    """How much of deciding was CPU time: the rest went to whatever else was running."""


def table(head: str, rows: list[list[str]]) -> None:
    """A table as Markdown, with columns that line up."""
    every = [head.split("|"), *rows]
    widths = [max(len(row[column]) for row in every) for column in range(len(every[0]))]
    lines = [
        " | ".join(cell.rjust(width) if n else cell.ljust(width) for n, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in every)
    ]
    lines.insert(1, " | ".join("-" * (width - 1) + (":" if n else "-") for n, width in enumerate(widths)))
    print("\n".join(f"| {line} |" for line in lines), end="\n\n", flush=True)


def tell_random(title: str, group: list[Case]) -> None:
    """One row for each strategy."""
    cases = [case for case in group if case.needs_any]
    proofs = [case.outcomes["optimal"].proof for case in cases]
    proven = sum(proof.startswith("optimal, proven") for proof in proofs)
    partly = sum(proof.startswith("none runs less") for proof in proofs)
    print(
        f"{title}: {len(cases)} kernels, and {len(group) - len(cases)} that need nothing. Optimum proven: {proven};"
    )
    print(f"in cost, not in exposed latency: {partly}; only to a gap: {len(proofs) - proven - partly}.\n")
    if not cases:
        return
    timed = [case for case in cases if all(each.stall is not None for each in case.outcomes.values())]
    stalls = {name: sum(case.outcomes[name].stall or 0 for case in timed) for name in STRATEGIES}
    rows = []
    for name in STRATEGIES:
        ratios = {case.name: case.ratio(name) for case in cases}
        worst = max(ratios, key=ratios.__getitem__)
        times = sorted(case.outcomes[name].ms for case in cases)
        cells = [
            name,
            f"{sum(case.outcomes[name].cost <= case.least * SAME for case in cases) / len(cases):.1%}",
            f"{exp(fmean(map(log, ratios.values()))):.3f}",
            f"{sum(case.outcomes[name].cost for case in cases) / sum(case.least for case in cases):.3f}",
            f"{ratios[worst]:.2f}" + (f" ({worst})" if ratios[worst] > SAME else ""),
            f"{stalls[name]:,.0f}",
            f"{stalls[name] / stalls['optimal']:.3f}" if stalls["optimal"] else "–",
            f"{median(times):.1f}",
            f"{times[len(times) * 95 // 100]:.1f}",
        ]
        rows.append(cells)
    table(
        "strategy|at the optimum|mean ratio|total ratio|worst ratio|stall|stall ratio|ms, median|ms, 95 %",
        rows,
    )
    if len(timed) < len(cases):
        print(f"Stalls are those of {len(timed)} kernels; the others cannot be timed to their end.\n")


def tell_bundled(cases: list[Case]) -> None:
    """A table each of barriers, stalls and times, one row for each kernel."""
    head = "|".join(["", *STRATEGIES])
    print("Bundled kernels: barriers executed\n")
    table(head, [[case.name, *(f"{o.executed:g}" for o in _in_order(case))] for case in cases])
    print("Bundled kernels: estimated stall in cycles per wave\n")
    table(head, [[case.name, *(f"{o.stall or 0:,.0f}" for o in _in_order(case))] for case in cases])
    print("Bundled kernels: milliseconds\n")
    table(head, [[case.name, *(f"{o.ms:.1f}" for o in _in_order(case))] for case in cases])


def _in_order(case: Case) -> list[Outcome]:
    return [case.outcomes[name] for name in STRATEGIES]


GAPS = {"optimal": "proven", "none ru": "cost proven"}


def tell_large(large: list[Large]) -> None:
    """How `optimal` scales, and whether it keeps its time."""
    print("Large kernels, `optimal` with 2 s\n")
    rows = [
        [
            each.shape,
            f"{each.size:,}",
            f"{each.cost:.6g}",
            f"{each.minimize / each.cost:.3f}",
            GAPS.get(each.proof[:7]) or each.proof.split(" of ")[0],
            f"{each.reading:.2f}",
            f"{each.deciding:.2f}",
        ]
        for each in large
        if each.limit == 2.0
    ]
    table("shape|operations|cost|minimize, ratio|gap|s, analysis|s, deciding", rows)
    print(
        "Time limits, 10,000 operations: seconds of deciding (CPU time), and by how much that is over the limit\n"
    )
    limits = sorted({each.limit for each in large})
    shapes = dict.fromkeys(each.shape for each in large)
    found = {(each.shape, each.limit): each for each in large if each.size == 10_000}
    rows = [[shape, *(_kept(found[shape, limit]) for limit in limits)] for shape in shapes]
    table("|".join(["shape", *(f"{limit:g} s" for limit in limits)]), rows)


def _kept(large: Large) -> str:
    over = large.deciding / large.limit - 1
    return f"{large.deciding:.2f} ({large.core:.2f}) " + (f"{over:+.0%}" if over > 0 else "kept")


# ---------------------------------------------------------------- the picture

CLASSES = (
    ("the optimum", SAME, "#2f6f8f"),
    ("up to 10 % more", 1.1, "#8fc1d4"),
    ("up to 50 % more", 1.5, "#f3d9a4"),
    ("up to twice", 2.0, "#e8a65a"),
    ("more", inf, "#b5482a"),
)
LEFT, WIDE, BAR, STEP = 110, 600, 22, 32


def draw(groups: dict[str, list[Case]], target: str) -> str:
    """For each strategy a bar of kernels, by how much more than the optimum they cost."""
    body: list[str] = []
    top = 96
    for title, group in groups.items():
        cases = [case for case in group if case.needs_any]
        body.append(_text(LEFT, top, f"{title}: {len(cases):,} random kernels", "font-weight='bold'"))
        low = top + 14 + STEP * len(STRATEGIES)
        for tenth in range(0, 11, 2):
            x = LEFT + WIDE * tenth / 10
            body.append(f"<path d='M{x:g} {top + 10}V{low}' stroke='#d8d8d2'/>")
            body.append(_text(x, low + 16, f"{tenth * 10} %", "text-anchor='middle' fill='#666'"))
        for number, name in enumerate(STRATEGIES):
            body += _bar(name, [case.ratio(name, 0.0) for case in cases], top + 16 + STEP * number)
        top = low + 60
    high = top - 18
    body.append(_text(LEFT + WIDE / 2, high - 10, "part of the kernels", "text-anchor='middle' fill='#666'"))
    legend, x = [], float(LEFT)
    for name, _, colour in CLASSES:
        legend.append(f"<rect x='{x:g}' y='52' width='12' height='12' fill='{colour}'/>")
        legend.append(_text(x + 17, 62, name))
        x += 38 + 6.6 * len(name)
    return "\n".join([
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 {high}' font-family='sans-serif' font-size='12'>",
        f"<rect width='760' height='{high}' fill='#fbfbf8'/>",
        _text(LEFT, 32, f"Cost of each strategy against the optimum ({target})", "font-size='17'"),
        *legend, *body, "</svg>\n",
    ])  # fmt: skip


def _bar(name: str, ratios: list[float], y: float) -> list[str]:
    made = [_text(LEFT - 10, y + 15, name, "text-anchor='end'")]
    x, below = float(LEFT), 0.0
    for number, (_, most, colour) in enumerate(CLASSES):
        part = sum(below < ratio <= most for ratio in ratios) / max(len(ratios), 1)
        below, width = most, part * WIDE
        if not width:
            continue
        made.append(f"<rect x='{x:.1f}' y='{y}' width='{width:.1f}' height='{BAR}' fill='{colour}'/>")
        if width > 30:
            ink = "#fff" if number in (0, 4) else "#333"
            words = "> 99 %" if 0.995 <= part < 1 else f"{part * 100:.0f} %"
            made.append(_text(x + width / 2, y + 15, words, f"text-anchor='middle' fill='{ink}'"))
        x += width
    return made


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f"<text x='{x:g}' y='{y:g}' {more}>{escape(words)}</text>"
