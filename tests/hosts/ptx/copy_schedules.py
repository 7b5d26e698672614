"""Every schedule of small programs with copies in clusters of two or three blocks: a second opinion, with no code in
common.

Warps multicast a slot, send one to another block, or store it there asynchronously. Each destination counts the bytes
on its mbarrier, which is waited for, or tried first and waited for if that failed. A copy is at work from where it is
issued until its bytes are counted. A race is an act that touches what a copy at work or another warp touches next, if
one of the two writes; a block is gone once its warps have ended, and nothing may touch it then.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.hosts.ptx.all_schedules import shown_by_schedules, spoil, with_item
from tests.hosts.ptx.exact_kernels import kernel

WARP = 32
BYTES = 128
FULL, FREE = 0, 1
"""The mbarriers of each block: one for what comes, and one that all warps arrive on."""
AWAY, ARRIVED, OPEN = "away", "arrived", "open"
REMOTE = ("read", "write", "signal", "expect", "send", "store")


@dataclass(frozen=True)
class Act:
    """One step of a warp: `read`, `write`, `signal`, `expect`, `wait`, `peek`, `wait unless` (a peek succeeded),
    `multicast`, `send`, `store`; `meet` and `leave` are the cluster's barrier."""

    does: str
    what: int = 0
    """The slot or the mbarrier."""
    block: int = 0
    parity: int = 0
    to: int = 0
    """The slot that a copy goes to, or the mask of the blocks of a multicast."""


@dataclass(frozen=True)
class Program:
    """What each warp does, and its block."""

    warps: tuple[tuple[Act, ...], ...]
    blocks: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many blocks there are."""
        return max(self.blocks) + 1

    @property
    def counts(self) -> tuple[int, int]:
        """How many arrivals each mbarrier counts."""
        return 1, len(self.warps)


Touch = tuple[str, int, int]
"""`read` or `write`, the block and the slot."""


@dataclass(frozen=True)
class Copy:
    """A copy at work, with a number that tells it from others."""

    touches: tuple[Touch, ...]
    counts_at: int
    number: int


@dataclass(frozen=True)
class State:
    """Where each warp is, whether its last peek succeeded, the barrier of the cluster, mbarriers, copies at work."""

    at: tuple[int, ...]
    tested: tuple[bool, ...]
    cluster: tuple[str, ...]
    pending: tuple[int, ...]
    bytes: tuple[int, ...]
    phases: tuple[int, ...]
    work: frozenset[Copy] = frozenset()
    issued: int = 0


class Writer:
    """Writes a random program, round by round."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.blocks = rng.choice(((0, 1), (0, 1), (0, 1, 2), (0, 0, 1), (0, 1, 1)))
        self.warps: list[list[Act]] = [[] for _ in self.blocks]
        self.phases: dict[tuple[int, int], int] = {}

    def of(self, block: int) -> list[int]:
        """The warps of a block."""
        return [warp for warp, each in enumerate(self.blocks) if each == block]

    def program(self) -> Program:
        """The program, with a mistake now and then."""
        for _ in range(self.rng.randint(1, 3)):
            slot, warp = self.rng.randrange(2), self.rng.randrange(len(self.blocks))
            self.rng.choice((self.multicast, self.send, self.store))(slot, warp)
            self.settle(warp)
        if self.rng.random() < 0.8:
            self.meet()
        if self.rng.random() < 0.6:
            spoil(self.rng, self.rng.choice([acts for acts in self.warps if acts]), self.elsewhere)
        return Program(tuple(map(tuple, self.warps)), self.blocks)

    def meet(self) -> None:
        for acts in self.warps:
            acts += [Act("meet"), Act("leave")]

    def expect(self, warp: int, blocks: list[int]) -> None:
        """The issuer or the first warp of each block expects the bytes."""
        remote = self.rng.random() < 0.5
        for block in blocks:
            self.warps[warp if remote else self.of(block)[0]].append(Act("expect", FULL, block))

    def arrived(self, slot: int, blocks: list[int]) -> None:
        """Warps wait for what has come, and read it; now and then one does neither."""
        for block in blocks:
            for warp in self.of(block):
                if self.rng.random() < 0.15:
                    continue
                self.wait(warp, FULL)
                if self.rng.random() < 0.8:
                    self.warps[warp].append(Act("read", slot, block))
            self.phases[block, FULL] = self.phases.get((block, FULL), 0) + 1

    def wait(self, warp: int, mbarrier: int) -> None:
        block = self.blocks[warp]
        wait = Act("wait", mbarrier, block, self.phases.get((block, mbarrier), 0) % 2)
        first = [replace(wait, does="peek")] if self.rng.random() < 0.4 else []
        self.warps[warp] += [*first, replace(wait, does="wait unless") if first else wait]

    def multicast(self, slot: int, warp: int) -> None:
        size = max(self.blocks) + 1
        mask = self.rng.randrange(1, 1 << size)
        blocks = [each for each in range(size) if mask >> each & 1]
        self.expect(warp, blocks)
        self.warps[warp].append(Act("multicast", slot, to=mask))
        self.arrived(slot, blocks)

    def send(self, slot: int, warp: int) -> None:
        block = self.rng.choice(self.blocks)
        self.expect(warp, [block])
        self.warps[warp] += [Act("write", slot, self.blocks[warp]), Act("send", slot, block, to=1 - slot)]
        self.arrived(1 - slot, [block])

    def store(self, slot: int, warp: int) -> None:
        block = self.rng.choice(self.blocks)
        self.expect(warp, [block])
        self.warps[warp].append(Act("store", slot, block, to=slot))
        self.arrived(slot, [block])

    def settle(self, warp: int) -> None:
        """All warps meet, or tell one block that they are done, or nothing."""
        how = self.rng.random()
        if how < 0.45:
            self.meet()
        elif how < 0.9:
            block = self.rng.choice((self.blocks[warp], self.rng.choice(self.blocks)))
            for acts in self.warps:
                acts.append(Act("signal", FREE, block))
            for each in self.of(block):
                self.wait(each, FREE)
            self.phases[block, FREE] = self.phases.get((block, FREE), 0) + 1

    def elsewhere(self, act: Act) -> Act | None:
        """An act in another block, or in the same one."""
        return replace(act, block=self.rng.choice(self.blocks)) if act.does in REMOTE else None


