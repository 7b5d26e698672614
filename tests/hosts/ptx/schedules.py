"""A second opinion on exact runs, with no code in common: small programs of a few warps, and every schedule of them.

A program has a list of acts for each warp: reads and writes of slots, numbered barriers, and mbarriers by parity. All
interleavings are explored. A race is two acts of different warps that are next at the same time, touch the same slot
and do not both read; a hang is a state in which nobody can go on.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.hosts.ptx.all_schedules import shown_by_schedules
from tests.hosts.ptx.exact_kernels import kernel

WARP = 32


@dataclass(frozen=True)
class Act:
    """One step of a warp: `read`, `write`; `sync`, `arrive` (a numbered barrier); `signal`, `wait` (an mbarrier)."""

    does: str
    what: int
    amount: int = 0
    """The warps that a barrier counts, or the parity that a wait is for."""


@dataclass(frozen=True)
class Program:
    """What each warp does, and how many warps arrive at each mbarrier in a phase."""

    warps: tuple[tuple[Act, ...], ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """Where each warp is, who is at the barriers, and the mbarriers with their phases."""

    at: tuple[int, ...]
    blocked: frozenset[tuple[int, int]] = frozenset()
    """Warps that wait, and at which barrier."""
    barriers: tuple[tuple[int, frozenset[int]], ...] = ()
    pending: tuple[int, ...] = ()
    phases: tuple[int, ...] = ()


def random_program(rng: random.Random) -> Program:
    """A program that is often right: warps that hand a slot to each other, with a mistake now and then."""
    count = rng.choice((2, 2, 3))
    warps: list[list[Act]] = [[] for _ in range(count)]
    phases = [0, 0]
    for _ in range(rng.randint(1, 3)):
        slot = rng.randrange(2)
        owner = rng.randrange(count)
        warps[owner].append(Act("write", slot))
        _synchronize(rng, warps, owner, phases)
        for warp in range(count):
            if rng.random() < 0.6:
                warps[warp].append(Act("read", slot))
        if rng.random() < 0.8:
            _synchronize(rng, warps, owner, phases)
    if rng.random() < 0.5:
        victim = rng.choice([acts for acts in warps if acts] or [[Act("read", 0)]])
        victim.pop(rng.randrange(len(victim)))
    return Program(tuple(tuple(acts) for acts in warps), (count, 1))


def _synchronize(rng: random.Random, warps: list[list[Act]], owner: int, phases: list[int]) -> None:
    count = len(warps)
    how = rng.randrange(4)
    if how == 0:
        for acts in warps:
            acts.append(Act("sync", 1, count))
    elif how == 1:
        for warp, acts in enumerate(warps):
            acts.append(Act("arrive" if warp == owner else "sync", 2, count))
    elif how == 2:
        for acts in warps:
            acts += [Act("signal", 0), Act("wait", 0, phases[0] % 2)]
        phases[0] += 1
    else:
        warps[owner].append(Act("signal", 1))
        for acts in warps:
            acts.append(Act("wait", 1, phases[1] % 2))
        phases[1] += 1


def as_ptx(program: Program) -> str:
    """The program as a kernel: each lane has a word of its own in every slot."""
    lines = ["    @!%p2 bra $made;"]
    lines += [
        f"    mbarrier.init.shared.b64 [%r6+{8 * number}], {count * WARP};"
        for number, count in enumerate(program.counts)
    ]
    lines += ["$made:", "    bar.sync 0;", "    shr.u32 %r11, %r1, 5;"]
    for warp, acts in enumerate(program.warps):
        lines += [f"    setp.ne.u32 %p3, %r11, {warp};", f"    @%p3 bra $not{warp};"]
        for number, act in enumerate(acts):
            lines += _lines(act, f"$w{warp}_{number}")
        lines += ["    bra $end;", f"$not{warp}:"]
    return kernel("\n".join([*lines, "$end:"]), WARP * len(program.warps))


def _lines(act: Act, label: str) -> list[str]:
    where = f"[%r5+{128 * act.what}]"
    simple = {
        "read": f"    ld.shared.u32 %r12, {where};",
        "write": f"    st.shared.u32 {where}, %r1;",
        "sync": f"    bar.sync {act.what}, {act.amount * WARP};",
        "arrive": f"    bar.arrive {act.what}, {act.amount * WARP};",
        "signal": f"    mbarrier.arrive.shared.b64 _, [%r6+{8 * act.what}];",
    }
    if act.does in simple:
        return [simple[act.does]]
    wait = f"    mbarrier.try_wait.parity.shared.b64 %p4, [%r6+{8 * act.what}], {act.amount};"
    return [f"{label}:", wait, f"    @!%p4 bra {label};"]


def explore(program: Program) -> set[str]:
    """What some schedule shows: `race`, `hang`, `misuse` (a warp that arrives twice in one phase)."""

    def look(state: State) -> tuple[set[str], list[State]]:
        nexts = {
            warp: program.warps[warp][at]
            for warp, at in enumerate(state.at)
            if at < len(program.warps[warp]) and warp not in {each for each, _ in state.blocked}
        }
        found = _races(nexts)
        following = [after for warp, act in nexts.items() if (after := _step(state, warp, act, found))]
        if not following and any(at < len(program.warps[warp]) for warp, at in enumerate(state.at)):
            found.add("hang")
        return found, following

    start = State((0,) * len(program.warps), pending=program.counts, phases=(0,) * len(program.counts))
    return shown_by_schedules(start, look)


def _races(nexts: dict[int, Act]) -> set[str]:
    touching = [act for act in nexts.values() if act.does in ("read", "write")]
    for number, one in enumerate(touching):
        for other in touching[number + 1 :]:
            if one.what == other.what and "write" in (one.does, other.does):
                return {"race"}
    return set()


def _moved(state: State, warps: set[int]) -> tuple[int, ...]:
    return tuple(at + (warp in warps) for warp, at in enumerate(state.at))


def _step(state: State, warp: int, act: Act, found: set[str]) -> State | None:
    if act.does in ("read", "write"):
        return State(_moved(state, {warp}), state.blocked, state.barriers, state.pending, state.phases)
    if act.does == "wait":
        if state.phases[act.what] % 2 == act.amount:
            return None
        return State(_moved(state, {warp}), state.blocked, state.barriers, state.pending, state.phases)
    if act.does == "signal":
        return _signal(state, warp, act.what)
    barriers = dict(state.barriers)
    here = barriers.get(act.what, frozenset())
    if warp in here:
        found.add("misuse")
        return None
    here |= {warp}
    waits = {(warp, act.what)} if act.does == "sync" else set()
    blocked = state.blocked | waits
    moved = set() if waits else {warp}
    if len(here) == act.amount:
        released = {each for each in blocked if each[1] == act.what}
        moved |= {each for each, _ in released}
        blocked -= released
        here = frozenset()
    barriers[act.what] = here
    kept = tuple(sorted((number, who) for number, who in barriers.items() if who))
    return State(_moved(state, moved), blocked, kept, state.pending, state.phases)


def _signal(state: State, warp: int, what: int) -> State:
    pending, phases = list(state.pending), list(state.phases)
    pending[what] -= 1
    if pending[what] == 0:
        phases[what] += 1
        pending[what] = _COUNTS[what] if what == 1 else len(state.at)
    return State(_moved(state, {warp}), state.blocked, state.barriers, tuple(pending), tuple(phases))


_COUNTS = {1: 1}
"""Arrivals at the second mbarrier in a phase; at the first, every warp arrives."""
