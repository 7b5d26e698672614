"""What a run of a block has shown, as findings: the two accesses, in words, and what mends them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from fencepost.hosts.ptx.launches.thread_names import thread_number, two_accesses
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.proof.kernel_and_launch import KernelAndLaunch
from fencepost.hosts.ptx.reading.effects import effect, waits_for_copies
from fencepost.hosts.ptx.runs.observed_races import Conflict, CopyInRace
from fencepost.hosts.ptx.runs.race_iterations import IN_LATER, Iterations, told_apart_by
from fencepost.hosts.ptx.runs.race_order import RaceOrder, order_of
from fencepost.hosts.ptx.runs.simulation_setup import MissedBarrier, Setup, SimulationResult, placed_variables
from fencepost.hosts.ptx.runs.usual_blocks import Block
from fencepost.hosts.ptx.verdicts import (
    Finding,
    MissingBarrier,
    SharedVariable,
    Site,
    Thread,
    Wait,
    bytes_of,
)
from fencepost.report.words import nth_newest

OUTSIDE = "outside of any `if` or loop that not all threads enter"
"""Where a barrier of all threads has to stand, if one of two accesses is for some of them."""
AROUND_BOTH = "at either end of the loop around both"
"""Where one goes that orders an iteration before the next."""
BOTH_SIDES = (
    "if threads take both sides of the condition in one iteration, move one of the two out of it as well"
)
"""What a barrier at the end of a loop does not mend."""
UNLIKE_ATOMICS = " (atomics of different sizes)"
"""Why two atomics race."""


def findings_of(
    case: KernelAndLaunch, setup: Setup, seen: SimulationResult, iterations: Iterations
) -> list[Finding]:
    """Races and divergent barriers of a run, each pair of lines once."""
    found: dict[object, Finding] = {}
    values = {f"block.{axis}": size for axis, size in zip("xyz", setup.block, strict=True)}
    values |= {**seen.chosen, **setup.parameters}
    chosen = tuple(
        name
        for name in values
        if name.partition("+")[0] in {each.name for each in case.routine.parameters}
        and name not in case.launch.parameters
    )
    for missed in seen.missed:
        finding = _divergence(case, setup, missed, values)
        found.setdefault((finding.first.ptx_line, finding.second.ptx_line, "FP002"), finding)
    # Of two instructions, threads of two warps say more than two of one: what mends it for these mends it for all.
    for conflict in sorted(seen.conflicts, key=lambda each: each.in_one_warp):
        key = (frozenset(conflict.places), conflict.severity)
        if key not in found:
            found[key] = _race(case, (setup, seen), conflict, values, iterations)
    ordered = sorted(found.values(), key=lambda each: (each.severity != "error", each.first.ptx_line))
    return [replace(each, chosen=chosen) for each in ordered[:20]]


def thread_of(block: Block, number: int) -> Thread:
    """The thread of a block with a number: x first, then y, then z."""
    x, y, _ = block
    return number % x, number // x % y, number // (x * y)


def _race(
    case: KernelAndLaunch,
    run: tuple[Setup, SimulationResult],
    conflict: Conflict,
    values: Mapping[str, int],
    iterations: Iterations,
) -> Finding:
    """The finding of a race: who does what in which order (the message), and what mends it."""
    setup, seen = run
    at = sorted(range(2), key=lambda at: case.position(conflict.places[at]))
    in_one_warp = conflict.in_one_warp
    first, second = conflict.places[at[0]], conflict.places[at[1]]
    order = order_of(case.flow, (first, second), in_one_warp=in_one_warp)
    copy = conflict.copy
    if order.swapped if copy is None else first != copy.place:
        first, second, at = second, first, at[::-1]
    sites = case.site(first), case.site(second)
    order = replace(order, later=order.later or (not order.apart and _is_unrolled(*sites)))
    threads = thread_of(setup.block, conflict.threads[at[0]]), thread_of(setup.block, conflict.threads[at[1]])
    who = [f"thread {thread_number(each, setup.block)}" for each in threads]
    around = [iterations.get((conflict.times[number], conflict.threads[number]), {}) for number in at]
    loops = told_apart_by(around[0], around[1], order.later)
    variable, offset = _variable(case, conflict.address)
    doing = _doing(case, first), _doing(case, second)
    barrier = None
    if copy is None:
        message = (
            f"{two_accesses(threads, doing, setup.block, order.later)} the same {bytes_of(variable)} "
            f"{f'{IN_LATER}, ' if order.later else ''}with no barrier between them"
        )
        if first == second:
            fix = "let one thread store, or use an atomic"
        elif not order.later and _is_update(*sites):
            fix = (
                f"use an atomic: of two threads that update the same bytes at {sites[0]}, one update is lost"
            )
        elif not order.later and _is_one_statement(case, first, second):
            fix = _split(sites[0], in_one_warp, _come_to_both(seen, first, second))
        else:
            fix = _order_fix(order, sites, in_one_warp, _come_to_both(seen, first, second))
            barrier = None if order.apart else MissingBarrier(in_one_warp, order.later)
        if doing == ("updates", "updates"):
            message, fix = message + UNLIKE_ATOMICS, f"use atomics of one size, or {fix}"
        wait = None
    else:
        own = threads[0] == threads[1]
        what = f"{who[1]} {doing[1]} {bytes_of(variable)}, which {'its own copy' if own else f'the copy of {who[0]}'}"
        message, fix, wait = _about_copy(case, copy, what, (first, second), order, own=own)
    if conflict.severity == "warning":
        message += " (an atomic, and a strong load)"
    elif in_one_warp and copy is None:
        message += " (both threads are in one warp)"
    bytes_ = offset, conflict.size
    found = Finding(
        "FP001", conflict.severity, message, *sites, threads, bytes_, values, fix, wait=wait, barrier=barrier
    )
    in_one_warp &= copy is None
    return replace(found, variable=variable, iterations=loops, in_one_warp=in_one_warp)


def _about_copy(
    case: KernelAndLaunch,
    copy: CopyInRace,
    what: str,
    places: tuple[Place, Place],
    order: RaceOrder,
    *,
    own: bool,
) -> tuple[str, str, Wait | None]:
    """What is wrong where a copy races: it is not waited for, or too late, or there is no barrier after the wait.

    Its `own` copy a thread has to wait for, and needs no barrier.
    """
    first, second = map(case.site, places)
    if copy.wait is None and copy.refills and order.without_barrier and not own:
        message = f"{what} may overwrite first, with no barrier between them"
        moved = f"put the copy of {first} after {second}, with __syncthreads() between them"
        return message, f"copy into another buffer, or {moved}", None
    if copy.wait is None:
        message = f"{what} may not have written yet: nothing waits for it"
        wait = f"wait for the copy of {first} (cp.async.wait_group 0)"
        if own:
            return message, f"{wait} before {second}", None
        if order.without_barrier:
            return message, f"{wait}, then __syncthreads(), before {second}", None
        return message, f"{wait} before the barrier ahead of {second}", None
    site = case.site(copy.wait)
    if copy.complete:
        message = f"{what} writes, with no barrier after the wait for it"
        later = " of the next iteration" if case.position(copy.wait) > case.position(places[1]) else ""
        fix = f"put __syncthreads() between the wait at {site} and {second}{later}"
        return (
            message,
            fix,
            Wait(site, "the copying thread waits here; others need a barrier after it", False),
        )
    message = f"{what} may not have written yet: the wait at {site} lets it stay in flight"
    count = waits_for_copies(case.flow.blocks[copy.wait.block].instructions[copy.wait.index]) or 0
    newest = "the newest group" if count == 1 else f"the {count} newest groups"
    leaves = f"`{site.instruction}` leaves {newest} in flight; this copy is in the {nth_newest(copy.newest)}"
    more = count - copy.newest + 1
    many = "one group" if more == 1 else f"{more} groups"
    fix = (
        f"leave {many} fewer in flight at {site}: `cp.async.wait_group {copy.newest - 1}` instead of {count}"
    )
    return message, fix, Wait(site, leaves)


def _is_update(first: Site, second: Site) -> bool:
    """Whether a line loads a value and stores a new one to the same address, as `count[i]++` does."""
    addresses = [re.search(r"\[([^]]+)\]", each.instruction) for each in (first, second)]
    same = addresses[0] is not None and addresses[1] is not None and addresses[0][1] == addresses[1][1]
    return (
        same and first.source_line == second.source_line and first.instruction[:2] != second.instruction[:2]
    )


def _is_one_statement(case: KernelAndLaunch, first: Place, second: Place) -> bool:
    """Whether a statement loads and then stores, in one and the same iteration: no barrier can stand in between."""
    if first.block != second.block or first.index >= second.index or _doing(case, first) != "reads":
        return False
    store, *between = reversed(case.flow.blocks[first.block].instructions[first.index : second.index + 1])
    same = bool(store.site.source_line) and store.site.is_same_source(case.site(first))
    return same and all(each.written != store.written for each in between)


def _split(site: Site, in_one_warp: bool, by_all: bool) -> str:
    """What puts the load and the store of one statement in order."""
    sync = "__syncwarp()" if in_one_warp else "__syncthreads()"
    where = "" if by_all or in_one_warp else f" ({OUTSIDE})"
    return f"{site} loads and stores at once: load into a variable, then {sync}{where}, then store"


def _is_unrolled(first: Site, second: Site) -> bool:
    """Whether code of an earlier line comes later: two iterations of a loop that the compiler has written out."""
    lines = [each.source_line for each in (first, second) if not each.inlined_at]
    same = first.source_file == second.source_file
    return same and len(lines) == 2 and (lines[0] or 0) > (lines[1] or 0)


def _come_to_both(seen: SimulationResult, first: Place, second: Place) -> bool:
    """Whether all threads of the block came to two accesses, so that a barrier may stand beside any of them."""
    return all(place in seen.came and bool(seen.came[place].all()) for place in (first, second))


def _order_fix(order: RaceOrder, sites: tuple[Site, Site], in_one_warp: bool, by_all: bool) -> str:
    """What puts two accesses in order. A barrier of all threads must not stand where only some of them come."""
    sync = "__syncwarp()" if in_one_warp else "__syncthreads()"
    if order.apart:
        return (
            f"{sites[0]} and {sites[1]} are on two sides of a condition, where no barrier can be between them: move "
            f"one of them out of it, with {sync} in between, or make both atomic"
        )
    if order.later:
        also = f"; {BOTH_SIDES}" if order.sides else ""
        between = f"{sites[0]} and {sites[1]} of the next iteration"
        return f"put {sync} between {between}: {AROUND_BOTH}{also}"
    where = "" if by_all or in_one_warp else f", {OUTSIDE}"
    return f"put {sync} between {sites[0]} and {sites[1]}{where}"


def _doing(case: KernelAndLaunch, place: Place) -> str:
    kinds = [each.kind for each in effect(case.flow.blocks[place.block].instructions[place.index]).accesses]
    words = {"read": "reads", "write": "writes", "atomic": "updates", "copy": "copies into"}
    return words[kinds[0]] if kinds else "uses"


def _variable(case: KernelAndLaunch, address: int) -> tuple[SharedVariable | None, int]:
    for each in placed_variables(case.module, case.routine)[1]:
        if each.start <= address < each.start + each.size:
            return SharedVariable(each.name, each.size), address - each.start
    return None, address


def _divergence(
    case: KernelAndLaunch, setup: Setup, missed: MissedBarrier, values: Mapping[str, int]
) -> Finding:
    sites = [case.site(place) for place in missed.places]
    threads = [thread_of(setup.block, each) for each in missed.threads]
    who = [f"thread {thread_number(each, setup.block)}" for each in threads]
    message = (
        f"threads of one block wait at different barriers: {who[0]} at {sites[0]}, {who[1]} at {sites[1]}"
    )
    if missed.parted:
        message = f"{who[1]} waits at a barrier that {who[0]} does not reach with it: they part at {sites[0]}"
    fix = "move the barrier out of the condition, so that all threads of the block reach it"
    return Finding("FP002", "error", message, sites[0], sites[1], (threads[0], threads[1]), None, values, fix)
