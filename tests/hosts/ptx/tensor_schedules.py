"""Every schedule of small programs on tensor memory: a second opinion, with no code in common.

Warps write slots of shared memory, issue products that read a slot and write an accumulator, commit them to an
mbarrier, wait for it, load and store accumulators, and meet. What is asynchronous is taken to be at work for as long
as it may be: a product until its commit arrives, which happens at any time after it is issued, and loads and stores
until their warp waits for them. A race is an act that touches what something at work touches, or what another warp
touches next, and one of the two writes; a second product into the same accumulator waits its turn.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from tests.hosts.ptx.all_schedules import shown_by_schedules
from tests.hosts.ptx.exact_kernels import kernel

WARP = 32
SLOT = 2048
SHAPE = 1 << 4 | 1 << 17 | 4 << 24
"""64 rows, 8 columns, 32-bit results."""


@dataclass(frozen=True)
class Act:
    """One step of a warp.

    `write` and `read` a slot, `multiply` a slot into an accumulator, `commit`, `wait` for a parity, `load` and
    `store` an accumulator, `drain` and `settle` (waits for loads and stores), `meet`."""

    does: str
    slot: int = 0
    accumulator: int = 0
    parity: int = 0


@dataclass(frozen=True)
class Work:
    """Something at work: whose it is, what it is, and what it touches."""

    warp: int
    does: str
    slot: int | None
    accumulator: int | None


@dataclass(frozen=True)
class State:
    """Where each warp is, what is at work, commits that have not arrived, and the mbarrier's phase."""

    at: tuple[int, ...]
    work: frozenset[tuple[int, Work]] = frozenset()
    """With numbers in the order of issue."""
    commits: frozenset[tuple[int, int]] = frozenset()
    """Warps, and how much had been issued by then."""
    issued: int = 0
    meeting: frozenset[int] = frozenset()
    phase: int = 0


Program = tuple[tuple[Act, ...], ...]


def random_program(rng: random.Random) -> Program:
    """A program that is often right: operands stored and multiplied, results loaded, with a mistake now and then."""
    count = rng.choice((2, 2, 3))
    warps: list[list[Act]] = [[] for _ in range(count)]
    for phase in range(rng.randint(1, 2)):
        slot, accumulator = rng.randrange(2), rng.randrange(2)
        owner, issuer = rng.randrange(count), rng.randrange(count)
        warps[owner].append(Act("write", slot))
        _meet(warps)
        for _ in range(rng.choice((1, 1, 2))):
            warps[issuer].append(Act("multiply", slot, accumulator))
        warps[issuer].append(Act("commit"))
        for warp, acts in enumerate(warps):
            if rng.random() < 0.9 or warp == issuer:
                acts.append(Act("wait", parity=phase % 2))
        for acts in warps:
            if rng.random() < 0.6:
                acts += [Act("load", accumulator=accumulator), Act("drain")]
            elif rng.random() < 0.3:
                acts += [Act("store", accumulator=accumulator), Act("settle")]
        if rng.random() < 0.85:
            _meet(warps)
    if rng.random() < 0.5:
        victim = rng.choice([acts for acts in warps if acts])
        victim.pop(rng.randrange(len(victim)))
    return tuple(tuple(acts) for acts in warps)


def _meet(warps: list[list[Act]]) -> None:
    for acts in warps:
        acts.append(Act("meet"))


# ---- as a kernel


def as_ptx(program: Program) -> str:
    """The program as a kernel, with all fences."""
    threads = WARP * len(program)
    lines = ["    @%p2 mbarrier.init.shared.b64 [%r6], 1;", "    shr.u32 %r11, %r1, 5;"]
    lines += ["    setp.eq.u32 %p5, %r3, 0;", "    setp.eq.u32 %p6, %r11, 0;"]
    lines += [
        "    @%p6 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r7], 32;",
        "    bar.sync 0;",
    ]
    lines += [
        "    ld.shared.u32 %r20, [%r7];",
        "    shl.b32 %r21, %r11, 21;",
        "    add.u32 %r21, %r20, %r21;",
    ]
    for slot in range(2):
        lines += [f"    add.u32 %r22, %r4, {SLOT * slot};", "    shr.u32 %r22, %r22, 4;"]
        lines += [f"    cvt.u64.u32 %rd{4 + slot}, %r22;"]
        lines += [f"    or.b64 %rd{6 + slot}, %rd{4 + slot}, {64 << 16 | 8 << 32 | 1 << 46};"]
        lines += [f"    or.b64 %rd{8 + slot}, %rd{4 + slot}, {8 << 16 | 8 << 32 | 1 << 46};"]
    for warp, acts in enumerate(program):
        lines += [f"    setp.ne.u32 %p3, %r11, {warp};", f"    @%p3 bra $not{warp};"]
        for number, act in enumerate(acts):
            lines += _lines(act, f"$w{warp}_{number}", threads)
        lines += ["    bra $end;", f"$not{warp}:"]
    ended = ["$end:", "    tcgen05.wait::ld.sync.aligned;", "    tcgen05.wait::st.sync.aligned;"]
    ended += ["    tcgen05.fence::before_thread_sync;", "    bar.sync 0;"]
    ended += ["    @%p6 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 32;"]
    return kernel("\n".join([*lines, *ended]), threads)


