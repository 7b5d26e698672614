"""Which barriers a kernel gets whose waves are skewed, or in which it matters when each wave's accesses complete."""

from __future__ import annotations

from dataclasses import replace

from fencepost.analysis.program import Program
from fencepost.analysis.skew.transfer import Skewed
from fencepost.ir.source import FencepostError, Mark
from fencepost.placement.minimize import Minimize
from fencepost.placement.optimal import Optimal
from fencepost.placement.options import PlacementOptions
from fencepost.placement.skew.choose import choose_skewed
from fencepost.placement.skew.fewest_barriers import find_fewest
from fencepost.placement.skew.spacing import spaced
from fencepost.placement.skew.step_compaction import without_repeats
from fencepost.placement.strategy import Decision, Splits, Strategy
from fencepost.targets import TargetConfig


def decide_skewed(
    program: Program, config: TargetConfig, asked: Strategy, options: PlacementOptions
) -> Decision:
    """Where barriers and waits go. Barriers are not split here: an arrive says nothing about what is complete."""
    assert isinstance(program.transfer, Skewed)
    in_step = len(program.transfer.groups.masks) == 1
    if asked.splits is Splits.ALWAYS and not in_step:
        raise FencepostError(
            "barriers cannot be split in a kernel whose waves are skewed",
            [Mark(op.span, "some waves are delayed here") for op in program.delayed_at()][:1],
            code="FP201",
            notes=[
                ("help", "`--strategy auto`, `optimal`, `minimize`, `eager` and `walk` use whole barriers")
            ],
            source=program.flow.trace.source,
        )
    strategy = asked if asked.keeps_positions else Minimize()
    # What stands for an algorithm of someone else may put barriers anywhere.
    compact = program if strategy.keeps_positions else without_repeats(program)
    placement = choose_skewed(compact, strategy, config.widest_waits())
    if not isinstance(asked, Optimal) or not isinstance(asked.picked(program, config), Optimal):
        return Decision(strategy.name, placement if strategy.keeps_positions else spaced(program, placement))
    if in_step and placement == program.existing:
        return Decision(Optimal.name, placement, "optimal, proven (0 constraints)", 0.0)
    if program.table.engines and not program.waits_fixed:
        apart = "completion matters" if in_step else "waves are skewed"
        reason = f"how long to wait for copies is not part of the optimum where {apart}"
        return Decision(strategy.name, spaced(program, placement), f"not proven to be optimal ({reason})")
    limit = asked.seconds if options.seconds is None else options.seconds
    fewest = find_fewest(compact, placement, limit, 0.0 if options.exact else options.near)
    if in_step:
        fewest = replace(fewest, apart="")
    best = fewest.cost if fewest.proven else None
    return Decision(Optimal.name, spaced(program, fewest.placement), str(fewest), best)
