"""Every schedule of small programs with the engines of one block: a second opinion, with no code in common.

Warps load slots with bulk copies and stage others for copies out, copy words by `cp.async`, wait for groups of these
or for mbarriers, and meet. Whatever an engine does is at work from where it is issued until it ends, at any time. A
race is an act that touches what is at work or what another warp touches next, if one of the two writes; a block must
not end while a bulk copy is at work.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.hosts.ptx.all_schedules import shown_by_schedules, spoil, with_item
from tests.hosts.ptx.exact_kernels import kernel

WARP = 32
BYTES = 128
FULL, FREE, COPIED = 0, 1, 2
"""The mbarriers: of what is loaded, one that all warps arrive on, and one that a warp's `cp.async` arrive on."""
LOAD, OUT, WORDS = "load", "out", "words"
COMMITS = {"commit out": OUT, "commit words": WORDS}
WAITS = {"await out": OUT, "await words": WORDS}


@dataclass(frozen=True)
class Act:
    """One step of a warp.

    `read` and `write` a slot; `load` one, `out` and `words` (bulk copies and `cp.async`), their commits and waits;
    `arrive`, `expect` (bytes), `announce` (bytes, without arriving), `tell` (when the words are there), `wait`;
    `sync`."""

    does: str
    what: int = 0
    """The slot, the mbarrier, or how many groups a wait leaves."""
    parity: int = 0


Program = tuple[tuple[Act, ...], ...]


@dataclass(frozen=True)
class Work:
    """Something at work: what, whose, its group, and the slot; a number tells it from others."""

    does: str
    warp: int
    group: int
    slot: int
    number: int


@dataclass(frozen=True)
class State:
    """Where each warp is, its groups, what is at work, arrivals that wait for words, mbarriers, and who meets."""

    at: tuple[int, ...]
    groups: tuple[tuple[int, int], ...]
    """By warp, how many groups of copies out and of words it has committed."""
    pending: tuple[int, ...]
    bytes: tuple[int, ...] = (0, 0, 0)
    phases: tuple[int, ...] = (0, 0, 0)
    work: frozenset[Work] = frozenset()
    tells: frozenset[tuple[int, int]] = frozenset()
    """Warps whose words are to arrive, and how much had been issued by then."""
    meeting: frozenset[int] = frozenset()
    issued: int = 0


class Writer:
    """Writes a random program, round by round."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.warps: list[list[Act]] = [[] for _ in range(rng.choice((1, 2, 2, 3)))]
        self.phases = [0, 0, 0]

    def program(self) -> Program:
        """The program, with a mistake now and then."""
        for _ in range(self.rng.randint(1, 3)):
            slot, owner = self.rng.randrange(2), self.rng.choice(self.warps)
            self.rng.choice((self.load, self.out, self.words))(slot, owner)
            self.settle()
        if self.rng.random() < 0.5:
            spoil(self.rng, self.rng.choice([acts for acts in self.warps if acts]), _shorter)
        return tuple(map(tuple, self.warps))

    def sync(self) -> None:
        for acts in self.warps:
            acts.append(Act("sync"))

    def load(self, slot: int, owner: list[Act]) -> None:
        """A slot is loaded; the bytes are expected with the arrival or announced before it."""
        begin = [Act("expect", FULL)]
        if self.rng.random() < 0.3:
            begin = [Act("announce", FULL), Act("arrive", FULL)]
        owner += [*begin[:1], Act("load", slot), *begin[1:]]
        self.arrived(FULL, slot)

    def arrived(self, mbarrier: int, slot: int) -> None:
        for acts in self.warps:
            if self.rng.random() < 0.9:
                acts.append(Act("wait", mbarrier, self.phases[mbarrier] % 2))
                if self.rng.random() < 0.7:
                    acts.append(Act("read", slot))
        self.phases[mbarrier] += 1

    def out(self, slot: int, owner: list[Act]) -> None:
        """A warp stages a slot, and a copy takes it out."""
        self.rng.choice(self.warps).append(Act("write", slot))
        self.sync()
        owner += [Act("out", slot), Act("commit out")]
        left = 0
        if self.rng.random() < 0.3:
            # A second group may be at work for longer, if nobody needs its slot.
            owner += [Act("out", slot), Act("commit out")]
            left = self.rng.randrange(2)
        owner.append(Act("await out", left))

    def words(self, slot: int, owner: list[Act]) -> None:
        """A warp copies words, and waits for them or has them arrive."""
        owner.append(Act("words", slot))
        if self.rng.random() < 0.5:
            owner.append(Act("tell", COPIED))
            self.arrived(COPIED, slot)
            return
        owner += [Act("commit words"), Act("await words", 0)]
        self.sync()
        for acts in self.warps:
            if self.rng.random() < 0.7:
                acts.append(Act("read", slot))

    def settle(self) -> None:
        """All warps meet, or arrive and wait, or nothing."""
        how = self.rng.random()
        if how < 0.5:
            self.sync()
        elif how < 0.9:
            for acts in self.warps:
                acts += [Act("arrive", FREE), Act("wait", FREE, self.phases[FREE] % 2)]
            self.phases[FREE] += 1


def _shorter(act: Act) -> Act | None:
    """A wait that leaves one group more in flight."""
    return replace(act, what=act.what + 1) if act.does in WAITS else None


def random_program(rng: random.Random) -> Program:
    """A program that is often right."""
    return Writer(rng).program()


def counts(program: Program) -> tuple[int, int, int]:
    """How many warps' arrivals each mbarrier counts."""
    return 1, len(program), 1


