"""Mbarriers, by brute force: every interleaving of a tiny kernel, one step at a time.

It knows nothing of clocks and of what a wave can rely on. It reads the text by itself, writes out what each wave
does, and follows the machine. An object is a number of phases that are complete, arrivals that are missing and bytes
that are missing; a wait goes on while the open phase has the parity that it names. What an engine was told to do can
be done at any later time; if it arrives then, whatever the wave told it before, on that counter, is done. What a wave
does to shared memory itself, its arrivals included, is done one after the other, at any later time, until something
waits for it.

A race is a state in which an access begins while another that it conflicts with is under way. A hang is a state in
which nobody can move and somebody has not ended. Both stop the search.

Only what the tests need is read: one `param`, loops, conditions on `wave`, whole slots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

Instance = tuple[int, ...]
"""One run of a line: which line, and the iteration of each loop around it."""
Place = tuple[str, int]
"""A slot of a buffer."""
EVERYBODY = -1
"""Where the waves of a barrier that is for all of them begin: it is another one than `barrier waves 0..2`."""
LARGEST = 60_000
"""States after which a kernel is given up."""


class TooLarge(Exception):
    """There are too many states to look at all of them."""


# ---------------------------------------------------------------- what each wave does


class Step(NamedTuple):
    """One thing that a wave does."""

    kind: str
    instance: Instance
    place: Place = ("", 0)
    number: int = 0
    """Arrivals, the parity of a phase, or how many operations may be outstanding."""
    bytes: int = 0
    counter: str = ""
    tells: Place | None = None
    waves: tuple[int, int] = (0, 0)


LINE = re.compile(r"(?P<word>\w+)(?: %(?P<buffer>\w+)(?:\[(?P<slot>[^\]]*)\])?)?(?P<rest>.*)")
ACCESSES = {
    "read": ("read", ""),
    "write": ("write", ""),
    "gather_to_lds": ("copy", "load"),
    "tensor_load_to_lds": ("copy", "tensor"),
    "async_mma": ("fetch", "mma"),
    "tensor_store_from_lds": ("fetch", "tensor"),
}
"""What each does, and the counter of the engine that does it."""


def number(text: str, env: dict[str, int]) -> int:
    """The value of an index expression."""
    return int(eval(re.sub(r"%(?=[a-z])", "", text), {}, dict(env)))


def program(text: str, wave: int, given: int) -> list[Step]:
    """Everything that a wave does, in order, where the kernel is given that number."""
    lines = [line.partition("#")[0].strip() for line in text.strip().splitlines()]
    found = re.search(r"waves=(\d+)", lines[0])
    assert found is not None
    steps: list[Step] = []
    _run(lines, 1, len(lines) - 1, {"wave": wave}, given, int(found[1]), (), steps)
    return steps


def _run(
    lines: list[str],
    at: int,
    end: int,
    env: dict[str, int],
    given: int,
    waves: int,
    rounds: Instance,
    steps: list[Step],
) -> None:
    while at < end:
        line = lines[at]
        if line.startswith("loop "):
            close = _close(lines, at)
            head = re.fullmatch(r"loop %(\w+) in (\S+)\.\.(\S+) \{", line)
            assert head is not None, line
            stop = given if head[3].startswith("%") else int(head[3])
            for value in range(int(head[2]), stop):
                _run(lines, at + 1, close, {**env, head[1]: value}, given, waves, (*rounds, value), steps)
            at = close + 1
        elif line.startswith("if "):
            close = _close(lines, at)
            holds = eval(re.sub(r"%(?=[a-z])", "", line[3:-1]), {}, dict(env))
            last = _close(lines, close) if lines[close] == "} else {" else close
            here = (at + 1, close) if holds else (close + 1, last)
            _run(lines, *here, env, given, waves, rounds, steps)
            at = last + 1
        else:
            if line and not line.startswith(("shared", "param")):
                steps.append(_step(line, (at, *rounds), env, waves))
            at += 1


def _close(lines: list[str], at: int) -> int:
    """The line that closes what the line `at` opens."""
    depth = 1
    for index in range(at + 1, len(lines)):
        depth -= lines[index].startswith("}")
        if depth == 0:
            return index
        depth += lines[index].endswith("{")
    raise AssertionError(lines[at])


def _step(line: str, instance: Instance, env: dict[str, int], waves: int) -> Step:
    parts = LINE.fullmatch(line)
    assert parts is not None, line
    word, rest = parts["word"], parts["rest"]
    place = (parts["buffer"] or "", number(parts["slot"], env) if parts["slot"] else 0)
    says = dict(re.findall(r"(\w+)=(.*?)(?= \w+=| arrives|$)", rest))
    if word == "barrier":
        some = re.search(r"waves (\d+)\.\.(\d+)", rest)
        return Step("barrier", instance, waves=(int(some[1]), int(some[2])) if some else (EVERYBODY, waves))
    if word == "wait_count":
        ((counter, allowed),) = says.items()
        return Step("wait_count", instance, number=int(allowed), counter=counter)
    if word == "mbarrier_wait":
        return Step("wait", instance, place, number=number(says["phase"], env) % 2)
    if word == "mbarrier_expect":
        return Step("arrive", instance, place, number=1, bytes=int(says["bytes"]))
    if word == "mbarrier_inval":
        return Step("inval", instance, place)
    if word in ("mbarrier_init", "mbarrier_arrive"):
        counter, kind = says.get("counter", ""), word.removeprefix("mbarrier_")
        count = int(says.get("count", "1"))
        return Step(kind, instance, place, number=count, bytes="until" in says, counter=counter)
    kind, counter = ACCESSES[word]
    counter = says.get("counter", counter)
    told = re.search(r"arrives %(\w+)(?:\[([^\]]*)\])?", rest)
    if told is None:
        return Step(kind, instance, place, counter=counter)
    tells = (told[1], number(told[2], env) if told[2] else 0)
    arrivals, brought = int(says.get("count", "0")), int(says.get("bytes", "0"))
    return Step(kind, instance, place, arrivals, brought, counter, tells)


# ---------------------------------------------------------------- the machine


class Object(NamedTuple):
    """An mbarrier."""

    made: Instance
    takes: int
    """Arrivals that each phase takes."""
    missing: int
    """Arrivals that the open phase lacks."""
    bytes: int = 0
    """Bytes that it lacks."""
    phases: int = 0
    """How many are complete."""
    kept: bool = False
    """Whether only `mbarrier_inval` may end it."""
    ended: Instance = ()
    """What has ended it: it is none any more."""


class Access(NamedTuple):
    """An access that is under way: whose, and what it does."""

    wave: int
    order: int
    """Which one of the wave's steps."""
    step: Step