def random_program(rng: random.Random) -> Program:
    """A program that is often right."""
    return Writer(rng).program()


# ---- as a kernel


def as_ptx(program: Program) -> str:
    """The program as a kernel: each lane has a word of every slot, and the first lane does what a warp does once."""
    lines = [f"    @%p2 mbarrier.init.shared.b64 [%r6+{8 * n}], {c};" for n, c in enumerate(program.counts)]
    lines += ["    barrier.cluster.arrive;", "    barrier.cluster.wait;", "    shr.u32 %r11, %r1, 5;"]
    lines += ["    mov.u32 %r13, %cluster_ctarank;", "    mad.lo.u32 %r11, %r13, 8, %r11;"]
    lines.append("    setp.eq.u32 %p8, %r3, 0;")
    for block in range(program.size):
        for first, register in ((20, 5), (30, 6), (50, 4)):
            lines.append(f"    mapa.shared::cluster.u32 %r{first + block}, %r{register}, {block};")
    for warp, acts in enumerate(program.warps):
        block = program.blocks[warp]
        place = 8 * block + program.blocks[:warp].count(block)
        lines += [f"    setp.ne.u32 %p3, %r11, {place};", f"    @%p3 bra $not{warp};"]
        peek = ""
        for number, act in enumerate(acts):
            name = f"{warp}_{number}"
            lines += _waiting(act, name, peek) if "wait" in act.does or act.does == "peek" else _lines(act)
            peek = name if act.does == "peek" else peek
        lines += ["    bra $end;", f"$not{warp}:"]
    most = max(program.blocks.count(block) for block in range(program.size))
    names = [f"{warp}_{number}" for warp, acts in enumerate(program.warps) for number in range(len(acts))]
    more = "".join(f"    .reg .pred %done{each}, %was{each};\n" for each in names) + "    .reg .b16 %rs<4>;\n"
    text = kernel("\n".join([*lines, "$end:"]), WARP * most, program.size)
    return text.replace("    .reg .f32", f"{more}    .reg .f32")


