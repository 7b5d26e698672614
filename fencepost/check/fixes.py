"""What would help: for each race, where a barrier or wait would have to stand."""

from __future__ import annotations

from dataclasses import replace

from fencepost.check.report import Fix, Race
from fencepost.flow import Block, Flow
from fencepost.ir import ops

MOST_RELATED = 50


def with_fixes(flow: Flow, races: list[Race]) -> list[Race]:
    """The races in the order of the program, each with a fix."""
    blocks = {op: block for block in flow.blocks for op in block.ops}
    places = {op: number for number, op in enumerate(flow.trace.preorder_walk())}
    ordered = sorted(races, key=lambda race: (places[race.second.op], places[race.first.op], race.distance))
    # Which other races a fix covers is looked up among the first ones only: nobody reads thousands.
    return [replace(race, fix=_fix(flow, race, ordered[:MOST_RELATED], blocks)) for race in ordered]


def _fix(flow: Flow, race: Race, races: list[Race], blocks: dict[ops.Operation, Block]) -> Fix:
    if race.kind == "wrong order":
        return Fix("one more barrier on the way from the first to the second, for both groups of waves")
    copy = race.first.op if race.first.by_engine and not race.waited else None
    wait = f"wait_count {copy.counter}=0" if isinstance(copy, ops.AsyncCopy) else ""
    if flow.trace.waves == 1:
        return Fix(wait or "wait_count lds=0", race.second.op)
    if race.signalled:
        return Fix("the wait for the barrier that is signalled already has to come", race.second.op)
    what = f"{wait}, then a barrier," if wait else "a barrier"
    first, second = blocks[race.first.op], blocks[race.second.op]
    shared = {guard.branch for guard in first.guards}
    for guard in second.guards:
        # From the outside in: the first conditional that the way between the two enters.
        if guard.branch not in shared or _entered_again(flow, guard.branch, race):
            return Fix(what, guard.branch)
        if guard not in first.guards:
            break
    if not second.guards:
        return Fix(what, race.second.op, _also(race, races))
    return Fix(
        "no barrier can: it would stand inside a divergent conditional, where only some waves would meet it"
    )


def _entered_again(flow: Flow, branch: ops.Operation, race: Race) -> bool:
    """Whether a loop around `branch` goes round between the two accesses."""
    before = next(block for block in flow.blocks if block.anchor is branch)
    around = {loop.index for loop in flow.loops_around(before.index)}
    return any(loop in around for loop in race.rounds)


def _also(race: Race, races: list[Race]) -> tuple[Race, ...]:
    """Other races whose path leads through the same place."""
    return tuple(
        other for other in races if other.second.op is not race.second.op and race.second.op in other.path[1:]
    )