# ---- as a kernel


def as_ptx(program: Program) -> str:
    """The program as a kernel: each lane has a word of every slot, and the first lane does what a warp does once."""
    arrivals = (1, len(program), WARP)
    lines = [f"    @%p2 mbarrier.init.shared.b64 [%r8+{8 * n}], {c};" for n, c in enumerate(arrivals)]
    lines += ["    bar.sync 0;", "    shr.u32 %r11, %r1, 5;", "    setp.eq.u32 %p8, %r3, 0;"]
    for warp, acts in enumerate(program):
        lines += [f"    setp.ne.u32 %p3, %r11, {warp};", f"    @%p3 bra $not{warp};"]
        for number, act in enumerate(acts):
            lines += _lines(act, f"$w{warp}_{number}", len(program))
        lines += ["    bra $end;", f"$not{warp}:"]
    start = "    .shared .align 8 .b8 objects[24];\n    mov.u32 %r8, objects;\n"
    return kernel("\n".join([start, *lines, "$end:"]), WARP * len(program))


def _lines(act: Act, label: str, warps: int) -> list[str]:
    words, slot = f"[%r5+{BYTES * act.what}]", f"[%r4+{BYTES * act.what}]"
    mbarrier, fence, together = f"[%r8+{8 * act.what}]", "    fence.proxy.async;", "    bar.warp.sync -1;"
    bulk = "    @%p8 cp.async.bulk"
    once = {
        "load": f"{bulk}.shared::cluster.global.mbarrier::complete_tx::bytes {slot}, [%rd1], {BYTES}, [%r8];",
        "out": f"{bulk}.global.shared::cta.bulk_group [%rd1], {slot}, {BYTES};",
        "arrive": f"    @%p8 mbarrier.arrive.shared.b64 _, {mbarrier};",
        "expect": f"    @%p8 mbarrier.arrive.expect_tx.shared.b64 _, {mbarrier}, {BYTES};",
        "announce": f"    @%p8 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {mbarrier}, {BYTES};",
    }
    if act.does in once:
        return [together, once[act.does]]
    simple = {
        "read": [f"    ld.shared.u32 %r12, {words};", fence],
        "write": [f"    st.shared.u32 {words}, %r1;", fence],
        "commit out": ["    @%p8 cp.async.bulk.commit_group;"],
        "await out": [f"    @%p8 cp.async.bulk.wait_group.read {act.what};", together],
        "words": [f"    cp.async.ca.shared.global {words}, [%rd1], 4;"],
        "commit words": ["    cp.async.commit_group;"],
        "await words": [f"    cp.async.wait_group {act.what};", fence, together],
        "tell": [f"    cp.async.mbarrier.arrive.noinc.shared.b64 {mbarrier};"],
        "sync": [f"    bar.sync 1, {WARP * warps};"],
    }
    if act.does in simple:
        return simple[act.does]
    wait = f"    mbarrier.try_wait.parity.shared.b64 %p4, {mbarrier}, {act.parity};"
    return [f"{label}:", wait, f"    @!%p4 bra {label};", fence]


# ---- all schedules