@dataclass(frozen=True, slots=True)
class State:
    """Where everybody is."""

    at: tuple[int, ...]
    meeting: tuple[bool, ...]
    """Who stands at a barrier and has arrived."""
    own: tuple[tuple[Access, ...], ...]
    """What each wave has told its shared memory to do, and nothing has waited for."""
    engines: frozenset[Access] = frozenset()
    objects: tuple[tuple[Place, Object], ...] = ()


class Found(Exception):
    """A mistake: `race`, `hang`, `lifetime`, `too many` arrivals, or a wave that `meets others` at their barrier."""


WRITES = {"write", "copy", "init", "inval"}
MAKES = {"init", "inval"}


def conflict(one: Access, other: Access) -> bool:
    """Whether it is a mistake that the other access begins while the one is under way."""
    mine, its = one.step, other.step
    if its.kind in WRITES and mine.tells == its.place:
        return True
    if mine.kind in WRITES and its.tells == mine.place:
        # An engine finds done what its own wave did to the object.
        return one.wave != other.wave
    if mine.place != its.place or mine.instance == its.instance:
        return False
    if not (mine.kind in WRITES or its.kind in WRITES):
        return False
    if one.wave == other.wave and not (mine.counter or its.counter):
        return False
    if one.wave == other.wave and mine.kind in MAKES and its.kind == "arrive":
        return False
    # One engine keeps the order of the copies of one wave.
    return not (mine.kind == its.kind == "copy" and mine.counter == its.counter and one.wave == other.wave)


