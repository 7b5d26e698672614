"""Groups of skewed waves: who meets which barrier inside divergent conditionals.

A barrier that only some waves reach is met by the next barrier of the others, whatever line that stands on. From
then on these waves stand further back in the program than the others, by one rendezvous. Waves that meet the same
such barriers form a *group*. How many rendezvous more than the others each group has passed (its *extra*) has to
be known at every place; where it depends on the way there, or where a group is left with more than the others at the
end, the kernel cannot run to its end on every path, and is refused.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from fencepost.analysis.block_instances import BlockInstance, BlockInstances
from fencepost.flow import Block, Flow
from fencepost.flow.blocks import is_rendezvous
from fencepost.ir import ops
from fencepost.ir.source import FencepostError, Mark

Extras = tuple[int, ...]
"""For each group, how many rendezvous more it has passed than the one that has passed fewest."""

JUDGED = ("help", "`fencepost check` can judge such a kernel; barriers cannot be placed in it yet")


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a kernel, and how far apart they are where each instance begins."""

    masks: tuple[int, ...]
    """The waves of each group, as bits."""
    extras: tuple[Extras, ...]
    arrivals: dict[int, frozenset[int]]
    """For each instance of a block that only some waves run and that has barriers: the groups that meet them."""

    def leads(self) -> set[tuple[int, int, int]]:
        """Every pair of groups, with how far the second can be ahead of the first in rendezvous."""
        count = len(self.masks)
        return {
            (one, other, extras[other] - extras[one])
            for extras in self.extras
            for one in range(count)
            for other in range(count)
        }


def find_groups(flow: Flow, instances: BlockInstances) -> Groups:
    """The groups of a kernel with barriers that not all waves meet."""
    _refuse_some_waves(flow)
    guarded = {
        block.index for block in flow.blocks if block.guards and any(is_rendezvous(op) for op in block.ops)
    }
    _refuse_what_is_not_followed(flow, guarded)
    waves = range(flow.trace.waves)
    everyone = (1 << flow.trace.waves) - 1
    here: dict[int, int] = {}
    for instance in instances.order:
        block = flow.blocks[instances.nodes[instance].block]
        if block.index in guarded:
            here[instance] = _waves_in(flow, instances, instances.nodes[instance])
    kinds: dict[tuple[bool, ...], int] = {}
    for wave in waves:
        kind = tuple(bool(met >> wave & 1) for met in here.values())
        kinds[kind] = kinds.get(kind, 0) | 1 << wave
    masks = tuple(sorted(kinds.values(), key=lambda mask: mask & -mask))
    assert sum(masks) == everyone
    arrivals = {
        instance: frozenset(group for group, mask in enumerate(masks) if not mask & ~met)
        for instance, met in here.items()
    }
    return Groups(masks, _extras(flow, instances, masks, arrivals), arrivals)


def one_group(flow: Flow, instances: BlockInstances) -> Groups:
    """All waves of a kernel as one group, which is never apart from itself."""
    return Groups(((1 << flow.trace.waves) - 1,), ((0,),) * len(instances.nodes), {})


def _refuse_some_waves(flow: Flow) -> None:
    """A barrier for some waves orders nothing for the others, and is not followed."""
    for block in flow.blocks:
        for op in block.ops:
            if isinstance(op, ops.SharedMemoryBarrier) and op.waves is not None:
                raise FencepostError(
                    f"a barrier for waves {op.waves[0]}..{op.waves[1]}: not all waves meet it",
                    [Mark(op.span)],
                    code="FP201",
                    notes=[JUDGED],
                    source=flow.trace.source,
                )


def _refuse_what_is_not_followed(flow: Flow, guarded: set[int]) -> None:
    """Split barriers, and accesses beside a barrier that only some waves meet."""
    for block in flow.blocks:
        for op in block.ops:
            if isinstance(op, ops.MbarrierOperation):
                raise FencepostError(
                    "an mbarrier in a kernel whose waves are skewed",
                    [Mark(op.span), *_first_barrier(flow, guarded)],
                    code="FP201",
                    notes=[JUDGED],
                    source=flow.trace.source,
                )
            if isinstance(op, (ops.SharedMemoryBarrierSignal, ops.SharedMemoryBarrierWait)):
                if block.guards:
                    raise _refused(flow, block, op)
                raise FencepostError(
                    "a split barrier in a kernel whose waves are skewed",
                    [Mark(op.span), *_first_barrier(flow, guarded)],
                    code="FP201",
                    notes=[JUDGED],
                    source=flow.trace.source,
                )
    branches = {guard.branch for index in guarded for guard in flow.blocks[index].guards}
    for block in flow.blocks:
        around = next((guard.branch for guard in block.guards if guard.branch in branches), None)
        if around is None:
            continue
        access = next((op for op in block.ops if isinstance(op, ops.MemoryOperation)), None)
        if access is not None:
            index = next(
                index for index in guarded if any(g.branch is around for g in flow.blocks[index].guards)
            )
            barrier = next(op for op in flow.blocks[index].ops if is_rendezvous(op))
            raise _refused(flow, flow.blocks[index], barrier, access)


