"""Every schedule of small programs in a cluster of two blocks: a second opinion, with no code in common.

A program has a list of acts for each warp of each block: reads and writes of slots in either block, barriers of the
own block, the barrier of the cluster in its two halves, and mbarriers of either block, of which a warp waits for its
own block's. All interleavings are explored. A race is two acts of different warps that are next at the same time,
touch the same slot and do not both read; a hang is a state in which nobody can go on; and a block is gone once its
warps have ended, so that no other may touch it any more.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from tests.hosts.ptx.all_schedules import shown_by_schedules, with_item
from tests.hosts.ptx.exact_kernels import kernel

WARP = 32
BLOCKS = 2
AWAY, ARRIVED, OPEN = "away", "arrived", "open"
FAR = ("read", "write", "signal")
"""Acts that may go to the other block."""


@dataclass(frozen=True)
class Act:
    """One step of a warp: `read`, `write`, `signal`, `wait`, `sync`; `meet` and `leave` are the cluster's barrier."""

    does: str
    what: int = 0
    """The slot or the mbarrier."""
    block: int = 0
    """Where that is."""
    parity: int = 0


@dataclass(frozen=True)
class Program:
    """What each warp does, block by block, and how many warps arrive at each mbarrier in a phase."""

    warps: tuple[tuple[Act, ...], ...]
    blocks: tuple[int, ...]
    """By warp, its block."""
    counts: tuple[int, int]


@dataclass(frozen=True)
class State:
    """Where each warp is, what it has done at the barriers, and the mbarriers of both blocks with their phases."""

    at: tuple[int, ...]
    syncing: frozenset[int] = frozenset()
    cluster: tuple[str, ...] = ()
    pending: tuple[int, ...] = ()
    phases: tuple[int, ...] = ()


def random_program(rng: random.Random) -> Program:
    """A program that is often right: warps that hand slots to each other, with a mistake now and then."""
    blocks = tuple(rng.choice(((0, 1), (0, 0, 1), (0, 1, 1))))
    warps: list[list[Act]] = [[] for _ in blocks]
    phases = [0, 0]
    for _ in range(rng.randint(1, 2)):
        slot, home, owner = rng.randrange(2), rng.randrange(BLOCKS), rng.randrange(len(blocks))
        warps[owner].append(Act("write", slot, home))
        _synchronize(rng, warps, blocks, owner, phases)
        for acts in warps:
            if rng.random() < 0.6:
                acts.append(Act("read", slot, home))
        if rng.random() < 0.9:
            _synchronize(rng, warps, blocks, owner, phases)
    if rng.random() < 0.5:
        _spoil(rng, rng.choice([acts for acts in warps if acts]))
    return Program(tuple(tuple(acts) for acts in warps), blocks, (len(blocks), 1))


def _spoil(rng: random.Random, acts: list[Act]) -> None:
    """One act is left out, or goes to the other block."""
    at = rng.randrange(len(acts))
    if acts[at].does in FAR and rng.random() < 0.5:
        acts[at] = replace(acts[at], block=1 - acts[at].block)
    else:
        acts.pop(at)


def _synchronize(
    rng: random.Random, warps: list[list[Act]], blocks: tuple[int, ...], owner: int, phases: list[int]
) -> None:
    how = rng.randrange(5)
    if how <= 1:
        between = rng.random() < 0.3
        for acts in warps:
            acts += [Act("meet"), *([Act("sync")] if between else []), Act("leave")]
    elif how == 2:
        for acts in warps:
            acts.append(Act("sync"))
    elif how == 3:
        for warp, acts in enumerate(warps):
            acts += [Act("signal", 0, block) for block in range(BLOCKS)]
            acts.append(Act("wait", 0, blocks[warp], phases[0] % 2))
        phases[0] += 1
    else:
        warps[owner] += [Act("signal", 1, block) for block in range(BLOCKS)]
        for warp, acts in enumerate(warps):
            acts.append(Act("wait", 1, blocks[warp], phases[1] % 2))
        phases[1] += 1


# ---- as a kernel


def as_ptx(program: Program) -> str:
    """The program as a kernel: each lane has a word of its own in every slot."""
    lines = [
        f"    @%p2 mbarrier.init.shared.b64 [%r6+{8 * n}], {c * WARP};" for n, c in enumerate(program.counts)
    ]
    lines += ["    barrier.cluster.arrive;", "    barrier.cluster.wait;", "    shr.u32 %r11, %r1, 5;"]
    lines += ["    mov.u32 %r13, %cluster_ctarank;", "    mad.lo.u32 %r11, %r13, 8, %r11;"]
    for block in range(BLOCKS):
        lines.append(f"    mapa.shared::cluster.u32 %r{20 + block}, %r5, {block};")
        lines.append(f"    mapa.shared::cluster.u32 %r{30 + block}, %r6, {block};")
    for warp, acts in enumerate(program.warps):
        lines += [f"    setp.ne.u32 %p3, %r11, {_number(program, warp)};", f"    @%p3 bra $not{warp};"]
        for number, act in enumerate(acts):
            lines += _lines(act, f"$w{warp}_{number}", program.blocks.count(program.blocks[warp]))
        lines += ["    bra $end;", f"$not{warp}:"]
    most = max(program.blocks.count(block) for block in range(BLOCKS))
    return kernel("\n".join([*lines, "$end:"]), WARP * most, BLOCKS)


