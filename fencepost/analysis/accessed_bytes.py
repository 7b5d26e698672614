"""Which bytes an access touches: regions, regions of each wave, or expressions of the loops around it."""

from __future__ import annotations

from typing import NamedTuple

from fencepost.analysis.access import Region, depends_on_wave, in_each_slot, regions_of
from fencepost.analysis.footprints import Footprint, Range, footprint_of, narrowed
from fencepost.flow import Block, Flow
from fencepost.ir.buffers import BufferArg, View
from fencepost.ir.expr import LANE, Var, evaluate, leaves


class AccessedBytes(NamedTuple):
    """The bytes of an access: see AccessClass."""

    regions: tuple[Region, ...]
    by_wave: tuple[tuple[Region, ...], ...] = ()
    footprints: tuple[Footprint, ...] = ()
    ranges: tuple[Range, ...] = ()


def accessed_bytes(
    flow: Flow, block: Block, views: tuple[View, ...], env: dict[str, int], slots: bool
) -> AccessedBytes:
    """The bytes of some views in a block, with what is known of numbers there."""
    waves = flow.trace.waves
    if slots and any(_moves_with_a_loop(view, env) for view in views):
        footprints, ranges = _footprints(flow, block, views, env)
        if footprints:
            return AccessedBytes(tuple(footprint.within for footprint in footprints), (), footprints, ranges)
    if not slots:
        views = tuple(view.buffer.whole() if _slot_moves(view, env) else view for view in views)
    if not any(depends_on_wave(view) for view in views):
        return AccessedBytes(tuple(region for view in views for region in regions_of(view, env, block.frame)))
    by_wave = tuple(
        tuple(region for view in views for region in regions_of(view, env, block.frame, wave))
        for wave in range(waves)
    )
    return AccessedBytes(tuple(dict.fromkeys(region for regions in by_wave for region in regions)), by_wave)


def widened(regions: tuple[Region, ...], granule: int) -> tuple[Region, ...]:
    """Regions that contain these and begin and end at multiples of `granule`."""
    wide = (
        Region(region.space, region.lo // granule * granule, -(-region.hi // granule) * granule)
        for region in regions
    )
    return tuple(dict.fromkeys(wide))


def is_known(view: View, env: dict[str, int], wave: int) -> bool:
    """Whether it is known which bytes a wave touches through a view."""
    if isinstance(view.buffer, BufferArg) and view.buffer.name not in env:
        return False
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return all(evaluate(part, env | {LANE: 0}, wave) is not None for part in parts)


def deciding_names(views: tuple[View, ...]) -> tuple[str, ...]:
    """The numbers, and the names of buffers, that decide which bytes some views are."""
    found: dict[str, None] = {}
    for view in views:
        if isinstance(view.buffer, BufferArg):
            found[view.buffer.name] = None
        for part in (view.slot, view.lo, view.hi):
            if part is not None:
                found |= {leaf.name: None for leaf in leaves(part) if isinstance(leaf, Var)}
    return tuple(found)


def _moves_with_a_loop(view: View, env: dict[str, int]) -> bool:
    """Whether its bytes depend on a number that is not known."""
    parts = (part for part in (view.slot, view.lo, view.hi) if part is not None)
    return any(isinstance(leaf, Var) and leaf.name not in env for part in parts for leaf in leaves(part))


def _slot_moves(view: View, env: dict[str, int]) -> bool:
    """Whether its slot depends on a number that is not known."""
    return view.slot is not None and _moves_with_a_loop(View(view.buffer, view.slot), env)


def _footprints(
    flow: Flow, block: Block, views: tuple[View, ...], env: dict[str, int]
) -> tuple[tuple[Footprint, ...], tuple[Range, ...]]:
    """The bytes as expressions of the loops around them; nothing if something is unknown altogether."""
    chain: list[Range] = []
    for loop in reversed(list(flow.loops_around(block.index))):
        op = loop.op
        chain.append(
            Range(loop.index, "", 0, None, 1)
            if op is None
            else Range(loop.index, op.var, op.start, op.stop, op.step)
        )
    # A function's loops stand inside those of whoever calls it, and have names of their own.
    depth = len(block.calls)
    by_name = {r.name: r for r in chain if r.name and _depth_of(flow, r.loop) == depth}
    found: list[Footprint | None] = []
    for view in views:
        footprint = footprint_of(view, env, block.frame, by_name)
        # A slot that is unknown altogether: that part of each slot.
        parts = in_each_slot(view, env) if footprint is None else []
        found += [footprint_of(part, env, block.frame, by_name) for part in parts] or [footprint]
    footprints = tuple(
        narrowed(footprint, by_name, flow.trace.waves) for footprint in found if footprint is not None
    )
    if len(footprints) != len(found):
        return (), ()
    used = _names_used(footprints)
    if not used:
        return (), ()
    last = max(place for place, r in enumerate(chain) if r.name in used and by_name.get(r.name) is r)
    return footprints, tuple(
        r if by_name.get(r.name) is r else r._replace(name="") for r in chain[: last + 1]
    )


def _names_used(footprints: tuple[Footprint, ...]) -> set[str]:
    parts = (part for footprint in footprints for part in (footprint.lo, footprint.hi))
    return {leaf.name for part in parts for leaf in leaves(part) if isinstance(leaf, Var)}


def _depth_of(flow: Flow, loop: int) -> int:
    """How many calls deep a loop stands."""
    return len(flow.blocks[flow.loops[loop].header].calls)
