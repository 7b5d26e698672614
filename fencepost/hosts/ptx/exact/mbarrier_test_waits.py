"""Waits that are tried once: a thread looks whether a phase is complete, and later waits for it if it was not.

A run takes every such test as failed. That decides for the other case, too, if a success does nothing but let the
thread pass by the wait for the same phase: what it does is the same then, only that it knows of the phase earlier. So
the result may decide over nothing but such a wait, and each time over that for the very phase that was tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fencepost.hosts.ptx.exact.address_slice import sources
from fencepost.hosts.ptx.exact.forms import Mbarrier
from fencepost.hosts.ptx.exact.made_up_values import registers_read
from fencepost.hosts.ptx.exact.problems import DependsOnTestWait
from fencepost.hosts.ptx.exact.spin_loops import is_wait, waiting_loop
from fencepost.hosts.ptx.proof.intervals import Place
from fencepost.hosts.ptx.reading.effects import destinations
from fencepost.hosts.ptx.reading.module import Instruction, Register, registers_in

if TYPE_CHECKING:
    from fencepost.hosts.ptx.exact.run import Run

Threads = NDArray[np.int64]
Tokens = NDArray[np.int64]
NOT_REPEATED = "a wait that is not repeated until it succeeds"
SEVERAL = -1
"""What stands for the results of several test waits together."""


class TestWaitResults:
    """Which registers depend on a test wait, thread by thread, and what was tested."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.tokens: dict[str, Tokens] = {}
        """By register, the number of the test wait that each thread has it from; zero for none."""
        self.tested: list[tuple[Place, int, int]] = [(Place(0, 0), 0, 0)]
        """By number: where, at which mbarrier, and for how many completed phases."""
        self.relaxed: set[int] = set()
        """Those that show nothing of what others have written when they succeed."""
        self.expected: Tokens = np.zeros(run.count, dtype=np.int64)
        """The test wait that led each thread to the wait that it comes to next."""
        self._waits: dict[int, Place | None] = {}

    def failed(self, form: Mbarrier, place: Place, who: Threads, what: tuple[int, int]) -> None:
        """Threads test an mbarrier for so many completed phases, and these are not complete yet."""
        assert isinstance(form.target, Register)
        self.tested.append((place, *what))
        if form.relaxed:
            self.relaxed.add(len(self.tested) - 1)
        self._set(form.target.name, who, len(self.tested) - 1)

    def _set(self, name: str, who: Threads, number: int | Tokens) -> None:
        if name not in self.tokens:
            self.tokens[name] = np.zeros(self.run.count, dtype=np.int64)
        self.tokens[name][who] = number

    def of(self, names: set[str] | list[str], who: Threads) -> Tokens:
        """The test wait that registers depend on."""
        found = np.zeros(who.shape, dtype=np.int64)
        for each in (self.tokens[name][who] for name in names if name in self.tokens):
            either = np.where((found != 0) & (each != 0) & (found != each), SEVERAL, np.maximum(found, each))
            found = np.where((found == SEVERAL) | (each == SEVERAL), SEVERAL, either)
        return found

    def succeeded(self, form: Mbarrier, who: Threads) -> None:
        """Threads wait until it succeeds: the result depends on nothing."""
        if isinstance(form.target, Register) and form.target.name in self.tokens:
            self._set(form.target.name, who, 0)

    def follow(self, instruction: Instruction, who: Threads) -> None:
        """What an instruction computes from the result of a test wait depends on it as well."""
        found = self.of(list(registers_read(instruction)), who)
        for target in destinations(instruction):
            for name in registers_in(target):
                if found.any() or name in self.tokens:
                    self._set(name, who, found)

    def exchange(self, instruction: Instruction, who: Threads) -> None:
        """What lanes get from each other depends on the test waits of all of them."""
        found = np.where(self.of(list(registers_read(instruction)), who).any(), SEVERAL, 0)
        for target in destinations(instruction):
            for name in registers_in(target):
                if found or name in self.tokens:
                    self._set(name, who, int(found))

    def refuse(self, instruction: Instruction, place: Place, who: Threads) -> None:
        """Accesses and synchronization must not depend on a test wait."""
        found = self.of(sources(instruction), who)
        if found.any():
            raise DependsOnTestWait(NOT_REPEATED, self._place(int(found[found != 0][0]), place))

    def _place(self, number: int, otherwise: Place) -> Place:
        return self.tested[number][0] if number > 0 else otherwise

    def at_branch(self, number: int, who: Threads) -> None:
        """A branch that depends on a test wait must lead to the wait for what was tested, or straight past it."""
        run, block = self.run, self.run.flow.blocks[number]
        operand = block.index if block.index is not None else block.guard
        if operand is None or len(block.successors) < 2:
            return
        found = self.of([operand.name], who)
        if not found.any():
            return
        last = Place(number, max(len(block.instructions) - 1, 0))
        if not run.region_of(number) & run.needed.relevant:
            # What is assigned on one of the two ways depends on the test wait, on the other way too.
            if self._hands_on(run.region_of(number)):
                raise DependsOnTestWait(NOT_REPEATED, self._place(int(found.max()), last))
            return
        if number not in self._waits:
            self._waits[number] = self._wait_behind(number)
        wait = self._waits[number]
        some = who[found != 0]
        if wait is None or (found == SEVERAL).any():
            raise DependsOnTestWait(NOT_REPEATED, self._place(int(found.max()), last))
        held = (run.read(operand, some, 1).bits != 0) != block.guard_negated
        on = np.where(held, block.successors[0], block.successors[1])
        if (on == run.flow.ipdom[number]).any():
            raise DependsOnTestWait(NOT_REPEATED, self._place(int(found.max()), last))
        self.expected[some] = found[found != 0]

    def _wait_behind(self, number: int) -> Place | None:
        """The one wait between a branch and where its ways meet; None if there is more than that."""
        run, flow, needed = self.run, self.run.flow, self.run.needed
        region = run.region_of(number)
        places = [each for each in (*needed.forms, *needed.accesses) if each.block in region]
        if len(places) != 1 or not is_wait(needed, places[0]) or flow.blocks[number].index is not None:
            return None
        if waiting_loop(flow, needed, places[0]) is None:
            return None
        if flow.ipdom[number] not in flow.blocks[number].successors or self._hands_on(region):
            return None
        return places[0]

    def _hands_on(self, region: set[int]) -> bool:
        """Whether something that is computed there is needed elsewhere."""
        flow, needed = self.run.flow, self.run.needed
        inside: set[str] = set()
        outside: set[str] = set()
        for place in needed.places:
            instruction = flow.blocks[place.block].instructions[place.index]
            if place.block in region:
                inside |= {name for each in destinations(instruction) for name in registers_in(each)}
            else:
                outside |= sources(instruction)
        for number in needed.branches - region:
            decides = (flow.blocks[number].guard, flow.blocks[number].index)
            outside |= {each.name for each in decides if each is not None}
        return bool(inside & outside)

    def at_wait(self, form: Mbarrier, place: Place, who: Threads, what: tuple[int, int]) -> None:
        """Threads wait, until it succeeds: those that a failed test led here wait for what they tested."""
        led = who[self.expected[who] != 0]
        for number in np.unique(self.expected[led]):
            _, address, target = self.tested[int(number)]
            if (address, target) != what:
                raise DependsOnTestWait("a wait for another phase than the one that was tried before", place)
            if int(number) in self.relaxed and not form.relaxed:
                why = "a wait that was tried relaxedly before, which shows less if it succeeds"
                raise DependsOnTestWait(why, place)
        self.expected[led] = 0