def _number(program: Program, warp: int) -> int:
    """The rank of its block, times eight, and its place there."""
    block = program.blocks[warp]
    return 8 * block + program.blocks[:warp].count(block)


def _lines(act: Act, label: str, warps: int) -> list[str]:
    where = f"[%r{20 + act.block}+{128 * act.what}]"
    simple = {
        "read": f"    ld.shared::cluster.u32 %r12, {where};",
        "write": f"    st.shared::cluster.u32 {where}, %r11;",
        "signal": f"    mbarrier.arrive.shared::cluster.b64 _, [%r{30 + act.block}+{8 * act.what}];",
        "sync": f"    bar.sync 1, {warps * WARP};",
        "meet": "    barrier.cluster.arrive;",
        "leave": "    barrier.cluster.wait;",
    }
    if act.does in simple:
        return [simple[act.does]]
    wait = f"    mbarrier.try_wait.parity.shared.b64 %p4, [%r6+{8 * act.what}], {act.parity};"
    return [f"{label}:", wait, f"    @!%p4 bra {label};"]


# ---- all schedules


def explore(program: Program) -> set[str]:
    """What some schedule shows: `race`, `hang`, `gone` (a block that has ended), `misuse`."""
    count = len(program.warps)

    def look(state: State) -> tuple[set[str], list[State]]:
        nexts = {
            warp: program.warps[warp][at]
            for warp, at in enumerate(state.at)
            if at < len(program.warps[warp]) and warp not in state.syncing
        }
        found = _races(nexts) | _gone(program, state, nexts)
        following = [
            after for warp, act in nexts.items() if (after := _step(program, state, warp, act, found))
        ]
        if not following and not all(_ended(program, state, warp) for warp in range(count)):
            found.add("hang")
        return found, following

    start = State((0,) * count, frozenset(), (AWAY,) * count, program.counts * BLOCKS, (0,) * (2 * BLOCKS))
    return shown_by_schedules(_completed(program, start), look)


def _ended(program: Program, state: State, warp: int) -> bool:
    return state.at[warp] == len(program.warps[warp])


def _races(nexts: dict[int, Act]) -> set[str]:
    touching = [act for act in nexts.values() if act.does in ("read", "write")]
    for number, one in enumerate(touching):
        for other in touching[number + 1 :]:
            if (one.what, one.block) == (other.what, other.block) and "write" in (one.does, other.does):
                return {"race"}
    return set()


def _gone(program: Program, state: State, nexts: dict[int, Act]) -> set[str]:
    """Whether an act may go to a block that has ended."""
    for block in range(BLOCKS):
        over = all(_ended(program, state, warp) for warp, home in enumerate(program.blocks) if home == block)
        far = [warp for warp, act in nexts.items() if act.does in FAR and act.block == block]
        if over and any(program.blocks[warp] != block for warp in far):
            return {"gone"}
    return set()


def _step(program: Program, state: State, warp: int, act: Act, found: set[str]) -> State | None:
    if act.does == "wait":
        if state.phases[2 * act.block + act.what] % 2 == act.parity:
            return None
    elif act.does == "signal":
        state = _signalled(program, state, act)
    elif act.does == "sync":
        return _synced(program, state, warp)
    elif act.does == "meet":
        if state.cluster[warp] != AWAY:
            found.add("misuse")
            return None
        state = replace(state, cluster=with_item(state.cluster, warp, ARRIVED))
    elif act.does == "leave":
        if state.cluster[warp] == AWAY:
            found.add("misuse")
        if state.cluster[warp] != OPEN:
            return None
        state = replace(state, cluster=with_item(state.cluster, warp, AWAY))
    return _completed(program, replace(state, at=_moved(state.at, {warp})))


def _moved(at: tuple[int, ...], warps: set[int]) -> tuple[int, ...]:
    return tuple(each + (warp in warps) for warp, each in enumerate(at))


def _signalled(program: Program, state: State, act: Act) -> State:
    at = 2 * act.block + act.what
    pending, phases = list(state.pending), list(state.phases)
    pending[at] -= 1
    if pending[at] == 0:
        phases[at] += 1
        pending[at] = program.counts[act.what]
    return replace(state, pending=tuple(pending), phases=tuple(phases))


def _synced(program: Program, state: State, warp: int) -> State:
    """The barrier of a block counts all of its warps, whether they have ended or not."""
    mates = {each for each, block in enumerate(program.blocks) if block == program.blocks[warp]}
    waiting = state.syncing | {warp}
    if not mates <= waiting:
        return replace(state, syncing=waiting)
    return _completed(program, replace(state, syncing=waiting - mates, at=_moved(state.at, mates)))


def _completed(program: Program, state: State) -> State:
    """The barrier of the cluster is complete once all warps that have not ended have arrived."""
    live = [warp for warp in range(len(program.warps)) if not _ended(program, state, warp)]
    arrived = any(each == ARRIVED for each in state.cluster)
    if not arrived or any(state.cluster[warp] != ARRIVED for warp in live):
        return state
    return replace(state, cluster=tuple(OPEN if each == ARRIVED else each for each in state.cluster))