def explore(program: Program) -> set[str]:
    """What some schedule shows first: `race`, `hang`, `misuse`."""
    start = State((0,) * len(program), ((0, 0),) * len(program), counts(program))

    def look(state: State) -> tuple[set[str], list[State]]:
        nexts = {
            warp: acts[state.at[warp]]
            for warp, acts in enumerate(program)
            if state.at[warp] < len(acts) and warp not in state.meeting
        }
        found = _races(state, nexts)
        following = list(_following(program, state, nexts, found))
        over = all(at == len(acts) for at, acts in zip(state.at, program, strict=True))
        if over and any(each.does != WORDS for each in state.work):
            found.add("race")
        if not over and not following:
            found.add("hang")
        return found, following

    return shown_by_schedules(start, look, first=True)


def _touches(act: Act) -> tuple[str, int] | None:
    """How an act touches which slot."""
    kinds = {"read": "read", "write": "write", LOAD: "write", OUT: "read", WORDS: "write"}
    return (kinds[act.does], act.what) if act.does in kinds else None


def _races(state: State, nexts: dict[int, Act]) -> set[str]:
    ahead = [(warp, touch) for warp, act in nexts.items() if (touch := _touches(act))]
    at_work = [(each, ("read" if each.does == OUT else "write", each.slot)) for each in state.work]
    for number, (warp, one) in enumerate(ahead):
        for _, other in ahead[number + 1 :]:
            if one[1] == other[1] and "write" in (one[0], other[0]):
                return {"race"}
        for work, other in at_work:
            # The words of one lane are copied in order.
            own = nexts[warp].does == WORDS == work.does and work.warp == warp
            if one[1] == other[1] and "write" in (one[0], other[0]) and not own:
                return {"race"}
    return set()


def _following(program: Program, state: State, nexts: dict[int, Act], found: set[str]) -> Iterator[State]:
    for warp, act in nexts.items():
        after = _step(program, state, warp, act, found)
        if after is not None:
            yield after
    for work in state.work:
        ended = replace(state, work=state.work - {work})
        yield _counted(program, ended, FULL, (0, -BYTES), found) if work.does == LOAD else ended
    for warp, issued in state.tells:
        if not any((each.does, each.warp) == (WORDS, warp) and each.number < issued for each in state.work):
            told = replace(state, tells=state.tells - {(warp, issued)})
            yield _counted(program, told, COPIED, (1, 0), found)


def _step(program: Program, state: State, warp: int, act: Act, found: set[str]) -> State | None:
    """What an act of a warp changes; None if it cannot go on."""
    groups = state.groups[warp]
    moved = replace(state, at=with_item(state.at, warp, state.at[warp] + 1))
    if act.does in (LOAD, OUT, WORDS):
        group = groups[act.does == WORDS]
        work = Work(act.does, warp, group, act.what, state.issued)
        return replace(moved, work=state.work | {work}, issued=state.issued + 1)
    if act.does in COMMITS:
        more = (groups[0] + (act.does == "commit out"), groups[1] + (act.does == "commit words"))
        return replace(moved, groups=with_item(state.groups, warp, more))
    if act.does in WAITS:
        kind = WAITS[act.does]
        last = groups[kind == WORDS] - act.what
        kept = any((each.does, each.warp) == (kind, warp) and each.group < last for each in state.work)
        return None if kept else moved
    if act.does == "wait":
        return moved if state.phases[act.what] % 2 != act.parity else None
    if act.does == "sync":
        meeting = state.meeting | {warp}
        if len(meeting) < len(program):
            return replace(state, meeting=meeting)
        return replace(state, meeting=frozenset(), at=tuple(each + 1 for each in state.at))
    if act.does == "tell":
        return replace(moved, tells=state.tells | {(warp, state.issued)}, issued=state.issued + 1)
    arrivals, more_bytes = int(act.does != "announce"), BYTES * (act.does != "arrive")
    if act.does in ("arrive", "expect", "announce"):
        return _counted(program, moved, act.what, (arrivals, more_bytes), found)
    return moved


def _counted(program: Program, state: State, at: int, more: tuple[int, int], found: set[str]) -> State:
    """Arrivals at an mbarrier, and bytes that are expected or have come; its phase may be complete then."""
    pending, expected = state.pending[at] - more[0], state.bytes[at] + more[1]
    if pending < 0:
        found.add("misuse")
    phase = state.phases[at]
    if pending == 0 and expected == 0:
        pending, phase = counts(program)[at], phase + 1
    return replace(
        state,
        pending=with_item(state.pending, at, pending),
        bytes=with_item(state.bytes, at, expected),
        phases=with_item(state.phases, at, phase),
    )
