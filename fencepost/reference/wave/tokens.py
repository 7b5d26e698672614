"""Names that stand for the completion of async operations: where they are made, forwarded and still needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.flow import Block, Flow
from fencepost.ir import ops
from fencepost.ir.expr import is_divergent
from fencepost.ir.loop_carried import names_of

Token = ops.ValueOperation
"""An async operation, a null dependency, or a name that a loop or conditional forwards."""


@dataclass(slots=True)
class LiveTokens:
    """For each block, the tokens that something from there on still needs."""

    flow: Flow
    at_start: list[set[Token]] = field(default_factory=list)
    at_end: list[set[Token]] = field(default_factory=list)


def waits_in(block: Block) -> Iterator[tuple[int, ops.SharedMemoryBarrier | ops.MemoryCounterWait]]:
    """The barriers and waits of a block that come after something, and their places."""
    for gap, op in enumerate(block.ops):
        if isinstance(op, ops.SharedMemoryBarrier | ops.MemoryCounterWait) and op.uses:
            yield gap, op


def assigned(block: Block) -> dict[Token, tuple[Token, ...]]:
    """The names that get a new meaning when a block is left, and what they can stand for then.

    Of a divergent conditional some waves take each side: behind it a result is what either side gave.
    """
    anchor = block.anchor
    owner: ops.Operation | None = anchor
    values: tuple[ops.Forwarded | None, ...]
    if isinstance(anchor, ops.Next | ops.Give):
        owner = anchor.graph.owner if anchor.graph is not None else None
        values = anchor.values
    elif isinstance(anchor, ops.Iterate):
        values = tuple(carried.init for carried in anchor.carried)
    else:
        return {}
    assert isinstance(owner, ops.Iterate | ops.Conditional)
    second = (
        isinstance(owner, ops.Conditional)
        and is_divergent(owner.condition)
        and anchor is not None
        and anchor.graph is owner.orelse
    )
    return {
        carried: (value, carried) if second else (value,)
        for carried, value in zip(names_of(owner), values, strict=True)
        if isinstance(value, ops.ValueOperation)
    }


def find_live(flow: Flow) -> LiveTokens:
    """Walk back from every use of a token to where it is made."""
    live = LiveTokens(flow, [set() for _ in flow.blocks], [set() for _ in flow.blocks])
    made = [{op for op in block.ops if isinstance(op, ops.AsyncOperation)} for block in flow.blocks]
    todo: list[tuple[int, Token]] = []

    def needed_at_start(block: int, token: Token) -> None:
        if token not in live.at_start[block]:
            live.at_start[block].add(token)
            todo.append((block, token))

    for block in flow.blocks:
        before: set[ops.Operation] = set()
        place = 0
        for gap, op in waits_in(block):
            before.update(block.ops[place:gap])
            place = gap
            for token in op.uses:
                if token not in before:
                    needed_at_start(block.index, token)
    handed = [assigned(block) for block in flow.blocks]
    while todo:
        index, token = todo.pop()
        for source in flow.blocks[index].predecessors:
            for wanted in handed[source].get(token, (token,)):
                if wanted in live.at_end[source]:
                    continue
                live.at_end[source].add(wanted)
                if wanted not in made[source]:
                    needed_at_start(source, wanted)
    return live
