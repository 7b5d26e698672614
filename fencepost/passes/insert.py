"""`insert`: put in the barriers and waits that a kernel lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fencepost.analysis.build_program import read_program, with_fixed_waits, with_other_counts
from fencepost.analysis.conflicts import Filter
from fencepost.analysis.hazards import Hazard, hazards
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.skew.transfer import Skewed
from fencepost.analysis.transfer import Placement
from fencepost.analysis.unwaited import unwaited, waits_enough
from fencepost.emit.write import Barrier, Inserted, write_decision
from fencepost.flow import DEFAULT_ESTIMATES, Estimates, Flow, Position, build_flow
from fencepost.gc_pause import collection_paused
from fencepost.ir import ops
from fencepost.ir.builder import Kernel
from fencepost.ir.source import FencepostError
from fencepost.ir.trace import CapturedTrace, trace_of
from fencepost.option_fields import option
from fencepost.passes.insert_refusals import (
    refuse_exchange_while_skewed,
    refuse_what_no_barrier_orders,
    wait_is_missing,
)
from fencepost.passes.mbarrier_order import OrderedByMbarriers
from fencepost.phases import begin_phase
from fencepost.placement import strategy_named
from fencepost.placement.divergent_waits import stands_before, waits_inside
from fencepost.placement.driver import decide
from fencepost.placement.options import PlacementOptions
from fencepost.placement.reasons import Reasons, comment_for
from fencepost.placement.strategy import Decision
from fencepost.placement.stronger_waits import StrongerWait, strengthen, weaken
from fencepost.placement.wait_counts import more_counts
from fencepost.targets import TargetConfig, target_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(PlacementOptions):
    """Put in the barriers and waits that a kernel lacks. What none can fix is an error, and changes nothing."""

    target: str | TargetConfig = option("", "the GPU")
    slots: bool = option(
        True, "take what depends on a loop's numbers for the whole allocation, for comparison", "--no-slots"
    )
    estimates: Estimates = DEFAULT_ESTIMATES
    ignore: Filter | None = option(
        None, "pairs of accesses for which this is True: the caller answers for them"
    )
    waits: bool = option(
        True,
        "put in waits, too; without, an async operation that is not waited for where it must be is an error (FP207)",
    )
    stronger_waits: bool = option(
        False,
        "without `waits`: make those of the kernel stronger, as little as is enough, before it is an error",
    )
    reasons: int = option(8, "how many hazards are given for each barrier at most, the nearest first")
    comments: bool = option(
        True,
        "let the new operations say what they are there for; without, that is looked up when it is asked for",
    )

    def apply(self, kernel: CapturedTrace | Kernel, flow: Flow | None = None) -> Inserted:
        """Put barriers and waits into a kernel; its `flow` as it stands now is built if it is not given."""
        trace = trace_of(kernel)
        inside: list[Barrier] = []
        stronger: list[StrongerWait] = []
        counts = 0
        with collection_paused():
            try:
                while True:
                    program, decision, mbarriers = self.decide(
                        flow or build_flow(trace, self.estimates), stronger, counts
                    )
                    flow = None
                    found = self.needed_inside(program, decision.placement, mbarriers) if self.waits else {}
                    counts = more_counts(program, found, found, self.config.widest_waits())
                    if not found:
                        break
                    if not counts:
                        inside += self.wait_inside(program, decision.placement, found)
                if program.has_closed_places:
                    refuse_what_no_barrier_orders(program, decision.placement, mbarriers)
            except FencepostError:
                for wait in inside:
                    assert wait.op.graph is not None
                    wait.op.graph.remove(wait.op)
                weaken(stronger)
                raise
            begin_phase(f"writing @{trace.name}")
            done = write_decision(program, decision, self.config, self.reasons, self.comments)
        executed = done.executed + sum(wait.executed for wait in inside)
        return replace(done, barriers=(*inside, *done.barriers), executed=executed, stronger=tuple(stronger))

    @property
    def config(self) -> TargetConfig:
        """The target."""
        return self.target if isinstance(self.target, TargetConfig) else target_named(self.target)

    def decide(
        self, flow: Flow, stronger: list[StrongerWait], counts: int = 0
    ) -> tuple[Program, Decision, OrderedByMbarriers]:
        """Where barriers and waits go in a kernel, and what mbarriers order in it; waits that are made stronger.

        The waits that are put in can leave `counts` operations outstanding, or more.
        """
        config, trace = self.config, flow.trace
        begin_phase(f"analysing @{trace.name}")
        strategy = strategy_named(self.strategy)
        splits = strategy.wants_splits(config) and not self.whole and trace.waves > 1
        ids = (ops.WORKGROUP, *range(1, 1 + config.barriers_to_name())) if splits else ()
        program = self.read(flow, ids, self.slots, counts)
        if isinstance(program.transfer, Skewed):
            refuse_exchange_while_skewed(program, program.transfer)
        if not self.waits:
            enough = waits_enough(program)
            if not enough and self.stronger_waits:
                stronger += strengthen(program)
                program = with_other_counts(program) or self.read(flow, ids, self.slots)
                enough = waits_enough(program)
            if not enough:
                raise wait_is_missing(program, *next(unwaited(program)))
            program = with_fixed_waits(program)

        def coarse() -> Program | None:
            if len(program.instances.nodes) <= len(program.flow.blocks):
                return None
            try:
                rough = self.read(flow, ids, False, counts)
            except FencepostError:
                # Pairs of signal and wait that depend on numbers seem to be out of step then.
                return None
            return rough if self.waits else with_fixed_waits(rough)

        mbarriers = OrderedByMbarriers(trace, flow.has(ops.MbarrierWait))
        open_yet = self.waits and mbarriers.waited_for and conflicts_left(program, program.existing)
        if open_yet and mbarriers.all():
            return program, Decision(self.strategy, program.existing, mbarriers.words()), mbarriers
        begin_phase(f"choosing barriers for @{trace.name}")
        decision = decide(program, coarse, config, self, splits=splits)
        placement = decision.placement
        put_in = [at for at, sync in placement.items() if sync != program.existing.get(at)]
        counts = more_counts(program, placement, put_in, config.widest_waits())
        return self.decide(flow, stronger, counts) if counts else (program, decision, mbarriers)

    def read(self, flow: Flow, barrier_ids: tuple[int, ...], slots: bool, counts: int = 0) -> Program:
        """The kernel, as the analysis sees it."""
        return read_program(
            flow,
            slots=slots,
            ignore=self.ignore,
            barrier_ids=list(barrier_ids),
            # Where waits are not ours to put in, when accesses complete is not followed.
            completion=self.waits,
            counts=counts,
        )

    def hazards_at(
        self, program: Program, placement: Placement, places: Sequence[Position]
    ) -> dict[Position, list[Hazard]]:
        """The hazards whose second access stands right behind each place, as many as are shown."""
        consumers = {at: program.flow.blocks[at.block].ops[at.gap] for at in places}
        found: dict[Position, list[Hazard]] = {at: [] for at in places}
        for hazard in hazards(program, placement):
            for at, consumer in consumers.items():
                if hazard.consumer is (consumer.owner or consumer) and len(found[at]) < self.reasons:
                    found[at].append(hazard)
        return found

    def needed_inside(
        self, program: Program, placement: Placement, mbarriers: OrderedByMbarriers
    ) -> Placement:
        """Waits inside divergent conditionals, where a wave needs them for itself."""
        if not program.flow.sealed or not isinstance(program.transfer, Skewed):
            return {}
        found = {
            at: sync
            for at, sync in waits_inside(program, program.transfer, placement).items()
            # One that stands there already has not helped: another one of the same would not either.
            if not stands_before(program.flow, at, dict(sync.counts))
        }
        if not found or (placement == program.existing and mbarriers.waited_for and mbarriers.all()):
            return {}
        why = self.hazards_at(program, placement, list(found))
        # What an mbarrier has settled needs no other wait.
        for at, known in why.items():
            if known and all(mbarriers.orders(hazard.producer, hazard.consumer) for hazard in known):
                del found[at]
        return found

    def wait_inside(self, program: Program, placement: Placement, found: Placement) -> list[Barrier]:
        """Put those waits in."""
        why = self.hazards_at(program, placement, list(found))
        reasons = Reasons(program, placement, list(found), self.reasons, why)
        emitted = {
            at: ops.MemoryCounterWait(
                dict(sync.counts), comment=comment_for(why[at]) if self.comments else ""
            )
            for at, sync in found.items()
        }
        for at, wait in emitted.items():
            program.flow.insert(at, wait)
        return [
            Barrier(wait, at, program.flow.frequency(at), reasons) for at, wait in sorted(emitted.items())
        ]


def insert_barriers(
    trace: CapturedTrace | Kernel,
    target: str | TargetConfig = "",
    strategy: str = PlacementOptions().strategy,
    **options: Any,
) -> Inserted:
    """Put the barriers and waits into `trace` that it lacks; `options` are the fields of `Insert`."""
    return Insert(target=target, strategy=strategy, **options).apply(trace)


def add_shared_memory_barriers(trace: CapturedTrace | Kernel, target: str = "") -> None:
    """Analyze `trace` and put in the barriers that it lacks, as `target` has them.

    `fencepost.add_shared_memory_barriers` takes a trace of Wave as well; of that, what is about threads is known if
    the Wave host is installed.
    """
    Insert(target=target).apply(trace)