def _waiting(act: Act, name: str, peek: str) -> list[str]:
    try_ = f"    mbarrier.try_wait.parity.shared.b64 %done{name}, [%r6+{8 * act.what}], {act.parity};"
    if act.does == "peek":
        return [try_]
    repeated = [f"$w{name}:", try_, f"    @!%done{name} bra $w{name};"]
    if act.does == "wait" or not peek:
        return repeated
    return [f"    @%done{peek} bra $past{name};", *repeated, f"$past{name}:"]


def _lines(act: Act) -> list[str]:
    slot, mbarrier = f"[%r{20 + act.block}+{BYTES * act.what}]", f"[%r{30 + act.block}+{8 * act.what}]"
    to, full = f"%r{50 + act.block}+{BYTES * act.to}", f"[%r{30 + act.block}]"
    fence, together = "    fence.proxy.async;", "    bar.warp.sync -1;"
    copy = "    @%p8 cp.async.bulk.shared::cluster.{}.mbarrier::complete_tx::bytes"
    lines = {
        "read": [f"    ld.shared::cluster.u32 %r12, {slot};", fence],
        "write": [f"    st.shared::cluster.u32 {slot}, %r11;", fence],
        "signal": [together, f"    @%p8 mbarrier.arrive.shared::cluster.b64 _, {mbarrier};"],
        "expect": [
            together,
            f"    @%p8 mbarrier.arrive.expect_tx.shared::cluster.b64 _, {mbarrier}, {BYTES};",
        ],
        "multicast": [
            together,
            f"    mov.u16 %rs1, {act.to};",
            copy.format("global")
            + f".multicast::cluster [%r4+{BYTES * act.what}], [%rd1], {BYTES}, [%r6], %rs1;",
        ],
        "send": [
            together,
            copy.format("shared::cta") + f" [{to}], [%r4+{BYTES * act.what}], {BYTES}, {full};",
        ],
        "store": [
            together,
            "    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 "
            f"[%r{20 + act.block}+{BYTES * act.to}], %r11, {full};",
        ],
        "meet": ["    barrier.cluster.arrive;"],
        "leave": ["    barrier.cluster.wait;"],
    }
    return lines[act.does]


# ---- all schedules


def explore(program: Program) -> set[str]:
    """What some schedule shows first: `race`, `hang`, `gone`, `misuse`."""
    count, size = len(program.warps), program.size
    none = (0,) * (2 * size)
    start = State((0,) * count, (False,) * count, (AWAY,) * count, program.counts * size, none, none)

    def look(state: State) -> tuple[set[str], list[State]]:
        nexts = {
            warp: program.warps[warp][at]
            for warp, at in enumerate(state.at)
            if not _ended(program, state, warp)
        }
        found = _races(program, state, nexts) | _gone(program, state, nexts)
        following = list(_following(program, state, nexts, found))
        if not following and nexts:
            found.add("hang")
        return found, following

    return shown_by_schedules(_met(program, start), look, first=True)


def _ended(program: Program, state: State, warp: int) -> bool:
    return state.at[warp] == len(program.warps[warp])


def _touches(program: Program, warp: int, act: Act) -> list[Touch]:
    if act.does in ("read", "write"):
        return [(act.does, act.block, act.what)]
    if act.does == "multicast":
        return [("write", block, act.what) for block in range(program.size) if act.to >> block & 1]
    if act.does in ("send", "store"):
        source = [("read", program.blocks[warp], act.what)] if act.does == "send" else []
        return [*source, ("write", act.block, act.to)]
    return []