def _lines(act: Act, label: str, threads: int) -> list[str]:
    registers = "{" + ", ".join(f"%r{40 + number}" for number in range(8)) + "}"
    after = "    tcgen05.fence::after_thread_sync;"
    where = f"[%r5+{SLOT * act.slot}]"
    columns = 8 * act.accumulator
    product = f"[%r20+{columns}], %rd{6 + act.slot}, %rd{8 + act.slot}, {SHAPE}, %p1;"
    simple = {
        "write": [f"    st.shared.u32 {where}, %r1;", "    fence.proxy.async;"],
        "read": [f"    ld.shared.u32 %r12, {where};", "    fence.proxy.async;"],
        "multiply": [f"    @%p5 tcgen05.mma.cta_group::1.kind::f16 {product}"],
        "commit": ["    @%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r6];"],
        "load": [f"    tcgen05.ld.sync.aligned.32x32b.x8.b32 {registers}, [%r21+{columns}];"],
        "store": [f"    tcgen05.st.sync.aligned.32x32b.x8.b32 [%r21+{columns}], {registers};"],
        "drain": ["    tcgen05.wait::ld.sync.aligned;"],
        "settle": ["    tcgen05.wait::st.sync.aligned;"],
        "meet": ["    tcgen05.fence::before_thread_sync;", f"    bar.sync 1, {threads};", after],
    }
    if act.does in simple:
        return simple[act.does]
    wait = f"    mbarrier.try_wait.parity.shared.b64 %p4, [%r6], {act.parity};"
    return [f"{label}:", wait, f"    @!%p4 bra {label};", after]


# ---- all schedules


def explore(program: Program) -> set[str]:
    """What some schedule shows: `race` or `hang`."""

    def look(state: State) -> tuple[set[str], list[State]]:
        nexts = {
            warp: program[warp][at]
            for warp, at in enumerate(state.at)
            if at < len(program[warp]) and warp not in state.meeting
        }
        found = _races(state, nexts)
        following = [after for warp, act in nexts.items() if (after := _step(program, state, warp, act))]
        following += [_arrived(state, commit) for commit in state.commits]
        over = all(at == len(acts) for at, acts in zip(state.at, program, strict=True))
        if over and any(each.does == "multiply" for _, each in state.work):
            found.add("race")
        if not over and not following:
            found.add("hang")
        return found, following

    return shown_by_schedules(State((0,) * len(program)), look)


def _touched(warp: int, act: Act) -> Work | None:
    if act.does in ("write", "read"):
        return Work(warp, act.does, act.slot, None)
    if act.does == "multiply":
        return Work(warp, act.does, act.slot, act.accumulator)
    return Work(warp, act.does, None, act.accumulator) if act.does in ("load", "store") else None


def _meets(one: Work, other: Work) -> bool:
    """Whether two touch the same, and one of them writes it. Loads and stores are of a warp's own lanes."""
    if one.slot is not None and one.slot == other.slot and "write" in (one.does, other.does):
        return True
    if one.accumulator is None or one.accumulator != other.accumulator:
        return False
    kinds = {one.does, other.does}
    if kinds == {"multiply"}:
        return one.warp != other.warp
    return "multiply" in kinds or (one.warp == other.warp and "store" in kinds)


def _races(state: State, nexts: dict[int, Act]) -> set[str]:
    touching = [work for warp, act in nexts.items() if (work := _touched(warp, act)) is not None]
    for number, one in enumerate(touching):
        if any(_meets(one, other) for _, other in state.work):
            return {"race"}
        if any(_meets(one, other) for other in touching[number + 1 :]):
            return {"race"}
    return set()


def _step(program: Program, state: State, warp: int, act: Act) -> State | None:
    at = tuple(each + (other == warp) for other, each in enumerate(state.at))
    if act.does == "meet":
        meeting = state.meeting | {warp}
        if len(meeting) < len(program):
            return replace(state, meeting=meeting)
        return replace(state, meeting=frozenset(), at=tuple(each + 1 for each in state.at))
    if act.does == "wait":
        return replace(state, at=at) if state.phase % 2 != act.parity else None
    if act.does == "commit":
        return replace(state, at=at, commits=state.commits | {(warp, state.issued)})
    if act.does in ("drain", "settle"):
        over = "load" if act.does == "drain" else "store"
        kept = frozenset(each for each in state.work if (each[1].warp, each[1].does) != (warp, over))
        return replace(state, at=at, work=kept)
    work = _touched(warp, act)
    if act.does in ("write", "read"):
        return replace(state, at=at)
    assert work is not None
    return replace(state, at=at, work=state.work | {(state.issued, work)}, issued=state.issued + 1)


def _arrived(state: State, commit: tuple[int, int]) -> State:
    """A commit arrives: what its warp had issued before is done."""
    warp, issued = commit
    done = {
        each for each in state.work if each[0] < issued and (each[1].warp, each[1].does) == (warp, "multiply")
    }
    return replace(state, work=state.work - done, commits=state.commits - {commit}, phase=state.phase + 1)