def _refused(
    flow: Flow, block: Block, op: ops.Operation, beside: ops.Operation | None = None
) -> FencepostError:
    shown = op.owner or op
    marks = [Mark(shown.span), Mark(block.guards[-1].branch.span, "only some waves take this side")]
    text = f"{shown.mnemonic} inside a divergent conditional: not all waves meet it"
    if beside is not None and (beside.owner or beside) is not shown:
        text += ", and shared memory is accessed beside it"
        marks.append(Mark((beside.owner or beside).span, "accessed here"))
    return FencepostError(text, marks, code="FP201", notes=[JUDGED], source=flow.trace.source)


def _first_barrier(flow: Flow, guarded: set[int]) -> list[Mark]:
    block = flow.blocks[min(guarded)]
    return [Mark(next(op for op in block.ops if is_rendezvous(op)).span, "only some waves meet this one")]


def _waves_in(flow: Flow, instances: BlockInstances, instance: BlockInstance) -> int:
    """The waves that run a block, as bits; refused if that is not known."""
    met = instances.waves_certain(flow, instance)
    if met != instances.waves_admitted(flow, instance):
        block = flow.blocks[instance.block]
        op = next(op for op in block.ops if is_rendezvous(op))
        raise FencepostError(
            f"{op.mnemonic} inside a divergent conditional: which waves meet it is not known",
            [Mark(op.span), Mark(block.guards[-1].branch.span, "this is what decides")],
            code="FP201",
            notes=[JUDGED],
            source=flow.trace.source,
        )
    return met


# ---------------------------------------------------------------- how far apart


def _extras(
    flow: Flow, instances: BlockInstances, masks: tuple[int, ...], arrivals: dict[int, frozenset[int]]
) -> tuple[Extras, ...]:
    """How far the groups are apart where each instance begins."""
    none = (0,) * len(masks)
    found: dict[int, Extras] = dict.fromkeys(range(instances.entries), none)
    todo = deque(found)
    while todo:
        instance = todo.popleft()
        block = flow.blocks[instances.nodes[instance].block]
        extras = found[instance]
        for op in block.ops:
            if instance in arrivals and is_rendezvous(op):
                extras = after_arrival(extras, arrivals[instance])
        if not instances.edges[instance] and any(extras):
            raise _left_apart(flow, masks, extras)
        for target, _ in instances.edges[instance]:
            if target not in found:
                found[target] = extras
                todo.append(target)
            elif found[target] != extras:
                raise _depends_on_the_way(flow, flow.blocks[instances.nodes[target].block])
    return tuple(found.get(instance, none) for instance in range(len(instances.nodes)))


def after_arrival(extras: Extras, arriving: frozenset[int]) -> Extras:
    """How far apart the groups are behind a barrier that some of them have met."""
    more = [extra + (group in arriving) for group, extra in enumerate(extras)]
    return tuple(extra - min(more) for extra in more)


def waves_named(mask: int) -> str:
    """Some waves, for people: `wave 3`, `waves 4 to 7`, `waves 1, 3, 5, 7`."""
    waves = [wave for wave in range(mask.bit_length()) if mask >> wave & 1]
    if len(waves) == 1:
        return f"wave {waves[0]}"
    if waves[-1] - waves[0] == len(waves) - 1 and len(waves) > 2:
        return f"waves {waves[0]} to {waves[-1]}"
    return f"waves {', '.join(str(wave) for wave in waves)}"


def _left_apart(flow: Flow, masks: tuple[int, ...], extras: Extras) -> FencepostError:
    most, least = extras.index(max(extras)), extras.index(0)
    count = f"{extras[most]} barrier{'s' if extras[most] > 1 else ''} more"
    return FencepostError(
        f"{waves_named(masks[most])} meet{'s' if masks[most] & (masks[most] - 1) == 0 else ''} {count} than "
        f"{waves_named(masks[least])}, and would wait for ever",
        _conditional_barriers(flow),
        code="FP208",
        exit_code=1,
        notes=[("help", "every wave has to meet as many barriers as every other one, on every path")],
        source=flow.trace.source,
    )


def _depends_on_the_way(flow: Flow, block: Block) -> FencepostError:
    first = block.ops[0] if block.ops else block.anchor
    here = [Mark(first.span, "waves can come here with and without it")] if first is not None else []
    return FencepostError(
        "the skew of the waves depends on the path that they have taken",
        [*_conditional_barriers(flow)[:1], *here],
        code="FP201",
        notes=[JUDGED],
        source=flow.trace.source,
    )


def _conditional_barriers(flow: Flow) -> list[Mark]:
    return [
        Mark(op.span, "only some waves meet this one")
        for block in flow.blocks
        if block.guards
        for op in block.ops
        if is_rendezvous(op)
    ][:2]