def _races(program: Program, state: State, nexts: dict[int, Act]) -> set[str]:
    ahead = [(warp, touch) for warp, act in nexts.items() for touch in _touches(program, warp, act)]
    at_work = [(-1, touch) for copy in state.work for touch in copy.touches]
    for number, (warp, one) in enumerate(ahead):
        for other_warp, other in [*ahead[number + 1 :], *at_work]:
            if warp != other_warp and one[1:] == other[1:] and "write" in (one[0], other[0]):
                return {"race"}
    return set()


def _gone(program: Program, state: State, nexts: dict[int, Act]) -> set[str]:
    """Whether something touches a block that has ended, or may."""
    mates = range(len(program.warps))
    over = {
        block
        for block in range(program.size)
        if all(_ended(program, state, warp) for warp in mates if program.blocks[warp] == block)
    }
    used = {touch[1] for copy in state.work for touch in copy.touches}
    for warp, act in nexts.items():
        used |= {touch[1] for touch in _touches(program, warp, act)}
        used |= {act.block} if act.does in REMOTE else set()
    return {"gone"} if used & over else set()


def _following(program: Program, state: State, nexts: dict[int, Act], found: set[str]) -> Iterator[State]:
    for warp, act in nexts.items():
        after = _step(program, state, warp, act, found)
        if after is not None:
            at = tuple(each + (number == warp) for number, each in enumerate(after.at))
            yield _met(program, replace(after, at=at))
    for copy in state.work:
        arrived = replace(state, work=state.work - {copy})
        yield _counted(program, arrived, copy.counts_at, (0, -BYTES), found)


def _step(program: Program, state: State, warp: int, act: Act, found: set[str]) -> State | None:
    """What an act of a warp changes; None if it cannot go on."""
    block = program.blocks[warp]
    if act.does in ("signal", "expect"):
        more = BYTES if act.does == "expect" else 0
        return _counted(program, state, 2 * act.block + act.what, (1, more), found)
    if act.does in ("multicast", "send", "store"):
        return _issued(state, act, _touches(program, warp, act))
    if act.does in ("wait", "wait unless", "peek"):
        done = state.phases[2 * block + act.what] % 2 != act.parity
        if act.does == "peek":
            return replace(state, tested=with_item(state.tested, warp, done))
        return state if done or (act.does == "wait unless" and state.tested[warp]) else None
    if act.does in ("meet", "leave"):
        wanted, to = (AWAY, ARRIVED) if act.does == "meet" else (OPEN, AWAY)
        if (state.cluster[warp] == AWAY) != (act.does == "meet"):
            found.add("misuse")
        fits = state.cluster[warp] == wanted
        return replace(state, cluster=with_item(state.cluster, warp, to)) if fits else None
    return state


def _issued(state: State, act: Act, touches: list[Touch]) -> State:
    """A multicast is a copy for each block; others read and write together."""
    parts = [(each,) for each in touches] if act.does == "multicast" else [tuple(touches)]
    copies = {Copy(part, 2 * part[-1][1] + FULL, state.issued) for part in parts}
    return replace(state, work=state.work | copies, issued=state.issued + 1)


def _counted(program: Program, state: State, at: int, more: tuple[int, int], found: set[str]) -> State:
    """Arrivals at an mbarrier, and bytes that are expected or have come; its phase may be complete then."""
    pending, expected = state.pending[at] - more[0], state.bytes[at] + more[1]
    if pending < 0:
        found.add("misuse")
    phase = state.phases[at]
    if pending == 0 and expected == 0:
        pending, phase = program.counts[at % 2], phase + 1
    return replace(
        state,
        pending=with_item(state.pending, at, pending),
        bytes=with_item(state.bytes, at, expected),
        phases=with_item(state.phases, at, phase),
    )


def _met(program: Program, state: State) -> State:
    """The barrier of the cluster is complete once all warps that have not ended have arrived."""
    live = [warp for warp in range(len(program.warps)) if not _ended(program, state, warp)]
    if ARRIVED not in state.cluster or any(state.cluster[warp] != ARRIVED for warp in live):
        return state
    return replace(state, cluster=tuple(OPEN if each == ARRIVED else each for each in state.cluster))
