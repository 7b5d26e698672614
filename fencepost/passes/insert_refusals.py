"""What `insert` refuses (FP203, FP205, FP207): kernels that no barrier or wait can mend. Nothing is changed then."""

from __future__ import annotations

from fencepost.analysis.access_class import all_ages
from fencepost.analysis.hazards import Effort
from fencepost.analysis.pending import conflicts_left
from fencepost.analysis.program import Program
from fencepost.analysis.skew.transfer import Skewed
from fencepost.analysis.transfer import Placement
from fencepost.analysis.unwaited import MOST_STEPS, uncovered_producers
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark
from fencepost.passes.mbarrier_order import OrderedByMbarriers


def wait_is_missing(program: Program, producer: ops.Operation, consumer: ops.Operation) -> FencepostError:
    """A kernel in which an async operation may be in flight where something must not overtake it."""
    written = [op.origin for op in (producer, consumer) if op.origin]
    return FencepostError(
        "an async operation may still be under way here: a wait is missing or too weak",
        [Mark(producer.span, "this"), Mark(consumer.span, "must not overtake it")],
        code="FP207",
        exit_code=1,
        notes=[("written", "; ".join(written))] if written else [],
        source=program.flow.trace.source,
    )


def refuse_exchange_while_skewed(program: Program, skew: Skewed) -> None:
    """Refuse an exchange where waves are skewed: its own barrier is one too few, and none can be added."""
    table = program.table
    for instance in program.order:
        block = program.flow.blocks[program.instances.nodes[instance].block]
        numbers, extras = dict(table.accesses[instance]), skew.groups.extras[instance]
        for gap, op in enumerate(block.ops):
            if not isinstance(op, ops.SharedMemoryBarrier) or op.owner is None:
                continue
            write, read = numbers.get(gap - 1), numbers.get(gap + 1)
            if write is None or read is None:
                continue
            for relation, (one, _) in enumerate(skew.relations):
                meets = skew.conflicts[relation][read] & all_ages(table, write)
                if (
                    meets
                    and skew.lead(extras, relation) < 0
                    and table.classes[write].waves & skew.groups.masks[one]
                ):
                    raise FencepostError(
                        "no barrier can order the parts of this operation: waves are skewed here, so that its "
                        "own barrier meets another one, and nothing can be put inside of it",
                        [Mark(op.owner.span), *(Mark(at.span, "delayed") for at in program.delayed_at())][:2],
                        code="FP205",
                        exit_code=1,
                        notes=[
                            ("help", "let the waves that are delayed catch up in front of it"),
                            *([("written", op.owner.origin)] if op.owner.origin else []),
                        ],
                        source=program.flow.trace.source,
                    )


def refuse_what_no_barrier_orders(
    program: Program, placement: Placement, mbarriers: OrderedByMbarriers
) -> None:
    """Some accesses stand where no barrier can come between them: say so before anything is changed.

    Mbarriers may order them all the same.
    """
    left = conflicts_left(program, placement)
    if not left or (placement == program.existing and mbarriers.waited_for and mbarriers.all()):
        return
    effort = Effort(MOST_STEPS)
    before = uncovered_producers(program, placement, effort)
    for position, _, _ in left:
        block = program.flow.blocks[position.block]
        at_end = position.gap >= len(block.ops)
        consumer = block.anchor if at_end and block.anchor is not None else block.ops[position.gap]
        producers = before.get(consumer, [])
        # Where not all of them were found, another one may be out of order.
        if producers and not effort.ended and all(mbarriers.orders(each, consumer) for each in producers):
            continue
        producer = next((each for each in producers if not mbarriers.orders(each, consumer)), consumer)
        if position in program.inside_splits:
            raise FencepostError(
                "no barrier can order these accesses: it would stand between a signal and its wait",
                [Mark(producer.span, "this access"), Mark(consumer.span, "and this one can meet")],
                code="FP205",
                exit_code=1,
                notes=[("help", "signal later or wait earlier, or put a barrier in front of the signal")],
                source=program.flow.trace.source,
            )
        guarded = next(
            other for other in program.flow.blocks if other.origin == block.origin and other.guards
        )
        raise FencepostError(
            "no barrier can order these accesses: it would stand inside a divergent conditional",
            [
                Mark(producer.span, "this access"),
                Mark(consumer.span, "and this one can meet"),
                Mark(guarded.guards[0].branch.span, "only some waves take each side"),
            ],
            code="FP203",
            # The input is well-formed; it is the kernel that cannot be mended.
            exit_code=1,
            notes=[("help", "end the conditional between the two, or let a single wave do both")],
            source=program.flow.trace.source,
        )