class Machine:
    """All waves of a kernel."""

    def __init__(self, text: str, given: int) -> None:
        found = re.search(r"waves=(\d+)", text)
        assert found is not None
        self.steps = [program(text, wave, given) for wave in range(int(found[1]))]
        self.copies = [
            {step.instance: step.place for step in steps if step.kind == "copy"} for steps in self.steps
        ]
        """For each wave: its copies, and where they go."""
        self.made = {step.place for steps in self.steps for step in steps if step.kind == "init"}

    def start(self) -> State:
        """Nobody has made a step."""
        waves = len(self.steps)
        return State((0,) * waves, (False,) * waves, ((),) * waves)

    def one_run(self) -> Iterator[Step]:
        """The steps of all waves in one of the orders that there are."""
        state = self.start()
        while after := self.successors(state):
            for steps, was, at in zip(self.steps, state.at, after[0].at, strict=True):
                yield from steps[was:at]
            state = after[0]

    def explore(self) -> int:
        """Look at every state; raises what is found first. Returns how many there are."""
        start = self.start()
        seen, todo = {start}, [start]
        while todo:
            state = todo.pop()
            after = self.successors(state)
            if not after and any(at < len(steps) for at, steps in zip(state.at, self.steps, strict=True)):
                raise Found("hang")
            for each in after:
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
            if len(seen) > LARGEST:
                raise TooLarge
        return len(seen)

    def successors(self, state: State) -> list[State]:
        """Every state that can come next."""
        found = [
            self.engine_done(state, access) for access in state.engines if self.can_be_done(state, access)
        ]
        for wave, at in enumerate(state.at):
            # What is under way without an arrival behind it may as well stay so: nobody waits for it.
            arrivals = [number for number, each in enumerate(state.own[wave]) if each.step.kind == "arrive"]
            if arrivals:
                found.append(self.done(state, wave, arrivals[0] + 1))
            if at < len(self.steps[wave]):
                found += self.steps_of(state, wave, self.steps[wave][at])
        return found

    # ------------------------------------------------------------ waves

    def steps_of(self, state: State, wave: int, step: Step) -> list[State]:
        """What becomes of the state when a wave makes its step; nothing if it cannot."""
        access = Access(wave, state.at[wave], step)
        if step.kind == "barrier":
            return self.meet(state, wave, step)
        if step.kind == "wait_count" and step.counter == "lds":
            return [self.moved(self.fenced(state, wave) if not step.number else state, wave)]
        if step.kind == "wait_count":
            return [] if self.is_outstanding(state, wave, step) else [self.moved(state, wave)]
        self.begin(state, access)
        if step.kind in ("wait", "init", "inval", "write"):
            # What a wave does to one place, it does in order.
            mine = [number for number, each in enumerate(state.own[wave], 1) if each.step.place == step.place]
            state = self.done(state, wave, mine[-1] if mine else 0)
        if step.kind == "wait":
            thing = self.object_at(state, step.place)
            return [self.moved(state, wave)] if thing.phases % 2 != step.number else []
        if step.kind == "inval" or (step.kind in WRITES and step.kind != "init"):
            state = self.end(state, step)
        if step.counter:
            return [self.moved(replace(state, engines=state.engines | {access}), wave)]
        if step.kind == "init":
            state = self.make(state, step)
        own = tuple((*each, access) if number == wave else each for number, each in enumerate(state.own))
        return [self.moved(replace(state, own=own), wave)]

    def is_outstanding(self, state: State, wave: int, step: Step) -> bool:
        """Whether something that a wait for a count waits for is under way: all but the newest ones."""
        started = [
            order
            for order, each in enumerate(self.steps[wave][: state.at[wave]])
            if each.counter == step.counter and each.kind in ("copy", "fetch")
        ]
        awaited = started[: len(started) - step.number]
        return any(access.wave == wave and access.order in awaited for access in state.engines)

    def begin(self, state: State, access: Access) -> None:
        """An access begins: nothing that it conflicts with may be under way."""
        under_way = (*(each for own in state.own for each in own), *state.engines)
        if any(conflict(each, access) and not self.share(each, access) for each in under_way):
            raise Found("race")

    def share(self, one: Access, other: Access) -> bool:
        """Whether two waves share the work of two copies of one engine: both make both, each of the same bytes."""
        if not one.step.kind == other.step.kind == "copy" or one.step.counter != other.step.counter:
            return False
        return all(
            self.copies[wave].get(each.step.instance) == each.step.place
            for each in (one, other)
            for wave in (one.wave, other.wave)
        )

    def done(self, state: State, wave: int, many: int) -> State:
        """So many of the things that a wave has told its shared memory to do are done."""
        done, left = state.own[wave][:many], state.own[wave][many:]
        own = tuple(left if number == wave else each for number, each in enumerate(state.own))
        state = replace(state, own=own)
        for each in done:
            if each.step.kind == "arrive":
                state = self.arrive(state, wave, each.step.place, each.step.number, -each.step.bytes)
        return state

    def fenced(self, state: State, wave: int) -> State:
        """All that a wave did itself is complete."""
        return self.done(state, wave, len(state.own[wave]))

    def moved(self, state: State, wave: int) -> State:
        """The wave is at its next step."""
        at = tuple(each + (number == wave) for number, each in enumerate(state.at))
        return replace(state, at=at)

    def meet(self, state: State, wave: int, step: Step) -> list[State]:
        """Arrive at a barrier; the last one lets everybody go."""
        if state.meeting[wave]:
            return []
        if not step.waves[0] <= wave < step.waves[1] <= len(self.steps):
            raise Found("meets others")
        state = self.fenced(state, wave)
        meeting = [here or number == wave for number, here in enumerate(state.meeting)]
        others = range(max(step.waves[0], 0), step.waves[1])
        if all(
            meeting[other]
            and self.steps[other][state.at[other]].kind == "barrier"
            and self.steps[other][state.at[other]].waves == step.waves
            for other in others
        ):
            for other in others:
                meeting[other] = False
                state = self.moved(state, other)
        return [replace(state, meeting=tuple(meeting))]

    # ------------------------------------------------------------ engines

    def can_be_done(self, state: State, access: Access) -> bool:
        """An engine arrives in order, once what its wave told it before is done; bytes come at any time."""
        arrives = access.step.tells is not None and not access.step.bytes
        in_order = access.step.kind == "arrive" or arrives
        return not in_order or not any(
            each.wave == access.wave
            and each.order < access.order
            and each.step.counter == access.step.counter
            and each.step.kind != "arrive"
            for each in state.engines
        )

    def engine_done(self, state: State, access: Access) -> State:
        """An engine is done, and tells so."""
        step = access.step
        state = replace(state, engines=state.engines - {access})
        tells = step.place if step.kind == "arrive" else step.tells
        if tells is None:
            return state
        return self.arrive(state, access.wave, tells, step.number, step.bytes)

    # ------------------------------------------------------------ objects

    def object_at(self, state: State, place: Place) -> Object:
        """An object that somebody uses: it must have been made, and whoever made it must be done with it."""
        found = dict(state.objects).get(place)
        if found is None:
            raise Found("race" if place in self.made else "hang")
        if found.ended:
            raise Found("lifetime")
        return found

    def make(self, state: State, step: Step) -> State:
        """Make an object; waves that make it together make one."""
        objects = dict(state.objects)
        before = objects.get(step.place)
        if before is None or before.made != step.instance:
            if before is not None and before.kept and not before.ended:
                raise Found("lifetime")
            objects[step.place] = Object(step.instance, step.number, step.number, kept=bool(step.bytes))
        return replace(state, objects=tuple(sorted(objects.items())))

    def end(self, state: State, step: Step) -> State:
        """End an object, or write over it; waves that do so together do it once."""
        objects = dict(state.objects)
        before = objects.get(step.place)
        if before is None:
            if step.kind == "inval":
                raise Found("race" if step.place in self.made else "hang")
            return state
        if before.ended:
            if step.kind == "inval" and before.ended != step.instance:
                raise Found("lifetime")
            return state
        if before.kept if step.kind != "inval" else before.bytes > 0:
            raise Found("lifetime")
        objects[step.place] = before._replace(ended=step.instance)
        return replace(state, objects=tuple(sorted(objects.items())))

    def arrive(self, state: State, wave: int, place: Place, count: int, brought: int) -> State:
        """Somebody arrives, and brings bytes or says that they will come."""
        here = self.object_at(state, place)
        others = (each for number, own in enumerate(state.own) if number != wave for each in own)
        if any(each.step.kind in WRITES and each.step.place == place for each in others):
            raise Found("race")
        missing, lacking = here.missing - count, here.bytes - brought
        if missing < 0:
            raise Found("too many")
        here = here._replace(missing=missing, bytes=lacking)
        if not missing and not lacking:
            here = here._replace(missing=here.takes, phases=here.phases + 1)
        return replace(state, objects=tuple(sorted({**dict(state.objects), place: here}.items())))


def mistake(text: str, given: int = 0) -> str:
    """What can go wrong in a kernel that is given a number; nothing if it cannot."""
    try:
        Machine(text, given).explore()
    except Found as found:
        return str(found)
    return ""


def mistakes(text: str, most: int = 3) -> set[str]:
    """What can go wrong with any number up to `most`."""
    numbers = range(most + 1) if "param" in text else range(1)
    return {found for given in numbers if (found := mistake(text, given))}


def read_unwritten(text: str, given: int = 0) -> set[Place]:
    """The slots that are read, in some run, when nothing has been written to them, and written later."""
    written: set[Place] = set()
    early: set[Place] = set()
    for step in Machine(text, given).one_run():
        if step.kind in ("write", "copy"):
            written.add(step.place)
        elif step.kind in ("read", "fetch") and step.place not in written:
            early.add(step.place)
    return early & written
